/* engine/plan/explain.c - a plan as EXPLAIN shows it: PostgreSQL's text layout and spelling.
 *
 * Some of our nodes have no counterpart there: PROJECT isn't shown, a FILTER shows as the filter of the node beneath, TOP_N as a
 * Limit over a Sort, a hash join's build side under a Hash. Where the gate plans workers, a Gather is drawn at the top of
 * the pipeline, and an aggregate is drawn as its partial and final halves. */
#include <math.h>
#include <string.h>

#include "engine/exec/spill.h"
#include "engine/plan/explain.h"

/* ---- items ---- */

static struct shown *add_item(struct explaining *x, enum shown_kind kind, int level, const char *key)
{
    if (x->count == x->capacity) {
        int capacity = x->capacity ? x->capacity * 2 : 32;
        x->items = arena_grow(x->arena, x->items, (size_t)x->capacity * sizeof *x->items, (size_t)capacity * sizeof *x->items);
        x->capacity = capacity;
    }
    struct shown *item = &x->items[x->count++];
    *item = (struct shown){ .kind = kind, .depth = level * 6 + x->indent, .key = key };
    return item;
}

static void detail(struct explaining *x, int level, const char *key, const char *text) { add_item(x, SHOWN_TEXT, level, key)->text = text; }

static void detail_number(struct explaining *x, int level, const char *key, double number, const char *unit)
{
    struct shown *item = add_item(x, SHOWN_NUMBER, level, key);
    item->number = number;
    item->unit = unit;
}

static void detail_list(struct explaining *x, int level, const char *key, const char **items, int count)
{
    struct shown *item = add_item(x, SHOWN_LIST, level, key);
    item->items = items;
    item->count = count;
}

static void detail_expression(struct explaining *x, int level, const struct plan *node, const char *label, const struct scalar *s)
{
    if (!s) return;
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    bool prefix = x->prefix;             /* a scan's own columns need no name in front */
    if (node->kind == PLAN_SEQ_SCAN || node->kind == PLAN_INDEX_SCAN || node->kind == PLAN_BITMAP_SCAN || node->kind == PLAN_VIRTUAL_SCAN || node->kind == PLAN_FUNCTION_SCAN || node->kind == PLAN_CTE_SCAN) x->prefix = false;
    explain_expression(x, node, s, &t);
    x->prefix = prefix;
    const char *text = t.bytes;
    if (t.length && t.bytes[0] != '(' && s->kind != SCALAR_CONST) text = arena_printf(x->arena, s->kind == SCALAR_COLUMN ? "%s" : "(%s)", t.bytes);
    detail(x, level, label, text);
}

static void label(struct explaining *x, int level, const struct plan *shown, const char *text)
{
    struct shown *item = add_item(x, SHOWN_NODE, level, text);
    item->plan = shown;
    item->counted = true;
}

static const char *relation(struct explaining *x, const struct plan *n)
{
    const char *name = quote_identifier(x->arena, n->table->name);
    if (x->options->verbose) name = arena_printf(x->arena, "%s.%s", quote_identifier(x->arena, n->table->schema_name), name);
    if (n->alias && strcmp(n->alias, n->table->name) != 0) return arena_printf(x->arena, "%s %s", name, quote_identifier(x->arena, n->alias));
    return name;
}

static void sort_keys(struct explaining *x, int level, const struct plan *n, const char *title)
{
    const char **items = arena_array(x->arena, const char *, n->sort_count + 1u);
    for (int i = 0; i < n->sort_count; i++) {
        struct text_buffer t, one;
        text_buffer_open(&t, x->arena);
        text_buffer_open(&one, x->arena);
        explain_column(x, n->left, n->sort[i].column, &one);
        bool plain = one.length && strspn(one.bytes, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.\"") == one.length;
        text_buffer_printf(&t, plain || one.bytes[0] == '(' ? "%s" : "(%s)", one.bytes);
        if (n->sort[i].descending) text_buffer_puts(&t, " DESC");
        if (n->sort[i].descending && !n->sort[i].nulls_first) text_buffer_puts(&t, " NULLS LAST");
        if (!n->sort[i].descending && n->sort[i].nulls_first) text_buffer_puts(&t, " NULLS FIRST");
        items[i] = t.bytes;
    }
    if (n->sort_count) detail_list(x, level, title, items, n->sort_count);
}

static void expression_list(struct explaining *x, int level, const struct plan *n, const char *title, struct scalar *const *list, int count)
{
    const char **items = arena_array(x->arena, const char *, count + 1u);
    for (int i = 0; i < count; i++) {
        struct text_buffer t;
        text_buffer_open(&t, x->arena);
        explain_expression(x, n, list[i], &t);
        items[i] = t.bytes;
    }
    detail_list(x, level, title, items, count);
}

static void index_condition(struct explaining *x, int level, const struct plan *n, const struct index *index, const struct index_bound *b)
{
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    int parts = 0;
    for (int i = 0; i <= b->equal_count; i++) {
        if (i >= index->column_count) break;
        struct text_buffer name;
        text_buffer_open(&name, x->arena);
        if (index->columns[i].column) explain_qualified(x, NULL, n->table->columns[index->columns[i].column - 1].name, &name);
        else text_buffer_puts(&name, index->columns[i].expr_text ? index->columns[i].expr_text : "?");
        const struct { const char *op; const struct scalar *s; } list[4] = {
            { "=", i < b->equal_count ? b->equal[i] : NULL },
            { b->low_inclusive ? ">=" : ">", i == b->equal_count ? b->low : NULL },
            { b->high_inclusive ? "<=" : "<", i == b->equal_count ? b->high : NULL },
            { "= ANY", i == b->equal_count ? b->any_array : NULL } };
        for (int k = 0; k < 4; k++) {
            if (!list[k].s) continue;
            text_buffer_printf(&t, "%s(%s %s ", parts++ ? " AND " : "", name.bytes, list[k].op);
            if (k == 3) text_buffer_putc(&t, '(');
            explain_expression(x, n, list[k].s, &t);
            text_buffer_puts(&t, k == 3 ? "))" : ")");
        }
        if (i == b->equal_count && b->null_test) text_buffer_printf(&t, "%s(%s IS NULL)", parts++ ? " AND " : "", name.bytes);
    }
    if (parts) detail(x, level, "Index Cond", parts > 1 ? arena_printf(x->arena, "(%s)", t.bytes) : t.bytes);
}

/* What a bitmap says, as one expression. */
static void bitmap_text(struct explaining *x, const struct plan *n, const struct bitmap *b, struct text_buffer *t)
{
    if (b->kind == BITMAP_INDEX) {
        if (b->condition) explain_expression(x, n, b->condition, t);
        else text_buffer_puts(t, "true");
        return;
    }
    text_buffer_putc(t, '(');
    for (int i = 0; i < b->count; i++) {
        if (i) text_buffer_puts(t, b->kind == BITMAP_AND ? " AND " : " OR ");
        bitmap_text(x, n, b->parts[i], t);
    }
    text_buffer_putc(t, ')');
}

/* Is a part of the scan's condition said by the bitmap? */
static bool bitmap_says(const struct bitmap *b, const struct scalar *s)
{
    if (b->kind == BITMAP_AND) {
        for (int i = 0; i < b->count; i++)
            if (bitmap_says(b->parts[i], s)) return true;
        return false;
    }
    if (b->kind == BITMAP_INDEX) {
        if (!b->condition) return false;
        if (b->condition->kind != SCALAR_AND) return scalar_equal(b->condition, s);
        for (int i = 0; i < b->condition->arg_count; i++)
            if (scalar_equal(b->condition->args[i], s)) return true;
        return false;
    }
    if (s->kind != SCALAR_OR || s->arg_count != b->count) return false;
    for (int i = 0; i < b->count; i++) {
        const struct scalar *arm = s->args[i];
        for (int k = 0; k < (arm->kind == SCALAR_AND ? arm->arg_count : 1); k++)
            if (!bitmap_says(b->parts[i], arm->kind == SCALAR_AND ? arm->args[k] : arm)) return false;
    }
    return true;
}

static void bitmap_details(struct explaining *x, int level, const struct plan *n)
{
    struct text_buffer t;
    bool prefix = x->prefix;
    x->prefix = false;
    text_buffer_open(&t, x->arena);
    bitmap_text(x, n, n->bitmap, &t);
    detail(x, level, "Recheck Cond", t.bytes);
    struct scalar *parts[64];
    int count = 0, all = !n->filter ? 0 : n->filter->kind == SCALAR_AND ? n->filter->arg_count : 1;
    for (int i = 0; i < all && count < 64; i++) {
        struct scalar *s = n->filter->kind == SCALAR_AND ? n->filter->args[i] : n->filter;
        if (!bitmap_says(n->bitmap, s)) parts[count++] = s;
    }
    x->prefix = prefix;
    if (count) detail_expression(x, level, n, "Filter", scalar_and(x->arena, parts, (uint32_t)count));
}

static void show_bitmap(struct explaining *x, int level, const struct plan *n, const struct bitmap *b)
{
    struct plan shown = { .id = UINT16_MAX, .rows = b->kind == BITMAP_INDEX ? b->rows : 0, .startup_cost = b->kind == BITMAP_INDEX ? 0 : b->cost, .total_cost = b->cost };
    label(x, level, arena_copy(x->arena, &shown, sizeof shown), b->kind == BITMAP_INDEX ? arena_printf(x->arena, "Bitmap Index Scan on %s", quote_identifier(x->arena, b->index->name)) : b->kind == BITMAP_AND ? "BitmapAnd" : "BitmapOr");
    x->items[x->count - 1].counted = false;
    bool prefix = x->prefix;
    x->prefix = false;
    if (b->kind == BITMAP_INDEX) index_condition(x, level, n, b->index, &b->bound);
    x->prefix = prefix;
    for (int i = 0; i < b->count; i++) show_bitmap(x, level + 1, n, b->parts[i]);
}

static void output_line(struct explaining *x, int level, const struct plan *n)
{
    if (!x->options->verbose || !n->column_count || n->kind == PLAN_MODIFY) return;
    const char **items = arena_array(x->arena, const char *, n->column_count);
    for (int i = 0; i < n->column_count; i++) {
        struct text_buffer t;
        text_buffer_open(&t, x->arena);
        explain_column(x, n, (uint16_t)i, &t);
        items[i] = t.length ? t.bytes : "";
    }
    detail_list(x, level, "Output", items, n->column_count);
}

static const char *join_word(struct explaining *x, const struct plan *n)
{
    static const char *const kinds[] = { [PLAN_INNER] = "", [PLAN_LEFT] = "Left ", [PLAN_RIGHT] = "Right ", [PLAN_FULL] = "Full ", [PLAN_SEMI] = "Semi ", [PLAN_ANTI] = "Anti ", [PLAN_ANTI_NULL] = "Anti ",
                                         [PLAN_RIGHT_SEMI] = "Right Semi ", [PLAN_RIGHT_ANTI] = "Right Anti " };
    if (n->kind == PLAN_NESTED_LOOP && n->join == PLAN_INNER) return "Nested Loop";
    return arena_printf(x->arena, "%s %sJoin", n->kind == PLAN_HASH_JOIN ? "Hash" : n->kind == PLAN_MERGE_JOIN ? "Merge" : "Nested Loop", kinds[n->join]);
}

static void removed(struct explaining *x, int level, const struct plan *n, const char *what)
{
    const struct node_counters *c = x->options->analyze ? explain_counters(x, n) : NULL;
    if (c && c->loops && (c->filtered || x->options->format)) detail_number(x, level, what, rint((double)c->filtered / (double)c->loops), "");
}

/* ---- what a run has taken ---- */

static double kilobytes(uint64_t bytes) { return floor((double)(bytes + 1023) / 1024); }

static void sort_method(struct explaining *x, int level, const struct node_counters *c, const char *method)
{
    struct shown *item = add_item(x, SHOWN_TEXT, level, "Sort Method");
    const char *where = c->spilled_bytes ? "Disk" : "Memory";
    item->text = method;
    item->items = arena_copy(x->arena, &where, sizeof where);
    item->number = kilobytes(c->spilled_bytes ? c->spilled_bytes : c->memory_bytes);
}

/* Batches: 1, or the partitions that went to disk. */
static void sizes(struct explaining *x, int level, const struct node_counters *c, double buckets)
{
    struct shown *item = add_item(x, SHOWN_SIZES, level, "");
    if (buckets > 0) item->sizes[item->count++] = (struct size){ "Buckets", "Hash Buckets", buckets, "" };
    item->sizes[item->count++] = (struct size){ "Batches", buckets > 0 ? "Hash Batches" : "HashAgg Batches", c->spilled_bytes ? SPILL_PARTITIONS : 1, "" };
    item->sizes[item->count++] = (struct size){ "Memory Usage", "Peak Memory Usage", kilobytes(c->memory_bytes), "kB" };
    if (c->spilled_bytes || (x->options->format && buckets == 0)) item->sizes[item->count++] = (struct size){ "Disk Usage", "Disk Usage", kilobytes(c->spilled_bytes), "kB" };
}

/* The table has as many heads as rows, to the next power of two. */
static void hash_size(struct explaining *x, int level, const struct plan *join, const struct node_counters *c)
{
    const struct node_counters *build = explain_counters(x, join->right);
    double rows = build ? (double)build->rows : 0, buckets = 16;
    while (buckets < rows) buckets *= 2;
    sizes(x, level, c, buckets);
}

static void show(struct explaining *x, const struct plan *n, int level, bool gathered);

static void show_subplans(struct explaining *x, int level, int from, bool inits)
{
    for (int i = from; i < x->subplan_count; i++) {
        if (x->initplan[i] != inits || x->shown[i]) continue;
        const struct plan *plan = x->subplans[i];
        x->shown[i] = true;
        const char *title = x->initplan[i] ? arena_printf(x->arena, "InitPlan %d (returns $%d)", i + 1, i) : arena_printf(x->arena, "SubPlan %d", i + 1);
        add_item(x, SHOWN_TITLE, level, title);
        x->indent += 2;
        show(x, plan, level + 1, false);
        x->indent -= 2;
    }
}

static bool is_sink(const struct plan *n) { return n->kind == PLAN_AGGREGATE || n->kind == PLAN_SORT || n->kind == PLAN_TOP_N; }

static void gather(struct explaining *x, const struct plan *n, int level, bool merge)
{
    label(x, level, n, merge ? "Gather Merge" : "Gather");
    detail_number(x, level, "Workers Planned", n->workers_planned, "");
    const struct node_counters *c = x->options->analyze ? explain_counters(x, n) : NULL;
    if (c) detail_number(x, level, "Workers Launched", c->workers_launched, "");
}

/* Pages and WAL of the nodes from `top` down to `n`, which are shown as one. */
static void touched_by(struct explaining *x, struct shown *item, const struct plan *top, const struct plan *n)
{
    for (const struct plan *e = top;; e = e->left) {
        const struct node_counters *c = x->options->analyze ? explain_counters(x, e) : NULL;
        if (c) {
            item->own.hit += c->pages_hit;
            item->own.read += c->pages_read;
            item->own.dirtied += c->pages_dirtied;
            item->own.written += c->pages_written;
            item->own.records += c->wal_records;
            item->own.images += c->wal_images;
            item->own.bytes += c->wal_bytes;
        }
        if (e == n) return;
    }
}

static void show(struct explaining *x, const struct plan *n, int level, bool gathered)
{
    const struct plan *top = n, *filters[8];
    int filter_count = 0;
    /* nodes that PostgreSQL doesn't have */
    while (n->kind == PLAN_PROJECT || n->kind == PLAN_FILTER) {
        if (n->kind == PLAN_FILTER && filter_count < 8) filters[filter_count++] = n;
        n = n->left;
    }
    if (n->workers_planned && !gathered && n->kind != PLAN_LIMIT) {
        if (n->kind == PLAN_AGGREGATE) {
            label(x, level, top, n->group_count ? "Finalize HashAggregate" : "Finalize Aggregate");
            if (n->group_count) expression_list(x, level, n, "Group Key", n->groups, n->group_count);
            for (int i = 0; i < filter_count; i++) {
                detail_expression(x, level, filters[i], "Filter", filters[i]->filter);
                removed(x, level, filters[i], "Rows Removed by Filter");
            }
            gather(x, n, level + 1, false);
            show(x, n, level + 2, true);
            return;
        }
        gather(x, n, level, is_sink(n));
        show(x, top, level + 1, true);
        return;
    }
    bool partial = gathered && n->kind == PLAN_AGGREGATE;
    bool parallel_scan = n->workers_planned && (n->kind == PLAN_SEQ_SCAN || n->kind == PLAN_INDEX_SCAN);
    if (partial) {
        top = n;
        filter_count = 0;
    }
    const struct plan *inner = n;
    int before = x->subplan_count;
    bool below_gathered = gathered;
    switch (n->kind) {
    case PLAN_RESULT: label(x, level, top, "Result"); break;
    case PLAN_VALUES: label(x, level, top, "Values Scan on \"*VALUES*\""); break;
    case PLAN_SEQ_SCAN: label(x, level, top, arena_printf(x->arena, "%sSeq Scan on %s", parallel_scan ? "Parallel " : "", relation(x, n))); break;
    case PLAN_BITMAP_SCAN: label(x, level, top, arena_printf(x->arena, "%sBitmap Heap Scan on %s", n->workers_planned ? "Parallel " : "", relation(x, n))); break;
    case PLAN_VIRTUAL_SCAN: label(x, level, top, arena_printf(x->arena, "Seq Scan on %s", relation(x, n))); break;
    case PLAN_INDEX_SCAN:
        label(x, level, top, arena_printf(x->arena, "%sIndex %sScan %susing %s on %s", n->workers_planned ? "Parallel " : "", n->index_only ? "Only " : "", n->backward ? "Backward " : "", quote_identifier(x->arena, n->index->name), relation(x, n)));
        break;
    case PLAN_FUNCTION_SCAN: {
        const char *alias = n->alias && strcmp(n->alias, n->set_function->name) != 0 ? arena_printf(x->arena, " %s", quote_identifier(x->arena, n->alias)) : "";
        label(x, level, top, arena_printf(x->arena, "Function Scan on %s%s", n->set_function->name, alias));
        break;
    }
    case PLAN_CTE_SCAN: label(x, level, top, arena_printf(x->arena, "%s on %s", n->working_table ? "WorkTable Scan" : "CTE Scan", quote_identifier(x->arena, n->alias))); break;
    case PLAN_HASH_JOIN: case PLAN_MERGE_JOIN: case PLAN_NESTED_LOOP: label(x, level, top, join_word(x, n)); break;
    case PLAN_AGGREGATE: label(x, level, top, arena_printf(x->arena, "%s%s", partial ? "Partial " : "", n->set_count ? "MixedAggregate" : n->group_count ? "HashAggregate" : "Aggregate")); break;
    case PLAN_WINDOW: label(x, level, top, "WindowAgg"); break;
    case PLAN_SORT: label(x, level, top, "Sort"); break;
    case PLAN_TOP_N: label(x, level, top, "Limit"); break;
    case PLAN_LIMIT: label(x, level, top, "Limit"); break;
    case PLAN_DISTINCT_ON: label(x, level, top, "Unique"); break;
    case PLAN_APPEND: label(x, level, top, "Append"); break;
    case PLAN_SET_OP: label(x, level, top, arena_printf(x->arena, "HashSetOp %s%s", n->set_operation == SET_INTERSECT ? "Intersect" : "Except", n->set_all ? " All" : "")); break;
    case PLAN_RECURSIVE_UNION: label(x, level, top, "Recursive Union"); break;
    case PLAN_PROJECT_SET: label(x, level, top, "ProjectSet"); break;
    case PLAN_LOCK_ROWS: label(x, level, top, "LockRows"); break;
    case PLAN_MODIFY: label(x, level, top, arena_printf(x->arena, "%s on %s", n->modify == MODIFY_INSERT ? "Insert" : n->modify == MODIFY_UPDATE ? "Update" : "Delete", relation(x, n))); break;
    default: label(x, level, top, "?");
    }
    touched_by(x, &x->items[x->count - 1], top, n);
    output_line(x, level, top);
    if (n->kind == PLAN_INDEX_SCAN) index_condition(x, level, n, n->index, &n->bound);
    if (n->kind == PLAN_BITMAP_SCAN) {
        bitmap_details(x, level, n);
        removed(x, level, n, "Rows Removed by Filter");
    }
    if (n->kind == PLAN_HASH_JOIN || n->kind == PLAN_MERGE_JOIN) {
        struct text_buffer t;
        /* keys read each side's own output: their names are looked up as a node above that side would, by subqueries in them later */
        struct plan *above_left = arena_new(x->arena, struct plan), *above_right = arena_new(x->arena, struct plan);
        *above_left = (struct plan){ .kind = PLAN_LIMIT, .left = n->left };
        *above_right = (struct plan){ .kind = PLAN_LIMIT, .left = n->right };
        text_buffer_open(&t, x->arena);
        for (int i = 0; i < n->key_count; i++) {
            text_buffer_printf(&t, "%s(", i ? " AND " : "");
            explain_expression(x, above_left, n->left_keys[i], &t);
            text_buffer_puts(&t, " = ");
            explain_expression(x, above_right, n->right_keys[i], &t);
            text_buffer_putc(&t, ')');
        }
        detail(x, level, n->kind == PLAN_HASH_JOIN ? "Hash Cond" : "Merge Cond", n->key_count > 1 ? arena_printf(x->arena, "(%s)", t.bytes) : t.bytes);
    }
    if (n->kind == PLAN_AGGREGATE && n->group_count && !n->set_count) expression_list(x, level, n, "Group Key", n->groups, n->group_count);
    for (int k = 0; n->kind == PLAN_AGGREGATE && k < n->set_count; k++) {
        struct text_buffer t;
        text_buffer_open(&t, x->arena);
        for (int i = n->sets_offsets[k]; i < n->sets_offsets[k + 1]; i++) {
            if (i > n->sets_offsets[k]) text_buffer_puts(&t, ", ");
            explain_expression(x, n, n->groups[n->sets[i]], &t);
        }
        detail(x, level, n->sets_offsets[k] == n->sets_offsets[k + 1] ? "Group Key" : "Hash Key", t.length ? t.bytes : "()");
    }
    if (n->kind == PLAN_SORT) sort_keys(x, level, n, "Sort Key");
    if (n->kind == PLAN_HASH_JOIN || n->kind == PLAN_MERGE_JOIN || n->kind == PLAN_NESTED_LOOP) {
        detail_expression(x, level, n, "Join Filter", n->filter);
        if (n->filter) removed(x, level, n, "Rows Removed by Join Filter");
    } else if (n->kind == PLAN_RESULT)
        detail_expression(x, level, n, "One-Time Filter", n->filter);
    else if (n->kind != PLAN_AGGREGATE && n->kind != PLAN_BITMAP_SCAN && n->filter) {
        detail_expression(x, level, n, "Filter", n->filter);
        removed(x, level, n, "Rows Removed by Filter");
    }
    for (int i = 0; i < filter_count; i++) {
        detail_expression(x, level, filters[i], "Filter", filters[i]->filter);
        removed(x, level, filters[i], "Rows Removed by Filter");
    }
    const struct node_counters *c = x->options->analyze ? explain_counters(x, inner) : NULL;
    if (c && c->loops && n->kind == PLAN_INDEX_SCAN && n->index_only) detail_number(x, level, "Heap Fetches", (double)c->heap_fetches, "");
    if (c && c->loops && n->kind == PLAN_SORT) sort_method(x, level, c, c->spilled_bytes ? "external merge" : "quicksort");
    if (c && c->loops && n->kind == PLAN_AGGREGATE && n->group_count && c->memory_bytes) sizes(x, level, c, 0);
    bool says_disk = n->kind == PLAN_SORT || n->kind == PLAN_HASH_JOIN || (n->kind == PLAN_AGGREGATE && n->group_count && c && c->memory_bytes);
    if (c && c->loops && c->spilled_bytes && !says_disk) detail_number(x, level, "Disk Usage", kilobytes(c->spilled_bytes), "kB");
    if (c && parallel_scan && c->morsels) detail_number(x, level, "Morsels", (double)c->morsels, "");
    if (c && c->loops && c->pages_skipped) detail_number(x, level, "Pages Skipped", (double)c->pages_skipped, "");
    /* subqueries in the select list of this node show too */
    for (const struct plan *e = top; e != n; e = e->left)
        for (int i = 0; e->kind == PLAN_PROJECT && i < e->column_count; i++) {
            struct text_buffer t;
            text_buffer_open(&t, x->arena);
            explain_expression(x, e, e->exprs[i], &t);
        }
    if (n->exprs && (n->kind == PLAN_RESULT || n->kind == PLAN_PROJECT_SET))
        for (int i = 0; i < n->column_count; i++) {
            struct text_buffer t;
            text_buffer_open(&t, x->arena);
            explain_expression(x, n, n->exprs[i], &t);
        }
    if (level == 0)
        for (int i = 0; i < x->plan->cte_count; i++) {
            if (!x->plan->ctes[i]) continue;
            add_item(x, SHOWN_TITLE, level, arena_printf(x->arena, "CTE %s", quote_identifier(x->arena, x->plan->cte_names[i])));
            x->indent += 2;
            show(x, x->plan->ctes[i], 1, false);
            x->indent -= 2;
        }
    show_subplans(x, level, before, true);
    switch (n->kind) {
    case PLAN_HASH_JOIN:
        show(x, n->left, level + 1, below_gathered);
        label(x, level + 1, n->right, "Hash");
        if (c && c->loops && c->memory_bytes) hash_size(x, level + 1, n, c);
        show(x, n->right, level + 2, false);
        break;
    case PLAN_NESTED_LOOP:
        for (int i = 0; i < n->outer_count; i++) {
            struct plan *above = arena_new(x->arena, struct plan);
            above->kind = PLAN_LIMIT;
            above->left = n->left;
            if (n->outer_slots[i] >= 512) continue;
            x->slots[n->outer_slots[i]].node = above;
            x->slots[n->outer_slots[i]].value = n->outer_values[i];
        }
        show(x, n->left, level + 1, below_gathered);
        show(x, n->right, level + 1, below_gathered);
        break;
    case PLAN_TOP_N: {
        label(x, level + 1, n, "Sort");
        sort_keys(x, level + 1, n, "Sort Key");
        if (c && c->loops) sort_method(x, level + 1, c, "top-N heapsort");
        show(x, n->left, level + 2, below_gathered);
        break;
    }
    case PLAN_BITMAP_SCAN: show_bitmap(x, level + 1, n, n->bitmap); break;
    case PLAN_APPEND:
        for (int i = 0; i < n->child_count; i++) show(x, n->children[i], level + 1, false);
        break;
    default:
        if (n->left) show(x, n->left, level + 1, below_gathered);
        if (n->right) show(x, n->right, level + 1, below_gathered);
    }
    show_subplans(x, level, before, false);
}

static void touched_sum(struct explaining *x)
{
    for (int i = 0; i < x->count; i++) {
        struct shown *node = &x->items[i];
        if (node->kind != SHOWN_NODE) continue;
        node->all = node->own;
        for (int k = i + 1; k < x->count; k++) {
            const struct touched *t = &x->items[k].own;
            if (x->items[k].kind == SHOWN_NODE && x->items[k].depth <= node->depth) break;
            node->all.hit += t->hit;
            node->all.read += t->read;
            node->all.dirtied += t->dirtied;
            node->all.written += t->written;
            node->all.records += t->records;
            node->all.images += t->images;
            node->all.bytes += t->bytes;
        }
        if (node->all.hit < 0) node->all.hit = 0;          /* read ahead, and never asked for */
    }
}

static int count_relations(const struct plan *n)
{
    if (!n) return 0;
    int c = n->kind == PLAN_SEQ_SCAN || n->kind == PLAN_INDEX_SCAN || n->kind == PLAN_BITMAP_SCAN || n->kind == PLAN_VIRTUAL_SCAN || n->kind == PLAN_FUNCTION_SCAN || n->kind == PLAN_CTE_SCAN;
    for (int i = 0; i < n->child_count; i++) c += count_relations(n->children[i]);
    return c + count_relations(n->left) + count_relations(n->right);
}

enum status explain_plan(const struct prepared_plan *plan, const struct explain_options *options, const struct exec_counters *counters, struct arena *arena, char ***lines, int *line_count)
{
    struct explaining *x = arena_new(arena, struct explaining);
    x->arena = arena;
    x->plan = plan;
    x->options = options;
    x->counters = counters;
    x->prefix = count_relations(plan->root) > 1;
    show(x, plan->root, 0, false);
    touched_sum(x);
    if (options->format) explain_tree(x, lines, line_count);
    else explain_text(x, lines, line_count);
    return STATUS_OK;
}
