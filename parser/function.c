/* parser/function.c - calls: the plain f(a, b) with all that may hang on it, and the ones SQL gives a syntax of
 * their own. Those become calls of the pg_catalog function that does the work, with its order of arguments and
 * sql_syntax set, so that the engine knows one form and the deparser still prints the other. */
#include "parser/internal.h"

#include <string.h>

static void parse_argument(struct parser *p, struct expr *call)
{
    const struct token *after = peek_at(p, 1);
    bool named = token_is_label(peek(p)) && (after->kind == TOKEN_ARROW || after->kind == TOKEN_COLON_EQUALS);
    struct expr_list *arguments = &call->function.arguments;
    char **names = call->function.argument_names;

    if ((named || names) && arguments->count >= 100)
        syntax_fail_at(p, position(p), STATUS_LIMIT_EXCEEDED, "cannot pass more than 100 arguments to a function");
    if (named || names) {                /* the array of names lives beside the arguments once one is named */
        char **grown = arena_array(p->arena, char *, arguments->count + 1);
        if (names)
            memcpy(grown, names, (size_t)arguments->count * sizeof *names);
        call->function.argument_names = grown;
    }
    if (named) {
        if (!next_is_function_name(p))
            fail_syntax(p);
        call->function.argument_names[arguments->count] = parse_label(p);
        advance(p);
    } else if (names) {
        syntax_fail_at(p, position(p), STATUS_SYNTAX, "positional argument cannot follow named argument");
    }
    LIST_ADD(p, *arguments, parse_expr(p));
}

struct window_definition *parse_window(struct parser *p)
{
    struct window_definition *window = arena_new(p->arena, struct window_definition);

    window->position = position(p);
    expect(p, '(');
    if (next_is_column_name(p) && !next_is_word(p, KEYWORD_PARTITION) && !next_is_word(p, KEYWORD_RANGE) &&
        !next_is_word(p, KEYWORD_ROWS) && !next_is_word(p, KEYWORD_GROUPS))
        window->refers_to = parse_name(p);
    if (accept_word(p, KEYWORD_PARTITION)) {
        expect_word(p, KEYWORD_BY);
        parse_exprs(p, &window->partition_by);
    }
    if (accept_word(p, KEYWORD_ORDER)) {
        expect_word(p, KEYWORD_BY);
        parse_sort(p, &window->order_by);
    }
    if (next_is_word(p, KEYWORD_RANGE) || next_is_word(p, KEYWORD_ROWS) || next_is_word(p, KEYWORD_GROUPS)) {
        window->has_frame = true;
        window->mode = next_is_word(p, KEYWORD_RANGE)  ? FRAME_RANGE
                       : next_is_word(p, KEYWORD_ROWS) ? FRAME_ROWS
                                                       : FRAME_GROUPS;
        advance(p);
        bool between = accept_word(p, KEYWORD_BETWEEN);
        window->end = BOUND_CURRENT_ROW;
        for (int i = 0; i < (between ? 2 : 1); i++) {
            enum frame_bound bound;
            struct expr *offset = NULL;
            if (i == 1)
                expect_word(p, KEYWORD_AND);
            int at = position(p);
            if (next_is_word(p, KEYWORD_UNBOUNDED) &&
                (after_is_word(p, KEYWORD_PRECEDING) || after_is_word(p, KEYWORD_FOLLOWING))) {
                advance(p);
                bound = next_is_word(p, KEYWORD_PRECEDING) ? BOUND_UNBOUNDED_PRECEDING : BOUND_UNBOUNDED_FOLLOWING;
                advance(p);
            } else if (accept_words(p, KEYWORD_CURRENT, KEYWORD_ROW)) {
                bound = BOUND_CURRENT_ROW;
            } else {
                offset = parse_expr(p);
                bound = next_is_word(p, KEYWORD_PRECEDING) ? BOUND_PRECEDING : BOUND_FOLLOWING;
                if (!accept_word(p, KEYWORD_PRECEDING))
                    expect_word(p, KEYWORD_FOLLOWING);
            }
            if (i == 0) {
                window->start = bound;
                window->start_offset = offset;
                if (bound == BOUND_UNBOUNDED_FOLLOWING)
                    syntax_fail_at(p, at, STATUS_WINDOWING, "frame start cannot be UNBOUNDED FOLLOWING");
                if (!between && bound == BOUND_FOLLOWING)
                    syntax_fail_at(p, at, STATUS_WINDOWING, "frame starting from following row cannot end with current row");
            } else {
                window->end = bound;
                window->end_offset = offset;
                if (bound == BOUND_UNBOUNDED_PRECEDING)
                    syntax_fail_at(p, at, STATUS_WINDOWING, "frame end cannot be UNBOUNDED PRECEDING");
                if (window->start == BOUND_CURRENT_ROW && bound == BOUND_PRECEDING)
                    syntax_fail_at(p, at, STATUS_WINDOWING, "frame starting from current row cannot have preceding rows");
                if (window->start == BOUND_FOLLOWING && (bound == BOUND_PRECEDING || bound == BOUND_CURRENT_ROW))
                    syntax_fail_at(p, at, STATUS_WINDOWING, "frame starting from following row cannot have preceding rows");
            }
        }
        if (accept_word(p, KEYWORD_EXCLUDE)) {
            if (accept_words(p, KEYWORD_CURRENT, KEYWORD_ROW))
                window->exclusion = EXCLUDE_CURRENT_ROW;
            else if (accept_word(p, KEYWORD_GROUP))
                window->exclusion = EXCLUDE_GROUP;
            else if (accept_word(p, KEYWORD_TIES))
                window->exclusion = EXCLUDE_TIES;
            else {
                expect_word(p, KEYWORD_NO);
                expect_word(p, KEYWORD_OTHERS);
            }
        }
    }
    expect(p, ')');
    return window;
}

void parse_sort(struct parser *p, struct sort_list *list)
{
    do {
        struct sort_key *key = arena_new(p->arena, struct sort_key);
        key->position = position(p);
        key->expr = parse_expr(p);
        if (accept_word(p, KEYWORD_USING)) {
            key->direction = SORT_USING;
            parse_operator(p, &key->using_schema, &key->using_operator);
        } else if (accept_word(p, KEYWORD_ASC)) {
            key->direction = SORT_ASC;
        } else if (accept_word(p, KEYWORD_DESC)) {
            key->direction = SORT_DESC;
        }
        if (accept_words(p, KEYWORD_NULLS, KEYWORD_FIRST))
            key->nulls = NULLS_FIRST;
        else if (accept_words(p, KEYWORD_NULLS, KEYWORD_LAST))
            key->nulls = NULLS_LAST;
        LIST_ADD(p, *list, key);
    } while (accept(p, ','));
}

/* WITHIN GROUP, FILTER and OVER after a call. */
static void parse_call_tail(struct parser *p, struct expr *call)
{
    if (accept_words(p, KEYWORD_WITHIN, KEYWORD_GROUP)) {
        int at = position(p);
        if (call->function.order_by.count)
            syntax_fail_at(p, at, STATUS_SYNTAX, "cannot use multiple ORDER BY clauses with WITHIN GROUP");
        if (call->function.distinct)
            syntax_fail_at(p, at, STATUS_SYNTAX, "cannot use DISTINCT with WITHIN GROUP");
        if (call->function.variadic)
            syntax_fail_at(p, at, STATUS_SYNTAX, "cannot use VARIADIC with WITHIN GROUP");
        call->function.within_group = true;
        expect(p, '(');
        expect_word(p, KEYWORD_ORDER);
        expect_word(p, KEYWORD_BY);
        parse_sort(p, &call->function.order_by);
        expect(p, ')');
    }
    if (next_is_word(p, KEYWORD_FILTER) && peek_at(p, 1)->kind == '(') {
        advance(p);
        advance(p);
        expect_word(p, KEYWORD_WHERE);
        call->function.filter = parse_expr(p);
        expect(p, ')');
    }
    if (accept_word(p, KEYWORD_OVER)) {
        if (next_is(p, '(')) {
            call->function.over = parse_window(p);
        } else {
            struct window_definition *window = arena_new(p->arena, struct window_definition);
            window->position = position(p);
            window->refers_to = parse_name(p);
            window->is_reference = true;
            call->function.over = window;
        }
    }
}

struct expr *parse_call(struct parser *p, char *schema, char *name, int position)
{
    struct expr *call = expr_new(p, EXPR_FUNCTION, position);

    call->function.schema = schema;
    call->function.name = name;
    expect(p, '(');
    if (next_is(p, '*')) {
        advance(p);
        call->function.star = true;
    } else if (!next_is(p, ')')) {
        if (accept_word(p, KEYWORD_DISTINCT))
            call->function.distinct = true;
        else
            accept_word(p, KEYWORD_ALL);
        do {
            if (accept_word(p, KEYWORD_VARIADIC))
                call->function.variadic = true;
            parse_argument(p, call);
        } while (!call->function.variadic && accept(p, ','));
        if (accept_word(p, KEYWORD_ORDER)) {
            expect_word(p, KEYWORD_BY);
            parse_sort(p, &call->function.order_by);
        }
    }
    expect(p, ')');
    parse_call_tail(p, call);
    return call;
}

/* ---- calls with a syntax of their own ---- */

static struct expr *call_new(struct parser *p, const char *name, int position)
{
    struct expr *call = expr_new(p, EXPR_FUNCTION, position);
    call->function.schema = "pg_catalog";
    call->function.name = (char *)name;
    call->function.sql_syntax = true;
    return call;
}

static void add_argument(struct parser *p, struct expr *call, struct expr *argument)
{
    LIST_ADD(p, call->function.arguments, argument);
}

/* EXTRACT(field FROM source), behind its parenthesis. */
static struct expr *parse_extract(struct parser *p, int at)
{
    struct expr *call = call_new(p, "extract", at);
    int field_at = position(p);

    switch ((int)peek(p)->keyword) {
    case KEYWORD_YEAR: case KEYWORD_MONTH: case KEYWORD_DAY: case KEYWORD_HOUR: case KEYWORD_MINUTE:
    case KEYWORD_SECOND:
        break;
    default:
        if (!next_is(p, TOKEN_STRING) && !next_is(p, TOKEN_IDENTIFIER))
            fail_syntax(p);
    }
    char *field = failed(p) ? "" : peek(p)->text;
    advance(p);
    add_argument(p, call, literal_string(p, field, field_at));
    expect_word(p, KEYWORD_FROM);
    add_argument(p, call, parse_expr(p));
    return call;
}

static struct expr *parse_overlay(struct parser *p, int at)
{
    struct expr *call = call_new(p, "overlay", at);

    add_argument(p, call, parse_expr(p));
    if (accept_word(p, KEYWORD_PLACING)) {
        add_argument(p, call, parse_expr(p));
        expect_word(p, KEYWORD_FROM);
        add_argument(p, call, parse_expr(p));
        if (accept_word(p, KEYWORD_FOR))
            add_argument(p, call, parse_expr(p));
    } else {
        call->function.sql_syntax = false;
        while (accept(p, ','))
            add_argument(p, call, parse_expr(p));
    }
    return call;
}

static struct expr *parse_position(struct parser *p, int at)
{
    struct expr *call = call_new(p, "position", at);
    struct expr *needle = parse_restricted_expr(p);

    expect_word(p, KEYWORD_IN);
    add_argument(p, call, parse_restricted_expr(p));
    add_argument(p, call, needle);
    return call;
}

static struct expr *parse_substring(struct parser *p, int at)
{
    struct expr *call = call_new(p, "substring", at);

    if (next_is(p, ')')) {
        call->function.sql_syntax = false;
        return call;
    }
    add_argument(p, call, parse_expr(p));
    if (accept_word(p, KEYWORD_FROM)) {
        add_argument(p, call, parse_expr(p));
        if (accept_word(p, KEYWORD_FOR))
            add_argument(p, call, parse_expr(p));
    } else if (accept_word(p, KEYWORD_FOR)) {
        struct expr *count = parse_expr(p);
        if (accept_word(p, KEYWORD_FROM)) {
            add_argument(p, call, parse_expr(p));
        } else {
            add_argument(p, call, literal_integer(p, 1, 0));
            struct expr *cast = expr_new(p, EXPR_CAST, 0);   /* a number here, whatever else substring() takes */
            cast->cast.operand = count;
            cast->cast.type = arena_new(p->arena, struct type_name);
            cast->cast.type->schema = "pg_catalog";
            cast->cast.type->name = "int4";
            count = cast;
        }
        add_argument(p, call, count);
    } else if (accept_word(p, KEYWORD_SIMILAR)) {
        add_argument(p, call, parse_expr(p));
        expect_word(p, KEYWORD_ESCAPE);
        add_argument(p, call, parse_expr(p));
    } else {
        call->function.sql_syntax = false;
        while (accept(p, ','))
            add_argument(p, call, parse_expr(p));
    }
    return call;
}

static struct expr *parse_trim(struct parser *p, int at)
{
    const char *name = "btrim";

    if (accept_word(p, KEYWORD_LEADING))
        name = "ltrim";
    else if (accept_word(p, KEYWORD_TRAILING))
        name = "rtrim";
    else
        accept_word(p, KEYWORD_BOTH);

    struct expr *call = call_new(p, name, at);
    if (accept_word(p, KEYWORD_FROM)) {
        parse_exprs(p, &call->function.arguments);
        return call;
    }
    struct expr *first = parse_expr(p);
    if (accept_word(p, KEYWORD_FROM)) {
        parse_exprs(p, &call->function.arguments);
        add_argument(p, call, first);
        return call;
    }
    add_argument(p, call, first);
    while (accept(p, ','))
        add_argument(p, call, parse_expr(p));
    return call;
}

static struct expr *parse_normalize(struct parser *p, int at)
{
    struct expr *call = call_new(p, "normalize", at);
    add_argument(p, call, parse_expr(p));
    if (accept(p, ',')) {
        int form_at = position(p);
        char *form = parse_label(p);
        add_argument(p, call, literal_string(p, form, form_at));
    }
    return call;
}

/* CURRENT_TIMESTAMP and its kin. */
static struct expr *parse_sql_value(struct parser *p, enum sql_value value, bool takes_precision)
{
    struct expr *expr = expr_new(p, EXPR_SQL_VALUE, position(p));
    advance(p);
    expr->sql_value.value = value;
    expr->sql_value.precision = -1;
    if (takes_precision && accept(p, '(')) {
        if (next_is(p, TOKEN_INTEGER) && peek(p)->integer <= INT32_MAX)
            expr->sql_value.precision = (int)peek(p)->integer;
        expect(p, TOKEN_INTEGER);
        expect(p, ')');
    }
    return expr;
}

static struct expr *parse_list_form(struct parser *p, enum expr_kind kind, int at)
{
    struct expr *expr = expr_new(p, kind, at);
    parse_exprs(p, &expr->list);
    if (kind == EXPR_NULLIF && expr->list.count != 2)
        fail_syntax(p);
    return expr;
}

/* Whatever starts with a keyword that has a syntax of its own; NULL, with nothing consumed, if none does. */
struct expr *parse_special(struct parser *p)
{
    int at = position(p);
    enum keyword keyword = peek(p)->keyword;
    bool call = peek_at(p, 1)->kind == '(';
    struct expr *expr;

    switch ((int)keyword) {
    case KEYWORD_CURRENT_DATE: return parse_sql_value(p, SQL_CURRENT_DATE, false);
    case KEYWORD_CURRENT_TIME: return parse_sql_value(p, SQL_CURRENT_TIME, true);
    case KEYWORD_CURRENT_TIMESTAMP: return parse_sql_value(p, SQL_CURRENT_TIMESTAMP, true);
    case KEYWORD_LOCALTIME: return parse_sql_value(p, SQL_LOCALTIME, true);
    case KEYWORD_LOCALTIMESTAMP: return parse_sql_value(p, SQL_LOCALTIMESTAMP, true);
    case KEYWORD_CURRENT_ROLE: return parse_sql_value(p, SQL_CURRENT_ROLE, false);
    case KEYWORD_CURRENT_USER: return parse_sql_value(p, SQL_CURRENT_USER, false);
    case KEYWORD_SESSION_USER: return parse_sql_value(p, SQL_SESSION_USER, false);
    case KEYWORD_USER: return parse_sql_value(p, SQL_USER, false);
    case KEYWORD_CURRENT_CATALOG: return parse_sql_value(p, SQL_CURRENT_CATALOG, false);
    case KEYWORD_CURRENT_SCHEMA:
        return call ? NULL : parse_sql_value(p, SQL_CURRENT_SCHEMA, false);
    case KEYWORD_COLLATION:
        if (!after_is_word(p, KEYWORD_FOR))
            return NULL;
        advance(p);
        advance(p);
        expect(p, '(');
        expr = call_new(p, "pg_collation_for", at);
        add_argument(p, expr, parse_expr(p));
        expect(p, ')');
        return expr;
    case KEYWORD_CAST:
        advance(p);
        expect(p, '(');
        expr = expr_new(p, EXPR_CAST, at);
        expr->cast.operand = parse_expr(p);
        expect_word(p, KEYWORD_AS);
        expr->cast.type = parse_type(p);
        expect(p, ')');
        return expr;
    case KEYWORD_COALESCE: case KEYWORD_GREATEST: case KEYWORD_LEAST: case KEYWORD_NULLIF: case KEYWORD_GROUPING:
    case KEYWORD_EXTRACT: case KEYWORD_OVERLAY: case KEYWORD_POSITION: case KEYWORD_SUBSTRING: case KEYWORD_TRIM:
    case KEYWORD_NORMALIZE: case KEYWORD_TREAT: case KEYWORD_XMLCONCAT: case KEYWORD_XMLELEMENT:
    case KEYWORD_XMLEXISTS: case KEYWORD_XMLFOREST: case KEYWORD_XMLPARSE: case KEYWORD_XMLPI: case KEYWORD_XMLROOT:
    case KEYWORD_XMLSERIALIZE: case KEYWORD_XMLTABLE:
        if (!call)
            return NULL;
        break;
    default:
        return NULL;
    }
    advance(p);
    advance(p);
    switch ((int)keyword) {
    case KEYWORD_COALESCE: expr = parse_list_form(p, EXPR_COALESCE, at); break;
    case KEYWORD_GREATEST: expr = parse_list_form(p, EXPR_GREATEST, at); break;
    case KEYWORD_LEAST: expr = parse_list_form(p, EXPR_LEAST, at); break;
    case KEYWORD_NULLIF: expr = parse_list_form(p, EXPR_NULLIF, at); break;
    case KEYWORD_GROUPING: expr = parse_list_form(p, EXPR_GROUPING, at); break;
    case KEYWORD_EXTRACT: expr = parse_extract(p, at); break;
    case KEYWORD_OVERLAY: expr = parse_overlay(p, at); break;
    case KEYWORD_POSITION: expr = parse_position(p, at); break;
    case KEYWORD_SUBSTRING: expr = parse_substring(p, at); break;
    case KEYWORD_TRIM: expr = parse_trim(p, at); break;
    case KEYWORD_NORMALIZE: expr = parse_normalize(p, at); break;
    default:
        syntax_fail_at(p, at, STATUS_FEATURE_NOT_SUPPORTED, "%s is not supported", keyword_table[keyword].text);
        return expr_new(p, EXPR_LITERAL, at);
    }
    expect(p, ')');
    if (expr->kind == EXPR_FUNCTION)
        parse_call_tail(p, expr);
    return expr;
}
