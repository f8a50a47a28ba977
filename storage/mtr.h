/* storage/mtr.h - mini-transactions: the only way to change a page.
 *
 *     mtr_begin(&mtr, store, xid);
 *     status = pool_fetch(pool, id, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref);      all fetching and extending first
 *     mtr_join(&mtr, &ref);                                                     the mtr has the ref now
 *     mtr_write(&mtr, ref.bytes, offset, bytes, count);                         cannot fail from here on
 *     lsn = mtr_commit(&mtr);                                                   one WAL record; unlatches, unpins
 *
 * All that one mtr changes is one WAL record: atomic, whatever the number of pages. Fetch and latch everything that
 * will change, and extend files, before the first change: after it nothing may fail. Changed pages stay EXCLUSIVE
 * until their LSN is on them. Every page is marked dirty before the record is reserved. The first change of a page
 * after the redo point logs the whole image; whether it must is asked again inside the reservation.
 *
 * Verbs change the page and log how. A page made afresh or rearranged by hand is logged with mtr_image(). */
#ifndef STORAGE_MTR_H
#define STORAGE_MTR_H

#include "storage/pool.h"
#include "storage/wal.h"

struct store;                                               /* storage/store.h: files, wal, pool, transactions of one data directory */
#define MTR_PAGES 64                                        /* the most pages one mtr may change */

struct mtr {
    struct store *store;
    xid_t    xid;                                           /* written into the record; 0 when no transaction's */
    uint16_t page_count;
    bool     changed, lsn_noted;
    struct mtr_page { struct page_ref ref; bool image, changed; } pages[MTR_PAGES];
    uint16_t last;                                          /* the page of the last verb */
    uint32_t verbs_length;
    struct mtr_buffer *buffer;                              /* the verbs; buffers are used again (mtr.c) */
};

void  mtr_begin(struct mtr *, struct store *, xid_t);
/* Takes over a ref that is latched EXCLUSIVE; *ref stays readable (its bytes), but must not be released. Joining a
 * page twice is allowed and does nothing. */
void  mtr_join(struct mtr *, struct page_ref *ref);
void  mtr_write(struct mtr *, uint8_t *page, uint32_t offset, const void *bytes, uint32_t count);
void  mtr_move(struct mtr *, uint8_t *page, uint32_t to, uint32_t from, uint32_t count);     /* memmove within the page */
void  mtr_fill(struct mtr *, uint8_t *page, uint32_t offset, uint8_t byte, uint32_t count);
void  mtr_write_lsn(struct mtr *, uint8_t *page, uint32_t offset);   /* 8 bytes: the record's own end LSN, known at commit (a transaction's outcome) */
void  mtr_format(struct mtr *, uint8_t *page, enum page_kind);       /* zeroes the page, fills its header in; logs an image */
void  mtr_image(struct mtr *, uint8_t *page);               /* the caller changes this page by hand: log it whole, as it is at commit */
lsn_t mtr_commit(struct mtr *);                             /* appends WAL_PAGES; 0 if nothing changed; releases all */
/* As mtr_commit with another record kind; extra bytes ride along (files to drop …). `note`: see wal_append. */
lsn_t mtr_commit_as(struct mtr *, enum wal_kind, const void *extra, uint32_t extra_bytes, _Atomic uint64_t *note);
void  mtr_cancel(struct mtr *);                             /* nothing was changed: releases all */
/* Apply one record's page changes during recovery. *extra points into the record. */
enum status mtr_redo(struct store *, const struct wal_record *, const uint8_t **extra, uint32_t *extra_bytes) MUST_CHECK;

#endif
