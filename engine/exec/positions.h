/* engine/exec/positions.h - from bytes that say yes or no to the positions of those that say yes, without a branch a row.
 *
 * Sixteen bytes become a mask of sixteen bits; each half of it looks up which of eight positions it stands for. All eight
 * places are written every time, so the array needs POSITIONS_SLACK elements more than there can be positions. */
#ifndef ENGINE_EXEC_POSITIONS_H
#define ENGINE_EXEC_POSITIONS_H

#include <string.h>
#include "base/vector.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define POSITIONS_AT_ONCE 16
#define POSITIONS_ALL     0xffffu
#define POSITIONS_SLACK   8

extern uint8_t positions_table[256][8], positions_count[256];    /* evaluate.c */

/* Bit i: byte i is not 0. */
static inline uint32_t positions_mask(const uint8_t *bytes)
{
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    return ~(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)bytes), zero)) & POSITIONS_ALL;
#else
    uint32_t mask = 0;
    for (int i = 0; i < POSITIONS_AT_ONCE; i++)
        mask |= (uint32_t)(bytes[i] != 0) << i;
    return mask;
#endif
}

static inline void positions_eight(uint32_t mask, uint16_t from, row_pos *out)
{
#if defined(__SSE2__)
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)positions_table[mask]);
    _mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi16(_mm_unpacklo_epi8(bytes, _mm_setzero_si128()), _mm_set1_epi16((short)from)));
#else
    for (int i = 0; i < 8; i++)
        out[i] = (row_pos)(from + positions_table[mask][i]);
#endif
}

/* Puts down from + i for every bit i of the mask; how many. */
static inline uint32_t positions_of(uint32_t mask, uint16_t from, row_pos *out)
{
    uint32_t low = positions_count[mask & 0xff];
    positions_eight(mask & 0xff, from, out);
    positions_eight(mask >> 8, (uint16_t)(from + 8), out + low);
    return low + positions_count[mask >> 8];
}

#endif
