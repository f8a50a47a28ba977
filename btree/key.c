/* btree/key.c - key bytes: compared, shortened, and given a successor.
 *
 * Separators are cut short (key_separator) so that inner nodes hold more children: between "Jackson" and "Miller" the
 * letter "M" is enough to say which way to go. */
#include "btree/key.h"

uint32_t key_common(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length)
{
    uint32_t shorter = a_length < b_length ? a_length : b_length, i = 0;
    while (i < shorter && a[i] == b[i])
        i++;
    return i;
}

uint32_t key_separator(const uint8_t *left, uint32_t left_length, const uint8_t *right, uint32_t right_length, uint64_t right_row, uint64_t *row)
{
    uint32_t common = key_common(left, left_length, right, right_length);
    if (common == right_length) {              /* the same key: only the row id parts them (left < right, so left is no longer) */
        *row = right_row;
        return right_length;
    }
    *row = 0;
    return common + 1;
}

bool btree_key_successor(uint8_t *bytes, uint32_t *length)
{
    while (*length && bytes[*length - 1] == 0xFF)
        --*length;
    if (!*length)
        return false;
    bytes[*length - 1]++;
    return true;
}
