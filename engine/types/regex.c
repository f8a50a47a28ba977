/* engine/types/regex.c - regular expressions: ~, regexp_replace and their kin, SIMILAR TO.
 *
 * PostgreSQL's syntax is written over into POSIX extended syntax and run by the C library: \d \m \M \y \A \Z, (?:...)
 * and the flags i g n q. Groups that don't capture do so in POSIX, so each pattern carries a map from PostgreSQL's group
 * numbers. What POSIX can't say (non-greedy quantifiers, lookaround) is refused, never run differently.
 *
 * The library begins at one character after the other: where a match could begin at each and none does, that takes quadratic time. So a long text
 * is first walked through once, by the pattern with ".*" before it, which says whether there is a match at all. While it matches one text the library looks
 * for no cancel.
 *
 * A thread keeps its last patterns compiled. Matching is by characters of UTF-8: the thread takes on a UTF-8 locale
 * around each call into the library. */
#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/latch.h"
#include "engine/types/array.h"
#include "engine/types/kernel.h"
#include "engine/types/regex.h"

#define CACHE 16
#define GROUPS 64
struct pattern {
    uint8_t *text;
    uint32_t length;
    int flags;
    uint64_t used;
    regex_t regex;
    char *anywhere_text;                 /* the pattern behind ^.*, for long texts; NULL: that isn't the same */
    regex_t anywhere;                    /* … once it was wanted */
    bool anywhere_made, fold;
    bool backreference;
    int groups;                          /* capturing ones */
    int map[GROUPS];                     /* POSIX number of each */
};
static _Thread_local struct pattern cache[CACHE];
static _Thread_local uint64_t tick;
static locale_t utf8_locale;

__attribute__((constructor)) static void regex_locale(void)
{
    utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static enum status unsupported(const char *what) { return error_set(STATUS_FEATURE_NOT_SUPPORTED, "regular expression feature is not supported: %s", what); }
static enum status invalid(const char *why) { return error_set(STATUS_INVALID_REGEX, "invalid regular expression: %s", why); }

static enum status translate(struct varlen from, bool *fold, struct pattern *out, struct text_buffer *b)
{
    const char *p = (const char *)from.bytes, *end = p + from.length;
    int posix = 0;
    out->groups = 0;
    if (end - p >= 4 && !strncmp(p, "***=", 4)) {
        for (p += 4; p < end; p++) {
            if (strchr("\\.[]{}()*+?^$|", *p))
                text_buffer_putc(b, '\\');
            text_buffer_putc(b, *p);
        }
        return STATUS_OK;
    }
    if (end - p >= 4 && !strncmp(p, "***:", 4))
        p += 4;
    if (end - p >= 3 && p[0] == '(' && p[1] == '?' && p[2] >= 'a' && p[2] <= 'z') {       /* (?i) */
        for (p += 2; p < end && *p != ')'; p++)
            if (*p == 'i')
                *fold = true;
            else if (*p == 'c')
                *fold = false;
            else if (*p != 's' && *p != 't' && *p != 'e')
                return unsupported("embedded option");
        if (p++ >= end)
            return invalid("invalid embedded option");
    }
    bool quantified = false;
    while (p < end) {
        char c = *p++;
        bool was_quantified = quantified;
        quantified = false;
        switch (c) {
        case '\\':
            if (p >= end)
                return invalid("invalid escape \\ sequence");
            c = *p++;
            switch (c) {
            case 'd': text_buffer_puts(b, "[0-9]"); break;
            case 'D': text_buffer_puts(b, "[^0-9]"); break;
            case 'w': text_buffer_puts(b, "[[:alnum:]_]"); break;
            case 'W': text_buffer_puts(b, "[^[:alnum:]_]"); break;
            case 's': text_buffer_puts(b, "[[:space:]]"); break;
            case 'S': text_buffer_puts(b, "[^[:space:]]"); break;
            case 'm': text_buffer_puts(b, "\\<"); break;
            case 'M': text_buffer_puts(b, "\\>"); break;
            case 'y': text_buffer_puts(b, "\\b"); break;
            case 'Y': text_buffer_puts(b, "\\B"); break;
            case 'A': text_buffer_puts(b, "\\`"); break;
            case 'Z': text_buffer_puts(b, "\\'"); break;
            case 'n': text_buffer_putc(b, '\n'); break;
            case 't': text_buffer_putc(b, '\t'); break;
            case 'r': text_buffer_putc(b, '\r'); break;
            case 'f': text_buffer_putc(b, '\f'); break;
            case 'v': text_buffer_putc(b, '\v'); break;
            case 'a': text_buffer_putc(b, '\a'); break;
            case 'e': text_buffer_putc(b, 27); break;
            default:
                if (c >= '1' && c <= '9') {
                    out->backreference = true;
                    int group = c - '0';
                    if (group > out->groups)
                        return invalid("invalid backreference number");
                    text_buffer_printf(b, "\\%d", out->map[group]);
                    if (out->map[group] > 9)
                        return unsupported("backreference past group 9");
                } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '0')
                    return invalid("invalid escape \\ sequence");
                else {
                    if (strchr(".[]{}()*+?^$|\\", c))
                        text_buffer_putc(b, '\\');
                    text_buffer_putc(b, c);
                }
            }
            break;
        case '[':
            text_buffer_putc(b, c);
            if (p < end && *p == '^')
                text_buffer_putc(b, *p++);
            if (p < end && *p == ']')
                text_buffer_putc(b, *p++);
            while (p < end && *p != ']') {
                if (*p == '[' && p + 1 < end && (p[1] == ':' || p[1] == '.' || p[1] == '=')) {
                    char kind = p[1];
                    text_buffer_add(b, p, 2);
                    for (p += 2; p + 1 < end && !(p[0] == kind && p[1] == ']'); p++)
                        text_buffer_putc(b, *p);
                    if (p + 1 >= end)
                        return invalid("brackets [] not balanced");
                    text_buffer_add(b, p, 2);
                    p += 2;
                } else if (*p == '\\' && p + 1 < end) {
                    switch (*++p) {
                    case 'd': text_buffer_puts(b, "0-9"); break;
                    case 'w': text_buffer_puts(b, "[:alnum:]_"); break;
                    case 's': text_buffer_puts(b, "[:space:]"); break;
                    case 'n': text_buffer_putc(b, '\n'); break;
                    case 't': text_buffer_putc(b, '\t'); break;
                    case 'r': text_buffer_putc(b, '\r'); break;
                    case ']': text_buffer_puts(b, "[.].]"); break;
                    case '-': text_buffer_puts(b, "[.-.]"); break;
                    case '^': text_buffer_puts(b, "[.^.]"); break;
                    default: text_buffer_putc(b, *p); break;
                    }
                    p++;
                } else
                    text_buffer_putc(b, *p++);
            }
            if (p >= end)
                return invalid("brackets [] not balanced");
            text_buffer_putc(b, *p++);
            break;
        case '(':
            posix++;
            text_buffer_putc(b, '(');
            if (p + 1 < end && p[0] == '?') {
                if (p[1] != ':')
                    return unsupported("lookaround constraint");
                p += 2;
            } else {
                if (out->groups + 1 >= GROUPS || posix >= GROUPS)
                    return unsupported("more than 62 groups");
                out->map[++out->groups] = posix;
            }
            break;
        case '*': case '+': case '?':
            if (was_quantified && c == '?')
                return unsupported("non-greedy quantifier");
            if (was_quantified)
                return invalid("quantifier operand invalid");
            quantified = true;
            text_buffer_putc(b, c);
            break;
        case '{': {
            const char *close = memchr(p, '}', (size_t)(end - p));
            if (p < end && *p >= '0' && *p <= '9' && close) {
                text_buffer_putc(b, c);
                text_buffer_add(b, p, (size_t)(close - p) + 1);
                p = close + 1;
                quantified = true;
            } else
                text_buffer_puts(b, "\\{");
            break;
        }
        default: text_buffer_putc(b, c); break;
        }
    }
    return STATUS_OK;
}

static void forget(struct pattern *p)
{
    if (!p->text)
        return;
    regfree(&p->regex);
    if (p->anywhere_made)
        regfree(&p->anywhere);
    free(p->anywhere_text);
    free(p->text);
    *p = (struct pattern){0};
}

/* flags: REG_ICASE, REG_NEWLINE. */
static enum status compile(struct varlen text, int flags, struct pattern **out)
{
    struct pattern *oldest = &cache[0];
    for (int i = 0; i < CACHE; i++) {
        struct pattern *p = &cache[i];
        if (p->text && p->flags == flags && p->length == text.length && !memcmp(p->text, text.bytes, text.length)) {
            p->used = ++tick;
            *out = p;
            return STATUS_OK;
        }
        if (p->used < oldest->used)
            oldest = p;
    }
    struct arena *arena = arena_open(NULL, "regex");
    struct text_buffer b;
    text_buffer_open(&b, arena);
    struct pattern fresh = {.length = text.length, .flags = flags};
    bool fold = flags & REG_ICASE;
    enum status s = translate(text, &fold, &fresh, &b);
    if (!s) {
        locale_t before = utf8_locale ? uselocale(utf8_locale) : (locale_t)0;
        int error = regcomp(&fresh.regex, b.bytes ? b.bytes : "", REG_EXTENDED | (flags & REG_NEWLINE) | (fold ? REG_ICASE : 0));
        if (before)
            uselocale(before);
        if (error) {
            static const struct { int code; const char *text; } texts[] = {
                {REG_EPAREN, "parentheses () not balanced"}, {REG_EBRACK, "brackets [] not balanced"}, {REG_BADRPT, "quantifier operand invalid"}, {REG_EBRACE, "braces {} not balanced"},
                {REG_ERANGE, "invalid character range"}, {REG_ECTYPE, "invalid character class"}, {REG_EESCAPE, "invalid escape \\ sequence"}, {REG_ESUBREG, "invalid backreference number"},
                {REG_BADBR, "invalid repetition count(s)"}, {REG_ESPACE, "out of memory"}};
            const char *why = "invalid regexp";
            for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                if (texts[i].code == error)
                    why = texts[i].text;
            s = invalid(why);
        }
    }
    if (!s && !fresh.backreference && !(flags & REG_NEWLINE)) {
        fresh.fold = fold;
        fresh.anywhere_text = malloc(b.length + 6);
        ASSERT(fresh.anywhere_text);
        snprintf(fresh.anywhere_text, b.length + 6, "^.*(%s)", b.bytes ? b.bytes : "");
    }
    arena_close(arena);
    if (s)
        return s;
    forget(oldest);
    fresh.text = malloc(text.length + 1);
    ASSERT(fresh.text);
    memcpy(fresh.text, text.bytes, text.length);
    fresh.used = ++tick;
    *oldest = fresh;
    *out = oldest;
    return STATUS_OK;
}

void regex_forget(void)
{
    for (int i = 0; i < CACHE; i++)
        forget(&cache[i]);
}

/* Looks from byte `from` on; matches[] by POSIX number. Now and then it looks for a cancel, too. */
#define ASKS_BYTES 65536
static _Thread_local size_t looked_at;
#define LONG_BYTES 2048

/* Of the whole text: there is no match anywhere. */
static bool nowhere(struct pattern *p, struct varlen text)
{
    if (!p->anywhere_made && regcomp(&p->anywhere, p->anywhere_text, REG_EXTENDED | REG_NOSUB | (p->fold ? REG_ICASE : 0))) {
        free(p->anywhere_text);
        p->anywhere_text = NULL;
        return false;
    }
    p->anywhere_made = true;
    regmatch_t all = {.rm_so = 0, .rm_eo = (regoff_t)text.length};
    return regexec(&p->anywhere, (const char *)text.bytes, 1, &all, REG_STARTEND) == REG_NOMATCH;
}

static enum status find(struct pattern *p, struct varlen text, size_t from, regmatch_t *matches, size_t count, bool *found)
{
    regmatch_t room[1];
    regmatch_t *m = count ? matches : room;
    looked_at += text.length - from + 64;
    if (looked_at >= ASKS_BYTES) {
        looked_at = 0;
        enum status s = thread_check_interrupts();
        if (s)
            return s;
    }
    m[0].rm_so = (regoff_t)from;
    m[0].rm_eo = (regoff_t)text.length;
    locale_t before = utf8_locale ? uselocale(utf8_locale) : (locale_t)0;
    int result = from == 0 && text.length > LONG_BYTES && p->anywhere_text && nowhere(p, text) ? REG_NOMATCH
                 : regexec(&p->regex, (const char *)text.bytes, count ? count : 1, m, REG_STARTEND | (from ? REG_NOTBOL : 0));
    if (before)
        uselocale(before);
    *found = result == 0;
    return STATUS_OK;
}

static enum status match(struct varlen text, struct varlen pattern, int flags, bool *out)
{
    struct pattern *p;
    enum status s = compile(pattern, flags, &p);
    return s ? s : find(p, text, 0, NULL, 0, out);
}
#define MATCH(NAME, FLAGS, WANTED) \
    KERNEL2(k_##NAME, struct varlen, struct varlen, uint8_t, bool found; CHECK_ROW(match(a, b, FLAGS, &found)); r = found == WANTED)
MATCH(textregexeq, 0, true)
MATCH(textregexne, 0, false)
MATCH(texticregexeq, REG_ICASE, true)
MATCH(texticregexne, REG_ICASE, false)

static enum status read_flags(struct varlen flags, int *out, bool *global)
{
    *out = 0;
    *global = false;
    for (uint32_t i = 0; i < flags.length; i++)
        switch (flags.bytes[i]) {
        case 'g': *global = true; break;
        case 'i': *out |= REG_ICASE; break;
        case 'c': *out &= ~REG_ICASE; break;
        case 'n': case 'm': *out |= REG_NEWLINE; break;
        case 's': *out &= ~REG_NEWLINE; break;
        case 'e': case 't': break;
        case 'x': case 'p': case 'w': case 'q': case 'b': return unsupported("option");
        default: return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid regular expression option: \"%c\"", flags.bytes[i]);
        }
    return STATUS_OK;
}

/* n 0: every match, else the nth; from: a character position counted from 0. */
static enum status replace(struct varlen text, struct varlen pattern, struct varlen with, size_t from, int n, int flags, struct arena *arena, struct varlen *out)
{
    struct pattern *p;
    enum status s = compile(pattern, flags, &p);
    if (s)
        return s;
    struct text_buffer b;
    text_buffer_open(&b, arena);
    regmatch_t m[GROUPS];
    size_t at = utf8_offset(text.bytes, text.length, from), copied = 0;
    bool found = false;
    for (int count = 1; at <= text.length; count++) {
        s = find(p, text, at, m, GROUPS, &found);
        if (s)
            return s;
        if (!found)
            break;
        size_t start = (size_t)m[0].rm_so, end = (size_t)m[0].rm_eo;
        if (!n || count == n) {
            text_buffer_add(&b, text.bytes + copied, start - copied);
            for (uint32_t i = 0; i < with.length; i++) {
                if (with.bytes[i] != '\\' || i + 1 >= with.length) {
                    text_buffer_putc(&b, (char)with.bytes[i]);
                    continue;
                }
                uint8_t c = with.bytes[++i];
                int group = c == '&' ? 0 : c >= '1' && c <= '9' ? c - '0' : -1;
                if (group < 0) {
                    if (c != '\\')
                        text_buffer_putc(&b, '\\');
                    text_buffer_putc(&b, (char)c);
                } else if (group <= p->groups) {
                    regmatch_t g = m[group ? p->map[group] : 0];
                    if (g.rm_so >= 0)
                        text_buffer_add(&b, text.bytes + g.rm_so, (size_t)(g.rm_eo - g.rm_so));
                }
            }
            copied = end;
            if (n)
                break;
        }
        at = end > start ? end : end < text.length ? end + utf8_width(text.bytes[end]) : text.length + 1;
    }
    text_buffer_add(&b, text.bytes + copied, text.length - copied);
    *out = varlen_of(b.bytes ? b.bytes : "", b.length);
    return STATUS_OK;
}
KERNEL3(k_textregexreplace_noopt, struct varlen, struct varlen, struct varlen, struct varlen, CHECK_ROW(replace(a, b, d, 0, 1, 0, c->arena, &r)))
KERNEL4(k_textregexreplace, struct varlen, struct varlen, struct varlen, struct varlen, struct varlen,
    int flags; bool global; CHECK_ROW(read_flags(e, &flags, &global)); CHECK_ROW(replace(a, b, d, 0, global ? 0 : 1, flags, c->arena, &r)))
static enum status bad_argument(const char *name, int value) { return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid value for parameter \"%s\": %d", name, value); }
#define START(v) if ((v) <= 0) FAIL(bad_argument("start", (v)))
#define NTH(v) if ((v) < 0) FAIL(bad_argument("n", (v)))
KERNEL4(k_textregexreplace_extended_no_n, struct varlen, struct varlen, struct varlen, int32_t, struct varlen, START(e); CHECK_ROW(replace(a, b, d, (size_t)e - 1, 1, 0, c->arena, &r)))
KERNEL4(k_textregexreplace_extended_no_flags, struct varlen, struct varlen, struct varlen, int32_t, struct varlen,
    const int32_t n = VECTOR(int32_t, &c->args[4], i); START(e); NTH(n); CHECK_ROW(replace(a, b, d, (size_t)e - 1, n, 0, c->arena, &r)))
KERNEL4(k_textregexreplace_extended, struct varlen, struct varlen, struct varlen, int32_t, struct varlen,
    const int32_t n = VECTOR(int32_t, &c->args[4], i); int flags; bool global; START(e); NTH(n); CHECK_ROW(read_flags(VECTOR(struct varlen, &c->args[5], i), &flags, &global));
    CHECK_ROW(replace(a, b, d, (size_t)e - 1, n, flags, c->arena, &r)))

static struct varlen slice(struct varlen text, regmatch_t m) { return varlen_of(text.bytes + m.rm_so, (size_t)(m.rm_eo - m.rm_so)); }

/* The first match's first group, or all of it. */
static enum status substring(struct varlen text, struct varlen pattern, struct varlen *out, bool *none)
{
    struct pattern *p;
    regmatch_t m[GROUPS];
    enum status s = compile(pattern, 0, &p);
    if (s)
        return s;
    bool found = false;
    s = find(p, text, 0, m, GROUPS, &found);
    *none = !found;
    if (s || *none)
        return s;
    regmatch_t g = m[p->groups ? p->map[1] : 0];
    *none = g.rm_so < 0;
    if (!*none)
        *out = slice(text, g);
    return STATUS_OK;
}
KERNEL2(k_textregexsubstr, struct varlen, struct varlen, struct varlen, bool none; CHECK_ROW(substring(a, b, &r, &none)); if (none) GIVE_NULL)

static enum status match_array(struct varlen text, struct varlen pattern, struct varlen options, struct arena *arena, struct varlen *out, bool *none)
{
    struct pattern *p;
    regmatch_t m[GROUPS];
    int flags;
    bool global;
    enum status s = read_flags(options, &flags, &global);
    if (!s && global) {
        s = error_set(STATUS_INVALID_PARAMETER_VALUE, "regexp_match() does not support the \"global\" option");
        error_hint("Use the regexp_matches function instead.");
    }
    if (!s)
        s = compile(pattern, flags, &p);
    if (s)
        return s;
    bool found = false;
    s = find(p, text, 0, m, GROUPS, &found);
    *none = !found;
    if (s || *none)
        return s;
    int count = p->groups ? p->groups : 1;
    struct value *values = arena_array(arena, struct value, count);
    for (int i = 0; i < count; i++) {
        regmatch_t g = m[p->groups ? p->map[i + 1] : 0];
        values[i].null = g.rm_so < 0;
        if (g.rm_so >= 0)
            values[i].v = slice(text, g);
    }
    *out = array_of(OID_TEXT, values, (uint32_t)count, arena);
    return STATUS_OK;
}
KERNEL2(k_regexp_match_no_flags, struct varlen, struct varlen, struct varlen, bool none; CHECK_ROW(match_array(a, b, varlen_of("", 0), c->arena, &r, &none)); if (none) GIVE_NULL)
KERNEL3(k_regexp_match, struct varlen, struct varlen, struct varlen, struct varlen, bool none; CHECK_ROW(match_array(a, b, d, c->arena, &r, &none)); if (none) GIVE_NULL)

enum status regex_matches(struct varlen text, struct varlen pattern, struct varlen options, struct arena *arena, struct value **out, uint32_t *count)
{
    struct pattern *p;
    regmatch_t m[GROUPS];
    int flags;
    bool global;
    *count = 0;
    *out = NULL;
    enum status s = read_flags(options, &flags, &global);
    if (!s)
        s = compile(pattern, flags, &p);
    uint32_t capacity = 0;
    bool found = false;
    for (size_t at = 0; !s && at <= text.length;) {
        s = find(p, text, at, m, GROUPS, &found);
        if (s || !found)
            break;
        int groups = p->groups ? p->groups : 1;
        struct value *values = arena_array(arena, struct value, groups);
        for (int i = 0; i < groups; i++) {
            regmatch_t g = m[p->groups ? p->map[i + 1] : 0];
            values[i].null = g.rm_so < 0;
            if (g.rm_so >= 0)
                values[i].v = slice(text, g);
        }
        if (*count == capacity) {
            *out = arena_grow(arena, *out, capacity * sizeof **out, (capacity ? 2 * capacity : 8) * sizeof **out);
            capacity = capacity ? 2 * capacity : 8;
        }
        (*out)[(*count)++] = (struct value){.v = array_of(OID_TEXT, values, (uint32_t)groups, arena)};
        if (!global)
            break;
        size_t end = (size_t)m[0].rm_eo;
        at = m[0].rm_eo > m[0].rm_so ? end : end < text.length ? end + utf8_width(text.bytes[end]) : text.length + 1;
    }
    return s;
}

enum status regex_split(struct varlen text, struct varlen pattern, struct varlen options, struct arena *arena, struct value **out, uint32_t *count)
{
    struct pattern *p;
    regmatch_t m[GROUPS];
    int flags;
    bool global;
    *count = 0;
    *out = NULL;
    enum status s = read_flags(options, &flags, &global);
    if (!s)
        s = compile(pattern, flags, &p);
    if (s)
        return s;
    *out = arena_array(arena, struct value, text.length + 2);
    size_t at = 0, begin = 0;
    bool found = false;
    while (at <= text.length) {
        s = find(p, text, at, m, GROUPS, &found);
        if (s)
            return s;
        if (!found)
            break;
        size_t start = (size_t)m[0].rm_so, end = (size_t)m[0].rm_eo;
        if (end == start) {                                   /* an empty match splits between characters, not at the ends */
            if (start >= text.length)
                break;
            if (start == begin) {
                at = start + utf8_width(text.bytes[start]);
                if (start == 0 || at > text.length) {
                    if (at >= text.length)
                        break;
                    (*out)[(*count)++] = (struct value){.v = varlen_of(text.bytes + begin, at - begin)};
                    begin = at;
                    continue;
                }
                if (at >= text.length)
                    break;
                (*out)[(*count)++] = (struct value){.v = varlen_of(text.bytes + begin, at - begin)};
                begin = at;
                continue;
            }
        }
        (*out)[(*count)++] = (struct value){.v = varlen_of(text.bytes + begin, start - begin)};
        begin = at = end;
    }
    (*out)[(*count)++] = (struct value){.v = varlen_of(text.bytes + begin, text.length - begin)};
    return STATUS_OK;
}
static enum status split_array(struct varlen text, struct varlen pattern, struct varlen flags, struct arena *arena, struct varlen *out)
{
    struct value *values;
    uint32_t count;
    enum status s = regex_split(text, pattern, flags, arena, &values, &count);
    if (!s)
        *out = array_of(OID_TEXT, values, count, arena);
    return s;
}
KERNEL2(k_regexp_split_to_array_no_flags, struct varlen, struct varlen, struct varlen, CHECK_ROW(split_array(a, b, varlen_of("", 0), c->arena, &r)))
KERNEL3(k_regexp_split_to_array, struct varlen, struct varlen, struct varlen, struct varlen, CHECK_ROW(split_array(a, b, d, c->arena, &r)))

/* ---- regexp_like, _count, _substr, _instr in their shorter forms ---- */

static enum status like(struct varlen text, struct varlen pattern, struct varlen options, bool *out)
{
    int flags;
    bool global;
    enum status s = read_flags(options, &flags, &global);
    return s ? s : match(text, pattern, flags, out);
}
KERNEL2(k_regexp_like_no_flags, struct varlen, struct varlen, uint8_t, bool found; CHECK_ROW(match(a, b, 0, &found)); r = found)
KERNEL3(k_regexp_like, struct varlen, struct varlen, struct varlen, uint8_t, bool found; CHECK_ROW(like(a, b, d, &found)); r = found)

static enum status count_matches(struct varlen text, struct varlen pattern, int start, struct varlen options, int32_t *out)
{
    struct pattern *p;
    regmatch_t m[1];
    int flags;
    bool global;
    enum status s = start <= 0 ? bad_argument("start", start) : read_flags(options, &flags, &global);
    if (!s)
        s = compile(pattern, flags, &p);
    *out = 0;
    bool found = false;
    for (size_t at = s ? 0 : utf8_offset(text.bytes, text.length, (size_t)start - 1); !s && at <= text.length;) {
        s = find(p, text, at, m, 1, &found);
        if (s || !found)
            break;
        ++*out;
        size_t end = (size_t)m[0].rm_eo;
        at = m[0].rm_eo > m[0].rm_so ? end : end < text.length ? end + utf8_width(text.bytes[end]) : text.length + 1;
    }
    return s;
}
KERNEL2(k_regexp_count_no_start, struct varlen, struct varlen, int32_t, CHECK_ROW(count_matches(a, b, 1, varlen_of("", 0), &r)))
KERNEL3(k_regexp_count_no_flags, struct varlen, struct varlen, int32_t, int32_t, CHECK_ROW(count_matches(a, b, d, varlen_of("", 0), &r)))
KERNEL4(k_regexp_count, struct varlen, struct varlen, int32_t, struct varlen, int32_t, CHECK_ROW(count_matches(a, b, d, e, &r)))

static enum status nth(struct varlen text, struct varlen pattern, int start, int n, regmatch_t *out, bool *none)
{
    struct pattern *p;
    enum status s = start <= 0 ? bad_argument("start", start) : n <= 0 ? bad_argument("n", n) : compile(pattern, 0, &p);
    *none = true;
    bool found = false;
    for (size_t at = s ? 0 : utf8_offset(text.bytes, text.length, (size_t)start - 1); !s && at <= text.length;) {
        s = find(p, text, at, out, 1, &found);
        if (s || !found)
            break;
        if (!--n) {
            *none = false;
            break;
        }
        size_t end = (size_t)out->rm_eo;
        at = out->rm_eo > out->rm_so ? end : end < text.length ? end + utf8_width(text.bytes[end]) : text.length + 1;
    }
    return s;
}
KERNEL2(k_regexp_substr_no_start, struct varlen, struct varlen, struct varlen, regmatch_t m; bool none; CHECK_ROW(nth(a, b, 1, 1, &m, &none)); if (none) GIVE_NULL; r = slice(a, m))
KERNEL3(k_regexp_substr_no_n, struct varlen, struct varlen, int32_t, struct varlen, regmatch_t m; bool none; CHECK_ROW(nth(a, b, d, 1, &m, &none)); if (none) GIVE_NULL; r = slice(a, m))
KERNEL4(k_regexp_substr_no_flags, struct varlen, struct varlen, int32_t, int32_t, struct varlen, regmatch_t m; bool none; CHECK_ROW(nth(a, b, d, e, &m, &none)); if (none) GIVE_NULL; r = slice(a, m))
KERNEL2(k_regexp_instr_no_start, struct varlen, struct varlen, int32_t, regmatch_t m; bool none; CHECK_ROW(nth(a, b, 1, 1, &m, &none)); r = none ? 0 : (int32_t)utf8_length(a.bytes, (size_t)m.rm_so) + 1)
KERNEL3(k_regexp_instr_no_n, struct varlen, struct varlen, int32_t, int32_t, regmatch_t m; bool none; CHECK_ROW(nth(a, b, d, 1, &m, &none)); r = none ? 0 : (int32_t)utf8_length(a.bytes, (size_t)m.rm_so) + 1)

/* ---- SIMILAR TO: the SQL pattern as a regular expression ---- */

static enum status similar(struct varlen pattern, struct varlen escape, struct arena *arena, struct varlen *out)
{
    if (escape.length && utf8_length(escape.bytes, escape.length) != 1) {
        enum status s = error_set(STATUS_INVALID_ESCAPE, "invalid escape string");
        error_hint("Escape string must be empty or one character.");
        return s;
    }
    struct text_buffer b;
    text_buffer_open(&b, arena);
    text_buffer_puts(&b, "^(?:");
    bool brackets = false;
    for (uint32_t i = 0; i < pattern.length; i++) {
        char c = (char)pattern.bytes[i];
        if (escape.length && pattern.length - i >= escape.length && !memcmp(pattern.bytes + i, escape.bytes, escape.length)) {
            i += escape.length;
            if (i >= pattern.length)
                return error_set(STATUS_INVALID_ESCAPE, "invalid escape string");
            text_buffer_putc(&b, '\\');
            text_buffer_putc(&b, (char)pattern.bytes[i]);
        } else if (brackets) {
            if (c == '\\')
                text_buffer_putc(&b, '\\');
            text_buffer_putc(&b, c);
            brackets = c != ']';
        } else if (c == '[') {
            text_buffer_putc(&b, c);
            brackets = true;
        } else if (c == '%')
            text_buffer_puts(&b, ".*");
        else if (c == '_')
            text_buffer_putc(&b, '.');
        else if (c == '(')
            text_buffer_puts(&b, "(?:");
        else {
            if (c == '\\' || c == '.' || c == '^' || c == '$')
                text_buffer_putc(&b, '\\');
            text_buffer_putc(&b, c);
        }
    }
    text_buffer_puts(&b, ")$");
    *out = varlen_of(b.bytes, b.length);
    return STATUS_OK;
}
KERNEL1(k_similar_to_escape_1, struct varlen, struct varlen, CHECK_ROW(similar(a, varlen_of("\\", 1), c->arena, &r)))
KERNEL2(k_similar_to_escape_2, struct varlen, struct varlen, struct varlen, CHECK_ROW(similar(a, b, c->arena, &r)))
