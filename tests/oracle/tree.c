/* tests/oracle/tree.c - statements as trees: made, copied, and written for Crabtree or for SQLite.
 *
 * SQLite 3.40 answers RIGHT and FULL JOIN wrong when subqueries or other joins stand beside them, so it gets what they mean instead:
 *
 *     L FULL JOIN R ON c    (SELECT columns FROM L LEFT JOIN R ON c
 *                            UNION ALL SELECT NULL ..., R's columns FROM R WHERE NOT EXISTS (SELECT 1 FROM L WHERE c)) AS j1
 *
 * RIGHT JOIN the same with JOIN in the first half; and a join in parentheses becomes a subquery. Outside, the column x of a2 is then
 * j1.a2_x. Rule: a column is written with the name of the outermost such join that holds its source and isn't just being written. */
#include "tests/oracle/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *t, const char *format, ...)
{
    for (;;) {
        va_list args;
        va_start(args, format);
        int n = vsnprintf(t->bytes ? t->bytes + t->length : NULL, t->room - t->length, format, args);
        va_end(args);
        if (t->bytes && t->length + (size_t)n < t->room) {
            t->length += (size_t)n;
            return;
        }
        t->room = (t->length + (size_t)n + 64) * 2;
        t->bytes = realloc(t->bytes, t->room);
    }
}

void text_clear(struct text *t)
{
    free(t->bytes);
    *t = (struct text){0};
}

/* ---- Chance ---- */

static uint64_t state;

static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

void chance_seed(uint64_t seed, uint64_t round, uint64_t statement)
{
    state = seed;
    state = next_random() ^ round;
    state = next_random() ^ statement;
    next_random();
}

int below(int n) { return (int)(next_random() % (uint64_t)n); }
bool chance(int percent) { return below(100) < percent; }

/* ---- Nodes ---- */

static struct chunk { struct chunk *next; size_t used, room; char bytes[]; } *chunks;

static void *take(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (!chunks || chunks->used + bytes > chunks->room) {
        size_t room = bytes > 65536 ? bytes : 65536;
        struct chunk *c = malloc(sizeof *c + room);
        *c = (struct chunk){.next = chunks, .room = room};
        chunks = c;
    }
    void *at = chunks->bytes + chunks->used;
    chunks->used += bytes;
    return memset(at, 0, bytes);
}

void nodes_end(void)
{
    while (chunks) {
        struct chunk *next = chunks->next;
        free(chunks);
        chunks = next;
    }
}

char *node_text(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = take((size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

static struct node *make(enum sort sort, enum kind kind)
{
    struct node *node = take(sizeof *node);
    node->sort = sort;
    node->kind = kind;
    return node;
}

void node_add(struct node *list, struct node *kid)
{
    struct node **kids = take(sizeof *kids * (size_t)(list->count + 1));
    if (list->count)
        memcpy(kids, list->kids, sizeof *kids * (size_t)list->count);
    kids[list->count++] = kid;
    list->kids = kids;
}

struct node *node_form(enum sort sort, const char *form, ...)
{
    struct node *node = make(sort, FORM), *kid;
    node->form = form;
    va_list args;
    va_start(args, form);
    while ((kid = va_arg(args, struct node *)))
        node_add(node, kid);
    va_end(args);
    return node;
}

struct node *node_lite(struct node *node, const char *lite)
{
    node->lite = lite;
    return node;
}

struct node *node_list(const char *between, int least)
{
    struct node *node = make(PART, LIST);
    node->form = between;
    node->least = least;
    return node;
}

struct node *node_literal(enum sort sort, const char *value)
{
    struct node *node = make(sort, LITERAL);
    node->form = value;
    return node;
}

struct node *node_column(enum sort sort, int alias, const char *name)
{
    struct node *node = make(sort, COLUMN);
    node->alias = alias;
    node->form = name;
    return node;
}

struct node *node_optional(struct node *node)
{
    node->optional = true;
    return node;
}

struct node *node_absent(void) { return make(PART, ABSENT); }

struct node *node_copy(const struct node *from)
{
    struct node *to = take(sizeof *to);
    *to = *from;
    if (from->count)
        to->kids = take(sizeof *to->kids * (size_t)from->count);
    for (int i = 0; i < from->count; i++)
        to->kids[i] = node_copy(from->kids[i]);
    return to;
}

/* ---- Writing ---- */

#define ALIASES 400
struct writer {
    struct text text;
    enum dialect dialect;
    struct parameters *parameters;
    struct node *wraps[ALIASES][8];      /* by alias: the joins that SQLite gets as a subquery and that hold it, outermost first */
    int wrap_count[ALIASES];
};

static void write_node(struct writer *, struct node *);

static bool is_wrapped(const struct node *join) { return join->kind == JOIN && (join->join == RIGHT_JOIN || join->join == FULL_JOIN || join->nested); }

static void note_sources(struct writer *w, struct node *wrap, const struct node *at)
{
    if (at->kind == JOIN) {
        note_sources(w, wrap, at->kids[0]);
        note_sources(w, wrap, at->kids[1]);
    } else if (at->alias < ALIASES && w->wrap_count[at->alias] < 8) {
        w->wraps[at->alias][w->wrap_count[at->alias]++] = wrap;
    }
}

static void find_wraps(struct writer *w, struct node *node)
{
    if (is_wrapped(node))
        note_sources(w, node, node);
    node->open = false;
    for (int i = 0; i < node->count; i++)
        find_wraps(w, node->kids[i]);
}

static void write_column(struct writer *w, int alias, const char *name)
{
    for (int i = 0; w->dialect == SQLITE && alias < ALIASES && i < w->wrap_count[alias]; i++)
        if (!w->wraps[alias][i]->open) {
            text_add(&w->text, "j%d.a%d_%s", w->wraps[alias][i]->alias, alias, name);
            return;
        }
    text_add(&w->text, "a%d.%s", alias, name);
}

static void write_form(struct writer *w, struct node *node)
{
    const char *form = w->dialect == SQLITE && node->lite ? node->lite : node->form;
    for (const char *hole; (hole = strchr(form, '@')); form = hole + 2) {
        text_add(&w->text, "%.*s", (int)(hole - form), form);
        write_node(w, node->kids[hole[1] - '1']);
    }
    text_add(&w->text, "%s", form);
}

static void write_literal(struct writer *w, struct node *node)
{
    static const char *const types[] = {"integer", "double precision", "text", "boolean"};
    struct parameters *p = w->parameters;
    int same = 0;                            /* written twice: one parameter */
    while (p && same < p->count && p->nodes[same] != node)
        same++;
    if (p && same < p->count)
        text_add(&w->text, "$%d", same + 1);
    else if (p && p->count < 100) {
        p->nodes[p->count] = node;
        p->types[p->count] = node->sort;
        p->values[p->count++] = node->form;
        text_add(&w->text, "$%d", p->count);
    } else if (!node->form)
        text_add(&w->text, "CAST(NULL AS %s)", types[node->sort]);
    else if (node->sort == TEXT)
        text_add(&w->text, "'%s'", node->form);
    else if (node->sort == REAL)
        text_add(&w->text, "CAST(%s AS double precision)", node->form);
    else
        text_add(&w->text, node->form[0] == '-' ? "(%s)" : "%s", node->form);
}

/* The columns of all sources below, as aA_x; nulls: those of the left side as NULL. */
static void write_columns(struct writer *w, struct node *at, bool nulls, bool *begun)
{
    if (at->kind == JOIN) {
        write_columns(w, at->kids[0], nulls, begun);
        write_columns(w, at->kids[1], nulls, begun);
        return;
    }
    for (int c = 0; c < at->column_count; c++) {
        text_add(&w->text, *begun ? ", " : "");
        *begun = true;
        if (nulls)
            text_add(&w->text, "NULL");
        else
            write_column(w, at->alias, at->columns[c].name);
        text_add(&w->text, " AS a%d_%s", at->alias, at->columns[c].name);
    }
}

static void write_wrapped(struct writer *w, struct node *node)
{
    struct node *left = node->kids[0], *right = node->kids[1];
    bool begun = false, outer = node->join == RIGHT_JOIN || node->join == FULL_JOIN;
    node->open = true;
    text_add(&w->text, "(SELECT ");
    write_columns(w, left, false, &begun);
    write_columns(w, right, false, &begun);
    text_add(&w->text, " FROM ");
    write_node(w, left);
    text_add(&w->text, node->join == LEFT_JOIN || node->join == FULL_JOIN ? " LEFT JOIN " : node->join == CROSS_JOIN ? " CROSS JOIN " : " JOIN ");
    write_node(w, right);
    if (node->count > 2) {
        text_add(&w->text, " ON ");
        write_node(w, node->kids[2]->kids[0]);
    }
    if (outer) {
        begun = false;
        text_add(&w->text, " UNION ALL SELECT ");
        write_columns(w, left, true, &begun);
        write_columns(w, right, false, &begun);
        text_add(&w->text, " FROM ");
        write_node(w, right);
        text_add(&w->text, " WHERE NOT EXISTS (SELECT 1 FROM ");
        write_node(w, left);
        text_add(&w->text, " WHERE ");
        write_node(w, node->kids[2]->kids[0]);
        text_add(&w->text, ")");
    }
    text_add(&w->text, ") AS j%d", node->alias);
    node->open = false;
}

static void write_join(struct writer *w, struct node *node)
{
    static const char *const words[] = {" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ", " CROSS JOIN ", ", "};
    if (w->dialect == SQLITE && is_wrapped(node)) {
        write_wrapped(w, node);
        return;
    }
    if (node->nested)
        text_add(&w->text, "(");
    write_node(w, node->kids[0]);
    /* NATURAL stands before the kind, and its condition is only for SQLite. */
    bool natural = w->dialect == CRABTREE && node->count > 2 && !node->kids[2]->form[0];
    text_add(&w->text, "%s%s", natural ? " NATURAL" : "", words[node->join]);
    write_node(w, node->kids[1]);
    if (node->count > 2) {
        if (w->dialect == SQLITE) {
            text_add(&w->text, " ON ");
            write_node(w, node->kids[2]->kids[0]);
        } else {
            write_node(w, node->kids[2]);
        }
    }
    if (node->nested)
        text_add(&w->text, ")");
}

static void write_node(struct writer *w, struct node *node)
{
    switch (node->kind) {
    case FORM: write_form(w, node); break;
    case LIST:
        for (int i = 0; i < node->count; i++) {
            text_add(&w->text, "%s", i ? node->form : "");
            write_node(w, node->kids[i]);
        }
        break;
    case LITERAL: write_literal(w, node); break;
    case COLUMN: write_column(w, node->alias, node->form); break;
    case TABLE: text_add(&w->text, "%s AS a%d", node->form, node->alias); break;
    case DERIVED:
        text_add(&w->text, "%s(", w->dialect == CRABTREE && node->form ? node->form : "");
        write_node(w, node->kids[0]);
        text_add(&w->text, ") AS a%d", node->alias);
        break;
    case JOIN: write_join(w, node); break;
    case ABSENT: break;
    }
}

char *node_write(struct node *node, enum dialect dialect, struct parameters *parameters)
{
    static struct writer w;
    w.dialect = dialect;
    w.parameters = parameters;
    memset(w.wrap_count, 0, sizeof w.wrap_count);
    find_wraps(&w, node);
    write_node(&w, node);
    char *text = node_text("%s", w.text.bytes ? w.text.bytes : "");
    text_clear(&w.text);
    return text;
}
