/* engine/exec/runtime_filter.c - keys as words, which scan a join's key comes from, and the test itself (see runtime_filter.h). */
#include "base/hash.h"
#include "engine/exec/runtime_filter.h"

/* ---- words ---- */

bool key_layout_make(struct key_layout *layout, const struct sql_type *types, uint16_t count)
{
    unsigned bytes = 0;
    if (count == 0 || count > KEY_WORD_MAX)
        return false;
    for (uint16_t k = 0; k < count; k++) {
        if (!type_bitwise(types[k]))
            return false;
        layout->widths[k] = types[k].width;
        layout->shifts[k] = (uint8_t)(bytes * 8);
        bytes += types[k].width;
    }
    layout->count = count;
    return bytes <= 8;
}

#define EACH_WORD(type, put)                                                                                \
    do {                                                                                                    \
        const type *in = v->values;                                                                         \
        if (v->constant)                                                                                    \
            for (uint16_t k = 0; k < count; k++) { uint64_t w = (uint64_t)(int64_t)in[0]; put; }            \
        else if (positions)                                                                                 \
            for (uint16_t k = 0; k < count; k++) { uint64_t w = (uint64_t)(int64_t)in[positions[k]]; put; } \
        else                                                                                                \
            for (uint16_t k = 0; k < count; k++) { uint64_t w = (uint64_t)(int64_t)in[k]; put; }            \
    } while (0)
#define EVERY_WIDTH(put)                                        \
    switch (v->width) {                                         \
    case 1: EACH_WORD(int8_t, put); break;                      \
    case 2: EACH_WORD(int16_t, put); break;                     \
    case 4: EACH_WORD(int32_t, put); break;                     \
    default: EACH_WORD(int64_t, put); break;                    \
    }

void key_words(const struct key_layout *layout, const struct vector *const *keys, const row_pos *positions, uint16_t count, uint64_t *restrict words)
{
    const struct vector *v = keys[0];
    if (layout->count == 1) {
        EVERY_WIDTH(words[k] = w)
        return;
    }
    memset(words, 0, count * sizeof *words);
    for (uint16_t c = 0; c < layout->count; c++) {
        v = keys[c];
        const uint64_t mask = layout->widths[c] == 8 ? UINT64_MAX : (1ULL << layout->widths[c] * 8) - 1;
        const uint8_t shift = layout->shifts[c];
        EVERY_WIDTH(words[k] |= (w & mask) << shift)
    }
}

/* ---- the scan below ---- */

int32_t runtime_filter_column(const struct scalar *s)
{
    while (s->kind == SCALAR_CALL && s->form >= CALL_CAST && s->arg_count == 1 && (s->type.oid == OID_INT8 || s->type.oid == OID_INT4) &&
           (s->args[0]->type.oid == OID_INT4 || s->args[0]->type.oid == OID_INT2) && s->args[0]->type.width < s->type.width)
        s = s->args[0];
    return s->kind == SCALAR_COLUMN ? s->column : -1;
}

/* Column of a join's output: which child gives it, when rows of that child without a match above may be left out. */
static struct exec_node *join_side(struct exec_node *op, uint16_t *column)
{
    const struct plan *plan = op->plan;
    uint16_t at = plan->outputs ? plan->outputs[*column] : *column;
    if (at < plan->left->column_count) {
        *column = at;
        return plan->join == PLAN_INNER || plan->join == PLAN_LEFT || plan->join == PLAN_SEMI || plan->join == PLAN_ANTI || plan->join == PLAN_ANTI_NULL ? op->left : NULL;
    }
    *column = (uint16_t)(at - plan->left->column_count);
    bool kept_side = plan->join == PLAN_INNER || plan->join == PLAN_RIGHT || plan->join == PLAN_RIGHT_SEMI || plan->join == PLAN_RIGHT_ANTI;
    return op->class == &hash_join_class && kept_side ? op->right : NULL;     /* it is read after the join above it was built */
}

struct exec_node *runtime_filter_target(struct exec_node *op, uint16_t *columns, uint16_t count)
{
    while (op) {
        const struct plan *plan = op->plan;
        struct exec_node *below = op->left;
        switch (plan->kind) {
        case PLAN_SEQ_SCAN: case PLAN_BITMAP_SCAN:
            for (uint16_t k = 0; k < count; k++)
                if (plan->columns[columns[k]] == 0xFFFF)
                    return NULL;
            return op;
        case PLAN_FILTER: case PLAN_SORT:
            break;
        case PLAN_PROJECT:
            for (uint16_t k = 0; k < count; k++) {
                int32_t at = runtime_filter_column(plan->exprs[columns[k]]);
                if (at < 0)
                    return NULL;
                columns[k] = (uint16_t)at;
            }
            break;
        case PLAN_AGGREGATE:             /* groups that nobody asks for needn't be made */
            for (uint16_t k = 0; k < count; k++) {
                int32_t at = columns[k] < plan->group_count && plan->set_count == 0 ? runtime_filter_column(plan->groups[columns[k]]) : -1;
                if (at < 0)
                    return NULL;
                columns[k] = (uint16_t)at;
            }
            break;
        case PLAN_HASH_JOIN: case PLAN_NESTED_LOOP:
            below = NULL;
            for (uint16_t k = 0; k < count; k++) {
                struct exec_node *side = join_side(op, &columns[k]);
                if (!side || (below && side != below))
                    return NULL;
                below = side;
            }
            break;
        default:
            return NULL;
        }
        op = below;
    }
    return NULL;
}

/* ---- the test ---- */

/* Null keys match nothing. out may be rows. */
static uint16_t not_null(const struct vector *key, const row_pos *rows, uint16_t count, row_pos *out)
{
    uint16_t kept = 0;
    for (uint16_t k = 0; k < count; k++) {
        row_pos i = rows ? rows[k] : k;
        out[kept] = i;
        kept = (uint16_t)(kept + !vector_null(key, i));
    }
    return kept;
}

uint16_t runtime_filter_rows(const struct runtime_filter *f, struct filter_tally *tally, uint64_t grain, const struct vector *columns,
                             const row_pos *rows, uint16_t count, row_pos *out)
{
    uint64_t words[BATCH_MAX];
    const struct vector *keys[KEY_WORD_MAX];
    uint16_t inside = 0, passed = 0;
    bool bounded = f->range != 0, wanted = runtime_filter_wanted(tally, grain);      /* not bounded: several keys in a word, or one that takes in every number */
    for (uint16_t c = 0; c < f->layout.count; c++) {
        keys[c] = &columns[f->columns[c]];
        if (keys[c]->nulls) {
            count = not_null(keys[c], rows, count, out);
            rows = out;
        }
    }
    key_words(&f->layout, keys, rows, count, words);
    if (!wanted) {
        for (uint16_t k = 0; k < count; k++) {
            out[passed] = rows ? rows[k] : k;
            passed = (uint16_t)(passed + (!bounded || words[k] - f->low < f->range));
        }
        return passed;
    }
    if (f->bits) {
        for (uint16_t k = 0; k < count; k++) {
            uint64_t at = words[k] - f->low;
            out[passed] = rows ? rows[k] : k;
            inside = (uint16_t)(inside + (at < f->range));
            at = at < f->range ? at : f->range;          /* bit `range` is never set */
            passed = (uint16_t)(passed + (f->bits[at >> 6] >> (at & 63) & 1));
        }
    } else if (f->block_count) {
        for (uint16_t k = 0; k < count; k++)
            words[k] = bounded && words[k] - f->low >= f->range ? 0 : hash_u64(words[k]) | 1;
        for (uint16_t k = 0; k < count; k++) {
            uint64_t bits = bloom_bits(words[k]);
            out[passed] = rows ? rows[k] : k;
            inside = (uint16_t)(inside + (words[k] != 0));
            passed = (uint16_t)(passed + ((words[k] != 0) & ((f->blocks[hash_below(words[k], f->block_count)] & bits) == bits)));
        }
    }
    if (tally->grain != grain)
        *tally = (struct filter_tally){ .grain = grain };
    tally->seen += inside;
    tally->passed += passed;
    return passed;
}
