/* engine/types/like.c - LIKE and ILIKE.
 *
 * A constant pattern is sorted out when it is bound: without wildcards it is equality, 'abc%', '%abc' and '%abc%' compare
 * a prefix, a suffix or search with memmem; others run the general matcher. The matcher backs up to the last % only,
 * which suffices, so it is never worse than length times pattern. % and _ step by characters. */
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

enum shape { SHAPE_GENERAL, SHAPE_EQUAL, SHAPE_PREFIX, SHAPE_SUFFIX, SHAPE_CONTAINS };
struct like { enum shape shape; struct varlen needle; };

static bool contains(struct varlen t, struct varlen n) { return !n.length || (t.length >= n.length && memmem(t.bytes, t.length, n.bytes, n.length)); }

#define SHAPED(NAME, TEST) \
    static enum status NAME(struct kernel_call *c) \
    { \
        const struct like *like = c->data; \
        const struct varlen n = like->needle; \
        uint8_t *out = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            const struct varlen t = VECTOR(struct varlen, &c->args[0], i); \
            out[i] = (TEST); \
        } \
        return STATUS_OK; \
    }
#define STARTS (t.length >= n.length && !memcmp(t.bytes, n.bytes, n.length))
#define ENDS (t.length >= n.length && !memcmp(t.bytes + t.length - n.length, n.bytes, n.length))
#define EQUALS (t.length == n.length && !memcmp(t.bytes, n.bytes, n.length))
SHAPED(like_equal, EQUALS)
SHAPED(like_prefix, STARTS)
SHAPED(like_suffix, ENDS)
SHAPED(like_contains, contains(t, n))
SHAPED(unlike_equal, !EQUALS)
SHAPED(unlike_prefix, !STARTS)
SHAPED(unlike_suffix, !ENDS)
SHAPED(unlike_contains, !contains(t, n))

#define GENERAL(NAME, FOLD, WANTED) \
    KERNEL2(k_##NAME, struct varlen, struct varlen, uint8_t, bool match; CHECK_ROW(like_match(a, b, FOLD, &match)); r = match == WANTED)
GENERAL(textlike, false, true)
GENERAL(textnlike, false, false)
GENERAL(texticlike, true, true)
GENERAL(texticnlike, true, false)

static enum status bind(struct function_bind *f, kernel_fn general, bool wanted)
{
    static const kernel_fn positive[] = {NULL, like_equal, like_prefix, like_suffix, like_contains}, negative[] = {NULL, unlike_equal, unlike_prefix, unlike_suffix, unlike_contains};
    const struct value *pattern = f->constants ? f->constants[1] : NULL;
    f->result = type_make(OID_BOOL, -1);
    f->kernel = general;
    if (!pattern || pattern->null)
        return STATUS_OK;
    const uint8_t *p = pattern->v.bytes, *end = p + pattern->v.length;
    uint8_t *needle = arena_alloc(f->arena, pattern->v.length + 1);
    size_t n = 0;
    bool front = false, back = false;
    while (p < end && *p == '%') {
        front = true;
        p++;
    }
    for (; p < end; p++) {
        if (*p == '%') {
            while (p < end && *p == '%')
                p++;
            if (p != end)
                return STATUS_OK;
            back = true;
            break;
        }
        if (*p == '_' || (*p == '\\' && ++p == end))
            return STATUS_OK;
        needle[n++] = *p;
    }
    struct like *like = arena_new(f->arena, struct like);
    like->needle = varlen_of(needle, n);
    like->shape = !n && front ? SHAPE_CONTAINS : front && back ? SHAPE_CONTAINS : front ? SHAPE_SUFFIX : back ? SHAPE_PREFIX : SHAPE_EQUAL;
    f->data = like;
    f->kernel = (wanted ? positive : negative)[like->shape];
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
