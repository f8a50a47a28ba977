/* tests/engine/exec_sort_test.c - words of 128 bits in order: beside qsort, over shapes that radix digits don't like. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "base/hash.h"
#include "engine/exec/sort_words.h"

static int by_word(const void *a, const void *b)
{
    sort_word x = *(const sort_word *)a, y = *(const sort_word *)b;
    return (x > y) - (x < y);
}

static sort_word word_of(int shape, uint32_t i, uint32_t count)
{
    uint64_t h = hash_u64(i), g = hash_u64(h + 1);
    switch (shape) {
    case 0: return (sort_word)h << 64 | g;                                  /* anything */
    case 1: return i;                                                       /* sorted */
    case 2: return count - i;                                               /* falling */
    case 3: return (sort_word)(h % 12) << 120 | i;                          /* few keys */
    case 4: return (sort_word)1 << (h % 128) | i;                           /* each bit */
    case 5: return (sort_word)0x6162636465666768 << 64 | (h & 0xffff) << 32 | i;     /* a long common beginning */
    case 6: return i % 1000 == 7 ? ~(sort_word)i : (sort_word)(h & 3) << 32 | i;      /* a few far away */
    default: return (sort_word)(h % 100 < 99 ? 5 : h) << 32 | i;            /* nearly all alike */
    }
}

struct asking { uint32_t asked, most; };
static enum status ask(void *context)
{
    struct asking *a = context;
    return ++a->asked > a->most ? STATUS_CANCELED : STATUS_OK;
}

/* Whoever asks it to stop is heard at any moment, and no word is lost. */
Test(sort_words, stops)
{
    enum { COUNT = 140000 };
    sort_word *words = malloc(COUNT * sizeof *words), *sorted = malloc(COUNT * sizeof *words);
    int heard = 0;
    for (int shape = 0; shape < 8; shape++) {
        struct asking all = { .most = UINT32_MAX };
        const struct sort_check check = { ask, &all };
        for (uint32_t i = 0; i < COUNT; i++)
            words[i] = sorted[i] = word_of(shape, i, COUNT);
        qsort(sorted, COUNT, sizeof *sorted, by_word);
        cr_expect(sort_words(words, COUNT, &check) == STATUS_OK);
        for (uint32_t most = 0; most < all.asked; most += 1 + all.asked / 3) {
            struct asking some = { .most = most };
            const struct sort_check stops = { ask, &some };
            for (uint32_t i = 0; i < COUNT; i++)
                words[i] = word_of(shape, i, COUNT);
            cr_expect(sort_words(words, COUNT, &stops) == STATUS_CANCELED);
            cr_expect(some.asked == most + 1, "asked %u times after it said stop", some.asked - most);
            qsort(words, COUNT, sizeof *words, by_word);
            cr_expect(memcmp(words, sorted, COUNT * sizeof *words) == 0);
        }
        heard += all.asked > 0;
    }
    cr_expect(heard >= 4, "%d", heard);
    free(words);
    free(sorted);
}

Test(sort_words, as_qsort)
{
    static const uint32_t counts[] = { 0, 1, 2, 3, 19, 20, 21, 64, 65, 1000, 4097, 140000, 300000 };
    for (int shape = 0; shape < 8; shape++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            uint32_t count = counts[c];
            sort_word *words = malloc((count + 1) * sizeof *words), *sorted = malloc((count + 1) * sizeof *words);
            for (uint32_t i = 0; i < count; i++)
                words[i] = sorted[i] = word_of(shape, i, count);
            words[count] = 42;                                              /* not touched */
            cr_expect(sort_words(words, count, NULL) == STATUS_OK);
            qsort(sorted, count, sizeof *sorted, by_word);
            cr_expect(memcmp(words, sorted, count * sizeof *words) == 0, "shape %d, %u words", shape, count);
            cr_expect(words[count] == 42);
            free(words);
            free(sorted);
        }
}
