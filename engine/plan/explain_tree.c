/* engine/plan/explain_tree.c - the items of EXPLAIN as PostgreSQL's JSON, XML or YAML.
 *
 * All three say the same: properties (a name and a value), lists of texts, and groups of these, which have a name or stand in a list. What the text
 * says in a node's one line stands in several properties here, and what it leaves out because it is nought is said. */
#include <stdio.h>
#include <string.h>

#include "engine/plan/explain.h"

enum { JSON = 1, XML, YAML };

struct tree {
    struct text_buffer t;
    int  format, indent;
    bool begun;                          /* the group has something in it already (YAML: its line is used up) */
};

/* ---- words of the three ---- */

static void json_string(struct text_buffer *t, const char *s)
{
    text_buffer_putc(t, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') text_buffer_printf(t, "\\%c", c);
        else if (c == '\n') text_buffer_puts(t, "\\n");
        else if (c == '\r') text_buffer_puts(t, "\\r");
        else if (c == '\t') text_buffer_puts(t, "\\t");
        else if (c < 32) text_buffer_printf(t, "\\u%04x", c);
        else text_buffer_putc(t, (char)c);
    }
    text_buffer_putc(t, '"');
}

static void xml_string(struct text_buffer *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '&') text_buffer_puts(t, "&amp;");
        else if (*s == '<') text_buffer_puts(t, "&lt;");
        else if (*s == '>') text_buffer_puts(t, "&gt;");
        else if (*s == '\r') text_buffer_puts(t, "&#x0d;");
        else text_buffer_putc(t, *s);
    }
}

/* <Startup-Cost>: a name may hold no blank. */
static void xml_tag(struct tree *j, const char *name, bool end)
{
    text_buffer_puts(&j->t, end ? "</" : "<");
    for (; *name; name++) text_buffer_putc(&j->t, *name == ' ' || *name == '/' ? '-' : *name);
    text_buffer_putc(&j->t, '>');
}

static void begin_line(struct tree *j)
{
    switch (j->format) {
    case JSON: text_buffer_printf(&j->t, "%s\n%*s", j->begun ? "," : "", j->indent * 2, ""); break;
    case XML: text_buffer_printf(&j->t, "%*s", j->indent * 2, ""); break;
    default:
        if (j->begun) text_buffer_printf(&j->t, "\n%*s", j->indent * 2, "");
    }
    j->begun = true;
}

/* ---- properties, lists, groups ---- */

static void property(struct tree *j, const char *key, const char *value, bool text)
{
    begin_line(j);
    if (j->format == XML) {
        xml_tag(j, key, false);
        xml_string(&j->t, value);
        xml_tag(j, key, true);
        text_buffer_putc(&j->t, '\n');
        return;
    }
    if (j->format == JSON) json_string(&j->t, key);
    else text_buffer_puts(&j->t, key);
    text_buffer_puts(&j->t, ": ");
    if (text) json_string(&j->t, value);
    else text_buffer_puts(&j->t, value);
}

static void property_text(struct tree *j, const char *key, const char *text) { property(j, key, text, true); }
static void property_bool(struct tree *j, const char *key, bool b) { property(j, key, b ? "true" : "false", false); }
static void property_number(struct tree *j, const char *key, double number, int places)
{
    char text[400];
    snprintf(text, sizeof text, "%.*f", places, number);
    property(j, key, text, false);
}

static void property_list(struct tree *j, const char *key, const char **items, int count)
{
    begin_line(j);
    if (j->format == XML) {
        xml_tag(j, key, false);
        for (int i = 0; i < count; i++) {
            text_buffer_printf(&j->t, "\n%*s<Item>", j->indent * 2 + 2, "");
            xml_string(&j->t, items[i]);
            text_buffer_puts(&j->t, "</Item>");
        }
        text_buffer_printf(&j->t, "\n%*s", j->indent * 2, "");
        xml_tag(j, key, true);
        text_buffer_putc(&j->t, '\n');
    } else if (j->format == JSON) {
        json_string(&j->t, key);
        text_buffer_puts(&j->t, ": [");
        for (int i = 0; i < count; i++) {
            if (i) text_buffer_puts(&j->t, ", ");
            json_string(&j->t, items[i]);
        }
        text_buffer_putc(&j->t, ']');
    } else {
        text_buffer_printf(&j->t, "%s: ", key);
        for (int i = 0; i < count; i++) {
            text_buffer_printf(&j->t, "\n%*s- ", j->indent * 2 + 2, "");
            json_string(&j->t, items[i]);
        }
    }
}

/* kind: its name in XML. key NULL: it stands in a list. list: what is in it has no names. */
static void group_open(struct tree *j, const char *kind, const char *key, bool list)
{
    begin_line(j);
    if (j->format == XML) {
        xml_tag(j, kind, false);
        text_buffer_putc(&j->t, '\n');
    } else if (j->format == JSON) {
        if (key) json_string(&j->t, key), text_buffer_puts(&j->t, ": ");
        text_buffer_putc(&j->t, list ? '[' : '{');
    } else if (key)
        text_buffer_printf(&j->t, "%s: ", key);
    else
        text_buffer_puts(&j->t, "- ");
    j->indent++;
    j->begun = j->format == YAML && key;
}

static void group_close(struct tree *j, const char *kind, bool list)
{
    j->indent--;
    if (j->format == XML) {
        text_buffer_printf(&j->t, "%*s", j->indent * 2, "");
        xml_tag(j, kind, true);
        text_buffer_putc(&j->t, '\n');
    } else if (j->format == JSON)
        text_buffer_printf(&j->t, "\n%*s%c", j->indent * 2, "", list ? ']' : '}');
    j->begun = true;
}

/* ---- a node ---- */

static const char *before(struct explaining *x, const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    return at ? arena_printf(x->arena, "%.*s", (int)(at - text), text) : text;
}

static bool begins(const char **text, const char *with)
{
    size_t length = strlen(with);
    if (strncmp(*text, with, length) != 0) return false;
    *text += length;
    return true;
}

static const struct plan *real_of(const struct plan *n)
{
    while (n && (n->kind == PLAN_PROJECT || n->kind == PLAN_FILTER)) n = n->left;
    return n;
}

struct kind { const char *type, *strategy, *mode, *operation, *join, *command; bool parallel, backward; };

/* "Hash Left Join" is a Hash Join of type Left. */
static struct kind kind_of(struct explaining *x, const struct shown *item)
{
    static const char *const joins[] = { [PLAN_INNER] = "Inner", [PLAN_LEFT] = "Left", [PLAN_RIGHT] = "Right", [PLAN_FULL] = "Full", [PLAN_SEMI] = "Semi", [PLAN_ANTI] = "Anti",
                                         [PLAN_ANTI_NULL] = "Anti", [PLAN_RIGHT_SEMI] = "Right Semi", [PLAN_RIGHT_ANTI] = "Right Anti" };
    struct kind k = { 0 };
    const char *text = item->key;
    k.parallel = begins(&text, "Parallel ");
    if (begins(&text, "Partial ")) k.mode = "Partial";
    else if (begins(&text, "Finalize ")) k.mode = "Finalize";
    k.type = before(x, before(x, text, " using "), " on ");
    if (strcmp(k.type, "HashAggregate") == 0) k.strategy = "Hashed";
    else if (strcmp(k.type, "MixedAggregate") == 0) k.strategy = "Mixed";
    else if (strcmp(k.type, "GroupAggregate") == 0) k.strategy = "Sorted";
    else if (strcmp(k.type, "Aggregate") == 0) k.strategy = "Plain";
    if (k.strategy) {
        k.type = "Aggregate";
        if (!k.mode) k.mode = "Simple";
    }
    size_t length = strlen(k.type);
    bool joined = (length > 4 && strcmp(k.type + length - 4, "Join") == 0) || strncmp(k.type, "Nested Loop", 11) == 0;
    if (joined) {
        k.join = joins[real_of(item->plan)->join];
        k.type = k.type[0] == 'H' ? "Hash Join" : k.type[0] == 'M' ? "Merge Join" : "Nested Loop";
    }
    if (strcmp(k.type, "Insert") == 0 || strcmp(k.type, "Update") == 0 || strcmp(k.type, "Delete") == 0) { k.operation = k.type; k.type = "ModifyTable"; }
    k.backward = length > 9 && strcmp(k.type + length - 9, " Backward") == 0;
    if (k.backward) k.type = before(x, k.type, " Backward");
    if (strncmp(k.type, "HashSetOp ", 10) == 0) { k.command = k.type + 10; k.type = "SetOp"; k.strategy = "Hashed"; }
    return k;
}

static void node_kind(struct explaining *x, struct tree *j, const struct shown *item, const char *relationship, const char *subplan)
{
    struct kind k = kind_of(x, item);
    const struct plan *scan = real_of(item->plan);
    bool by_index = strcmp(k.type, "Index Scan") == 0 || strcmp(k.type, "Index Only Scan") == 0;
    property_text(j, "Node Type", k.type);
    if (k.strategy) property_text(j, "Strategy", k.strategy);
    if (k.mode) property_text(j, "Partial Mode", k.mode);
    if (k.operation) property_text(j, "Operation", k.operation);
    if (relationship) property_text(j, "Parent Relationship", relationship);
    if (subplan) property_text(j, "Subplan Name", subplan);
    property_bool(j, "Parallel Aware", k.parallel);
    property_bool(j, "Async Capable", false);
    if (k.join) property_text(j, "Join Type", k.join);
    if (k.command) property_text(j, "Command", k.command);
    if (by_index && scan->index) {
        property_text(j, "Scan Direction", k.backward ? "Backward" : "Forward");
        property_text(j, "Index Name", scan->index->name);
    }
    if (strcmp(k.type, "Bitmap Index Scan") == 0) property_text(j, "Index Name", strstr(item->key, " on ") + 4);
    bool reads = strcmp(k.type, "Seq Scan") == 0 || by_index || strcmp(k.type, "Bitmap Heap Scan") == 0 || k.operation;
    if (scan && scan->table && reads) {
        property_text(j, "Relation Name", scan->table->name);
        if (x->options->verbose) property_text(j, "Schema", scan->table->schema_name);
        property_text(j, "Alias", scan->alias ? scan->alias : scan->table->name);
    }
    if (strcmp(k.type, "CTE Scan") == 0 || strcmp(k.type, "WorkTable Scan") == 0) {
        property_text(j, "CTE Name", x->plan->cte_names[scan->cte]);
        property_text(j, "Alias", scan->alias);
    }
    if (strcmp(k.type, "Function Scan") == 0) {
        property_text(j, "Function Name", scan->set_function->name);
        property_text(j, "Alias", scan->alias ? scan->alias : scan->set_function->name);
    }
    if (strcmp(k.type, "Values Scan") == 0) property_text(j, "Alias", "*VALUES*");
}

static void node_numbers(struct explaining *x, struct tree *j, const struct shown *node)
{
    const struct plan *n = node->plan;
    struct actual a;
    if (x->options->costs) {
        property_number(j, "Startup Cost", n->startup_cost, 2);
        property_number(j, "Total Cost", n->total_cost, 2);
        property_number(j, "Plan Rows", n->rows, 0);
        property_number(j, "Plan Width", n->width, 0);
    }
    if (!explain_actual(x, node, &a)) return;
    if (x->options->timing) {
        property_number(j, "Actual Startup Time", a.start, 3);
        property_number(j, "Actual Total Time", a.total, 3);
    }
    property_number(j, "Actual Rows", a.rows, 0);
    property_number(j, "Actual Loops", a.loops, 0);
}

static void detail(struct tree *j, const struct shown *item)
{
    switch (item->kind) {
    case SHOWN_TEXT:
        property_text(j, item->key, item->text);
        if (!item->items) break;
        property_number(j, "Sort Space Used", item->number, 0);
        property_text(j, "Sort Space Type", item->items[0]);
        break;
    case SHOWN_NUMBER: property_number(j, item->key, item->number, 0); break;
    case SHOWN_SIZES:
        for (int i = 0; i < item->count; i++) property_number(j, item->sizes[i].key, item->sizes[i].number, 0);
        break;
    default: property_list(j, item->key, item->items, item->count);
    }
}

static void buffers(struct tree *j, const struct touched *t)
{
    static const char *const none[] = { "Local Hit Blocks", "Local Read Blocks", "Local Dirtied Blocks", "Local Written Blocks",
                                        "Temp Read Blocks", "Temp Written Blocks" };
    property_number(j, "Shared Hit Blocks", (double)t->hit, 0);
    property_number(j, "Shared Read Blocks", (double)t->read, 0);
    property_number(j, "Shared Dirtied Blocks", (double)t->dirtied, 0);
    property_number(j, "Shared Written Blocks", (double)t->written, 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) property_number(j, none[i], 0, 0);
}

static void node_touched(struct explaining *x, struct tree *j, const struct shown *node)
{
    if (!node->plan || (!x->options->buffers && !x->options->wal)) return;
    if (x->options->buffers) buffers(j, &node->all);
    if (!x->options->wal) return;
    property_number(j, "WAL Records", (double)node->all.records, 0);
    property_number(j, "WAL FPI", (double)node->all.images, 0);
    property_number(j, "WAL Bytes", (double)node->all.bytes, 0);
}

/* A node and all that stands deeper; *at comes out behind it. */
static void node_all(struct explaining *x, struct tree *j, int *at, const char *relationship, const char *subplan)
{
    const struct shown *node = &x->items[(*at)++];
    bool opened = false;
    int children = 0;
    node_kind(x, j, node, relationship, subplan);
    node_numbers(x, j, node);
    for (const char *title = NULL; *at < x->count; ) {
        const struct shown *item = &x->items[*at];
        if (item->kind == SHOWN_NODE ? item->depth <= node->depth : item->depth < node->depth) break;
        if (item->kind != SHOWN_NODE && item->kind != SHOWN_TITLE) {         /* details come before the children */
            detail(j, item);
            ++*at;
            continue;
        }
        if (!opened) {
            node_touched(x, j, node);
            group_open(j, "Plans", "Plans", true);
        }
        opened = true;
        if (item->kind == SHOWN_TITLE) {
            title = item->key;
            ++*at;
            continue;
        }
        const char *how = title ? (strncmp(title, "SubPlan", 7) == 0 ? "SubPlan" : "InitPlan") : node->plan->kind == PLAN_APPEND ? "Member" : children == 0 ? "Outer" : "Inner";
        if (!title) children++;
        group_open(j, "Plan", NULL, false);
        node_all(x, j, at, how, title);
        group_close(j, "Plan", false);
        title = NULL;
    }
    if (opened) group_close(j, "Plans", true);
    else node_touched(x, j, node);
}

/* ---- the whole ---- */

static void phases(struct tree *j, const struct exec_counters *c)
{
    group_open(j, "Phases", "Phases", false);
    property_number(j, "Scan", (double)c->scan_us / 1000, 3);
    property_number(j, "Merge", (double)c->merge_us / 1000, 3);
    property_number(j, "Finalise", (double)c->finalise_us / 1000, 3);
    property_number(j, "Print", (double)c->print_us / 1000, 3);
    property_number(j, "Leader", explain_leader_us(c) / 1000, 3);
    group_close(j, "Phases", false);
}

static void query(struct explaining *x, struct tree *j)
{
    const struct explain_options *o = x->options;
    int at = 0;
    group_open(j, "Plan", "Plan", false);
    if (x->count) node_all(x, j, &at, NULL, NULL);
    group_close(j, "Plan", false);
    if (o->show_settings) {
        group_open(j, "Settings", "Settings", false);
        for (int i = 0; i < o->setting_count; i++) property_text(j, o->settings[i].name, o->settings[i].value);
        group_close(j, "Settings", false);
    }
    if (explain_reason(x)) property_text(j, "Serial Reason", x->plan->serial_reason);
    if (o->buffers) {
        group_open(j, "Planning", "Planning", false);
        buffers(j, &(struct touched){ .hit = o->planning_hit, .read = o->planning_read });
        group_close(j, "Planning", false);
    }
    if (o->summary) property_number(j, "Planning Time", (double)o->planning_us / 1000, 3);
    if (explain_phases(x)) phases(j, x->counters);
    if (!o->analyze || !x->counters) return;
    group_open(j, "Triggers", "Triggers", true);
    group_close(j, "Triggers", true);
    if (o->summary) property_number(j, "Execution Time", (double)x->counters->run_us / 1000, 3);
}

void explain_tree(struct explaining *x, char ***lines, int *count)
{
    struct tree j = { .format = x->options->format };
    text_buffer_open(&j.t, x->arena);
    if (j.format == JSON) text_buffer_putc(&j.t, '[');
    if (j.format == XML) text_buffer_puts(&j.t, "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n");
    j.indent = j.format == YAML ? 0 : 1;
    group_open(&j, "Query", NULL, false);
    query(x, &j);
    group_close(&j, "Query", false);
    if (j.format == JSON) text_buffer_puts(&j.t, "\n]");
    if (j.format == XML) text_buffer_puts(&j.t, "</explain>");
    *lines = arena_array(x->arena, char *, 1);
    (*lines)[0] = j.t.bytes;
    *count = 1;
}
