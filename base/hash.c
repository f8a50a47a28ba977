/* base/hash.c - hashes and checksums.
 *
 * hash_bytes() folds 16 bytes at a time by one 64x64 -> 128 bit multiplication; long inputs run two such chains side by
 * side. Its values are written to no file, but they decide partitions, so they are the same everywhere.
 *
 * crc32c() has two ways to the same number, chosen once by what the processor has:
 *   - the crc32 instruction, which takes 8 bytes in 3 cycles but can start anew every cycle: so three stretches run
 *     side by side, and their sums are joined by moving the earlier ones past the length of the later (crc_shift, a
 *     linear map of 32 bits kept as 4 tables);
 *   - 8 tables, a byte of the input each (slicing by 8). */
#include "base/hash.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define CRC_HARDWARE 1
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "hashes and page formats are little-endian");

#define MIX_A 0x9e3779b97f4a7c15ULL
#define MIX_B 0xd1b54a32d192ed03ULL
#define MIX_C 0x8bb84b93962eacc9ULL

static inline uint64_t load64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

static inline uint64_t load32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *bytes, size_t count, uint64_t seed)
{
    const uint8_t *at = bytes;
    uint64_t state = seed ^ fold(seed ^ MIX_A, MIX_B);
    uint64_t a, b;

    if (count <= 16) {
        if (count >= 8) {
            a = load64(at);
            b = load64(at + count - 8);
        } else if (count >= 4) {
            a = load32(at);
            b = load32(at + count - 4);
        } else if (count > 0) {
            a = (uint64_t)at[0] << 16 | (uint64_t)at[count / 2] << 8 | at[count - 1];
            b = 0;
        } else {
            a = b = 0;
        }
    } else {
        size_t left = count;
        if (left > 32) {
            uint64_t other = state ^ MIX_C;
            do {
                state = fold(load64(at) ^ MIX_A, load64(at + 8) ^ state);
                other = fold(load64(at + 16) ^ MIX_B, load64(at + 24) ^ other);
                at += 32;
                left -= 32;
            } while (left > 32);
            state ^= other;
        }
        if (left > 16) {
            state = fold(load64(at) ^ MIX_A, load64(at + 8) ^ state);
            at += 16;
            left -= 16;
        }
        a = load64(at + left - 16); /* the last 16 bytes, which may overlap what was taken */
        b = load64(at + left - 8);
    }
    return hash_u64(fold(a ^ MIX_B, b ^ state) ^ fold(count ^ MIX_C, state ^ MIX_A));
}

#define CRC_POLYNOMIAL 0x82f63b78u /* Castagnoli, bits reversed */
#define LONG_BYTES     1024        /* stretches that run side by side */
#define SHORT_BYTES    128

static uint32_t crc_tables[8][256];

static uint32_t crc_software(uint32_t crc, const uint8_t *at, size_t count)
{
    while (count >= 8) {
        uint64_t word = load64(at) ^ crc;
        crc = crc_tables[7][word & 255] ^ crc_tables[6][word >> 8 & 255] ^ crc_tables[5][word >> 16 & 255] ^
              crc_tables[4][word >> 24 & 255] ^ crc_tables[3][word >> 32 & 255] ^ crc_tables[2][word >> 40 & 255] ^
              crc_tables[1][word >> 48 & 255] ^ crc_tables[0][word >> 56];
        at += 8;
        count -= 8;
    }
    while (count--)
        crc = crc_tables[0][(crc ^ *at++) & 255] ^ crc >> 8;
    return crc;
}

#ifdef CRC_HARDWARE
static uint32_t long_shift[4][256], short_shift[4][256];
static bool hardware;

static inline uint32_t crc_shift(uint32_t table[4][256], uint32_t crc)
{
    return table[0][crc & 255] ^ table[1][crc >> 8 & 255] ^ table[2][crc >> 16 & 255] ^ table[3][crc >> 24];
}

/* What becomes of each of the 32 bits when `bytes` zero bytes follow; then of each byte of a sum. */
static void shift_table_fill(uint32_t table[4][256], size_t bytes)
{
    uint32_t bits[32];
    for (int bit = 0; bit < 32; bit++) {
        uint32_t crc = 1u << bit;
        for (size_t i = 0; i < bytes; i++)
            crc = crc_tables[0][crc & 255] ^ crc >> 8;
        bits[bit] = crc;
    }
    for (int part = 0; part < 4; part++)
        for (uint32_t value = 0; value < 256; value++) {
            uint32_t crc = 0;
            for (int bit = 0; bit < 8; bit++)
                if (value >> bit & 1)
                    crc ^= bits[part * 8 + bit];
            table[part][value] = crc;
        }
}

__attribute__((target("sse4.2"))) static const uint8_t *
crc_three(uint32_t *crc, const uint8_t *at, size_t stretch, uint32_t shift[4][256])
{
    uint64_t first = *crc, second = 0, third = 0;
    for (const uint8_t *end = at + stretch; at < end; at += 8) {
        first = _mm_crc32_u64(first, load64(at));
        second = _mm_crc32_u64(second, load64(at + stretch));
        third = _mm_crc32_u64(third, load64(at + 2 * stretch));
    }
    uint32_t joined = crc_shift(shift, (uint32_t)first) ^ (uint32_t)second;
    *crc = crc_shift(shift, joined) ^ (uint32_t)third;
    return at + 2 * stretch;
}

__attribute__((target("sse4.2"))) static uint32_t crc_hardware(uint32_t crc, const uint8_t *at, size_t count)
{
    for (; count >= 3 * LONG_BYTES; count -= 3 * LONG_BYTES)
        at = crc_three(&crc, at, LONG_BYTES, long_shift);
    for (; count >= 3 * SHORT_BYTES; count -= 3 * SHORT_BYTES)
        at = crc_three(&crc, at, SHORT_BYTES, short_shift);
    uint64_t wide = crc;
    for (; count >= 8; count -= 8, at += 8)
        wide = _mm_crc32_u64(wide, load64(at));
    crc = (uint32_t)wide;
    while (count--)
        crc = _mm_crc32_u8(crc, *at++);
    return crc;
}
#endif

/* Before main, so that no thread finds a half-filled table. */
__attribute__((constructor)) static void crc_tables_fill(void)
{
    for (uint32_t value = 0; value < 256; value++) {
        uint32_t crc = value;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ CRC_POLYNOMIAL : crc >> 1;
        crc_tables[0][value] = crc;
    }
    for (uint32_t value = 0; value < 256; value++)
        for (int table = 1; table < 8; table++) {
            uint32_t crc = crc_tables[table - 1][value];
            crc_tables[table][value] = crc_tables[0][crc & 255] ^ crc >> 8;
        }
#ifdef CRC_HARDWARE
    __builtin_cpu_init();
    hardware = __builtin_cpu_supports("sse4.2");
    if (hardware) {
        shift_table_fill(long_shift, LONG_BYTES);
        shift_table_fill(short_shift, SHORT_BYTES);
    }
#endif
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t count)
{
#ifdef CRC_HARDWARE
    if (hardware)
        return ~crc_hardware(~crc, bytes, count);
#endif
    return ~crc_software(~crc, bytes, count);
}

uint32_t crc32c_software(uint32_t crc, const void *bytes, size_t count)
{
    return ~crc_software(~crc, bytes, count);
}
