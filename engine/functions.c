/* engine/functions.c - functions that ask the session: sequences, settings, who and where, other backends; the rows of the registry for
 * these and for those of functions_describe.c and inspect.c; and the lookup behind regclass and its kin.
 *
 * None of them is parallel safe: they run in the session's own thread. */
#include "engine/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/catalog/cache.h"
#include "engine/catalog/rows.h"
#include "engine/catalog/sequence.h"
#include "engine/catalog/views.h"
#include "engine/describe.h"
#include "engine/session_private.h"
#include "engine/types/array.h"
#include "engine/exec/set_function.h"
#include "parser/keyword.h"

/* ---------------------------------------------------------------- by rows */

enum status run_rows(struct kernel_call *call, row_function function)
{
    struct row_call c = {.session = type_env->session, .arena = call->arena, .arg_types = call->arg_types, .arg_count = call->arg_count, .out_type = call->out_type};
    struct value args[FUNCTION_ARGS_MAX];
    for (KERNEL_ROWS(call, i)) {
        struct value result = value_null();
        if (call->out->nulls[i])
            continue;
        for (uint32_t a = 0; a < call->arg_count && a < FUNCTION_ARGS_MAX; a++)
            args[a] = value_get(call->arg_types[a], &call->args[a], i);
        enum status status = c.session ? STATUS_OK : error_set(STATUS_INTERNAL, "this function needs a session");
        if (!status)
            status = function(&c, args, &result);
        if (status) {
            *call->error_at = i;
            return status;
        }
        if (result.null)
            call->has_nulls = true;
        value_put(call->out_type, &result, call->out, i);
    }
    return STATUS_OK;
}

char *text_argument(const struct row_call *c, const struct value *v) { return arena_strndup(c->arena, (const char *)v->v.bytes, v->v.length); }

/* ---------------------------------------------------------------- sequences */

ROW_FUNCTION(nextval) { *out = value_i8(0); return sequence_next(c->session, args[0].oid, &out->i8); }
ROW_FUNCTION(currval) { *out = value_i8(0); return sequence_current(c->session, args[0].oid, &out->i8); }
ROW_FUNCTION(lastval) { (void)args; *out = value_i8(0); return sequence_last(c->session, &out->i8); }
ROW_FUNCTION(setval)
{
    *out = value_i8(args[1].i8);
    return sequence_set(c->session, args[0].oid, args[1].i8, c->arg_count < 3 || args[2].b);
}

/* ---------------------------------------------------------------- who and where */

ROW_FUNCTION(current_database) { (void)args; *out = value_text(session_database(c->session)); return STATUS_OK; }
ROW_FUNCTION(current_user) { (void)args; *out = value_text(session_user(c->session)); return STATUS_OK; }
ROW_FUNCTION(pg_backend_pid) { (void)args; *out = value_i4(session_pid(c->session)); return STATUS_OK; }
ROW_FUNCTION(version)
{
    (void)args;
    *out = value_text(arena_printf(c->arena, "PostgreSQL %s on x86_64-pc-linux-gnu, compiled by %s, 64-bit", settings_server_value("server_version"), __VERSION__));
    return STATUS_OK;
}

static enum status path_names(const struct row_call *c, bool implicit, struct text_buffer *text, const char **first)
{
    const uint32_t *path;
    uint16_t count;
    enum status status = catalog_search_path(c->session, &path, &count);
    struct catalog_access access;
    catalog_access_open(c->session, c->arena, &access);
    bool named = strstr(session_settings(c->session)->search_path, "pg_catalog") != NULL;
    *first = NULL;
    text_buffer_putc(text, '{');
    for (uint16_t i = 0; !status && i < count; i++) {
        struct value key = value_oid(path[i]);
        struct catalog_row row;
        bool found;
        if (path[i] == SCHEMA_PG_CATALOG && !implicit && !named)
            continue;
        status = catalog_get(&access, CATALOG_NAMESPACE, BY_OID, &key, 1, &row, &found);
        if (status || !found)
            continue;
        char *name = value_string(c->arena, &row.values[NAMESPACE_nspname]);
        if (!*first)
            *first = name;
        text_buffer_puts(text, text->length > 1 ? ",\"" : "\"");
        for (const char *p = name; *p; p++)
            text_buffer_printf(text, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p);
        text_buffer_putc(text, '"');
    }
    text_buffer_putc(text, '}');
    return status;
}
ROW_FUNCTION(current_schema)
{
    const char *first;
    struct text_buffer text;
    (void)args;
    text_buffer_open(&text, c->arena);
    enum status status = path_names(c, false, &text, &first);
    *out = value_text(first);
    return status;
}
ROW_FUNCTION(current_schemas)
{
    const char *first;
    struct text_buffer text;
    text_buffer_open(&text, c->arena);
    enum status status = path_names(c, args[0].b, &text, &first);
    return status ? status : type_in(c->out_type, text.bytes, text.length, c->arena, out);
}

/* ---------------------------------------------------------------- settings */

ROW_FUNCTION(current_setting)
{
    const char *value, *canonical;
    if (args[0].null || (c->arg_count > 1 && args[1].null))
        return STATUS_OK;
    enum status status = settings_show(c->session, text_argument(c, &args[0]), c->arena, &value, &canonical);
    if (status && c->arg_count > 1 && args[1].b) {
        error_clear();
        return STATUS_OK;
    }
    if (!status)
        *out = value_text(value);
    return status;
}
ROW_FUNCTION(set_config)
{
    const char *value, *canonical;
    if (args[0].null)
        return error_set(STATUS_NULL_NOT_ALLOWED, "SET requires parameter name");
    char *name = text_argument(c, &args[0]);
    enum status status = settings_set(c->session, name, args[1].null ? NULL : text_argument(c, &args[1]), !args[2].null && args[2].b ? SETTING_LOCAL : SETTING_SESSION);
    if (!status)
        status = settings_show(c->session, name, c->arena, &value, &canonical);
    if (!status)
        *out = value_text(value);
    return status;
}

/* ---------------------------------------------------------------- names, encodings, rights */

ROW_FUNCTION(pg_get_userbyid) { *out = value_text(args[0].oid == 10 ? "postgres" : arena_printf(c->arena, "unknown (OID=%u)", args[0].oid)); return STATUS_OK; }
ROW_FUNCTION(pg_encoding_to_char) { (void)c; *out = value_text(args[0].i4 == 6 ? "UTF8" : args[0].i4 == 0 ? "SQL_ASCII" : ""); return STATUS_OK; }
ROW_FUNCTION(pg_char_to_encoding)
{
    char *name = text_argument(c, &args[0]);
    *out = value_i4(!strcasecmp(name, "utf8") || !strcasecmp(name, "utf-8") || !strcasecmp(name, "unicode") ? 6 : !strcasecmp(name, "sql_ascii") ? 0 : -1);
    return STATUS_OK;
}
ROW_FUNCTION(encoding_name) { (void)args, (void)c; *out = value_text("UTF8"); return STATUS_OK; }
ROW_FUNCTION(answer_true) { (void)args, (void)c; *out = value_bool(true); return STATUS_OK; }
ROW_FUNCTION(answer_false) { (void)args, (void)c; *out = value_bool(false); return STATUS_OK; }

/* The superuser may do everything, to what there is. */
static enum status judge_privilege(const struct row_call *c, const struct value *args, uint16_t at, struct value *out)
{
    static const char *const rights[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "RULE"};
    struct value oid = args[at];
    if (c->arg_types[at].oid == OID_TEXT) {
        enum status status = type_in(type_make(OID_REGCLASS, -1), (const char *)args[at].v.bytes, args[at].v.length, c->arena, &oid);
        if (status)
            return status;
    }
    for (char *word = text_argument(c, &args[at + 1]), *next; word; word = next) {
        bool known = false;
        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        word += strspn(word, " ");
        size_t length = strlen(word);
        while (length && word[length - 1] == ' ')
            word[--length] = 0;
        if (length > 18 && !strcasecmp(word + length - 18, " WITH GRANT OPTION"))
            word[length - 18] = 0;
        for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++)
            known |= !strcasecmp(word, rights[i]);
        if (!known)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "unrecognized privilege type: \"%s\"", word);
    }
    const struct table *table;
    enum status status = catalog_table(c->session, oid.oid, &table);
    if (!status && table)
        *out = value_bool(true);
    return status;
}
ROW_FUNCTION(has_table_privilege) { return judge_privilege(c, args, 0, out); }
ROW_FUNCTION(has_table_privilege_of) { return judge_privilege(c, args, 1, out); }

ROW_FUNCTION(answer_null) { (void)args, (void)c, (void)out; return STATUS_OK; }
ROW_FUNCTION(answer_empty) { (void)args, (void)c; *out = value_text(""); return STATUS_OK; }
ROW_FUNCTION(answer_oid_zero) { (void)args, (void)c; *out = value_oid(0); return STATUS_OK; }
ROW_FUNCTION(function_visible) { (void)c; *out = value_bool(true); if (!function_by_oid(args[0].oid)) *out = value_null(); return STATUS_OK; }
ROW_FUNCTION(type_visible) { (void)c; *out = value_bool(true); if (!type_info(args[0].oid)) *out = value_null(); return STATUS_OK; }

/* ---------------------------------------------------------------- transactions and backends */

ROW_FUNCTION(txid_current)
{
    xid_t xid;
    (void)args;
    enum status status = txn_id(session_txn(c->session), &xid);
    *out = value_i8(status ? 0 : (int64_t)txn_top_id(session_txn(c->session)));
    return status;
}
ROW_FUNCTION(txid_current_if_assigned)
{
    (void)args;
    xid_t xid = txn_top_id(session_txn(c->session));
    if (xid)
        *out = value_i8((int64_t)xid);
    return STATUS_OK;
}

static enum status signal_backend(const struct row_call *c, int32_t pid, enum interrupt interrupt, struct value *out)
{
    bool found = false;
    latch_acquire(&sessions_latch, LATCH_SHARED);
    for (struct session *session = sessions_first; session && !found; session = session->next_session)
        if (session->pid == pid && session->thread) {
            found = true;
            thread_interrupt(session->thread, interrupt);
        }
    latch_release(&sessions_latch);
    if (!found)
        session_notice(c->session, "WARNING", "01000", "PID %d is not a PostgreSQL backend process", pid);
    *out = value_bool(found);
    return STATUS_OK;
}
ROW_FUNCTION(pg_cancel_backend) { return signal_backend(c, args[0].i4, INTERRUPT_CANCEL, out); }
ROW_FUNCTION(pg_terminate_backend) { return signal_backend(c, args[0].i4, INTERRUPT_TERMINATE, out); }

ROW_FUNCTION(pg_blocking_pids)
{
    size_t capacity = 4096;
    struct lock_sight *sights = arena_array(c->arena, struct lock_sight, capacity);
    size_t count = lock_sights(session_store(c->session), sights, capacity);
    struct text_buffer text;
    if (count > capacity)
        count = capacity;
    text_buffer_open(&text, c->arena);
    text_buffer_putc(&text, '{');
    for (size_t i = 0; i < count; i++) {
        if (sights[i].pid != args[0].i4 || sights[i].granted || sights[i].awaited_xid)
            continue;
        for (size_t k = 0; k < count; k++)
            if (sights[k].granted && sights[k].pid != sights[i].pid && sights[k].table == sights[i].table && sights[k].row == sights[i].row && sights[k].row_id == sights[i].row_id)
                text_buffer_printf(&text, "%s%d", text.length > 1 ? "," : "", sights[k].pid);
    }
    text_buffer_putc(&text, '}');
    return type_in(c->out_type, text.bytes, text.length, c->arena, out);
}

ROW_FUNCTION(pg_sleep)
{
    double seconds = args[0].f8;
    struct latch latch;
    struct condition never;
    memset(out, 0, sizeof *out);
    if (!(seconds > 0))
        return STATUS_OK;
    if (seconds > 86400.0 * 365)
        seconds = 86400.0 * 365;
    uint64_t deadline = now_us() + (uint64_t)(seconds * 1e6);
    latch_init(&latch, RANK_LEAF, 0, 0, 0);
    memset(&never, 0, sizeof never);
    condition_init(&never, "pg_sleep");
    latch_acquire(&latch, LATCH_EXCLUSIVE);
    while (now_us() < deadline && condition_wait_until(&never, &latch, deadline, true) == WAKE_SIGNALED)
        ;
    latch_release(&latch);
    (void)c;
    return thread_check_interrupts();
}

static int64_t started_us;
ROW_FUNCTION(pg_postmaster_start_time) { (void)args, (void)c; *out = value_i8(started_us - 946684800000000); return STATUS_OK; }

/* ---------------------------------------------------------------- names for the reg types */

static struct session *asking(void) { return type_env->session; }

/* "text, integer)": are these the types of the function's arguments? */
static bool arguments_are(struct arena *arena, const char *text, const struct function *f)
{
    uint8_t at = 0;
    for (const char *p = text; *p && *p != ')'; at++) {
        int depth = 0;
        size_t length = 0;
        for (; p[length] && (depth || (p[length] != ',' && p[length] != ')')); length++)
            depth += p[length] == '(' ? 1 : p[length] == ')' ? -1 : 0;
        struct type_name *t;
        const char *part = arena_strndup(arena, p, length);
        const struct type_info *info = parse_type_name(arena, part, length, &t) ? NULL : type_by_name(t->name);
        error_clear();
        if (!info || at >= f->arg_count || f->arg_types[at] != (t->dimensions ? type_array_of(info->oid) : info->oid))
            return false;
        p += length;
        p += *p == ',';
    }
    return at == f->arg_count;
}

static enum status name_to_oid(uint32_t type, const char *name, uint32_t *out)
{
    struct session *session = asking();
    struct arena *arena = arena_open(NULL, "name");
    struct relation_name parts;
    enum status status = STATUS_OK;
    *out = 0;
    memset(&parts, 0, sizeof parts);
    if (type == OID_REGTYPE) {
        struct type_name *t;
        status = parse_type_name(arena, name, strlen(name), &t);
        const struct type_info *info = status ? NULL : type_by_name(t->name);
        uint32_t relation = 0;
        if (!status && !info && session)                      /* a relation's rows */
            status = relation_by_name(session, t->schema, t->name, &relation);
        const char *schema, *relation_name;
        char kind = 0;
        if (!status && relation)
            status = describe_relation(session, arena, relation, &schema, &relation_name, &kind);
        if (!status && relation && (kind == RELATION_TABLE || kind == RELATION_VIEW)) {
            *out = t->dimensions ? ROW_TYPE_ARRAY(relation) : ROW_TYPE(relation);
            goto done;
        }
        if (!status && (!info || (t->schema && strcmp(t->schema, "pg_catalog"))))
            status = error_set(STATUS_UNDEFINED_OBJECT, "type \"%s\" does not exist", name);
        if (!status)
            *out = t->dimensions ? type_array_of(info->oid) : info->oid;
        goto done;
    }
    char *bare = arena_strdup(arena, name), *arguments = type == OID_REGPROCEDURE ? strchr(bare, '(') : NULL;
    if (arguments)
        *arguments++ = 0;
    status = parse_qualified_name(arena, bare, &parts);
    if (status)
        goto done;
    switch (type) {
    case OID_REGCLASS:
        if (!session) {
            status = error_set(STATUS_INTERNAL, "regclass needs a session");
            break;
        }
        status = relation_by_name(session, parts.schema, parts.name, out);
        if (!status && !*out && parts.schema)
            status = error_set(STATUS_UNDEFINED_TABLE, "relation \"%s.%s\" does not exist", parts.schema, parts.name);
        else if (!status && !*out)
            status = error_set(STATUS_UNDEFINED_TABLE, "relation \"%s\" does not exist", parts.name);
        break;
    case OID_REGNAMESPACE:
        status = session ? catalog_schema(session, parts.name, out) : STATUS_OK;
        if (!status && !*out)
            status = error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", parts.name);
        break;
    case OID_REGROLE:
        *out = !strcmp(parts.name, "postgres") ? 10 : 0;
        if (!*out)
            status = error_set(STATUS_UNDEFINED_OBJECT, "role \"%s\" does not exist", parts.name);
        break;
    case OID_REGPROC: case OID_REGPROCEDURE: {
        size_t count;
        const struct function *const *f = functions_named(parts.name, &count);
        static const struct { const char *name; uint32_t oid; } support[] = {{"array_in", 750}, {"array_out", 751}, {"array_recv", 2400}, {"array_send", 2401}, {"btree_handler", 330}, {"bthandler", 330}};
        for (size_t i = 0; !count && i < sizeof support / sizeof support[0]; i++)
            if (!strcmp(support[i].name, parts.name))
                *out = support[i].oid;
        for (size_t i = 0; arguments && i < count; i++)
            if (arguments_are(arena, arguments, f[i]))
                *out = f[i]->oid;
        if (count == 1 && !arguments)
            *out = f[0]->oid;
        else if (arguments && !*out)
            status = error_set(STATUS_UNDEFINED_FUNCTION, "function \"%s\" does not exist", name);
        else if (arguments)
            ;
        else if (count > 1)
            status = error_set(STATUS_AMBIGUOUS_FUNCTION, "more than one function named \"%s\"", name);
        else if (!*out)
            status = error_set(STATUS_UNDEFINED_FUNCTION, "function \"%s\" does not exist", name);
        break;
    }
    case OID_REGOPER: {
        size_t count;
        const struct operator *const *o = operators_named(parts.name, &count);
        if (count == 1)
            *out = o[0]->oid;
        else
            status = count ? error_set(STATUS_AMBIGUOUS_FUNCTION, "more than one operator named %s", name) : error_set(STATUS_UNDEFINED_FUNCTION, "operator does not exist: %s", name);
        break;
    }
    default: status = error_set(STATUS_UNDEFINED_OBJECT, "\"%s\" does not exist", name);
    }
done:
    arena_close(arena);
    return status;
}

static bool oid_to_name(uint32_t type, uint32_t oid, struct text_buffer *out)
{
    struct session *session = asking();
    struct arena *arena = arena_open(NULL, "name");
    bool found = false;
    if (type == OID_REGCLASS && session) {
        const char *schema, *name;
        char kind;
        if (!describe_relation(session, arena, oid, &schema, &name, &kind) && name) {
            text_buffer_puts(out, describe_relation_name(session, arena, schema, name, oid));
            found = true;
        }
    } else if (type == OID_REGNAMESPACE && session) {
        struct catalog_access access;
        catalog_access_open(session, arena, &access);
        struct value key = value_oid(oid);
        struct catalog_row row;
        if (catalog_get(&access, CATALOG_NAMESPACE, BY_OID, &key, 1, &row, &found))
            found = false;
        if (found)
            text_buffer_puts(out, quote_identifier(arena, value_string(arena, &row.values[NAMESPACE_nspname])));
    } else if (type == OID_REGROLE && oid == 10) {
        text_buffer_puts(out, "postgres");
        found = true;
    } else if (type == OID_REGPROC || type == OID_REGPROCEDURE) {
        const struct function *f = function_by_oid(oid);
        const char *name = f ? f->name : oid == 750 ? "array_in" : oid == 751 ? "array_out" : oid == 330 ? "bthandler" : oid == 3 ? "heap_tableam_handler" : NULL;
        if (name) {
            text_buffer_puts(out, name);
            found = true;
            if (type == OID_REGPROCEDURE && f) {
                text_buffer_putc(out, '(');
                for (uint8_t i = 0; i < f->arg_count; i++)
                    text_buffer_printf(out, "%s%s", i ? "," : "", type_format(f->arg_types[i], -1, arena));
                text_buffer_putc(out, ')');
            }
        }
    } else if (type == OID_REGTYPE && session && ROW_TYPE_RELATION(oid)) {
        const char *schema, *name;
        char kind;
        uint32_t relation = ROW_TYPE_RELATION(oid);
        if (!describe_relation(session, arena, relation, &schema, &name, &kind) && name) {
            text_buffer_printf(out, "%s%s", describe_relation_name(session, arena, schema, name, relation), oid == ROW_TYPE_ARRAY(relation) ? "[]" : "");
            found = true;
        }
    } else if (type == OID_REGTYPE && type_info(oid)) {
        text_buffer_puts(out, type_info(oid)->sql_name);
        found = true;
    }
    error_clear();
    arena_close(arena);
    return found;
}

static const struct name_lookup lookup = {.to_oid = name_to_oid, .to_name = oid_to_name};

/* (a,b) as text, as PostgreSQL prints a record. */
static struct value record_text(struct set_call *call, const struct value *values)
{
    struct text_buffer out;
    text_buffer_open(&out, call->arena);
    for (uint8_t i = 0; i < call->function->column_count; i++) {
        struct sql_type type = type_make(call->function->columns[i].type, -1);
        text_buffer_puts(&out, i ? "," : "(");
        if (values[i].null)
            continue;
        struct vector v;
        struct text_buffer text;
        text_buffer_open(&text, call->arena);
        value_vector(type, &values[i], call->arena, &v);
        type_out(type, &v, 0, &text);
        bool quote = !text.length || strpbrk(text.bytes, "(),\"\\ \t\n");
        text_buffer_puts(&out, quote ? "\"" : "");
        for (size_t k = 0; k < text.length; k++)
            text_buffer_printf(&out, "%s%c", text.bytes[k] == '"' || text.bytes[k] == '\\' ? "\\" : "", text.bytes[k]);
        text_buffer_puts(&out, quote ? "\"" : "");
    }
    text_buffer_putc(&out, ')');
    return (struct value){.v = {.bytes = (const uint8_t *)out.bytes, .length = (uint32_t)out.length}};
}

/* A row of columns in FROM; one record in a select list. */
static enum status record_row(struct set_call *call, const struct value *values)
{
    if (call->column_count != 1 || call->types[0].oid != OID_RECORD)
        return call->row(call, values);
    struct value record = record_text(call, values);
    return call->row(call, &record);
}

ROW_FUNCTION(crab_record_field)
{
    const char *p = text_argument(c, &args[0]);
    int wanted = args[1].i4;
    struct text_buffer text;
    text_buffer_open(&text, c->arena);
    p += *p == '(';
    for (int field = 0;; field++) {
        bool quoted = false, any = false;
        text.length = 0;
        for (; *p && (quoted || (*p != ',' && *p != ')')); p++) {
            any = true;
            if (*p == '"')
                quoted = !quoted;
            else
                text_buffer_putc(&text, *p == '\\' && p[1] ? *++p : *p);
        }
        if (field == wanted) {
            if (any)
                *out = (struct value){.v = {.bytes = (const uint8_t *)(text.bytes ? text.bytes : ""), .length = (uint32_t)text.length}};
            return STATUS_OK;
        }
        if (*p != ',')
            return STATUS_OK;
        p++;
    }
}

/* ---------------------------------------------------------------- the registry */

#define ARGS(...) (sizeof((uint32_t[]){0, ##__VA_ARGS__}) / sizeof(uint32_t) - 1)
/* S: strict, L: lax (nulls come). */
#define F(o, n, strict_, vol, re, k, ...) {.oid = o, .name = n, .kind = FUNCTION_SCALAR, .arg_count = ARGS(__VA_ARGS__), .arg_types = {__VA_ARGS__}, .result = re, .strict = strict_, .volatility = vol, .kernel = k_##k},
#define S(o, n, re, k, ...) F(o, n, true, STABLE, re, k, ##__VA_ARGS__)
#define V(o, n, re, k, ...) F(o, n, true, VOLATILE, re, k, ##__VA_ARGS__)
#define L(o, n, vol, re, k, ...) F(o, n, false, vol, re, k, ##__VA_ARGS__)
#define T OID_TEXT
#define N OID_NAME
#define O OID_OID
#define B OID_BOOL
#define I4 OID_INT4
#define I8 OID_INT8
#define RC OID_REGCLASS

static const struct function_column option_columns[] = {{"option_name", T}, {"option_value", T}}, keyword_columns[] = {{"word", T}, {"catcode", OID_CHAR}, {"barelabel", B}, {"catdesc", T}, {"baredesc", T}},
                                    zone_columns[] = {{"name", T}, {"abbrev", T}, {"utc_offset", OID_INTERVAL}, {"is_dst", B}}, expand_columns[] = {{"x", OID_INT2}, {"n", I4}};

static const struct function extra[] = {
    V(1574, "nextval", I8, nextval, RC) V(1575, "currval", I8, currval, RC) V(1576, "setval", I8, setval, RC, I8) V(1765, "setval", I8, setval, RC, I8, B) V(2559, "lastval", I8, lastval)
    S(861, "current_database", N, current_database) S(745, "current_user", N, current_user) S(746, "session_user", N, current_user) S(9200, "current_role", N, current_user) S(9201, "user", N, current_user)
    S(9202, "current_catalog", N, current_database) S(1402, "current_schema", N, current_schema) S(1403, "current_schemas", 1003, current_schemas, B) S(2026, "pg_backend_pid", I4, pg_backend_pid)
    S(89, "version", T, version) L(2077, "current_setting", STABLE, T, current_setting, T) L(3294, "current_setting", STABLE, T, current_setting, T, B) L(2078, "set_config", VOLATILE, T, set_config, T, T, B)
    S(1642, "pg_get_userbyid", N, pg_get_userbyid, O) S(1597, "pg_encoding_to_char", N, pg_encoding_to_char, I4) S(1264, "pg_char_to_encoding", I4, pg_char_to_encoding, N)
    S(1039, "getdatabaseencoding", N, encoding_name) S(810, "pg_client_encoding", N, encoding_name)

    S(2079, "pg_table_is_visible", B, pg_table_is_visible, O) S(2080, "pg_type_is_visible", B, type_visible, O) S(2081, "pg_function_is_visible", B, function_visible, O) S(2082, "pg_operator_is_visible", B, answer_true, O)
    S(2083, "pg_opclass_is_visible", B, answer_true, O) S(3829, "pg_opfamily_is_visible", B, answer_true, O) S(2093, "pg_conversion_is_visible", B, answer_true, O) S(3815, "pg_collation_is_visible", B, answer_true, O)
    S(3403, "pg_statistics_obj_is_visible", B, answer_true, O) S(3756, "pg_ts_parser_is_visible", B, answer_true, O) S(3757, "pg_ts_dict_is_visible", B, answer_true, O) S(3768, "pg_ts_template_is_visible", B, answer_true, O)
    S(3758, "pg_ts_config_is_visible", B, answer_true, O)

    S(1716, "pg_get_expr", T, pg_get_expr, T, O) S(2509, "pg_get_expr", T, pg_get_expr, T, O, B) S(9203, "pg_get_expr", T, pg_get_expr, OID_PG_NODE_TREE, O) S(9204, "pg_get_expr", T, pg_get_expr, OID_PG_NODE_TREE, O, B)
    S(1387, "pg_get_constraintdef", T, pg_get_constraintdef, O) S(2508, "pg_get_constraintdef", T, pg_get_constraintdef, O, B)
    S(1643, "pg_get_indexdef", T, pg_get_indexdef, O) S(2507, "pg_get_indexdef", T, pg_get_indexdef_column, O, I4, B)
    S(1641, "pg_get_viewdef", T, pg_get_viewdef, O) S(2506, "pg_get_viewdef", T, pg_get_viewdef, O, B) S(3159, "pg_get_viewdef", T, pg_get_viewdef, O, I4) S(1640, "pg_get_viewdef", T, pg_get_viewdef_name, T)
    S(2505, "pg_get_viewdef", T, pg_get_viewdef_name, T, B)
    S(2162, "pg_get_function_arguments", T, pg_get_function_arguments, O) S(2232, "pg_get_function_identity_arguments", T, pg_get_function_arguments, O) S(2165, "pg_get_function_result", T, pg_get_function_result, O)
    S(6197, "pg_get_function_sqlbody", T, answer_null, O) S(2098, "pg_get_functiondef", T, answer_null, O) S(3808, "pg_get_function_arg_default", T, answer_null, O, I4) S(1573, "pg_get_ruledef", T, answer_null, O)
    S(2504, "pg_get_ruledef", T, answer_null, O, B) S(1662, "pg_get_triggerdef", T, answer_null, O) S(2730, "pg_get_triggerdef", T, answer_null, O, B) S(6174, "pg_get_statisticsobjdef_columns", T, answer_null, O)
    S(3415, "pg_get_statisticsobjdef", T, answer_null, O) S(3352, "pg_get_partkeydef", T, answer_null, O) S(3408, "pg_get_partition_constraintdef", T, answer_null, O)
    S(1665, "pg_get_serial_sequence", T, pg_get_serial_sequence, T, T)
    S(1215, "obj_description", T, obj_description, O, N) S(1348, "obj_description", T, obj_description_any, O) S(1216, "col_description", T, col_description, O, I4) S(1993, "shobj_description", T, obj_description, O, N)

    V(2325, "pg_relation_size", I8, pg_relation_size, RC) V(2332, "pg_relation_size", I8, pg_relation_size, RC, T) V(2997, "pg_table_size", I8, pg_table_size, RC) V(2998, "pg_indexes_size", I8, pg_indexes_size, RC)
    V(2286, "pg_total_relation_size", I8, pg_total_relation_size, RC) V(2324, "pg_database_size", I8, pg_database_size, O) V(2168, "pg_database_size", I8, pg_database_size, N) V(2322, "pg_tablespace_size", I8, pg_database_size, O) V(2323, "pg_tablespace_size", I8, pg_database_size, N)
    S(2999, "pg_relation_filenode", O, pg_relation_filenode, RC) S(3778, "pg_tablespace_location", T, answer_empty, O) S(6121, "pg_relation_is_publishable", B, answer_true, RC)

    S(1926, "has_table_privilege", B, has_table_privilege, T, T) S(1927, "has_table_privilege", B, has_table_privilege, O, T) S(1922, "has_table_privilege", B, has_table_privilege_of, N, T, T) S(1923, "has_table_privilege", B, has_table_privilege_of, N, O, T)
    S(2272, "has_schema_privilege", B, answer_true, T, T) S(2273, "has_schema_privilege", B, answer_true, O, T) S(2268, "has_schema_privilege", B, answer_true, N, T, T) S(2269, "has_schema_privilege", B, answer_true, N, O, T)
    S(2254, "has_database_privilege", B, answer_true, T, T) S(2255, "has_database_privilege", B, answer_true, O, T) S(2250, "has_database_privilege", B, answer_true, N, T, T)
    S(2185, "has_sequence_privilege", B, answer_true, T, T) S(2186, "has_sequence_privilege", B, answer_true, O, T) S(2260, "has_function_privilege", B, answer_true, T, T) S(2261, "has_function_privilege", B, answer_true, O, T)
    S(3016, "has_column_privilege", B, answer_true, T, T, T) S(3018, "has_column_privilege", B, answer_true, O, T, T) S(3023, "has_any_column_privilege", B, answer_true, T, T) S(3024, "has_any_column_privilege", B, answer_true, O, T)
    S(3142, "has_type_privilege", B, answer_true, T, T) S(3143, "has_type_privilege", B, answer_true, O, T) S(2394, "has_tablespace_privilege", B, answer_true, T, T) S(2709, "pg_has_role", B, answer_true, T, T) S(2710, "pg_has_role", B, answer_true, O, T)
    S(2705, "pg_has_role", B, answer_true, N, N, T) S(3943, "acldefault", 1009, answer_null, OID_CHAR, O)

    V(3810, "pg_is_in_recovery", B, answer_false) S(3298, "row_security_active", B, answer_false, O) S(3299, "row_security_active", B, answer_false, T) S(315, "pg_jit_available", B, answer_false)
    S(2196, "inet_client_addr", T, answer_null) S(2197, "inet_client_port", I4, answer_null) S(2198, "inet_server_addr", T, answer_null) S(2199, "inet_server_port", I4, answer_null)
    S(3537, "pg_describe_object", T, pg_describe_object, O, O, I4) S(3034, "pg_relation_filepath", T, pg_relation_filepath, RC)
    S(2854, "pg_my_temp_schema", O, answer_oid_zero) S(2855, "pg_is_other_temp_schema", B, answer_false, O) V(2621, "pg_reload_conf", B, answer_true) S(2561, "pg_blocking_pids", 1007, pg_blocking_pids, I4)
    S(2943, "txid_current", I8, txid_current) S(5059, "pg_current_xact_id", 5069, txid_current) S(3348, "txid_current_if_assigned", I8, txid_current_if_assigned) S(5060, "pg_current_xact_id_if_assigned", 5069, txid_current_if_assigned)
    V(2171, "pg_cancel_backend", B, pg_cancel_backend, I4) V(2096, "pg_terminate_backend", B, pg_terminate_backend, I4, I8) V(9205, "pg_terminate_backend", B, pg_terminate_backend, I4) V(2626, "pg_sleep", OID_VOID, pg_sleep, OID_FLOAT8)
    S(2560, "pg_postmaster_start_time", OID_TIMESTAMPTZ, pg_postmaster_start_time) S(2034, "pg_conf_load_time", OID_TIMESTAMPTZ, pg_postmaster_start_time)

    V(9210, "crab_btree_check", T, crab_btree_check, T) V(9211, "crab_btree", T, crab_btree, T) V(9212, "crab_btree", T, crab_btree, T, T) V(9213, "crab_heap_check", T, crab_heap_check, T)
    V(9214, "crab_step", T, crab_step, I4) V(9215, "crab_step", T, crab_step, I4, I4) V(9216, "crab_run", T, crab_run, I4)
#define SET(o, n, re, c, ...) {.oid = o, .name = n, .kind = FUNCTION_SET, .arg_count = ARGS(__VA_ARGS__), .arg_types = {__VA_ARGS__}, .result = re, .strict = true, .volatility = STABLE, .columns = c, .column_count = sizeof c / sizeof c[0]},
#define SET1(o, n, re, ...) {.oid = o, .name = n, .kind = FUNCTION_SET, .arg_count = ARGS(__VA_ARGS__), .arg_types = {__VA_ARGS__}, .result = re, .strict = true, .volatility = STABLE},
    S(9230, "crab_record_field", T, crab_record_field, OID_RECORD, I4)
    SET1(3425, "pg_partition_ancestors", RC, RC) SET(2289, "pg_options_to_table", OID_RECORD, option_columns, 1009) SET(1686, "pg_get_keywords", OID_RECORD, keyword_columns) SET(2856, "pg_timezone_names", OID_RECORD, zone_columns)
    SET(9220, "_pg_expandarray", OID_RECORD, expand_columns, OID_INT2VECTOR) SET1(9221, "_pg_expandarray.x", OID_INT2, OID_INT2VECTOR) SET1(9222, "_pg_expandarray.n", I4, OID_INT2VECTOR)
    SET(9223, "_pg_expandarray", OID_RECORD, expand_columns, 1005) SET1(9224, "_pg_expandarray.x", OID_INT2, 1005) SET1(9225, "_pg_expandarray.n", I4, 1005)
};

static enum status no_rows(struct set_call *call)
{
    (void)call;
    return STATUS_OK;
}

/* The lexer's own table. */
static enum status keyword_rows(struct set_call *call)
{
    static const struct { const char *code, *text; } classes[] = {[CLASS_UNRESERVED] = {"U", "unreserved"}, [CLASS_COLUMN_NAME] = {"C", "unreserved (cannot be function or type name)"},
        [CLASS_FUNCTION_NAME] = {"T", "reserved (can be function or type name)"}, [CLASS_RESERVED] = {"R", "reserved"}};
    enum status status = STATUS_OK;
    for (int i = 0; !status && i < KEYWORD_COUNT; i++) {
        const struct keyword_info *k = &keyword_table[i];
        struct value row[5] = {value_text(k->text), value_char(classes[k->class].code[0]), value_bool(k->bare), value_text(classes[k->class].text), value_text(k->bare ? "can be bare label" : "requires AS")};
        status = record_row(call, row);
    }
    return status;
}

static enum status zone_row(void *context, const struct value *row) { return record_row(context, row); }
static enum status zone_rows(struct set_call *call) { return zones_each(call->arena, zone_row, call); }

/* {a=1,b} as rows (a, 1), (b, null). */
static enum status options_to_table(struct set_call *call)
{
    struct array_view view;
    array_open(call->args[0].v, &view);
    struct value *elements = array_elements(&view, call->arena);
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < view.count; i++) {
        if (elements[i].null)
            continue;
        char *name = arena_strndup(call->arena, (const char *)elements[i].v.bytes, elements[i].v.length), *equals = strchr(name, '=');
        if (equals)
            *equals++ = 0;
        struct value row[2] = {value_text(name), value_text(equals)};
        status = record_row(call, row);
    }
    return status;
}

/* information_schema's helper, which JDBC calls: elements and their places. */
static enum status expand_array(struct set_call *call)
{
    struct array_view view;
    array_open(call->args[0].v, &view);
    struct value *elements = array_elements(&view, call->arena);
    const char *field = strchr(call->function->name, '.');
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < view.count; i++) {
        struct value row[2] = {elements[i], value_i4((int32_t)i + 1)};
        status = field ? call->row(call, field[1] == 'n' ? &row[1] : row) : record_row(call, row);
    }
    return status;
}

void functions_open(void)
{
    static bool opened;
    if (opened)
        return;
    opened = true;
    started_us = wall_us();
    type_name_lookup = &lookup;
    function_register_extra(extra, sizeof extra / sizeof extra[0]);
    set_function_register("pg_partition_ancestors", no_rows);
    set_function_register("pg_get_keywords", keyword_rows);
    set_function_register("pg_timezone_names", zone_rows);
    set_function_register("pg_options_to_table", options_to_table);
    set_function_register("_pg_expandarray", expand_array);
    set_function_register("_pg_expandarray.x", expand_array);
    set_function_register("_pg_expandarray.n", expand_array);
}
