/* storage/file.h - the numbered files of a data directory: the only door to the disk for pages.
 *
 *     status = files_open("data/base", &files);
 *     status = file_read(files, id, buffer);
 *
 * File n is DIR/n. Pages past the end of the file on disk, and holes, read as zeros. Growing reserves disk blocks
 * ahead (fallocate, size kept), so that a full disk is met by the statement that grows a table (DISK_FULL) and not
 * by a later write. No latch whose rank says NEVER may be held across any of these. crab.io_delay sleeps once a
 * call. Which disk it is says storage/disk.h. fsync errors are never retried: panic(). */
#ifndef STORAGE_FILE_H
#define STORAGE_FILE_H

#include "base/error.h"
#include "storage/page.h"

struct files;
extern _Atomic uint32_t file_io_delay_us;                       /* crab.io_delay */

enum status files_open(const char *directory, struct files **out) MUST_CHECK;
void        files_close(struct files *);
enum status file_create(struct files *, uint32_t file) MUST_CHECK;   /* DUPLICATE_OBJECT if it is there */
enum status file_drop(struct files *, uint32_t file) MUST_CHECK;     /* fine when absent */
bool        file_exists(struct files *, uint32_t file);
enum status file_list(struct files *, uint32_t **out_files, uint32_t *count) MUST_CHECK; /* malloc'd */
enum status file_disk_pages(struct files *, uint32_t file, uint32_t *out) MUST_CHECK;    /* by its size on disk */
enum status file_reserve(struct files *, uint32_t file, uint32_t page_count) MUST_CHECK; /* disk room for that many pages in all */
enum status file_read(struct files *, page_id, void *page) MUST_CHECK;
enum status file_read_run(struct files *, page_id first, uint32_t count, void *const *pages) MUST_CHECK; /* one vectored call */
enum status file_write(struct files *, page_id, const void *page) MUST_CHECK;
enum status file_truncate(struct files *, uint32_t file, uint32_t pages) MUST_CHECK;
/* Gives the disk room of these pages back: they read as zeros. Does nothing where the file system can't. */
void        file_punch(struct files *, uint32_t file, uint32_t first_page, uint32_t count);
void        files_sync_all(struct files *);                     /* every file written since its last sync */
uint64_t    file_disk_calls(void);                              /* how many so far, for tests and views */
uint64_t    file_read_calls(void);                              /* … of those, which read pages */

/* Around every disk call, the WAL's too: two points, the counter, crab.io_delay. begin returns an errno that the call
 * is to fail with: tests set file_fail_call to the number of a coming call and file_fail_errno to the error. */
int         file_call_begin(const char *what);
void        file_call_end(const char *what);
extern _Atomic uint64_t file_fail_call;
extern _Atomic int      file_fail_errno;

#endif
