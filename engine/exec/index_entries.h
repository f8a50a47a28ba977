/* engine/exec/index_entries.h - private to index builds: entries gathered, sorted, and merged into one stream.
 *
 *     index_entries_open(&part, …)                      one a worker
 *     index_entries_add / index_entries_add_words       until the heap is read; index_entries_spill when it is full
 *     index_entries_finish(&part)                       in the worker: sorted; of many runs few are made
 *     index_merge_open(parts), index_merge_next …       all parts' entries by (key, row id), in the leader
 *
 * An entry is key bytes, a row id and flags. Keys of fixed width and at most INDEX_SHORT_BYTES are *short*: key, row id, length and flags
 * are one word of 128 bits, whose order is that of the entries. Of others a word holds the first 12 bytes and the entry's number. */
#ifndef ENGINE_EXEC_INDEX_ENTRIES_H
#define ENGINE_EXEC_INDEX_ENTRIES_H

#include "engine/exec/sort_words.h"
#include "engine/exec/spill.h"

#define INDEX_SHORT_BYTES 10
enum { ENTRY_LIVE = 1, ENTRY_NULL = 2 };                      /* the latest snapshot sees its row; a key column is null */
struct index_entry { const uint8_t *key; uint32_t length, flags; uint64_t row_id; };

struct index_entries {
    struct run *run;
    struct worker *worker;
    struct arena *arena, *kept;          /* of the entries in memory; of what stays: the list of runs */
    bool short_keys;
    uint64_t limit, bytes; uint32_t most;                     /* of memory; as many entries as take the limit */
    sort_word *words; uint32_t count, capacity;
    struct index_entry *entries;         /* by number, where keys aren't short; with the same capacity */
    uint8_t *room; uint32_t room_left;   /* for key bytes */
    struct spill_file *file;
    struct index_run { uint64_t from, to; } *runs; uint32_t run_count;
};
void index_entries_open(struct index_entries *, struct run *, struct worker *, struct arena *parent, bool short_keys, uint64_t limit);
void index_entries_add(struct index_entries *, const uint8_t *key, uint32_t length, unsigned flags, uint64_t row_id);
/* Short keys, all of `length` bytes: words[k] has the key in its first bytes; of the row page << 16 | slots[k]. */
void index_entries_add_words(struct index_entries *, const sort_word *words, uint32_t length, unsigned flags, uint32_t page, const uint16_t *slots, uint32_t count);
enum status index_entries_spill(struct index_entries *) MUST_CHECK;     /* when it is full: a sorted run on disk */
static inline bool index_entries_full(const struct index_entries *e) { return e->bytes > e->limit || e->count + PAX_MAX_SLOTS > e->most; }   /* asked page by page */
enum status index_entries_sort(struct index_entries *) MUST_CHECK;
enum status index_entries_finish(struct index_entries *) MUST_CHECK;
void index_entries_clear(struct index_entries *);              /* nothing is in memory any more */

struct index_merge;
enum status index_merge_open(struct arena *, const struct index_entries *const *parts, uint16_t count, struct index_merge **out) MUST_CHECK;
/* The next entry, valid until the call after. */
enum status index_merge_next(struct index_merge *, struct index_entry *out, bool *end) MUST_CHECK;

#endif
