/* tests/interleave/rows.h - sessions, and a table of a few rows (value int8), for scenarios about transactions. */
#ifndef TESTS_INTERLEAVE_ROWS_H
#define TESTS_INTERLEAVE_ROWS_H

#include "storage/heap.h"

void    sessions_open(unsigned count);
void    sessions_close(unsigned count);
struct txn *txn_in(unsigned session);                       /* begins one, READ COMMITTED */
bool    session_waits(unsigned session);                    /* for a lock or a transaction, now; no point */

void    rows_make(unsigned count);                          /* of value 0 */
enum status row_add(struct txn *, unsigned row, int64_t amount);    /* UPDATE … SET value = value + amount: waits, and follows the row */
enum status row_lock(struct txn *, unsigned row, enum row_lock);    /* the newest version */
int64_t row_value(unsigned row);                            /* as a new transaction sees it */
int64_t row_read(const struct snapshot *, unsigned row);
void    rows_make_pages(unsigned count);                    /* another table: a row a page, of value 0, 1, ...; for scans */
const struct heap *rows_heap(void);
void    rows_vacuum(unsigned session);                      /* prunes, frees */

/* Nobody waited for a timer where somebody should have been woken. */
void    on_time(void);

#endif
