/* storage/control.h - the control file of a data directory: what start-up must know before it can read anything else.
 *
 * Two copies, a block each, each with a CRC; control_write() writes one, syncs, then the other, so that one of them is
 * whole at any time. Private to storage/store.c, checkpoint.c and recovery.c. */
#ifndef STORAGE_CONTROL_H
#define STORAGE_CONTROL_H

#include "base/error.h"
#include "storage/page.h"

#define CONTROL_MAGIC   0x6165727462617243ULL               /* "Crabtrea", read as bytes */
#define CONTROL_VERSION 5

struct control {
    uint64_t magic;
    uint32_t version, page_bytes;
    uint64_t sequence;                                      /* rises with each writing: the newer copy counts */
    lsn_t    redo;                                          /* recovery begins here */
    xid_t    next_xid;
    uint32_t next_file, clean;                              /* clean: shut down in order, nothing to recover */
    uint32_t bootstrapped, crc;                             /* bootstrapped: there is a catalog */
};
_Static_assert(sizeof(struct control) == 56, "on-disk size");

/* NOT_FOUND: there is none, or the first writing of it was cut short. CORRUPT: neither copy is whole. CONFIG_FILE: another version or page size. */
enum status control_read(const char *directory, struct control *out) MUST_CHECK;
enum status control_write(const char *directory, struct control *) MUST_CHECK;    /* fills magic to sequence, and crc */

#endif
