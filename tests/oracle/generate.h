/* tests/oracle/generate.h - schemas, rows, changes and queries at random; each a function of the seed.
 *
 *     chance_seed(seed, round, 0);  schema_make();          tables and rows
 *     chance_seed(seed, round, n);  query_make(&statement)  one more
 *
 * What is made is typed as Crabtree wants it, so nothing hangs on SQLite's loose types. Floats that conditions or orders look at are
 * multiples of a quarter: their sums are exact in any order. Column f isn't; it is only ever summed, at the top. */
#ifndef TESTS_ORACLE_GENERATE_H
#define TESTS_ORACLE_GENERATE_H

#include "tests/oracle/tree.h"

struct table {
    char name[8];
    struct name_and_type columns[7];     /* f isn't among them */
    int column_count;
    int rows;                            /* at first */
    bool has_id, primary;                /* the first column is id, unique; and the primary key */
    int padding;                         /* bytes of a column pad that only Crabtree has, so that few rows fill many pages */
    int next_id;
    struct text create, lite_create;
    struct text inserts;                 /* whole statements, each ended by a NUL, for both */
    int insert_count;
    struct text indexes[4]; int index_count;
};
#define TABLES 6                         /* five, and the one that WITH makes */
#define VIEWS 2
extern struct table tables[TABLES], views[VIEWS];
extern int table_count, view_count;

struct statement {
    struct node *tree;
    bool common;                         /* SQLite understands it */
    bool ordered;                        /* the order of its rows is total */
    bool determined;                     /* the rows hang on SQL alone; else on the plan, too (LIMIT without a total order) */
    const struct table *changes;         /* a change: of which table */
};

void schema_make(void);
void schema_free(void);
void views_make(void);                   /* over the tables; schema_make's */
void query_make(struct statement *);
/* SELECT list FROM ...: kids are the list, FROM, and a condition for ternary partitioning. */
void partition_make(struct statement *);
void change_make(struct statement *);

#endif
