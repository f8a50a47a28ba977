/* btree/key.h - key bytes: compared, shortened, and given a successor.
 *
 * A tree orders entries by (key bytes, row id): bytes by memcmp, a key before every longer key that it begins, then
 * the row id. A *bound* is a place in that order: entries at or after (key, row), or strictly before it, or one of the ends. */
#ifndef BTREE_KEY_H
#define BTREE_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* memcmp, without a call for what is short: keys that have been cut by prefix and head mostly are. */
static inline int bytes_compare(const uint8_t *a, const uint8_t *b, uint32_t count)
{
    if (count > 32)
        return memcmp(a, b, count);
    for (; count >= 8; a += 8, b += 8, count -= 8) {
        uint64_t x, y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y)
            return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
    }
    for (; count; a++, b++, count--)
        if (*a != *b)
            return *a < *b ? -1 : 1;
    return 0;
}

static inline int key_compare(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length)
{
    int order = bytes_compare(a, b, a_length < b_length ? a_length : b_length);
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

/* The first four bytes as a number, zeros behind a short key: if heads differ, keys differ the same way. */
static inline uint32_t key_head(const uint8_t *bytes, uint32_t length)
{
    uint32_t head = 0;
    if (length >= 4) {
        memcpy(&head, bytes, 4);
        return __builtin_bswap32(head);
    }
    for (uint32_t i = 0; i < length; i++)
        head |= (uint32_t)bytes[i] << (24 - 8 * i);
    return head;
}

uint32_t key_common(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length);   /* how many leading bytes are equal */

/* The shortest (bytes, row) that parts `left` from `right`, left < it <= right: a beginning of `right`, with row 0 when bytes
 * alone do it. Returns its length. */
uint32_t key_separator(const uint8_t *left, uint32_t left_length, const uint8_t *right, uint32_t right_length, uint64_t right_row, uint64_t *row);

/* Turns a key into the least one above everything that begins with it; false when there is none (empty, or all 0xFF). */
bool     btree_key_successor(uint8_t *bytes, uint32_t *length);

enum bound_kind { BOUND_FIRST, BOUND_AT, BOUND_BEFORE, BOUND_LAST };
struct bound { enum bound_kind kind; const uint8_t *bytes; uint32_t length; uint64_t row; };

#endif
