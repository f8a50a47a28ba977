/* engine/catalog/catalog.h - what tables, indexes, views, sequences and schemas there are.
 *
 * The catalogs pg_namespace, pg_class, pg_attribute, pg_attrdef, pg_constraint, pg_index, pg_sequence, pg_rewrite (views),
 * pg_depend (sequences owned) and pg_description are ordinary heaps with fixed file numbers, so DDL is transactional.
 * Everything else that psql and drivers read is a *virtual* table (engine/catalog/views.h).
 *
 * A struct table describes one relation as the calling session's transaction sees it. Descriptors are cached per
 * session and dropped as a whole when the global catalog version moved (catalog_refresh, at each statement's start and after
 * each table lock): so a descriptor is valid until the statement ends. Immutable once made. */
#ifndef ENGINE_CATALOG_CATALOG_H
#define ENGINE_CATALOG_CATALOG_H

#include "base/arena.h"
#include "btree/btree.h"
#include "engine/types/type.h"
#include "parser/tree.h"
#include "storage/heap.h"

struct session;
struct virtual_table;

#define OID_FIRST_USER   16384
#define SCHEMA_PG_CATALOG 11
#define SCHEMA_PUBLIC     2200
#define SCHEMA_INFORMATION 13000

enum relation_kind { RELATION_TABLE = 'r', RELATION_INDEX = 'i', RELATION_VIEW = 'v', RELATION_SEQUENCE = 'S' };

struct column {
    const char *name;
    struct sql_type type;
    int16_t  number;                     /* attnum, from 1; columns[number-1] */
    bool     not_null, dropped;
    char     identity;                   /* 0, 'a' always, 'd' by default */
    char     generated;                  /* 0, 's' stored */
    const char *default_text;            /* SQL text of the DEFAULT (or generation) expression; NULL none */
    struct expr *default_expr;           /* parsed */
    uint32_t sequence;                   /* oid of the sequence of serial/identity; 0 none */
    const struct column_statistics *statistics;   /* engine/plan/stats.h; NULL: never analyzed */
};

struct index_column { int16_t column; /* attnum; 0: expression */ struct expr *expr; const char *expr_text; struct sql_type type; unsigned flags; /* key_flags */ };
struct index {
    uint32_t oid; const char *name;
    struct btree tree;
    bool unique, primary, valid, nulls_not_distinct;
    uint32_t constraint;                 /* oid of the PRIMARY KEY / UNIQUE constraint, or 0 */
    uint16_t column_count;               /* key columns; unique is judged on them */
    struct index_column *columns;
    struct expr *predicate; const char *predicate_text;   /* partial index */
};

struct check { uint32_t oid; const char *name; struct expr *expr; const char *text; };
struct foreign_key {                     /* as the referencing table sees it, and (referenced_by) as the referenced one */
    uint32_t oid; const char *name;
    uint32_t table, referenced;          /* oids */
    uint16_t column_count; int16_t *columns, *referenced_columns;   /* attnums */
    uint32_t index;                      /* unique index on the referenced table */
    enum foreign_action on_update, on_delete;
    enum foreign_match match;
    bool deferrable, initially_deferred;
};

struct table {
    uint32_t oid; const char *name;
    uint32_t schema; const char *schema_name;
    enum relation_kind kind;
    struct heap heap;                    /* RELATION_TABLE */
    uint16_t column_count;               /* dropped ones included */
    struct column *columns;
    uint16_t index_count; struct index *indexes;        /* those of its own */
    uint16_t check_count; struct check *checks;
    uint16_t foreign_key_count; struct foreign_key *foreign_keys;
    uint16_t referenced_by_count; struct foreign_key *referenced_by;
    uint32_t primary_key;                /* oid of the index, 0 none */
    double   row_estimate;               /* from the last VACUUM / ANALYZE; -1 unknown */
    double   visible_pages;              /* in the visibility map then */
    const char *view_text; struct select *view;         /* RELATION_VIEW */
    const struct virtual_table *virtual_table;          /* pg_catalog / information_schema views served from memory */
    const char *const *options; uint16_t option_count;  /* "fillfactor=100" */
    uint32_t owner;
    bool     system;                     /* lives in pg_catalog: no user DDL */
};

/* ---- looking up (through the session's transaction; error UNDEFINED_TABLE with position is the caller's to raise: found NULL) ---- */
/* schema NULL: the search path (pg_catalog first, then "$user", public). Takes no lock. */
enum status catalog_find(struct session *, const char *schema, const char *name, const struct table **out) MUST_CHECK;
enum status catalog_table(struct session *, uint32_t oid, const struct table **out) MUST_CHECK;          /* NULL when gone */
/* Finds by name, locks, and looks again until name and lock agree. Raises 42P01 `relation "x" does not exist` at position. */
enum status catalog_open(struct session *, const struct relation_name *, enum table_lock, const struct table **out) MUST_CHECK;
const struct index *table_index(const struct table *, uint32_t oid);
int  table_column(const struct table *, const char *name);             /* position from 0, or -1; dropped ones aren't found */
/* An index by its own name or oid: its table too. */
enum status catalog_find_index(struct session *, const char *schema, const char *name, const struct table **table, const struct index **index) MUST_CHECK;
enum status catalog_schema(struct session *, const char *name, uint32_t *oid) MUST_CHECK;                /* 0 when none */
/* All relations visible to the session's snapshot, for views, VACUUM without a name, and the sweep of files. */
enum status catalog_each(struct session *, enum status (*visit)(void *context, const struct table *), void *context) MUST_CHECK;

/* Catalog version: moved by every DDL at commit; sessions drop their caches (and prepared plans) when it differs. */
uint64_t catalog_version(void);
void     catalog_refresh(struct session *);                            /* keeps what the statement under way may hold */
void     catalog_statement_start(struct session *);                    /* a top-level statement begins: frees what refreshes put aside, if no cursor's run may hold it */
void     catalog_cache_close(struct session *);

/* ---- start-up ---- */
enum status catalog_bootstrap(struct store *) MUST_CHECK;              /* a fresh store: makes the catalog heaps and public */
enum status catalog_open_store(struct store *) MUST_CHECK;             /* every start: reads counters, sweeps files nobody refers to */
uint32_t catalog_new_oid(struct store *);

/* ---- sequences (not transactional, as PostgreSQL's) ---- */
enum status sequence_next(struct session *, uint32_t oid, int64_t *out) MUST_CHECK;
enum status sequence_set(struct session *, uint32_t oid, int64_t value, bool called) MUST_CHECK;
enum status sequence_current(struct session *, uint32_t oid, int64_t *out) MUST_CHECK;   /* currval: 55000 when not yet defined */

/* ---- statistics, kept in pg_statistic-like heap ---- */
struct column_statistics;
enum status catalog_store_statistics(struct session *, const struct table *, double rows, double pages,
                                     const struct column_statistics *const *columns /* by attnum-1, NULL: leave */) MUST_CHECK;

/* ---- DDL (engine/ddl.c on top of engine/catalog/write.c) ---- */
enum status ddl_execute(struct session *, const struct statement *, const char *sql, uint64_t *row_count) MUST_CHECK;
/* EXPLAIN of CREATE TABLE AS: its query's plan, in the statement's arena. With counters the table is made and filled, and that is counted.
 * *plan NULL: there is nothing to do, since IF NOT EXISTS. */
struct prepared_plan;
struct exec_counters;
enum status ddl_explain(struct session *, const struct statement *, const char *sql, struct exec_counters *, struct prepared_plan **plan) MUST_CHECK;
/* is it a statement of ddl.c? (CREATE/DROP/ALTER/TRUNCATE/COMMENT/REINDEX/CLUSTER) */
bool        ddl_handles(enum statement_kind);
/* Builds an index's entries from the heap (CREATE INDEX, REINDEX), checking uniqueness. */
enum status index_build(struct session *, const struct table *, const struct index *) MUST_CHECK;

#endif
