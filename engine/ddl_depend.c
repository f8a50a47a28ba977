/* engine/ddl_depend.c - who uses what. There is no table of dependencies: views and defaults are kept as SQL text whose
 * relations all carry their schemas, so a walk of the trees answers. It errs on the side of "uses": a column that a view may
 * read counts as read. */
#include "engine/ddl.h"
#include "engine/describe.h"

#include <string.h>

/* ---------------------------------------------------------------- walking */

static void walk_exprs(struct tree_walk *w, const struct expr_list *list)
{
    for (int i = 0; i < list->count; i++)
        walk_expr(w, list->items[i]);
}

static void walk_sorts(struct tree_walk *w, const struct sort_list *list)
{
    for (int i = 0; i < list->count; i++)
        walk_expr(w, list->items[i]->expr);
}

static void walk_window(struct tree_walk *w, const struct window_definition *window)
{
    if (!window)
        return;
    walk_exprs(w, &window->partition_by);
    walk_sorts(w, &window->order_by);
    walk_expr(w, window->start_offset);
    walk_expr(w, window->end_offset);
}

void walk_expr(struct tree_walk *w, struct expr *e)
{
    for (;;) {
        if (!e)
            return;
        if (w->expr)
            w->expr(w, e);
        switch (e->kind) {
        case EXPR_OPERATOR:
            walk_expr(w, e->op.right);
            e = e->op.left;                                    /* chains lean left and can be long */
            continue;
        case EXPR_AND: case EXPR_OR: case EXPR_COALESCE: case EXPR_GREATEST: case EXPR_LEAST: case EXPR_NULLIF: case EXPR_ARRAY: case EXPR_GROUPING: walk_exprs(w, &e->list); return;
        case EXPR_NOT: e = e->unary.operand; continue;
        case EXPR_IS: e = e->is.operand; continue;
        case EXPR_DISTINCT: walk_expr(w, e->distinct.left); e = e->distinct.right; continue;
        case EXPR_LIKE: walk_expr(w, e->like.left); walk_expr(w, e->like.pattern); e = e->like.escape; continue;
        case EXPR_BETWEEN: walk_expr(w, e->between.operand); walk_expr(w, e->between.low); e = e->between.high; continue;
        case EXPR_IN: walk_expr(w, e->in.left); walk_exprs(w, &e->in.list); walk_select(w, e->in.select); return;
        case EXPR_ANY: case EXPR_ALL: walk_expr(w, e->any.left); walk_expr(w, e->any.array); walk_select(w, e->any.select); return;
        case EXPR_SUBQUERY: case EXPR_EXISTS: case EXPR_ARRAY_SUBQUERY: walk_select(w, e->select); return;
        case EXPR_CAST: e = e->cast.operand; continue;
        case EXPR_COLLATE: e = e->collate.operand; continue;
        case EXPR_CASE:
            walk_expr(w, e->case_.operand);
            for (int i = 0; i < e->case_.count; i++) {
                walk_expr(w, e->case_.whens[i]->condition);
                walk_expr(w, e->case_.whens[i]->result);
            }
            e = e->case_.otherwise;
            continue;
        case EXPR_FUNCTION:
            walk_exprs(w, &e->function.arguments);
            walk_sorts(w, &e->function.order_by);
            walk_window(w, e->function.over);
            e = e->function.filter;
            continue;
        case EXPR_SUBSCRIPT:
            for (int i = 0; i < e->subscript.count; i++) {
                walk_expr(w, e->subscript.items[i].lower);
                walk_expr(w, e->subscript.items[i].upper);
            }
            e = e->subscript.operand;
            continue;
        case EXPR_FIELD: e = e->field.operand; continue;
        case EXPR_ROW: walk_exprs(w, &e->row.list); return;
        case EXPR_GROUPING_SET: walk_exprs(w, &e->grouping_set.list); return;
        default: return;
        }
    }
}

static bool names_cte(const struct tree_walk *w, const struct relation_name *relation)
{
    if (relation->schema)
        return false;
    for (const struct cte_scope *scope = w->ctes; scope; scope = scope->outer)
        if (!strcmp(scope->cte->name, relation->name))
            return true;
    return false;
}

static void walk_from(struct tree_walk *w, struct from_item *item)
{
    for (;;) {
        if (!item)
            return;
        switch (item->kind) {
        case FROM_TABLE:
            if (w->relation && !names_cte(w, item->relation))
                w->relation(w, item);
            return;
        case FROM_SUBQUERY: walk_select(w, item->select); return;
        case FROM_FUNCTION: walk_exprs(w, &item->functions); return;
        case FROM_JOIN:
            walk_from(w, item->right);
            walk_expr(w, item->on);
            item = item->left;
            continue;
        }
        return;
    }
}

void walk_select(struct tree_walk *w, struct select *s)
{
    if (!s)
        return;
    struct cte_scope *outer = w->ctes, scopes[64];
    int scope_count = 0;
    if (s->with) {
        for (int i = 0; i < s->with->count && scope_count < 64; i++) {
            const struct cte *cte = s->with->items[i];
            if (s->with->recursive) {
                scopes[scope_count] = (struct cte_scope){.outer = w->ctes, .cte = cte};
                w->ctes = &scopes[scope_count++];
            }
            if (cte->statement->kind == STATEMENT_SELECT)
                walk_select(w, cte->statement->select);
            if (!s->with->recursive) {
                scopes[scope_count] = (struct cte_scope){.outer = w->ctes, .cte = cte};
                w->ctes = &scopes[scope_count++];
            }
        }
    }
    walk_select(w, s->left);
    walk_select(w, s->right);
    for (int i = 0; i < s->row_count; i++)
        walk_exprs(w, &s->rows[i]);
    walk_exprs(w, &s->distinct_on);
    for (int i = 0; i < s->targets.count; i++)
        walk_expr(w, s->targets.items[i]->expr);
    for (int i = 0; i < s->from.count; i++)
        walk_from(w, s->from.items[i]);
    walk_expr(w, s->where);
    walk_exprs(w, &s->group_by);
    walk_expr(w, s->having);
    for (int i = 0; i < s->windows.count; i++)
        walk_window(w, s->windows.items[i]);
    walk_sorts(w, &s->order_by);
    walk_expr(w, s->limit);
    walk_expr(w, s->offset);
    if (w->select)
        w->select(w, s);
    w->ctes = outer;
}

/* ---------------------------------------------------------------- schemas into trees */

struct qualify { struct ddl *d; enum status status; };

static void qualify_relation(struct tree_walk *w, struct from_item *item)
{
    struct qualify *q = w->context;
    const struct table *table;
    if (q->status || item->relation->schema)
        return;
    q->status = catalog_find(q->d->session, NULL, item->relation->name, &table);
    if (!q->status && table)
        item->relation->schema = arena_strdup(q->d->arena, table->schema_name);
}

/* nextval('s') and 's'::regclass: the literal. */
static struct expr *regclass_literal(struct expr *e)
{
    if (e->kind == EXPR_FUNCTION && e->function.arguments.count >= 1 && (!e->function.schema || !strcmp(e->function.schema, "pg_catalog"))
        && (!strcmp(e->function.name, "nextval") || !strcmp(e->function.name, "currval") || !strcmp(e->function.name, "setval")))
        e = e->function.arguments.items[0];
    else if (e->kind == EXPR_CAST && !strcmp(e->cast.type->name, "regclass"))
        e = e->cast.operand;
    else
        return NULL;
    if (e->kind == EXPR_CAST && e->cast.operand->kind == EXPR_LITERAL && (!strcmp(e->cast.type->name, "text") || !strcmp(e->cast.type->name, "regclass")))
        e = e->cast.operand;
    return e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_STRING ? e : NULL;
}

static void qualify_expr(struct tree_walk *w, struct expr *e)
{
    struct qualify *q = w->context;
    struct arena *arena = q->d->arena;
    if (e->kind == EXPR_FUNCTION && e->function.arguments.count >= 1) {
        struct expr *literal = e->function.arguments.items[0];
        if (literal->kind == EXPR_LITERAL && regclass_literal(e) == literal) {      /* as PostgreSQL shows it: with its cast */
            struct expr *cast = arena_new(arena, struct expr);
            struct type_name *type = arena_new(arena, struct type_name);
            type->name = "regclass";
            *cast = (struct expr){.kind = EXPR_CAST, .position = literal->position, .cast = {.operand = literal, .type = type}};
            e->function.arguments.items[0] = cast;
        }
    }
    struct expr *literal = regclass_literal(e);
    struct relation_name name;
    if (!literal)
        return;
    memset(&name, 0, sizeof name);
    if (parse_qualified_name(arena, literal->literal.text, &name)) {
        error_clear();
        return;
    }
    if (name.schema)
        return;
    const struct table *table;
    if (!catalog_find(q->d->session, NULL, name.name, &table) && table) {
        literal->literal.text = ddl_qualified(arena, table->schema_name, table->name);
        literal->literal.length = (int)strlen(literal->literal.text);
    } else {
        error_clear();
    }
}

enum status select_qualify(struct ddl *d, struct select *select)
{
    struct qualify q = {.d = d};
    struct tree_walk walk = {.context = &q, .expr = qualify_expr, .relation = qualify_relation};
    walk_select(&walk, select);
    return q.status;
}

void expr_qualify(struct ddl *d, struct expr *e)
{
    struct qualify q = {.d = d};
    struct tree_walk walk = {.context = &q, .expr = qualify_expr};
    walk_expr(&walk, e);
}

struct show { struct session *session; struct arena *arena; };

static void show_expr(struct tree_walk *w, struct expr *e)
{
    struct show *s = w->context;
    struct expr *literal = e->kind == EXPR_CAST ? regclass_literal(e) : NULL;
    struct relation_name name;
    const struct table *named, *visible;
    if (!literal)
        return;
    memset(&name, 0, sizeof name);
    if (parse_qualified_name(s->arena, literal->literal.text, &name) || !name.schema || catalog_find(s->session, name.schema, name.name, &named) || catalog_find(s->session, NULL, name.name, &visible)) {
        error_clear();
        return;
    }
    if (named && named == visible) {
        literal->literal.text = quote_identifier(s->arena, name.name);
        literal->literal.length = (int)strlen(literal->literal.text);
    }
}

struct expr *expr_read(struct session *session, struct arena *arena, const char *text)
{
    struct expr *e;
    if (parse_expression(arena, text, strlen(text), &e)) {
        error_clear();
        return NULL;
    }
    struct show show = {.session = session, .arena = arena};
    struct tree_walk walk = {.context = &show, .expr = show_expr};
    walk_expr(&walk, e);
    return e;
}

/* ---------------------------------------------------------------- names of columns, and stars */

struct star_column { const char *qualifier, *name; };
struct star_list { struct star_column *items; uint16_t count, capacity; bool unknown; };

static void star_add(struct ddl *d, struct star_list *list, const char *qualifier, const char *name)
{
    if (list->count == list->capacity) {
        uint16_t capacity = list->capacity ? (uint16_t)(list->capacity * 2) : 32;
        list->items = arena_grow(d->arena, list->items, sizeof *list->items * list->capacity, sizeof *list->items * capacity);
        list->capacity = capacity;
    }
    list->items[list->count++] = (struct star_column){qualifier, name};
}

const char **select_names(struct ddl *d, struct select *s, uint16_t *count)
{
    while (s->left)
        s = s->left;
    uint16_t n = s->rows ? (uint16_t)(s->row_count ? s->rows[0].count : 0) : (uint16_t)s->targets.count;
    const char **names = arena_array(d->arena, const char *, n + 1);
    for (uint16_t i = 0; i < n; i++) {
        if (s->rows) {
            names[i] = arena_printf(d->arena, "column%d", i + 1);
            continue;
        }
        const struct target *target = s->targets.items[i];
        if (target->expr->kind == EXPR_COLUMN && target->expr->column.star)
            return NULL;
        names[i] = target->name ? target->name : tree_column_name(target->expr);
    }
    *count = n;
    return names;
}

struct expand { struct ddl *d; struct tree_walk *walk; enum status status; };

static const char *item_qualifier(const struct from_item *item)
{
    if (item->alias)
        return item->alias;
    if (item->kind == FROM_TABLE)
        return item->relation->name;
    if (item->kind == FROM_FUNCTION && item->functions.count == 1 && item->functions.items[0]->kind == EXPR_FUNCTION)
        return item->functions.items[0]->function.name;
    return NULL;
}

static void star_columns(struct expand *x, struct from_item *item, struct star_list *out)
{
    struct ddl *d = x->d;
    const char *qualifier = item_qualifier(item);
    uint16_t given = 0;
    const char **names = NULL;
    uint16_t count = 0;
    switch (item->kind) {
    case FROM_TABLE: {
        const struct cte *cte = NULL;
        for (struct cte_scope *scope = item->relation->schema ? NULL : x->walk->ctes; scope && !cte; scope = scope->outer)
            if (!strcmp(scope->cte->name, item->relation->name))
                cte = scope->cte;
        if (cte) {
            if (cte->statement->kind != STATEMENT_SELECT || !(names = select_names(d, cte->statement->select, &count))) {
                out->unknown = true;
                return;
            }
            for (int i = 0; i < cte->columns.count && i < count; i++)
                names[i] = cte->columns.items[i];
            break;
        }
        const struct table *table;
        x->status = catalog_find(d->session, item->relation->schema, item->relation->name, &table);
        if (x->status || !table) {
            out->unknown = true;
            return;
        }
        names = arena_array(d->arena, const char *, table->column_count + 1);
        for (uint16_t c = 0; c < table->column_count; c++)
            if (!table->columns[c].dropped)
                names[count++] = table->columns[c].name;
        break;
    }
    case FROM_SUBQUERY:
        names = select_names(d, item->select, &count);
        break;
    case FROM_FUNCTION:
        if (item->columns.count && !item->rows_from) {
            count = (uint16_t)item->columns.count;
            names = (const char **)item->columns.items;
        }
        break;
    case FROM_JOIN: {
        struct star_list left = {0}, right = {0};
        star_columns(x, item->left, &left);
        star_columns(x, item->right, &right);
        if (left.unknown || right.unknown || item->alias || item->natural) {
            out->unknown = true;
            return;
        }
        for (int u = 0; u < item->using_columns.count; u++)
            star_add(d, out, NULL, item->using_columns.items[u]);
        for (int side = 0; side < 2; side++) {
            struct star_list *list = side ? &right : &left;
            for (uint16_t i = 0; i < list->count; i++) {
                bool merged = false;
                for (int u = 0; u < item->using_columns.count; u++)
                    merged = merged || !strcmp(item->using_columns.items[u], list->items[i].name);
                if (!merged)
                    star_add(d, out, list->items[i].qualifier, list->items[i].name);
            }
        }
        return;
    }
    }
    if (!names) {
        out->unknown = true;
        return;
    }
    for (uint16_t i = 0; i < count; i++)
        star_add(d, out, qualifier, given < item->columns.count ? item->columns.items[given++] : names[i]);
}

static struct from_item *item_named(struct from_item *item, const char *name)
{
    if (item->kind == FROM_JOIN && !item->alias) {
        struct from_item *found = item_named(item->left, name);
        return found ? found : item_named(item->right, name);
    }
    const char *qualifier = item_qualifier(item);
    return qualifier && !strcmp(qualifier, name) ? item : NULL;
}

static void expand_select(struct tree_walk *w, struct select *s)
{
    struct expand *x = w->context;
    bool any = false;
    for (int i = 0; i < s->targets.count; i++)
        any = any || (s->targets.items[i]->expr->kind == EXPR_COLUMN && s->targets.items[i]->expr->column.star);
    if (!any || x->status)
        return;
    struct target **items = NULL;
    int count = 0, capacity = 0;
    for (int i = 0; i < s->targets.count; i++) {
        struct target *target = s->targets.items[i];
        struct star_list list = {0};
        bool star = target->expr->kind == EXPR_COLUMN && target->expr->column.star;
        if (star && target->expr->column.count == 0) {
            for (int f = 0; f < s->from.count; f++)
                star_columns(x, s->from.items[f], &list);
        } else if (star) {
            struct from_item *item = NULL;
            for (int f = 0; f < s->from.count && !item; f++)
                item = item_named(s->from.items[f], target->expr->column.names[target->expr->column.count - 1]);
            if (item)
                star_columns(x, item, &list);
            else
                list.unknown = true;                          /* of an outer query: stays */
        }
        uint16_t add = star && !list.unknown ? list.count : 1;
        if (count + add > capacity) {
            int more = (count + add) * 2;
            items = arena_grow(x->d->arena, items, sizeof *items * (size_t)capacity, sizeof *items * (size_t)more);
            capacity = more;
        }
        if (!star || list.unknown) {
            items[count++] = target;
            continue;
        }
        for (uint16_t c = 0; c < list.count; c++) {
            struct expr *e = arena_new(x->d->arena, struct expr);
            e->kind = EXPR_COLUMN;
            e->position = target->expr->position;
            e->column.names = arena_array(x->d->arena, char *, 2);
            if (list.items[c].qualifier)
                e->column.names[e->column.count++] = (char *)list.items[c].qualifier;
            e->column.names[e->column.count++] = (char *)list.items[c].name;
            struct target *made = arena_new(x->d->arena, struct target);
            *made = (struct target){.expr = e, .position = target->position};
            items[count++] = made;
        }
    }
    s->targets.items = items;
    s->targets.count = count;
}

enum status select_expand_stars(struct ddl *d, struct select *select)
{
    struct expand x = {.d = d};
    struct tree_walk walk = {.context = &x, .select = expand_select};
    x.walk = &walk;
    walk_select(&walk, select);
    return x.status;
}

/* ---------------------------------------------------------------- users of a relation or column */

void users_add(struct ddl *d, struct users *users, uint32_t oid)
{
    if (users_has(users, oid))
        return;
    if (users->count == users->capacity) {
        uint32_t capacity = users->capacity ? users->capacity * 2 : 16;
        users->oids = arena_grow(d->arena, users->oids, sizeof(uint32_t) * users->capacity, sizeof(uint32_t) * capacity);
        users->capacity = capacity;
    }
    users->oids[users->count++] = oid;
}

bool users_has(const struct users *users, uint32_t oid)
{
    for (uint32_t i = 0; i < users->count; i++)
        if (users->oids[i] == oid)
            return true;
    return false;
}

/* names: what the view calls the column there: FROM t AS t(x, y) may rename it. */
struct use { struct ddl *d; const struct table *of; const char *column; const char *qualifiers[64], *names[64]; int qualifier_count; bool relation, uses, all; struct users *out; };

static const char *local_name(const struct use *use, const struct from_item *item)
{
    int live = 0;
    for (uint16_t c = 0; use->column && c < use->of->column_count; c++) {
        if (use->of->columns[c].dropped)
            continue;
        if (!strcmp(use->of->columns[c].name, use->column))
            return live < item->columns.count ? item->columns.items[live] : use->column;
        live++;
    }
    return use->column;
}

static void use_relation(struct tree_walk *w, struct from_item *item)
{
    struct use *use = w->context;
    if (!item->relation->schema || strcmp(item->relation->name, use->of->name) || strcmp(item->relation->schema, use->of->schema_name))
        return;
    use->relation = true;
    if (use->qualifier_count < 64) {
        use->names[use->qualifier_count] = local_name(use, item);
        use->qualifiers[use->qualifier_count++] = item->alias ? item->alias : item->relation->name;
    } else {
        use->all = true;                                      /* too many to tell apart */
    }
}

static void use_column(struct tree_walk *w, struct expr *e)
{
    struct use *use = w->context;
    if (e->kind != EXPR_COLUMN || e->column.count == 0)
        return;
    if (e->column.star) {
        use->uses = true;
        return;
    }
    for (int i = 0; i < use->qualifier_count; i++)
        if (!strcmp(e->column.names[e->column.count - 1], use->names[i]) && (e->column.count == 1 || !strcmp(use->qualifiers[i], e->column.names[e->column.count - 2])))
            use->uses = true;
}

static void use_joins_from(struct use *use, const struct from_item *item)
{
    if (item->kind != FROM_JOIN)
        return;
    use->uses = use->uses || item->natural;
    for (int i = 0; i < item->using_columns.count; i++)
        for (int k = 0; k < use->qualifier_count; k++)
            use->uses = use->uses || !strcmp(item->using_columns.items[i], use->names[k]);
    use_joins_from(use, item->left);
    use_joins_from(use, item->right);
}
static void use_select(struct tree_walk *w, struct select *s)
{
    struct use *use = w->context;
    for (int i = 0; i < s->from.count; i++)
        use_joins_from(use, s->from.items[i]);
    for (int i = 0; i < s->targets.count; i++)                /* a star that stayed */
        use->uses = use->uses || (s->targets.items[i]->expr->kind == EXPR_COLUMN && s->targets.items[i]->expr->column.star);
}

static enum status use_view(void *context, const struct table *view)
{
    struct use *use = context;
    if (view->kind != RELATION_VIEW || !view->view)
        return STATUS_OK;
    use->relation = use->uses = use->all = false;
    use->qualifier_count = 0;
    struct tree_walk walk = {.context = use, .relation = use_relation};
    walk_select(&walk, view->view);
    if (!use->relation)
        return STATUS_OK;
    if (use->column) {
        walk = (struct tree_walk){.context = use, .expr = use_column, .select = use_select};
        walk_select(&walk, view->view);
    }
    if (!use->column || use->uses || use->all)
        users_add(use->d, use->out, view->oid);
    return STATUS_OK;
}

/* pg_rewrite has a row for each view. */
static enum status use_rule(void *context, const struct catalog_row *row)
{
    struct use *use = context;
    const struct table *view;
    enum status status = catalog_table(use->d->session, row->values[REWRITE_ev_class].oid, &view);
    return status || !view ? status : use_view(use, view);
}

struct keyed { const struct table *of; const struct index *key; bool needs; };

/* The column that stands there by itself; NULL: another expression. An ordinal stands for that of the list. */
static const char *plain_column(const struct select *select, const struct expr *e)
{
    if (e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_INTEGER && select && e->literal.integer >= 1 && e->literal.integer <= select->targets.count)
        e = select->targets.items[e->literal.integer - 1]->expr;
    return e->kind == EXPR_COLUMN && !e->column.star && e->column.count ? e->column.names[e->column.count - 1] : NULL;
}

static bool is_grouped(const struct select *select, const char *column)
{
    for (int i = 0; i < select->group_by.count; i++) {
        const char *name = plain_column(select, select->group_by.items[i]);
        if (name && !strcmp(name, column))
            return true;
    }
    return false;
}

static void keyed_select(struct tree_walk *w, struct select *select)
{
    struct keyed *k = w->context;
    bool whole = select->has_group_by;
    for (uint16_t c = 0; whole && c < k->key->column_count; c++)
        whole = k->key->columns[c].column > 0 && is_grouped(select, k->of->columns[k->key->columns[c].column - 1].name);
    for (int i = 0; whole && i < select->targets.count; i++) {
        const char *name = plain_column(NULL, select->targets.items[i]->expr);
        k->needs |= name && !is_grouped(select, name) && table_column(k->of, name) >= 0;
    }
}

bool view_needs_key(const struct table *view, const struct table *of)
{
    struct keyed k = {.of = of, .key = of->primary_key ? table_index(of, of->primary_key) : NULL};
    struct tree_walk walk = {.context = &k, .select = keyed_select};
    if (view->view && k.key)
        walk_select(&walk, view->view);
    return k.needs;
}

enum status views_using(struct ddl *d, uint32_t relation, const char *column, struct users *out)
{
    struct use use = {.d = d, .column = column, .out = out};
    enum status status = ddl_table(d, relation, &use.of);
    return status ? status : catalog_scan(&d->access, CATALOG_REWRITE, -1, NULL, 0, use_rule, &use);
}

struct column_use { const char *column; bool uses; int position; struct ddl *d; const char **names; uint16_t count; };

static void column_used(struct tree_walk *w, struct expr *e)
{
    struct column_use *use = w->context;
    if (e->kind == EXPR_COLUMN && e->column.count && (e->column.star || !strcmp(e->column.names[e->column.count - 1], use->column)))
        use->uses = true;
    if (use->uses && !use->position)
        use->position = e->position;
}

int expr_column_position(struct expr *e, const char *column)
{
    struct column_use use = {.column = column};
    struct tree_walk walk = {.context = &use, .expr = column_used};
    walk_expr(&walk, e);
    return use.position;
}

bool expr_uses_column(struct expr *e, const char *column)
{
    struct column_use use = {.column = column};
    struct tree_walk walk = {.context = &use, .expr = column_used};
    walk_expr(&walk, e);
    return use.uses;
}

static void column_noted(struct tree_walk *w, struct expr *e)
{
    struct column_use *use = w->context;
    if (e->kind != EXPR_COLUMN || !e->column.count || e->column.star)
        return;
    const char *name = e->column.names[e->column.count - 1];
    for (uint16_t i = 0; i < use->count; i++)
        if (!strcmp(use->names[i], name))
            return;
    if ((use->count & (use->count - 1)) == 0)
        use->names = arena_grow(use->d->arena, use->names, sizeof(char *) * use->count, sizeof(char *) * (use->count ? use->count * 2u : 1u));
    use->names[use->count++] = name;
}

uint16_t expr_columns(struct ddl *d, struct expr *e, const char ***names)
{
    struct column_use use = {.d = d};
    struct tree_walk walk = {.context = &use, .expr = column_noted};
    walk_expr(&walk, e);
    *names = use.names;
    return use.count;
}

struct sequence_use { struct ddl *d; uint32_t oid; };
static void sequence_used(struct tree_walk *w, struct expr *e)
{
    struct sequence_use *use = w->context;
    struct expr *literal = use->oid ? NULL : regclass_literal(e);
    struct relation_name name;
    const struct table *table;
    memset(&name, 0, sizeof name);
    if (!literal || parse_qualified_name(use->d->arena, literal->literal.text, &name) || catalog_find(use->d->session, name.schema, name.name, &table)) {
        error_clear();
        return;
    }
    if (table && table->kind == RELATION_SEQUENCE)
        use->oid = table->oid;
}

enum status default_sequence(struct ddl *d, const char *text, uint32_t *oid)
{
    struct expr *e;
    struct sequence_use use = {.d = d};
    struct tree_walk walk = {.context = &use, .expr = sequence_used};
    enum status status = parse_expression(d->arena, text, strlen(text), &e);
    if (!status)
        walk_expr(&walk, e);
    *oid = use.oid;
    return status;
}

/* ---------------------------------------------------------------- renames under views */

/* changed: the tree of the view differs now; text and rows are written anew. */
struct rename { struct ddl *d; const struct table *table; const char *old_schema, *old_name, *new_schema, *new_name, *forget, *add; bool changed, mentioned; };

static enum status view_store(struct ddl *d, uint32_t view, const char *text)
{
    struct value key = value_oid(view);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&d->access, CATALOG_REWRITE, FIRST_INDEX, &key, 1, &row, &found);
    if (status || !found)
        return status;
    struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * REWRITE_COLUMNS);
    v[REWRITE_ev_action] = value_text(text);
    return catalog_update(&d->access, CATALOG_REWRITE, row.row_id, v);
}

static void rename_in_view(struct tree_walk *w, struct from_item *item)
{
    struct rename *r = w->context;
    if (!item->relation->schema || strcmp(item->relation->name, r->old_name) || strcmp(item->relation->schema, r->old_schema))
        return;
    if (r->new_name) {
        if (!item->alias && strcmp(r->old_name, r->new_name))
            item->alias = (char *)r->old_name;
        item->relation->name = (char *)r->new_name;
        item->relation->schema = (char *)r->new_schema;
        r->changed = true;
        return;
    }
    /* A column changes its name or goes: the columns get the names that the view knows them by. */
    int live = 0, skipped = -1;
    char **names = arena_array(r->d->arena, char *, r->table->column_count + 1);
    for (uint16_t c = 0; c < r->table->column_count; c++) {
        if (r->table->columns[c].dropped)
            continue;
        if (r->forget && !strcmp(r->table->columns[c].name, r->forget))
            skipped = live;
        names[live] = live < item->columns.count ? item->columns.items[live] : (char *)r->table->columns[c].name;
        live++;
    }
    if (r->forget && (skipped < 0 || !item->columns.count))
        return;
    if (r->add) {                                             /* a name that no view can mean */
        if (!r->mentioned && !item->columns.count)
            return;
        names[live++] = arena_printf(r->d->arena, "crab.%u", r->table->column_count + 1u);
    }
    if (r->forget) {
        memmove(names + skipped, names + skipped + 1, sizeof *names * (size_t)(live - skipped - 1));
        live--;
        if (skipped < item->columns.count)
            item->columns.count--;
        live = item->columns.count;
    }
    if (!item->alias)
        item->alias = item->relation->name;
    item->columns.items = names;
    item->columns.positions = arena_array(r->d->arena, int, live + 1);
    item->columns.count = live;
    r->changed = true;
}

/* May the new column's name mean something in the view? In a natural join it would. */
static void name_mentioned(struct tree_walk *w, struct expr *e)
{
    struct rename *r = w->context;
    if (e->kind == EXPR_COLUMN && e->column.count && (e->column.star || !strcmp(e->column.names[e->column.count - 1], r->add)))
        r->mentioned = true;
}
static void join_mentions(struct rename *r, const struct from_item *item)
{
    if (item->kind != FROM_JOIN)
        return;
    r->mentioned = r->mentioned || item->natural;
    for (int i = 0; i < item->using_columns.count; i++)
        r->mentioned = r->mentioned || !strcmp(item->using_columns.items[i], r->add);
    join_mentions(r, item->left);
    join_mentions(r, item->right);
}
static void name_joined(struct tree_walk *w, struct select *s)
{
    for (int i = 0; i < s->from.count; i++)
        join_mentions(w->context, s->from.items[i]);
    for (int i = 0; i < s->targets.count; i++)
        name_mentioned(w, s->targets.items[i]->expr);
}

static enum status views_rename(struct rename *r, uint32_t relation)
{
    struct users users = {0};
    enum status status = views_using(r->d, relation, NULL, &users);
    for (uint32_t i = 0; !status && i < users.count; i++) {
        const struct table *view;
        struct statement_list list;
        status = ddl_table(r->d, users.oids[i], &view);
        if (!status)
            status = ddl_lock(r->d, view->oid, LOCK_ACCESS_EXCLUSIVE);
        if (!status)
            status = parse_sql(r->d->arena, view->view_text, strlen(view->view_text), &list);
        if (status)
            return status;
        r->changed = false;
        struct tree_walk walk = {.context = r, .expr = name_mentioned, .select = name_joined};
        r->mentioned = false;
        if (r->add)
            walk_select(&walk, list.items[0]->select);
        walk = (struct tree_walk){.context = r, .relation = rename_in_view};
        walk_select(&walk, list.items[0]->select);
        if (r->changed)
            status = view_store(r->d, view->oid, deparse_select(r->d->arena, list.items[0]->select));
    }
    return status;
}

enum status views_rename_relation(struct ddl *d, uint32_t relation, const char *old_schema, const char *old_name, const char *new_schema, const char *new_name)
{
    struct rename r = {.d = d, .old_schema = old_schema, .old_name = old_name, .new_schema = new_schema, .new_name = new_name};
    return views_rename(&r, relation);
}

enum status views_rename_column(struct ddl *d, const struct table *table, const char *old_name)
{
    (void)old_name;
    struct rename r = {.d = d, .table = table, .old_schema = table->schema_name, .old_name = table->name};
    return views_rename(&r, table->oid);
}

enum status views_add_column(struct ddl *d, const struct table *before, const char *name)
{
    struct rename r = {.d = d, .table = before, .old_schema = before->schema_name, .old_name = before->name, .add = name};
    return views_rename(&r, before->oid);
}

enum status views_forget_column(struct ddl *d, const struct table *table, const char *name)
{
    struct rename r = {.d = d, .table = table, .old_schema = table->schema_name, .old_name = table->name, .forget = name};
    return views_rename(&r, table->oid);
}
