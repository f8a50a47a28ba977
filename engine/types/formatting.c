/* engine/types/formatting.c - to_char, to_number, to_date, to_timestamp.
 *
 * A template is read anew for each row, one keyword after another (the longest that fits); what is no keyword, and what
 * stands in double quotes, is itself. FM before a keyword takes away padding. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/types/kernel.h"

#define TEXT struct varlen

/* ---- numbers ---- */

struct picture {                         /* what a number template asks for */
    int before, after;                   /* digit places */
    int zero_from;                       /* place (from the left) of the first 0, or -1 */
    int last_zero;                       /* place after the point of the last 0, or 0 */
    bool point, fill, exponent, roman, bracket, shift;
    bool sign_first, sign_last, minus, plus, sign_here;
    int shift_digits;
};

enum number_key { N_NONE, N_9, N_0, N_POINT, N_COMMA, N_S, N_MI, N_PL, N_SG, N_PR, N_L, N_FM, N_TH, N_V, N_EEEE, N_RN, N_B };
static enum number_key number_key(const char *p, const char *end, int *width)
{
    static const struct { const char *word; enum number_key key; } keys[] = {
        {"EEEE", N_EEEE}, {"FM", N_FM}, {"MI", N_MI}, {"PL", N_PL}, {"PR", N_PR}, {"RN", N_RN}, {"SG", N_SG}, {"TH", N_TH}, {"9", N_9}, {"0", N_0}, {".", N_POINT}, {",", N_COMMA},
        {"D", N_POINT}, {"G", N_COMMA}, {"S", N_S}, {"L", N_L}, {"V", N_V}, {"B", N_B}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i].word);
        if ((size_t)(end - p) >= n && !strncasecmp(p, keys[i].word, n)) {
            *width = (int)n;
            return keys[i].key;
        }
    }
    *width = (int)utf8_width((uint8_t)*p);
    return N_NONE;
}

static enum status picture_read(TEXT f, struct picture *pic)
{
    *pic = (struct picture){.zero_from = -1};
    const char *p = (const char *)f.bytes, *end = p + f.length;
    while (p < end) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                if (*p == '\\' && p + 1 < end)
                    p++;
            p += p < end;
            continue;
        }
        int w;
        switch (number_key(p, end, &w)) {
        case N_9: case N_0: {
            bool zero = *p == '0';
            if (pic->shift)
                pic->shift_digits++;
            else if (pic->point) {
                pic->after++;
                if (zero)
                    pic->last_zero = pic->after;
            }
            if (!pic->point) {
                if (zero && pic->zero_from < 0)
                    pic->zero_from = pic->before;
                pic->before++;
            }
            break;
        }
        case N_POINT:
            if (pic->point)
                return error_set(STATUS_SYNTAX, "multiple decimal points");
            if (pic->shift)
                return error_set(STATUS_SYNTAX, "cannot use \"V\" and decimal point together");
            pic->point = true;
            break;
        case N_S:
            if (pic->sign_first || pic->sign_last)
                return error_set(STATUS_SYNTAX, "cannot use \"S\" twice");
            if (pic->before + pic->after)
                pic->sign_last = true;
            else
                pic->sign_first = true;
            break;
        case N_MI: pic->minus = true; break;
        case N_PL: pic->plus = true; break;
        case N_SG: pic->sign_here = true; break;
        case N_PR: pic->bracket = true; break;
        case N_FM: pic->fill = true; break;
        case N_V: pic->shift = true; break;
        case N_EEEE: pic->exponent = true; break;
        case N_RN: pic->roman = true; break;
        default: break;
        }
        p += w;
    }
    return STATUS_OK;
}

static const char *ordinal(const char *digits, size_t n)
{
    if (!n || !isdigit((unsigned char)digits[n - 1]))
        return "th";
    if (n > 1 && digits[n - 2] == '1')
        return "th";
    switch (digits[n - 1]) {
    case '1': return "st";
    case '2': return "nd";
    case '3': return "rd";
    default: return "th";
    }
}

static void roman(int64_t v, bool fill, bool lower, struct text_buffer *out)
{
    static const struct { int value; const char *text; } parts[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}};
    char text[20] = "";
    if (v < 1 || v > 3999)
        memcpy(text, "###############", 16);
    else
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            for (; v >= parts[i].value; v -= parts[i].value)
                strcat(text, parts[i].text);
    if (lower)
        for (char *p = text; *p; p++)
            *p = (char)tolower((unsigned char)*p);
    text_buffer_printf(out, fill ? "%s" : "%15s", text);
}

/* digits: the rounded value without sign, "whole" and "fraction" apart. */
static enum status number_to_char(TEXT f, struct numeric *n, struct arena *arena, TEXT *out)
{
    struct picture pic;
    struct text_buffer b, d;
    enum status s = picture_read(f, &pic);
    if (s)
        return s;
    text_buffer_open(&b, arena);
    text_buffer_open(&d, arena);
    bool negative = numeric_sign(n) < 0, special = n->kind != NUMERIC_FINITE;
    if (pic.roman) {
        int64_t v = 0;
        s = numeric_to_int64(n, &v, "integer");
        if (!s && (v > INT32_MAX || v < INT32_MIN))
            s = error_set(STATUS_OUT_OF_RANGE, "integer out of range");
        if (s)
            return s;
        bool lower = false;
        for (uint32_t i = 0; i + 1 < f.length; i++)
            lower |= f.bytes[i] == 'r' && f.bytes[i + 1] == 'n';
        roman(v, pic.fill, lower, &b);
        *out = varlen_of(b.bytes, b.length);
        return STATUS_OK;
    }
    if (pic.exponent) {
        if (special) {
            text_buffer_putc(&b, ' ');
            for (int i = 0; i < pic.before + pic.after + 5; i++)
                text_buffer_putc(&b, i == pic.before && pic.point ? '.' : '#');
            *out = varlen_of(b.bytes, b.length);
            return STATUS_OK;
        }
        struct numeric m;
        numeric_copy(&m, n);
        if (negative)
            numeric_negate(&m);
        size_t count = numeric_digits(&m, &d);
        int exponent = count ? (int)count - 1 - m.scale : 0;
        m.scale = count ? (int)count - 1 : 0;                 /* d.ddd */
        numeric_rescale(&m, pic.after, ROUND_HALF_AWAY);
        d.length = 0;
        count = numeric_digits(&m, &d);
        if ((int)count > pic.after + 1) {                     /* 9.99 became 10.0 */
            exponent++;
            d.bytes[count - 1] = 0;
        }
        if (!count)
            for (int i = 0; i <= pic.after; i++)
                text_buffer_putc(&d, '0');
        numeric_free(&m);
        text_buffer_putc(&b, negative ? '-' : ' ');
        text_buffer_putc(&b, d.bytes[0]);
        if (pic.after)
            text_buffer_printf(&b, ".%.*s", pic.after, d.bytes + 1);
        text_buffer_printf(&b, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        if (pic.fill && *b.bytes == ' ')
            *out = varlen_of(b.bytes + 1, b.length - 1);
        else
            *out = varlen_of(b.bytes, b.length);
        return STATUS_OK;
    }
    struct numeric m;
    numeric_copy(&m, n);
    if (negative)
        numeric_negate(&m);
    if (pic.shift && !special) {
        struct numeric power, product;
        numeric_set(&power, pow10_128[pic.shift_digits > 38 ? 38 : pic.shift_digits], 0);
        numeric_mul(&m, &power, &product);
        numeric_free(&m);
        m = product;
    }
    numeric_rescale(&m, pic.after, ROUND_HALF_AWAY);
    if (!special)
        numeric_digits(&m, &d);
    if (!special && !numeric_sign(&m))
        negative = false;
    numeric_free(&m);
    /* Left-pad the digits so that a whole part and `after` places exist. */
    char *whole, *fraction;
    size_t total = d.length, need = (size_t)pic.after;
    if (special) {
        whole = n->kind == NUMERIC_NAN ? "NaN" : "Infinity";
        whole = arena_strdup(arena, whole);
        fraction = "";
    } else {
        size_t zeros = total < need ? need - total : 0;
        char *all = arena_alloc(arena, total + zeros + 1);
        memset(all, '0', zeros);
        memcpy(all + zeros, d.bytes ? d.bytes : "", total);
        all[total + zeros] = 0;
        size_t split = total + zeros - need;
        whole = arena_strndup(arena, all, split);
        fraction = all + split;
    }
    int have = (int)strlen(whole);
    bool overflow = have > pic.before || special;
    if (special && have <= pic.before)
        overflow = false;
    if (overflow) {
        whole = arena_alloc(arena, (size_t)pic.before + 1);
        memset(whole, '#', (size_t)pic.before);
        whole[pic.before] = 0;
        char *hashes = arena_alloc(arena, need + 1);
        memset(hashes, '#', need);
        hashes[need] = 0;
        fraction = hashes;
        have = pic.before;
    }
    /* Nothing before the point shows as nothing, unless there is no point. */
    bool lone_zero = !have && !overflow && (!pic.after || (pic.fill && !strspn(fraction, "123456789") && strspn(fraction, "0") == need && !pic.last_zero && pic.zero_from < 0));
    int first = pic.before - have;                            /* place of the first digit */
    if (lone_zero && pic.before) {
        whole = "0";
        have = 1;
        first = pic.before - 1;
    }
    if (pic.zero_from >= 0 && pic.zero_from < first)
        first = pic.zero_from;
    int keep = special && !overflow ? 0 : pic.after;          /* fraction digits shown */
    if (pic.fill && !overflow && keep) {
        while (keep > pic.last_zero && fraction[keep - 1] == '0')
            keep--;
    }
    bool own_sign = !pic.sign_first && !pic.sign_last && !pic.minus && !pic.sign_here && !pic.bracket;
    const char *p = (const char *)f.bytes, *end = p + f.length;
    int place = 0, decimals = 0;
    bool after_point = false, started = false, shown_sign = false;
    size_t digits_start = 0;
    /* The sign stands right before the first digit: blanks first, as many as places are empty, then the sign. */
    while (p < end) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++) {
                if (*p == '\\' && p + 1 < end)
                    p++;
                text_buffer_putc(&b, *p);
            }
            p += p < end;
            continue;
        }
        if (*p == '\\' && p + 1 < end && p[1] == '"') {
            text_buffer_putc(&b, '"');
            p += 2;
            continue;
        }
        int w;
        enum number_key key = number_key(p, end, &w);
        switch (key) {
        case N_9: case N_0:
            if (!after_point) {
                bool now = !started && (place == first || place + 1 == pic.before + 0 * 1);
                bool visible = place >= first;
                if (!started && (visible || (place == pic.before - 1 && pic.after))) {
                    /* where the number begins, even if only with its point */
                    if (!shown_sign && place >= first) {
                        if (own_sign) {
                            if (negative)
                                text_buffer_putc(&b, '-');
                            else if (!pic.fill)
                                text_buffer_putc(&b, ' ');
                        } else if (pic.sign_first)
                            text_buffer_putc(&b, negative ? '-' : '+');
                        else if (pic.bracket) {
                            if (negative)
                                text_buffer_putc(&b, '<');
                            else if (!pic.fill)
                                text_buffer_putc(&b, ' ');
                        }
                        shown_sign = true;
                    }
                    started = started || visible;
                }
                (void)now;
                if (visible) {
                    int k = place - (pic.before - have);
                    text_buffer_putc(&b, k >= 0 && k < have ? whole[k] : '0');
                } else if (!pic.fill)
                    text_buffer_putc(&b, ' ');
                place++;
            } else {
                if (decimals < keep)
                    text_buffer_putc(&b, fraction[decimals]);
                decimals++;
            }
            digits_start = b.length;
            break;
        case N_COMMA:
            if (started)
                text_buffer_putc(&b, ',');
            else if (!pic.fill)
                text_buffer_putc(&b, ' ');
            break;
        case N_POINT:
            if (special && !overflow) {
                after_point = true;
                break;
            }
            if (!shown_sign) {
                if (own_sign) {
                    if (negative)
                        text_buffer_putc(&b, '-');
                    else if (!pic.fill)
                        text_buffer_putc(&b, ' ');
                } else if (pic.sign_first)
                    text_buffer_putc(&b, negative ? '-' : '+');
                else if (pic.bracket) {
                    if (negative)
                        text_buffer_putc(&b, '<');
                    else if (!pic.fill)
                        text_buffer_putc(&b, ' ');
                }
                shown_sign = true;
            }
            after_point = true;
            started = true;
            text_buffer_putc(&b, '.');
            break;
        case N_S:
            if (pic.sign_last)
                text_buffer_putc(&b, negative ? '-' : '+');
            break;
        case N_MI:
            if (negative)
                text_buffer_putc(&b, '-');
            else if (!pic.fill)
                text_buffer_putc(&b, ' ');
            break;
        case N_PL:
            if (!negative)
                text_buffer_putc(&b, '+');
            else if (!pic.fill)
                text_buffer_putc(&b, ' ');
            break;
        case N_SG: text_buffer_putc(&b, negative ? '-' : '+'); break;
        case N_PR:
            if (negative)
                text_buffer_putc(&b, '>');
            else if (!pic.fill)
                text_buffer_putc(&b, ' ');
            break;
        case N_TH:
            if (special && !overflow)
                return error_set(STATUS_INVALID_TEXT, "\"%s\" is not a number", whole);
            if (!negative && !pic.after && !overflow) {
                const char *o = ordinal(whole, (size_t)have);
                text_buffer_puts(&b, *p == 'T' ? (o[0] == 's' ? "ST" : o[0] == 'n' ? "ND" : o[0] == 'r' ? "RD" : "TH") : o);
            }
            break;
        case N_L:
            text_buffer_putc(&b, ' ');
            break;
        case N_FM: case N_V: case N_EEEE: case N_RN: case N_B: break;
        case N_NONE: text_buffer_add(&b, p, (size_t)(w <= end - p ? w : end - p)); break;
        }
        p += w;
    }
    (void)digits_start;
    *out = varlen_of(b.bytes ? b.bytes : "", b.length);
    return STATUS_OK;
}

enum status k_numeric_to_char(struct kernel_call *c)
{
    TEXT *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        struct numeric n;
        numeric_read(c->arg_types[0], &c->args[0], i, &n);
        enum status s = number_to_char(VECTOR(TEXT, &c->args[1], i), &n, c->arena, &out[i]);
        numeric_free(&n);
        if (s)
            FAIL(s);
    }
    return STATUS_OK;
}
static enum status int_to_char(int64_t v, TEXT f, struct arena *arena, TEXT *out)
{
    struct numeric n;
    numeric_set(&n, v, 0);
    return number_to_char(f, &n, arena, out);
}
static enum status float_to_char(double v, int digits, TEXT f, struct arena *arena, TEXT *out)
{
    struct numeric n;
    enum status s = numeric_from_double(v, digits, &n);
    if (!s) {
        s = number_to_char(f, &n, arena, out);
        numeric_free(&n);
    }
    return s;
}
KERNEL2(k_int4_to_char, int32_t, TEXT, TEXT, CHECK_ROW(int_to_char(a, b, c->arena, &r)))
KERNEL2(k_int8_to_char, int64_t, TEXT, TEXT, CHECK_ROW(int_to_char(a, b, c->arena, &r)))
KERNEL2(k_float4_to_char, float, TEXT, TEXT, CHECK_ROW(float_to_char((double)a, 6, b, c->arena, &r)))
KERNEL2(k_float8_to_char, double, TEXT, TEXT, CHECK_ROW(float_to_char(a, 15, b, c->arena, &r)))

/* Picks the digits, sign and point out of the text, as many as the picture has places for. */
static enum status to_number(TEXT v, TEXT f, struct arena *arena, TEXT *out)
{
    struct picture pic;
    enum status s = picture_read(f, &pic);
    if (s)
        return s;
    char *text = arena_alloc(arena, v.length + 4);
    size_t n = 0;
    bool negative = false, point = false;
    int before = 0, after = 0;
    for (uint32_t i = 0; i < v.length; i++) {
        char ch = (char)v.bytes[i];
        if (ch == '-' || (ch == '<' && pic.bracket))
            negative = true;
        else if (ch == '.' && pic.point && !point) {
            point = true;
            text[n++] = '.';
        } else if (ch == '.' && !pic.point)
            break;
        else if (isdigit((unsigned char)ch)) {
            if (point ? after >= pic.after : before >= pic.before)
                continue;
            if (point)
                after++;
            else
                before++;
            text[n++] = ch;
        }
    }
    text[n] = 0;
    if (!before && !after)
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type numeric: \" \"");
    struct numeric x;
    s = numeric_parse(text, n, &x);
    if (s)
        return s;
    if (negative)
        numeric_negate(&x);
    if (pic.shift) {
        struct numeric power, q;
        numeric_set(&power, pow10_128[pic.shift_digits > 38 ? 38 : pic.shift_digits], 0);
        s = numeric_div(&x, &power, &q);
        numeric_free(&x);
        if (s)
            return s;
        x = q;
    }
    *out = numeric_varlen(&x, arena);
    numeric_free(&x);
    return STATUS_OK;
}
KERNEL2(k_numeric_to_number, TEXT, TEXT, TEXT, CHECK_ROW(to_number(a, b, c->arena, &r)))

/* ---- dates ---- */

enum date_key { D_NONE, D_HH24, D_HH12, D_MI, D_SS, D_MS, D_US, D_FF, D_SSSS, D_AM, D_AM_DOTS, D_Y_YYY, D_YYYY, D_YYY, D_YY, D_Y, D_IYYY, D_IYY, D_IY, D_I, D_BC, D_BC_DOTS,
                D_MONTH, D_MON, D_MM, D_DAY, D_DY, D_DDD, D_IDDD, D_DD, D_D, D_ID, D_W, D_WW, D_IW, D_CC, D_J, D_Q, D_RM, D_TZ, D_TZH, D_TZM, D_OF, D_FM, D_FX, D_TM };
static const struct { const char *word; enum date_key key; } date_keys[] = {
    {"Y,YYY", D_Y_YYY}, {"A.M.", D_AM_DOTS}, {"P.M.", D_AM_DOTS}, {"B.C.", D_BC_DOTS}, {"A.D.", D_BC_DOTS}, {"SSSSS", D_SSSS}, {"MONTH", D_MONTH}, {"HH24", D_HH24}, {"HH12", D_HH12}, {"SSSS", D_SSSS},
    {"YYYY", D_YYYY}, {"IYYY", D_IYYY}, {"IDDD", D_IDDD}, {"YYY", D_YYY}, {"IYY", D_IYY}, {"DDD", D_DDD}, {"DAY", D_DAY}, {"MON", D_MON}, {"TZH", D_TZH}, {"TZM", D_TZM}, {"FF1", D_FF}, {"FF2", D_FF},
    {"FF3", D_FF}, {"FF4", D_FF}, {"FF5", D_FF}, {"FF6", D_FF}, {"HH", D_HH12}, {"MI", D_MI}, {"SS", D_SS}, {"MS", D_MS}, {"US", D_US}, {"AM", D_AM}, {"PM", D_AM}, {"YY", D_YY}, {"IY", D_IY}, {"BC", D_BC},
    {"AD", D_BC}, {"MM", D_MM}, {"DY", D_DY}, {"DD", D_DD}, {"ID", D_ID}, {"WW", D_WW}, {"IW", D_IW}, {"CC", D_CC}, {"RM", D_RM}, {"TZ", D_TZ}, {"OF", D_OF}, {"FM", D_FM}, {"FX", D_FX}, {"TM", D_TM},
    {"Y", D_Y}, {"I", D_I}, {"D", D_D}, {"W", D_W}, {"J", D_J}, {"Q", D_Q}};

static enum date_key date_key(const char *p, const char *end, int *width)
{
    for (size_t i = 0; i < sizeof date_keys / sizeof *date_keys; i++) {
        size_t n = strlen(date_keys[i].word);
        if ((size_t)(end - p) >= n && !strncasecmp(p, date_keys[i].word, n)) {
            *width = (int)n;
            return date_keys[i].key;
        }
    }
    *width = (int)utf8_width((uint8_t)*p);
    return D_NONE;
}

static const char *const month_names[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"};
static const char *const day_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const roman_months[] = {"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"};

/* As the keyword is written: all upper, all lower, or capital first. */
static void cased(const char *word, const char *key, int limit, int pad, struct text_buffer *out)
{
    int n = (int)strlen(word);
    if (limit && n > limit)
        n = limit;
    bool upper = isupper((unsigned char)key[0]) && isupper((unsigned char)key[1]), lower = islower((unsigned char)key[0]);
    for (int i = 0; i < n; i++)
        text_buffer_putc(out, (char)(upper || (i == 0 && !lower) ? toupper((unsigned char)word[i]) : tolower((unsigned char)word[i])));
    for (int i = n; i < pad; i++)
        text_buffer_putc(out, ' ');
}

static void moment_to_char(TEXT f, const struct moment *m, bool interval, int64_t hours, struct text_buffer *out)
{
    const char *p = (const char *)f.bytes, *end = p + f.length;
    bool fill = false;
    int year = interval ? m->year : m->year > 0 ? m->year : 1 - m->year;      /* shown without its era */
    int iso_year = 0, week = 0;
    if (!interval)
        week = iso_week(m->year, m->month, m->day, &iso_year);
    if (iso_year <= 0)
        iso_year = 1 - iso_year;
    while (p < end) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++) {
                if (*p == '\\' && p + 1 < end)
                    p++;
                text_buffer_putc(out, *p);
            }
            p += p < end;
            fill = false;
            continue;
        }
        int w;
        size_t start = out->length;
        enum date_key key = date_key(p, end, &w);
        const char *at = p;
        p += w;
        if (key == D_FM) {
            fill = true;
            continue;
        }
        if (key == D_TM || key == D_FX)
            continue;
#define NUMBER(width, value) text_buffer_printf(out, "%0*lld", fill ? 0 : (width), (long long)(value))
        long long hour12 = hours % 12 == 0 ? 12 : llabs(hours % 12);
        switch (key) {
        case D_HH24: NUMBER(hours < 0 ? 3 : 2, hours); break;
        case D_HH12: NUMBER(2, interval && hours < 0 ? -hour12 : hour12); break;
        case D_MI: NUMBER(2, m->minute); break;
        case D_SS: NUMBER(2, m->second); break;
        case D_MS: NUMBER(3, m->us / 1000); break;
        case D_US: NUMBER(6, m->us); break;
        case D_FF: {
            int digits = at[2] - '0', v = m->us;
            for (int i = digits; i < 6; i++)
                v /= 10;
            text_buffer_printf(out, "%0*d", digits, v);
            break;
        }
        case D_SSSS: NUMBER(0, (long long)hours * 3600 + m->minute * 60 + m->second); break;
        case D_AM: {
            bool pm = hours % 24 >= 12;
            text_buffer_puts(out, islower((unsigned char)*at) ? (pm ? "pm" : "am") : (pm ? "PM" : "AM"));
            break;
        }
        case D_AM_DOTS: {
            bool pm = hours % 24 >= 12;
            text_buffer_puts(out, islower((unsigned char)*at) ? (pm ? "p.m." : "a.m.") : (pm ? "P.M." : "A.M."));
            break;
        }
        case D_Y_YYY: text_buffer_printf(out, "%d,%03d", year / 1000, year % 1000); break;
        case D_YYYY: NUMBER(year < 0 ? 5 : 4, year); break;
        case D_YYY: NUMBER(3, year % 1000); break;
        case D_YY: NUMBER(2, year % 100); break;
        case D_Y: NUMBER(1, year % 10); break;
        case D_IYYY: NUMBER(4, iso_year); break;
        case D_IYY: NUMBER(3, iso_year % 1000); break;
        case D_IY: NUMBER(2, iso_year % 100); break;
        case D_I: NUMBER(1, iso_year % 10); break;
        case D_BC: text_buffer_puts(out, islower((unsigned char)*at) ? (m->year <= 0 ? "bc" : "ad") : (m->year <= 0 ? "BC" : "AD")); break;
        case D_BC_DOTS: text_buffer_puts(out, islower((unsigned char)*at) ? (m->year <= 0 ? "b.c." : "a.d.") : (m->year <= 0 ? "B.C." : "A.D.")); break;
        case D_MONTH: if (m->month) cased(month_names[(m->month + 11) % 12], at, 0, fill ? 0 : 9, out); break;
        case D_MON: if (m->month) cased(month_names[(m->month + 11) % 12], at, 3, 0, out); break;
        case D_MM: NUMBER(m->month < 0 ? 3 : 2, m->month); break;
        case D_DAY: cased(day_names[m->weekday], at, 0, fill ? 0 : 9, out); break;
        case D_DY: cased(day_names[m->weekday], at, 3, 0, out); break;
        case D_DDD: NUMBER(3, m->yearday); break;
        case D_IDDD: NUMBER(3, interval ? 0 : (week - 1) * 7 + (m->weekday ? m->weekday : 7)); break;
        case D_DD: NUMBER(m->day < 0 ? 3 : 2, m->day); break;
        case D_D: NUMBER(1, m->weekday + 1); break;
        case D_ID: NUMBER(1, m->weekday ? m->weekday : 7); break;
        case D_W: NUMBER(1, (m->day - 1) / 7 + 1); break;
        case D_WW: NUMBER(2, (m->yearday - 1) / 7 + 1); break;
        case D_IW: NUMBER(2, week); break;
        case D_CC: {
            int century = interval ? m->year / 100 : m->year > 0 ? (m->year + 99) / 100 : -((99 - (m->year - 1)) / 100);
            NUMBER(century < 0 ? 3 : 2, century);
            break;
        }
        case D_J: NUMBER(0, (long long)days_from_civil(m->year, m->month, m->day) + 2451545); break;
        case D_Q: if (m->month) NUMBER(1, (m->month - 1) / 3 + 1); break;
        case D_RM:
            if (m->month) {
                const char *r = roman_months[(m->month + 11) % 12];
                if (islower((unsigned char)*at)) {
                    for (const char *q = r; *q; q++)
                        text_buffer_putc(out, (char)tolower((unsigned char)*q));
                } else
                    text_buffer_puts(out, r);
                for (size_t i = strlen(r); !fill && i < 4; i++)
                    text_buffer_putc(out, ' ');
            }
            break;
        case D_TZ:
            for (const char *q = m->zone ? m->zone : ""; *q; q++)
                text_buffer_putc(out, (char)(islower((unsigned char)*at) ? tolower((unsigned char)*q) : *q));
            break;
        case D_TZH: text_buffer_printf(out, "%c%02d", m->offset < 0 ? '-' : '+', abs(m->offset) / 3600); break;
        case D_TZM: text_buffer_printf(out, "%02d", abs(m->offset) / 60 % 60); break;
        case D_OF:
            text_buffer_printf(out, "%c%0*d", m->offset < 0 ? '-' : '+', fill ? 0 : 2, abs(m->offset) / 3600);
            if (abs(m->offset) / 60 % 60)
                text_buffer_printf(out, ":%02d", abs(m->offset) / 60 % 60);
            break;
        default:
            if (*at == '\\' && p < end && *p == '"') {
                text_buffer_putc(out, '"');
                p++;
            } else
                text_buffer_add(out, at, (size_t)(w <= end - at ? w : end - at));
            break;
        }
        fill = false;
        if (key != D_NONE && end - p >= 2 && ((p[0] == 'T' && p[1] == 'H') || (p[0] == 't' && p[1] == 'h'))) {
            const char *o = ordinal(out->bytes + start, out->length - start);
            text_buffer_puts(out, p[0] == 't' ? o : o[0] == 's' ? "ST" : o[0] == 'n' ? "ND" : o[0] == 'r' ? "RD" : "TH");
            p += 2;
        }
    }
}

static enum status stamp_to_char(int64_t t, bool zoned, TEXT f, struct arena *arena, TEXT *out, bool *none)
{
    struct moment m;
    *none = !f.length || !TIMESTAMP_FINITE(t);
    if (*none)
        return STATUS_OK;
    if (!(zoned ? moment_of_timestamptz(t, timezone_current(), &m) : moment_of_timestamp(t, &m)))
        return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range");
    struct text_buffer b;
    text_buffer_open(&b, arena);
    moment_to_char(f, &m, false, m.hour, &b);
    *out = varlen_of(b.bytes ? b.bytes : "", b.length);
    return STATUS_OK;
}
KERNEL2(k_timestamp_to_char, int64_t, TEXT, TEXT, bool none; CHECK_ROW(stamp_to_char(a, false, b, c->arena, &r, &none)); if (none) GIVE_NULL)
KERNEL2(k_timestamptz_to_char, int64_t, TEXT, TEXT, bool none; CHECK_ROW(stamp_to_char(a, true, b, c->arena, &r, &none)); if (none) GIVE_NULL)
static TEXT interval_to_char(struct interval v, TEXT f, struct arena *arena)
{
    struct moment m = {.year = v.months / 12, .month = v.months % 12, .day = v.days, .minute = (int)(v.us / US_MINUTE % 60), .second = (int)(v.us / US_SECOND % 60), .us = (int)(v.us % US_SECOND)};
    m.yearday = (int)(v.months * 30 + v.days);
    struct text_buffer b;
    text_buffer_open(&b, arena);
    moment_to_char(f, &m, true, v.us / US_HOUR, &b);
    return varlen_of(b.bytes ? b.bytes : "", b.length);
}
KERNEL2(k_interval_to_char, struct interval, TEXT, TEXT, if (!b.length) GIVE_NULL; r = interval_to_char(a, b, c->arena))

/* ---- text to dates ---- */

struct scan { const char *p, *end; };
static void skip(struct scan *s) { while (s->p < s->end && text_is_space(*s->p)) s->p++; }

/* Up to `width` digits (all of them when the next keyword isn't a number). */
static enum status digits(struct scan *s, const char *key, int key_width, int width, bool greedy, long *out)
{
    skip(s);
    const char *start = s->p;
    bool negative = false;
    if (s->p < s->end && (*s->p == '-' || *s->p == '+')) {
        negative = *s->p == '-';
        s->p++;
    }
    const char *first = s->p;
    long v = 0;
    while (s->p < s->end && isdigit((unsigned char)*s->p) && (greedy || s->p - first < width)) {
        v = v * 10 + (*s->p++ - '0');
        if (v > INT32_MAX) {
            enum status st = error_set(STATUS_INVALID_DATETIME, "value for \"%.*s\" in source string is out of range", key_width, key);
            error_detail("Value must be in the range %d to %d.", INT32_MIN, INT32_MAX);
            return st;
        }
    }
    if (s->p == first) {
        size_t n = (size_t)(s->end - start) < (size_t)width ? (size_t)(s->end - start) : (size_t)width;
        enum status st = error_set(STATUS_INVALID_DATETIME, "invalid value \"%.*s\" for \"%.*s\"", (int)n, start, key_width, key);
        error_detail("Value must be an integer.");
        return st;
    }
    *out = negative ? -v : v;
    return STATUS_OK;
}

static int name_match(struct scan *s, const char *const *names, int count, int limit)
{
    skip(s);
    for (int i = 0; i < count; i++) {
        size_t n = limit ? (size_t)limit : strlen(names[i]);
        if ((size_t)(s->end - s->p) >= n && !strncasecmp(s->p, names[i], n)) {
            s->p += n;
            return i;
        }
    }
    return -1;
}

static bool is_number_key(enum date_key k)
{
    switch (k) {
    case D_NONE: case D_AM: case D_AM_DOTS: case D_BC: case D_BC_DOTS: case D_MONTH: case D_MON: case D_DAY: case D_DY: case D_RM: case D_TZ: case D_OF: case D_TM: case D_TZH: return false;
    default: return true;
    }
}

static enum status parse_date(TEXT text, TEXT format, struct moment *m, bool *has_offset, int *precision)
{
    struct scan s = {(const char *)text.bytes, (const char *)text.bytes + text.length};
    const char *p = (const char *)format.bytes, *end = p + format.length;
    long v;
    bool pm = false, am = false, twelve = false, bc = false, has_year = false, iso = false, fixed = false;
    int doy = 0, week = 0, week_of_month = 0, century = 0, iso_week_number = 0, iso_day = 0, quarter = 0;
    long julian = -1, seconds = -1;
    int offset_hours = 0, offset_minutes = 0;
    *m = (struct moment){.year = 0, .month = 1, .day = 1};
    *has_offset = false;
    *precision = 0;
    enum status st = STATUS_OK;
    while (p < end) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                if (s.p < s.end)
                    s.p++;
            p += p < end;
            continue;
        }
        int w, next_width;
        enum date_key key = date_key(p, end, &w);
        const char *at = p;
        p += w;
        if (key == D_FM || key == D_TM)
            continue;
        if (key == D_FX) {
            fixed = true;
            continue;
        }
        if (key == D_NONE) {
            if (isalnum((unsigned char)*at) || fixed) {
                if (s.p < s.end)
                    s.p++;
            } else if (text_is_space(*at))
                skip(&s);
            else {
                skip(&s);
                if (s.p < s.end && !isalnum((unsigned char)*s.p) && !(*s.p == '-' && *at != '-') && *s.p != '+')
                    s.p++;
            }
            continue;
        }
        if (s.p >= s.end)
            break;                                            /* the rest of the template has nothing to read */
        while (!fixed && s.p < s.end && !isalnum((unsigned char)*s.p) && *s.p != '-' && *s.p != '+')
            s.p++;
        bool greedy = p >= end || !is_number_key(date_key(p, end, &next_width));
        if (p < end && date_key(p, end, &next_width) == D_NONE && isdigit((unsigned char)*p))
            greedy = false;
        switch (key) {
        case D_HH24: st = digits(&s, at, w, 2, greedy, &v); if (!st) m->hour = (int)v; twelve = false; break;
        case D_HH12:
            st = digits(&s, at, w, 2, greedy, &v);
            if (!st) m->hour = (int)v;
            twelve = true;
            break;
        case D_MI: st = digits(&s, at, w, 2, greedy, &v); if (!st) m->minute = (int)v; break;
        case D_SS: st = digits(&s, at, w, 2, greedy, &v); if (!st) m->second = (int)v; break;
        case D_MS: case D_US: case D_FF: {
            int places = key == D_MS ? 3 : key == D_US ? 6 : at[2] - '0';
            const char *from = s.p;
            st = digits(&s, at, w, places, greedy, &v);
            if (st)
                break;
            int count = (int)(s.p - from);
            double us = (double)v;
            int unit = key == D_MS ? 3 : 6;
            for (int i = count; i < unit && key != D_FF; i++)
                us *= 10;
            for (int i = count; i > unit && key != D_FF; i--)
                us /= 10;
            if (key == D_FF)
                for (int i = count; i < 6; i++)
                    us *= 10;
            m->us = (int)rint(key == D_MS ? us * 1000 : us);
            break;
        }
        case D_SSSS: st = digits(&s, at, w, 5, greedy, &v); if (!st) seconds = v; break;
        case D_AM: case D_AM_DOTS:
            skip(&s);
            if (s.p < s.end && (*s.p == 'p' || *s.p == 'P'))
                pm = true;
            else if (s.p < s.end && (*s.p == 'a' || *s.p == 'A'))
                am = true;
            else
                st = error_set(STATUS_INVALID_DATETIME, "invalid value \"%.*s\" for \"%.*s\"", (int)(s.end - s.p < 2 ? s.end - s.p : 2), s.p, w, at);
            s.p += s.end - s.p < w ? s.end - s.p : w;
            twelve = true;
            break;
        case D_YYYY: case D_IYYY: {
            st = digits(&s, at, w, 4, greedy, &v);
            if (!st) {
                m->year = (int)v;
                has_year = true;
            }
            iso |= key == D_IYYY;
            break;
        }
        case D_YYY: case D_IYY: case D_YY: case D_IY: case D_Y: case D_I: {
            int places = key == D_YYY || key == D_IYY ? 3 : key == D_YY || key == D_IY ? 2 : 1;
            const char *from = s.p;
            st = digits(&s, at, w, places, greedy, &v);
            if (!st) {
                int n = (int)(s.p - from);
                has_year = true;
                if (n < 4 && v < 70)
                    v += 2000;
                else if (n < 4 && v < 100)
                    v += 1900;
                else if (n < 4 && v < 520)
                    v += 2000;
                else if (n < 4 && v < 1000)
                    v += 1000;
                m->year = (int)v;
            }
            iso |= key == D_IYY || key == D_IY || key == D_I;
            break;
        }
        case D_Y_YYY: {
            int millennia, rest, used = 0;
            char room[32];
            snprintf(room, sizeof room, "%.*s", (int)(s.end - s.p < 30 ? s.end - s.p : 30), s.p);
            if (sscanf(room, "%d,%3d%n", &millennia, &rest, &used) < 2)
                st = error_set(STATUS_INVALID_DATETIME, "invalid input string for \"Y,YYY\"");
            else {
                m->year = millennia * 1000 + rest;
                has_year = true;
                s.p += used;
            }
            break;
        }
        case D_BC: case D_BC_DOTS:
            skip(&s);
            bc = s.p < s.end && (*s.p == 'b' || *s.p == 'B');
            s.p += s.end - s.p < w ? s.end - s.p : w;
            break;
        case D_MONTH: case D_MON: {
            int k = key == D_MONTH ? name_match(&s, month_names, 12, 0) : -1;
            if (k < 0)
                k = name_match(&s, month_names, 12, 3);
            if (k < 0) {
                const char *from = s.p;
                while (s.p < s.end && isalpha((unsigned char)*s.p))
                    s.p++;
                st = error_set(STATUS_INVALID_DATETIME, "invalid value \"%.*s\" for \"%.*s\"", (int)(s.p - from), from, w, at);
                error_detail("The given value did not match any of the allowed values for this field.");
            } else
                m->month = k + 1;
            break;
        }
        case D_DAY: case D_DY:
            if ((key == D_DAY ? name_match(&s, day_names, 7, 0) : -1) < 0 && name_match(&s, day_names, 7, 3) < 0) {
                const char *from = s.p;
                while (s.p < s.end && isalpha((unsigned char)*s.p))
                    s.p++;
                st = error_set(STATUS_INVALID_DATETIME, "invalid value \"%.*s\" for \"%.*s\"", (int)(s.p - from), from, w, at);
                error_detail("The given value did not match any of the allowed values for this field.");
            }
            break;
        case D_MM: st = digits(&s, at, w, 2, greedy, &v); if (!st) m->month = (int)v; break;
        case D_DDD: case D_IDDD: st = digits(&s, at, w, 3, greedy, &v); if (!st) doy = (int)v; break;
        case D_DD: st = digits(&s, at, w, 2, greedy, &v); if (!st) m->day = (int)v; break;
        case D_D: st = digits(&s, at, w, 1, greedy, &v); break;
        case D_ID: st = digits(&s, at, w, 1, greedy, &v); if (!st) iso_day = (int)v; break;
        case D_W: st = digits(&s, at, w, 1, greedy, &v); if (!st) week_of_month = (int)v; break;
        case D_WW: st = digits(&s, at, w, 2, greedy, &v); if (!st) week = (int)v; break;
        case D_IW: st = digits(&s, at, w, 2, greedy, &v); if (!st) iso_week_number = (int)v; break;
        case D_CC: st = digits(&s, at, w, 2, greedy, &v); if (!st) century = (int)v; break;
        case D_J: st = digits(&s, at, w, 7, greedy, &v); if (!st) julian = v; break;
        case D_Q: st = digits(&s, at, w, 1, greedy, &v); quarter = (int)v; break;
        case D_RM: {
            skip(&s);
            int best = -1;
            for (int i = 0; i < 12; i++) {
                size_t n = strlen(roman_months[i]);
                if ((size_t)(s.end - s.p) >= n && !strncasecmp(s.p, roman_months[i], n) && (best < 0 || n > strlen(roman_months[best])))
                    best = i;
            }
            if (best < 0)
                st = error_set(STATUS_INVALID_DATETIME, "invalid value \"%.*s\" for \"%.*s\"", (int)(s.end - s.p < 4 ? s.end - s.p : 4), s.p, w, at);
            else {
                m->month = best + 1;
                s.p += strlen(roman_months[best]);
            }
            break;
        }
        case D_TZH:
            skip(&s);
            st = digits(&s, at, w, 2, false, &v);
            if (!st) {
                offset_hours = (int)v;
                *has_offset = true;
            }
            break;
        case D_TZM: st = digits(&s, at, w, 2, false, &v); if (!st) offset_minutes = (int)v; break;
        case D_TZ: case D_OF:
            st = error_set(STATUS_FEATURE_NOT_SUPPORTED, "formatting field \"%.*s\" is only supported in to_char", w, at);
            break;
        default: break;
        }
        if (st)
            return st;
        if (end - p >= 2 && ((p[0] == 'T' && p[1] == 'H') || (p[0] == 't' && p[1] == 'h'))) {
            p += 2;
            s.p += s.end - s.p < 2 ? s.end - s.p : 2;
        }
    }
    (void)quarter;
    if (twelve) {
        if (m->hour < 1 || m->hour > 12) {
            if (am || pm || m->hour > 12 || m->hour < 0) {
                st = error_set(STATUS_INVALID_DATETIME, "hour \"%d\" is invalid for the 12-hour clock", m->hour);
                error_hint("Use the 24-hour clock, or give an hour between 1 and 12.");
                return st;
            }
        }
        if (pm && m->hour < 12)
            m->hour += 12;
        else if (!pm && m->hour == 12)
            m->hour = 0;
    }
    if (seconds >= 0) {
        m->hour = (int)(seconds / 3600);
        m->minute = (int)(seconds / 60 % 60);
        m->second = (int)(seconds % 60);
    }
    if (century && !has_year)
        m->year = century > 0 ? (century - 1) * 100 + 1 : century * 100 + 1;
    if (bc && m->year > 0)
        m->year = 1 - m->year;
    else if (m->year < 0)
        m->year++;
    else if (!has_year && !century)
        m->year = 0;                                          /* 1 BC: no year given */
    if (julian >= 0)
        civil_from_days((int)(julian - 2451545), &m->year, &m->month, &m->day);
    if (iso || iso_week_number) {
        int first = days_from_civil(m->year, 1, 4);
        int monday = first - iso_weekday(first) + 1;
        int days = iso_week_number ? monday + (iso_week_number - 1) * 7 + (iso_day ? iso_day - 1 : 0) : doy ? monday + doy - 1 : monday;
        civil_from_days(days, &m->year, &m->month, &m->day);
    } else if (week && !doy)
        civil_from_days(days_from_civil(m->year, 1, 1) + (week - 1) * 7, &m->year, &m->month, &m->day);
    else if (week_of_month)
        m->day = (week_of_month - 1) * 7 + 1;
    else if (doy)
        civil_from_days(days_from_civil(m->year, 1, 1) + doy - 1, &m->year, &m->month, &m->day);
    if (m->month < 1 || m->month > 12 || m->day < 1 || m->day > month_days(m->year, m->month) || m->hour < 0 || m->hour > 24 || m->minute < 0 || m->minute > 59 || m->second < 0 || m->second > 59 + 1)
        return error_set(STATUS_DATETIME_OVERFLOW, "date/time field value out of range: \"%.*s\"", (int)text.length, text.bytes);
    m->offset = offset_hours * 3600 + (offset_hours < 0 ? -offset_minutes : offset_minutes) * 60;
    return STATUS_OK;
}

static enum status to_date(TEXT text, TEXT format, int32_t *out)
{
    struct moment m;
    bool has_offset;
    int precision;
    enum status s = parse_date(text, format, &m, &has_offset, &precision);
    if (s)
        return s;
    if (m.year < -4713 || m.year > 5874897)
        return error_set(STATUS_DATETIME_OVERFLOW, "date out of range: \"%.*s\"", (int)text.length, text.bytes);
    *out = days_from_civil(m.year, m.month, m.day);
    return STATUS_OK;
}
static enum status to_stamp(TEXT text, TEXT format, int64_t *out)
{
    struct moment m;
    bool has_offset;
    int precision;
    enum status s = parse_date(text, format, &m, &has_offset, &precision);
    if (!s)
        s = timestamp_of_moment(&m, out);
    if (!s)
        *out = has_offset ? *out - m.offset * US_SECOND : timestamp_to_utc(*out, timezone_current());
    return s;
}
KERNEL2(k_to_date, TEXT, TEXT, int32_t, CHECK_ROW(to_date(a, b, &r)))
KERNEL2(k_to_timestamp, TEXT, TEXT, int64_t, CHECK_ROW(to_stamp(a, b, &r)))
