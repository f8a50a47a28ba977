/* engine/plan/coerce.c - which operator, function or cast an expression means: PostgreSQL's rules for types.
 *
 * 1. A string literal or a parameter of which nobody has said anything is of type unknown, and takes the type that
 *    its surroundings want. A literal is read by that type's input function at once.
 * 2. Operators and functions: an exact match wins; else the candidates that implicit casts can reach are narrowed by
 *    exact matches, by preferred types, by the category of unknown arguments, and last by assuming that the unknown ones
 *    are like the known ones. What is left must be one.
 * 3. CASE, UNION, VALUES, ARRAY: the common type is the first one's, moved on to a later one that it casts to
 *    implicitly but not back. Preferred types stay.
 * 4. numeric has three forms (engine/types/numeric.h); values that stand in one column must have one form. */
#include <string.h>

#include "engine/plan/query.h"
#include "engine/type_name.h"
#include "engine/types/numeric.h"

#define OID_ANYNONARRAY 2776
#define OID_ANYENUM 3500
#define OID_ANYCOMPATIBLE 5077
#define OID_ANYCOMPATIBLEARRAY 5078
#define OID_ANYCOMPATIBLENONARRAY 5079

const char *type_text(struct planner *p, struct sql_type t)
{
    return t.oid == OID_UNKNOWN ? "unknown" : type_format(t.oid, -1, p->arena);
}

static uint32_t element_of(uint32_t oid)
{
    const struct type_info *t = type_info(oid);
    return t && t->category == 'A' ? t->element_oid : 0;
}
static char category_of(uint32_t oid)
{
    if (oid == OID_UNKNOWN) return 'X';
    const struct type_info *t = type_info(oid);
    return t ? t->category : 0;
}
static bool preferred(uint32_t oid) { const struct type_info *t = type_info(oid); return t && t->preferred; }
static bool is_poly_element(uint32_t oid) { return oid == OID_ANYELEMENT || oid == OID_ANYNONARRAY || oid == OID_ANYCOMPATIBLE || oid == OID_ANYENUM || oid == OID_ANYCOMPATIBLENONARRAY; }
static bool is_poly_array(uint32_t oid) { return oid == OID_ANYARRAY || oid == OID_ANYCOMPATIBLEARRAY; }

/* int2vector and oidvector are arrays under another name. */
static bool cast_binary(uint32_t from, uint32_t to)
{
    return (from == OID_INT2VECTOR && to == type_array_of(OID_INT2)) || (from == OID_OIDVECTOR && (to == type_array_of(OID_OID) || to == type_array_of(OID_REGTYPE)));
}

static const struct function *find_cast(uint32_t from, uint32_t to, enum cast_context context, bool *binary)
{
    *binary = cast_binary(from, to);
    return *binary ? NULL : cast_find(from, to, context, binary);
}

bool can_coerce(uint32_t from, uint32_t to, enum cast_context context)
{
    if (from == to || to == OID_ANY || is_poly_element(to))
        return !(to == OID_ANYNONARRAY && element_of(from));
    if (from == OID_UNKNOWN)
        return true;
    if (is_poly_array(to))
        return element_of(from) != 0;
    bool binary = false;
    return find_cast(from, to, context, &binary) != NULL || binary;
}

/* ---- turning one expression into a type ---- */

static enum status call_cast(struct planner *p, const struct function *f, struct scalar *in, struct sql_type want, bool explicit_cast, int position, struct scalar **out)
{
    return make_call(p, f, &in, 1, explicit_cast ? CALL_CAST : CALL_CAST_IMPLICIT, NULL, want, position, out);
}

/* Same type, but another length, precision or form. */
static enum status coerce_length(struct planner *p, struct scalar *in, struct sql_type want, bool explicit_cast, int position, struct scalar **out)
{
    *out = in;
    if (want.typmod < 0 || in->type.typmod == want.typmod)
        return STATUS_OK;
    const struct function *f = cast_length(want, explicit_cast);
    if (!f)
        return STATUS_OK;
    return call_cast(p, f, in, want, explicit_cast, position, out);
}

/* numeric in another form, without a change of value. */
enum status coerce_form(struct planner *p, struct scalar *in, struct sql_type want, struct scalar **out)
{
    *out = in;
    if (want.oid != OID_NUMERIC || in->type.oid != OID_NUMERIC || numeric_same_form(in->type, want))
        return STATUS_OK;
    bool binary = false;
    const struct function *f = cast_find(OID_NUMERIC, OID_NUMERIC, CAST_IMPLICIT, &binary);
    if (!f) f = cast_length(want, false);
    if (!f) return error_set(STATUS_INTERNAL, "no cast between forms of numeric");
    want.typmod = -1;
    enum status status = call_cast(p, f, in, want, false, in->position, out);
    if (!status && !numeric_same_form((*out)->type, want))
        return error_set(STATUS_INTERNAL, "cast between forms of numeric gave another form");
    return status;
}

static enum status literal_in(struct planner *p, const struct scalar *in, struct sql_type want, struct scalar **out)
{
    struct scalar *c = scalar_new(p->arena, SCALAR_CONST, want, in->position);
    if (in->constant.null) {
        c->constant.null = true;
        if (want.oid == OID_NUMERIC && want.typmod < 0) c->type = type_make(OID_NUMERIC, -1);
        *out = c;
        return STATUS_OK;
    }
    const char *text = (const char *)in->constant.v.bytes;
    size_t length = in->constant.v.length;
    if (want.oid == OID_NUMERIC && want.typmod < 0)
        c->type = numeric_literal_type(text, length);
    enum status status = type_in(c->type, text, length, p->arena, &c->constant);
    if (status)
        error_position(in->position);
    *out = c;
    return status;
}

static void parameter_is(struct planner *p, struct scalar *in, struct sql_type want)
{
    struct sql_type t = type_make(want.oid, -1);
    in->type = t;
    if (p->parameter_types) p->parameter_types[in->parameter] = want.oid;
}

enum status coerce(struct planner *p, struct scalar *in, struct sql_type want, enum cast_context context, int position, struct scalar **out)
{
    bool explicit_cast = context == CAST_EXPLICIT;
    enum status status;
    if (in->type.oid == want.oid) {
        if (context == CAST_IMPLICIT) {
            *out = in;
            return STATUS_OK;
        }
        return coerce_length(p, in, want, explicit_cast, position, out);
    }
    if (in->type.oid == OID_UNKNOWN) {
        if (in->kind == SCALAR_CONST) {
            /* Too long a literal is cut by an explicit cast and refused by an assignment: so the length comes after. */
            uint32_t item = element_of(want.oid) ? element_of(want.oid) : want.oid;
            struct sql_type plain = item == OID_VARCHAR || item == OID_BPCHAR ? type_make(want.oid, -1) : want;
            status = literal_in(p, in, plain, out);
            if (!status && plain.typmod != want.typmod)
                status = coerce_length(p, *out, want, explicit_cast, position, out);
            return status;
        }
        if (in->kind == SCALAR_PARAMETER) {
            parameter_is(p, in, want);
            *out = in;
            return explicit_cast || context == CAST_ASSIGNMENT ? coerce_length(p, in, want, explicit_cast, position, out) : STATUS_OK;
        }
    }
    if (want.oid == OID_ANY || is_poly_element(want.oid) || is_poly_array(want.oid)) {
        *out = in;
        return STATUS_OK;
    }
    if (in->kind == SCALAR_CONST && in->constant.null) {
        bool binary = false;
        if (find_cast(in->type.oid, want.oid, context, &binary) || binary) {
            struct sql_type t = want;
            *out = scalar_null(p->arena, t, in->position);
            return STATUS_OK;
        }
    }
    bool binary = false;
    const struct function *f = find_cast(in->type.oid, want.oid, context, &binary);
    if (binary) {
        struct scalar *copy = scalar_relabel(p->arena, in, type_make(want.oid, -1));
        if (copy->kind == SCALAR_CALL && explicit_cast && copy->form == CALL_CAST_IMPLICIT) copy->form = CALL_CAST;
        return explicit_cast || context == CAST_ASSIGNMENT ? coerce_length(p, copy, want, explicit_cast, position, out) : (*out = copy, STATUS_OK);
    }
    if (!f) {
        status = error_set(STATUS_CANNOT_COERCE, "cannot cast type %s to %s", type_text(p, in->type), type_text(p, want));
        error_position(position);
        return status;
    }
    struct sql_type target = context == CAST_IMPLICIT || element_of(want.oid) ? type_make(want.oid, -1) : want;     /* elements get their length after */
    status = call_cast(p, f, in, target, explicit_cast, position, out);
    if (!status && context != CAST_IMPLICIT && want.typmod >= 0 && (*out)->type.typmod != want.typmod)
        status = coerce_length(p, *out, want, explicit_cast, position, out);
    return status;
}

enum status resolve_unknown(struct planner *p, struct scalar *in, struct scalar **out)
{
    *out = in;
    if (in->type.oid != OID_UNKNOWN)
        return STATUS_OK;
    return coerce(p, in, type_make(OID_TEXT, -1), CAST_IMPLICIT, in->position, out);
}

enum status coerce_boolean(struct planner *p, struct scalar *in, const char *context, struct scalar **out)
{
    if (in->type.oid == OID_BOOL) {
        *out = in;
        return STATUS_OK;
    }
    if (can_coerce(in->type.oid, OID_BOOL, CAST_IMPLICIT))
        return coerce(p, in, type_make(OID_BOOL, -1), CAST_IMPLICIT, in->position, out);
    return fail_at(p, in->position, STATUS_DATATYPE_MISMATCH, "argument of %s must be type boolean, not type %s", context, type_text(p, in->type));
}

/* ---- common types ---- */

enum status common_type(struct planner *p, struct scalar **items, uint32_t count, const char *context, struct sql_type *out)
{
    struct sql_type t = items[0]->type;
    bool same_typmod = true;
    for (uint32_t i = 1; i < count; i++) {
        struct sql_type n = items[i]->type;
        if (n.oid == t.oid) {
            if (n.typmod != t.typmod) same_typmod = false;
            if (t.oid == OID_NUMERIC) {
                int32_t typmod = t.typmod;
                if (!scalar_is_null_const(items[i])) t = numeric_common_type(t, n);
                t.typmod = typmod;
            }
            continue;
        }
        same_typmod = false;
        if (n.oid == OID_UNKNOWN) continue;
        if (t.oid == OID_UNKNOWN) { t = n; continue; }
        if (category_of(n.oid) != category_of(t.oid))
            return fail_at(p, items[i]->position, STATUS_DATATYPE_MISMATCH, "%s types %s and %s cannot be matched", context, type_text(p, t), type_text(p, n));
        if (!preferred(t.oid) && can_coerce(t.oid, n.oid, CAST_IMPLICIT) && !can_coerce(n.oid, t.oid, CAST_IMPLICIT))
            t = n;
    }
    if (t.oid == OID_UNKNOWN) t = type_make(OID_TEXT, -1);
    if (!same_typmod && t.typmod >= 0) {
        if (t.oid == OID_NUMERIC) t.typmod = -1;
        else t = type_make(t.oid, -1);
    }
    *out = t;
    return STATUS_OK;
}

/* All of them to their common type, numeric to one form. */
enum status coerce_to_common(struct planner *p, struct scalar **items, uint32_t count, const char *context)
{
    if (count == 0)
        return STATUS_OK;
    struct sql_type t;
    enum status status = common_type(p, items, count, context, &t);
    if (status)
        return status;
    bool first = true;
    struct sql_type form = t;
    for (uint32_t i = 0; i < count; i++) {
        if (!can_coerce(items[i]->type.oid, t.oid, CAST_IMPLICIT))
            return fail_at(p, items[i]->position, STATUS_CANNOT_COERCE, "%s could not convert type %s to %s", context, type_text(p, items[i]->type), type_text(p, t));
        if ((status = coerce(p, items[i], type_make(t.oid, -1), CAST_IMPLICIT, items[i]->position, &items[i])))
            return status;
        if (t.oid != OID_NUMERIC || scalar_is_null_const(items[i])) continue;
        form = first ? items[i]->type : numeric_common_type(form, items[i]->type);
        first = false;
    }
    for (uint32_t i = 0; i < count && t.oid == OID_NUMERIC; i++) {
        if (scalar_is_null_const(items[i])) items[i] = scalar_null(p->arena, form, items[i]->position);
        else if ((status = coerce_form(p, items[i], form, &items[i]))) return status;
    }
    return STATUS_OK;
}

/* Makes both sides the same type and form, so that hashing and comparing them agree. *ok false: there is no such type. */
bool equals_one(uint32_t type, uint32_t other)
{
    bool ints = (type == OID_INT2 || type == OID_INT4 || type == OID_INT8) && (other == OID_INT2 || other == OID_INT4 || other == OID_INT8);
    bool floats = (type == OID_FLOAT4 || type == OID_FLOAT8) && (other == OID_FLOAT4 || other == OID_FLOAT8);
    return type == other || ints || floats;
}

enum status equality_common(struct planner *p, struct scalar **left, struct scalar **right, bool *ok)
{
    struct scalar *both[2] = { *left, *right };
    *ok = true;
    if (both[0]->type.oid == both[1]->type.oid && (both[0]->type.oid != OID_NUMERIC || numeric_same_form(both[0]->type, both[1]->type)))
        return STATUS_OK;
    if (coerce_to_common(p, both, 2, "=")) {
        error_clear();
        *ok = false;
        return STATUS_OK;
    }
    *left = both[0];
    *right = both[1];
    return STATUS_OK;
}

/* ---- choosing among candidates ---- */

#define ARGS_MAX 100
struct candidate { const void *what; const uint32_t *types; };

/* Narrows the list by rule 2; returns how many are left. */
static size_t select_candidates(const uint32_t *inputs, int nargs, struct candidate *c, size_t n)
{
    if (n <= 1) return n;
    /* most exact matches */
    int best = -1;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        int matches = 0;
        for (int a = 0; a < nargs; a++)
            if (inputs[a] != OID_UNKNOWN && c[i].types[a] == inputs[a]) matches++;
        if (matches > best) { best = matches; kept = 0; }
        if (matches == best) { struct candidate t = c[i]; c[kept++] = t; }
    }
    n = kept;
    if (n == 1) return 1;
    /* exact or preferred */
    best = -1;
    kept = 0;
    for (size_t i = 0; i < n; i++) {
        int matches = 0;
        for (int a = 0; a < nargs; a++) {
            if (inputs[a] == OID_UNKNOWN) continue;
            if (c[i].types[a] == inputs[a] || (category_of(c[i].types[a]) == category_of(inputs[a]) && preferred(c[i].types[a]))) matches++;
        }
        if (matches > best) { best = matches; kept = 0; }
        if (matches == best) c[kept++] = c[i];
    }
    n = kept;
    if (n == 1) return 1;
    int unknowns = 0;
    for (int a = 0; a < nargs; a++) unknowns += inputs[a] == OID_UNKNOWN;
    if (unknowns == 0) return n;
    /* categories of the unknown ones */
    char slot_category[ARGS_MAX];
    bool slot_preferred[ARGS_MAX];
    bool resolved = true;
    for (int a = 0; a < nargs && resolved; a++) {
        if (inputs[a] != OID_UNKNOWN) continue;
        slot_category[a] = 0;
        slot_preferred[a] = false;
        bool have = false, conflict = false;
        for (size_t i = 0; i < n; i++) {
            char category = category_of(c[i].types[a]);
            bool pref = preferred(c[i].types[a]);
            if (!have) { have = true; slot_category[a] = category; slot_preferred[a] = pref; }
            else if (category == slot_category[a]) slot_preferred[a] |= pref;
            else if (category == 'S') { slot_category[a] = 'S'; slot_preferred[a] = pref; conflict = false; }
            else if (slot_category[a] != 'S') conflict = true;
        }
        if (conflict && slot_category[a] != 'S') resolved = false;
    }
    if (resolved) {
        kept = 0;
        size_t saved = n;
        struct candidate *copy = c;
        size_t marks[256];
        size_t marked = 0;
        for (size_t i = 0; i < saved && marked < 256; i++) {
            bool keep = true;
            for (int a = 0; a < nargs && keep; a++) {
                if (inputs[a] != OID_UNKNOWN) continue;
                if (category_of(copy[i].types[a]) != slot_category[a]) keep = false;
                else if (slot_preferred[a] && !preferred(copy[i].types[a])) keep = false;
            }
            if (keep) marks[marked++] = i;
        }
        if (marked) {
            for (size_t i = 0; i < marked; i++) { struct candidate t = c[marks[i]]; c[kept++] = t; }
            n = kept;
        }
        if (n == 1) return 1;
    }
    /* unknown ones like the known ones, when those agree */
    if (unknowns < nargs) {
        uint32_t known = OID_UNKNOWN;
        for (int a = 0; a < nargs; a++) {
            if (inputs[a] == OID_UNKNOWN) continue;
            if (known == OID_UNKNOWN) known = inputs[a];
            else if (known != inputs[a]) return n;
        }
        size_t hit = 0, hits = 0;
        for (size_t i = 0; i < n; i++) {
            bool all = true;
            for (int a = 0; a < nargs && all; a++) all = can_coerce(known, c[i].types[a], CAST_IMPLICIT);
            if (all) { hit = i; hits++; }
        }
        if (hits == 1) { struct candidate t = c[hit]; c[0] = t; return 1; }
    }
    return n;
}

/* Polymorphic arguments must agree: the array's element with the elements. */
static bool polymorphic_fit(const uint32_t *types, const uint32_t *inputs, int count)
{
    uint32_t element = 0;
    for (int i = 0; i < count; i++)
        if (is_poly_array(types[i]) && inputs[i] != OID_UNKNOWN) {
            uint32_t e = element_of(inputs[i]);
            if (element && e != element) return false;
            element = e;
        }
    if (!element) return true;
    for (int i = 0; i < count; i++)
        if (is_poly_element(types[i]) && !can_coerce(inputs[i], element, CAST_IMPLICIT)) return false;
    return true;
}

const struct operator *find_operator(const char *name, uint32_t left, uint32_t right, bool *ambiguous)
{
    size_t count;
    *ambiguous = false;
    const struct operator *const *all = operators_named(name, &count);
    if (!left) {
        for (size_t i = 0; i < count; i++)
            if (all[i]->left == 0 && all[i]->right == right) return all[i];
    } else {
        uint32_t l = left == OID_UNKNOWN ? right : left, r = right == OID_UNKNOWN ? left : right;
        if (l != OID_UNKNOWN)
            for (size_t i = 0; i < count; i++)
                if (all[i]->left == l && all[i]->right == r) return all[i];
    }
    struct candidate candidates[256];
    uint32_t sides[256][2];
    size_t n = 0;
    uint32_t inputs[2] = { left ? left : right, right };
    for (size_t i = 0; i < count && n < 256; i++) {
        if ((all[i]->left == 0) != (left == 0)) continue;
        if (left && !can_coerce(left, all[i]->left, CAST_IMPLICIT)) continue;
        if (!can_coerce(right, all[i]->right, CAST_IMPLICIT)) continue;
        sides[n][0] = left ? all[i]->left : all[i]->right;
        sides[n][1] = all[i]->right;
        if (left && !polymorphic_fit(sides[n], inputs, 2)) continue;
        candidates[n].what = all[i];
        candidates[n].types = sides[n];
        n++;
    }
    n = select_candidates(inputs, left ? 2 : 1, candidates, n);
    if (n == 1) return candidates[0].what;
    *ambiguous = n > 1;
    return NULL;
}

/* The types that a function wants for `count` arguments (variadic ones repeat the last). */
static bool function_types(const struct function *f, uint16_t count, uint32_t *out)
{
    if (f->variadic) {
        if (count < f->arg_count) return false;
        for (int i = 0; i < count; i++) out[i] = f->arg_types[i < f->arg_count ? i : f->arg_count - 1];
        return true;
    }
    if (f->arg_count != count) return false;
    memcpy(out, f->arg_types, sizeof *out * count);
    return true;
}

const struct function *find_function(const char *name, char kind, uint32_t *inputs, uint16_t count, bool *ambiguous, bool *exists)
{
    size_t n;
    *ambiguous = false;
    *exists = false;
    if (count > ARGS_MAX) return NULL;
    const struct function *const *all = functions_named(name, &n);
    struct candidate candidates[128];
    static _Thread_local uint32_t space[128][ARGS_MAX];
    size_t found = 0;
    for (size_t i = 0; i < n && found < 128; i++) {
        const struct function *f = all[i];
        if (kind && (char)f->kind != kind) continue;
        *exists = true;
        if (!function_types(f, count, space[found])) continue;
        bool exact = true, fits = true;
        for (int a = 0; a < count && fits; a++) {
            exact &= space[found][a] == inputs[a];
            fits = can_coerce(inputs[a], space[found][a], CAST_IMPLICIT);
        }
        if (exact && !f->variadic) return f;
        if (!fits || !polymorphic_fit(space[found], inputs, count)) continue;
        candidates[found].what = f;
        candidates[found].types = space[found];
        found++;
    }
    if (found > 1) found = select_candidates(inputs, count, candidates, found);
    if (found > 1) {                     /* one that isn't variadic wins over those that are */
        size_t plain = 0, at = 0;
        for (size_t i = 0; i < found; i++)
            if (!((const struct function *)candidates[i].what)->variadic) { plain++; at = i; }
        if (plain == 1) return candidates[at].what;
    }
    if (found == 1) return candidates[0].what;
    *ambiguous = found > 1;
    return NULL;
}

/* The arguments as the function wants them, and its result type (polymorphic ones worked out). */
enum status coerce_arguments(struct planner *p, const struct function *f, struct scalar **args, uint16_t count, struct sql_type *result, int position)
{
    uint32_t wanted[ARGS_MAX];
    enum status status;
    if (count > ARGS_MAX || !function_types(f, count, wanted))
        return fail_at(p, position, STATUS_INTERNAL, "function %s called with %d arguments", f->name, count);
    uint32_t element = 0;
    struct scalar *commons[ARGS_MAX];
    uint32_t common_count = 0;
    for (int i = 0; i < count; i++) {
        if (is_poly_array(wanted[i]) && args[i]->type.oid != OID_UNKNOWN) element = element_of(args[i]->type.oid);
        if (is_poly_element(wanted[i])) commons[common_count++] = args[i];
    }
    if (!element && common_count) {
        struct sql_type t;
        if ((status = common_type(p, commons, common_count, f->name, &t))) return status;
        element = t.oid;
    }
    for (int i = 0; i < count; i++) {
        uint32_t want = wanted[i];
        if (is_poly_array(want)) want = element ? type_array_of(element) : args[i]->type.oid;
        else if (is_poly_element(want)) want = element;
        if (want == OID_ANY) {
            if ((status = resolve_unknown(p, args[i], &args[i]))) return status;
            continue;
        }
        if (want == OID_UNKNOWN || want == 0)
            return fail_at(p, position, STATUS_DATATYPE_MISMATCH, "could not determine polymorphic type because input has type unknown");
        if ((status = coerce(p, args[i], type_make(want, -1), CAST_IMPLICIT, args[i]->position ? args[i]->position : position, &args[i]))) return status;
    }
    uint32_t r = f->result;
    if (is_poly_element(r)) r = element ? element : OID_TEXT;
    else if (is_poly_array(r)) r = element ? type_array_of(element) : (count ? args[0]->type.oid : 0);
    *result = type_make(r, -1);
    if (is_poly_element(f->result)) {    /* the form of an element stays (numeric) */
        for (int i = 0; i < count; i++)
            if (is_poly_element(wanted[i]) && args[i]->type.oid == r) { *result = args[i]->type; result->typmod = -1; break; }
        if (r == OID_NUMERIC) *result = type_make(r, -1);
    }
    return STATUS_OK;
}

enum status make_operator(struct planner *p, const char *schema, const char *name, struct scalar *left, struct scalar *right, int position, struct scalar **out)
{
    if (schema && strcmp(schema, "pg_catalog") != 0)
        return fail_at(p, position, STATUS_UNDEFINED_FUNCTION, "operator does not exist: %s.%s", schema, name);
    bool ambiguous;
    const struct operator *op = find_operator(name, left ? left->type.oid : 0, right->type.oid, &ambiguous);
    if (!op) {
        enum status status;
        const char *l = left ? type_text(p, left->type) : "", *r = type_text(p, right->type);
        if (ambiguous) {
            status = fail_at(p, position, STATUS_AMBIGUOUS_FUNCTION, "operator is not unique: %s%s%s %s", l, left ? " " : "", name, r);
            error_hint("Could not choose a best candidate operator. You might need to add explicit type casts.");
        } else {
            status = fail_at(p, position, STATUS_UNDEFINED_FUNCTION, "operator does not exist: %s%s%s %s", l, left ? " " : "", name, r);
            error_hint(left ? "No operator matches the given name and argument types. You might need to add explicit type casts."
                            : "No operator matches the given name and argument type. You might need to add an explicit type cast.");
        }
        return status;
    }
    struct scalar *args[2];
    uint16_t count = 0;
    if (left) args[count++] = left;
    args[count++] = right;
    struct sql_type result;
    enum status status;
    if (op->function) {
        if ((status = coerce_arguments(p, op->function, args, count, &result, position))) return status;
    } else {
        return fail_at(p, position, STATUS_FEATURE_NOT_SUPPORTED, "operator %s is not supported", name);
    }
    return make_call(p, op->function, args, count, CALL_OPERATOR, op, result, position, out);
}

/* ---- type names ---- */

enum status type_name_resolve(struct planner *p, const struct type_name *n, struct sql_type *out)
{
    (void)p;
    return type_from_name(n, out);
}
