/* parser/parser.h - text to syntax tree, in PostgreSQL's dialect, and expressions back to text.
 *
 *     struct statement_list list;
 *     status = parse_sql(arena, sql, length, &list);
 *     if (status) ... the error record says why, with position ...
 *
 * The text is UTF-8; other bytes are refused (22021). It need not end in NUL. The tree lives in the arena and doesn't
 * point into the text. Nothing here knows a table, a type or a setting: names are only names. */
#ifndef PARSER_PARSER_H
#define PARSER_PARSER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "parser/tree.h"

/* A query string: any number of statements between semicolons; empty ones vanish. All or nothing: a syntax error
 * anywhere fails the whole string, as in PostgreSQL. Fails with SYNTAX, CHARACTER_NOT_IN_REPERTOIRE, TOO_COMPLEX,
 * FEATURE_NOT_SUPPORTED (syntax we know and don't take), ... */
enum status parse_sql(struct arena *, const char *sql, size_t length, struct statement_list *out) MUST_CHECK;

/* One expression and nothing after it: stored DEFAULT and CHECK texts. */
enum status parse_expression(struct arena *, const char *sql, size_t length, struct expr **out) MUST_CHECK;

/* A type name alone: 'int[]'::regtype, format_type's inverse. */
enum status parse_type_name(struct arena *, const char *sql, size_t length, struct type_name **out) MUST_CHECK;

/* A possibly qualified name in a string, as nextval('s.t') and regclass take it: parts are folded, unquoted. */
enum status parse_qualified_name(struct arena *, const char *text, struct relation_name *out) MUST_CHECK;

/* The expression as SQL text, parenthesised and spelled the way PostgreSQL's pg_get_expr prints it, as far as that
 * can be told without types. What it prints parses to the same tree. Subqueries print too. */
char *deparse_expr(struct arena *, const struct expr *);
char *deparse_select(struct arena *, const struct select *);
char *deparse_type(struct arena *, const struct type_name *);
/* The name as SQL text: quoted only where it must be. */
char *quote_identifier(struct arena *, const char *name);
char *quote_literal(struct arena *, const char *text);           /* with its quotes */

/* What PostgreSQL calls a select-list column that has no AS: the column, function or type name, else "?column?". */
const char *tree_column_name(const struct expr *);

/* "SELECT", "CREATE TABLE", "BEGIN": the command tag, without row counts; what errors call the statement. */
const char *statement_tag(const struct statement *);

enum status stack_too_deep(void);                                /* what a walk answers when stack_is_deep(): 54001 "stack depth limit exceeded" */

#endif
