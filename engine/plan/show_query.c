/* engine/plan/show_query.c - see show.h: queries, laid out over lines as PostgreSQL's views are. */
#include "engine/plan/show_private.h"

#include <string.h>

#define STEP 8                           /* how far a query's clauses stand in */
#define INDENT_MAX 40

static void show_select(struct show *, const struct select *, const char *const *names, bool sub);

/* ---------------------------------------------------------------- lines */

static void trim_spaces(struct text_buffer *out)
{
    while (out->length && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = 0;
}

void show_keyword(struct show *x, const char *word, int before, int after, int plus)
{
    if (!x->indenting) {
        text_buffer_puts(x->out, word);
        return;
    }
    x->indent += before;
    trim_spaces(x->out);
    int amount = x->indent < INDENT_MAX ? (x->indent > 0 ? x->indent : 0) : (INDENT_MAX + (x->indent - INDENT_MAX) / (STEP / 2)) % INDENT_MAX;
    text_buffer_printf(x->out, "\n%*s%s", amount + plus, "", word);
    x->indent += after;
    if (x->indent < 0)
        x->indent = 0;
}

/* What print() prints, in a buffer of its own. */
struct piece { struct text_buffer text; struct text_buffer *whole; };
static void piece_open(struct show *x, struct piece *piece)
{
    text_buffer_open(&piece->text, x->p->arena);
    text_buffer_puts(&piece->text, "");
    piece->whole = x->out;
    x->out = &piece->text;
}
static const char *piece_close(struct show *x, struct piece *piece)
{
    x->out = piece->whole;
    return piece->text.bytes ? piece->text.bytes : "";
}

/* Each list item stands on a line of its own, unless it is the first or begins with a line itself. */
static void put_item(struct show *x, const char *text, bool first, bool wrap)
{
    if (x->indenting && text[0] == '\n')
        trim_spaces(x->out);
    else if (x->indenting && !first && wrap)
        show_keyword(x, "", -STEP, STEP, 4);
    text_buffer_puts(x->out, text);
}

/* ---------------------------------------------------------------- select list, sorting, grouping */

static const char *target_name(const struct target *t) { return t->name ? t->name : tree_column_name(t->expr); }

static void put_targets(struct show *x, const struct select *s, const char *const *names, bool sub)
{
    for (int i = 0; i < s->targets.count; i++) {
        const struct target *t = s->targets.items[i];
        struct piece piece;
        piece_open(x, &piece);
        show_wanted(x, t->expr, 0, UNDER_NOTHING);
        const char *name = names ? names[i] : target_name(t), *own = NULL;
        if (t->expr->kind == EXPR_COLUMN && !t->expr->column.star)
            own = t->expr->column.names[t->expr->column.count - 1];
        else if (sub)
            own = "?column?";
        if (!(t->expr->kind == EXPR_COLUMN && t->expr->column.star) && (!own || strcmp(own, name)))
            text_buffer_printf(x->out, " AS %s", quote_identifier(x->p->arena, name));
        const char *text = piece_close(x, &piece);
        text_buffer_puts(x->out, i ? ", " : " ");
        put_item(x, text, i == 0, true);
    }
}

static bool in_from(const struct scope *scope, const char *name)
{
    for (uint32_t i = 0; i < scope->space_count; i++)
        for (uint32_t c = 0; scope->spaces[i]->unqualified && c < scope->spaces[i]->column_count; c++)
            if (!strcmp(scope->spaces[i]->columns[c].name, name))
                return true;
    return false;
}

/* The target that a plain name or number means; -1: none. */
static int target_meant(struct show *x, const struct select *s, const struct expr *e, bool input_first)
{
    if (e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_INTEGER && e->literal.integer >= 1 && e->literal.integer <= s->targets.count)
        return (int)e->literal.integer - 1;
    if (e->kind != EXPR_COLUMN || e->column.count != 1 || e->column.star || (input_first && in_from(x->scope, e->column.names[0])))
        return -1;
    for (int i = 0; i < s->targets.count; i++)
        if (!strcmp(target_name(s->targets.items[i]), e->column.names[0]))
            return i;
    return -1;
}

static void put_meant(struct show *x, const struct expr *e, bool sort)
{
    bool opened = sort && e->kind != EXPR_COLUMN && (x->pretty || (e->kind == EXPR_FUNCTION && !e->function.sql_syntax) || e->kind == EXPR_CAST);
    text_buffer_puts(x->out, opened ? "(" : "");
    show_wanted(x, e, 0, UNDER_NOTHING);
    text_buffer_puts(x->out, opened ? ")" : "");
}

void show_sort(struct show *x, const struct sort_list *list, const struct select *targets)
{
    for (int i = 0; i < list->count; i++) {
        const struct sort_key *k = list->items[i];
        text_buffer_puts(x->out, i ? ", " : "");
        int at = targets ? target_meant(x, targets, k->expr, false) : -1;
        put_meant(x, at >= 0 ? targets->targets.items[at]->expr : k->expr, true);
        if (k->direction == SORT_USING)
            text_buffer_printf(x->out, " USING %s", k->using_operator);
        bool descending = k->direction == SORT_DESC;
        text_buffer_puts(x->out, descending ? " DESC" : "");
        if (k->nulls == NULLS_LAST && descending)
            text_buffer_puts(x->out, " NULLS LAST");
        if (k->nulls == NULLS_FIRST && !descending)
            text_buffer_puts(x->out, " NULLS FIRST");
    }
}

/* Of a set operation: by numbers of its columns. */
static void put_set_sort(struct show *x, const struct select *s, const char *const *names)
{
    const struct select *leaf = s;
    while (leaf->left)
        leaf = leaf->left;
    for (int i = 0; i < s->order_by.count; i++) {
        const struct sort_key *k = s->order_by.items[i];
        int at = target_meant(x, leaf, k->expr, false);
        (void)names;
        text_buffer_puts(x->out, i ? ", " : "");
        if (at >= 0)
            text_buffer_printf(x->out, "%d", at + 1);
        else
            text_buffer_puts(x->out, deparse_expr(x->p->arena, k->expr));
        text_buffer_puts(x->out, k->direction == SORT_DESC ? " DESC" : "");
        if (k->nulls == NULLS_LAST && k->direction == SORT_DESC)
            text_buffer_puts(x->out, " NULLS LAST");
        if (k->nulls == NULLS_FIRST && k->direction != SORT_DESC)
            text_buffer_puts(x->out, " NULLS FIRST");
    }
}

static void put_grouping_set(struct show *x, const struct select *s, const struct expr *e)
{
    static const char *const words[] = {[GROUPING_EMPTY] = "()", [GROUPING_ROLLUP] = "ROLLUP", [GROUPING_CUBE] = "CUBE", [GROUPING_SETS] = "GROUPING SETS "};
    if (e->kind == EXPR_GROUPING_SET) {
        text_buffer_puts(x->out, words[e->grouping_set.kind]);
        if (e->grouping_set.kind == GROUPING_EMPTY)
            return;
        text_buffer_putc(x->out, '(');
        for (int i = 0; i < e->grouping_set.list.count; i++) {
            bool single = e->grouping_set.kind == GROUPING_SETS && e->grouping_set.list.items[i]->kind != EXPR_GROUPING_SET && e->grouping_set.list.items[i]->kind != EXPR_ROW;
            text_buffer_puts(x->out, i ? ", " : "");
            text_buffer_puts(x->out, single ? "(" : "");
            put_grouping_set(x, s, e->grouping_set.list.items[i]);
            text_buffer_puts(x->out, single ? ")" : "");
        }
        text_buffer_putc(x->out, ')');
        return;
    }
    int at = target_meant(x, s, e, true);
    put_meant(x, at >= 0 ? s->targets.items[at]->expr : e, false);
}

/* ---------------------------------------------------------------- FROM */

static bool is_taken(const struct show *x, const struct scope *outer, const char *name)
{
    for (; outer; outer = outer->outer)
        for (uint32_t i = 0; i < outer->space_count; i++)
            if (outer->spaces[i]->alias && outer->spaces[i]->rel && !strcmp(show_rel_name(x, outer->spaces[i]->rel), name))
                return true;
    return false;
}

/* Names of the queries around are not used again. */
static void choose_names(struct show *x, const struct scope *scope)
{
    for (uint32_t i = 0; i < scope->space_count; i++) {
        const struct space *s = scope->spaces[i];
        const char *name = s->alias;
        if (!s->rel || !s->alias)
            continue;
        for (int n = 1; is_taken(x, scope->outer, name); n++)
            name = arena_printf(x->p->arena, "%s_%d", s->alias, n);
        if (name == s->alias)
            continue;
        if (x->name_count == x->name_capacity) {
            uint16_t capacity = (uint16_t)(x->name_capacity * 2 + 8);
            x->names = arena_grow(x->p->arena, x->names, sizeof *x->names * x->name_capacity, sizeof *x->names * capacity);
            x->name_capacity = capacity;
        }
        x->names[x->name_count++] = (struct shown_name){s->rel->id, name};
    }
}

static const char *item_name(const struct show *x, const char *alias)
{
    for (uint32_t i = 0; alias && i < x->scope->space_count; i++)
        if (x->scope->spaces[i]->rel && x->scope->spaces[i]->alias && !strcmp(x->scope->spaces[i]->alias, alias))
            return show_rel_name(x, x->scope->spaces[i]->rel);
    return alias;
}

static void put_columns(struct show *x, const struct name_list *columns)
{
    for (int i = 0; i < columns->count; i++)
        text_buffer_printf(x->out, "%s%s", i ? ", " : "(", quote_identifier(x->p->arena, columns->items[i]));
    text_buffer_puts(x->out, columns->count ? ")" : "");
}

static void put_from_item(struct show *x, const struct from_item *item)
{
    struct arena *arena = x->p->arena;
    text_buffer_puts(x->out, item->lateral && item->kind != FROM_JOIN ? "LATERAL " : "");
    switch (item->kind) {
    case FROM_TABLE:
        if (item->relation->schema)
            text_buffer_printf(x->out, "%s.", quote_identifier(arena, item->relation->schema));
        text_buffer_puts(x->out, quote_identifier(arena, item->relation->name));
        {
            const char *name = item_name(x, item->alias ? item->alias : item->relation->name);
            if (strcmp(name, item->relation->name) || item->columns.count)
                text_buffer_printf(x->out, " %s", quote_identifier(arena, name));
        }
        put_columns(x, &item->columns);
        return;
    case FROM_SUBQUERY:
        text_buffer_putc(x->out, '(');
        {
            struct scope *own = x->scope;
            int indent = x->indent;
            show_select(x, item->select, NULL, false);
            x->scope = own;
            x->indent = indent;
        }
        text_buffer_putc(x->out, ')');
        if (item->alias)
            text_buffer_printf(x->out, " %s", quote_identifier(arena, item_name(x, item->alias)));
        put_columns(x, &item->columns);
        return;
    case FROM_FUNCTION:
        if (item->rows_from || item->functions.count != 1 || item->definition_count) {
            text_buffer_puts(x->out, "ROWS FROM(");
            for (int i = 0; i < item->functions.count; i++)
                text_buffer_printf(x->out, "%s%s", i ? ", " : "", deparse_expr(arena, item->functions.items[i]));
            text_buffer_putc(x->out, ')');
        } else {
            show_under(x, item->functions.items[0], UNDER_CALL);
        }
        text_buffer_puts(x->out, item->with_ordinality ? " WITH ORDINALITY" : "");
        {
            const struct expr *f = item->functions.items[0];
            const char *alias = item_name(x, item->alias ? item->alias : f->kind == EXPR_FUNCTION ? f->function.name : NULL);
            if (alias)
                text_buffer_printf(x->out, " %s", quote_identifier(arena, alias));
            if (alias && !item->columns.count && !item->with_ordinality)
                text_buffer_printf(x->out, "(%s)", quote_identifier(arena, alias));
        }
        put_columns(x, &item->columns);
        return;
    case FROM_JOIN: break;
    }
    static const char *const words[] = {[JOIN_INNER] = " JOIN ", [JOIN_LEFT] = " LEFT JOIN ", [JOIN_RIGHT] = " RIGHT JOIN ", [JOIN_FULL] = " FULL JOIN ", [JOIN_CROSS] = " CROSS JOIN "};
    bool opened = !x->pretty || item->alias, right = x->pretty && item->right->kind == FROM_JOIN && !item->right->alias;
    text_buffer_puts(x->out, opened ? "(" : "");
    put_from_item(x, item->left);
    show_keyword(x, item->natural ? arena_printf(arena, " NATURAL%s", words[item->join]) : words[item->join], -STEP, STEP, 4);
    text_buffer_puts(x->out, right ? "(" : "");
    put_from_item(x, item->right);
    text_buffer_puts(x->out, right ? ")" : "");
    if (item->using_columns.count) {
        text_buffer_puts(x->out, " USING ");
        put_columns(x, &item->using_columns);
    } else if (item->on) {
        text_buffer_puts(x->out, x->pretty ? " ON " : " ON (");
        show_expr(x, item->on);
        text_buffer_puts(x->out, x->pretty ? "" : ")");
    } else if (!item->natural && item->join != JOIN_CROSS && item->join != JOIN_INNER) {
        text_buffer_puts(x->out, " ON true");
    }
    text_buffer_puts(x->out, opened ? ")" : "");
    if (item->alias) {
        text_buffer_printf(x->out, " %s", quote_identifier(arena, item->alias));
        put_columns(x, &item->columns);
    }
}

static void put_from(struct show *x, const struct from_list *from)
{
    for (int i = 0; i < from->count; i++) {
        if (i == 0) {
            show_keyword(x, " FROM ", -STEP, STEP, 2);
            put_from_item(x, from->items[i]);
            continue;
        }
        struct piece piece;
        text_buffer_puts(x->out, ", ");
        piece_open(x, &piece);
        put_from_item(x, from->items[i]);
        put_item(x, piece_close(x, &piece), false, true);
    }
}

/* ---------------------------------------------------------------- bodies */

static void put_with(struct show *x, const struct with *with)
{
    if (!with)
        return;
    if (x->indenting) {
        x->indent += STEP;
        text_buffer_putc(x->out, ' ');
    }
    text_buffer_puts(x->out, with->recursive ? "WITH RECURSIVE " : "WITH ");
    for (int i = 0; i < with->count; i++) {
        const struct cte *c = with->items[i];
        struct scope *own = x->scope;
        text_buffer_printf(x->out, "%s%s", i ? ", " : "", quote_identifier(x->p->arena, c->name));
        put_columns(x, &c->columns);
        text_buffer_puts(x->out, c->materialized == MATERIALIZED_ALWAYS ? " AS MATERIALIZED (" : c->materialized == MATERIALIZED_NEVER ? " AS NOT MATERIALIZED (" : " AS (");
        if (x->indenting)
            show_keyword(x, "", 0, 0, 0);
        int indent = x->indent;
        if (c->statement->kind == STATEMENT_SELECT)
            show_select(x, c->statement->select, NULL, false);
        x->scope = own;
        x->indent = indent;
        if (x->indenting)
            show_keyword(x, "", 0, 0, 0);
        text_buffer_putc(x->out, ')');
    }
    if (x->indenting) {
        x->indent -= STEP;
        show_keyword(x, "", 0, 0, 0);
    } else {
        text_buffer_putc(x->out, ' ');
    }
}

static void put_values(struct show *x, const struct select *s)
{
    if (x->indenting) {
        x->indent += STEP;
        text_buffer_putc(x->out, ' ');
    }
    text_buffer_puts(x->out, "VALUES ");
    for (int r = 0; r < s->row_count; r++) {
        text_buffer_puts(x->out, r ? ", (" : "(");
        for (int i = 0; i < s->rows[r].count; i++) {
            text_buffer_puts(x->out, i ? "," : "");
            show_wanted(x, s->rows[r].items[i], 0, UNDER_NOTHING);
        }
        text_buffer_putc(x->out, ')');
    }
}

static void put_plain(struct show *x, const struct select *s, const char *const *names, bool sub)
{
    if (x->indenting) {
        x->indent += STEP;
        text_buffer_putc(x->out, ' ');
    }
    text_buffer_puts(x->out, "SELECT");
    if (s->distinct) {
        text_buffer_puts(x->out, " DISTINCT");
        for (int i = 0; i < s->distinct_on.count; i++) {
            int at = target_meant(x, s, s->distinct_on.items[i], false);
            text_buffer_puts(x->out, i ? ", " : " ON (");
            put_meant(x, at >= 0 ? s->targets.items[at]->expr : s->distinct_on.items[i], true);
        }
        text_buffer_puts(x->out, s->distinct_on.count ? ")" : "");
    }
    put_targets(x, s, names, sub);
    put_from(x, &s->from);
    if (s->where) {
        show_keyword(x, " WHERE ", -STEP, STEP, 1);
        show_expr(x, s->where);
    }
    if (s->group_by.count) {
        show_keyword(x, " GROUP BY ", -STEP, STEP, 1);
        for (int i = 0; i < s->group_by.count; i++) {
            text_buffer_puts(x->out, i ? ", " : "");
            put_grouping_set(x, s, s->group_by.items[i]);
        }
    }
    if (s->having) {
        show_keyword(x, " HAVING ", -STEP, STEP, 0);
        show_expr(x, s->having);
    }
    for (int i = 0; i < s->windows.count; i++) {
        if (i == 0)
            show_keyword(x, " WINDOW ", -STEP, STEP, 1);
        text_buffer_printf(x->out, "%s%s AS ", i ? ", " : "", quote_identifier(x->p->arena, s->windows.items[i]->name));
        show_window(x, s->windows.items[i]);
    }
}

static bool is_set(const struct select *s) { return s->set != SET_NONE; }

static void put_set(struct show *x, const struct select *s, const char *const *names, bool sub)
{
    static const char *const words[] = {[SET_UNION] = "UNION ", [SET_INTERSECT] = "INTERSECT ", [SET_EXCEPT] = "EXCEPT "};
    if (!is_set(s) || s->with || s->order_by.count || s->limit || s->offset) {
        bool opened = s->with || s->order_by.count || s->limit || s->offset;
        struct scope *own = x->scope;
        int indent = x->indent;
        text_buffer_puts(x->out, opened ? "(" : "");
        show_select(x, s, names, sub);
        text_buffer_puts(x->out, opened ? ")" : "");
        x->scope = own;
        x->indent = indent;
        return;
    }
    bool paren = is_set(s->left) && !(s->left->set == s->set && s->left->all == s->all);
    int step = paren ? STEP : 0;
    if (paren) {
        text_buffer_putc(x->out, '(');
        show_keyword(x, "", step, 0, 0);
    }
    put_set(x, s->left, names, sub);
    if (paren)
        show_keyword(x, ") ", -step, 0, 0);
    else if (x->indenting)
        show_keyword(x, "", -step, 0, 0);
    else
        text_buffer_putc(x->out, ' ');
    text_buffer_printf(x->out, "%s%s", words[s->set], s->all ? "ALL " : "");
    paren = is_set(s->right);
    step = paren ? STEP : 0;
    text_buffer_puts(x->out, paren ? "(" : "");
    show_keyword(x, "", step, 0, 0);
    put_set(x, s->right, names, true);
    if (x->indenting)
        x->indent -= step;
    if (paren)
        show_keyword(x, ")", 0, 0, 0);
}

static void put_tail(struct show *x, const struct select *s, const char *const *names)
{
    if (s->order_by.count) {
        show_keyword(x, " ORDER BY ", -STEP, STEP, 1);
        if (is_set(s))
            put_set_sort(x, s, names);
        else
            show_sort(x, &s->order_by, s);
    }
    if (s->offset) {
        show_keyword(x, " OFFSET ", -STEP, STEP, 0);
        show_expr(x, s->offset);
    }
    if (s->limit) {
        show_keyword(x, s->with_ties ? " FETCH FIRST " : " LIMIT ", -STEP, STEP, 0);
        show_expr(x, s->limit);
        text_buffer_puts(x->out, s->with_ties ? " ROWS WITH TIES" : "");
    }
    static const char *const strengths[] = {[FOR_KEY_SHARE] = " FOR KEY SHARE", [FOR_SHARE] = " FOR SHARE", [FOR_NO_KEY_UPDATE] = " FOR NO KEY UPDATE", [FOR_UPDATE] = " FOR UPDATE"};
    for (int i = 0; i < s->locking_count; i++) {
        const struct locking *l = s->locking[i];
        show_keyword(x, strengths[l->strength], -STEP, STEP, 0);
        for (int r = 0; r < l->of.count; r++)
            text_buffer_printf(x->out, "%s%s", r ? ", " : " OF ", quote_identifier(x->p->arena, l->of.items[r]->name));
        text_buffer_puts(x->out, l->wait == FOR_NOWAIT ? " NOWAIT" : l->wait == FOR_SKIP_LOCKED ? " SKIP LOCKED" : "");
    }
}

/* One query level: a scope of its own, in which its parts are bound for their types. */
static void show_select(struct show *x, const struct select *s, const char *const *names, bool sub)
{
    struct scope *outer = x->scope;
    struct query *q = query_new(x->p, STATEMENT_SELECT, outer ? (uint16_t)(outer->level + 1) : 0);
    struct scope *scope = arena_new(x->p->arena, struct scope);
    scope->outer = outer;
    scope->query = q;
    scope->level = q->level;
    if (stack_is_deep() || (s->with && scope_with(x->p, scope, s->with)) || (!is_set(s) && analyze_from(x->p, scope, &s->from, &q->from))) {
        error_clear();
        text_buffer_puts(x->out, deparse_select(x->p->arena, s));
        return;
    }
    choose_names(x, scope);
    scope->aggregates_ok = scope->windows_ok = scope->sets_ok = true;
    scope->windows = &s->windows;
    scope->clause = "SELECT";
    x->scope = scope;
    x->qualify = true;
    put_with(x, s->with);
    if (is_set(s)) {
        struct select bare = *s;
        bare.with = NULL;
        bare.order_by.count = 0;
        bare.limit = bare.offset = NULL;
        bare.locking_count = 0;
        put_set(x, &bare, names, sub);
        if (x->indenting)
            x->indent += STEP;
    } else if (s->rows) {
        put_values(x, s);
    } else {
        put_plain(x, s, names, sub);
    }
    put_tail(x, s, names);
    x->scope = outer;
}

void show_subselect(struct show *x, const struct select *s)
{
    int indent = x->indent;
    bool qualify = x->qualify;
    show_select(x, s, NULL, true);
    x->indent = indent;
    x->qualify = qualify;
}

enum status show_query(struct session *session, struct arena *arena, const struct select *select, const char *const *names, bool pretty, char **out)
{
    struct planner p;
    struct text_buffer text;
    planner_open(&p, session, arena, "");
    text_buffer_open(&text, arena);
    struct show x = {.p = &p, .out = &text, .pretty = pretty, .indenting = true};
    show_select(&x, select, names, false);
    *out = text.bytes ? text.bytes : arena_strdup(arena, "");
    return STATUS_OK;
}
