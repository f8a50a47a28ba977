/* engine/exec/scan_zone.h - the zone tests of a scan: which of its conditions whole pages can be judged by (storage/zone.h).
 *
 *     scan_zones_open(&z, plan);                      once, when the scan is opened
 *     scan_zones_narrow(&z, plan, column, low, high); by a join above: rows outside the bounds find no partner
 *     scan_zones_bind(&z, run);                       by the leader, each time the scan starts
 *     zone_ask(z.map, page, z.tests, z.count, …)      by many workers */
#ifndef ENGINE_EXEC_SCAN_ZONE_H
#define ENGINE_EXEC_SCAN_ZONE_H

#include "engine/exec/operator.h"
#include "storage/zone.h"

#define SCAN_ZONE_TESTS 12

struct scan_zones {
    struct zone_map *map;                /* NULL: none to be had */
    uint32_t own, count;                 /* tests from the filter; those and what joins added */
    bool may_fail;                       /* the filter may raise an error: no page may be skipped for what joins say */
    bool decide;                         /* the filter is these tests and nothing else (or there is none) */
    struct zone_test tests[SCAN_ZONE_TESTS];
    struct scan_zone_source {
        const struct scalar *comparison, *value;
        bool turned;                     /* the value stands on the left */
        bool day;                        /* a date against a timestamp */
        int16_t scale_up;                /* decimals: digits that the column has more */
    } sources[SCAN_ZONE_TESTS];
};

void scan_zones_open(struct scan_zones *, const struct plan *);
void scan_zones_bind(struct scan_zones *, const struct run *);
/* Column `output` of the scan, as zone_test has it. A column's newer bounds replace its older. */
void scan_zones_narrow(struct scan_zones *, const struct plan *, uint16_t output, int64_t low, int64_t high);

#endif
