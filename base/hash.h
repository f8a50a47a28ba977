/* base/hash.h - hashes and checksums. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *, size_t, uint64_t seed);   /* well mixed; the same in every run and on every machine */
static inline uint64_t hash_u64(uint64_t x)                 /* a finalizer of the murmur3 family */
{
    x ^= x >> 33; x *= 0xff51afd7ed558ccdULL; x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL; x ^= x >> 33;
    return x;
}
static inline uint64_t hash_join(uint64_t a, uint64_t b) { return hash_u64(a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2))); }

/* CRC-32C (Castagnoli); SSE4.2 where the processor has it. Start with 0; may be continued. */
uint32_t crc32c(uint32_t crc, const void *, size_t);
uint32_t crc32c_software(uint32_t crc, const void *, size_t);  /* the same without the instruction; for tests */

/* A seeded generator for tests and sampling (splitmix64). */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL; z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

#endif
