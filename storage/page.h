/* storage/page.h - what every page of every file begins with.
 *
 * A page is PAGE_BYTES long (a build constant: 8, 16 or 32 KiB). A page of zeros is a page that was given room but
 * never written: valid, kind PAGE_NONE. The checksum covers the whole page with the field itself taken as 0. */
#ifndef STORAGE_PAGE_H
#define STORAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#ifndef PAGE_BYTES
#define PAGE_BYTES 16384
#endif
_Static_assert(PAGE_BYTES == 8192 || PAGE_BYTES == 16384 || PAGE_BYTES == 32768, "8, 16 or 32 KiB");

typedef uint64_t lsn_t;                       /* position in the WAL stream, bytes; 0 = none */
typedef uint64_t xid_t;                       /* transaction id, 64 bit, never wraps */
#define XID_NONE   0
#define XID_FROZEN 1                          /* committed before every snapshot */
#define XID_FIRST  16

typedef struct page_id { uint32_t file, page; } page_id;

enum page_kind { PAGE_NONE, PAGE_HEAP, PAGE_OVERFLOW, PAGE_SPACE, PAGE_STATUS, PAGE_BTREE_META, PAGE_BTREE_NODE, PAGE_BTREE_FREE };

struct page_header {
    lsn_t    lsn;                             /* end of the WAL record that changed it last */
    uint32_t checksum;                        /* CRC-32C, filled in when written to disk */
    uint8_t  kind;                            /* enum page_kind */
    uint8_t  flags;                           /* the kind's own */
    uint16_t version;                         /* PAGE_VERSION */
    uint32_t file, page;                      /* its own address: a misplaced write is found */
    uint64_t spare;
};
_Static_assert(sizeof(struct page_header) == 32, "on-disk size");
#define PAGE_VERSION 1
#define PAGE_HEADER_BYTES 32

void page_seal(void *page);                              /* fills the checksum in: on the copy that goes to disk */
bool page_check(const void *page, page_id where);        /* as it came from disk: checksum, version and address right, or all zeros */

static inline struct page_header *page_header(void *page) { return (struct page_header *)page; }

#endif
