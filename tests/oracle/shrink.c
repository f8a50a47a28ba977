/* tests/oracle/shrink.c - cuts a failing statement, and the rows under it, smaller while it fails in the same way.
 *
 * The tree: an expression gives way to one of its own type below it, or to a plain literal; a query to a query below; a join to one
 * of its sides; what is optional goes; lists lose members. Whatever is no longer a statement is refused by the server with another
 * fault than the one sought, and taken back. Then rows: halves, quarters ... of each table, as long as it still fails. Then the tree again. */
#include "tests/oracle/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct check check;
static struct statement *statement;
static const char *fault;
static time_t deadline;
static int tries;

static bool still_fails(void)
{
    if (time(NULL) > deadline)
        return false;
    tries++;
    const char *now = check_run(check, statement, NULL);
    return now && !strcmp(now, fault);
}

/* ---- The tree ---- */

static size_t written_length(void) { return strlen(node_write(statement->tree, CRABTREE, NULL)); }

static bool becomes(struct node *at, const struct node *other)
{
    struct node was = *at;
    size_t before = written_length();
    bool optional = at->optional;
    *at = *other;
    at->optional = optional;
    if (written_length() < before && still_fails())
        return true;
    *at = was;
    return false;
}

static bool by_something_below(struct node *at, struct node *below)
{
    for (int i = 0; i < below->count; i++) {
        struct node *kid = below->kids[i];
        if (kid->sort == at->sort && kid->kind != ABSENT && at->sort != PART && becomes(at, node_copy(kid)))
            return true;
        if (by_something_below(at, kid))
            return true;
    }
    return false;
}

static bool list_is_cut(struct node *at)
{
    bool any = false;
    for (int i = at->count - 1; i >= 0 && at->count > at->least; i--) {
        struct node *gone = at->kids[i];
        memmove(at->kids + i, at->kids + i + 1, sizeof *at->kids * (size_t)(at->count - i - 1));
        at->count--;
        if (still_fails()) {
            any = true;
            continue;
        }
        memmove(at->kids + i + 1, at->kids + i, sizeof *at->kids * (size_t)(at->count - i));
        at->kids[i] = gone;
        at->count++;
    }
    return any;
}

static bool node_is_cut(struct node *at)
{
    static const char *const plain[] = {"0", "1.0", "a", "TRUE"};
    bool any = false;
    if (at->optional && at->kind != JOIN) {
        struct node was = *at;
        at->kind = ABSENT;
        at->count = 0;
        if (still_fails())
            return true;
        *at = was;
    }
    if (at->kind == LIST)
        any |= list_is_cut(at);
    if (at->frozen)
        return any;
    if (at->sort < TYPES && at->kind != LITERAL) {
        struct node *literal = node_literal(at->sort, plain[at->sort]), *null = node_literal(at->sort, NULL);
        if (becomes(at, literal) || becomes(at, null))
            return true;
    }
    if (at->sort != PART && by_something_below(at, at))
        any = true;
    for (int i = 0; i < at->count; i++)
        any |= node_is_cut(at->kids[i]);
    return any;
}

static void tree_is_cut(void)
{
    bool whole = check.kind == PARTITIONED || check.kind == COUNTED_PLAINLY;
    for (bool any = true; any && time(NULL) <= deadline;) {
        any = false;
        if (!whole)
            any = node_is_cut(statement->tree);
        for (int i = 0; whole && i < statement->tree->count; i++)
            any |= node_is_cut(statement->tree->kids[i]);
    }
}

/* ---- The rows ---- */

static char **rows[TABLES];
static int counts[TABLES];

static bool fails_with_rows(void)
{
    database_rebuild(rows, counts, NULL, NULL);
    return still_fails();
}

static void rows_read(void)
{
    for (int i = 0; i < table_count; i++) {
        struct text sql = {0};
        text_add(&sql, "SELECT ");
        for (int c = 0; c < tables[i].column_count; c++)
            text_add(&sql, "%s, ", tables[i].columns[c].name);
        text_add(&sql, "f FROM %s ORDER BY rowid", tables[i].name);
        counts[i] = lite_rows(sql.bytes, &rows[i]);
        text_clear(&sql);
    }
}

/* Takes rows [first, first + n) out of the table if it fails without them, too. */
static bool rows_are_cut(int table, int first, int n)
{
    char **whole = rows[table];
    int count = counts[table];
    rows[table] = malloc(sizeof(char *) * (size_t)(count + 1));
    memcpy(rows[table], whole, sizeof(char *) * (size_t)first);
    memcpy(rows[table] + first, whole + first + n, sizeof(char *) * (size_t)(count - first - n));
    counts[table] = count - n;
    if (fails_with_rows())
        return true;
    free(rows[table]);
    rows[table] = whole;
    counts[table] = count;
    return false;
}

static void tables_are_cut(void)
{
    for (int i = 0; i < table_count; i++) {
        if (counts[i] && rows_are_cut(i, 0, counts[i]))
            continue;
        for (int n = (counts[i] + 1) / 2; n > 0 && time(NULL) <= deadline; n = n > 1 ? (n + 1) / 2 : 0)
            for (int first = 0; first < counts[i] && time(NULL) <= deadline;)
                if (!rows_are_cut(i, first, first + n > counts[i] ? counts[i] - first : n))
                    first += n;
    }
}

void shrink_and_print(struct check of, struct statement *s, const char *wrong, bool rebuildable, const char *origin, const char *seen)
{
    struct text script = {0}, report = {0};
    check = of;
    statement = s;
    fault = wrong;
    tries = 0;
    size_t before = written_length();
    printf("%s: %s: %s\n-- as it was made: %s;\n", origin, check_name(check), fault, node_write(statement->tree, CRABTREE, NULL));
    deadline = time(NULL) + 8;
    bool stays = still_fails();
    for (int again = 0; !stays && again < 200; again++)   /* a matter of timing? */
        stays = still_fails();
    if (stays)
        tree_is_cut();
    bool small = false;
    if (stays && rebuildable) {
        rows_read();
        deadline = time(NULL) + 8;
        small = fails_with_rows();
        if (small) {
            tables_are_cut();
            deadline = time(NULL) + 4;
            tree_is_cut();
        }
    }
    printf("-- %zu bytes of SQL became %zu in %d tries%s\n", before, written_length(), tries,
           !stays ? "; it does not happen again" : !small ? "; it needs the tables as they came to be: run the round again" : "");
    if (small)
        database_rebuild(rows, counts, &script, node_write(statement->tree, CRABTREE, NULL));
    fputs(script.bytes ? script.bytes : "", stdout);
    check_run(check, statement, &report);
    printf("%s\n", stays && report.bytes ? report.bytes : seen);
    fflush(stdout);
    text_clear(&script);
    text_clear(&report);
}
