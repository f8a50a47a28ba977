/* engine/ddl_sequence.c - CREATE and ALTER SEQUENCE, and the sequences that serial and identity columns bring along.
 *
 * What a sequence is stands in pg_sequence (transactional); where it stands, on a page of its own file (engine/catalog/sequence.c,
 * not undone by ROLLBACK). A RESTART that must be undone takes a new file. */
#include "engine/ddl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/catalog/sequence.h"

struct shape { uint32_t type; int64_t start, increment, min, max, cache; bool cycle, restart; int64_t restart_value; bool max_said, min_said, start_said; const struct option *owned_by; };

static int64_t type_limit(uint32_t type, bool max)
{
    switch (type) {
    case OID_INT2: return max ? INT16_MAX : INT16_MIN;
    case OID_INT4: return max ? INT32_MAX : INT32_MIN;
    default: return max ? INT64_MAX : INT64_MIN;
    }
}

static enum status number(const struct option *option, int64_t *out)
{
    char *end;
    errno = 0;
    if (!option->text)
        return ddl_fail(option->position, STATUS_SYNTAX, "%s requires a numeric value", option->name);
    *out = strtoll(option->text, &end, 10);
    if (*end)
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type bigint: \"%s\"", option->text);
    if (errno)
        return error_set(STATUS_OUT_OF_RANGE, "value \"%s\" is out of range for type bigint", option->text);
    return STATUS_OK;
}

static enum status sequence_type(const struct option *option, uint32_t *out)
{
    const char *name = option->text ? option->text : "";
    const struct type_info *t = type_by_name(name);
    if (!t && !strcmp(name, "bigint"))
        t = type_info(OID_INT8);
    if (!t && (!strcmp(name, "integer") || !strcmp(name, "int")))
        t = type_info(OID_INT4);
    if (!t && !strcmp(name, "smallint"))
        t = type_info(OID_INT2);
    if (!t)
        return ddl_fail(option->value_position, STATUS_UNDEFINED_OBJECT, "type \"%s\" does not exist", name);
    if (t->oid != OID_INT2 && t->oid != OID_INT4 && t->oid != OID_INT8)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "sequence type must be smallint, integer, or bigint");
    *out = t->oid;
    return STATUS_OK;
}

/* old: what ALTER starts from; NULL: CREATE. */
static enum status shape_read(const struct option_list *options, uint32_t type, const struct shape *old, struct shape *out)
{
    struct shape s = old ? *old : (struct shape){.type = type, .increment = 1, .cache = 1};
    bool min_default = false, max_default = false;
    enum status status = STATUS_OK;
    for (int i = 0; !status && options && i < options->count; i++) {
        const struct option *o = options->items[i];
        for (int k = 0; k < i; k++)
            if (!strcmp(options->items[k]->name, o->name))
                return ddl_fail(o->position, STATUS_SYNTAX, "conflicting or redundant options");
        if (!strcmp(o->name, "as")) {
            uint32_t before = s.type;
            status = sequence_type(o, &s.type);
            if (old && !status) {
                max_default = s.max == type_limit(before, true);
                min_default = s.min == type_limit(before, false);
            }
        } else if (!strcmp(o->name, "increment")) {
            status = number(o, &s.increment);
            if (!status && s.increment == 0)
                status = error_set(STATUS_INVALID_PARAMETER_VALUE, "INCREMENT must not be zero");
        } else if (!strcmp(o->name, "minvalue")) {
            s.min_said = o->kind != OPTION_NONE;
            min_default = !s.min_said;
            if (s.min_said)
                status = number(o, &s.min);
        } else if (!strcmp(o->name, "maxvalue")) {
            s.max_said = o->kind != OPTION_NONE;
            max_default = !s.max_said;
            if (s.max_said)
                status = number(o, &s.max);
        } else if (!strcmp(o->name, "start")) {
            s.start_said = true;
            status = number(o, &s.start);
        } else if (!strcmp(o->name, "restart")) {
            s.restart = true;
            if (o->kind != OPTION_NONE) {
                status = number(o, &s.restart_value);
                s.cache |= INT64_MIN;                         /* marks: said */
            }
        } else if (!strcmp(o->name, "cache")) {
            int64_t mark = s.cache & INT64_MIN;
            status = number(o, &s.cache);
            if (!status && s.cache <= 0)
                status = error_set(STATUS_INVALID_PARAMETER_VALUE, "CACHE (%s) must be greater than zero", o->text);
            s.cache |= mark;
        } else if (!strcmp(o->name, "cycle")) {
            s.cycle = !o->text || strcmp(o->text, "false");
        } else if (!strcmp(o->name, "owned_by")) {
            s.owned_by = o;
        } else if (!strcmp(o->name, "sequence_name")) {
            /* pg_dump's: taken by the caller */
        } else {
            status = ddl_fail(o->position, STATUS_SYNTAX, "sequence option \"%s\" not recognized", o->name);
        }
    }
    if (status)
        return status;
    bool restart_said = s.cache < 0;
    s.cache &= INT64_MAX;
    if ((!old && !s.max_said) || max_default)
        s.max = s.increment > 0 ? type_limit(s.type, true) : -1;
    if ((!old && !s.min_said) || min_default)
        s.min = s.increment > 0 ? 1 : type_limit(s.type, false);
    const char *type_name = type_info(s.type)->sql_name;
    if (s.max > type_limit(s.type, true) || s.max < type_limit(s.type, false))
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "MAXVALUE (%lld) is out of range for sequence data type %s", (long long)s.max, type_name);
    if (s.min > type_limit(s.type, true) || s.min < type_limit(s.type, false))
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "MINVALUE (%lld) is out of range for sequence data type %s", (long long)s.min, type_name);
    if (s.min >= s.max)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "MINVALUE (%lld) must be less than MAXVALUE (%lld)", (long long)s.min, (long long)s.max);
    if (!old && !s.start_said)
        s.start = s.increment > 0 ? s.min : s.max;
    if (s.start < s.min)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "START value (%lld) cannot be less than MINVALUE (%lld)", (long long)s.start, (long long)s.min);
    if (s.start > s.max)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "START value (%lld) cannot be greater than MAXVALUE (%lld)", (long long)s.start, (long long)s.max);
    if (s.restart && !restart_said)
        s.restart_value = s.start;
    if (s.restart && s.restart_value < s.min)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "RESTART value (%lld) cannot be less than MINVALUE (%lld)", (long long)s.restart_value, (long long)s.min);
    if (s.restart && s.restart_value > s.max)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "RESTART value (%lld) cannot be greater than MAXVALUE (%lld)", (long long)s.restart_value, (long long)s.max);
    *out = s;
    return STATUS_OK;
}

static void sequence_values(struct value *v, uint32_t oid, const struct shape *s, uint32_t table, int16_t column)
{
    struct value values[SEQUENCE_COLUMNS] = {value_oid(oid), value_oid(s->type), value_i8(s->start), value_i8(s->increment), value_i8(s->max), value_i8(s->min), value_i8(s->cache), value_bool(s->cycle),
                                             value_oid(table), value_i2(column)};
    memcpy(v, values, sizeof values);
}

enum status sequence_choose_name(struct ddl *d, const char *table, const char *column, uint32_t table_schema, const struct option_list *options, uint32_t *schema, char **name)
{
    *schema = table_schema;
    for (int i = 0; options && i < options->count; i++) {
        const struct name_list *said = &options->items[i]->names;
        if (strcmp(options->items[i]->name, "sequence_name") || said->count == 0)
            continue;
        *name = said->items[said->count - 1];
        if (said->count > 1) {
            enum status status = catalog_schema(d->session, said->items[said->count - 2], schema);
            if (!status && !*schema)
                status = error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", said->items[said->count - 2]);
            return status;
        }
        return STATUS_OK;
    }
    return ddl_choose_name(d, table, column, "seq", table_schema, true, false, name);
}

enum status sequence_make(struct ddl *d, uint32_t schema, const char *name, uint32_t type, const struct option_list *options, uint32_t table, int16_t column, uint32_t *oid)
{
    struct shape shape;
    uint32_t file;
    enum status status = shape_read(options, type, NULL, &shape);
    if (!status)
        status = sequence_create_file(d->access.store, d->access.txn, shape.start, &file);
    if (status)
        return status;
    *oid = catalog_new_oid(d->access.store);
    struct class_row class = {.oid = *oid, .schema = schema, .name = name, .kind = 'S', .columns = 3, .file = file};
    status = ddl_class_insert(d, &class);
    static const struct { const char *name; uint32_t type; } columns[] = {{"last_value", OID_INT8}, {"log_cnt", OID_INT8}, {"is_called", OID_BOOL}};
    for (int16_t i = 0; !status && i < 3; i++) {
        struct attribute_row a = {.name = columns[i].name, .type = type_make(columns[i].type, -1), .number = (int16_t)(i + 1), .not_null = true};
        status = ddl_attribute_insert(d, *oid, &a);
    }
    struct value v[SEQUENCE_COLUMNS];
    sequence_values(v, *oid, &shape, table, column);
    if (!status)
        status = catalog_insert(&d->access, CATALOG_SEQUENCE, v);
    if (!status)
        status = ddl_lock(d, *oid, LOCK_ACCESS_EXCLUSIVE);
    return status;
}

static enum status sequence_get(struct ddl *d, uint32_t oid, struct catalog_row *row, struct shape *shape)
{
    struct value key = value_oid(oid);
    bool found;
    enum status status = catalog_get(&d->access, CATALOG_SEQUENCE, FIRST_INDEX, &key, 1, row, &found);
    if (!status && !found)
        status = error_set(STATUS_UNDEFINED_TABLE, "sequence with OID %u does not exist", oid);
    if (!status) {
        const struct value *v = row->values;
        *shape = (struct shape){.type = v[SEQUENCE_seqtypid].oid, .start = v[SEQUENCE_seqstart].i8, .increment = v[SEQUENCE_seqincrement].i8, .min = v[SEQUENCE_seqmin].i8, .max = v[SEQUENCE_seqmax].i8,
                                .cache = v[SEQUENCE_seqcache].i8, .cycle = v[SEQUENCE_seqcycle].b};
    }
    return status;
}

/* The sequence stands at `value`, not called yet, in a new file. */
static enum status new_file(struct ddl *d, uint32_t oid, int64_t value)
{
    struct catalog_row row;
    struct value *v;
    uint32_t file;
    enum status status = ddl_class_get(d, oid, &row, &v);
    if (!status)
        status = sequence_create_file(d->access.store, d->access.txn, value, &file);
    if (status)
        return status;
    store_drop_file(d->access.store, d->access.txn, v[CLASS_relfilenode].oid);
    v[CLASS_relfilenode] = value_oid(file);
    return ddl_class_update(d, &row, v);
}

enum status sequence_restart(struct ddl *d, uint32_t oid)
{
    struct catalog_row row;
    struct shape shape;
    enum status status = ddl_lock(d, oid, LOCK_ACCESS_EXCLUSIVE);
    if (!status)
        status = sequence_get(d, oid, &row, &shape);
    return status ? status : new_file(d, oid, shape.start);
}

enum status sequence_own(struct ddl *d, uint32_t oid, uint32_t table, int16_t column)
{
    struct catalog_row row;
    struct shape shape;
    enum status status = sequence_get(d, oid, &row, &shape);
    if (status)
        return status;
    struct value v[SEQUENCE_COLUMNS];
    sequence_values(v, oid, &shape, table, column);
    return catalog_update(&d->access, CATALOG_SEQUENCE, row.row_id, v);
}

struct owned { struct ddl *d; uint32_t table; int16_t column; struct users users; };
static enum status owned_row(void *context, const struct catalog_row *row)
{
    struct owned *owned = context;
    const struct value *v = row->values;
    if (v[SEQUENCE_crab_table].oid == owned->table && (!owned->column || v[SEQUENCE_crab_column].i2 == owned->column))
        users_add(owned->d, &owned->users, v[SEQUENCE_seqrelid].oid);
    return STATUS_OK;
}

enum status sequence_owned(struct ddl *d, uint32_t table, int16_t column, uint32_t **oids, uint32_t *count)
{
    struct owned owned = {.d = d, .table = table, .column = column};
    enum status status = catalog_scan(&d->access, CATALOG_SEQUENCE, -1, NULL, 0, owned_row, &owned);
    *oids = owned.users.oids;
    *count = owned.users.count;
    return status;
}

/* OWNED BY t.a, s.t.a or NONE. */
static enum status owner(struct ddl *d, const struct option *option, uint32_t *table, int16_t *column)
{
    int n = option->names.count;
    *table = 0;
    *column = 0;
    if (n == 0 || (n == 1 && !strcmp(option->names.items[0], "none")))
        return STATUS_OK;
    if (n == 1) {
        error_set(STATUS_SYNTAX, "invalid OWNED BY option");
        error_hint("Specify OWNED BY table.column or OWNED BY NONE.");
        return STATUS_SYNTAX;
    }
    struct relation_name name = {.name = option->names.items[n - 2], .schema = n > 2 ? option->names.items[n - 3] : NULL};
    const struct table *t;
    enum status status = ddl_open(d, &name, LOCK_ACCESS_SHARE, &t);
    if (status)
        return status;
    if (t->kind != RELATION_TABLE)
        return error_set(STATUS_WRONG_OBJECT_TYPE, "sequence cannot be owned by relation \"%s\"", t->name);
    int c = table_column(t, option->names.items[n - 1]);
    if (c < 0)
        return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", option->names.items[n - 1], t->name);
    *table = t->oid;
    *column = (int16_t)(c + 1);
    return STATUS_OK;
}

static const struct option *option_named(const struct option_list *options, const char *name)
{
    for (int i = 0; options && i < options->count; i++)
        if (!strcmp(options->items[i]->name, name))
            return options->items[i];
    return NULL;
}

enum status create_sequence(struct ddl *d, const struct sequence_statement *s)
{
    uint32_t schema, exists, oid, table = 0;
    int16_t column = 0;
    const char *schema_name;
    char kind;
    if (s->persistence == PERSISTENCE_TEMPORARY)
        return ddl_unsupported("temporary sequences are");
    enum status status = ddl_target_schema(d, s->relation, &schema, &schema_name);
    if (!status)
        status = ddl_relation_oid(d, schema, s->relation->name, &exists, &kind);
    if (status)
        return status;
    if (exists && s->if_not_exists) {
        session_notice(d->session, "NOTICE", "42P07", "relation \"%s\" already exists, skipping", s->relation->name);
        return STATUS_OK;
    }
    if (exists)
        return error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", s->relation->name);
    const struct option *owned = option_named(&s->options, "owned_by");
    if (owned)
        status = owner(d, owned, &table, &column);
    if (!status)
        status = sequence_make(d, schema, s->relation->name, OID_INT8, &s->options, table, column, &oid);
    return status;
}

enum status sequence_change(struct ddl *d, uint32_t oid, const struct option_list *options)
{
    struct catalog_row row;
    struct shape old, shape;
    enum status status = sequence_get(d, oid, &row, &old);
    if (!status)
        status = shape_read(options, old.type, &old, &shape);
    if (status)
        return status;
    uint32_t table = row.values[SEQUENCE_crab_table].oid;
    int16_t column = row.values[SEQUENCE_crab_column].i2;
    if (shape.owned_by) {
        if (table) {                                          /* an identity's sequence stays where it is */
            const struct table *of;
            status = catalog_table(d->session, table, &of);
            if (!status && of && column > 0 && column <= of->column_count && of->columns[column - 1].identity) {
                const struct table *self;
                status = ddl_table(d, oid, &self);
                if (!status) {
                    status = error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot change ownership of identity sequence");
                    error_detail("Sequence \"%s\" is linked to table \"%s\".", self->name, of->name);
                }
            }
        }
        if (!status)
            status = owner(d, shape.owned_by, &table, &column);
    }
    struct value v[SEQUENCE_COLUMNS];
    sequence_values(v, oid, &shape, table, column);
    if (!status)
        status = catalog_update(&d->access, CATALOG_SEQUENCE, row.row_id, v);
    if (!status && shape.restart)
        status = new_file(d, oid, shape.restart_value);
    return status;
}

enum status alter_sequence(struct ddl *d, const struct sequence_statement *s)
{
    const struct table *t;
    if (s->if_exists) {
        enum status status = catalog_find(d->session, s->relation->schema, s->relation->name, &t);
        if (status)
            return status;
        if (!t) {
            session_notice(d->session, "NOTICE", "00000", "relation \"%s\" does not exist, skipping", s->relation->name);
            return STATUS_OK;
        }
    }
    enum status status = ddl_open(d, s->relation, option_named(&s->options, "restart") ? LOCK_ACCESS_EXCLUSIVE : LOCK_SHARE_ROW_EXCLUSIVE, &t);
    if (status)
        return status;
    if (t->kind != RELATION_SEQUENCE)
        return error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a sequence", t->name);
    return sequence_change(d, t->oid, &s->options);
}
