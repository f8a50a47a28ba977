/* engine/exec/sort_words.c - radix sort of words of 128 bits, in place, from the highest bit that differs.
 *
 *     look:    which bits differ at all? Digits begin at the highest of them, so bytes that all words share cost nothing
 *     count:   how many words have each value of the digit; so it is known where each value's words will stand
 *     move:    every word is swapped to the next free place of its value. The walk takes one word after the other and doesn't follow
 *              the one that it swapped in, so many swaps are under way at once in the processor; walks are repeated until all stand right
 *     then each value's words by themselves; a few words by insertion
 *
 * Digits are wide where there are many words (few passes over memory) and narrow where there are few. */
#include "engine/exec/sort_words.h"

#define FEW 20
#define ASKS_FROM 65536                  /* words, in memory that is no longer near */
#define DIGIT_BITS 10

static void insertion_sort(sort_word *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        sort_word word = words[i];
        size_t k = i;
        for (; k > 0 && words[k - 1] > word; k--)
            words[k] = words[k - 1];
        words[k] = word;
    }
}

static unsigned highest_bit(sort_word word)
{
    uint64_t high = (uint64_t)(word >> 64);
    return high ? 127u - (unsigned)__builtin_clzll(high) : 63u - (unsigned)__builtin_clzll((uint64_t)word);
}

/* About eight words for each value of the digit. */
static unsigned digit_bits(size_t count)
{
    unsigned bits = 2;
    while (bits < DIGIT_BITS && count >> (bits + 3))
        bits++;
    return bits > 8 && count < (size_t)1 << 17 ? 8 : bits;
}

static enum status move_words(sort_word *words, size_t count, unsigned shift, uint32_t mask, uint32_t *next, const uint32_t *end, const struct sort_check *check)
{
    if (count < ASKS_FROM)
        check = NULL;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t value = 0; value <= mask; value++) {
            uint32_t last = end[value];
            enum status status = value % 16 == 0 ? sort_ask(check) : STATUS_OK;
            if (status)
                return status;
            for (uint32_t i = next[value]; i < last; i++) {
                sort_word word = words[i];
                uint32_t to = next[(uint32_t)(word >> shift) & mask]++;
                words[i] = words[to];
                words[to] = word;
            }
            moved |= next[value] < last;
        }
    }
    return STATUS_OK;
}

static enum status sort_from(sort_word *words, size_t count, sort_word differ, const struct sort_check *check)
{
    unsigned bits = digit_bits(count), top = highest_bit(differ) + 1, shift = top > bits ? top - bits : 0;
    uint32_t mask = (1u << bits) - 1, at = 0, next[mask + 1], end[mask + 1];     /* few where words are few: this recurs */
    for (uint32_t value = 0; value <= mask; value++)
        end[value] = 0;
    for (size_t i = 0; i < count; i++)
        end[(uint32_t)(words[i] >> shift) & mask]++;
    for (uint32_t value = 0; value <= mask; value++) {
        next[value] = at;
        at += end[value];
        end[value] = at;
    }
    enum status status = move_words(words, count, shift, mask, next, end, check);
    for (uint32_t value = 0, start = 0; value <= mask && !status; start = end[value++]) {
        if (count >= ASKS_FROM && value % 16 == 0)
            status = sort_ask(check);
        if (!status && end[value] - start > 1)
            status = sort_words(words + start, end[value] - start, check);
    }
    return status;
}

enum status sort_words(sort_word *words, size_t count, const struct sort_check *check)
{
    if (count <= FEW) {
        insertion_sort(words, count);
        return STATUS_OK;
    }
    sort_word differ = 0, last = words[0];
    bool risen = true;
    for (size_t i = 1; i < count; i++) {
        sort_word word = words[i];
        differ |= word ^ words[0];
        risen &= last <= word;
        last = word;
    }
    return risen ? STATUS_OK : sort_from(words, count, differ, check);
}
