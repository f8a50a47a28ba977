/* engine/ddl_rows.c - rows of pg_class, pg_attribute and pg_attrdef; how names are made; queries that DDL asks of existing rows. */
#include "engine/ddl.h"
#include "engine/type_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/catalog/views.h"

enum status ddl_fail(int position, enum status status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_set(status, "%s", text);
    if (position)
        error_position(position);
    return status;
}

enum status ddl_unsupported(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(STATUS_FEATURE_NOT_SUPPORTED, "%s not supported", text);
}

/* ---------------------------------------------------------------- descriptors */

void ddl_changed(struct ddl *d)
{
    txn_next_command(d->access.txn);
    catalog_changed(d->session);
}

enum status ddl_table(struct ddl *d, uint32_t oid, const struct table **out)
{
    enum status status = catalog_table(d->session, oid, out);
    if (!status && !*out)
        status = error_set(STATUS_UNDEFINED_TABLE, "could not open relation with OID %u", oid);
    return status;
}

/* A cursor of our own that was left half-way reads the table: our locks don't keep us from changing it. */
static enum status not_in_use(struct ddl *d, uint32_t oid, enum table_lock mode)
{
    const struct table *table;
    if ((mode != LOCK_ACCESS_EXCLUSIVE && mode != LOCK_SHARE) || !session_run_reads(d->session, oid))
        return STATUS_OK;
    enum status status = ddl_table(d, oid, &table);
    const char *command = strcmp(d->command, "TRUNCATE TABLE") ? d->command : "TRUNCATE";        /* PostgreSQL's word */
    return status ? status : error_set(STATUS_OBJECT_IN_USE, "cannot %s \"%s\" because it is being used by active queries in this session", command, table->name);
}

enum status ddl_lock(struct ddl *d, uint32_t oid, enum table_lock mode)
{
    enum status status = lock_relation(d->access.txn, oid, mode, LOCK_WAIT);
    return status ? status : not_in_use(d, oid, mode);
}

enum status ddl_refuse_system(const struct table *table)
{
    if (table->system || table->virtual_table)
        return error_set(STATUS_INSUFFICIENT_PRIVILEGE, "permission denied: \"%s\" is a system catalog", table->name);
    return STATUS_OK;
}

enum status ddl_open(struct ddl *d, const struct relation_name *name, enum table_lock mode, const struct table **out)
{
    enum status status = catalog_open(d->session, name, mode, out);
    if (status)
        error_current()->position = 0;                        /* PostgreSQL's utility statements don't say where */
    if (!status)
        status = not_in_use(d, (*out)->oid, mode);
    return status ? status : ddl_refuse_system(*out);
}

/* ---------------------------------------------------------------- schemas and names */

enum status ddl_schema_name(struct ddl *d, uint32_t oid, const char **out)
{
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&d->access, CATALOG_NAMESPACE, BY_OID, &key, 1, &row, &found);
    *out = !status && found ? value_string(d->arena, &row.values[NAMESPACE_nspname]) : "";
    return status;
}

enum status ddl_target_schema(struct ddl *d, const struct relation_name *relation, uint32_t *oid, const char **name)
{
    enum status status;
    if (relation->catalog && strcmp(relation->catalog, session_database(d->session)))
        return ddl_fail(relation->position, STATUS_FEATURE_NOT_SUPPORTED, "cross-database references are not implemented: \"%s.%s.%s\"", relation->catalog, relation->schema, relation->name);
    if (relation->schema) {
        *name = relation->schema;
        status = catalog_schema(d->session, relation->schema, oid);
        if (!status && !*oid)
            return ddl_fail(relation->position, STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", relation->schema);
        if (status)
            return status;
        if (!strcmp(relation->schema, "pg_temp"))
            return ddl_unsupported("temporary tables are");
        if (*oid == SCHEMA_PG_CATALOG || *oid == SCHEMA_INFORMATION) {
            error_set(STATUS_INSUFFICIENT_PRIVILEGE, "permission denied to create \"%s.%s\"", relation->schema, relation->name);
            error_detail("System catalog modifications are currently disallowed.");
            return STATUS_INSUFFICIENT_PRIVILEGE;
        }
    } else {
        const uint32_t *path;
        uint16_t count;
        status = catalog_search_path(d->session, &path, &count);
        if (status)
            return status;
        *oid = 0;
        for (uint16_t i = 0; i < count && !*oid; i++)
            if (path[i] != SCHEMA_PG_CATALOG && path[i] != SCHEMA_INFORMATION)
                *oid = path[i];
        if (!*oid)
            return ddl_fail(relation->position, STATUS_INVALID_SCHEMA_NAME, "no schema has been selected to create in");
        status = ddl_schema_name(d, *oid, name);
    }
    if (!status)
        status = ddl_lock(d, *oid, LOCK_ACCESS_SHARE);        /* it isn't dropped under us */
    return status;
}

enum status ddl_relation_oid(struct ddl *d, uint32_t schema, const char *name, uint32_t *oid, char *kind)
{
    struct value keys[2] = {value_text(name), value_oid(schema)};
    struct catalog_row row;
    bool found;
    *oid = 0;
    *kind = 0;
    enum status status = catalog_get(&d->access, CATALOG_CLASS, BY_NAME, keys, 2, &row, &found);
    if (!status && found) {
        *oid = row.values[CLASS_oid].oid;
        *kind = (char)row.values[CLASS_relkind].c;
    }
    return status;
}

struct constraint_search { const char *name; uint32_t schema; bool found; };

static enum status constraint_named(void *context, const struct catalog_row *row)
{
    struct constraint_search *search = context;
    const struct varlen *name = &row->values[CONSTRAINT_conname].v;
    if (row->values[CONSTRAINT_connamespace].oid == search->schema && name->length == strlen(search->name) && !memcmp(name->bytes, search->name, name->length)) {
        search->found = true;
        return STATUS_STOP;
    }
    return STATUS_OK;
}

enum status ddl_constraint_exists(struct ddl *d, uint32_t schema, uint32_t table, const char *name, bool *out)
{
    struct constraint_search search = {.name = name, .schema = schema};
    struct value key = value_oid(table);
    struct catalog_access access = d->access;
    access.arena = arena_open(NULL, "constraint names");
    enum status status = catalog_scan(&access, CATALOG_CONSTRAINT, table ? CONSTRAINT_BY_TABLE : -1, table ? &key : NULL, table ? 1 : 0, constraint_named, &search);
    arena_close(access.arena);
    *out = search.found;
    return status;
}

static size_t clip_utf8(const char *text, size_t length)
{
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* name1_name2_label in at most 63 bytes: the longer of the two names gives way. */
static char *object_name(struct arena *arena, const char *name1, const char *name2, const char *label)
{
    size_t n1 = strlen(name1), n2 = name2 ? strlen(name2) : 0, overhead = label ? strlen(label) + 1 : 0;
    if (name2)
        overhead++;
    size_t room = NAME_MAX_BYTES > overhead ? NAME_MAX_BYTES - overhead : 1;
    while (n1 + n2 > room) {
        if (n1 > n2)
            n1--;
        else
            n2--;
    }
    if (n1 < strlen(name1))
        n1 = clip_utf8(name1, n1);
    if (name2 && n2 < strlen(name2))
        n2 = clip_utf8(name2, n2);
    return arena_printf(arena, "%.*s%s%.*s%s%s", (int)n1, name1, name2 ? "_" : "", (int)n2, name2 ? name2 : "", label ? "_" : "", label ? label : "");
}

enum status ddl_choose_name(struct ddl *d, const char *name1, const char *name2, const char *label, uint32_t schema, bool relation, bool constraint, char **out)
{
    for (int pass = 0;; pass++) {
        const char *numbered = pass == 0 ? label : arena_printf(d->arena, "%s%d", label, pass);
        char *name = object_name(d->arena, name1, name2, numbered);
        bool taken = false;
        enum status status = STATUS_OK;
        if (relation) {
            uint32_t oid;
            char kind;
            status = ddl_relation_oid(d, schema, name, &oid, &kind);
            taken = oid != 0;
        }
        if (!status && !taken && constraint)
            status = ddl_constraint_exists(d, schema, 0, name, &taken);
        if (status)
            return status;
        if (!taken) {
            *out = name;
            return STATUS_OK;
        }
    }
}

char *ddl_qualified(struct arena *arena, const char *schema, const char *name)
{
    return arena_printf(arena, "%s.%s", quote_identifier(arena, schema), quote_identifier(arena, name));
}

/* ---------------------------------------------------------------- types */

enum status ddl_type(struct ddl *d, const struct type_name *n, struct sql_type *out)
{
    (void)d;
    return type_from_name(n, out);
}

/* ---------------------------------------------------------------- values */

enum status ddl_array(struct ddl *d, uint32_t type, const char *text, struct value *out) { return type_in(type_make(type, -1), text, strlen(text), d->arena, out); }

enum status ddl_numbers(struct ddl *d, uint32_t type, const int16_t *numbers, uint16_t count, struct value *out)
{
    bool array = type != OID_INT2VECTOR && type != OID_OIDVECTOR;
    struct text_buffer text;
    text_buffer_open(&text, d->arena);
    text_buffer_puts(&text, array ? "{" : "");
    for (uint16_t i = 0; i < count; i++)
        text_buffer_printf(&text, "%s%d", i ? array ? "," : " " : "", numbers[i]);
    text_buffer_puts(&text, array ? "}" : "");
    return ddl_array(d, type, text.bytes, out);
}

static const struct { const char *name; char kind; int min, max; } known_options[] = {
    {"fillfactor", 'r', 10, 100}, {"fillfactor", 'i', 10, 100}, {"max_entries", 'i', 3, 1000}, {"deduplicate_items", 'i', 0, 0},
    {"autovacuum_enabled", 'r', 0, 0}, {"autovacuum_vacuum_threshold", 'r', 0, 0}, {"autovacuum_vacuum_scale_factor", 'r', 0, 0}, {"autovacuum_analyze_threshold", 'r', 0, 0},
    {"autovacuum_analyze_scale_factor", 'r', 0, 0}, {"autovacuum_vacuum_insert_threshold", 'r', 0, 0}, {"autovacuum_vacuum_insert_scale_factor", 'r', 0, 0},
    {"autovacuum_freeze_max_age", 'r', 0, 0}, {"parallel_workers", 'r', 0, 1024}, {"toast_tuple_target", 'r', 0, 0}, {"vacuum_truncate", 'r', 0, 0}, {"vacuum_index_cleanup", 'r', 0, 0},
    {"user_catalog_table", 'r', 0, 0}, {"log_autovacuum_min_duration", 'r', 0, 0}, {"security_barrier", 'v', 0, 0}, {"security_invoker", 'v', 0, 0}, {"check_option", 'v', 0, 0},
};

enum status ddl_check_options(const struct option_list *options, char kind)
{
    for (int i = 0; i < options->count; i++) {
        const struct option *option = options->items[i];
        if (option->name_space && !strcmp(option->name_space, "toast"))
            continue;
        if (option->name_space)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "unrecognized parameter namespace \"%s\"", option->name_space);
        bool known = kind == 'r' && !strcmp(option->name, "oids");
        if (known && option->kind != OPTION_NONE && option->text && (!strcmp(option->text, "false") || !strcmp(option->text, "off")))
            continue;
        if (known)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "tables declared WITH OIDS are not supported");
        for (size_t k = 0; k < sizeof known_options / sizeof known_options[0]; k++) {
            if (known_options[k].kind != kind || strcmp(known_options[k].name, option->name))
                continue;
            known = true;
            if (!known_options[k].max)
                break;
            char *end = NULL;
            long number = option->text ? strtol(option->text, &end, 10) : 0;
            if (!option->text || *end)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid value for integer option \"%s\": %s", option->name, option->text ? option->text : "true");
            if (number < known_options[k].min || number > known_options[k].max) {
                error_set(STATUS_INVALID_PARAMETER_VALUE, "value %s out of bounds for option \"%s\"", option->text, option->name);
                error_detail("Valid values are between \"%d\" and \"%d\".", known_options[k].min, known_options[k].max);
                return STATUS_INVALID_PARAMETER_VALUE;
            }
            break;
        }
        if (!known)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "unrecognized parameter \"%s\"", option->name);
    }
    return STATUS_OK;
}

static void option_text(struct text_buffer *text, const char *item)
{
    text_buffer_puts(text, text->length > 1 ? ",\"" : "\"");
    for (const char *p = item; *p; p++) {
        if (*p == '"' || *p == '\\')
            text_buffer_putc(text, '\\');
        text_buffer_putc(text, *p);
    }
    text_buffer_putc(text, '"');
}

enum status ddl_options(struct ddl *d, const struct option_list *options, const char *const *old, uint16_t old_count, bool reset, struct value *out)
{
    struct text_buffer text;
    text_buffer_open(&text, d->arena);
    text_buffer_putc(&text, '{');
    for (uint16_t i = 0; i < old_count; i++) {
        bool replaced = false;
        for (int k = 0; options && k < options->count; k++) {
            size_t length = strlen(options->items[k]->name);
            replaced = replaced || (!strncmp(old[i], options->items[k]->name, length) && old[i][length] == '=');
        }
        if (!replaced)
            option_text(&text, old[i]);
    }
    for (int k = 0; options && !reset && k < options->count; k++) {
        const struct option *option = options->items[k];
        if (!option->name_space && strcmp(option->name, "oids"))
            option_text(&text, arena_printf(d->arena, "%s=%s", option->name, option->kind == OPTION_NONE || !option->text ? "true" : option->text));
    }
    if (text.length == 1) {
        *out = value_null();
        return STATUS_OK;
    }
    text_buffer_putc(&text, '}');
    return ddl_array(d, 1009, text.bytes, out);
}

/* ---------------------------------------------------------------- pg_class */

enum status ddl_class_insert(struct ddl *d, const struct class_row *row)
{
    struct value v[CLASS_COLUMNS];
    memset(v, 0, sizeof v);
    v[CLASS_oid] = value_oid(row->oid);
    v[CLASS_relname] = value_text(row->name);
    v[CLASS_relnamespace] = value_oid(row->schema);
    v[CLASS_relowner] = value_oid(OWNER_OID);
    v[CLASS_relam] = value_oid(row->kind == 'r' ? 2 : row->kind == 'i' ? 403 : 0);
    v[CLASS_relfilenode] = value_oid(row->file);
    v[CLASS_relpages] = value_i4(row->kind == 'S' ? 1 : 0);
    v[CLASS_reltuples] = value_f4(row->kind == 'S' ? 1 : row->kind == 'v' || row->kind == 'i' ? 0 : -1);
    v[CLASS_relpersistence] = value_char('p');
    v[CLASS_relkind] = value_char(row->kind);
    v[CLASS_relnatts] = value_i2((int16_t)row->columns);
    v[CLASS_relhasrules] = value_bool(row->kind == 'v');
    v[CLASS_relispopulated] = value_bool(true);
    v[CLASS_relreplident] = value_char(row->kind == 'r' ? 'd' : 'n');
    v[CLASS_relacl] = v[CLASS_reloptions] = v[CLASS_relpartbound] = value_null();
    v[CLASS_crab_overflow] = value_oid(row->overflow_file);
    v[CLASS_crab_space] = value_oid(row->space_file);
    enum status status = row->options ? ddl_options(d, row->options, NULL, 0, false, &v[CLASS_reloptions]) : STATUS_OK;
    if (!status)
        status = catalog_insert(&d->access, CATALOG_CLASS, v);
    if (status == STATUS_UNIQUE_VIOLATION)                    /* another transaction made it since we looked */
        status = error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", row->name);
    return status;
}

enum status ddl_class_get(struct ddl *d, uint32_t oid, struct catalog_row *out, struct value **values)
{
    struct value key = value_oid(oid);
    bool found;
    enum status status = catalog_get(&d->access, CATALOG_CLASS, BY_OID, &key, 1, out, &found);
    if (!status && !found)
        status = error_set(STATUS_UNDEFINED_TABLE, "could not open relation with OID %u", oid);
    if (!status)
        *values = arena_copy(d->arena, out->values, sizeof(struct value) * CLASS_COLUMNS);
    return status;
}

enum status ddl_class_update(struct ddl *d, const struct catalog_row *row, const struct value *values) { return catalog_update(&d->access, CATALOG_CLASS, row->row_id, values); }

enum status ddl_class_flags(struct ddl *d, uint32_t oid, int check_delta, bool has_index, bool has_triggers)
{
    struct catalog_row row;
    struct value *v;
    for (bool moved = true; moved;) {    /* two CREATE INDEX on one table don't shut each other out: who comes second looks again */
        enum status status = ddl_class_get(d, oid, &row, &v);
        if (status)
            return status;
        bool new_index = has_index && !v[CLASS_relhasindex].b, new_triggers = has_triggers && !v[CLASS_relhastriggers].b;
        if (!check_delta && !new_index && !new_triggers)
            return STATUS_OK;
        v[CLASS_relchecks] = value_i2((int16_t)(v[CLASS_relchecks].i2 + check_delta));
        v[CLASS_relhasindex] = value_bool(v[CLASS_relhasindex].b || has_index);
        v[CLASS_relhastriggers] = value_bool(v[CLASS_relhastriggers].b || has_triggers);
        status = catalog_update_unless_moved(&d->access, CATALOG_CLASS, row.row_id, v, &moved);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* ---------------------------------------------------------------- pg_attribute, pg_attrdef */

enum status ddl_attribute_insert(struct ddl *d, uint32_t relation, const struct attribute_row *a)
{
    const struct type_info *info = type_info(a->type.oid);
    struct value v[ATTRIBUTE_COLUMNS];
    memset(v, 0, sizeof v);
    bool text = info && (info->category == 'S' || a->type.oid == OID_BYTEA || a->type.oid == OID_NUMERIC || info->category == 'A');
    v[ATTRIBUTE_attrelid] = value_oid(relation);
    v[ATTRIBUTE_attname] = value_text(a->name);
    v[ATTRIBUTE_atttypid] = value_oid(a->type.oid);
    v[ATTRIBUTE_attstattarget] = v[ATTRIBUTE_attcacheoff] = value_i4(-1);
    v[ATTRIBUTE_attlen] = value_i2(info ? info->length : -1);
    v[ATTRIBUTE_attnum] = value_i2(a->number);
    v[ATTRIBUTE_attndims] = value_i4(a->dimensions ? a->dimensions : type_is_array(a->type.oid) ? 1 : 0);
    v[ATTRIBUTE_atttypmod] = value_i4(a->type.typmod);
    v[ATTRIBUTE_attbyval] = value_bool(info && info->length > 0 && info->length <= 8 && a->type.oid != OID_TID);
    v[ATTRIBUTE_attalign] = value_char(info ? type_alignment(info) : 'i');
    v[ATTRIBUTE_attstorage] = value_char(!info || info->length > 0 ? 'p' : a->type.oid == OID_NUMERIC ? 'm' : text || info->length == -1 ? 'x' : 'p');
    v[ATTRIBUTE_attnotnull] = value_bool(a->not_null);
    v[ATTRIBUTE_atthasdef] = value_bool(a->has_default);
    v[ATTRIBUTE_atthasmissing] = value_bool(a->missing != NULL);
    v[ATTRIBUTE_attidentity] = value_char(a->identity);
    v[ATTRIBUTE_attgenerated] = value_char(a->generated);
    v[ATTRIBUTE_attislocal] = value_bool(true);
    v[ATTRIBUTE_attcollation] = value_oid(type_collation(info));
    v[ATTRIBUTE_attacl] = v[ATTRIBUTE_attoptions] = v[ATTRIBUTE_attfdwoptions] = v[ATTRIBUTE_attmissingval] = value_null();
    v[ATTRIBUTE_crab_nullable] = value_bool(a->nullable);
    v[ATTRIBUTE_crab_sequence] = value_oid(a->sequence);
    if (a->missing) {
        struct varlen bytes = a->type.width == WIDTH_VARLEN ? a->missing->v : (struct varlen){.bytes = arena_copy(d->arena, a->missing->bytes, 16), .length = a->type.width};
        v[ATTRIBUTE_attmissingval] = (struct value){.v = bytes};
    }
    return catalog_insert(&d->access, CATALOG_ATTRIBUTE, v);
}

enum status ddl_attribute_get(struct ddl *d, uint32_t relation, int16_t number, struct catalog_row *out, struct value **values)
{
    struct value keys[2] = {value_oid(relation), value_i2(number)};
    bool found;
    enum status status = catalog_get(&d->access, CATALOG_ATTRIBUTE, FIRST_INDEX, keys, 2, out, &found);
    if (!status && !found)
        status = error_set(STATUS_CORRUPT, "column %d of relation %u has no row in pg_attribute", number, relation);
    if (!status)
        *values = arena_copy(d->arena, out->values, sizeof(struct value) * ATTRIBUTE_COLUMNS);
    return status;
}

enum status ddl_default_insert(struct ddl *d, uint32_t relation, int16_t number, const char *text)
{
    struct value v[ATTRDEF_COLUMNS] = {value_oid(catalog_new_oid(d->access.store)), value_oid(relation), value_i2(number), value_text(text)};
    return catalog_insert(&d->access, CATALOG_ATTRDEF, v);
}

enum status ddl_default_delete(struct ddl *d, uint32_t relation, int16_t number)
{
    struct value keys[2] = {value_oid(relation), value_i2(number)};
    return catalog_delete_all(&d->access, CATALOG_ATTRDEF, FIRST_INDEX, keys, 2);
}

enum status ddl_description_delete(struct ddl *d, uint32_t object, uint32_t class)
{
    struct value keys[2] = {value_oid(object), value_oid(class)};
    return catalog_delete_all(&d->access, CATALOG_DESCRIPTION, FIRST_INDEX, keys, 2);
}

/* ---------------------------------------------------------------- queries of our own */

enum status ddl_query(struct ddl *d, const char *sql, struct result_sink *sink, uint64_t *rows)
{
    struct statement_list list;
    enum status status = parse_sql(d->arena, sql, strlen(sql), &list);
    if (!status && list.count != 1)
        status = error_set(STATUS_INTERNAL, "not one statement: %s", sql);
    struct prepared_plan *plan;
    if (!status) {
        struct plan_request request = {.session = d->session, .arena = d->arena, .sql = sql, .statement = list.items[0]};
        status = plan_statement(&request, &plan);
    }
    if (!status) {
        struct snapshot snapshot;
        txn_next_command(d->access.txn);
        session_catalog_snapshot(d->session, &snapshot);
        struct exec_request request = {.session = d->session, .plan = plan, .snapshot = &snapshot, .sink = sink};
        status = exec_run(&request);
        txn_next_command(d->access.txn);
        if (rows)
            *rows = request.rows_affected;
    }
    if (status)
        error_current()->position = 0;                        /* it would point into our text */
    return status;
}

struct first_row { struct result_sink sink; const struct ddl *d; char **cells; uint16_t count; const struct sql_type *types; };

static enum status take_any(struct result_sink *sink, const struct batch *batch)
{
    struct first_row *first = (struct first_row *)sink;
    if (!batch->selected_count)
        return STATUS_OK;
    first->count = batch->column_count;
    size_t at = batch->all_selected ? 0 : batch->selection[0];
    first->cells = arena_array(first->d->arena, char *, batch->column_count + 1);
    for (uint16_t c = 0; c < batch->column_count; c++) {      /* columns are text: the query casts them */
        const struct vector *v = &batch->columns[c];
        if (!vector_null(v, at) && v->width == WIDTH_VARLEN) {
            struct varlen text = VECTOR(struct varlen, v, at);
            first->cells[c] = arena_strndup(first->d->arena, (const char *)text.bytes, text.length);
        }
    }
    return STATUS_STOP;
}

enum status ddl_query_row(struct ddl *d, const char *sql, char ***cells, uint16_t *count)
{
    struct first_row first = {.sink = {.batch = take_any}, .d = d};
    enum status status = ddl_query(d, sql, &first.sink, NULL);
    *cells = first.cells;
    *count = first.count;
    return status;
}

enum status ddl_query_any(struct ddl *d, const char *sql, bool *any)
{
    char **cells;
    uint16_t count;
    enum status status = ddl_query_row(d, sql, &cells, &count);
    *any = cells != NULL;
    return status;
}
