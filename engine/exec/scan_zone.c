/* engine/exec/scan_zone.c - which conditions of a scan a zone map can judge (storage/zone.h).
 *
 * A filter is conditions joined by AND. One that compares a column of fixed width with a constant, a parameter or an outer
 * value says that the column lies between two bounds: that is a zone test. What may raise an error ends the search: a page
 * may be skipped for a condition only if no error could have been met in those that stand before it. When all of them are
 * zone tests the zones decide: a page that passes them whole needs no filter.
 *
 * Bounds are taken anew each time the scan starts (outer values change). */
#include "engine/exec/scan_zone.h"
#include "engine/types/datetime.h"

/* A comparison turned so that the column stands on the left. */
enum relation { LESS, LESS_EQUAL, EQUAL, GREATER_EQUAL, GREATER, NO_RELATION };

static enum relation relation_of(const struct scalar *s, bool turned)
{
    static const struct { const char *name; enum relation straight, turned; } relations[] = {
        {"<", LESS, GREATER}, {"<=", LESS_EQUAL, GREATER_EQUAL}, {"=", EQUAL, EQUAL}, {">=", GREATER_EQUAL, LESS_EQUAL}, {">", GREATER, LESS},
    };
    if (s->kind != SCALAR_CALL || !s->operator || s->arg_count != 2)
        return NO_RELATION;
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
        if (strcmp(s->operator->name, relations[i].name) == 0)
            return turned ? relations[i].turned : relations[i].straight;
    return NO_RELATION;
}

enum kin { KIN_NONE, KIN_INTEGER, KIN_FLOAT, KIN_DATE, KIN_TIME, KIN_TIMESTAMP, KIN_TIMESTAMPTZ, KIN_DECIMAL };
static enum kin kin_of(struct sql_type type)
{
    switch (type.oid) {
    case OID_INT2: case OID_INT4: case OID_INT8: return KIN_INTEGER;
    case OID_FLOAT4: case OID_FLOAT8: return KIN_FLOAT;
    case OID_DATE:        return KIN_DATE;
    case OID_TIME:        return KIN_TIME;
    case OID_TIMESTAMP:   return KIN_TIMESTAMP;
    case OID_TIMESTAMPTZ: return KIN_TIMESTAMPTZ;
    case OID_NUMERIC:     return type.width == 8 ? KIN_DECIMAL : KIN_NONE;
    default:              return KIN_NONE;
    }
}

/* LIKE with a pattern that ends well. */
static bool fine_pattern(const struct scalar *s)
{
    const struct scalar *pattern = s->arg_count == 2 ? s->args[1] : NULL;
    if (!s->operator || (strcmp(s->operator->name, "~~") != 0 && strcmp(s->operator->name, "!~~") != 0) || !pattern || pattern->kind != SCALAR_CONST)
        return false;
    const struct varlen *text = &pattern->constant.v;
    return !pattern->constant.null && (text->length == 0 || text->bytes[text->length - 1] != '\\');
}

/* Comparisons of such values, and of texts, raise no error. */
static bool never_fails(const struct scalar *s)
{
    switch (s->kind) {
    case SCALAR_CONST: case SCALAR_COLUMN: case SCALAR_PARAMETER: case SCALAR_OUTER:
        return true;
    case SCALAR_CALL:
        if (relation_of(s, false) == NO_RELATION && !(s->operator && strcmp(s->operator->name, "<>") == 0) && !fine_pattern(s))
            return false;
        for (int32_t i = 0; i < s->arg_count; i++)
            if (kin_of(s->args[i]->type) == KIN_NONE && s->args[i]->type.oid != OID_TEXT && s->args[i]->type.oid != OID_VARCHAR && s->args[i]->type.oid != OID_BPCHAR)
                return false;
        break;
    case SCALAR_AND: case SCALAR_OR: case SCALAR_NOT: case SCALAR_IS_NULL: case SCALAR_IS_NOT_NULL: case SCALAR_IS_BOOL: case SCALAR_IN_LIST:
        break;
    default:
        return false;
    }
    for (int32_t i = 0; i < s->arg_count; i++)
        if (!never_fails(s->args[i]))
            return false;
    return true;
}

static bool constant(const struct scalar *s) { return s->kind == SCALAR_CONST || s->kind == SCALAR_PARAMETER || s->kind == SCALAR_OUTER; }

static bool add_test(struct scan_zones *z, const struct plan *plan, const struct scalar *s)
{
    if (s->kind != SCALAR_CALL || s->arg_count != 2 || z->count == SCAN_ZONE_TESTS)
        return false;
    bool turned = s->args[1]->kind == SCALAR_COLUMN;
    const struct scalar *column = s->args[turned], *value = s->args[!turned];
    if (column->kind != SCALAR_COLUMN || !constant(value) || relation_of(s, turned) == NO_RELATION || plan->columns[column->column] == 0xFFFF)
        return false;
    enum kin kin = kin_of(column->type);
    bool day = kin == KIN_DATE && kin_of(value->type) == KIN_TIMESTAMP;      /* column < date '…' + interval '…' */
    if (kin == KIN_NONE || (kin != kin_of(value->type) && !day) || (kin == KIN_DECIMAL && value->type.scale > column->type.scale))
        return false;
    struct scan_zone_source *source = &z->sources[z->count];
    struct zone_test *test = &z->tests[z->count];
    *test = (struct zone_test){.column = plan->columns[column->column], .order = kin == KIN_FLOAT ? ZONE_FLOAT : ZONE_INTEGER};
    if (!zone_track(z->map, test->column, &test->slot))
        return false;
    *source = (struct scan_zone_source){.comparison = s, .value = value, .turned = turned, .day = day, .scale_up = kin == KIN_DECIMAL ? column->type.scale - value->type.scale : 0};
    z->count++;
    return true;
}

/* False: from here on an error could come. */
static bool add_conditions(struct scan_zones *z, const struct plan *plan, const struct scalar *s)
{
    if (s->kind == SCALAR_AND) {
        for (int32_t i = 0; i < s->arg_count; i++)
            if (!add_conditions(z, plan, s->args[i]))
                return false;
        return true;
    }
    if (add_test(z, plan, s))
        return true;
    z->decide = false;
    return never_fails(s);
}

void scan_zones_open(struct scan_zones *z, const struct plan *plan)
{
    *z = (struct scan_zones){.map = zone_map(&plan->table->heap), .decide = true};
    z->may_fail = z->map && plan->filter && !add_conditions(z, plan, plan->filter);
    if (z->may_fail)
        z->decide = false;
    z->own = z->count;
}

static bool value_of(const struct run *run, const struct scan_zone_source *source, int64_t *out)
{
    const struct scalar *s = source->value;
    const struct value *value = s->kind == SCALAR_CONST ? &s->constant : s->kind == SCALAR_PARAMETER ? &run->parameters[s->parameter] : &run->outer[s->parameter];
    if (value->null)
        return false;
    switch (s->type.oid) {
    case OID_FLOAT4: *out = zone_of_float((double)value->f4); return true;
    case OID_FLOAT8: *out = zone_of_float(value->f8); return true;
    default: break;
    }
    *out = s->type.width == 2 ? value->i2 : s->type.width == 4 ? value->i4 : value->i8;
    return true;
}

/* A timestamp becomes a day, and the comparison one of days. False: one that no day equals. */
static bool day_of(int64_t *v, enum relation *relation)
{
    int64_t day = *v / US_DAY - (*v % US_DAY < 0);
    bool midnight = *v % US_DAY == 0;
    if (!TIMESTAMP_FINITE(*v))
        day = *v == TIMESTAMP_INFINITY ? DATE_INFINITY : DATE_NEGATIVE_INFINITY;
    else if (!midnight && *relation == LESS)
        *relation = LESS_EQUAL;
    else if (!midnight && *relation == GREATER_EQUAL)
        *relation = GREATER;
    else if (!midnight && *relation == EQUAL)
        return false;
    *v = day;
    return true;
}

void scan_zones_bind(struct scan_zones *z, const struct run *run)
{
    for (uint32_t t = 0; t < z->own; t++) {
        const struct scan_zone_source *source = &z->sources[t];
        struct zone_test *test = &z->tests[t];
        int64_t v;
        test->low = INT64_MIN;
        test->high = INT64_MAX;
        enum relation relation = relation_of(source->comparison, source->turned);
        if (!value_of(run, source, &v) || (source->day && !day_of(&v, &relation))) {
            test->low = INT64_MAX;           /* a comparison with null: no row */
            test->high = INT64_MIN;
            continue;
        }
        bool scaled = true;
        for (int16_t k = 0; k < source->scale_up && v != INT64_MAX; k++)       /* INT64_MAX: NaN, the greatest */
            scaled &= !__builtin_mul_overflow(v, (int64_t)10, &v);
        if (!scaled) {
            z->decide = false;
            continue;
        }
        switch (relation) {
        case LESS:          test->high = v == INT64_MIN ? v : v - 1; test->low = v == INT64_MIN ? INT64_MAX : INT64_MIN; break;
        case LESS_EQUAL:    test->high = v; break;
        case EQUAL:         test->low = test->high = v; break;
        case GREATER_EQUAL: test->low = v; break;
        case GREATER:       test->low = v == INT64_MAX ? v : v + 1; test->high = v == INT64_MAX ? INT64_MIN : INT64_MAX; break;
        case NO_RELATION:   break;
        }
    }
}

void scan_zones_narrow(struct scan_zones *z, const struct plan *plan, uint16_t output, int64_t low, int64_t high)
{
    uint16_t column = plan->columns[output];
    enum kin kin = kin_of(plan->types[output]);
    if (!z->map || z->may_fail || column == 0xFFFF || kin == KIN_NONE)
        return;
    uint32_t t = z->own;
    while (t < z->count && z->tests[t].column != column)
        t++;
    if (t == SCAN_ZONE_TESTS)
        return;
    struct zone_test *test = &z->tests[t];
    *test = (struct zone_test){.column = column, .order = kin == KIN_FLOAT ? ZONE_FLOAT : ZONE_INTEGER, .low = low, .high = high};
    if (t == z->count && zone_track(z->map, column, &test->slot))
        z->count++;
    else if (t < z->count)
        (void)zone_track(z->map, column, &test->slot);
}
