/* engine/plan/explain.h - what the files of EXPLAIN share.
 *
 *     plan --explain.c--> items, in the order of the text --explain_print.c--> lines, or explain_tree.c--> JSON, XML, YAML
 *
 * An item is a node, something said of the node before it, or a title (InitPlan, SubPlan, CTE) of the node that comes next. How deep it
 * stands says whose child it is. */
#ifndef ENGINE_PLAN_EXPLAIN_H
#define ENGINE_PLAN_EXPLAIN_H

#include "engine/exec/exec.h"
#include "engine/plan/query.h"

enum shown_kind { SHOWN_NODE, SHOWN_TEXT, SHOWN_LIST, SHOWN_NUMBER, SHOWN_SIZES, SHOWN_TITLE };
struct size { const char *word, *key; double number; const char *unit; };     /* word in the text, key in JSON */
struct shown {
    enum shown_kind kind;
    int depth;                           /* columns of text to its left */
    const char *key;                     /* NODE: the first words of its line; TITLE: all of it */
    const char *text;                    /* TEXT */
    const char **items; int count;       /* LIST */
    double number; const char *unit;     /* NUMBER; unit is for the text ("kB") */
    struct size sizes[4];                /* SIZES: count of them, on one line of the text */
    struct touched { int64_t hit, read, dirtied, written, records, images, bytes; } own, all;      /* NODE: pages and WAL; all: those of what stands deeper, too */
    const struct plan *plan;             /* NODE: whose costs and counters; NULL: none are shown */
    bool counted;                        /* NODE: it has counters of its own */
};
struct explaining {
    struct arena *arena;
    const struct prepared_plan *plan;
    const struct explain_options *options;
    const struct exec_counters *counters;
    struct shown *items; int count, capacity;
    bool prefix;                         /* several relations: names are qualified */
    const struct plan *subplans[256]; int subplan_count;   /* in the order of their numbers */
    bool initplan[256], shown[256];
    struct { const struct plan *node; const struct scalar *value; } slots[512];   /* outer slots: what fills them, and where that stands */
    int  depth;
    int  indent;                         /* what stands under InitPlan, SubPlan and CTE is two further in */
};

/* ---- explain_expr.c: expressions as SQL, with the names of columns ---- */
void explain_expression(struct explaining *, const struct plan *node, const struct scalar *, struct text_buffer *);
void explain_column(struct explaining *, const struct plan *node, uint16_t column, struct text_buffer *);
void explain_qualified(struct explaining *, const char *alias, const char *name, struct text_buffer *);

/* ---- explain_print.c ---- */
struct actual { double start, total, rows, loops; };
bool   explain_actual(const struct explaining *, const struct shown *, struct actual *out);      /* false: it wasn't run, or has no counters */
bool   explain_reason(const struct explaining *);        /* is said why the plan is serial? */
bool   explain_phases(const struct explaining *);
double explain_leader_us(const struct exec_counters *);
const struct node_counters *explain_counters(const struct explaining *, const struct plan *);
void explain_text(struct explaining *, char ***lines, int *count);
void explain_tree(struct explaining *, char ***lines, int *count);

#endif
