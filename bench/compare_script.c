/* bench/compare_script.c - lists of statements in a file.
 *
 * A statement ends with a ';' at the end of a line. $NAME stands for a value that was given. A line
 *     -- @ heading
 * before it makes it one that is measured. Behind each time "-- @check SQL" asks what it left behind, and "-- @after SQL" clears up. Other lines that begin
 * with "--" say nothing. */
#include "bench/compare.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct { const char *name, *value; } values[32];
static int value_count;

struct script { FILE *file; char *line; size_t capacity; struct answer text; struct statement statement; };

void script_value(const char *name, const char *value)
{
    if (value_count == 32)
        abort();
    values[value_count].name = name;
    values[value_count++].value = value;
}

static char *filled(const char *sql)
{
    struct answer text = {0};
    answer_add(&text, "", 0);
    while (*sql) {
        int i = 0;
        if (*sql == '$')
            for (; i < value_count; i++)
                if (strncmp(sql + 1, values[i].name, strlen(values[i].name)) == 0)
                    break;
        if (*sql != '$' || i == value_count) {
            answer_add(&text, sql++, 1);
            continue;
        }
        answer_add(&text, values[i].value, strlen(values[i].value));
        sql += 1 + strlen(values[i].name);
    }
    return text.text;
}

struct script *script_open(const char *path)
{
    struct script *script = calloc(1, sizeof *script);
    if (script)
        script->file = fopen(path, "r");
    if (script && script->file)
        return script;
    free(script);
    return NULL;
}

static void statement_forget(struct statement *s)
{
    free(s->sql);
    free(s->heading);
    free(s->check);
    free(s->after);
    *s = (struct statement){0};
}

struct statement *script_next(struct script *script)
{
    struct statement *s = &script->statement;
    struct answer *text = &script->text;
    statement_forget(s);
    text->length = 0;
    while (getline(&script->line, &script->capacity, script->file) > 0) {
        char *line = script->line;
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "-- @after ", 10) == 0)
            s->after = filled(line + 10);
        else if (strncmp(line, "-- @check ", 10) == 0)
            s->check = filled(line + 10);
        else if (strncmp(line, "-- @ ", 5) == 0)
            s->heading = filled(line + 5);
        if (strncmp(line, "--", 2) == 0)
            continue;
        if (text->length)
            answer_add(text, "\n", 1);
        answer_add(text, line, strlen(line));
        while (text->length && isspace((unsigned char)text->text[text->length - 1]))
            text->text[--text->length] = 0;
        if (text->length == 0 || text->text[text->length - 1] != ';')
            continue;
        text->text[text->length - 1] = 0;
        s->sql = filled(text->text);
        return s;
    }
    return NULL;
}

void script_close(struct script *script)
{
    statement_forget(&script->statement);
    fclose(script->file);
    free(script->line);
    free(script->text.text);
    free(script);
}
