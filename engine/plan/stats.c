/* engine/plan/stats.c - ANALYZE: a sample of a table's rows, and what it says about each column.
 *
 * The sample is 300 rows for each unit of the statistics target, PostgreSQL's rule, from as many pages spread evenly (with a
 * jitter from a fixed seed) over the table; where there are fewer pages, a few rows of each. The number of distinct values is
 * Haas and Stokes' estimate from how many values were met just once; a value is a common one when it is clearly more frequent than
 * the average; the rest make the histogram. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/plan/stats.h"
#include "engine/session.h"
#include "engine/settings.h"
#include "storage/heap.h"
#include "storage/pool.h"

#define WIDTH_MAX_SAMPLED 1024           /* longer values aren't kept: they can't be common, nor good bounds */

struct sampled { struct value *values; uint32_t *order; uint32_t count, nulls, wide; double bytes; uint32_t rows; };

/* ---- reading the sample ---- */

static struct value value_of(struct sql_type type, const struct vector *v, size_t at, struct arena *arena)
{
    struct value value = value_get(type, v, at);
    if (type.width == WIDTH_VARLEN && !value.null) value.v.bytes = value.v.length ? arena_copy(arena, value.v.bytes, value.v.length) : (const uint8_t *)"";
    return value;
}

/* Rows of a page, each drawn with the same chance: `share` of them in the mean. Not just as many of each page: rows that stand together are often alike,
 * and if two of a page never met, values would look rarer than they are. */
static enum status sample_page(const struct table *t, struct page_ref *ref, const struct snapshot *snapshot, struct arena *arena, struct arena *scratch, struct sampled *columns,
                               double share, uint32_t room, uint64_t *seed, uint64_t *rows, struct heap_look *look, struct varlen *space, row_pos *selection)
{
    enum status status = heap_page_look(&t->heap, snapshot, ref, look);
    if (status) return status;
    uint16_t visible = look->visible_count, count = 0;
    *rows += visible;
    double chance = visible ? share / visible : 0;
    for (uint16_t at = 0; at < visible && count < room; at++)
        if (chance >= 1 || (double)(random_next(seed) >> 11) * 0x1p-53 < chance * 0.98) selection[count++] = look->all_visible ? at : look->selection[at];
    if (!count) return STATUS_OK;
    for (int c = 0; c < t->column_count && !status; c++) {
        if (t->columns[c].dropped) continue;
        struct sampled *s = &columns[c];
        struct vector v;
        status = heap_page_column(&t->heap, ref, look, (uint16_t)c, selection, count, space, scratch, &v);
        for (uint16_t i = 0; !status && i < count; i++) {
            size_t at = selection[i];
            s->rows++;
            if (vector_null(&v, at)) {
                s->nulls++;
                continue;
            }
            struct sql_type type = t->columns[c].type;
            if (type.width == WIDTH_VARLEN) {
                uint32_t length = VECTOR(struct varlen, &v, at).length;
                s->bytes += length;
                if (length > WIDTH_MAX_SAMPLED) {
                    s->wide++;
                    continue;
                }
            } else
                s->bytes += type.width;
            s->order[s->count] = s->rows - 1;
            s->values[s->count++] = value_of(type, &v, at, arena);
        }
        arena_reset(scratch);
    }
    return status;
}

/* ---- sorting ---- */

struct sorting { struct sql_type type; const struct value *values; };
static int compare_at(const void *a, const void *b, void *context)
{
    const struct sorting *s = context;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    struct vector x = { .values = (void *)(uintptr_t)&s->values[i].i8, .width = s->type.width, .constant = true };
    struct vector y = { .values = (void *)(uintptr_t)&s->values[k].i8, .width = s->type.width, .constant = true };
    int c = type_compare(s->type, &x, 0, &y, 0);
    return c ? c : (i < k ? -1 : i > k);
}
static bool equal_at(const struct sorting *s, uint32_t i, uint32_t k)
{
    struct vector x = { .values = (void *)(uintptr_t)&s->values[i].i8, .width = s->type.width, .constant = true };
    struct vector y = { .values = (void *)(uintptr_t)&s->values[k].i8, .width = s->type.width, .constant = true };
    return type_compare(s->type, &x, 0, &y, 0) == 0;
}

struct group { uint32_t first, count; };     /* of equal values in sorted order */
static int by_count(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void analyze_column(struct sql_type type, struct sampled *s, double total_rows, int target, struct arena *arena, struct arena *scratch, struct column_statistics *out)
{
    out->type = type;
    out->null_fraction = s->rows ? (double)s->nulls / s->rows : 0;
    uint32_t nonnull = s->rows - s->nulls;
    out->average_width = nonnull ? s->bytes / nonnull : type.width ? type.width : 1;
    if (!nonnull) {
        out->distinct = 0;
        return;
    }
    if (!type_comparable(type.oid) || !s->count) {
        out->distinct = -1 * (1 - out->null_fraction);
        return;
    }
    uint32_t n = s->count;
    uint32_t *sorted = arena_array(scratch, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) sorted[i] = i;
    struct sorting sorting = { type, s->values };
    qsort_r(sorted, n, sizeof *sorted, compare_at, &sorting);
    struct group *groups = arena_array(scratch, struct group, n);
    uint32_t group_count = 0, once = 0, multiple = 0;
    double sum_xy = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t k = i + 1;
        while (k < n && equal_at(&sorting, sorted[i], sorted[k])) k++;
        groups[group_count++] = (struct group){ i, k - i };
        if (k - i == 1) once++;
        else multiple++;
        i = k;
    }
    for (uint32_t i = 0; i < n; i++) sum_xy += (double)i * sorted[i];
    if (n > 1) {                         /* of rank in value with rank in place */
        double m = n, sum = (m - 1) * m / 2, squares = (m - 1) * m * (2 * m - 1) / 6;
        out->correlation = (m * sum_xy - sum * sum) / (m * squares - sum * sum);
    } else
        out->correlation = 1;
    /* distinct values in the whole table */
    if (multiple == 0 && s->wide == 0) out->distinct = -1 * (1 - out->null_fraction);
    else if (once == 0 && s->wide == 0) out->distinct = group_count;
    else if (s->rows >= total_rows) out->distinct = group_count + s->wide;
    else {
        double f1 = once + s->wide, d = f1 + multiple, m = n + s->wide, big = total_rows * (1 - out->null_fraction);
        double estimate = m * d / ((m - f1) + f1 * m / fmax(1, big));
        estimate = fmax(d, fmin(estimate, big));
        out->distinct = floor(estimate + 0.5);
    }
    if (out->distinct > 0.1 * total_rows && !(s->rows >= total_rows && multiple && out->distinct <= 10)) out->distinct = -out->distinct / fmax(1, total_rows);
    if (out->distinct < -1) out->distinct = -1;
    /* common values */
    struct group *ranked = arena_copy(scratch, groups, sizeof *groups * group_count);
    qsort(ranked, group_count, sizeof *ranked, by_count);
    uint32_t common = 0;
    bool complete = s->rows >= total_rows || (once == 0 && s->wide == 0);
    if (complete && group_count <= (uint32_t)target && s->wide == 0 && multiple) {
        common = group_count;            /* few values: all of them */
        while (common && ranked[common - 1].count < 2) common--;
        if (common < group_count && group_count <= 1) common = group_count;
    } else {
        double average = (double)n / fmax(1, out->distinct > 0 ? fmin(out->distinct, group_count) : group_count), least = fmax(2, average * 1.25);
        while (common < group_count && common < (uint32_t)target && ranked[common].count >= least) common++;
    }
    out->common_count = (uint16_t)common;
    out->common = arena_array(arena, struct value, common ? common : 1);
    out->common_fractions = arena_array(arena, double, common ? common : 1);
    bool *taken = arena_array(scratch, bool, n);
    for (uint32_t i = 0; i < common; i++) {
        out->common[i] = s->values[sorted[ranked[i].first]];
        out->common_fractions[i] = (double)ranked[i].count / s->rows;
        for (uint32_t k = 0; k < ranked[i].count; k++) taken[ranked[i].first + k] = true;
    }
    /* histogram of the others */
    uint32_t rest = 0;
    uint32_t *left = arena_array(scratch, uint32_t, n);
    uint32_t left_groups = group_count - common;
    for (uint32_t i = 0; i < n; i++)
        if (!taken[i]) left[rest++] = sorted[i];
    uint32_t bounds = left_groups < (uint32_t)target + 1 ? left_groups : (uint32_t)target + 1;
    if (bounds >= 2) {
        out->bound_count = (uint16_t)bounds;
        out->bounds = arena_array(arena, struct value, bounds);
        for (uint32_t i = 0; i < bounds; i++) out->bounds[i] = s->values[left[(uint64_t)i * (rest - 1) / (bounds - 1)]];
    }
}

enum status stats_gather(struct session *session, struct arena *arena, const struct table *t, struct stats_result *out)
{
    *out = (struct stats_result){ 0 };
    const struct settings *g = session_settings(session);
    int target = g->default_statistics_target > 0 ? g->default_statistics_target : 100;
    uint32_t pages = 0;
    enum status status = heap_pages(&t->heap, &pages);
    if (status) return status;
    out->pages = pages;
    out->columns = arena_array(arena, const struct column_statistics *, t->column_count ? t->column_count : 1);
    uint32_t capacity = 300u * (uint32_t)target;
    struct arena *work = arena_open(arena, "analyze"), *scratch = arena_open(work, "analyze column");
    struct sampled *columns = arena_array(work, struct sampled, t->column_count ? t->column_count : 1);
    for (int c = 0; c < t->column_count; c++) {
        if (t->columns[c].dropped) continue;
        columns[c].values = arena_array(work, struct value, capacity);
        columns[c].order = arena_array(work, uint32_t, capacity);
    }
    struct heap_look *look = arena_new(work, struct heap_look);
    struct varlen *space = arena_array(work, struct varlen, PAX_MAX_SLOTS);
    row_pos *selection = arena_array(work, row_pos, PAX_MAX_SLOTS);
    const struct snapshot *snapshot = session_snapshot(session);
    struct pool *pool = session_store(session)->pool;
    /* as many pages as rows, at an even distance: neighbours are often alike, and would make values look more common than they are */
    uint32_t wanted = pages < capacity ? pages : capacity;
    /* as a big scan does: it must not drive out what others use */
    struct pool_ring *ring = wanted > pool_frame_count(pool) / 4 ? pool_ring_open(pool, t->heap.file, 0, pages, false) : NULL;
    uint64_t rows = 0, seed = t->oid;
    uint32_t read = 0;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < wanted && !status; i++) {
        uint64_t from = (uint64_t)i * pages / wanted, to = (uint64_t)(i + 1) * pages / wanted;
        uint32_t page = (uint32_t)(from + (to > from + 1 ? random_next(&seed) % (to - from) : 0));
        if ((i & 15) == 0 && (status = thread_check_interrupts())) break;
        struct page_ref ref;
        status = ring ? pool_ring_pin(ring, page, &ref) : pool_pin(pool, (page_id){ t->heap.file, page }, RANK_HEAP, 0, &ref);
        if (status) break;
        status = sample_page(t, &ref, snapshot, work, scratch, columns, (double)capacity / wanted, capacity - taken, &seed, &rows, look, space, selection);
        for (int c = 0; c < t->column_count; c++)
            if (!t->columns[c].dropped) taken = columns[c].rows;
        pool_release(&ref);
        read++;
    }
    if (ring) pool_ring_close(ring);
    if (!status) {
        out->rows = read ? floor((double)rows / read * pages + 0.5) : 0;
        for (int c = 0; c < t->column_count; c++) {
            if (t->columns[c].dropped) continue;
            struct column_statistics *st = arena_new(arena, struct column_statistics);
            analyze_column(t->columns[c].type, &columns[c], out->rows, target, work, scratch, st);
            /* what is kept moves to the caller's arena */
            struct value *common = arena_copy(arena, st->common ? st->common : (struct value[1]){ { 0 } }, sizeof *common * (st->common_count ? st->common_count : 1u));
            struct value *bounds = arena_copy(arena, st->bounds ? st->bounds : (struct value[1]){ { 0 } }, sizeof *bounds * (st->bound_count ? st->bound_count : 1u));
            double *fractions = arena_copy(arena, st->common_fractions ? st->common_fractions : (double[1]){ 0 }, sizeof *fractions * (st->common_count ? st->common_count : 1u));
            if (t->columns[c].type.width == WIDTH_VARLEN) {
                for (int i = 0; i < st->common_count; i++) if (common[i].v.length) common[i].v.bytes = arena_copy(arena, common[i].v.bytes, common[i].v.length);
                for (int i = 0; i < st->bound_count; i++) if (bounds[i].v.length) bounds[i].v.bytes = arena_copy(arena, bounds[i].v.bytes, bounds[i].v.length);
            }
            st->common = common;
            st->bounds = bounds;
            st->common_fractions = fractions;
            out->columns[c] = st;
            out->sampled = columns[c].rows;
            arena_reset(scratch);
        }
    }
    arena_close(work);
    return status;
}

enum status stats_analyze(struct session *session, const struct table *t)
{
    if (t->kind != RELATION_TABLE || t->virtual_table) return STATUS_OK;
    struct arena *arena = arena_open(session_statement_arena(session), "analyze");
    struct stats_result result;
    enum status status = stats_gather(session, arena, t, &result);
    if (!status) status = catalog_store_statistics(session, t, result.rows, result.pages, result.columns);
    if (!status) heap_counters_analyzed(&t->heap);
    arena_close(arena);
    return status;
}

/* ---- bytes ----
 * version, width, scale, then doubles and counts, then the values: 16 bytes each when fixed, else length and bytes. */

#define STATS_VERSION 1

static void put(struct text_buffer *out, const void *bytes, size_t n) { text_buffer_add(out, bytes, n); }

static void put_value(struct sql_type type, const struct value *v, struct text_buffer *out)
{
    if (type.width == WIDTH_VARLEN) {
        uint32_t length = v->v.length;
        put(out, &length, sizeof length);
        if (length) put(out, v->v.bytes, length);
    } else
        put(out, &v->i8, type.width);
}

void stats_write(const struct column_statistics *s, struct text_buffer *out)
{
    uint8_t head[2] = { STATS_VERSION, s->type.width };
    int16_t scale = s->type.scale;
    double numbers[4] = { s->null_fraction, s->distinct, s->average_width, s->correlation };
    put(out, head, sizeof head);
    put(out, &scale, sizeof scale);
    put(out, numbers, sizeof numbers);
    put(out, &s->common_count, sizeof s->common_count);
    put(out, &s->bound_count, sizeof s->bound_count);
    for (int i = 0; i < s->common_count; i++) {
        put(out, &s->common_fractions[i], sizeof(double));
        put_value(s->type, &s->common[i], out);
    }
    for (int i = 0; i < s->bound_count; i++) put_value(s->type, &s->bounds[i], out);
}

struct reading { const uint8_t *at; size_t left; };
static bool take(struct reading *r, void *to, size_t n)
{
    if (r->left < n) return false;
    memcpy(to, r->at, n);
    r->at += n;
    r->left -= n;
    return true;
}
static bool take_value(struct reading *r, struct sql_type type, struct arena *arena, struct value *v)
{
    *v = (struct value){ 0 };
    if (type.width != WIDTH_VARLEN) return take(r, &v->i8, type.width);
    uint32_t length;
    if (!take(r, &length, sizeof length) || length > r->left) return false;
    v->v = (struct varlen){ length ? arena_copy(arena, r->at, length) : (const uint8_t *)"", length, 0 };
    r->at += length;
    r->left -= length;
    return true;
}

enum status stats_read(const uint8_t *bytes, size_t length, struct sql_type type, struct arena *arena, struct column_statistics **out)
{
    struct reading r = { bytes, length };
    struct column_statistics *s = arena_new(arena, struct column_statistics);
    uint8_t head[2];
    int16_t scale;
    double numbers[4];
    bool ok = take(&r, head, sizeof head) && head[0] == STATS_VERSION && take(&r, &scale, sizeof scale) && take(&r, numbers, sizeof numbers) &&
              take(&r, &s->common_count, sizeof s->common_count) && take(&r, &s->bound_count, sizeof s->bound_count);
    if (!ok) return error_set(STATUS_CORRUPT, "column statistics are damaged");
    s->type = type;
    s->null_fraction = numbers[0];
    s->distinct = numbers[1];
    s->average_width = numbers[2];
    s->correlation = numbers[3];
    if (head[1] != type.width || scale != type.scale) {   /* the column's type changed since: only the numbers still hold */
        s->common_count = s->bound_count = 0;
        *out = s;
        return STATUS_OK;
    }
    s->common = arena_array(arena, struct value, s->common_count + 1u);
    s->common_fractions = arena_array(arena, double, s->common_count + 1u);
    s->bounds = arena_array(arena, struct value, s->bound_count + 1u);
    for (int i = 0; i < s->common_count && ok; i++) ok = take(&r, &s->common_fractions[i], sizeof(double)) && take_value(&r, type, arena, &s->common[i]);
    for (int i = 0; i < s->bound_count && ok; i++) ok = take_value(&r, type, arena, &s->bounds[i]);
    if (!ok) return error_set(STATUS_CORRUPT, "column statistics are damaged");
    *out = s;
    return STATUS_OK;
}
