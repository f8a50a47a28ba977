/* engine/catalog/schema.h - the catalogs' own tables: fixed names, columns, files and indexes, known before any row is.
 *
 * Names, OIDs and columns are PostgreSQL's, so that psql's and the drivers' queries read them as they are; columns named
 * crab_… come after them and are ours. Text stands where PostgreSQL keeps parsed trees (adbin, conbin, indexprs). */
#ifndef ENGINE_CATALOG_SCHEMA_H
#define ENGINE_CATALOG_SCHEMA_H

#include "engine/catalog/catalog.h"

#define COLUMNS_NAMESPACE(X) X(oid, OID_OID) X(nspname, OID_NAME) X(nspowner, OID_OID) X(nspacl, 1009)
#define COLUMNS_CLASS(X)                                                                                              \
    X(oid, OID_OID) X(relname, OID_NAME) X(relnamespace, OID_OID) X(reltype, OID_OID) X(reloftype, OID_OID)           \
    X(relowner, OID_OID) X(relam, OID_OID) X(relfilenode, OID_OID) X(reltablespace, OID_OID) X(relpages, OID_INT4)    \
    X(reltuples, OID_FLOAT4) X(relallvisible, OID_INT4) X(reltoastrelid, OID_OID) X(relhasindex, OID_BOOL)            \
    X(relisshared, OID_BOOL) X(relpersistence, OID_CHAR) X(relkind, OID_CHAR) X(relnatts, OID_INT2)                   \
    X(relchecks, OID_INT2) X(relhasrules, OID_BOOL) X(relhastriggers, OID_BOOL) X(relhassubclass, OID_BOOL)           \
    X(relrowsecurity, OID_BOOL) X(relforcerowsecurity, OID_BOOL) X(relispopulated, OID_BOOL) X(relreplident, OID_CHAR)\
    X(relispartition, OID_BOOL) X(relrewrite, OID_OID) X(relfrozenxid, OID_XID) X(relminmxid, OID_XID)                \
    X(relacl, 1009) X(reloptions, 1009) X(relpartbound, OID_TEXT) X(crab_overflow, OID_OID) X(crab_space, OID_OID)
#define COLUMNS_ATTRIBUTE(X)                                                                                          \
    X(attrelid, OID_OID) X(attname, OID_NAME) X(atttypid, OID_OID) X(attstattarget, OID_INT4) X(attlen, OID_INT2)     \
    X(attnum, OID_INT2) X(attndims, OID_INT4) X(attcacheoff, OID_INT4) X(atttypmod, OID_INT4) X(attbyval, OID_BOOL)   \
    X(attalign, OID_CHAR) X(attstorage, OID_CHAR) X(attcompression, OID_CHAR) X(attnotnull, OID_BOOL)                 \
    X(atthasdef, OID_BOOL) X(atthasmissing, OID_BOOL) X(attidentity, OID_CHAR) X(attgenerated, OID_CHAR)              \
    X(attisdropped, OID_BOOL) X(attislocal, OID_BOOL) X(attinhcount, OID_INT4) X(attcollation, OID_OID)               \
    X(attacl, 1009) X(attoptions, 1009) X(attfdwoptions, 1009) X(attmissingval, OID_BYTEA)                            \
    X(crab_nullable, OID_BOOL) X(crab_sequence, OID_OID)
#define COLUMNS_ATTRDEF(X) X(oid, OID_OID) X(adrelid, OID_OID) X(adnum, OID_INT2) X(adbin, OID_TEXT)
#define COLUMNS_CONSTRAINT(X)                                                                                         \
    X(oid, OID_OID) X(conname, OID_NAME) X(connamespace, OID_OID) X(contype, OID_CHAR) X(condeferrable, OID_BOOL)     \
    X(condeferred, OID_BOOL) X(convalidated, OID_BOOL) X(conrelid, OID_OID) X(contypid, OID_OID) X(conindid, OID_OID) \
    X(conparentid, OID_OID) X(confrelid, OID_OID) X(confupdtype, OID_CHAR) X(confdeltype, OID_CHAR)                   \
    X(confmatchtype, OID_CHAR) X(conislocal, OID_BOOL) X(coninhcount, OID_INT4) X(connoinherit, OID_BOOL)             \
    X(conkey, 1005) X(confkey, 1005) X(conpfeqop, 1028) X(conppeqop, 1028) X(conffeqop, 1028)                         \
    X(confdelsetcols, 1005) X(conexclop, 1028) X(conbin, OID_TEXT)
#define COLUMNS_INDEX(X)                                                                                              \
    X(indexrelid, OID_OID) X(indrelid, OID_OID) X(indnatts, OID_INT2) X(indnkeyatts, OID_INT2) X(indisunique, OID_BOOL)\
    X(indnullsnotdistinct, OID_BOOL) X(indisprimary, OID_BOOL) X(indisexclusion, OID_BOOL) X(indimmediate, OID_BOOL)  \
    X(indisclustered, OID_BOOL) X(indisvalid, OID_BOOL) X(indcheckxmin, OID_BOOL) X(indisready, OID_BOOL)             \
    X(indislive, OID_BOOL) X(indisreplident, OID_BOOL) X(indkey, OID_INT2VECTOR) X(indcollation, OID_OIDVECTOR)       \
    X(indclass, OID_OIDVECTOR) X(indoption, OID_INT2VECTOR) X(indexprs, OID_TEXT) X(indpred, OID_TEXT)                \
    X(crab_exprs, 1009) X(crab_max_entries, OID_INT2)
#define COLUMNS_SEQUENCE(X)                                                                                           \
    X(seqrelid, OID_OID) X(seqtypid, OID_OID) X(seqstart, OID_INT8) X(seqincrement, OID_INT8) X(seqmax, OID_INT8)     \
    X(seqmin, OID_INT8) X(seqcache, OID_INT8) X(seqcycle, OID_BOOL) X(crab_table, OID_OID) X(crab_column, OID_INT2)
#define COLUMNS_REWRITE(X)                                                                                            \
    X(oid, OID_OID) X(rulename, OID_NAME) X(ev_class, OID_OID) X(ev_type, OID_CHAR) X(ev_enabled, OID_CHAR)           \
    X(is_instead, OID_BOOL) X(ev_qual, OID_TEXT) X(ev_action, OID_TEXT)
#define COLUMNS_DESCRIPTION(X) X(objoid, OID_OID) X(classoid, OID_OID) X(objsubid, OID_INT4) X(description, OID_TEXT)
#define COLUMNS_STATISTIC(X)                                                                                          \
    X(starelid, OID_OID) X(staattnum, OID_INT2) X(stainherit, OID_BOOL) X(stanullfrac, OID_FLOAT4) X(stawidth, OID_INT4)\
    X(stadistinct, OID_FLOAT4) X(crab_bytes, OID_BYTEA)

/*    name          oid   columns               indexes: name, oid, unique, columns (names) */
#define CATALOGS(X)                                                                                                   \
    X(NAMESPACE,   2615, "pg_namespace",   COLUMNS_NAMESPACE)                                                         \
    X(CLASS,       1259, "pg_class",       COLUMNS_CLASS)                                                             \
    X(ATTRIBUTE,   1249, "pg_attribute",   COLUMNS_ATTRIBUTE)                                                         \
    X(ATTRDEF,     2604, "pg_attrdef",     COLUMNS_ATTRDEF)                                                           \
    X(CONSTRAINT,  2606, "pg_constraint",  COLUMNS_CONSTRAINT)                                                        \
    X(INDEX,       2610, "pg_index",       COLUMNS_INDEX)                                                             \
    X(SEQUENCE,    2224, "pg_sequence",    COLUMNS_SEQUENCE)                                                          \
    X(REWRITE,     2618, "pg_rewrite",     COLUMNS_REWRITE)                                                           \
    X(DESCRIPTION, 2609, "pg_description", COLUMNS_DESCRIPTION)                                                       \
    X(STATISTIC,   2619, "pg_statistic",   COLUMNS_STATISTIC)

enum catalog_id {
#define X(id, oid, name, columns) CATALOG_##id,
    CATALOGS(X)
#undef X
    CATALOG_COUNT
};
/* Column positions: CLASS_relname, ATTRIBUTE_attnum … */
#define X(name, type) NAMESPACE_##name,
enum { COLUMNS_NAMESPACE(X) NAMESPACE_COLUMNS };
#undef X
#define X(name, type) CLASS_##name,
enum { COLUMNS_CLASS(X) CLASS_COLUMNS };
#undef X
#define X(name, type) ATTRIBUTE_##name,
enum { COLUMNS_ATTRIBUTE(X) ATTRIBUTE_COLUMNS };
#undef X
#define X(name, type) ATTRDEF_##name,
enum { COLUMNS_ATTRDEF(X) ATTRDEF_COLUMNS };
#undef X
#define X(name, type) CONSTRAINT_##name,
enum { COLUMNS_CONSTRAINT(X) CONSTRAINT_COLUMNS };
#undef X
#define X(name, type) INDEX_##name,
enum { COLUMNS_INDEX(X) INDEX_COLUMNS };
#undef X
#define X(name, type) SEQUENCE_##name,
enum { COLUMNS_SEQUENCE(X) SEQUENCE_COLUMNS };
#undef X
#define X(name, type) REWRITE_##name,
enum { COLUMNS_REWRITE(X) REWRITE_COLUMNS };
#undef X
#define X(name, type) DESCRIPTION_##name,
enum { COLUMNS_DESCRIPTION(X) DESCRIPTION_COLUMNS };
#undef X
#define X(name, type) STATISTIC_##name,
enum { COLUMNS_STATISTIC(X) STATISTIC_COLUMNS };
#undef X

/* Which index of a catalog: position in its table's indexes. */
enum { BY_OID = 0, BY_NAME = 1 };                             /* pg_namespace, pg_class */
enum { CONSTRAINT_BY_OID, CONSTRAINT_BY_TABLE, CONSTRAINT_BY_REFERENCED };
enum { INDEX_BY_OID, INDEX_BY_TABLE };
enum { FIRST_INDEX = 0 };                                     /* all others have one */

/* The catalogs as tables, filled by catalog_tables_open(): shared by all sessions, immutable. */
extern struct table catalog_tables[CATALOG_COUNT];
void catalog_tables_open(struct store *);
const struct table *catalog_system_table(uint32_t oid);       /* NULL when it is none of these */

#endif
