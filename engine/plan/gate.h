/* engine/plan/gate.h - how many workers a table's size is worth: of the parallel gate (physical.c) what index builds ask, too. */
#ifndef ENGINE_PLAN_GATE_H
#define ENGINE_PLAN_GATE_H

#include "engine/settings.h"

/* 0: fewer pages than min_parallel_table_scan_size. Else 2 and more, one more for every threefold size; what is allowed is another question. */
uint16_t gate_workers(const struct settings *, uint32_t pages);

#endif
