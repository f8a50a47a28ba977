/* engine/autovacuum.h - VACUUM and ANALYZE: by command, and by a thread in the background.
 *
 * storage/heap.h cleans a heap; here tables are picked, their indexes cleaned of the row ids that vacuum found dead, and
 * statistics gathered. The background thread looks every autovacuum_naptime at each table's counters and takes those
 * where more than 50 + 20 % of the rows (analyze: 50 + 10 %) changed; it only tries page latches. */
#ifndef ENGINE_AUTOVACUUM_H
#define ENGINE_AUTOVACUUM_H

#include "engine/session.h"

enum status autovacuum_start(struct engine *) MUST_CHECK;
void        autovacuum_stop(struct engine *);

#endif
