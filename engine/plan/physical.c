/* engine/plan/physical.c - access paths: how one table is read, what that costs, and the gate for workers.
 *
 * A condition bounds an index when it compares one of its leading columns with something that the scan doesn't read
 * itself: constants, parameters, columns of a nested loop's left side or of an outer query. Leading columns with `=`
 * make the prefix; the next may have a range, IN (one probe a value) or IS NULL. LIKE 'abc%' gives a range and stays as
 * a filter. Costs are in PostgreSQL's units and by its formulas, somewhat simplified.
 *
 * The gate: a pipeline whose source is a sequential scan of at least min_parallel_table_scan_size gets workers by PostgreSQL's
 * rule (two, and one more for each threefold of that size), at most max_parallel_workers_per_gather, if the statement only reads and
 * all its functions are parallel safe. workers_planned stands on the scan and on every node up to and with the
 * pipeline's sink (aggregate, sort, top-n, a hash join's build side stops before the join); it never changes a plan's
 * shape. What runs again for each row (a nested loop's right side, correlated subqueries) gets none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/cost.h"
#include "engine/plan/gate.h"
#include "engine/plan/stats.h"
#include "storage/pool.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

/* ---- sizes ---- */

void rel_size(struct planner *p, struct rel *r)
{
    if (r->sized) return;
    r->sized = true;
    r->rows = 1000;
    r->pages = 10;
    if (r->kind != REL_TABLE || r->table->kind != RELATION_TABLE) return;
    uint32_t pages = 0;
    if (heap_pages(&r->table->heap, &pages)) {
        error_clear();
        return;
    }
    double known = r->table->row_estimate;
    struct heap_counters counters;
    heap_counters(&r->table->heap, &counters);
    double width = 0;
    for (int i = 0; i < r->column_count; i++) {
        const struct column_statistics *st = r->table->columns[i].statistics;
        width += r->types[i].width ? r->types[i].width : st ? st->average_width + 16 : width_of(&r->types[i], 1) + 16;
    }
    double per_page = fmax(1, fmin(PAX_MAX_SLOTS, floor((16384 - 128) / (width + 40))));
    r->pages = pages;
    if (known >= 0 && (double)counters.changed_since_analyze <= known * 0.2 + 50) r->rows = known;
    else {
        if (known < 0 && r->pages < 10) r->pages = 10;   /* a new table is likely to grow */
        r->rows = r->pages * per_page;
        if (known >= 0) r->rows = fmin(fmax(r->rows, known), known + (double)counters.inserted + 1);
    }
    if (r->rows < 1) r->rows = 1;
    (void)p;
}

/* Mackert and Lohman's estimate of pages read when `rows` rows are fetched at random from a table that is partly cached. */
static double pages_fetched(struct planner *p, double rows, double pages)
{
    double t = fmax(1, pages), b = fmax(1, (double)p->settings->effective_cache_bytes / 8192);
    if (t <= b) {
        double r = 2 * t * rows / (2 * t + rows);
        return r >= t ? t : ceil(r);
    }
    double limit = 2 * t * b / (2 * t - b);
    if (rows <= limit) return ceil(2 * t * rows / (2 * t + rows));
    return ceil(b + (rows - limit) * (t - b) / t);
}

/* ---- matching conditions with index columns ---- */

enum match { MATCH_NONE, MATCH_EQ, MATCH_LT, MATCH_LE, MATCH_GT, MATCH_GE, MATCH_IN, MATCH_NULL, MATCH_PREFIX };
struct matched { enum match kind; struct scalar *value, *low, *high; };

static bool visit_this(void *context, const struct scalar *s) { return s->kind == SCALAR_VAR && s->var.rel == *(uint16_t *)context; }

static bool is_index_column(const struct rel *r, const struct index_column *c, struct scalar *bound, const struct scalar *s)
{
    if (c->column) return s->kind == SCALAR_VAR && s->var.rel == r->id && s->var.column + 1 == c->column;
    return bound && scalar_equal(bound, s);
}

static bool same_bytes(uint32_t a, uint32_t b)
{
    if (a == b) return true;
    bool ta = a == OID_TEXT || a == OID_VARCHAR, tb = b == OID_TEXT || b == OID_VARCHAR;
    if (ta && tb) return true;
    bool oa = a == OID_OID || a == OID_REGCLASS, ob = b == OID_OID || b == OID_REGCLASS;
    return oa && ob;
}

/* The other side as a value of the column's type; NULL when that can't be had without loss. */
static struct scalar *as_key(struct planner *p, struct sql_type column, struct scalar *s)
{
    if (same_bytes(s->type.oid, column.oid)) return s;
    if (!can_coerce(s->type.oid, column.oid, CAST_IMPLICIT)) {
        if (s->kind != SCALAR_CONST || s->constant.null) return NULL;
        /* int4 column and int8 constant: when it fits */
        int64_t v;
        if (s->type.oid == OID_INT8) v = s->constant.i8;
        else if (s->type.oid == OID_INT4) v = s->constant.i4;
        else return NULL;
        struct scalar *c = scalar_new(p->arena, SCALAR_CONST, type_make(column.oid, -1), s->position);
        if (column.oid == OID_INT4 && v >= INT32_MIN && v <= INT32_MAX) c->constant.i4 = (int32_t)v;
        else if (column.oid == OID_INT2 && v >= INT16_MIN && v <= INT16_MAX) c->constant.i2 = (int16_t)v;
        else return NULL;
        return c;
    }
    /* only casts that keep the order and every value */
    bool ints = (column.oid == OID_INT8 || column.oid == OID_INT4) && (s->type.oid == OID_INT4 || s->type.oid == OID_INT2);
    bool dates = s->type.oid == OID_DATE && column.oid == OID_TIMESTAMP;
    if (!ints && !dates) return NULL;
    struct scalar *out;
    if (coerce(p, s, type_make(column.oid, -1), CAST_IMPLICIT, s->position, &out)) {
        error_clear();
        return NULL;
    }
    if (dates && out->kind != SCALAR_CONST) return NULL;         /* a day past every timestamp would raise an error, where comparing with it doesn't */
    return out;
}

static enum match operator_match(const char *n)
{
    if (n[0] == '=' && !n[1]) return MATCH_EQ;
    if (n[0] == '<' && !n[1]) return MATCH_LT;
    if (n[0] == '<' && n[1] == '=' && !n[2]) return MATCH_LE;
    if (n[0] == '>' && !n[1]) return MATCH_GT;
    if (n[0] == '>' && n[1] == '=' && !n[2]) return MATCH_GE;
    return MATCH_NONE;
}
static enum match turned(enum match m) { return m == MATCH_LT ? MATCH_GT : m == MATCH_LE ? MATCH_GE : m == MATCH_GT ? MATCH_LT : m == MATCH_GE ? MATCH_LE : m; }

static bool like_prefix(struct planner *p, struct sql_type column, const struct scalar *pattern, struct matched *out)
{
    if (pattern->kind != SCALAR_CONST || pattern->constant.null || (column.oid != OID_TEXT && column.oid != OID_VARCHAR)) return false;
    const uint8_t *t = pattern->constant.v.bytes;
    uint32_t n = pattern->constant.v.length, fixed = 0;
    while (fixed < n && t[fixed] != '%' && t[fixed] != '_' && t[fixed] != '\\') fixed++;
    if (fixed == 0) return false;
    uint8_t *low = arena_copy(p->arena, t, fixed), *high = arena_copy(p->arena, t, fixed);
    uint32_t length = fixed;
    while (length > 0 && high[length - 1] == 0xFF) length--;
    out->kind = MATCH_PREFIX;
    out->low = scalar_new(p->arena, SCALAR_CONST, type_make(column.oid, -1), 0);
    out->low->constant.v = (struct varlen){ low, fixed, 0 };
    if (length) {
        high[length - 1]++;
        out->high = scalar_new(p->arena, SCALAR_CONST, type_make(column.oid, -1), 0);
        out->high->constant.v = (struct varlen){ high, length, 0 };
    }
    return true;
}

static bool match_condition(struct planner *p, struct rel *r, const struct index_column *c, struct scalar *bound, struct scalar *s, struct matched *out)
{
    uint16_t id = r->id;
    *out = (struct matched){ 0 };
    switch (s->kind) {
    case SCALAR_CALL: {
        if (!s->operator || s->arg_count != 2) return false;
        enum match m = operator_match(s->operator->name);
        struct scalar *other;
        if (is_index_column(r, c, bound, s->args[0])) other = s->args[1];
        else if (m != MATCH_NONE && is_index_column(r, c, bound, s->args[1])) { other = s->args[0]; m = turned(m); }
        else return false;
        if (scalar_walk(other, visit_this, &id) || scalar_has_volatile(other) || scalar_has_subquery(other)) return false;
        if (m == MATCH_NONE) {
            if (strcmp(s->operator->name, "~~") == 0) return like_prefix(p, c->type, other, out);
            return false;
        }
        /* text = bpchar compares differently from how the column sorts */
        if (c->type.oid == OID_BPCHAR && s->args[0]->type.oid != OID_BPCHAR) return false;
        out->value = as_key(p, c->type, other);
        out->kind = m;
        return out->value != NULL;
    }
    case SCALAR_IN_LIST: {
        if (s->in.negated || !is_index_column(r, c, bound, s->args[0])) return false;
        struct scalar **items = arena_array(p->arena, struct scalar *, s->arg_count);
        for (int i = 1; i < s->arg_count; i++) {
            if (scalar_walk(s->args[i], visit_this, &id) || scalar_has_volatile(s->args[i]) || scalar_has_subquery(s->args[i])) return false;
            items[i - 1] = as_key(p, c->type, s->args[i]);
            if (!items[i - 1]) return false;
        }
        uint32_t array = type_array_of(s->args[0]->type.oid);
        if (!array) return false;
        struct scalar *a = scalar_new(p->arena, SCALAR_ARRAY, type_make(array, -1), s->position);
        a->args = items;
        a->arg_count = (int32_t)(s->arg_count - 1);
        out->kind = MATCH_IN;
        out->value = a;
        return true;
    }
    case SCALAR_ANY_ARRAY: {
        if (s->any.all || !s->operator || strcmp(s->operator->name, "=") != 0 || !is_index_column(r, c, bound, s->args[0])) return false;
        const struct type_info *info = type_info(s->args[1]->type.oid);
        if (!info || !same_bytes(info->element_oid, c->type.oid)) return false;
        if (scalar_walk(s->args[1], visit_this, &id) || scalar_has_volatile(s->args[1]) || scalar_has_subquery(s->args[1])) return false;
        out->kind = MATCH_IN;
        out->value = s->args[1];
        return true;
    }
    case SCALAR_IS_NULL:
        if (!is_index_column(r, c, bound, s->args[0])) return false;
        out->kind = MATCH_NULL;
        return true;
    default:
        return false;
    }
}

/* An index's expression or condition with the table's columns as VARs of this relation. */
static enum status bind_for_rel(struct planner *p, struct rel *r, struct expr *e, struct scalar **out)
{
    struct query *q = query_new(p, STATEMENT_SELECT, 0);
    struct scope scope = { .query = q, .no_subqueries = true, .what = "index expression", .clause = "index expressions" };
    scope_add(p, &scope, space_of_rel(p, r, r->table->name, NULL));
    return bind_node(p, &scope, e, out);
}

static bool predicate_holds(struct planner *p, struct rel *r, const struct index *ix, const struct scalars *conditions)
{
    struct scalar *s;
    if (!ix->predicate) return true;
    if (bind_for_rel(p, r, ix->predicate, &s)) {
        error_clear();
        return false;
    }
    struct scalars parts = { 0 };
    conjuncts_add(p->arena, &parts, s);
    for (uint32_t i = 0; i < parts.count; i++) {
        bool said = false;
        for (uint32_t k = 0; k < conditions->count && !said; k++) said = scalar_equal(parts.items[i], conditions->items[k]);
        if (!said && parts.items[i]->kind == SCALAR_IS_NOT_NULL)     /* a strict comparison says it too */
            for (uint32_t k = 0; k < conditions->count && !said; k++)
                said = conditions->items[k]->kind == SCALAR_CALL && conditions->items[k]->operator && conditions->items[k]->call.function->strict &&
                       (scalar_equal(conditions->items[k]->args[0], parts.items[i]->args[0]) || (conditions->items[k]->arg_count > 1 && scalar_equal(conditions->items[k]->args[1], parts.items[i]->args[0])));
        if (!said) return false;
    }
    return true;
}

/* ---- costs ---- */

/* PostgreSQL's units; what a row of a vector costs stands in cost.h. */
static double function_weight(const struct function *f)
{
    static const char *const dear[] = { "like", "notlike", "iclike", "icnotlike", "textlike", "textnlike", "bpcharlike", "bpcharnlike", "texticlike", "texticnlike", "textregexeq", "textregexne", "texticregexeq", "texticregexne" };
    for (size_t i = 0; i < sizeof dear / sizeof *dear; i++)
        if (strcmp(f->name, dear[i]) == 0) return 5;
    return f->result == OID_TEXT || f->result == OID_NUMERIC ? 4 : 1;
}

/* Comparing texts: more than numbers, and long lists of them more still. */
static bool is_wide(const struct scalar *s) { return s->type.width == WIDTH_VARLEN; }

struct weighing { struct planner *p; double weight; };
static bool visit_weight(void *context, const struct scalar *s)
{
    struct weighing *w = context;
    switch (s->kind) {
    case SCALAR_CONST: case SCALAR_VAR: case SCALAR_COLUMN: case SCALAR_PARAMETER: case SCALAR_OUTER: break;
    case SCALAR_SUBQUERY: w->weight += s->subquery.query && query_is_free(w->p, s->subquery.query) ? 10000 : 1; return true;   /* one that hangs on no row runs once */
    case SCALAR_CALL: w->weight += function_weight(s->call.function) * (s->arg_count && is_wide(s->args[0]) ? 4 : 1); break;
    case SCALAR_IN_LIST: w->weight += (is_wide(s->args[0]) ? 8 : 2) + s->arg_count * 0.1; break;
    default: w->weight += 1;
    }
    return false;
}

double scalar_weight(struct planner *p, const struct scalar *s)
{
    struct weighing w = { p, 0 };
    scalar_walk(s, visit_weight, &w);
    return w.weight;
}

double scalars_weight(struct planner *p, const struct scalars *list)
{
    double weight = 0;
    for (uint32_t i = 0; i < list->count; i++) weight += scalar_weight(p, list->items[i]);
    return weight;
}

double page_part(struct planner *p, double pages)
{
    double frames = (double)pool_frame_count(session_store(p->session)->pool) / 2, cached = pages > frames ? frames / pages : 1;
    return COST_CACHED + (1 - COST_CACHED) * (1 - cached);
}

static void cost_seq(struct planner *p, struct rel *r, const struct scalars *conditions, struct access *a)
{
    const struct settings *g = p->settings;
    a->rows = fmax(1, rint(r->rows * selectivity_all(p, conditions)));
    a->startup = g->enable_seqscan ? 0 : 1e10;
    a->total = a->startup + r->pages * g->seq_page_cost * page_part(p, r->pages) + cost_rows(p, r->rows, COST_SCANNED) + cost_operators(p, r->rows, scalars_weight(p, conditions));
}

static double leaf_count(const struct index *ix, double tuples)
{
    double width = 12;
    for (int i = 0; i < ix->column_count; i++) width += ix->columns[i].type.width ? ix->columns[i].type.width + 1 : 20;
    return fmax(1, ceil(tuples * width / (16384 * 0.7)));
}

/* Reading that many of an index's entries: the way down and the leaves. startup: the way down. */
static double cost_entries(struct planner *p, const struct rel *r, const struct index *ix, const struct access *a, double rows, double loops, double *startup)
{
    const struct settings *g = p->settings;
    double tuples = fmax(1, r->rows), leaves = leaf_count(ix, tuples), leaf_pages = fmax(1, ceil(rows / tuples * leaves));
    double height = leaves <= 1 ? 0 : ceil(log(leaves) / log(300)), probes = 1;
    if (a->any_array) probes = a->any_array->kind == SCALAR_ARRAY ? a->any_array->arg_count : 10;
    *startup = (ceil(log2(fmax(2, tuples))) * g->cpu_operator_cost + (height + 1) * 50 * g->cpu_operator_cost) * probes;
    double io = g->random_page_cost + (fmax(leaf_pages, probes) - 1) * g->random_page_cost * 0.5;
    if (loops > 1) io = pages_fetched(p, leaf_pages * probes * loops, leaves) / loops * g->random_page_cost;
    return io * page_part(p, leaves) + rows * g->cpu_index_tuple_cost;
}

/* Does the index alone give all that is needed, above and by any join? By its plain columns, whose keys give back the very values. access_plan
 * looks again. */
static bool index_covers(struct planner *p, const struct rel *r, const struct index *ix, const struct access *a)
{
    struct scalars rest = { 0 };
    if (!p->settings->enable_indexonlyscan || !r->needed || r->needed[r->column_count]) return false;
    for (uint32_t i = 0; i < a->rest.count; i++) collect_vars(p, a->rest.items[i], r->id, &rest);
    for (uint16_t c = 0; c < r->column_count; c++) {
        bool need = r->needed[c] & (NEED_ABOVE | NEED_JOIN), has = false;
        for (uint32_t i = 0; i < rest.count && !need; i++) need = rest.items[i]->var.column == c;
        for (int k = 0; need && k < ix->column_count && !has; k++) has = ix->columns[k].column == c + 1 && key_exact(ix->columns[k].type);
        if (need && !has) return false;
    }
    for (uint32_t i = 0; i < rest.count; i++)
        if (rest.items[i]->var.column >= r->column_count) return false;
    return true;
}

static void cost_index(struct planner *p, struct rel *r, const struct index *ix, struct access *a, double loops, bool unique_hit)
{
    const struct settings *g = p->settings;
    double tuples = fmax(1, r->rows), sel = unique_hit ? 1 / tuples : selectivity_all(p, &a->used);
    if (a->prefix) sel *= a->prefix_selectivity;
    double rows = fmax(1, rint(tuples * sel)), descent;
    double entries = cost_entries(p, r, ix, a, rows, loops, &descent);
    /* heap pages: between all at random and in order */
    double correlation = 0;
    if (ix->columns[0].column) {
        const struct column_statistics *st = r->table->columns[ix->columns[0].column - 1].statistics;
        if (st) correlation = st->correlation * (ix->column_count > 1 ? 0.75 : 1);
    }
    double table_pages = r->pages, fetched = 1;          /* index only: of pages that not everybody sees */
    if (a->index_only) {
        fetched = 1 - fmin(1, r->table->visible_pages / fmax(1, r->pages));
        table_pages = ceil(r->pages * fetched);
    }
    double max_pages = loops > 1 ? pages_fetched(p, rows * loops, r->pages) / loops : pages_fetched(p, rows, r->pages);
    max_pages *= fetched;
    double max_io = max_pages * g->random_page_cost;
    double min_pages = ceil(rows / tuples * table_pages);
    double min_io = loops > 1 ? pages_fetched(p, min_pages * loops, r->pages) / loops * g->random_page_cost : min_pages > 0 ? g->random_page_cost + fmax(0, min_pages - 1) * g->seq_page_cost : 0;
    if (min_io > max_io) min_io = max_io;
    double io = (max_io + correlation * correlation * (min_io - max_io)) * page_part(p, r->pages);
    a->rows = unique_hit && a->rest.count == 0 ? 1 : fmax(1, rint(rows * selectivity_all(p, &a->rest) / (a->prefix ? fmax(a->prefix_selectivity, 1e-9) : 1)));
    if (a->rows > rows) a->rows = rows;
    a->startup = descent + (g->enable_indexscan ? 0 : 1e10);
    double apart = rows * (1 - correlation * correlation);
    if (loops > 1) apart = fmax(1, apart);               /* each run begins somewhere else */
    a->total = a->startup + entries + io + fetched * (cost_rows(p, rows, COST_FETCHED) + cost_rows(p, apart, COST_APART)) + cost_rows(p, rows, COST_FROM_KEY) * (1 - fetched) +
               cost_operators(p, rows, scalars_weight(p, &a->rest));
}

/* Does reading the index forward (or backward) give the wished order? */
static bool gives_order(const struct rel *r, const struct index *ix, uint32_t equal_count, const struct wish *w, bool *backward)
{
    uint32_t at = 0;
    int direction = 0;
    for (int i = 0; i < w->count; i++) {
        const struct scalar *s = w->exprs[i];
        if (s->kind != SCALAR_VAR || s->var.rel != r->id) return false;
        bool fixed = false;              /* bound by =: any place in the order will do */
        for (uint32_t k = 0; k < equal_count && !fixed; k++) fixed = ix->columns[k].column == s->var.column + 1;
        if (fixed) continue;
        while (at < equal_count) at++;
        if (at >= ix->column_count || ix->columns[at].column != s->var.column + 1) return false;
        bool desc = ix->columns[at].flags & KEY_DESC, nulls_first = ix->columns[at].flags & KEY_NULLS_FIRST;
        bool not_null = r->table->columns[s->var.column].not_null;
        bool same = w->descending[i] == desc && (not_null || w->nulls_first[i] == nulls_first);
        bool opposite = w->descending[i] != desc && (not_null || w->nulls_first[i] != nulls_first);
        if (!same && !opposite) return false;
        if (direction == 0) direction = same ? 1 : -1;
        else if (direction != (same ? 1 : -1)) return false;
        at++;
    }
    *backward = direction < 0;
    return true;
}

static double wished_cost(struct planner *p, const struct access *a, const struct wish *w, double width)
{
    if (!w) return a->total;
    double rows = fmax(1, a->rows);
    if (a->ordered) {
        double part = w->limit > 0 ? fmin(1, w->limit / rows) : 1;
        return a->startup + (a->total - a->startup) * part;
    }
    if (w->limit <= 0 || w->limit >= 100000) return a->total + cost_sort(p, rows, width);
    double kept = fmax(2, fmin(w->limit, rows));
    return a->total + cost_operators(p, rows, 1) + COST_COMPARE * p->settings->cpu_operator_cost * kept * log2(2 * kept);
}

/* Fits an index's columns with conditions: what its bounds say goes to `used`, the others to `rest`. False when it bounds nothing. */
static bool index_match(struct planner *p, struct rel *r, const struct index *ix, const struct scalars *conditions, struct access *a)
{
    *a = (struct access){ .index = ix };
    bool *used = arena_array(p->arena, bool, conditions->count ? conditions->count : 1);
    bool open = true;
    for (int c = 0; c < ix->column_count && open; c++) {
        struct scalar *bound = NULL;
        if (!ix->columns[c].column && bind_for_rel(p, r, ix->columns[c].expr, &bound)) {
            error_clear();
            break;
        }
        struct matched m;
        bool equal = false;
        for (uint32_t k = 0; k < conditions->count && !equal; k++)
            if (!used[k] && match_condition(p, r, &ix->columns[c], bound, conditions->items[k], &m) && m.kind == MATCH_EQ) {
                scalars_add(p->arena, &a->equal, m.value);
                used[k] = equal = true;
                scalars_add(p->arena, &a->used, conditions->items[k]);
            }
        if (equal) continue;
        open = false;
        for (uint32_t k = 0; k < conditions->count; k++) {
            if (used[k] || !match_condition(p, r, &ix->columns[c], bound, conditions->items[k], &m)) continue;
            bool take = false;
            if (m.kind == MATCH_IN && !a->low && !a->high && !a->any_array && !a->null_test) { a->any_array = m.value; take = true; }
            else if (a->any_array || a->null_test) continue;
            else if (m.kind == MATCH_NULL && !a->low && !a->high) { a->null_test = true; take = true; }
            else if ((m.kind == MATCH_GT || m.kind == MATCH_GE) && !a->low) { a->low = m.value; a->low_inclusive = m.kind == MATCH_GE; take = true; }
            else if ((m.kind == MATCH_LT || m.kind == MATCH_LE) && !a->high) { a->high = m.value; a->high_inclusive = m.kind == MATCH_LE; take = true; }
            else if (m.kind == MATCH_PREFIX && !a->low && !a->high) {      /* stays a filter */
                a->low = m.low;
                a->low_inclusive = true;
                a->high = m.high;
                a->prefix = true;
                a->prefix_selectivity = selectivity(p, conditions->items[k]);
            }
            if (take) {
                used[k] = true;
                scalars_add(p->arena, &a->used, conditions->items[k]);
            }
        }
    }
    for (uint32_t k = 0; k < conditions->count; k++)
        if (!used[k]) scalars_add(p->arena, &a->rest, conditions->items[k]);
    return a->used.count || a->prefix;
}

/* ---- bitmaps: several indexes, or one whose rows lie scattered ---- */

static bool bitmap_of(struct planner *p, struct rel *r, const struct scalars *conditions, struct bitmap_way *out);

static bool bitmap_of_index(struct planner *p, struct rel *r, const struct scalars *conditions, struct bitmap_way *out)
{
    bool found = false;
    for (int i = 0; i < r->table->index_count; i++) {
        const struct index *ix = &r->table->indexes[i];
        struct access a;
        double startup;
        if (!ix->valid || !predicate_holds(p, r, ix, conditions) || !index_match(p, r, ix, conditions, &a)) continue;
        double sel = selectivity_all(p, &a.used);
        if (a.prefix) sel *= a.prefix_selectivity;
        double rows = fmax(1, rint(r->rows * sel));
        double cost = cost_entries(p, r, ix, &a, rows, 1, &startup) + startup;
        if (found && cost >= out->cost) continue;
        found = true;
        *out = (struct bitmap_way){ .kind = BITMAP_INDEX, .access = arena_copy(p->arena, &a, sizeof a), .rows = rows, .cost = cost };
    }
    return found;
}

/* Each arm of an OR by an index. */
static bool bitmap_of_or(struct planner *p, struct rel *r, const struct scalar *s, struct bitmap_way *out)
{
    struct bitmap_way *parts = arena_array(p->arena, struct bitmap_way, s->arg_count);
    *out = (struct bitmap_way){ .kind = BITMAP_OR, .parts = parts, .count = (uint16_t)s->arg_count };
    for (int i = 0; i < s->arg_count; i++) {
        struct scalars arm = { 0 };
        conjuncts_add(p->arena, &arm, s->args[i]);
        if (!bitmap_of(p, r, &arm, &parts[i])) return false;
        out->rows += parts[i].rows;
        out->cost += parts[i].cost + parts[i].rows * 0.1 * p->settings->cpu_operator_cost;
    }
    out->rows = fmin(out->rows, r->rows);
    return true;
}

/* The index, or the OR, that leaves the fewest rows; then whatever else takes more rows away than it costs. */
static bool bitmap_of(struct planner *p, struct rel *r, const struct scalars *conditions, struct bitmap_way *out)
{
    struct bitmap_way ways[8];
    uint32_t count = 0;
    if (stack_is_deep()) return false;
    if (bitmap_of_index(p, r, conditions, &ways[0])) count = 1;
    for (uint32_t i = 0; i < conditions->count && count < 8; i++) {
        struct scalars one = { 1, 1, &conditions->items[i] };
        const struct scalar *s = conditions->items[i];
        if (s->kind == SCALAR_OR && s->arg_count <= 64 && !scalar_has_subquery(s) && !scalar_has_volatile(s) && bitmap_of_or(p, r, s, &ways[count])) count++;
        else if (conditions->count > 1 && s->kind != SCALAR_OR && bitmap_of_index(p, r, &one, &ways[count])) count++;
    }
    if (!count) return false;
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (ways[i].rows < ways[best].rows || (ways[i].rows == ways[best].rows && ways[i].cost < ways[best].cost)) best = i;
    *out = ways[best];
    struct bitmap_way *parts = arena_array(p->arena, struct bitmap_way, count);
    parts[0] = ways[best];
    uint16_t taken = 1;
    double row_cost = p->settings->cpu_tuple_cost + p->settings->random_page_cost * page_part(p, r->pages) * 0.5;
    for (uint32_t i = 0; i < count; i++) {
        if (i == best || i == 0) continue;               /* 0: of all conditions together; its parts are said by it */
        bool said = false;
        for (uint32_t k = 0; best == 0 && ways[i].kind == BITMAP_INDEX && k < ways[0].access->used.count; k++) said |= scalar_equal(ways[0].access->used.items[k], ways[i].access->used.count ? ways[i].access->used.items[0] : NULL);
        if (said || (best != 0 && ways[best].kind == BITMAP_INDEX && ways[i].kind == BITMAP_INDEX && ways[best].access->index == ways[i].access->index)) continue;
        double left = out->rows * ways[i].rows / fmax(1, r->rows);
        if ((out->rows - left) * row_cost <= ways[i].cost) continue;
        parts[taken++] = ways[i];
        *out = (struct bitmap_way){ .kind = BITMAP_AND, .parts = parts, .count = taken, .rows = fmax(1, left), .cost = out->cost + ways[i].cost };
    }
    return true;
}

/* Rows by a bitmap: pages in the order of the table, each once; every row is judged again by all of the conditions. */
static void try_bitmap(struct planner *p, struct rel *r, const struct scalars *conditions, const struct wish *wish, double width, double *best, struct access *out)
{
    const struct settings *g = p->settings;
    struct bitmap_way way;
    if (!conditions->count || !r->table->index_count || !bitmap_of(p, r, conditions, &way)) return;
    struct access a = { .bitmap = arena_copy(p->arena, &way, sizeof way), .rest = *conditions, .ordered = wish && wish->count == 0 };
    double pages = fmax(1, fmin(r->pages, pages_fetched(p, way.rows, r->pages))), part = page_part(p, r->pages);
    double page_cost = g->random_page_cost - (g->random_page_cost - g->seq_page_cost) * sqrt(pages / fmax(1, r->pages));
    a.rows = fmax(1, rint(r->rows * selectivity_all(p, conditions)));
    a.startup = way.cost + way.rows * g->cpu_operator_cost * 2 + r->pages * g->cpu_operator_cost * 0.05 + (g->enable_bitmapscan ? 0 : 1e10);   /* the set has a place for each page */
    /* looking a page over costs as much as a few dozen rows */
    a.total = a.startup + pages * (page_cost * part + 20 * COST_SCANNED * g->cpu_tuple_cost) + cost_rows(p, way.rows, COST_SCANNED) + cost_operators(p, way.rows, scalars_weight(p, conditions));
    double cost = wished_cost(p, &a, wish, width);
    if (cost >= *best) return;
    *best = cost;
    *out = a;
}

void access_best(struct planner *p, struct rel *r, const struct scalars *conditions, double loops, const struct wish *wish, struct access *out)
{
    rel_size(p, r);
    *out = (struct access){ .rest = *conditions, .ordered = wish && wish->count == 0 };
    cost_seq(p, r, conditions, out);
    double width = width_of(r->types, r->column_count), best = wished_cost(p, out, wish, width);
    for (int i = 0; i < r->table->index_count; i++) {
        const struct index *ix = &r->table->indexes[i];
        struct access a;
        if (!ix->valid || !predicate_holds(p, r, ix, conditions)) continue;
        bool bounded = index_match(p, r, ix, conditions, &a);
        if (wish && wish->count == 0) a.ordered = bounded;
        else if (wish && !a.any_array) a.ordered = gives_order(r, ix, a.equal.count, wish, &a.backward);
        if (!bounded && !a.ordered) continue;
        a.index_only = index_covers(p, r, ix, &a);
        bool point = ix->unique && a.equal.count == ix->column_count;
        cost_index(p, r, ix, &a, loops, point);
        double cost = wished_cost(p, &a, wish, width);
        /* One row by its key is never scanned for, however small the table is said to be: that may be long ago. */
        if (cost < best || (point && loops == 0 && !out->index && p->settings->enable_indexscan)) {
            best = cost;
            *out = a;
        }
    }
    if (loops == 0 && !(out->index && out->rows <= 1)) try_bitmap(p, r, conditions, wish, width, &best, out);
}

static enum status bound_plan(struct planner *p, const struct access *a, struct index_bound *bound)
{
    struct layout none = { 0 };
    bound->equal_count = (uint16_t)a->equal.count;
    TRY(resolve_all(p, &none, a->equal.items, a->equal.count, &bound->equal));
    TRY(resolve(p, &none, a->low, &bound->low));
    TRY(resolve(p, &none, a->high, &bound->high));
    TRY(resolve(p, &none, a->any_array, &bound->any_array));
    bound->low_inclusive = a->low_inclusive;
    bound->high_inclusive = a->high_inclusive;
    bound->null_test = a->null_test;
    return STATUS_OK;
}

static enum status bitmap_plan(struct planner *p, const struct bitmap_way *way, const struct layout *layout, struct bitmap **out)
{
    struct bitmap *b = *out = arena_new(p->arena, struct bitmap);
    b->kind = way->kind;
    b->rows = way->rows;
    b->cost = way->cost;
    if (way->kind == BITMAP_INDEX) {
        b->index = way->access->index;
        if (way->access->used.count) TRY(resolve(p, layout, scalar_and(p->arena, way->access->used.items, way->access->used.count), &b->condition));
        return bound_plan(p, way->access, &b->bound);
    }
    b->count = way->count;
    b->parts = arena_array(p->arena, struct bitmap *, way->count);
    for (int i = 0; i < way->count; i++) TRY(bitmap_plan(p, &way->parts[i], layout, &b->parts[i]));
    return STATUS_OK;
}

enum status access_plan(struct planner *p, struct rel *r, const struct access *a, const struct scalars *conditions, const struct scalars *wanted, struct plan **out, struct layout *layout)
{
    (void)conditions;
    struct scalars list = { 0 };
    for (uint32_t i = 0; i < wanted->count; i++)
        if (wanted->items[i]->var.rel == r->id) scalars_add(p->arena, &list, wanted->items[i]);
    /* and what the filter reads */
    for (uint32_t i = 0; i < a->rest.count; i++) collect_vars(p, a->rest.items[i], r->id, &list);
    struct plan *n = plan_new(p, a->bitmap ? PLAN_BITMAP_SCAN : a->index ? PLAN_INDEX_SCAN : PLAN_SEQ_SCAN, (uint16_t)list.count);
    n->table = r->table;
    n->alias = r->name;
    n->columns = arena_array(p->arena, uint16_t, list.count ? list.count : 1);
    for (uint32_t i = 0; i < list.count; i++) {
        n->columns[i] = list.items[i]->var.column;
        n->types[i] = list.items[i]->var.column == ROW_ID_COLUMN ? type_make(OID_INT8, -1) : r->types[list.items[i]->var.column];
    }
    layout->count = (uint16_t)list.count;
    layout->items = list.items;
    if (a->bitmap) TRY(bitmap_plan(p, a->bitmap, layout, &n->bitmap));
    else if (a->index) {
        n->index = a->index;
        n->backward = a->backward;
        n->index_only = a->index_only;
        for (uint32_t i = 0; i < list.count && n->index_only; i++) {
            bool has = false;
            for (int k = 0; k < a->index->column_count; k++) has |= a->index->columns[k].column == list.items[i]->var.column + 1 && key_exact(a->index->columns[k].type);
            n->index_only = has;
        }
        TRY(bound_plan(p, a, &n->bound));
    }
    TRY(resolve(p, layout, a->rest.count ? scalar_and(p->arena, a->rest.items, a->rest.count) : NULL, &n->filter));
    n->rows = a->rows;
    n->startup_cost = a->startup;
    n->total_cost = a->total;
    n->width = width_of(n->types, n->column_count);
    *out = n;
    return STATUS_OK;
}

/* ---- the gate ---- */

/* What it met, for the reason why a plan is serial. */
struct gate { struct planner *p; bool open, planned; bool again, limited, folds; const struct plan *scan; bool large, in_order; };   /* again, limited, folds: workers_for_index */

/* How many that size is worth: 0 none. */
static uint16_t workers_of_size(double bytes, double threshold)
{
    if (bytes < threshold) return 0;
    uint16_t workers = 2;                /* the leader only prints, so one worker is no more than none */
    while (workers < 64 && bytes >= threshold * 3) {
        workers++;
        threshold *= 3;
    }
    return workers;
}

static uint16_t workers_granted(struct gate *gate, const struct plan *scan, int workers)
{
    const struct settings *g = gate->p->settings;
    gate->large = true;
    gate->scan = scan;
    if (!gate->open || !g->enable_parallel) return 0;
    int most = g->max_parallel_workers_per_gather;
    workers = workers < most ? workers : most;
    gate->planned |= workers > 1;
    return (uint16_t)(workers > 1 ? workers : 0);
}

static bool given(const struct scalar *s) { return !s || s->kind == SCALAR_CONST || s->kind == SCALAR_PARAMETER; }

/* Rounded sums are made grain by grain, so their last digits hang on where grains end. */
static bool sums_floats(const struct plan *aggregate)
{
    for (int i = 0; i < aggregate->aggregate_count; i++) {
        const struct aggregate_item *a = &aggregate->aggregates[i];
        for (uint32_t k = 0; a->aggregate->ordered && k < a->arg_count; k++)
            if (a->args[k]->type.oid == OID_FLOAT4 || a->args[k]->type.oid == OID_FLOAT8) return true;
    }
    return false;
}

/* A large range of an index, between bounds that are given, read once and to its end. It is read in grains then, whether or not by workers. Not
 * into a sum of floats (folds): an index is cut where its leaves end, others' inserts move that, and one snapshot's sum is one number. */
static uint16_t workers_for_index(struct gate *gate, struct plan *scan)
{
    const struct settings *g = gate->p->settings;
    const struct index_bound *b = &scan->bound;
    if (gate->again || gate->limited || b->any_array || !given(b->low) || !given(b->high) || scan->index->tree.max_entries) return 0;
    for (int i = 0; i < b->equal_count; i++)
        if (!given(b->equal[i])) return 0;
    if (scan->index->unique && b->equal_count == scan->index->column_count) return 0;
    int workers = workers_of_size(leaf_count(scan->index, fmax(1, scan->rows)) * PAGE_BYTES, fmax((double)g->min_parallel_index_scan_bytes, 1));
    if (!workers) return 0;
    if (gate->folds) {
        gate->in_order = true;
        return 0;
    }
    scan->in_grains = true;
    return workers_granted(gate, scan, workers);
}

uint16_t gate_workers(const struct settings *g, uint32_t pages) { return workers_of_size((double)pages * PAGE_BYTES, fmax((double)g->min_parallel_table_scan_bytes, 1)); }

static uint16_t workers_for(struct gate *gate, const struct plan *scan)
{
    struct planner *p = gate->p;
    const struct settings *g = p->settings;
    if (!gate->scan) gate->scan = scan;
    uint32_t pages = 0;
    if (scan->table->kind != RELATION_TABLE || heap_pages(&scan->table->heap, &pages)) {
        error_clear();
        return 0;
    }
    int workers = gate_workers(g, pages);
    if (!workers) return 0;
    return workers_granted(gate, scan, workers);
}

static void gate_scalar(struct gate *, const struct scalar *);
static uint16_t gate_node(struct gate *g, struct plan *n)
{
    if (!n) return 0;
    n->parallel_safe = g->open;
    uint16_t w = 0;
    bool limited = g->limited, folds = g->folds;
    if (n->kind == PLAN_AGGREGATE) g->folds = sums_floats(n);
    if (n->kind == PLAN_LIMIT) g->limited = true;
    else if (n->kind != PLAN_FILTER && n->kind != PLAN_PROJECT) g->limited = false;      /* reads its input whole, or may */
    if (n->kind == PLAN_INDEX_SCAN) g->limited = limited;
    if (n->kind == PLAN_SORT || n->kind == PLAN_TOP_N || n->kind == PLAN_APPEND) g->folds = false;      /* grains of its own */
    gate_scalar(g, n->filter);
    for (int i = 0; n->exprs && n->kind != PLAN_MODIFY && i < n->column_count; i++) gate_scalar(g, n->exprs[i]);
    switch (n->kind) {
    case PLAN_SEQ_SCAN: case PLAN_BITMAP_SCAN:
        w = workers_for(g, n);
        break;
    case PLAN_INDEX_SCAN:
        w = workers_for_index(g, n);
        break;
    case PLAN_FILTER: case PLAN_PROJECT: case PLAN_LIMIT:
        w = gate_node(g, n->left);
        break;
    case PLAN_AGGREGATE: case PLAN_SORT: case PLAN_TOP_N:
        n->workers_planned = gate_node(g, n->left);   /* the pipeline ends here */
        g->limited = limited;
        g->folds = folds;
        return 0;
    case PLAN_HASH_JOIN:
        g->folds = false;                /* kept in order */
        gate_node(g, n->right);
        g->folds = folds;
        w = gate_node(g, n->left);
        break;
    case PLAN_NESTED_LOOP: {
        w = gate_node(g, n->left);
        bool open = g->open, again = g->again;
        g->open = false;
        g->again = true;
        gate_node(g, n->right);
        g->open = open;
        g->again = again;
        break;
    }
    case PLAN_APPEND:
        for (int i = 0; i < n->child_count; i++) gate_node(g, n->children[i]);
        break;
    default:
        gate_node(g, n->left);
        gate_node(g, n->right);
        break;
    }
    g->limited = limited;
    g->folds = folds;
    n->workers_planned = w;
    return w;
}

static void gate_scalar(struct gate *g, const struct scalar *s)
{
    if (!s) return;
    for (int i = 0; i < s->arg_count; i++) gate_scalar(g, s->args[i]);
    if (s->kind == SCALAR_SUBQUERY && s->subquery.plan) {
        bool open = g->open, again = g->again, limited = g->limited;
        if (s->subquery.outer_count) g->open = false;
        g->again |= s->subquery.outer_count > 0;
        g->limited = s->subquery.kind == SUBQUERY_EXISTS;
        gate_node(g, s->subquery.plan);
        g->open = open;
        g->again = again;
        g->limited = limited;
    }
}

static const char *serial_reason(struct gate *g)
{
    struct planner *p = g->p;
    const struct settings *set = p->settings;
    if (g->planned) return NULL;
    if (!p->out->read_only) return "the statement does more than read";
    if (p->unsafe_function) return arena_printf(p->arena, "function %s is not parallel safe", p->unsafe_function);
    if (!set->enable_parallel) return "enable_parallel is off";
    if (set->max_parallel_workers_per_gather <= 1) return arena_printf(p->arena, "max_parallel_workers_per_gather is %d", set->max_parallel_workers_per_gather);
    if (g->in_order) return "sums of floats are made in the order of the index";
    if (!g->scan) return "nothing is scanned whole";
    if (!g->large) return arena_printf(p->arena, "\"%s\" is smaller than min_parallel_table_scan_size", g->scan->table->name);
    return "the scan runs again for each row";
}

void plan_gate(struct planner *p, struct plan *root)
{
    struct gate g = { .p = p, .open = p->out->read_only && !p->parallel_unsafe };
    for (int i = 0; i < p->out->cte_count; i++) {
        bool open = g.open;
        if (p->out->cte_recursive[i]) g.open = false;
        g.again = p->out->cte_recursive[i];
        gate_node(&g, p->out->ctes[i]);
        g.open = open;
        g.again = false;
    }
    gate_node(&g, root);
    p->out->serial_reason = serial_reason(&g);
}
