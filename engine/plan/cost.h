/* engine/plan/cost.h - what work costs in our executor.
 *
 * The settings and their defaults are PostgreSQL's, whose executor takes rows one at a time. Ours takes them a vector at a time: a scan's
 * row or an operator costs a tenth of what it costs there, while going through an index costs the same. So the settings keep
 * their meaning for what they say of disks and of single rows, and the factors below say how much less a row of a vector is.
 * They come from measurements (one unit of cost is about 5 microseconds on the machine they were made on); what matters is how they
 * stand to each other. */
#ifndef ENGINE_PLAN_COST_H
#define ENGINE_PLAN_COST_H

#include "engine/plan/query.h"
#include "engine/settings.h"

/* parts of cpu_tuple_cost, for a row */
#define COST_SCANNED 0.1                 /* handed out by a scan */
#define COST_BUILT   1.0                 /* kept and entered into a join's table */
#define COST_PROBED  0.4                 /* looked up there */
#define COST_SIFTED  0.25                /* … of that, when a filter from the join's build stops it in the scan */
#define COST_JOINED  0.2                 /* made by a join */
#define COST_GROUPED 0.3                 /* given to its group */
#define COST_GROUP   1.5                 /* a group made and handed out */
#define COST_KEPT    0.5                 /* kept for a sort, and handed out */
#define COST_FROM_KEY 0.3                /* made of an index entry alone */
#define COST_FETCHED  4.0                /* fetched for an entry, from the page of the one before */
#define COST_APART   18.0                /* … more, when it lies anywhere: nothing of it is in the processor's caches */
/* parts of cpu_operator_cost */
#define COST_OPERATOR 0.1                /* computed for a row of a vector */
#define COST_COMPARE  0.3                /* two rows compared by a sort */
/* A page that is surely in the pool costs this part of what one from the disk does. */
#define COST_CACHED 0.02

static inline double cost_rows(const struct planner *p, double rows, double part) { return rows * part * p->settings->cpu_tuple_cost; }
static inline double cost_operators(const struct planner *p, double rows, double count) { return rows * count * COST_OPERATOR * p->settings->cpu_operator_cost; }
/* How many operators an expression is, in the weight of a simple one. */
double scalar_weight(struct planner *, const struct scalar *);
double scalars_weight(struct planner *, const struct scalars *);
/* The part of page costs that a relation of so many pages pays: 1 when nothing of it is in the pool, COST_CACHED when all may be. */
double page_part(struct planner *, double pages);

#endif
