/* engine/plan/joins.h - what the files of the join planner share.
 *
 *     FROM and WHERE --joins.c--> struct problem --join_order.c, join_merge.c--> struct path --join_build.c--> plan nodes
 *
 * A query's FROM is broken into a `problem`: items (relations, or subtrees that must stay together) and conditions.
 * Inner joins dissolve into items. A LEFT, SEMI or ANTI join becomes a *special* item: its right side, with the set of
 * items that must already be there before it can be joined (those its ON mentions, and theirs). A RIGHT join is turned
 * round first; a FULL join is an item planned on its own; so is a right side of several relations. Sets of items are bit masks. */
#ifndef ENGINE_PLAN_JOINS_H
#define ENGINE_PLAN_JOINS_H

#include "engine/plan/query.h"

#define ITEMS_MAX 128

__extension__ typedef unsigned __int128 itemset;
#define BIT(i) ((itemset)1 << (i))
static inline itemset items_below(uint32_t n) { return n >= ITEMS_MAX ? ~(itemset)0 : BIT(n) - 1; }
static inline bool is_one(itemset s) { return s && !(s & (s - 1)); }
static inline int first_item(itemset s) { return (uint64_t)s ? __builtin_ctzll((uint64_t)s) : 64 + __builtin_ctzll((uint64_t)(s >> 64)); }

/* A condition, and which items it mentions. An equality of one side with the other has both. */
struct judged {
    struct scalar *s;
    itemset mask, left, right;
    bool equal;                          /* s is l = r, on types that can be hashed, with different items on its sides */
    struct scalar *l, *r;
    double selectivity;                  /* of an inner join by it; below 0: not asked yet */
    int class;                           /* the equivalence that says it, -1 none */
};
struct judgeds { uint32_t count, capacity; struct judged *items; };

/* Columns that are equal in every row of the result, by inner joins' equalities. Wherever two sets of items that have members
 * meet, one equality of a member of each is judged; so within any set all its members are equal. */
struct equivalence {
    uint32_t count, capacity;
    struct member { struct scalar *s; int item; } *members;
    itemset mask;
    struct judged **clauses;             /* [i * count + k]: member i = member k; the query's own, or made when needed */
};

struct item {
    struct rel *rel;                     /* a relation, or NULL: */
    struct plan *plan;                   /* planned already (subquery, FULL join, composite), with */
    struct layout layout;
    struct frame *frame;                 /* … slots that its left side fills (LATERAL) */
    struct scalars filters;              /* conditions on it alone */
    enum plan_join join;                 /* INNER, or the special join that brings it in */
    struct judgeds on;                   /* special: the join's conditions */
    itemset needs;                       /* special, lateral: what must stand on its left */
    bool lateral;
    struct access access;                /* of a table */
    double rows, startup, total, width;
};

enum method { METHOD_HASH, METHOD_LOOP, METHOD_INDEX_LOOP, METHOD_MERGE };
/* How a merge join comes to its order: by these keys, which say the same in pairs. */
struct merge_way {
    uint32_t count; struct scalar **left, **right;
    bool sort[2];                        /* the left, the right side is sorted for it … */
    struct access *access[2];            /* … or is a table and read like this; neither: it has the order */
};
struct path {
    itemset set;
    double rows, startup, total, width;
    int item;                            /* a leaf: its number; -1 a join */
    struct path *left, *right;           /* the plan's sides: a hash join builds the right one */
    enum method method;
    bool swapped;                        /* the special item stands on the left: LEFT join run as RIGHT, SEMI as RIGHT SEMI … */
    struct access inner;                 /* INDEX_LOOP */
    struct merge_way *merge;             /* MERGE */
    enum plan_join join;                 /* as the query has it */
    int special;                         /* item that this join brings in, or -1 */
};
struct problem {
    struct planner *p;
    struct query *q;
    uint32_t count, capacity;
    struct item *items;
    struct judgeds conditions;           /* of WHERE and inner ONs, but for those that the equivalences say */
    uint32_t class_count; struct equivalence *classes;
    int8_t *item_of;                     /* by rel id, -1: not of this problem */
    int driver;                          /* the item whose order the result is to have: it stays leftmost; -1 none */
    double fraction;                     /* of the result that will be read, when there is a driver */
    uint16_t rel_span;
    uint32_t tries;                      /* joins looked at */
    struct judged **crossing, **on; bool *used;     /* join_order.c: room for what one join judges, and for its keys if it is a merge join */
    struct scalar **merge_left, **merge_right;
};

static inline bool join_left_only(enum plan_join join) { return join == PLAN_SEMI || join == PLAN_ANTI || join == PLAN_ANTI_NULL; }

/* ---- joins.c ---- */
itemset mask_of(const struct problem *, const struct scalar *);
bool is_equality(const struct scalar *);
bool is_inequality(const struct scalar *);
struct judged judged_of(const struct problem *, struct scalar *);
void judged_add(struct problem *, struct judgeds *, struct scalar *);
/* The sides of an equality, turned so that the first is of l and the second of r; false when they aren't. */
bool equal_sides(const struct judged *, itemset l, itemset r, struct scalar **left, struct scalar **right);
void leaf_cost(struct problem *, struct item *, const struct wish *);

/* ---- equivalence.c ---- */
void spread_constants(struct problem *);
void equivalences_make(struct problem *);
/* Conditions that a join of the two sides judges: those of WHERE that become known here, one for each class that both have. A
 * special's own ON comes besides. `list` has room for all conditions and classes. */
uint32_t crossing(struct problem *, itemset l, itemset r, struct judged **list);
bool connected(const struct problem *, itemset l, itemset r);

/* ---- join_order.c ---- */
struct path *leaf_path(struct problem *, int item);
/* The cheapest path over all items; NULL: no order satisfies the FROM clause. */
struct path *join_order(struct problem *);
/* The same, where the wished order or a LIMIT may make another one the best. */
struct path *join_order_for(struct problem *, struct path *, struct wish *);

/* ---- join_merge.c ---- */
/* The sides of an equality as a merge join compares them: of one type that has an order. */
enum status merge_key(struct planner *, const struct judged *, itemset l, itemset r, struct scalar **left, struct scalar **right, bool *ok) MUST_CHECK;
/* Makes path, whose sides are there, a merge join by the equalities among `on`; made: what its rows cost. False when it can't be one, or when it
 * surely costs more than give_up. */
bool merge_cost(struct problem *, struct judged *const *on, uint32_t on_count, double made, double give_up, struct path *);
bool path_gives_order(const struct path *, const struct wish *);
/* A sort by the keys on the plan; the layout grows where they had to be computed. */
enum status merge_sort(struct planner *, struct plan **, struct layout *, struct scalar *const *keys, uint32_t count) MUST_CHECK;
/* A FULL hash join becomes a merge join, if that is cheaper. */
enum status merge_full(struct planner *, struct plan *join, struct layout layouts[2], struct scalar *const *left_keys, struct scalar *const *right_keys) MUST_CHECK;

/* ---- join_build.c ---- */
enum status filter_node(struct planner *, struct plan *child, const struct layout *, const struct scalars *conditions, double rows, struct plan **out) MUST_CHECK;
struct layout layout_of_both(struct planner *, const struct layout *left, const struct layout *right);
/* Adds what an expression reads of the set's items. */
void wanted_in(struct problem *, const struct scalar *, itemset set, struct scalars *list);
enum status join_build(struct problem *, struct path *, const struct scalars *wanted, struct plan **out, struct layout *) MUST_CHECK;

#endif
