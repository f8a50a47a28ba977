/* base/plant.h - wrong-result bugs, planted to show that the oracle finds them.
 *
 *     if (PLANT(LIMIT_OFF_BY_ONE))
 *         l->left++;
 *
 * A server is built with one of them at most (-DCRAB_PLANT=PLANT_LIMIT_OFF_BY_ONE); otherwise each is `false`, and the compiler leaves
 * nothing of it. `make plants` builds each and puts random statements to it until one shows the bug (tests/oracle/plants.sh); a plant
 * that none shows is a hole in the oracle.
 *
 * Each row: name, the file that it stands in, what is broken. */
#ifndef BASE_PLANT_H
#define BASE_PLANT_H

#define PLANTS(X) \
    X(TEXT_NOT_EQUAL,       "engine/types/kernels_compare.c",    "text <= text is false for equals") \
    X(EXTREME_FROM_ZERO,    "engine/types/aggregate_order.c",    "min and max of a batch begin at 0") \
    X(EMPTY_MORSEL_COUNTS,  "engine/types/aggregate_order.c",    "bool_and takes the state of a worker that saw no row for false") \
    X(NULLS_FIRST_LOST,     "engine/types/sort_key.c",           "DESC NULLS FIRST sorts nulls last") \
    X(MATCHES_PAST_TWO,     "engine/exec/hash_probe.c",          "a probe row's third match is left out") \
    X(UNMATCHED_LOST,       "engine/exec/hash_probe.c",          "RIGHT JOIN leaves out unmatched rows of the build side") \
    X(MERGED_ONCE,          "engine/exec/merge_join.c",          "a merge join lets only the first of equal left rows meet the right side's rows of that key") \
    X(LIMIT_OFF_BY_ONE,     "engine/exec/stream.c",              "LIMIT counts one row too few of each batch but the last") \
    X(FILTER_IGNORED,       "engine/exec/aggregate_group.c",     "FILTER is ignored when it leaves few rows of a batch") \
    X(FOLDED_IN_TURN,       "engine/exec/fold_tree.c",           "a worker folds float states one after another, not along the tree") \
    X(DISTINCT_TWICE,       "engine/exec/aggregate_distinct.c",  "DISTINCT aggregates count some values each time they come") \
    X(SPILLED_NULLS,        "engine/exec/aggregate_spill.c",     "groups whose first key is null are lost when they are spilled") \
    X(BOUND_WITHOUT_REST,   "engine/exec/top_n.c",               "top-n leaves out rows whose first columns are the bound's") \
    X(PEERS_CUT,            "engine/exec/window.c",              "a frame of peers ends before the last of more than two") \
    X(SUBQUERY_KEPT,        "engine/exec/subquery.c",            "a correlated subquery answers what it answered for the row before") \
    X(LAST_PAGE_LOST,       "engine/exec/seq_scan.c",            "the last page of a table is left out when workers share the scan") \
    X(ZONES_STALE,          "storage/heap_change.c",             "what is known of a page's values stays when a row of it goes") \
    X(VISIBLE_STALE,        "storage/visibility.c",              "a page's bit of the visibility map stays when a row of it changes: what an index-only scan believes") \
    X(DUPLICATES_LOST,      "engine/plan/planner.c",             "UNION ALL of three parts and more loses duplicates") \
    X(HAVING_BELOW,         "engine/plan/planner.c",             "HAVING without GROUP BY filters the rows below the aggregate") \
    X(NOT_IN_AS_ANTI,       "engine/plan/unnest.c",              "NOT IN (SELECT ...) forgets the nulls") \
    X(ON_AS_WHERE,          "engine/plan/joins.c",               "what a LEFT JOIN's ON says of its left side filters the left side")

enum plant {
    PLANT_NONE,
#define X(name, file, broken) PLANT_##name,
    PLANTS(X)
#undef X
};
#ifndef CRAB_PLANT
#define CRAB_PLANT PLANT_NONE
#endif
#define PLANT(name) (CRAB_PLANT == PLANT_##name)

#endif
