/* engine/plan/explain_print.c - the items of EXPLAIN as PostgreSQL's text. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/plan/explain.h"

const struct node_counters *explain_counters(const struct explaining *x, const struct plan *n) { return x->counters && x->counters->nodes ? &x->counters->nodes[n->id] : NULL; }

/* The first row's time is a clock's reading, the total is summed up in workers: it may come out the smaller by a little. */
bool explain_actual(const struct explaining *x, const struct shown *item, struct actual *out)
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
bool explain_reason(const struct explaining *x) { return x->plan->serial_reason && (x->options->verbose || x->options->analyze); }
bool explain_phases(const struct explaining *x) { return x->options->analyze && x->counters && x->options->summary && x->counters->scan_us; }
double explain_leader_us(const struct exec_counters *c)
{
    uint64_t known = c->scan_us + c->merge_us + c->finalise_us + c->print_us;
    return c->run_us > known ? (double)(c->run_us - known) : 0;
}

/* ---- text ---- */

static bool any_buffers(const struct touched *t) { return t->hit || t->read || t->dirtied || t->written; }

static void text_buffers(struct explaining *x, struct lines *l, const struct touched *t, int indent)
{
    const struct { const char *name; int64_t number; } all[] = { { "hit", t->hit }, { "read", t->read }, { "dirtied", t->dirtied }, { "written", t->written } };
    struct text_buffer text;
    text_buffer_open(&text, x->arena);
    text_buffer_printf(&text, "%*sBuffers: shared", indent, "");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].number) text_buffer_printf(&text, " %s=%" PRId64, all[i].name, all[i].number);
    line_add(l, text.bytes);
}

/* What stands behind a node's details: pages and WAL, of it and all below. */
static void text_touched(struct explaining *x, struct lines *l, const struct shown *node)
{
    const struct explain_options *o = x->options;
    const struct touched *t = node ? &node->all : NULL;
    struct text_buffer text;
    if (!t || !o->analyze) return;
    if (o->buffers && any_buffers(t)) text_buffers(x, l, t, node->depth + 2);
    if (!o->wal || !t->records) return;
    text_buffer_open(&text, x->arena);
    text_buffer_printf(&text, "%*sWAL: records=%" PRId64, node->depth + 2, "", t->records);
    if (t->images) text_buffer_printf(&text, " fpi=%" PRId64, t->images);
    text_buffer_printf(&text, " bytes=%" PRId64, t->bytes);
    line_add(l, text.bytes);
}

static void text_planning(struct explaining *x, struct lines *l)
{
    const struct touched t = { .hit = x->options->planning_hit, .read = x->options->planning_read };
    if (!x->options->buffers || !any_buffers(&t)) return;
    line_add(l, "Planning:");
    text_buffers(x, l, &t, 2);
}

static void text_settings(struct explaining *x, struct lines *l)
{
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    for (int i = 0; i < x->options->setting_count; i++)
        text_buffer_printf(&t, "%s%s = '%s'", i ? ", " : "Settings: ", x->options->settings[i].name, x->options->settings[i].value);
    if (x->options->setting_count) line_add(l, t.bytes);
}

static void text_node(struct explaining *x, const struct shown *item, struct text_buffer *t)
{
    const struct plan *n = item->plan;
    struct actual a;
    if (item->depth) text_buffer_printf(t, "%*s->  ", item->depth - 4, "");
    text_buffer_puts(t, item->key);
    if (x->options->costs) text_buffer_printf(t, "  (cost=%.2f..%.2f rows=%.0f width=%.0f)", n->startup_cost, n->total_cost, n->rows, n->width);
    if (!explain_actual(x, item, &a)) return;
    if (a.loops == 0) text_buffer_puts(t, " (never executed)");
    else if (x->options->timing) text_buffer_printf(t, " (actual time=%.3f..%.3f rows=%.0f loops=%.0f)", a.start, a.total, a.rows, a.loops);
    else text_buffer_printf(t, " (actual rows=%.0f loops=%.0f)", a.rows, a.loops);
}

void explain_text(struct explaining *x, char ***lines, int *count)
{
    struct lines l = { .arena = x->arena };
    const struct shown *node = NULL;     /* whose details are being said */
    for (int i = 0; i < x->count; i++) {
        const struct shown *item = &x->items[i];
        struct text_buffer t;
        if (item->kind == SHOWN_NODE || item->kind == SHOWN_TITLE) {
            text_touched(x, &l, node);
            node = item->kind == SHOWN_NODE ? item : NULL;
        }
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
    text_touched(x, &l, node);
    text_settings(x, &l);
    if (explain_reason(x)) line_add(&l, arena_printf(x->arena, "Serial Reason: %s", x->plan->serial_reason));
    text_planning(x, &l);
    if (x->options->summary) line_add(&l, arena_printf(x->arena, "Planning Time: %.3f ms", (double)x->options->planning_us / 1000));
    if (explain_phases(x)) {
        const struct exec_counters *c = x->counters;
        line_add(&l, arena_printf(x->arena, "Phases: scan=%.3f merge=%.3f finalise=%.3f print=%.3f leader=%.3f", (double)c->scan_us / 1000, (double)c->merge_us / 1000, (double)c->finalise_us / 1000,
                                  (double)c->print_us / 1000, explain_leader_us(c) / 1000));
    }
    if (x->options->analyze && x->counters && x->options->summary) line_add(&l, arena_printf(x->arena, "Execution Time: %.3f ms", (double)x->counters->run_us / 1000));
    *lines = l.lines;
    *count = l.count;
}
