/* engine/catalog/views.h - tables that are made when they are read: what psql and drivers ask of pg_catalog and
 * information_schema, and the crab_* views. A registry of names, columns and a call-back that hands out rows. */
#ifndef ENGINE_CATALOG_VIEWS_H
#define ENGINE_CATALOG_VIEWS_H

#include "engine/types/type.h"

struct session;
struct row_sink {                        /* give it one row at a time; values in the order of the columns */
    enum status (*row)(struct row_sink *, const struct value *values) MUST_CHECK;
    struct arena *arena;                 /* for the bytes of values; lives as long as the read */
    const struct virtual_table *table;   /* which one is read */
};
struct virtual_column { const char *name; uint32_t type; };
struct virtual_table {
    uint32_t oid, schema;
    const char *name;
    uint16_t column_count;
    const struct virtual_column *columns;
    enum status (*fill)(struct session *, struct row_sink *) MUST_CHECK;
};
const struct virtual_table *virtual_table_find(uint32_t schema, const char *name);
size_t virtual_table_count(void);
const struct virtual_table *virtual_table_at(size_t);
/* typalign and typcollation of a type; its columns have the same. NULL: none known. */
char type_alignment(const struct type_info *);
uint32_t type_collation(const struct type_info *);
/* The system's time zones, one by one: name, abbreviation, offset, summer time. */
typedef enum status zone_visit(void *context, const struct value *row);
enum status zones_each(struct arena *, zone_visit *, void *context) MUST_CHECK;
/* The type of a relation's rows, and its array: shown in pg_type, where drivers look for it; no column can have it. */
#define ROW_TYPE(relation) ((relation) | 0x80000000u)
#define ROW_TYPE_ARRAY(relation) ((relation) | 0xC0000000u)
#define ROW_TYPE_RELATION(type) ((type) & 0x80000000u ? (type) & 0x3FFFFFFFu : 0)
struct table;
/* What SELECT reads of a sequence: one row. */
const struct virtual_table *sequence_virtual_table(struct arena *, const struct table *);

#endif
