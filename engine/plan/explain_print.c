/* engine/plan/explain_print.c - the items of EXPLAIN as PostgreSQL's text, or as its JSON. */
#include <math.h>
#include <string.h>

#include "engine/plan/explain.h"

const struct node_counters *explain_counters(const struct explaining *x, const struct plan *n) { return x->counters && x->counters->nodes ? &x->counters->nodes[n->id] : NULL; }

/* The first row's time is a clock's reading, the total is summed up in workers: it may come out the smaller by a little. */
struct actual { double start, total, rows, loops; };
static bool actual_of(const struct explaining *x, const struct shown *item, struct actual *out)
{
    const struct node_counters *c = x->options->analyze && item->counted ? explain_counters(x, item->plan) : NULL;
    *out = (struct actual){ 0 };
    if (!c) return false;
    if (!c->loops) return true;
    out->loops = (double)c->loops;
    out->total = (double)c->total_us / 1000 / out->loops;
    out->start = fmin((double)c->start_us / 1000 / out->loops, out->total);
    out->rows = (double)c->rows / out->loops;
    return true;
}

struct lines { struct arena *arena; char **lines; int count, capacity; };
static void line_add(struct lines *l, const char *text)
{
    if (l->count == l->capacity) {
        int capacity = l->capacity ? l->capacity * 2 : 32;
        l->lines = arena_grow(l->arena, l->lines, (size_t)l->capacity * sizeof *l->lines, (size_t)capacity * sizeof *l->lines);
        l->capacity = capacity;
    }
    l->lines[l->count++] = (char *)(uintptr_t)text;
}

/* Times, and why the plan is serial. */
static bool wants_reason(const struct explaining *x) { return x->plan->serial_reason && (x->options->verbose || x->options->analyze); }
static bool has_phases(const struct explaining *x) { return x->options->analyze && x->counters && x->options->summary && x->counters->scan_us; }
static double leader_us(const struct exec_counters *c)
{
    uint64_t known = c->scan_us + c->merge_us + c->finalise_us + c->print_us;
    return c->run_us > known ? (double)(c->run_us - known) : 0;
}

/* ---- text ---- */

static void text_node(struct explaining *x, const struct shown *item, struct text_buffer *t)
{
    const struct plan *n = item->plan;
    struct actual a;
    if (item->depth) text_buffer_printf(t, "%*s->  ", item->depth - 4, "");
    text_buffer_puts(t, item->key);
    if (x->options->costs) text_buffer_printf(t, "  (cost=%.2f..%.2f rows=%.0f width=%.0f)", n->startup_cost, n->total_cost, n->rows, n->width);
    if (!actual_of(x, item, &a)) return;
    if (a.loops == 0) text_buffer_puts(t, " (never executed)");
    else if (x->options->timing) text_buffer_printf(t, " (actual time=%.3f..%.3f rows=%.0f loops=%.0f)", a.start, a.total, a.rows, a.loops);
    else text_buffer_printf(t, " (actual rows=%.0f loops=%.0f)", a.rows, a.loops);
}

void explain_text(struct explaining *x, char ***lines, int *count)
{
    struct lines l = { .arena = x->arena };
    for (int i = 0; i < x->count; i++) {
        const struct shown *item = &x->items[i];
        struct text_buffer t;
        text_buffer_open(&t, x->arena);
        if (item->kind == SHOWN_NODE) text_node(x, item, &t);
        else {
            text_buffer_printf(&t, "%*s%s", item->depth + 2, "", item->key);
            if (item->kind != SHOWN_TITLE && item->kind != SHOWN_SIZES) text_buffer_puts(&t, ": ");
        }
        if (item->kind == SHOWN_TEXT) text_buffer_puts(&t, item->text);
        if (item->kind == SHOWN_TEXT && item->items) text_buffer_printf(&t, "  %s: %.0fkB", item->items[0], item->number);
        if (item->kind == SHOWN_NUMBER) text_buffer_printf(&t, "%.0f%s", item->number, item->unit);
        for (int k = 0; item->kind == SHOWN_LIST && k < item->count; k++) text_buffer_printf(&t, "%s%s", k ? ", " : "", item->items[k]);
        for (int k = 0; item->kind == SHOWN_SIZES && k < item->count; k++)
            text_buffer_printf(&t, "%s%s: %.0f%s", k ? "  " : "", item->sizes[k].word, item->sizes[k].number, item->sizes[k].unit);
        line_add(&l, t.bytes);
    }
    if (wants_reason(x)) line_add(&l, arena_printf(x->arena, "Serial Reason: %s", x->plan->serial_reason));
    if (x->options->summary) line_add(&l, arena_printf(x->arena, "Planning Time: %.3f ms", (double)x->options->planning_us / 1000));
    if (has_phases(x)) {
        const struct exec_counters *c = x->counters;
        line_add(&l, arena_printf(x->arena, "Phases: scan=%.3f merge=%.3f finalise=%.3f print=%.3f leader=%.3f", (double)c->scan_us / 1000, (double)c->merge_us / 1000, (double)c->finalise_us / 1000,
                                  (double)c->print_us / 1000, leader_us(c) / 1000));
    }
    if (x->options->analyze && x->counters && x->options->summary) line_add(&l, arena_printf(x->arena, "Execution Time: %.3f ms", (double)x->counters->run_us / 1000));
    *lines = l.lines;
    *count = l.count;
}

/* ---- JSON ---- */

static void json_string(struct text_buffer *t, const char *s)
{
    text_buffer_putc(t, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') text_buffer_printf(t, "\\%c", c);
        else if (c == '\n') text_buffer_puts(t, "\\n");
        else if (c == '\r') text_buffer_puts(t, "\\r");
        else if (c == '\t') text_buffer_puts(t, "\\t");
        else if (c < 32) text_buffer_printf(t, "\\u%04x", c);
        else text_buffer_putc(t, (char)c);
    }
    text_buffer_putc(t, '"');
}

struct json { struct text_buffer t; int indent; bool first; };
static void json_key(struct json *j, const char *key)
{
    text_buffer_printf(&j->t, "%s\n%*s", j->first ? "" : ",", j->indent, "");
    j->first = false;
    if (!key) return;
    json_string(&j->t, key);
    text_buffer_puts(&j->t, ": ");
}
static void json_text(struct json *j, const char *key, const char *text) { json_key(j, key); json_string(&j->t, text); }
static void json_bool(struct json *j, const char *key, bool b) { json_key(j, key); text_buffer_puts(&j->t, b ? "true" : "false"); }
static void json_number(struct json *j, const char *key, double number, int places) { json_key(j, key); text_buffer_printf(&j->t, "%.*f", places, number); }
static void json_open(struct json *j, const char *key, char bracket)
{
    json_key(j, key);
    text_buffer_putc(&j->t, bracket);
    j->indent += 2;
    j->first = true;
}
static void json_close(struct json *j, char bracket)
{
    j->indent -= 2;
    if (!j->first) text_buffer_printf(&j->t, "\n%*s", j->indent, "");
    text_buffer_putc(&j->t, bracket);
    j->first = false;
}

static const char *before(struct explaining *x, const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    return at ? arena_printf(x->arena, "%.*s", (int)(at - text), text) : text;
}

/* What the text says in one line stands in several properties: "Hash Left Join" is a Hash Join of type Left. */
static void json_kind(struct explaining *x, struct json *j, const struct shown *item)
{
    const struct plan *n = item->plan;
    const char *text = item->key, *mode = NULL;
    bool parallel = strncmp(text, "Parallel ", 9) == 0;
    if (parallel) text += 9;
    if (strncmp(text, "Partial ", 8) == 0) { mode = "Partial"; text += 8; }
    if (strncmp(text, "Finalize ", 9) == 0) { mode = "Finalize"; text += 9; }
    const char *type = before(x, before(x, text, " using "), " on "), *join = NULL, *strategy = NULL, *operation = NULL;
    size_t length = strlen(type);
    if (length > 9 && strcmp(type + length - 9, "Aggregate") == 0) strategy = type[0] == 'H' ? "Hashed" : "Mixed";
    else if (strcmp(type, "Aggregate") == 0) strategy = "Plain";
    if (strategy) type = "Aggregate";
    if (strncmp(type, "Hash ", 5) == 0 || strncmp(type, "Nested Loop", 11) == 0) {
        static const char *const kinds[] = { [PLAN_INNER] = "Inner", [PLAN_LEFT] = "Left", [PLAN_RIGHT] = "Right", [PLAN_FULL] = "Full", [PLAN_SEMI] = "Semi", [PLAN_ANTI] = "Anti",
                                             [PLAN_ANTI_NULL] = "Anti", [PLAN_RIGHT_SEMI] = "Right Semi", [PLAN_RIGHT_ANTI] = "Right Anti" };
        const struct plan *real = n;
        while (real->kind == PLAN_PROJECT || real->kind == PLAN_FILTER) real = real->left;
        join = kinds[real->join];
        type = type[0] == 'H' ? "Hash Join" : "Nested Loop";
    }
    if (strcmp(type, "Insert") == 0 || strcmp(type, "Update") == 0 || strcmp(type, "Delete") == 0) { operation = type; type = "ModifyTable"; }
    bool backward = strcmp(type, "Index Scan Backward") == 0 || strcmp(type, "Index Only Scan Backward") == 0, by_index = strncmp(type, "Index ", 6) == 0;
    if (backward) type = type[6] == 'S' ? "Index Scan" : "Index Only Scan";
    const char *command = NULL;
    if (strncmp(type, "HashSetOp ", 10) == 0) { command = type + 10; type = "SetOp"; strategy = "Hashed"; }
    json_text(j, "Node Type", type);
    if (operation) json_text(j, "Operation", operation);
    if (strategy) json_text(j, "Strategy", strategy);
    if (strategy && !command) json_text(j, "Partial Mode", mode ? mode : "Simple");
    if (command) json_text(j, "Command", command);
    json_bool(j, "Parallel Aware", parallel);
    json_bool(j, "Async Capable", false);
    if (join) json_text(j, "Join Type", join);
    const struct plan *scan = n;
    while (scan && (scan->kind == PLAN_PROJECT || scan->kind == PLAN_FILTER)) scan = scan->left;
    if (scan && scan->kind == PLAN_INDEX_SCAN && by_index) {
        json_text(j, "Scan Direction", backward ? "Backward" : "Forward");
        json_text(j, "Index Name", scan->index->name);
    }
    if (strcmp(type, "Bitmap Index Scan") == 0) json_text(j, "Index Name", strstr(item->key, " on ") + 4);
    bool reads = strcmp(type, "Seq Scan") == 0 || by_index || strcmp(type, "Bitmap Heap Scan") == 0 || operation;
    if (scan && scan->table && reads) {
        json_text(j, "Relation Name", scan->table->name);
        if (x->options->verbose) json_text(j, "Schema", scan->table->schema_name);
        json_text(j, "Alias", scan->alias ? scan->alias : scan->table->name);
    }
    if (strcmp(type, "CTE Scan") == 0 || strcmp(type, "WorkTable Scan") == 0) {
        json_text(j, "CTE Name", x->plan->cte_names[scan->cte]);
        json_text(j, "Alias", scan->alias);
    }
    if (strcmp(type, "Function Scan") == 0) {
        json_text(j, "Function Name", scan->set_function->name);
        json_text(j, "Alias", scan->alias ? scan->alias : scan->set_function->name);
    }
}

static void json_detail(struct json *j, const struct shown *item)
{
    switch (item->kind) {
    case SHOWN_TEXT:
        json_text(j, item->key, item->text);
        if (!item->items) break;
        json_number(j, "Sort Space Used", item->number, 0);
        json_text(j, "Sort Space Type", item->items[0]);
        break;
    case SHOWN_NUMBER: json_number(j, item->key, item->number, 0); break;
    case SHOWN_SIZES:
        for (int i = 0; i < item->count; i++) json_number(j, item->sizes[i].key, item->sizes[i].number, 0);
        break;
    default:
        json_open(j, item->key, '[');
        j->first = true;
        for (int i = 0; i < item->count; i++) {          /* on one line, as PostgreSQL has it */
            if (i) text_buffer_puts(&j->t, ", ");
            json_string(&j->t, item->items[i]);
        }
        j->first = true;
        json_close(j, ']');
    }
}

/* A node and all that stands deeper; *at comes out behind it. */
static void json_node(struct explaining *x, struct json *j, int *at, const char *relationship, const char *subplan)
{
    const struct shown *node = &x->items[(*at)++];
    const struct plan *n = node->plan;
    struct actual a;
    json_kind(x, j, node);
    if (relationship) json_text(j, "Parent Relationship", relationship);
    if (subplan) json_text(j, "Subplan Name", subplan);
    if (x->options->costs) {
        json_number(j, "Startup Cost", n->startup_cost, 2);
        json_number(j, "Total Cost", n->total_cost, 2);
        json_number(j, "Plan Rows", n->rows, 0);
        json_number(j, "Plan Width", n->width, 0);
    }
    if (actual_of(x, node, &a)) {
        if (x->options->timing) {
            json_number(j, "Actual Startup Time", a.start, 3);
            json_number(j, "Actual Total Time", a.total, 3);
        }
        json_number(j, "Actual Rows", a.rows, 0);
        json_number(j, "Actual Loops", a.loops, 0);
    }
    bool opened = false;
    int children = 0;
    for (const char *title = NULL; *at < x->count; ) {
        const struct shown *item = &x->items[*at];
        if (item->kind == SHOWN_NODE ? item->depth <= node->depth : item->depth < node->depth) break;
        if (item->kind == SHOWN_TITLE) {
            title = item->key;
            ++*at;
        } else if (item->kind == SHOWN_NODE) {
            const char *how = title ? (strncmp(title, "SubPlan", 7) == 0 ? "SubPlan" : "InitPlan") : n->kind == PLAN_APPEND ? "Member" : children == 0 ? "Outer" : "Inner";
            if (!title) children++;
            if (!opened) json_open(j, "Plans", '[');
            opened = true;
            json_open(j, NULL, '{');
            json_node(x, j, at, how, title);
            json_close(j, '}');
            title = NULL;
        } else {
            json_detail(j, item);        /* they come before the children */
            ++*at;
        }
    }
    if (opened) json_close(j, ']');
}

void explain_json(struct explaining *x, char ***lines, int *count)
{
    struct json j = { .first = true };
    text_buffer_open(&j.t, x->arena);
    text_buffer_putc(&j.t, '[');
    j.indent = 2;
    json_open(&j, NULL, '{');
    json_open(&j, "Plan", '{');
    int at = 0;
    if (x->count) json_node(x, &j, &at, NULL, NULL);
    json_close(&j, '}');
    if (wants_reason(x)) json_text(&j, "Serial Reason", x->plan->serial_reason);
    if (x->options->summary) json_number(&j, "Planning Time", (double)x->options->planning_us / 1000, 3);
    if (has_phases(x)) {
        const struct exec_counters *c = x->counters;
        json_open(&j, "Phases", '{');
        json_number(&j, "Scan", (double)c->scan_us / 1000, 3);
        json_number(&j, "Merge", (double)c->merge_us / 1000, 3);
        json_number(&j, "Finalise", (double)c->finalise_us / 1000, 3);
        json_number(&j, "Print", (double)c->print_us / 1000, 3);
        json_number(&j, "Leader", leader_us(c) / 1000, 3);
        json_close(&j, '}');
    }
    if (x->options->analyze && x->counters && x->options->summary) {
        json_open(&j, "Triggers", '[');
        json_close(&j, ']');
        json_number(&j, "Execution Time", (double)x->counters->run_us / 1000, 3);
    }
    json_close(&j, '}');
    text_buffer_puts(&j.t, "\n]");
    *lines = arena_array(x->arena, char *, 1);
    (*lines)[0] = j.t.bytes;
    *count = 1;
}
