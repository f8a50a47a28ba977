/* engine/types/search.c - finding one byte string in another.
 *
 * With AVX2: 32 places at a time are tried for the needle's first byte and, that far on, its last one; where both are
 * right the bytes between are compared. (The idea is Wojciech Mula's "generic SIMD" search.) The last 32 places overlap those
 * before, so nothing past the text is read. Short texts take 16 at a time; shorter ones, and other processors, memmem. */
#include <string.h>
#include "engine/types/internal.h"
#include "engine/types/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>

static inline bool between_same(const uint8_t *at, const uint8_t *needle, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if (at[i] != needle[i])
            return false;
    return true;
}

/* At least 16 places. */
static const uint8_t *find_16(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length)
{
    const __m128i first = _mm_set1_epi8((char)needle[0]), last = _mm_set1_epi8((char)needle[needle_length - 1]);
    const size_t far = needle_length - 1;
    const uint8_t *end = text + length - far - 16;
    for (const uint8_t *p = text;; p += 16) {
        if (p > end)
            p = end;
        const __m128i a = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), first);
        const __m128i b = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + far)), last);
        for (uint32_t mask = (uint32_t)_mm_movemask_epi8(_mm_and_si128(a, b)); mask; mask &= mask - 1) {
            const uint8_t *at = p + __builtin_ctz(mask);
            if (between_same(at, needle, needle_length))
                return at;
        }
        if (p == end)
            return NULL;
    }
}

/* At least 32 places. */
static __attribute__((target("avx2"))) const uint8_t *find_32(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length)
{
    const __m256i first = _mm256_set1_epi8((char)needle[0]), last = _mm256_set1_epi8((char)needle[needle_length - 1]);
    const size_t far = needle_length - 1;
    const uint8_t *end = text + length - far - 32;
    for (const uint8_t *p = text;; p += 32) {
        if (p > end)
            p = end;
        const __m256i a = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)p), first);
        const __m256i b = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(p + far)), last);
        for (uint32_t mask = (uint32_t)_mm256_movemask_epi8(_mm256_and_si256(a, b)); mask; mask &= mask - 1) {
            const uint8_t *at = p + __builtin_ctz(mask);
            if (between_same(at, needle, needle_length))
                return at;
        }
        if (p == end)
            return NULL;
    }
}

const uint8_t *text_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length)
{
    if (needle_length == 0 || needle_length > length)
        return needle_length == 0 ? text : NULL;
    if (processor_wide()) {
        size_t places = length - needle_length + 1;
        if (places >= 32)
            return find_32(text, length, needle, needle_length);
        if (places >= 16)
            return find_16(text, length, needle, needle_length);
    }
    return memmem(text, length, needle, needle_length);
}

#else

const uint8_t *text_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length)
{
    return needle_length ? memmem(text, length, needle, needle_length) : text;
}

#endif
