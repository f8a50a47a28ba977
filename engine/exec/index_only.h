/* engine/exec/index_only.h - the values of a row from its index entry alone.
 *
 * Only for columns whose key bytes give back the very value (key_exact); the planner asks for no others. */
#ifndef ENGINE_EXEC_INDEX_ONLY_H
#define ENGINE_EXEC_INDEX_ONLY_H

#include "engine/exec/operator.h"

struct index_reader {
    uint16_t part_count;                 /* of the key's columns, up to the last that is wanted */
    struct index_part {
        struct sql_type type;
        unsigned flags;                  /* enum key_flags */
        uint8_t  width;                  /* bytes of the value in the key; 0: hangs on the value */
        bool     is_signed;              /* its first bit is turned */
        int32_t  column;                 /* of the scan's output; -1: nobody wants it */
    } *parts;
};
void index_reader_open(struct index_reader *, const struct plan *, struct arena *);
/* Values go to position `at` of the scan's columns; long ones into the arena. */
enum status index_reader_row(const struct index_reader *, const uint8_t *key, uint32_t length, struct vector *columns, uint16_t at, struct arena *) MUST_CHECK;

#endif
