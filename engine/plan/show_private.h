/* engine/plan/show_private.h - what show.c and show_query.c share. */
#ifndef ENGINE_PLAN_SHOW_PRIVATE_H
#define ENGINE_PLAN_SHOW_PRIVATE_H

#include "engine/plan/query.h"
#include "engine/plan/show.h"
#include "parser/keyword.h"

/* What an expression stands under, as far as parentheses hang on it. */
enum show_parent { UNDER_NOTHING, UNDER_CALL, UNDER_OPERATOR, UNDER_AND, UNDER_OR, UNDER_NOT, UNDER_TEST, UNDER_CAST };

struct show {
    struct planner *p;
    struct scope *scope;
    struct text_buffer *out;
    bool pretty, indenting, qualify;     /* qualify: columns with their table's name */
    int  indent;
    struct shown_name { uint16_t rel; const char *name; } *names;    /* relations that are not called by their alias */
    uint16_t name_count, name_capacity;
};

struct sql_type show_type(struct show *, const struct expr *);
void show_expr(struct show *, const struct expr *);
void show_under(struct show *, const struct expr *, enum show_parent);
/* As a value of type want (oid; 0: whatever it is). */
void show_wanted(struct show *, const struct expr *, uint32_t want, enum show_parent);
/* What a relation is called in the text: t_1 where a query around has a t of its own. */
const char *show_rel_name(const struct show *, const struct rel *);
void show_window(struct show *, const struct window_definition *);
char *show_function_name(struct arena *, const char *);
/* show_query.c */
void show_subselect(struct show *, const struct select *);
/* targets: of the query whose ORDER BY it is, for names and numbers that mean one of them; else NULL. */
void show_sort(struct show *, const struct sort_list *, const struct select *targets);
/* On a new line when indenting: `before` changes the indentation first, `after` then; `plus` is for this line alone. */
void show_keyword(struct show *, const char *, int before, int after, int plus);

#endif
