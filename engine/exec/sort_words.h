/* engine/exec/sort_words.h - puts words of 128 bits in order (engine/types/sort_key.h, index entries).
 *
 * In place, and without memory of its own but the stack. Words that are all different have one order, so there is nothing to be stable about. */
#ifndef ENGINE_EXEC_SORT_WORDS_H
#define ENGINE_EXEC_SORT_WORDS_H

#include "engine/types/sort_key.h"

void sort_words(sort_word *words, size_t count);

#endif
