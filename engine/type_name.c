/* engine/type_name.c - see type_name.h. */
#include "engine/type_name.h"

#include <string.h>

static enum status fail(int position, enum status status)
{
    error_position(position);
    return status;
}

/* PostgreSQL's mask of the fields that an interval keeps (interval year to month), or all of them. */
static int32_t interval_mask(enum interval_fields fields)
{
    enum { MONTH = 1 << 1, YEAR = 1 << 2, DAY = 1 << 3, HOUR = 1 << 10, MINUTE = 1 << 11, SECOND = 1 << 12 };
    static const int32_t masks[] = {
        [FIELDS_ANY] = 0x7fff, [FIELDS_YEAR] = YEAR, [FIELDS_MONTH] = MONTH, [FIELDS_DAY] = DAY, [FIELDS_HOUR] = HOUR, [FIELDS_MINUTE] = MINUTE, [FIELDS_SECOND] = SECOND,
        [FIELDS_YEAR_TO_MONTH] = YEAR | MONTH, [FIELDS_DAY_TO_HOUR] = DAY | HOUR, [FIELDS_DAY_TO_MINUTE] = DAY | HOUR | MINUTE,
        [FIELDS_DAY_TO_SECOND] = DAY | HOUR | MINUTE | SECOND, [FIELDS_HOUR_TO_MINUTE] = HOUR | MINUTE, [FIELDS_HOUR_TO_SECOND] = HOUR | MINUTE | SECOND,
        [FIELDS_MINUTE_TO_SECOND] = MINUTE | SECOND};
    return masks[fields];
}

enum status type_from_name(const struct type_name *name, struct sql_type *out)
{
    const struct type_info *info = NULL;
    if (!name->schema || !strcmp(name->schema, "pg_catalog"))
        info = type_by_name(name->name);
    if (!info)
        return fail(name->position, name->schema ? error_set(STATUS_UNDEFINED_OBJECT, "type \"%s.%s\" does not exist", name->schema, name->name)
                                                 : error_set(STATUS_UNDEFINED_OBJECT, "type \"%s\" does not exist", name->name));
    int32_t typmod = -1, modifiers[5];
    int count = 0;
    if (name->modifiers.count > 4)
        return fail(name->position, error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid type modifier"));
    if (info->oid == OID_INTERVAL && (name->fields != FIELDS_ANY || name->modifiers.count))
        modifiers[count++] = interval_mask(name->fields);
    for (int i = 0; i < name->modifiers.count; i++) {
        const struct expr *e = name->modifiers.items[i];
        bool minus = e->kind == EXPR_OPERATOR && !e->op.left && !strcmp(e->op.name, "-");
        if (minus)
            e = e->op.right;
        if (e->kind != EXPR_LITERAL || e->literal.kind != LITERAL_INTEGER || e->literal.integer > INT32_MAX || e->literal.integer < INT32_MIN)
            return fail(e->position, error_set(STATUS_INVALID_PARAMETER_VALUE, "type modifiers must be simple constants or identifiers"));
        modifiers[count++] = (int32_t)(minus ? -e->literal.integer : e->literal.integer);
    }
    if (count) {
        enum status status = type_typmod(info->oid, modifiers, count, &typmod);
        if (status)
            return fail(name->position, status);
    }
    uint32_t oid = info->oid;
    if (name->dimensions > 0 && !(oid = type_array_of(oid)))
        return fail(name->position, error_set(STATUS_UNDEFINED_OBJECT, "could not find array type for data type %s", info->sql_name));
    *out = type_make(oid, typmod);
    return STATUS_OK;
}
