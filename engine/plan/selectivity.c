/* engine/plan/selectivity.c - how many rows a condition leaves: PostgreSQL's estimates from column statistics.
 *
 * Without statistics the guesses are PostgreSQL's constants. Two bounds on one column (a >= x AND a < y) are weighed
 * together; otherwise conditions count as independent. */
#include <math.h>
#include <string.h>

#include "engine/plan/query.h"
#include "engine/plan/stats.h"
#include "engine/types/numeric.h"

#define DEFAULT_EQ 0.005
#define DEFAULT_INEQ 0.3333333333333333
#define DEFAULT_RANGE 0.005
#define DEFAULT_MATCH 0.005
#define DEFAULT_UNKNOWN 0.3333333
#define DEFAULT_DISTINCT 200.0

static double clamp(double s) { return s > 0 ? s < 1 ? s : 1 : 0; }       /* of what is no number: 0 */

/* The column behind an expression: through relabelling, implicit casts and plain subquery columns. */
static const struct scalar *column_behind(struct planner *p, const struct scalar *s, int depth)
{
    if (depth > 20) return NULL;
    if (s->kind == SCALAR_CALL && s->arg_count == 1 && s->form == CALL_CAST_IMPLICIT) return column_behind(p, s->args[0], depth + 1);
    if (s->kind != SCALAR_VAR) return NULL;
    const struct rel *r = p->rels[s->var.rel];
    if (s->var.column == ROW_ID_COLUMN) return s;
    if (r->kind == REL_SUBQUERY && r->query && s->var.column < r->query->target_count && r->query->targets) {
        const struct scalar *inner = column_behind(p, r->query->targets[s->var.column], depth + 1);
        if (inner) return inner;
    }
    if (r->kind == REL_MADE && r->query && r == r->query->group_rel && s->var.column < r->query->group_count) {     /* a group key is the column that it was made of */
        const struct scalar *inner = column_behind(p, r->query->groups[s->var.column], depth + 1);
        if (inner) return inner;
    }
    return s;
}

static const struct column_statistics *statistics_of(struct planner *p, const struct scalar *var)
{
    if (!var || var->kind != SCALAR_VAR || var->var.column == ROW_ID_COLUMN) return NULL;
    const struct rel *r = p->rels[var->var.rel];
    if (r->kind != REL_TABLE) return NULL;
    return r->table->columns[var->var.column].statistics;
}

static double rows_of(struct planner *p, const struct scalar *var)
{
    struct rel *r = p->rels[var->var.rel];
    if (r->kind == REL_TABLE) rel_size(p, r);
    return r->rows > 0 ? r->rows : 1000;
}

static bool unique_column(const struct rel *r, uint16_t column)
{
    if (r->kind != REL_TABLE) return false;
    for (int i = 0; i < r->table->index_count; i++) {
        const struct index *ix = &r->table->indexes[i];
        if (ix->unique && ix->column_count == 1 && !ix->predicate && ix->columns[0].column == column + 1) return true;
    }
    return false;
}

static double distinct_of_var(struct planner *p, const struct scalar *var, bool *is_default)
{
    *is_default = false;
    const struct column_statistics *st = statistics_of(p, var);
    double rows = rows_of(p, var);
    if (var->var.column == ROW_ID_COLUMN || unique_column(p->rels[var->var.rel], var->var.column)) return rows;
    if (st && st->distinct > 0) return st->distinct;
    if (st && st->distinct < 0) return fmax(1, -st->distinct * rows);
    if (var->type.oid == OID_BOOL) return 2;
    *is_default = true;
    return fmin(rows, DEFAULT_DISTINCT);
}

struct var_list { struct planner *p; struct scalars vars; };
static bool visit_var(void *context, const struct scalar *s)
{
    struct var_list *l = context;
    if (s->kind == SCALAR_VAR) scalars_add(l->p->arena, &l->vars, (struct scalar *)(uintptr_t)s);
    return false;
}

/* ---- expressions, tried on what ANALYZE kept of a column ----
 *
 * Common values with their shares, and the bounds of the histogram, each standing for as many rows: so a condition or an expression that reads
 * one column can be tried on them, whatever it computes. */

struct sample { struct planner *p; const struct scalar *var; const struct scalar *seen; bool unfit; };
static bool visit_sample(void *context, const struct scalar *s)
{
    struct sample *x = context;
    if (s->kind == SCALAR_SUBQUERY || s->kind == SCALAR_PARAMETER || s->kind == SCALAR_OUTER) x->unfit = true;
    if (s->kind != SCALAR_VAR) return x->unfit;
    if (x->seen && (x->seen->var.rel != s->var.rel || x->seen->var.column != s->var.column)) x->unfit = true;
    x->seen = s;
    return x->unfit;
}

/* The one column that s reads, if there are statistics of it to try s on. */
static const struct column_statistics *sample_of(struct planner *p, const struct scalar *s, struct sample *x)
{
    *x = (struct sample){ .p = p };
    scalar_walk(s, visit_sample, x);
    if (x->unfit || !x->seen) return NULL;
    x->var = column_behind(p, x->seen, 0);
    const struct column_statistics *st = statistics_of(p, x->var);
    if (!st || st->common_count + st->bound_count < 10 || rows_of(p, x->var) < 1000) return NULL;
    /* varchar is read as text without a cast */
    uint32_t seen = x->seen->type.oid, kept = st->type.oid;
    bool same = seen == kept || ((seen == OID_TEXT || seen == OID_VARCHAR) && (kept == OID_TEXT || kept == OID_VARCHAR));
    if (!same) return NULL;
    return st;
}

struct substituting { const struct scalar *var; struct scalar *with; };
static struct scalar *swap_sample(void *context, struct scalar *s)
{
    struct substituting *x = context;
    return s->kind == SCALAR_VAR && s->var.rel == x->var->var.rel && s->var.column == x->var->var.column ? x->with : NULL;
}

static bool sample_value(struct planner *p, const struct sample *x, const struct column_statistics *st, const struct scalar *s, int i, struct value *out)
{
    struct scalar *c = scalar_new(p->arena, SCALAR_CONST, st->type, 0);
    c->type.oid = x->seen->type.oid;
    c->constant = i < st->common_count ? st->common[i] : st->bounds[i - st->common_count];
    struct substituting with = { x->seen, c };
    return scalar_evaluate(p, scalar_map(p->arena, (struct scalar *)(uintptr_t)s, swap_sample, &with), true, out);
}

/* The share of rows for which a condition on one column holds; -1: can't be tried. */
static double try_selectivity(struct planner *p, const struct scalar *s)
{
    struct sample x;
    struct value v;
    const struct column_statistics *st = sample_of(p, s, &x);
    if (!st) return -1;
    double hits = 0, sum = 0;
    uint32_t tried = 0, matched = 0;
    for (int i = 0; i < st->common_count + st->bound_count; i++) {
        if (!sample_value(p, &x, st, s, i, &v)) return -1;
        bool hit = !v.null && v.b;
        if (i < st->common_count) {
            sum += st->common_fractions[i];
            if (hit) hits += st->common_fractions[i];
        } else {
            tried++;
            matched += hit;
        }
    }
    double rest = clamp(1 - sum - st->null_fraction);
    if (!tried) return clamp(hits);
    /* none of a hundred hit: surely few, but how few the sample can't say */
    return clamp(hits + rest * (matched ? (double)matched / tried : 0.3 / tried));
}

/* How many different values an expression of one column has, when they are few: else -1. */
static double try_distinct(struct planner *p, const struct scalar *s)
{
    struct sample x;
    const struct column_statistics *st = sample_of(p, s, &x);
    if (!st || !type_comparable(s->type.oid)) return -1;
    int count = st->common_count + st->bound_count;
    struct value *seen = arena_array(p->arena, struct value, count);
    int distinct = 0;
    for (int i = 0; i < count; i++) {
        struct value v;
        if (!sample_value(p, &x, st, s, i, &v)) return -1;
        if (v.null) continue;
        int k = 0;
        while (k < distinct && value_compare(s->type, &seen[k], &v) != 0) k++;
        if (k == distinct) seen[distinct++] = v;
    }
    return distinct * 2 < count ? fmax(1, distinct) : -1;
}

/* The order of joins asks for the same expressions again and again; trying one takes hundreds of calls. */
static struct tried *tried_of(struct planner *p, const struct scalar *s)
{
    for (uint32_t i = 0; i < p->tried_count; i++)
        if (p->tried[i].s == s) return &p->tried[i];
    if (p->tried_count == p->tried_capacity) {
        uint32_t capacity = p->tried_capacity ? p->tried_capacity * 2 : 8;
        p->tried = arena_grow(p->arena, p->tried, p->tried_capacity * sizeof *p->tried, capacity * sizeof *p->tried);
        p->tried_capacity = capacity;
    }
    p->tried[p->tried_count] = (struct tried){ s, -2, -2 };
    return &p->tried[p->tried_count++];
}

static double selectivity_tried(struct planner *p, const struct scalar *s)
{
    struct tried *t = tried_of(p, s);
    if (t->selectivity < -1) t->selectivity = try_selectivity(p, s);
    return t->selectivity;
}

static double distinct_tried(struct planner *p, const struct scalar *s)
{
    struct tried *t = tried_of(p, s);
    if (t->distinct < -1) t->distinct = try_distinct(p, s);
    return t->distinct;
}

double distinct_values(struct planner *p, const struct scalar *s, double rows)
{
    double distinct = 1;
    bool is_default;
    if (s->kind == SCALAR_CONST) return 1;
    if (s->type.oid == OID_BOOL && s->kind != SCALAR_VAR) return 2;
    if (s->kind != SCALAR_VAR && (distinct = distinct_tried(p, s)) > 0) return fmax(1, fmin(distinct, rows));
    distinct = 1;
    struct var_list l = { .p = p };
    scalar_walk(s, visit_var, &l);
    double tuples = rows;
    for (uint32_t i = 0; i < l.vars.count; i++) {
        const struct scalar *var = column_behind(p, l.vars.items[i], 0);
        if (!var) var = l.vars.items[i];
        distinct *= distinct_of_var(p, var, &is_default);
        tuples = fmax(tuples, rows_of(p, var));
    }
    if (l.vars.count == 0) return fmin(rows, DEFAULT_DISTINCT);
    if (rows < tuples && distinct > 0 && distinct < tuples) /* only part of the rows is left */
        distinct *= 1 - pow((tuples - rows) / tuples, tuples / distinct);
    return fmax(1, fmin(distinct, rows));
}

/* ---- values as numbers ---- */

static bool value_double(struct sql_type t, const struct value *v, double *out)
{
    if (v->null) return false;
    switch (t.oid) {
    case OID_INT2: *out = v->i2; return true;
    case OID_INT4: case OID_DATE: *out = v->i4; return true;
    case OID_OID: case OID_REGCLASS: *out = v->oid; return true;
    case OID_INT8: case OID_TIMESTAMP: case OID_TIMESTAMPTZ: case OID_TIME: *out = (double)v->i8; return true;
    case OID_FLOAT4: *out = v->f4; return !isnan(v->f4);
    case OID_FLOAT8: *out = v->f8; return !isnan(v->f8);
    case OID_BOOL: *out = v->b; return true;
    case OID_NUMERIC: {
        struct vector vec = { .values = (void *)(uintptr_t)&v->i8, .width = t.width, .constant = true };
        struct numeric n;
        numeric_read(t, &vec, 0, &n);
        bool ok = n.kind == NUMERIC_FINITE;
        if (ok) *out = numeric_to_double(&n);
        numeric_free(&n);
        return ok;
    }
    default: return false;
    }
}

static bool is_text(uint32_t oid) { return oid == OID_TEXT || oid == OID_VARCHAR || oid == OID_BPCHAR || oid == OID_NAME; }

/* How a column value stands to a constant of maybe another type: -1 0 1, or 2 when nobody knows. */
static int compare_mixed(struct sql_type a, const struct value *x, struct sql_type b, const struct value *y)
{
    double l, r;
    if (a.oid == b.oid || (is_text(a.oid) && is_text(b.oid))) {
        if (a.width == b.width && (a.oid != OID_NUMERIC || a.scale == b.scale)) {
            struct sql_type t = a.oid == OID_BPCHAR || b.oid == OID_BPCHAR ? (a.oid == OID_BPCHAR ? a : b) : a;
            int c = value_compare(t, x, y);
            return c < 0 ? -1 : c > 0;
        }
    }
    if ((a.oid == OID_DATE) != (b.oid == OID_DATE) && (a.oid == OID_TIMESTAMP || b.oid == OID_TIMESTAMP || a.oid == OID_TIMESTAMPTZ || b.oid == OID_TIMESTAMPTZ)) {
        if (!value_double(a, x, &l) || !value_double(b, y, &r)) return 2;
        if (a.oid == OID_DATE) l *= 86400e6;
        else r *= 86400e6;
        return l < r ? -1 : l > r;
    }
    if (value_double(a, x, &l) && value_double(b, y, &r)) return l < r ? -1 : l > r;
    return 2;
}

static double eq_constant(struct planner *p, const struct scalar *var, struct sql_type type, const struct value *v)
{
    const struct column_statistics *st = statistics_of(p, var);
    bool is_default;
    if (v->null) return 0;
    double rows = rows_of(p, var);
    if (unique_column(p->rels[var->var.rel], var->var.column)) return 1 / fmax(1, rows);
    if (!st) return is_default = false, 1 / fmax(1, distinct_of_var(p, var, &is_default));
    double sum = 0;
    for (int i = 0; i < st->common_count; i++) {
        if (compare_mixed(st->type, &st->common[i], type, v) == 0) return clamp(st->common_fractions[i]);
        sum += st->common_fractions[i];
    }
    double rest = clamp(1 - sum - st->null_fraction);
    double others = distinct_of_var(p, var, &is_default) - st->common_count;
    double s = others > 1 ? rest / others : rest;
    if (st->common_count && s > st->common_fractions[st->common_count - 1]) s = st->common_fractions[st->common_count - 1];
    return clamp(s);
}

static double eq_unknown(struct planner *p, const struct scalar *var)
{
    const struct column_statistics *st = statistics_of(p, var);
    bool is_default;
    double distinct = distinct_of_var(p, var, &is_default);
    double nonnull = st ? 1 - st->null_fraction : 1;
    double s = nonnull / fmax(1, distinct);
    if (st && st->common_count && s > st->common_fractions[0]) s = st->common_fractions[0];
    return clamp(s);
}

/* Does it matter which value a column is compared with? A parameter's is peeked at only then: the plan would be made anew for it. */
static bool value_matters(struct planner *p, const struct scalar *var, const struct scalar *other)
{
    const struct column_statistics *st = statistics_of(p, var);
    bool is_default;
    if (other->kind != SCALAR_PARAMETER) return true;
    if (!st || !st->common_count || unique_column(p->rels[var->var.rel], var->var.column)) return false;
    return st->common_fractions[0] * distinct_of_var(p, var, &is_default) > 5;
}

/* Fraction of rows with column < constant (<= when or_equal). */
static double less_constant(struct planner *p, const struct scalar *var, struct sql_type type, const struct value *v, bool or_equal)
{
    const struct column_statistics *st = statistics_of(p, var);
    if (v->null) return 0;
    if (!st || (st->bound_count < 2 && !st->common_count)) return -1;
    double common = 0, common_sum = 0;
    for (int i = 0; i < st->common_count; i++) {
        int c = compare_mixed(st->type, &st->common[i], type, v);
        if (c == 2) return -1;
        if (c < 0 || (c == 0 && or_equal)) common += st->common_fractions[i];
        common_sum += st->common_fractions[i];
    }
    double hist = 0.5;
    if (st->bound_count >= 2) {
        int n = st->bound_count, low = 0, high = n;        /* first bound that is >= v */
        while (low < high) {
            int mid = (low + high) / 2, c = compare_mixed(st->type, &st->bounds[mid], type, v);
            if (c == 2) return -1;
            if (c < 0) low = mid + 1;
            else high = mid;
        }
        if (low == 0) hist = 0;
        else if (low == n) hist = 1;
        else {
            double a, b, x, part = 0.5;
            double unit = type.oid == OID_DATE && st->type.oid != OID_DATE ? 86400e6 : 1, unit_b = st->type.oid == OID_DATE && type.oid != OID_DATE ? 86400e6 : 1;
            if (value_double(st->type, &st->bounds[low - 1], &a) && value_double(st->type, &st->bounds[low], &b) && value_double(type, v, &x)) {
                a *= unit_b;
                b *= unit_b;
                x *= unit;
                part = b > a && isfinite(a) && isfinite(b) ? (x - a) / (b - a) : 0.5;
            }
            hist = (low - 1 + clamp(part)) / (n - 1);
        }
        double edge = 0.01 / (n - 1);
        if (hist < edge) hist = edge;
        if (hist > 1 - edge) hist = 1 - edge;
    }
    double rest = clamp(1 - common_sum - st->null_fraction);
    if (st->bound_count < 2) rest = 0;
    return clamp(common + hist * rest);
}

/* ---- clauses ---- */

enum comparing { CMP_NONE, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };
static enum comparing comparing_of(const char *n)
{
    if (n[0] == '=' && !n[1]) return CMP_EQ;
    if (n[0] == '<') return !n[1] ? CMP_LT : n[1] == '=' && !n[2] ? CMP_LE : n[1] == '>' && !n[2] ? CMP_NE : CMP_NONE;
    if (n[0] == '>') return !n[1] ? CMP_GT : n[1] == '=' && !n[2] ? CMP_GE : CMP_NONE;
    return CMP_NONE;
}
static enum comparing flip(enum comparing c) { return c == CMP_LT ? CMP_GT : c == CMP_LE ? CMP_GE : c == CMP_GT ? CMP_LT : c == CMP_GE ? CMP_LE : c; }

struct clause { enum comparing cmp; const struct scalar *var, *other; };
static bool clause_of(struct planner *p, const struct scalar *s, struct clause *out)
{
    if (s->kind != SCALAR_CALL || !s->operator || s->arg_count != 2) return false;
    out->cmp = comparing_of(s->operator->name);
    if (out->cmp == CMP_NONE) return false;
    const struct scalar *l = column_behind(p, s->args[0], 0), *r = column_behind(p, s->args[1], 0);
    if (l && !r) { out->var = l; out->other = s->args[1]; return true; }
    if (r && !l) { out->var = r; out->other = s->args[0]; out->cmp = flip(out->cmp); return true; }
    if (l && r) { out->var = l; out->other = r; return true; }
    return false;
}

static double inequality(struct planner *p, const struct clause *c)
{
    struct value v;
    if (!scalar_evaluate(p, c->other, true, &v)) return DEFAULT_INEQ;
    double s = less_constant(p, c->var, c->other->type, &v, c->cmp == CMP_LE || c->cmp == CMP_GT);
    if (s < 0) return v.null ? 0 : DEFAULT_INEQ;
    if (c->cmp == CMP_LT || c->cmp == CMP_LE) return s;
    const struct column_statistics *st = statistics_of(p, c->var);
    return clamp(1 - s - (st ? st->null_fraction : 0));
}

static double like_selectivity(struct planner *p, const struct scalar *s, bool negated)
{
    struct value v;
    double sel = DEFAULT_MATCH;
    const struct scalar *var = column_behind(p, s->args[0], 0);
    if (scalar_evaluate(p, s->args[1], true, &v) && !v.null) {
        const char *t = (const char *)v.v.bytes;
        uint32_t n = v.v.length, fixed = 0;
        while (fixed < n && t[fixed] != '%' && t[fixed] != '_' && t[fixed] != '\\') fixed++;
        if (fixed == n && var) sel = eq_constant(p, var, s->args[1]->type, &v);
        else {
            sel = 1;
            bool wild = false;
            for (uint32_t i = 0; i < n; i++) {
                if (t[i] == '%') wild = true;
                else if (t[i] == '_') sel *= 0.9;
                else sel *= i < fixed ? 0.2 : 0.25;
                if (sel < 1e-6) break;
            }
            if (wild) sel *= 5;
            if (sel > 1) sel = 1;
            if (sel < 1.0 / 10000) sel = 1.0 / 10000;
        }
        double tried = fixed < n ? selectivity_tried(p, s) : -1;
        if (tried >= 0) return tried;
    }
    return clamp(negated ? 1 - sel : sel);
}

/* ---- equality of two columns ---- */

/* What their common values say of each other: which of them match, and how often rows meet by those. */
struct matching { double both, matched[2], unmatched[2]; uint32_t matches; };
static void match_common(const struct column_statistics *a, const struct column_statistics *b, struct arena *arena, struct matching *out)
{
    *out = (struct matching){ 0 };
    bool *taken = arena_array(arena, bool, b->common_count + 1u);
    for (int i = 0; i < a->common_count; i++) {
        bool found = false;
        for (int k = 0; k < b->common_count && !found; k++) {
            if (taken[k] || compare_mixed(a->type, &a->common[i], b->type, &b->common[k]) != 0) continue;
            taken[k] = found = true;
            out->both += a->common_fractions[i] * b->common_fractions[k];
            out->matched[0] += a->common_fractions[i];
            out->matched[1] += b->common_fractions[k];
            out->matches++;
        }
        if (!found) out->unmatched[0] += a->common_fractions[i];
    }
    for (int k = 0; k < b->common_count; k++)
        if (!taken[k]) out->unmatched[1] += b->common_fractions[k];
}

/* The common values' matches are known; a common value that met none of the other side's may meet one of its others; and the others each
 * other, as evenly as their numbers of distinct values say. Seen from both sides: the smaller estimate counts. */
static double common_eq_common(const struct column_statistics *a, double na, const struct column_statistics *b, double nb, struct arena *arena)
{
    struct matching m;
    match_common(a, b, arena, &m);
    const struct column_statistics *st[2] = { a, b };
    double n[2] = { na, nb }, others[2], total[2];
    for (int i = 0; i < 2; i++) others[i] = clamp(1 - st[i]->null_fraction - m.matched[i] - m.unmatched[i]);
    for (int i = 0; i < 2; i++) {
        int o = 1 - i;
        total[i] = m.both;
        if (n[o] > st[o]->common_count) total[i] += m.unmatched[i] * others[o] / (n[o] - st[o]->common_count);
        if (n[o] > m.matches) total[i] += others[i] * (others[o] + m.unmatched[o]) / (n[o] - m.matches);
    }
    return clamp(fmin(total[0], total[1]));
}

static double var_eq_var(struct planner *p, const struct scalar *a, const struct scalar *b)
{
    bool da, db;
    double na = distinct_of_var(p, a, &da), nb = distinct_of_var(p, b, &db);
    const struct column_statistics *sa = statistics_of(p, a), *sb = statistics_of(p, b);
    if (sa && sb && sa->common_count && sb->common_count) return common_eq_common(sa, na, sb, nb, p->arena);
    double s = 1 / fmax(1, fmax(na, nb));
    if (sa) s *= 1 - sa->null_fraction;
    if (sb) s *= 1 - sb->null_fraction;
    return clamp(s);
}

double selectivity_semi(struct planner *p, const struct scalar *x, double left_rows, const struct scalar *y, double right_rows)
{
    const struct scalar *a = column_behind(p, x, 0), *b = column_behind(p, y, 0);
    const struct column_statistics *sa = a ? statistics_of(p, a) : NULL, *sb = b ? statistics_of(p, b) : NULL;
    double nulls = sa ? sa->null_fraction : 0;
    double nl = distinct_values(p, x, left_rows), nr = distinct_values(p, y, right_rows);
    /* which values the left side has, before conditions thinned it out: those of the right are among them */
    if (a) nl = fmax(nl, fmin(distinct_values(p, x, rows_of(p, a)), 1e300));
    if (sa && sb && sa->common_count && sb->common_count && sb->common_count >= distinct_of_var(p, b, &(bool){ 0 })) {
        struct matching m;               /* all values of the right side are known */
        match_common(sa, sb, p->arena, &m);
        double part = fmin(1, nr / fmax(1, sb->common_count));
        return clamp((m.matched[0] + (m.unmatched[0] > 0 ? 0 : clamp(1 - nulls - m.matched[0]) * 0.5)) * part);
    }
    return clamp((1 - nulls) * fmin(1, nr / fmax(1, nl)));
}

static bool like_operator(const struct scalar *s)
{
    if (!s->operator) return false;
    const char *n = s->operator->name;
    return strcmp(n, "~~") == 0 || strcmp(n, "~~*") == 0 || strcmp(n, "!~~") == 0 || strcmp(n, "!~~*") == 0;
}

double selectivity(struct planner *p, const struct scalar *s)
{
    struct clause c;
    struct value v;
    switch (s->kind) {
    case SCALAR_CONST: return scalar_is_true(s) ? 1 : 0;
    case SCALAR_AND: {
        struct scalars list = { s->arg_count, s->arg_count, s->args };
        return selectivity_all(p, &list);
    }
    case SCALAR_OR: {
        double r = 0;
        for (int i = 0; i < s->arg_count; i++) {
            double one = selectivity(p, s->args[i]);
            r = r + one - r * one;
        }
        return clamp(r);
    }
    case SCALAR_NOT: return clamp(1 - selectivity(p, s->args[0]));
    case SCALAR_VAR: case SCALAR_IS_BOOL: {
        const struct scalar *var = column_behind(p, s->kind == SCALAR_VAR ? s : s->args[0], 0);
        bool want = s->kind == SCALAR_VAR || s->test == IS_TRUE || s->test == IS_NOT_FALSE;
        if (var && statistics_of(p, var)) {
            v = (struct value){ .b = want };
            return eq_constant(p, var, type_make(OID_BOOL, -1), &v);
        }
        return 0.5;
    }
    case SCALAR_IS_NULL: case SCALAR_IS_NOT_NULL: {
        const struct scalar *var = column_behind(p, s->args[0], 0);
        const struct column_statistics *st = var ? statistics_of(p, var) : NULL;
        double n = st ? st->null_fraction : 0.005;
        if (var && p->rels[var->var.rel]->kind == REL_TABLE && var->var.column != ROW_ID_COLUMN && p->rels[var->var.rel]->table->columns[var->var.column].not_null) n = 0;
        return clamp(s->kind == SCALAR_IS_NULL ? n : 1 - n);
    }
    case SCALAR_DISTINCT: return s->in.negated ? DEFAULT_EQ : 1 - DEFAULT_EQ;
    case SCALAR_IN_LIST: {
        const struct scalar *var = column_behind(p, s->args[0], 0);
        double sum = 0, distinct;
        if (!var && (distinct = distinct_tried(p, s->args[0])) > 0) {
            sum = fmin(1, (s->arg_count - 1) / distinct);
            return clamp(s->in.negated ? 1 - sum : sum);
        }
        for (int i = 1; i < s->arg_count; i++) {
            if (var && value_matters(p, var, s->args[i]) && scalar_evaluate(p, s->args[i], true, &v)) sum += eq_constant(p, var, s->args[i]->type, &v);
            else sum += var ? eq_unknown(p, var) : DEFAULT_EQ;
        }
        return clamp(s->in.negated ? 1 - sum : sum);
    }
    case SCALAR_ANY_ARRAY: {
        const struct scalar *var = column_behind(p, s->args[0], 0);
        double count = s->args[1]->kind == SCALAR_ARRAY ? s->args[1]->arg_count : 10;
        if (!s->operator || comparing_of(s->operator->name) != CMP_EQ) return 0.5;
        return clamp((var ? eq_unknown(p, var) : DEFAULT_EQ) * count);
    }
    case SCALAR_SUBQUERY: return 0.5;
    case SCALAR_CALL:
        if (clause_of(p, s, &c)) {
            if (c.other->kind == SCALAR_VAR) {
                if (c.cmp == CMP_EQ) return var_eq_var(p, c.var, c.other);
                if (c.cmp == CMP_NE) return 1 - var_eq_var(p, c.var, c.other);
                return DEFAULT_INEQ;
            }
            if (c.cmp == CMP_EQ || c.cmp == CMP_NE) {
                double e = value_matters(p, c.var, c.other) && scalar_evaluate(p, c.other, true, &v) ? eq_constant(p, c.var, c.other->type, &v) : eq_unknown(p, c.var);
                const struct column_statistics *st = statistics_of(p, c.var);
                return clamp(c.cmp == CMP_EQ ? e : 1 - e - (st ? st->null_fraction : 0));
            }
            return inequality(p, &c);
        }
        {
            double tried = s->type.oid == OID_BOOL && !like_operator(s) ? selectivity_tried(p, s) : -1;
            if (tried >= 0) return tried;
        }
        if (s->operator && s->arg_count == 2) {
            const char *n = s->operator->name;
            if (strcmp(n, "~~") == 0 || strcmp(n, "~~*") == 0) return like_selectivity(p, s, false);
            if (strcmp(n, "!~~") == 0 || strcmp(n, "!~~*") == 0) return like_selectivity(p, s, true);
            if (strcmp(n, "~") == 0 || strcmp(n, "~*") == 0) return DEFAULT_MATCH;
            if (strcmp(n, "!~") == 0 || strcmp(n, "!~*") == 0) return 1 - DEFAULT_MATCH;
            enum comparing cmp = comparing_of(n);
            double distinct = cmp == CMP_EQ || cmp == CMP_NE ? distinct_tried(p, s->args[1]->kind == SCALAR_CONST ? s->args[0] : s->args[1]) : -1;
            if (distinct > 0) return cmp == CMP_EQ ? 1 / distinct : 1 - 1 / distinct;
            if (cmp == CMP_EQ) return DEFAULT_EQ;
            if (cmp == CMP_NE) return 1 - DEFAULT_EQ;
            if (cmp != CMP_NONE) return DEFAULT_INEQ;
        }
        return s->operator ? 0.5 : DEFAULT_UNKNOWN;
    default: return 0.5;
    }
}

double selectivity_all(struct planner *p, const struct scalars *list)
{
    double s = 1;
    bool *done = arena_array(p->arena, bool, list->count ? list->count : 1);
    for (uint32_t i = 0; i < list->count; i++) {
        struct clause a, b;
        if (done[i]) continue;
        double one = selectivity(p, list->items[i]);
        if (clause_of(p, list->items[i], &a) && a.other->kind != SCALAR_VAR && (a.cmp == CMP_LT || a.cmp == CMP_LE || a.cmp == CMP_GT || a.cmp == CMP_GE)) {
            bool upper = a.cmp == CMP_LT || a.cmp == CMP_LE;
            for (uint32_t k = i + 1; k < list->count; k++) {
                if (done[k] || !clause_of(p, list->items[k], &b) || b.var->var.rel != a.var->var.rel || b.var->var.column != a.var->var.column || b.other->kind == SCALAR_VAR) continue;
                if (b.cmp != CMP_LT && b.cmp != CMP_LE && b.cmp != CMP_GT && b.cmp != CMP_GE) continue;
                if ((b.cmp == CMP_LT || b.cmp == CMP_LE) == upper) continue;
                double other = selectivity(p, list->items[k]);
                const struct column_statistics *st = statistics_of(p, a.var);
                double both = one + other - 1 + (st ? st->null_fraction : 0);
                if (one == DEFAULT_INEQ && other == DEFAULT_INEQ) both = DEFAULT_RANGE;
                else if (both <= 0) both = both < -0.01 ? DEFAULT_RANGE : 1e-10;
                one = both;
                done[k] = true;
                break;
            }
        }
        s *= one;
    }
    return clamp(s);
}

double selectivity_join(struct planner *p, const struct scalar *s) { return selectivity(p, s); }
