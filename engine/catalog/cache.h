/* engine/catalog/cache.h - what the catalog's own files and DDL share beyond catalog.h. */
#ifndef ENGINE_CATALOG_CACHE_H
#define ENGINE_CATALOG_CACHE_H

#include "engine/catalog/catalog.h"

/* A sequence's value in this session, for currval and lastval (given: there is one), and its definition while the catalog stays as it is. */
struct sequence_value {
    struct sequence_value *next;
    uint32_t sequence;
    int64_t value;
    bool given, last;
    uint64_t version;                    /* of the catalog, that the rest was read under; 0: not read */
    uint32_t file;
    int64_t step, min, max;
    bool cycle;
};
struct sequence_value **catalog_sequence_values(struct session *);

void catalog_version_move(void);
void catalog_oid_seen(uint32_t oid);
/* After any change of catalog rows: moves the version now, and again when the transaction or savepoint ends. */
void catalog_changed(struct session *);
/* Schemas that exist, in search order. */
enum status catalog_search_path(struct session *, const uint32_t **out, uint16_t *count) MUST_CHECK;

#endif
