/* engine/types/text_word.h - are two texts equal? Most that aren't differ in their first eight bytes, which are compared as one number. */
#ifndef ENGINE_TYPES_TEXT_WORD_H
#define ENGINE_TYPES_TEXT_WORD_H

#include <string.h>
#include "base/vector.h"

/* Texts shorter than eight bytes are filled up with `filler`: blanks for char(n), which ignores them at the end, else zeros. Where the
 * words differ the texts do. */
static inline uint64_t text_word(struct varlen v, uint8_t filler)
{
    uint64_t word;
    if (__builtin_expect(v.length >= 8, 1)) {
        memcpy(&word, v.bytes, 8);
        return word;
    }
    word = filler * UINT64_C(0x0101010101010101);
    for (uint32_t i = 0; i < v.length; i++)
        ((uint8_t *)&word)[i] = v.bytes[i];
    return word;
}

/* Their words are the same: are they? padded: blanks at the end don't count, so what the longer one has more of must be blanks. */
static inline bool text_same_behind_word(struct varlen a, struct varlen b, bool padded)
{
    if (!padded && a.length != b.length)
        return false;
    if (a.length <= 8 && b.length <= 8)
        return true;
    uint32_t shorter = a.length < b.length ? a.length : b.length;
    if (shorter > 8 && memcmp(a.bytes + 8, b.bytes + 8, shorter - 8) != 0)
        return false;
    const struct varlen longer = a.length > b.length ? a : b;
    for (uint32_t i = shorter > 8 ? shorter : 8; i < longer.length; i++)
        if (longer.bytes[i] != ' ')
            return false;
    return true;
}

static inline bool text_same(struct varlen a, struct varlen b, bool padded)
{
    uint8_t filler = padded ? ' ' : 0;
    return text_word(a, filler) == text_word(b, filler) && text_same_behind_word(a, b, padded);
}

#endif
