/* parser/type.c - type names.
 *
 * SQL's own spellings become PostgreSQL's internal names in pg_catalog, so that the engine looks up one name: int,
 * integer -> int4; float(n) -> float4 up to 24, float8 above; char -> bpchar with length 1 when none is written. */
#include "parser/internal.h"

static struct type_name *type_new(struct parser *p, const char *name, int position)
{
    struct type_name *type = arena_new(p->arena, struct type_name);
    type->schema = "pg_catalog";
    type->name = (char *)name;
    type->position = position;
    return type;
}

static void parse_modifiers(struct parser *p, struct type_name *type)
{
    if (accept(p, '(')) {
        parse_exprs(p, &type->modifiers);
        expect(p, ')');
    }
}

/* (n) of time, timestamp, interval: one whole number. */
static void parse_precision(struct parser *p, struct type_name *type)
{
    if (!accept(p, '('))
        return;
    int at = position(p);
    if (next_is(p, TOKEN_INTEGER) && peek(p)->integer <= INT32_MAX) {
        LIST_ADD(p, type->modifiers, literal_integer(p, peek(p)->integer, at));
        advance(p);
    } else {
        fail_syntax(p);
    }
    expect(p, ')');
}

static struct type_name *parse_float(struct parser *p, int at)
{
    int64_t precision = 53;
    if (accept(p, '(')) {
        int precision_at = position(p);
        precision = next_is(p, TOKEN_INTEGER) ? peek(p)->integer : -1;
        expect(p, TOKEN_INTEGER);
        if (precision < 1)
            syntax_fail_at(p, precision_at, STATUS_INVALID_PARAMETER_VALUE, "precision for type float must be at least 1 bit");
        if (precision > 53)
            syntax_fail_at(p, precision_at, STATUS_INVALID_PARAMETER_VALUE,
                    "precision for type float must be less than 54 bits");
        expect(p, ')');
    }
    return type_new(p, precision <= 24 ? "float4" : "float8", at);
}

static struct type_name *parse_character(struct parser *p, int at, bool constant)
{
    bool varying = accept_word(p, KEYWORD_VARYING);
    struct type_name *type = type_new(p, varying ? "varchar" : "bpchar", at);

    parse_precision(p, type);
    /* char is char(1); char 'abc' keeps all of the literal. */
    if (!varying && type->modifiers.count == 0 && !constant)
        LIST_ADD(p, type->modifiers, literal_integer(p, 1, 0));
    return type;
}

static bool parse_time_zone(struct parser *p)
{
    if (next_is_word(p, KEYWORD_WITH) && after_is_word(p, KEYWORD_TIME)) {
        advance(p);
        advance(p);
        expect_word(p, KEYWORD_ZONE);
        return true;
    }
    if (next_is_word(p, KEYWORD_WITHOUT) && after_is_word(p, KEYWORD_TIME)) {
        advance(p);
        advance(p);
        expect_word(p, KEYWORD_ZONE);
    }
    return false;
}

enum interval_fields parse_interval_fields(struct parser *p, struct type_name *type)
{
    enum interval_fields fields = FIELDS_ANY;

    if (accept_word(p, KEYWORD_YEAR)) {
        fields = FIELDS_YEAR;
        if (accept_word(p, KEYWORD_TO)) {
            expect_word(p, KEYWORD_MONTH);
            fields = FIELDS_YEAR_TO_MONTH;
        }
    } else if (accept_word(p, KEYWORD_MONTH)) {
        fields = FIELDS_MONTH;
    } else if (accept_word(p, KEYWORD_DAY)) {
        fields = FIELDS_DAY;
        if (accept_word(p, KEYWORD_TO)) {
            if (accept_word(p, KEYWORD_HOUR))
                fields = FIELDS_DAY_TO_HOUR;
            else if (accept_word(p, KEYWORD_MINUTE))
                fields = FIELDS_DAY_TO_MINUTE;
            else {
                expect_word(p, KEYWORD_SECOND);
                fields = FIELDS_DAY_TO_SECOND;
                parse_precision(p, type);
            }
        }
    } else if (accept_word(p, KEYWORD_HOUR)) {
        fields = FIELDS_HOUR;
        if (accept_word(p, KEYWORD_TO)) {
            if (accept_word(p, KEYWORD_MINUTE))
                fields = FIELDS_HOUR_TO_MINUTE;
            else {
                expect_word(p, KEYWORD_SECOND);
                fields = FIELDS_HOUR_TO_SECOND;
                parse_precision(p, type);
            }
        }
    } else if (accept_word(p, KEYWORD_MINUTE)) {
        fields = FIELDS_MINUTE;
        if (accept_word(p, KEYWORD_TO)) {
            expect_word(p, KEYWORD_SECOND);
            fields = FIELDS_MINUTE_TO_SECOND;
            parse_precision(p, type);
        }
    } else if (accept_word(p, KEYWORD_SECOND)) {
        fields = FIELDS_SECOND;
        parse_precision(p, type);
    }
    type->fields = fields;
    return fields;
}

/* A type that has a keyword of its own; NULL, with nothing consumed, if none is next. `constant`: of int '1'. */
static struct type_name *parse_keyword_type(struct parser *p, bool constant)
{
    int at = position(p);
    struct type_name *type;
    enum keyword keyword = peek(p)->keyword;

    switch ((int)keyword) {
    case KEYWORD_DOUBLE:
        if (!after_is_word(p, KEYWORD_PRECISION))
            return NULL;
        advance(p);
        break;
    case KEYWORD_NATIONAL:
    case KEYWORD_INT: case KEYWORD_INTEGER: case KEYWORD_SMALLINT: case KEYWORD_BIGINT: case KEYWORD_REAL:
    case KEYWORD_FLOAT: case KEYWORD_DECIMAL: case KEYWORD_DEC: case KEYWORD_NUMERIC: case KEYWORD_BOOLEAN:
    case KEYWORD_BIT: case KEYWORD_CHARACTER: case KEYWORD_CHAR: case KEYWORD_NCHAR: case KEYWORD_VARCHAR:
    case KEYWORD_TIMESTAMP: case KEYWORD_TIME: case KEYWORD_INTERVAL:
        break;
    default:
        return NULL;
    }
    advance(p);

    switch ((int)keyword) {
    case KEYWORD_INT: case KEYWORD_INTEGER: return type_new(p, "int4", at);
    case KEYWORD_SMALLINT: return type_new(p, "int2", at);
    case KEYWORD_BIGINT:   return type_new(p, "int8", at);
    case KEYWORD_REAL:     return type_new(p, "float4", at);
    case KEYWORD_DOUBLE:   return type_new(p, "float8", at);
    case KEYWORD_BOOLEAN:  return type_new(p, "bool", at);
    case KEYWORD_FLOAT:    return parse_float(p, at);
    case KEYWORD_DECIMAL: case KEYWORD_DEC: case KEYWORD_NUMERIC:
        type = type_new(p, "numeric", at);
        parse_modifiers(p, type);
        return type;
    case KEYWORD_BIT: {
        bool varying = accept_word(p, KEYWORD_VARYING);
        type = type_new(p, varying ? "varbit" : "bit", at);
        parse_modifiers(p, type);
        if (!varying && type->modifiers.count == 0 && !constant)
            LIST_ADD(p, type->modifiers, literal_integer(p, 1, 0));
        return type;
    }
    case KEYWORD_NATIONAL:
        if (!accept_word(p, KEYWORD_CHARACTER))
            expect_word(p, KEYWORD_CHAR);
        return parse_character(p, at, constant);
    case KEYWORD_CHARACTER: case KEYWORD_CHAR: case KEYWORD_NCHAR:
        return parse_character(p, at, constant);
    case KEYWORD_VARCHAR:
        type = type_new(p, "varchar", at);
        parse_precision(p, type);
        return type;
    case KEYWORD_TIMESTAMP:
    case KEYWORD_TIME:
        type = type_new(p, "", at);
        parse_precision(p, type);
        type->name = parse_time_zone(p) ? (keyword == KEYWORD_TIME ? "timetz" : "timestamptz")
                                        : (keyword == KEYWORD_TIME ? "time" : "timestamp");
        return type;
    default:                             /* INTERVAL */
        type = type_new(p, "interval", at);
        if (next_is(p, '('))
            parse_precision(p, type);
        else if (!constant)
            parse_interval_fields(p, type);
        return type;
    }
}

/* Whether a built-in type's keyword is followed by what makes it a type, not a column of that name. */
bool type_is_ahead(struct parser *p)
{
    const struct token *after = peek_at(p, 1);
    bool literal = after->kind == TOKEN_STRING;

    switch ((int)peek(p)->keyword) {
    case KEYWORD_DOUBLE: case KEYWORD_NATIONAL:
        return after->keyword == KEYWORD_PRECISION || after->keyword == KEYWORD_CHARACTER ||
               after->keyword == KEYWORD_CHAR;
    case KEYWORD_INT: case KEYWORD_INTEGER: case KEYWORD_SMALLINT: case KEYWORD_BIGINT: case KEYWORD_REAL:
    case KEYWORD_BOOLEAN:
        return literal;
    case KEYWORD_FLOAT: case KEYWORD_DECIMAL: case KEYWORD_DEC: case KEYWORD_NUMERIC: case KEYWORD_INTERVAL:
        return literal || after->kind == '(';
    case KEYWORD_BIT: case KEYWORD_CHARACTER: case KEYWORD_CHAR: case KEYWORD_NCHAR: case KEYWORD_VARCHAR:
        return literal || after->kind == '(' || after->keyword == KEYWORD_VARYING;
    case KEYWORD_TIMESTAMP: case KEYWORD_TIME:
        return literal || after->kind == '(' ||
               ((after->keyword == KEYWORD_WITH || after->keyword == KEYWORD_WITHOUT) &&
                peek_at(p, 2)->keyword == KEYWORD_TIME);
    default:
        return false;
    }
}

struct type_name *parse_constant_type(struct parser *p)
{
    struct type_name *type = parse_keyword_type(p, true);
    if (!type) {
        fail_syntax(p);
        type = type_new(p, "", 0);
    }
    return type;
}

struct type_name *parse_type(struct parser *p)
{
    int at = position(p);
    bool setof = accept_word(p, KEYWORD_SETOF);
    struct type_name *type = parse_keyword_type(p, false);

    if (!type) {
        type = arena_new(p->arena, struct type_name);
        type->position = at;
        type->name = "";
        if (!next_is_function_name(p)) {
            fail_syntax(p);
            return type;
        }
        type->name = parse_label(p);
        while (accept(p, '.')) {         /* a catalog in front is dropped: there is one database */
            type->schema = type->name;
            type->name = parse_label(p);
        }
        if (accept(p, '%'))
            syntax_fail_at(p, at, STATUS_FEATURE_NOT_SUPPORTED, "%%TYPE references are not supported");
        parse_modifiers(p, type);
    }
    type->is_setof = setof;
    if (accept_word(p, KEYWORD_ARRAY)) {
        type->dimensions = 1;
        if (accept(p, '[')) {
            expect(p, TOKEN_INTEGER);
            expect(p, ']');
        }
    } else {
        while (accept(p, '[')) {
            if (!next_is(p, ']'))
                expect(p, TOKEN_INTEGER);
            expect(p, ']');
            type->dimensions++;
        }
    }
    return type;
}
