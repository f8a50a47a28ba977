/* tests/oracle/windows.c - window functions at random.
 *
 * What a frame of ROWS holds, and what row_number, lag or first_value say, hangs on the order of equals. So these come only where
 * every source has its id in the window's ORDER BY; elsewhere functions and frames that treat peers alike. */
#include "tests/oracle/windows.h"

#include <string.h>

static struct node *order_item(struct node *value)
{
    bool down = chance(35);
    return node_form(PART, node_text("@1%s NULLS %s", down ? " DESC" : "", chance(50) ? "FIRST" : "LAST"), value, NULL);
}

static bool can_be_total(const struct scope *scope)
{
    for (int i = 0; i < scope->count; i++)
        if (!scope->sources[i].base || !scope->sources[i].has_id)
            return false;
    return true;
}

/* BETWEEN two bounds, the first not after the second. offsets: may they count? */
static const char *frame_bounds(bool offsets)
{
    int first = below(offsets ? 4 : 2), n = below(5), m = below(6);
    static const char *const unbounded = "UNBOUNDED PRECEDING";
    const char *from = first == 0 ? unbounded : first == 1 ? "CURRENT ROW" : first == 2 ? node_text("%d PRECEDING", n) : node_text("%d FOLLOWING", n);
    const char *to;
    switch (below(offsets ? 4 : 2)) {
    case 0: to = "UNBOUNDED FOLLOWING"; break;
    case 1: to = first == 3 ? "UNBOUNDED FOLLOWING" : "CURRENT ROW"; break;
    case 2: to = first == 0 || first == 2 ? node_text("%d PRECEDING", m < n || first == 0 ? m : n) : node_text("%d FOLLOWING", n + m); break;
    default: to = node_text("%d FOLLOWING", n + m);
    }
    return node_text("BETWEEN %s AND %s", from, to);
}

static struct node *frame(bool total, bool one_integer_key)
{
    if (chance(40))
        return node_absent();
    int pick = below(3);
    const char *text;
    if (pick == 0 && total)
        text = node_text(" ROWS %s", frame_bounds(true));
    else if (pick == 1)
        text = node_text(" GROUPS %s", frame_bounds(true));
    else
        text = node_text(" RANGE %s", frame_bounds(one_integer_key));
    if (chance(15))
        text = node_text("%s EXCLUDE %s", text, (const char *[]){"CURRENT ROW", "GROUP", "TIES", "NO OTHERS"}[total ? below(4) : 1 + below(3)]);
    return node_optional(node_form(PART, text, NULL));
}

/* A function whose answer hangs on the order of equals. */
static struct node *order_function(enum sort type, const struct scope *scope)
{
    if (type == INT && chance(40))
        return chance(60) ? node_form(INT, "row_number()", NULL) : node_form(INT, node_text("ntile(%d)", 1 + below(6)), NULL);
    struct node *x = expression(type, scope, 1);
    int n = below(4);
    switch (below(5)) {
    case 0: return node_form(type, node_text(chance(50) ? "lag(@1, %d)" : "lead(@1, %d)", n), x, NULL);
    case 1: return node_form(type, node_text(chance(50) ? "lag(@1, %d, @2)" : "lead(@1, %d, @2)", n), x, literal(type), NULL);
    case 2: return node_form(type, "first_value(@1)", x, NULL);
    case 3: return node_form(type, "last_value(@1)", x, NULL);
    default: return node_form(type, node_text("nth_value(@1, %d)", 1 + n), x, NULL);
    }
}

struct node *window_call(enum sort type, const struct scope *outer_scope)
{
    struct scope here = *outer_scope;
    here.outer = NULL;
    const struct scope *scope = &here;
    bool total = can_be_total(scope) && chance(70), ordered = total || chance(75);
    struct node *call, *partition = node_absent(), *order = node_absent();
    if (chance(50))
        partition = node_optional(node_form(PART, "PARTITION BY @1 ", expression((enum sort)below(TYPES), scope, below(2)), NULL));
    bool one_integer_key = false;
    if (ordered) {
        struct node *keys = node_list(", ", 1);
        enum sort key = chance(50) ? INT : (enum sort)below(TYPES);
        int expressions = total ? below(2) : 1;
        for (int i = 0; i < expressions; i++)
            node_add(keys, order_item(expression(key, scope, 1)));
        for (int i = 0; total && i < scope->count; i++)
            node_add(keys, order_item(node_column(INT, scope->sources[i].alias, "id")));
        one_integer_key = keys->count == 1 && (total || key == INT);
        keys->least = keys->count;
        order = node_form(PART, "ORDER BY @1", keys, NULL);
    }
    bool framed = true;
    if (total && type != BOOL && chance(50)) {
        call = order_function(type, scope);
    } else if (ordered && type == INT && chance(40)) {
        call = node_form(INT, chance(50) ? "rank()" : "dense_rank()", NULL);
        framed = false;
    } else if (ordered && type == REAL && chance(30)) {
        call = node_form(REAL, chance(50) ? "cume_dist()" : "percent_rank()", NULL);
        framed = false;
    } else if (type == INT && chance(30)) {
        call = node_form(INT, "count(*)", NULL);
    } else if (type == BOOL) {
        call = node_lite(node_form(BOOL, "bool_or(@1)", condition(scope, 1), NULL), "max(@1)");
    } else {
        struct node *x = expression(type, scope, 1);
        const char *function = type == TEXT || chance(40) ? chance(50) ? "min(@1)" : "max(@1)" : type == INT ? chance(50) ? "sum(@1)" : "count(@1)" : chance(50) ? "sum(@1)" : "avg(@1)";
        call = node_form(type, function, x, NULL);
        if (chance(15)) {                    /* SQLite 3.40 overlooks a FILTER of min and max over a frame that only shrinks */
            node_add(call, condition(scope, 1));
            call->form = node_text("%s FILTER (WHERE @2)", function);
            call->lite = node_text("%.*s(CASE WHEN @2 THEN @1 END)", (int)strcspn(function, "("), function);
        }
    }
    struct node *bounds = framed && ordered ? frame(total, one_integer_key) : node_absent();
    return node_form(type, "@1 OVER (@2@3@4)", call, partition, order, bounds, NULL);
}
