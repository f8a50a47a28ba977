/* engine/types/like.c - LIKE and ILIKE.
 *
 * A constant pattern without _ is sorted out when it is bound into pieces that % stands between: the first may be tied to
 * the text's beginning, the last to its end, the others are searched for one after the other, each at the first place there is.
 * A pattern that begins with % searches for its first piece in many rows at once: values of a heap page lie one behind
 * the other, so a run of them is one text, and only what is found is asked which row it is in.
 * Others run the general matcher, which backs up to the last % only; that suffices, so it is never worse than length times
 * pattern. % and _ step by characters. */
#include <stdlib.h>
#include <utf8proc.h>
#include "engine/types/kernel.h"

static int32_t character(const uint8_t *p, const uint8_t *end, unsigned *width)
{
    utf8proc_int32_t c;
    if (*p < 0x80) {
        *width = 1;
        return *p;
    }
    utf8proc_ssize_t n = utf8proc_iterate(p, end - p, &c);
    *width = n > 0 ? (unsigned)n : 1;
    return n > 0 ? c : *p;
}
static bool same(const uint8_t *t, const uint8_t *t_end, const uint8_t *p, const uint8_t *p_end, bool fold, unsigned *tw, unsigned *pw)
{
    if (!fold) {
        *tw = *pw = 1;                                        /* byte by byte: UTF-8 synchronises itself */
        return *t == *p;
    }
    int32_t a = character(t, t_end, tw), b = character(p, p_end, pw);
    return a == b || utf8proc_tolower(a) == utf8proc_tolower(b);
}

enum status like_match(struct varlen text, struct varlen pattern, bool fold, bool *out)
{
    const uint8_t *t = text.bytes, *t_end = t + text.length, *p = pattern.bytes, *p_end = p + pattern.length;
    const uint8_t *retry_p = NULL, *retry_t = NULL;
    for (;;) {
        unsigned tw, pw;
        if (p < p_end && *p == '%') {
            while (p < p_end && *p == '%')
                p++;
            if (p == p_end) {
                *out = true;
                return STATUS_OK;
            }
            retry_p = p;
            retry_t = t;
            continue;
        }
        if (p < p_end && *p == '_' && t < t_end) {
            p++;
            t += utf8_width(*t);
            if (t > t_end)
                t = t_end;
            continue;
        }
        const uint8_t *literal = p;
        if (p < p_end && *p == '\\') {
            if (++literal == p_end)
                return error_set(STATUS_INVALID_ESCAPE, "LIKE pattern must not end with escape character");
        }
        if (literal < p_end && (literal != p || *p != '_') && t < t_end && same(t, t_end, literal, p_end, fold, &tw, &pw)) {
            t += tw;
            p = literal + pw;
            continue;
        }
        if (p == p_end && t == t_end) {
            *out = true;
            return STATUS_OK;
        }
        if (!retry_p || retry_t >= t_end) {
            /* A pattern's bad end is an error even where the text ended before. */
            *out = false;
            return STATUS_OK;
        }
        retry_t += utf8_width(*retry_t);
        if (retry_t > t_end)
            retry_t = t_end;
        t = retry_t;
        p = retry_p;
    }
}

struct like {
    struct varlen *pieces;               /* none of them empty */
    uint32_t count;
    bool open_front, open_back;          /* the pattern begins, ends with % */
    bool wanted;                         /* LIKE; false: NOT LIKE */
};

/* The pieces from number `from` on, in what lies behind those before. */
static bool pieces_match(const struct like *like, uint32_t from, const uint8_t *at, const uint8_t *end)
{
    uint32_t count = like->count;
    if (from < count && !like->open_back) {
        const struct varlen last = like->pieces[--count];
        if ((size_t)(end - at) < last.length || memcmp(end - last.length, last.bytes, last.length) != 0)
            return false;
        end -= last.length;
    }
    for (uint32_t k = from; k < count; k++) {
        at = text_find(at, (size_t)(end - at), like->pieces[k].bytes, like->pieces[k].length);
        if (!at)
            return false;
        at += like->pieces[k].length;
    }
    return true;
}

static bool matches(const struct like *like, struct varlen text)
{
    const struct varlen *pieces = like->pieces;
    if (like->count == 0)
        return like->open_front || text.length == 0;
    if (like->open_front)
        return pieces_match(like, 0, text.bytes, text.bytes + text.length);
    if (text.length < pieces->length || memcmp(text.bytes, pieces->bytes, pieces->length) != 0)
        return false;
    if (like->count == 1)
        return like->open_back || text.length == pieces->length;
    return pieces_match(like, 1, text.bytes + pieces->length, text.bytes + text.length);
}

static enum status like_rows(struct kernel_call *c)
{
    const struct like *like = c->data;
    uint8_t *out = c->out->values;
    for (KERNEL_ROWS(c, i))
        if (!c->out->nulls[i])
            out[i] = matches(like, VECTOR(struct varlen, &c->args[0], i)) == like->wanted;
    return STATUS_OK;
}

/* Rows first .. end-1 lie one behind the other. out[] says "no match" for all of them. */
static void search_run(const struct like *like, const struct varlen *texts, uint32_t first, uint32_t end, const uint8_t *bytes_end, uint8_t *out)
{
    const struct varlen needle = like->pieces[0];
    const uint8_t *at = texts[first].bytes;
    uint32_t row = first;
    while ((at = text_find(at, (size_t)(bytes_end - at), needle.bytes, needle.length))) {
        while (texts[row].bytes + texts[row].length <= at)
            row++;
        const uint8_t *row_end = texts[row].bytes + texts[row].length;
        if (at + needle.length > row_end) {      /* it hangs over into the next row: not there, and later ones may begin in this row still */
            at++;
            continue;
        }
        if (like->count == 1 ? like->open_back || pieces_match(like, 0, at, row_end) : pieces_match(like, 1, at + needle.length, row_end))
            out[row] = like->wanted;
        at = row_end;
        if (++row == end)
            return;
    }
}

static enum status like_search(struct kernel_call *c)
{
    const struct like *like = c->data;
    if (c->selection || c->args[0].constant || c->has_nulls)
        return like_rows(c);
    const struct varlen *texts = c->args[0].values;
    uint8_t *out = c->out->values;
    memset(out, !like->wanted, c->count);
    for (uint32_t i = 0, end; i < c->count; i = end) {
        const uint8_t *bytes_end = texts[i].bytes + texts[i].length;
        for (end = i + 1; end < c->count && texts[end].bytes == bytes_end; end++)
            bytes_end += texts[end].length;
        search_run(like, texts, i, end, bytes_end, out);
    }
    return STATUS_OK;
}

#define GENERAL(NAME, FOLD, WANTED) \
    KERNEL2(k_##NAME, struct varlen, struct varlen, uint8_t, bool match; CHECK_ROW(like_match(a, b, FOLD, &match)); r = match == WANTED)
GENERAL(textlike, false, true)
GENERAL(textnlike, false, false)
GENERAL(texticlike, true, true)
GENERAL(texticnlike, true, false)

static enum status bind(struct function_bind *f, kernel_fn general, bool wanted)
{
    const struct value *pattern = f->constants ? f->constants[1] : NULL;
    f->result = type_make(OID_BOOL, -1);
    f->kernel = general;
    if (!pattern || pattern->null)
        return STATUS_OK;
    const uint8_t *p = pattern->v.bytes, *end = p + pattern->v.length;
    uint8_t *bytes = arena_alloc(f->arena, pattern->v.length + 1);
    struct like *like = arena_new(f->arena, struct like);
    like->pieces = arena_array(f->arena, struct varlen, pattern->v.length + 1);
    like->wanted = wanted;
    like->open_front = p < end && *p == '%';
    uint32_t length = 0;
    for (; p < end; p++) {
        like->open_back = *p == '%';
        if (*p == '%') {
            if (length)
                like->pieces[like->count++] = varlen_of(bytes, length);
            bytes += length;
            length = 0;
            continue;
        }
        if (*p == '_' || (*p == '\\' && ++p == end))
            return STATUS_OK;
        bytes[length++] = *p;
    }
    if (length)
        like->pieces[like->count++] = varlen_of(bytes, length);
    f->data = like;
    f->kernel = like->open_front && like->count ? like_search : like_rows;
    return STATUS_OK;
}
enum status b_textlike(struct function_bind *f) { return bind(f, k_textlike, true); }
enum status b_textnlike(struct function_bind *f) { return bind(f, k_textnlike, false); }

/* Puts another escape character's meaning into backslashes. */
static enum status with_escape(struct varlen pattern, struct varlen escape, struct arena *arena, struct varlen *out)
{
    size_t n = 0;
    if (escape.length && utf8_length(escape.bytes, escape.length) != 1) {
        enum status s = error_set(STATUS_INVALID_ESCAPE, "invalid escape string");
        error_hint("Escape string must be empty or one character.");
        return s;
    }
    uint8_t *b = arena_alloc(arena, 2 * (size_t)pattern.length + 1);
    bool after = false;
    for (size_t i = 0; i < pattern.length;) {
        if (escape.length && !after && pattern.length - i >= escape.length && !memcmp(pattern.bytes + i, escape.bytes, escape.length)) {
            b[n++] = '\\';
            i += escape.length;
            after = true;
            continue;
        }
        if (pattern.bytes[i] == '\\' && !(escape.length == 1 && escape.bytes[0] == '\\') && !after)
            b[n++] = '\\';
        b[n++] = pattern.bytes[i++];
        after = false;
    }
    *out = varlen_of(b, n);
    return STATUS_OK;
}
KERNEL2(k_like_escape, struct varlen, struct varlen, struct varlen, CHECK_ROW(with_escape(a, b, c->arena, &r)))
