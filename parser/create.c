/* parser/create.c - CREATE of what isn't a table (index, view, sequence, schema), DROP, TRUNCATE, COMMENT. */
#include "parser/internal.h"

#include <ctype.h>

/* Objects that PostgreSQL can create, alter and drop and Crabtree can't; each by its first words. */
static const struct { enum keyword first, second; const char *name; } unsupported_objects[] = {
    {KEYWORD_ACCESS, KEYWORD_METHOD, "ACCESS METHOD"},
    {KEYWORD_AGGREGATE, NO_KEYWORD, "AGGREGATE"},
    {KEYWORD_CAST, NO_KEYWORD, "CAST"},
    {KEYWORD_COLLATION, NO_KEYWORD, "COLLATION"},
    {KEYWORD_CONSTRAINT, KEYWORD_TRIGGER, "CONSTRAINT TRIGGER"},
    {KEYWORD_CONVERSION, NO_KEYWORD, "CONVERSION"},
    {KEYWORD_DATABASE, NO_KEYWORD, "DATABASE"},
    {KEYWORD_DEFAULT, KEYWORD_CONVERSION, "CONVERSION"},
    {KEYWORD_DEFAULT, KEYWORD_PRIVILEGES, "DEFAULT PRIVILEGES"},
    {KEYWORD_DOMAIN, NO_KEYWORD, "DOMAIN"},
    {KEYWORD_EVENT, KEYWORD_TRIGGER, "EVENT TRIGGER"},
    {KEYWORD_EXTENSION, NO_KEYWORD, "EXTENSION"},
    {KEYWORD_FOREIGN, KEYWORD_DATA, "FOREIGN DATA WRAPPER"},
    {KEYWORD_FOREIGN, KEYWORD_TABLE, "FOREIGN TABLE"},
    {KEYWORD_FUNCTION, NO_KEYWORD, "FUNCTION"},
    {KEYWORD_GROUP, NO_KEYWORD, "ROLE"},
    {KEYWORD_LANGUAGE, NO_KEYWORD, "LANGUAGE"},
    {KEYWORD_LARGE, KEYWORD_OBJECT, "LARGE OBJECT"},
    {KEYWORD_MATERIALIZED, KEYWORD_VIEW, "MATERIALIZED VIEW"},
    {KEYWORD_OPERATOR, NO_KEYWORD, "OPERATOR"},
    {KEYWORD_OWNED, NO_KEYWORD, "OWNED"},
    {KEYWORD_POLICY, NO_KEYWORD, "POLICY"},
    {KEYWORD_PROCEDURAL, KEYWORD_LANGUAGE, "LANGUAGE"},
    {KEYWORD_PROCEDURE, NO_KEYWORD, "PROCEDURE"},
    {KEYWORD_PUBLICATION, NO_KEYWORD, "PUBLICATION"},
    {KEYWORD_ROLE, NO_KEYWORD, "ROLE"},
    {KEYWORD_ROUTINE, NO_KEYWORD, "ROUTINE"},
    {KEYWORD_RULE, NO_KEYWORD, "RULE"},
    {KEYWORD_SERVER, NO_KEYWORD, "SERVER"},
    {KEYWORD_STATISTICS, NO_KEYWORD, "STATISTICS"},
    {KEYWORD_SUBSCRIPTION, NO_KEYWORD, "SUBSCRIPTION"},
    {KEYWORD_SYSTEM, NO_KEYWORD, "SYSTEM"},
    {KEYWORD_TABLESPACE, NO_KEYWORD, "TABLESPACE"},
    {KEYWORD_TEXT, KEYWORD_SEARCH, "TEXT SEARCH"},
    {KEYWORD_TRANSFORM, NO_KEYWORD, "TRANSFORM"},
    {KEYWORD_TRIGGER, NO_KEYWORD, "TRIGGER"},
    {KEYWORD_TRUSTED, NO_KEYWORD, "LANGUAGE"},
    {KEYWORD_TYPE, NO_KEYWORD, "TYPE"},
    {KEYWORD_USER, KEYWORD_MAPPING, "USER MAPPING"},
    {KEYWORD_USER, NO_KEYWORD, "ROLE"},
};

struct statement *parse_unsupported_object(struct parser *p, const char *verb)
{
    for (size_t i = 0; i < sizeof unsupported_objects / sizeof *unsupported_objects; i++)
        if (next_is_word(p, unsupported_objects[i].first) &&
            (unsupported_objects[i].second == NO_KEYWORD || after_is_word(p, unsupported_objects[i].second)))
            return statement_unsupported(p, arena_printf(p->arena, "%s %s", verb, unsupported_objects[i].name));
    fail_syntax(p);
    return statement_unsupported(p, verb);
}

static bool parse_if_not_exists(struct parser *p)
{
    if (!next_is_word(p, KEYWORD_IF) || !after_is_word(p, KEYWORD_NOT))
        return false;
    advance(p);
    advance(p);
    expect_word(p, KEYWORD_EXISTS);
    return true;
}

/* ---- indexes ---- */

static struct index_element *parse_index_element(struct parser *p)
{
    struct index_element *element = arena_new(p->arena, struct index_element);

    element->position = position(p);
    if (accept(p, '(')) {
        element->expr = parse_expr(p);
        expect(p, ')');
    } else if (next_is_column_name(p) && peek_at(p, 1)->kind != '(' && peek_at(p, 1)->kind != '.') {
        element->column = parse_name(p);
    } else {
        element->expr = parse_primary(p);
        if (element->expr->kind == EXPR_LITERAL || element->expr->kind == EXPR_COLUMN)
            fail_syntax(p);
    }
    if (accept_word(p, KEYWORD_COLLATE))
        parse_any_name(p, &element->collation_schema, &element->collation);
    if (next_is_column_name(p)) {
        parse_any_name(p, &element->opclass_schema, &element->opclass);
        if (next_is(p, '(')) {
            struct option_list ignored = {0};
            parse_options(p, &ignored);
        }
    }
    if (accept_word(p, KEYWORD_ASC))
        element->direction = SORT_ASC;
    else if (accept_word(p, KEYWORD_DESC))
        element->direction = SORT_DESC;
    if (accept_words(p, KEYWORD_NULLS, KEYWORD_FIRST))
        element->nulls = NULLS_FIRST;
    else if (accept_words(p, KEYWORD_NULLS, KEYWORD_LAST))
        element->nulls = NULLS_LAST;
    return element;
}

void parse_index_columns(struct parser *p, struct index_element ***columns, int *count)
{
    struct { struct index_element **items; int count; } list = {0};

    expect(p, '(');
    do {
        LIST_ADD(p, list, parse_index_element(p));
    } while (accept(p, ','));
    expect(p, ')');
    *columns = list.items;
    *count = list.count;
}

/* At UNIQUE or INDEX. */
static struct statement *parse_create_index(struct parser *p)
{
    struct statement *statement =
        statement_new(p, STATEMENT_CREATE_INDEX, sizeof(struct create_index_statement));
    struct create_index_statement *create = statement->create_index;

    create->unique = accept_word(p, KEYWORD_UNIQUE);
    expect_word(p, KEYWORD_INDEX);
    create->concurrently = accept_word(p, KEYWORD_CONCURRENTLY);
    create->if_not_exists = parse_if_not_exists(p);
    if (create->if_not_exists || !next_is_word(p, KEYWORD_ON))
        create->name = parse_name(p);
    expect_word(p, KEYWORD_ON);
    create->relation = parse_relation_expr(p);
    if (accept_word(p, KEYWORD_USING))
        create->method = parse_name(p);
    parse_index_columns(p, &create->columns, &create->column_count);
    if (accept_word(p, KEYWORD_INCLUDE))
        parse_names_in_parentheses(p, &create->include);
    if (!accept_words(p, KEYWORD_NULLS, KEYWORD_DISTINCT) && accept_words(p, KEYWORD_NULLS, KEYWORD_NOT)) {
        expect_word(p, KEYWORD_DISTINCT);
        create->nulls_not_distinct = true;
    }
    if (accept_word(p, KEYWORD_WITH))
        parse_options(p, &create->options);
    if (accept_word(p, KEYWORD_TABLESPACE))
        create->tablespace = parse_name(p);
    if (accept_word(p, KEYWORD_WHERE))
        create->where = parse_expr(p);
    return statement;
}

/* ---- views, sequences, schemas ---- */

/* At RECURSIVE or VIEW. */
static struct statement *parse_create_view(struct parser *p, enum persistence persistence, bool or_replace)
{
    struct statement *statement =
        statement_new(p, STATEMENT_CREATE_VIEW, sizeof(struct create_view_statement));
    struct create_view_statement *create = statement->create_view;

    create->persistence = persistence;
    create->or_replace = or_replace;
    create->recursive = accept_word(p, KEYWORD_RECURSIVE);
    expect_word(p, KEYWORD_VIEW);
    create->relation = parse_relation_name(p);
    if (create->recursive || next_is(p, '('))
        parse_names_in_parentheses(p, &create->columns);
    if (accept_word(p, KEYWORD_WITH))
        parse_options(p, &create->options);
    expect_word(p, KEYWORD_AS);
    p->into_allowed = false;
    create->query_start = position(p);
    if (!next_is(p, '(') && !select_is_ahead(p))
        fail_syntax(p);
    create->select = parse_select(p);
    create->query_length = p->last_end + 1 - create->query_start;
    if (accept_word(p, KEYWORD_WITH)) {
        create->check = VIEW_CHECK_CASCADED;
        if (accept_word(p, KEYWORD_LOCAL))
            create->check = VIEW_CHECK_LOCAL;
        else
            accept_word(p, KEYWORD_CASCADED);
        expect_word(p, KEYWORD_CHECK);
        expect_word(p, KEYWORD_OPTION);
    }
    return statement;
}

static struct statement *parse_create_sequence(struct parser *p, enum persistence persistence)
{
    struct statement *statement =
        statement_new(p, STATEMENT_CREATE_SEQUENCE, sizeof(struct sequence_statement));
    struct sequence_statement *create = statement->sequence;

    expect_word(p, KEYWORD_SEQUENCE);
    create->persistence = persistence;
    create->if_not_exists = parse_if_not_exists(p);
    create->relation = parse_relation_name(p);
    parse_sequence_options(p, &create->options);
    return statement;
}

static struct statement *parse_create_schema(struct parser *p)
{
    struct statement *statement =
        statement_new(p, STATEMENT_CREATE_SCHEMA, sizeof(struct create_schema_statement));
    struct create_schema_statement *create = statement->create_schema;
    struct { struct statement **items; int count; } elements = {0};

    expect_word(p, KEYWORD_SCHEMA);
    create->if_not_exists = parse_if_not_exists(p);
    if (!next_is_word(p, KEYWORD_AUTHORIZATION))
        create->name = parse_name(p);
    if (accept_word(p, KEYWORD_AUTHORIZATION)) {
        create->owner = parse_role(p);
        if (!create->name)
            create->name = create->owner;
    }
    while (next_is_word(p, KEYWORD_CREATE) && depth_enter(p)) {
        int start = position(p);
        struct statement *element = parse_create(p);
        element->start = start;
        element->length = p->last_end + 1 - start;
        LIST_ADD(p, elements, element);
        depth_leave(p);
    }
    create->elements = elements.items;
    create->element_count = elements.count;
    return statement;
}

struct statement *parse_create(struct parser *p)
{
    enum persistence persistence = PERSISTENCE_PERMANENT;
    bool or_replace;

    expect_word(p, KEYWORD_CREATE);
    or_replace = accept_word(p, KEYWORD_OR);
    if (or_replace)
        expect_word(p, KEYWORD_REPLACE);
    if (or_replace && !next_is_word(p, KEYWORD_VIEW) && !next_is_word(p, KEYWORD_RECURSIVE) &&
        !next_is_word(p, KEYWORD_TEMP) && !next_is_word(p, KEYWORD_TEMPORARY) && !next_is_word(p, KEYWORD_LOCAL) &&
        !next_is_word(p, KEYWORD_GLOBAL))
        return parse_unsupported_object(p, "CREATE");
    if (next_is_word(p, KEYWORD_LOCAL) || next_is_word(p, KEYWORD_GLOBAL)) {
        advance(p);
        if (!next_is_word(p, KEYWORD_TEMP) && !next_is_word(p, KEYWORD_TEMPORARY))
            fail_syntax(p);
    }
    if (accept_word(p, KEYWORD_TEMP) || accept_word(p, KEYWORD_TEMPORARY))
        persistence = PERSISTENCE_TEMPORARY;
    else if (accept_word(p, KEYWORD_UNLOGGED))
        persistence = PERSISTENCE_UNLOGGED;

    switch ((int)peek(p)->keyword) {
    case KEYWORD_VIEW: case KEYWORD_RECURSIVE: return parse_create_view(p, persistence, or_replace);
    case KEYWORD_TABLE:
        if (or_replace)
            break;
        advance(p);
        return parse_create_table(p, persistence);
    case KEYWORD_SEQUENCE:
        if (or_replace)
            break;
        return parse_create_sequence(p, persistence);
    case KEYWORD_UNIQUE: case KEYWORD_INDEX:
        if (persistence != PERSISTENCE_PERMANENT)
            break;
        return parse_create_index(p);
    case KEYWORD_SCHEMA:
        if (persistence != PERSISTENCE_PERMANENT)
            break;
        return parse_create_schema(p);
    default:
        return parse_unsupported_object(p, "CREATE");
    }
    fail_syntax(p);
    return statement_unsupported(p, "CREATE");
}

/* ---- DROP, TRUNCATE, COMMENT ---- */

struct statement *parse_drop(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_DROP, sizeof(struct drop_statement));
    struct drop_statement *drop = statement->drop;

    expect_word(p, KEYWORD_DROP);
    switch ((int)peek(p)->keyword) {
    case KEYWORD_TABLE: drop->object = OBJECT_TABLE; break;
    case KEYWORD_INDEX: drop->object = OBJECT_INDEX; break;
    case KEYWORD_VIEW: drop->object = OBJECT_VIEW; break;
    case KEYWORD_SEQUENCE: drop->object = OBJECT_SEQUENCE; break;
    case KEYWORD_SCHEMA: drop->object = OBJECT_SCHEMA; break;
    default: return parse_unsupported_object(p, "DROP");
    }
    advance(p);
    if (drop->object == OBJECT_INDEX)
        drop->concurrently = accept_word(p, KEYWORD_CONCURRENTLY);
    drop->if_exists = accept_words(p, KEYWORD_IF, KEYWORD_EXISTS);
    parse_relations(p, &drop->names);
    drop->cascade = accept_word(p, KEYWORD_CASCADE);
    if (!drop->cascade)
        accept_word(p, KEYWORD_RESTRICT);
    return statement;
}

struct statement *parse_truncate(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_TRUNCATE, sizeof(struct truncate_statement));
    struct truncate_statement *truncate = statement->truncate;

    expect_word(p, KEYWORD_TRUNCATE);
    accept_word(p, KEYWORD_TABLE);
    do {
        LIST_ADD(p, truncate->relations, parse_relation_expr(p));
    } while (accept(p, ','));
    if (accept_words(p, KEYWORD_RESTART, KEYWORD_IDENTITY))
        truncate->restart_identity = true;
    else
        accept_words(p, KEYWORD_CONTINUE, KEYWORD_IDENTITY);
    truncate->cascade = accept_word(p, KEYWORD_CASCADE);
    if (!truncate->cascade)
        accept_word(p, KEYWORD_RESTRICT);
    return statement;
}

struct statement *parse_comment(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_COMMENT, sizeof(struct comment_statement));
    struct comment_statement *comment = statement->comment;

    expect_word(p, KEYWORD_COMMENT);
    expect_word(p, KEYWORD_ON);
    comment->object_name = arena_strdup(p->arena, token_is_label(peek(p)) ? peek(p)->text : "");
    for (char *c = comment->object_name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    switch ((int)peek(p)->keyword) {
    case KEYWORD_TABLE: comment->object = OBJECT_TABLE; break;
    case KEYWORD_INDEX: comment->object = OBJECT_INDEX; break;
    case KEYWORD_VIEW: comment->object = OBJECT_VIEW; break;
    case KEYWORD_SEQUENCE: comment->object = OBJECT_SEQUENCE; break;
    case KEYWORD_SCHEMA: comment->object = OBJECT_SCHEMA; break;
    case KEYWORD_DATABASE: comment->object = OBJECT_DATABASE; break;
    case KEYWORD_COLUMN: comment->object = OBJECT_COLUMN; break;
    case KEYWORD_CONSTRAINT: comment->object = OBJECT_CONSTRAINT; break;
    default: comment->object = OBJECT_OTHER; break;
    }
    if (!token_is_label(peek(p)))
        fail_syntax(p);
    advance(p);
    switch (comment->object) {
    case OBJECT_OTHER:
        while (!next_is_word(p, KEYWORD_IS) && !next_is(p, TOKEN_END) && !next_is(p, ';'))
            advance(p);
        break;
    case OBJECT_COLUMN: {
        struct name_list parts = {0};
        int at = position(p);
        do {
            char *part = parts.count ? parse_label(p) : parse_name(p);
            LIST_ADD(p, parts, part);
        } while (accept(p, '.'));
        comment->relation = arena_new(p->arena, struct relation_name);
        comment->relation->position = at;
        if (parts.count < 2) {
            syntax_fail_at(p, at, STATUS_SYNTAX, "column name must be qualified");
            break;
        }
        comment->name = parts.items[parts.count - 1];
        comment->relation->name = parts.items[parts.count - 2];
        comment->relation->schema = parts.count > 2 ? parts.items[parts.count - 3] : NULL;
        break;
    }
    case OBJECT_CONSTRAINT:
        comment->name = parse_name(p);
        expect_word(p, KEYWORD_ON);
        comment->relation = parse_relation_name(p);
        break;
    default:
        comment->relation = parse_relation_name(p);
        break;
    }
    expect_word(p, KEYWORD_IS);
    if (!accept_word(p, KEYWORD_NULL))
        comment->text = parse_string(p);
    return statement;
}
