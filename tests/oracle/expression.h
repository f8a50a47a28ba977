/* tests/oracle/expression.h - what generate.c and expression.c share: who can be named, and how much work a place may cost. */
#ifndef TESTS_ORACLE_EXPRESSION_H
#define TESTS_ORACLE_EXPRESSION_H

#include "tests/oracle/generate.h"

struct source { int alias; struct name_and_type columns[10]; int column_count; bool base, has_id; };
struct scope {
    struct source sources[10];
    int count;
    double rows, work;                   /* about how many rows come out, and how many are looked at for all rows outside */
    const struct scope *outer;
};

extern bool lite_understands;            /* the statement being made is for both; else for Crabtree alone */
extern int alias_serial;
extern const struct table *avoided;      /* being changed: SQLite's subqueries would see it half changed */

const struct table *some_table(double most_rows);
void         scope_add(struct scope *, int alias, const struct table *);
struct node *literal(enum sort);
/* NULL when no column of that type can be seen. */
struct node *some_column(enum sort, const struct scope *);
struct node *expression(enum sort, const struct scope *, int depth);
struct node *condition(const struct scope *, int depth);
struct node *comparison(struct node *left, struct node *right);
struct node *compared(const char *operator, struct node *left, struct node *right);
/* The value as one of a type that SQLite doesn't have, where it stays as it is; *back: the same value again. NULL: no such type. */
struct node *disguised(struct node *value, struct node **back);
/* An aggregate over the scope; type of its value. */
struct node *aggregate(enum sort, const struct scope *, int depth);
/* A query with these columns, named c0, c1 ...; order: over all of them. */
struct node *subquery(const enum sort *types, int count, const struct scope *outer, int depth, bool order);
struct node *table_in_from(const struct table *, int alias);

#endif
