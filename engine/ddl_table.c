/* engine/ddl_table.c - CREATE TABLE, CREATE TABLE AS, SELECT INTO.
 *
 * Order of things: columns are taken apart (types, NOT NULL, serial, identity); files and rows of pg_class and pg_attribute are
 * made; sequences; then, with the table's descriptor at hand, defaults, checks, keys and foreign keys. A NOT NULL column of a new
 * table has no null bytes on its pages, for good: dropping NOT NULL later writes the table anew. */
#include "engine/ddl.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- columns */

enum status name_reserved(const char *name)
{
    static const char *const names[] = {"tableoid", "cmax", "xmax", "cmin", "xmin", "ctid"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i], name))
            return error_set(STATUS_DUPLICATE_COLUMN, "column name \"%s\" conflicts with a system column name", name);
    return STATUS_OK;
}

void constraints_add(struct ddl *d, struct new_constraints *list, struct constraint_definition *c)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity ? list->capacity * 2 : 16;
        list->items = arena_grow(d->arena, list->items, sizeof *list->items * (size_t)list->capacity, sizeof *list->items * (size_t)capacity);
        list->capacity = capacity;
    }
    list->items[list->count++] = c;
}

static uint32_t serial_type(const struct type_name *type)
{
    static const struct { const char *name; uint32_t type; } serials[] = {{"serial", OID_INT4}, {"serial4", OID_INT4}, {"bigserial", OID_INT8}, {"serial8", OID_INT8}, {"smallserial", OID_INT2}, {"serial2", OID_INT2}};
    for (size_t i = 0; !type->schema && i < sizeof serials / sizeof serials[0]; i++)
        if (!strcmp(type->name, serials[i].name))
            return serials[i].type;
    return 0;
}

enum status column_define(struct ddl *d, const char *table, const struct column_definition *def, struct new_column *out, struct new_constraints *list)
{
    *out = (struct new_column){.name = def->name, .position = def->position, .dimensions = def->type->dimensions};
    enum status status = name_reserved(def->name);
    if (status)
        return status;
    uint32_t serial = serial_type(def->type);
    if (serial) {
        if (def->type->dimensions)
            return ddl_fail(def->type->position, STATUS_FEATURE_NOT_SUPPORTED, "array of serial is not implemented");
        out->type = type_make(serial, -1);
        out->serial = out->not_null = true;
        out->sequence_type = serial;
    } else {
        status = ddl_type(d, def->type, &out->type);
        if (status)
            return status;
    }
    if (def->type->is_setof)
        return ddl_fail(def->type->position, STATUS_INVALID_TABLE_DEFINITION, "column \"%s\" cannot be declared SETOF", def->name);
    if (type_info(out->type.oid)->category == 'P' || out->type.oid == OID_UNKNOWN)
        return ddl_fail(0, STATUS_INVALID_TABLE_DEFINITION, "column \"%s\" has pseudo-type %s", def->name, type_info(out->type.oid)->name);
    if (def->collation && strcmp(def->collation, "default") && strcmp(def->collation, "C") && strcmp(def->collation, "POSIX") && strcmp(def->collation, "ucs_basic"))
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "collation \"%s\" is not supported: text is ordered by its bytes", def->collation);
    if (def->collation && type_info(out->type.oid)->category != 'S')
        return ddl_fail(def->type->position, STATUS_DATATYPE_MISMATCH, "collations are not supported by type %s", type_format(out->type.oid, out->type.typmod, d->arena));
    for (int i = 0; i < def->constraints.count; i++) {
        struct constraint_definition *c = def->constraints.items[i];
        switch (c->kind) {
        case CONSTRAINT_NOT_NULL:
        case CONSTRAINT_NULL:
            if ((c->kind == CONSTRAINT_NOT_NULL) ? out->null_said : out->not_null)
                return ddl_fail(c->position, STATUS_SYNTAX, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", def->name, table);
            out->not_null = out->not_null || c->kind == CONSTRAINT_NOT_NULL;
            out->null_said = c->kind == CONSTRAINT_NULL;
            break;
        case CONSTRAINT_DEFAULT:
        case CONSTRAINT_GENERATED:
            if (out->default_expr || out->serial)
                return ddl_fail(c->position, STATUS_SYNTAX, out->generated != (c->kind == CONSTRAINT_GENERATED ? 's' : 0) ? "both default and generation expression specified for column \"%s\" of table \"%s\"" : "multiple default values specified for column \"%s\" of table \"%s\"", def->name, table);
            if (out->identity)
                return ddl_fail(c->position, STATUS_SYNTAX, "both default and identity specified for column \"%s\" of table \"%s\"", def->name, table);
            out->default_expr = c->expr;
            out->generated = c->kind == CONSTRAINT_GENERATED ? 's' : 0;
            break;
        case CONSTRAINT_IDENTITY:
            if (out->identity)
                return ddl_fail(c->position, STATUS_SYNTAX, "multiple identity specifications for column \"%s\" of table \"%s\"", def->name, table);
            if (out->default_expr || out->serial)
                return ddl_fail(c->position, STATUS_SYNTAX, "both default and identity specified for column \"%s\" of table \"%s\"", def->name, table);
            if (out->type.oid != OID_INT2 && out->type.oid != OID_INT4 && out->type.oid != OID_INT8)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "identity column type must be smallint, integer, or bigint");
            if (out->null_said)
                return ddl_fail(c->position, STATUS_SYNTAX, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", def->name, table);
            out->identity = c->identity_always ? 'a' : 'd';
            out->not_null = true;
            out->sequence_type = out->type.oid;
            out->sequence_options = &c->options;
            break;
        default: {                                            /* one that a table may have, over this column */
            struct constraint_definition *copy = arena_copy(d->arena, c, sizeof *c);
            if (!copy->columns.count && c->kind != CONSTRAINT_CHECK) {
                copy->columns.items = arena_array(d->arena, char *, 1);
                copy->columns.positions = NULL;
                copy->columns.items[0] = def->name;
                copy->columns.count = 1;
            }
            if (c->kind == CONSTRAINT_PRIMARY_KEY) {
                if (out->null_said)
                    return ddl_fail(c->position, STATUS_SYNTAX, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", def->name, table);
                out->not_null = true;
            }
            constraints_add(d, list, copy);
        }
        }
    }
    return STATUS_OK;
}

static bool is_null_literal(const struct expr *e)
{
    while (e && e->kind == EXPR_CAST)
        e = e->cast.operand;
    return e && e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_NULL;
}

static enum status generated_columns_check(struct ddl *d, const struct table *table, const struct new_column *column)
{
    const char **names;
    uint16_t count = expr_columns(d, column->default_expr, &names);
    for (uint16_t i = 0; i < count; i++) {
        int at = table_column(table, names[i]);
        if (at < 0 || !table->columns[at].generated)
            continue;
        ddl_fail(expr_column_position(column->default_expr, names[i]), STATUS_INVALID_OBJECT_DEFINITION, "cannot use generated column \"%s\" in column generation expression", names[i]);
        error_detail("A generated column cannot reference another generated column.");
        return STATUS_INVALID_OBJECT_DEFINITION;
    }
    return STATUS_OK;
}

enum status column_default(struct ddl *d, const struct table *table, struct new_column *column, struct scalar **bound)
{
    struct scalar *scalar = NULL;
    *bound = NULL;
    if (!column->default_expr)
        return STATUS_OK;
    bool generated = column->generated != 0;
    enum status status = generated ? generated_columns_check(d, table, column) : STATUS_OK;
    if (!status)
        status = bind_expression(d->session, d->arena, d->sql, column->default_expr, generated ? table : NULL, column->type, generated ? "column generation expression" : "DEFAULT expression", &scalar);
    if (status && error_current()->status == STATUS_CANNOT_COERCE)
        return status;
    if (status == STATUS_DATATYPE_MISMATCH && !bind_expression(d->session, d->arena, d->sql, column->default_expr, generated ? table : NULL, (struct sql_type){0}, "DEFAULT expression", &scalar)) {
        status = error_set(STATUS_DATATYPE_MISMATCH, "column \"%s\" is of type %s but default expression is of type %s", column->name, type_format(column->type.oid, -1, d->arena), type_format(scalar->type.oid, -1, d->arena));
        error_hint("You will need to rewrite or cast the expression.");
        return status;
    }
    if (!status && generated && scalar_volatility(scalar) != IMMUTABLE)
        status = ddl_fail(0, STATUS_INVALID_OBJECT_DEFINITION, "generation expression is not immutable");
    if (status)
        return status;
    if (!generated && is_null_literal(column->default_expr))
        return STATUS_OK;
    if (!generated && column->default_expr->kind == EXPR_LITERAL && column->default_expr->literal.kind == LITERAL_STRING) {   /* 'x' is shown as 'x'::text */
        struct expr *cast = arena_new(d->arena, struct expr);
        struct type_name *type = arena_new(d->arena, struct type_name);
        uint32_t element = type_is_array(column->type.oid) ? type_element_of(column->type.oid) : column->type.oid;
        *type = (struct type_name){.schema = "pg_catalog", .name = (char *)type_info(element)->name, .dimensions = element != column->type.oid};
        *cast = (struct expr){.kind = EXPR_CAST, .position = column->default_expr->position, .cast = {.operand = column->default_expr, .type = type}};
        column->default_expr = cast;
    }
    expr_qualify(d, column->default_expr);
    column->default_text = deparse_expr(d->arena, column->default_expr);
    *bound = scalar;
    return STATUS_OK;
}

/* ---------------------------------------------------------------- the table itself */

struct new_table {
    const char *name, *schema_name; uint32_t schema, oid;
    struct new_column *columns; uint16_t count, capacity;
    const struct option_list *options;
};

static enum status too_many_columns(void) { return error_set(STATUS_TOO_MANY_COLUMNS, "tables can have at most %d columns", HEAP_COLUMNS_MAX); }

/* Room for one more; the caller has seen that there is. */
static struct new_column *column_room(struct ddl *d, struct new_table *t)
{
    if (t->count == t->capacity) {
        uint16_t capacity = t->capacity ? (uint16_t)(t->capacity * 2) : 16;
        t->columns = arena_grow(d->arena, t->columns, sizeof *t->columns * t->capacity, sizeof *t->columns * capacity);
        t->capacity = capacity;
    }
    return &t->columns[t->count++];
}

static enum status table_make(struct ddl *d, struct new_table *t)
{
    for (uint16_t i = 0; i < t->count; i++)
        for (uint16_t k = 0; k < i; k++)
            if (!strcmp(t->columns[i].name, t->columns[k].name))
                return ddl_fail(0, STATUS_DUPLICATE_COLUMN, "column \"%s\" specified more than once", t->columns[i].name);
    if (t->count > HEAP_COLUMNS_MAX)
        return too_many_columns();
    t->oid = catalog_new_oid(d->access.store);
    struct heap heap = {.store = d->access.store, .table = t->oid, .column_count = t->count, .name = t->name, .columns = arena_array(d->arena, struct heap_column, t->count + 1)};
    for (uint16_t i = 0; i < t->count; i++)
        heap.columns[i] = (struct heap_column){.width = t->columns[i].type.width, .nullable = !t->columns[i].not_null, .missing_null = true};
    enum status status = heap_layout_check(heap.columns, t->count);
    if (!status)
        status = ddl_lock(d, t->oid, LOCK_ACCESS_EXCLUSIVE);
    if (!status)
        status = heap_create(&heap, d->access.txn);
    struct class_row class = {.oid = t->oid, .schema = t->schema, .name = t->name, .kind = 'r', .columns = t->count, .file = heap.file, .overflow_file = heap.overflow_file, .space_file = heap.space_file,
                              .options = t->options && t->options->count ? t->options : NULL};
    if (!status)
        status = ddl_class_insert(d, &class);
    for (uint16_t i = 0; !status && i < t->count; i++) {
        struct new_column *c = &t->columns[i];
        if (c->sequence_type) {
            char *name;
            uint32_t schema;
            status = sequence_choose_name(d, t->name, c->name, t->schema, c->sequence_options, &schema, &name);
            if (!status)
                status = sequence_make(d, schema, name, c->sequence_type, c->sequence_options, t->oid, (int16_t)(i + 1), &c->sequence);
            if (c->serial)
                c->default_text = arena_printf(d->arena, "nextval(%s::regclass)", quote_literal(d->arena, ddl_qualified(d->arena, t->schema_name, name)));
        }
        struct attribute_row a = {.name = c->name, .type = c->type, .number = (int16_t)(i + 1), .dimensions = c->dimensions, .not_null = c->not_null, .nullable = !c->not_null,
                                  .has_default = c->default_text || (c->default_expr && (c->generated || !is_null_literal(c->default_expr))), .identity = c->identity, .generated = c->generated, .sequence = c->sequence};
        if (!status)
            status = ddl_attribute_insert(d, t->oid, &a);
    }
    if (status)
        return status;
    ddl_changed(d);
    const struct table *table;
    status = ddl_table(d, t->oid, &table);
    bool any = false;
    for (uint16_t i = 0; !status && i < t->count; i++) {
        struct new_column *c = &t->columns[i];
        struct scalar *bound;
        if (!c->default_text)
            status = column_default(d, table, c, &bound);
        if (!status && c->default_text) {
            status = ddl_default_insert(d, t->oid, (int16_t)(i + 1), c->default_text);
            any = true;
        }
    }
    if (!status && any)
        ddl_changed(d);
    return status;
}

/* ---------------------------------------------------------------- LIKE */

static struct name_list name_list_of(struct ddl *d, const struct table *table, const int16_t *columns, uint16_t count)
{
    struct name_list list = {.items = arena_array(d->arena, char *, count + 1), .count = count};
    for (uint16_t i = 0; i < count; i++)
        list.items[i] = (char *)table->columns[columns[i] - 1].name;
    return list;
}

struct like_index { struct index_element **elements; uint16_t count; const struct index *index; struct expr *where; struct like_index *next; };

static enum status like_table(struct ddl *d, const struct table_element *element, struct new_table *t, struct new_constraints *constraints, struct like_index **indexes)
{
    const struct table *source;
    enum status status = catalog_open(d->session, element->like, LOCK_ACCESS_SHARE, &source);
    if (status)
        return status;
    if (source->kind == RELATION_SEQUENCE)
        return ddl_fail(element->like->position, STATUS_WRONG_OBJECT_TYPE, "relation \"%s\" is invalid in LIKE clause", source->name);
    int options = element->like_options;
    for (uint16_t i = 0; i < source->column_count; i++) {
        const struct column *c = &source->columns[i];
        if (c->dropped)
            continue;
        if (t->count > HEAP_COLUMNS_MAX)
            return too_many_columns();
        struct new_column *n = column_room(d, t);
        *n = (struct new_column){.name = c->name, .type = c->type, .not_null = c->not_null};
        if (c->default_text && (c->generated ? options & LIKE_GENERATED : options & LIKE_DEFAULTS)) {
            status = parse_expression(d->arena, c->default_text, strlen(c->default_text), &n->default_expr);
            n->generated = c->generated;
        }
        if (c->identity && (options & LIKE_IDENTITY)) {
            n->identity = c->identity;
            n->sequence_type = c->type.oid;
        }
        if (status)
            return status;
    }
    for (uint16_t i = 0; (options & LIKE_CONSTRAINTS) && !status && i < source->check_count; i++) {
        struct constraint_definition *c = arena_new(d->arena, struct constraint_definition);
        *c = (struct constraint_definition){.kind = CONSTRAINT_CHECK, .name = (char *)source->checks[i].name};
        status = parse_expression(d->arena, source->checks[i].text, strlen(source->checks[i].text), &c->expr);
        constraints_add(d, constraints, c);
    }
    for (uint16_t i = 0; (options & LIKE_INDEXES) && !status && i < source->index_count; i++) {
        const struct index *index = &source->indexes[i];
        int16_t columns[32];
        for (uint16_t k = 0; k < index->column_count; k++)
            columns[k] = index->columns[k].column;
        if (index->constraint) {
            struct constraint_definition *c = arena_new(d->arena, struct constraint_definition);
            *c = (struct constraint_definition){.kind = index->primary ? CONSTRAINT_PRIMARY_KEY : CONSTRAINT_UNIQUE, .columns = name_list_of(d, source, columns, index->column_count), .nulls_not_distinct = index->nulls_not_distinct};
            constraints_add(d, constraints, c);
            continue;
        }
        struct like_index *like = arena_new(d->arena, struct like_index);
        *like = (struct like_index){.index = index, .count = index->column_count, .elements = arena_array(d->arena, struct index_element *, index->column_count + 1), .next = *indexes};
        for (uint16_t k = 0; !status && k < index->column_count; k++) {
            const struct index_column *column = &index->columns[k];
            struct index_element *e = like->elements[k] = arena_new(d->arena, struct index_element);
            if (column->column)
                e->column = (char *)source->columns[column->column - 1].name;
            else
                status = parse_expression(d->arena, column->expr_text, strlen(column->expr_text), &e->expr);
            e->direction = column->flags & KEY_DESC ? SORT_DESC : SORT_ASC;
            e->nulls = column->flags & KEY_NULLS_FIRST ? NULLS_FIRST : NULLS_LAST;
        }
        if (!status && index->predicate_text)
            status = parse_expression(d->arena, index->predicate_text, strlen(index->predicate_text), &like->where);
        *indexes = like;
    }
    return status;
}

static enum status like_index_make(struct ddl *d, const struct new_table *t, const struct like_index *like)
{
    const struct table *table;
    enum status status = like->next ? like_index_make(d, t, like->next) : STATUS_OK;
    if (!status)
        status = ddl_table(d, t->oid, &table);
    struct text_buffer addition;
    text_buffer_open(&addition, d->arena);
    for (uint16_t i = 0; i < like->count; i++)
        text_buffer_printf(&addition, "%s%s", i ? "_" : "", like->elements[i]->column ? like->elements[i]->column : "expr");
    char *name;
    if (!status)
        status = ddl_choose_name(d, t->name, addition.bytes, "idx", t->schema, true, false, &name);
    if (status)
        return status;
    struct new_index n = {.name = name, .schema = t->schema, .table = table, .unique = like->index->unique, .nulls_not_distinct = like->index->nulls_not_distinct, .column_count = like->count, .columns = like->elements, .where = like->where};
    uint32_t oid;
    status = index_create(d, &n, false, &oid);
    if (!status)
        ddl_changed(d);
    return status;
}

/* ---------------------------------------------------------------- CREATE TABLE */

static enum status refuse_forms(enum persistence persistence, const char *tablespace, const char *method, enum on_commit on_commit)
{
    if (persistence == PERSISTENCE_TEMPORARY)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "temporary tables are not supported");
    if (on_commit != ON_COMMIT_DEFAULT)
        return error_set(STATUS_INVALID_TABLE_DEFINITION, "ON COMMIT can only be used on temporary tables");
    if (tablespace && *tablespace && strcmp(tablespace, "pg_default"))
        return error_set(STATUS_UNDEFINED_OBJECT, "tablespace \"%s\" does not exist", tablespace);
    if (method && strcmp(method, "heap"))
        return error_set(STATUS_UNDEFINED_OBJECT, "access method \"%s\" does not exist", method);
    return STATUS_OK;
}

static enum status constraints_make(struct ddl *d, uint32_t table, const struct new_constraints *list)
{
    enum status status = STATUS_OK;
    for (int pass = 0; pass < 4 && !status; pass++)
        for (int i = 0; i < list->count && !status; i++) {
            enum constraint_kind kind = list->items[i]->kind;
            int wanted = kind == CONSTRAINT_CHECK ? 0 : kind == CONSTRAINT_PRIMARY_KEY ? 1 : kind == CONSTRAINT_FOREIGN_KEY ? 3 : 2;
            if (wanted == pass)
                status = constraint_add(d, table, list->items[i], false);
        }
    return status;
}

enum status create_table(struct ddl *d, const struct create_table_statement *s)
{
    enum status status = refuse_forms(s->persistence, s->tablespace, s->access_method, s->on_commit);
    if (status)
        return status;
    if (s->partition_by || s->partition_of)
        return ddl_unsupported("partitioned tables are");
    if (s->inherits.count)
        return ddl_unsupported("table inheritance is");
    struct new_table t = {.name = s->relation->name, .options = &s->options};
    uint32_t exists;
    char kind;
    status = ddl_check_options(&s->options, 'r');
    if (!status)
        status = ddl_target_schema(d, s->relation, &t.schema, &t.schema_name);
    if (!status)
        status = ddl_relation_oid(d, t.schema, t.name, &exists, &kind);
    if (status)
        return status;
    if (exists && s->if_not_exists) {
        session_notice(d->session, "NOTICE", "42P07", "relation \"%s\" already exists, skipping", t.name);
        return STATUS_OK;
    }
    if (exists)
        return error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", t.name);

    struct new_constraints constraints = {0};
    struct like_index *indexes = NULL;
    for (int i = 0; !status && i < s->element_count; i++) {
        const struct table_element *element = &s->elements[i];
        if (element->kind == ELEMENT_COLUMN && t.count > HEAP_COLUMNS_MAX)
            status = too_many_columns();
        else if (element->kind == ELEMENT_COLUMN)
            status = column_define(d, t.name, element->column, column_room(d, &t), &constraints);
        else if (element->kind == ELEMENT_CONSTRAINT)
            constraints_add(d, &constraints, arena_copy(d->arena, element->constraint, sizeof *element->constraint));
        else
            status = like_table(d, element, &t, &constraints, &indexes);
    }
    for (int i = 0; i < constraints.count; i++)               /* a primary key's columns are NOT NULL from the start */
        if (constraints.items[i]->kind == CONSTRAINT_PRIMARY_KEY)
            for (int k = 0; k < constraints.items[i]->columns.count; k++)
                for (uint16_t c = 0; c < t.count; c++)
                    if (!strcmp(t.columns[c].name, constraints.items[i]->columns.items[k]))
                        t.columns[c].not_null = true;
    if (!status)
        status = table_make(d, &t);
    if (!status)
        status = constraints_make(d, t.oid, &constraints);
    if (!status && indexes)
        status = like_index_make(d, &t, indexes);
    return status;
}

/* ---------------------------------------------------------------- CREATE TABLE AS, SELECT INTO */

static enum status statement_plan(struct ddl *d, const struct statement *statement, struct prepared_plan **out)
{
    struct plan_request request = {.session = d->session, .arena = d->arena, .sql = d->sql, .statement = statement};
    return plan_statement(&request, out);
}

enum status create_table_as(struct ddl *d, const struct create_table_as_statement *s, uint64_t *rows)
{
    enum status status = refuse_forms(s->persistence, s->tablespace, s->access_method, s->on_commit);
    if (status)
        return status;
    if (s->query->kind != STATEMENT_SELECT)
        return ddl_unsupported("CREATE TABLE AS EXECUTE is");
    struct new_table t = {.name = s->relation->name, .options = &s->options};
    uint32_t exists;
    char kind;
    status = ddl_check_options(&s->options, 'r');
    if (!status)
        status = ddl_target_schema(d, s->relation, &t.schema, &t.schema_name);
    if (!status)
        status = ddl_relation_oid(d, t.schema, t.name, &exists, &kind);
    if (status)
        return status;
    if (exists && s->if_not_exists) {
        session_notice(d->session, "NOTICE", "42P07", "relation \"%s\" already exists, skipping", t.name);
        return STATUS_OK;
    }
    if (exists)
        return error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", t.name);
    struct prepared_plan *plan;
    status = select_qualify(d, s->query->select);             /* the new table must not hide one that it reads */
    if (!status)
        status = statement_plan(d, s->query, &plan);
    if (status)
        return status;
    const struct plan *root = plan->root;
    if (s->columns.count > root->column_count)
        return error_set(STATUS_SYNTAX, "too many column names were specified");
    for (uint16_t i = 0; i < root->column_count; i++) {
        struct new_column *c = column_room(d, &t);
        *c = (struct new_column){.name = i < s->columns.count ? s->columns.items[i] : root->names[i], .type = type_make(root->types[i].oid, root->types[i].typmod)};
        if (c->type.oid == OID_UNKNOWN)
            c->type = type_make(OID_TEXT, -1);
        if (!type_info(c->type.oid) || type_info(c->type.oid)->category == 'P')
            return error_set(STATUS_INVALID_TABLE_DEFINITION, "column \"%s\" has pseudo-type %s", c->name, type_info(c->type.oid) ? type_info(c->type.oid)->name : "unknown");
        status = name_reserved(c->name);
        if (status)
            return status;
    }
    d->plan = plan;
    if (d->counters)
        d->counters->nodes = arena_array(d->arena, struct node_counters, plan->node_count + 1u);
    status = d->explains && !d->counters ? STATUS_OK : table_make(d, &t);
    if (status || s->with_no_data || (d->explains && !d->counters))
        return status;
    /* The rows go in as INSERT's do. */
    struct statement *statement = arena_new(d->arena, struct statement);
    struct insert_statement *insert = arena_new(d->arena, struct insert_statement);
    struct relation_name *relation = arena_new(d->arena, struct relation_name);
    *relation = (struct relation_name){.schema = (char *)t.schema_name, .name = (char *)t.name};
    *insert = (struct insert_statement){.relation = relation, .source = s->query->select};
    *statement = (struct statement){.kind = STATEMENT_INSERT, .start = s->query->start, .length = s->query->length, .insert = insert};
    status = statement_plan(d, statement, &plan);
    if (status)
        return status;
    struct snapshot snapshot;
    session_catalog_snapshot(d->session, &snapshot);
    struct exec_request request = {.session = d->session, .plan = plan, .snapshot = &snapshot, .counters = d->counters};
    if (d->counters) {                   /* what is shown is the query's part of it */
        d->counters->nodes = arena_array(d->arena, struct node_counters, plan->node_count + 1u);
        d->plan = arena_copy(d->arena, plan, sizeof *plan);
        d->plan->root = plan->root->left;
    }
    status = exec_run(&request);
    *rows = request.rows_affected;
    return status;
}
