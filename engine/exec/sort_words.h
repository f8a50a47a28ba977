/* engine/exec/sort_words.h - puts words of 128 bits in order (engine/types/sort_key.h, index entries).
 *
 * In place, and without memory of its own but the stack. Words that are all different have one order, so there is nothing to be stable about. */
#ifndef ENGINE_EXEC_SORT_WORDS_H
#define ENGINE_EXEC_SORT_WORDS_H

#include "engine/types/sort_key.h"

/* Asked now and then by what takes long; a status other than OK ends that, and is what it answers. All words are still there then, in some order.
 * NULL: there is nobody to ask. */
struct sort_check { enum status (*ask)(void *context); void *context; };
static inline enum status sort_ask(const struct sort_check *check) { return check ? check->ask(check->context) : STATUS_OK; }
enum status sort_words(sort_word *words, size_t count, const struct sort_check *) MUST_CHECK;

#endif
