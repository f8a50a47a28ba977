/* tests/oracle/tree.h - statements as trees, so that they can be written for two systems and cut smaller.
 *
 * A node is a form with holes (@1 to @9: its children), a list of children with something between them, a literal, a column, or
 * what stands in FROM. One tree gives three texts: Crabtree's, SQLite's (where a node has a second form for it), and Crabtree's
 * with $1, $2 ... for the literals. */
#ifndef TESTS_ORACLE_TREE_H
#define TESTS_ORACLE_TREE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a node is: only one of the same sort may take its place. INT to BOOL are the types of expressions. */
enum sort { INT, REAL, TEXT, BOOL, TYPES, QUERY = TYPES, SOURCE, PART };
enum kind { FORM, LIST, LITERAL, COLUMN, TABLE, DERIVED, JOIN, ABSENT };
enum join { INNER_JOIN, LEFT_JOIN, RIGHT_JOIN, FULL_JOIN, CROSS_JOIN, COMMA_JOIN };

struct name_and_type { char name[16]; enum sort type; };

struct node {
    enum sort sort;
    enum kind kind;
    bool optional;                       /* PART: may be left away altogether */
    bool nested;                         /* JOIN: in parentheses */
    bool frozen;                         /* what is below can't change by itself: its two forms say the same only as they are */
    bool open;                           /* JOIN, while it is written for SQLite: names inside it are its own */
    const char *form, *lite;             /* FORM; LIST: what stands between; LITERAL: the value; TABLE: its name; COLUMN: its name */
    int alias;                           /* COLUMN: whose; TABLE, DERIVED: its own; JOIN: SQLite's name for it */
    enum join join;                      /* JOIN: kids are left, right and, for most, a PART with ON or USING */
    struct name_and_type columns[10]; int column_count;   /* TABLE, DERIVED */
    struct node **kids; int count, least;                 /* LIST: as few kids as it can have */
};

/* ---- Text that grows ---- */
struct text { char *bytes; size_t length, room; };
void  text_add(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void  text_clear(struct text *);

/* ---- Chance: a function of the seed alone (splitmix64) ---- */
void     chance_seed(uint64_t seed, uint64_t round, uint64_t statement);
int      below(int n);
bool     chance(int percent);

/* ---- Nodes: memory that ends with the statement ---- */
void         nodes_end(void);
char        *node_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* NULL ends the children. */
struct node *node_form(enum sort, const char *form, ...) __attribute__((sentinel));
struct node *node_lite(struct node *, const char *lite);
struct node *node_list(const char *between, int least);
void         node_add(struct node *list, struct node *kid);
struct node *node_literal(enum sort, const char *value);          /* NULL: the null value */
struct node *node_column(enum sort, int alias, const char *name);
struct node *node_optional(struct node *);
struct node *node_absent(void);
struct node *node_copy(const struct node *);

/* ---- Writing ---- */
struct parameters { int count; enum sort types[100]; const char *values[100]; const struct node *nodes[100]; };
enum dialect { CRABTREE, SQLITE };
/* parameters: NULL, or where the literals go. */
char *node_write(struct node *, enum dialect, struct parameters *);

#endif
