/* engine/types/interval.c - intervals: input, the four output styles, arithmetic.
 *
 * An interval is months, days and microseconds apart; they meet only where they must (order, division, to seconds), a month
 * counted as 30 days and a day as 24 hours. Input is read from right to left, because what stands to the right of a
 * number gives it its unit. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/types/internal.h"

enum unit { UNIT_NONE, UNIT_US, UNIT_MS, UNIT_SECOND, UNIT_MINUTE, UNIT_HOUR, UNIT_DAY, UNIT_WEEK, UNIT_MONTH, UNIT_YEAR, UNIT_DECADE, UNIT_CENTURY, UNIT_MILLENNIUM };
enum { RANGE_MONTH = 1 << 1, RANGE_YEAR = 1 << 2, RANGE_DAY = 1 << 3, RANGE_HOUR = 1 << 10, RANGE_MINUTE = 1 << 11, RANGE_SECOND = 1 << 12 };

static enum unit unit_find(const char *word)
{
    static const struct { const char *word; enum unit unit; } units[] = {
        {"us", UNIT_US}, {"usec", UNIT_US}, {"usecs", UNIT_US}, {"usecond", UNIT_US}, {"useconds", UNIT_US}, {"microsecond", UNIT_US}, {"microseconds", UNIT_US}, {"microsecon", UNIT_US},
        {"ms", UNIT_MS}, {"msec", UNIT_MS}, {"msecs", UNIT_MS}, {"msecond", UNIT_MS}, {"mseconds", UNIT_MS}, {"millisecond", UNIT_MS}, {"milliseconds", UNIT_MS}, {"millisecon", UNIT_MS},
        {"s", UNIT_SECOND}, {"sec", UNIT_SECOND}, {"secs", UNIT_SECOND}, {"second", UNIT_SECOND}, {"seconds", UNIT_SECOND},
        {"m", UNIT_MINUTE}, {"min", UNIT_MINUTE}, {"mins", UNIT_MINUTE}, {"minute", UNIT_MINUTE}, {"minutes", UNIT_MINUTE},
        {"h", UNIT_HOUR}, {"hr", UNIT_HOUR}, {"hrs", UNIT_HOUR}, {"hour", UNIT_HOUR}, {"hours", UNIT_HOUR},
        {"d", UNIT_DAY}, {"day", UNIT_DAY}, {"days", UNIT_DAY}, {"w", UNIT_WEEK}, {"week", UNIT_WEEK}, {"weeks", UNIT_WEEK},
        {"mon", UNIT_MONTH}, {"mons", UNIT_MONTH}, {"month", UNIT_MONTH}, {"months", UNIT_MONTH},
        {"y", UNIT_YEAR}, {"yr", UNIT_YEAR}, {"yrs", UNIT_YEAR}, {"year", UNIT_YEAR}, {"years", UNIT_YEAR},
        {"dec", UNIT_DECADE}, {"decs", UNIT_DECADE}, {"decade", UNIT_DECADE}, {"decades", UNIT_DECADE},
        {"c", UNIT_CENTURY}, {"cent", UNIT_CENTURY}, {"century", UNIT_CENTURY}, {"centuries", UNIT_CENTURY},
        {"mil", UNIT_MILLENNIUM}, {"mils", UNIT_MILLENNIUM}, {"millennia", UNIT_MILLENNIUM}, {"millennium", UNIT_MILLENNIUM}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(units[i].word, word))
            return units[i].unit;
    return UNIT_NONE;
}

/* ---- adding fields, whole and fraction ---- */

static bool add_us(struct interval *v, int64_t whole, int64_t scale)
{
    int64_t us;
    return !__builtin_mul_overflow(whole, scale, &us) && !__builtin_add_overflow(v->us, us, &v->us);
}
static bool add_us_fraction(struct interval *v, double fraction, int64_t scale)
{
    if (fraction == 0)
        return true;
    double us = fraction * (double)scale;
    int64_t whole = (int64_t)us;
    double rest = us - (double)whole;
    whole += rest > 0.5 ? 1 : rest < -0.5 ? -1 : 0;
    return !__builtin_add_overflow(v->us, whole, &v->us);
}
static bool add_days(struct interval *v, int64_t whole, int scale)
{
    int64_t days;
    if (__builtin_mul_overflow(whole, (int64_t)scale, &days) || days > INT32_MAX || days < INT32_MIN)
        return false;
    return !__builtin_add_overflow(v->days, (int32_t)days, &v->days);
}
static bool add_days_fraction(struct interval *v, double fraction, int scale)
{
    if (fraction == 0)
        return true;
    fraction *= scale;
    int whole = (int)fraction;
    if (__builtin_add_overflow(v->days, whole, &v->days))
        return false;
    return add_us_fraction(v, fraction - whole, US_DAY);
}
static bool add_months(struct interval *v, int64_t whole, int scale)
{
    int64_t months;
    if (__builtin_mul_overflow(whole, (int64_t)scale, &months) || months > INT32_MAX || months < INT32_MIN)
        return false;
    return !__builtin_add_overflow(v->months, (int32_t)months, &v->months);
}
static bool add_years_fraction(struct interval *v, double fraction, int years)
{
    double months = rint(fraction * years * 12);
    return months == 0 || (fabs(months) < 1e9 && !__builtin_add_overflow(v->months, (int32_t)months, &v->months));
}

static bool add_field(struct interval *v, enum unit unit, int64_t whole, double fraction)
{
    switch (unit) {
    case UNIT_US: return add_us(v, whole, 1) && add_us_fraction(v, fraction, 1);
    case UNIT_MS: return add_us(v, whole, 1000) && add_us_fraction(v, fraction, 1000);
    case UNIT_SECOND: return add_us(v, whole, US_SECOND) && add_us_fraction(v, fraction, US_SECOND);
    case UNIT_MINUTE: return add_us(v, whole, US_MINUTE) && add_us_fraction(v, fraction, US_MINUTE);
    case UNIT_HOUR: return add_us(v, whole, US_HOUR) && add_us_fraction(v, fraction, US_HOUR);
    case UNIT_DAY: return add_days(v, whole, 1) && add_us_fraction(v, fraction, US_DAY);
    case UNIT_WEEK: return add_days(v, whole, 7) && add_days_fraction(v, fraction, 7);
    case UNIT_MONTH: return add_months(v, whole, 1) && add_days_fraction(v, fraction, 30);
    case UNIT_YEAR: return add_months(v, whole, 12) && add_years_fraction(v, fraction, 1);
    case UNIT_DECADE: return add_months(v, whole, 120) && add_years_fraction(v, fraction, 10);
    case UNIT_CENTURY: return add_months(v, whole, 1200) && add_years_fraction(v, fraction, 100);
    case UNIT_MILLENNIUM: return add_months(v, whole, 12000) && add_years_fraction(v, fraction, 1000);
    case UNIT_NONE: break;
    }
    return false;
}

/* ---- input ---- */

enum verdict { GOOD, BAD_FORMAT, BAD_RANGE };

/* "12", "-1.5", ".5": whole part and fraction, both with the sign. */
static enum verdict number(const char *text, int64_t *whole, double *fraction)
{
    const char *p = text;
    bool negative = false;
    if (*p == '+' || *p == '-')
        negative = *p++ == '-';
    const char *digits = p;
    *whole = 0;
    *fraction = 0;
    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(*whole, 10, whole) || __builtin_add_overflow(*whole, *p - '0', whole))
            return BAD_RANGE;
    bool any = p > digits;
    if (*p == '.') {
        char room[40];
        size_t n = strspn(p + 1, "0123456789");
        any |= n > 0;
        snprintf(room, sizeof room, "0.%.*s", (int)(n > 30 ? 30 : n), p + 1);
        *fraction = strtod(room, NULL);
        p += 1 + n;
    }
    if (!any || *p)
        return BAD_FORMAT;
    if (negative) {
        *whole = -*whole;
        *fraction = -*fraction;
    }
    return GOOD;
}

/* [-]h:m[:s[.f]] */
static enum verdict clock_field(const char *text, int range, struct interval *v)
{
    const char *p = text;
    bool negative = false;
    if (*p == '+' || *p == '-')
        negative = *p++ == '-';
    int64_t part[3] = {0};
    int count = 0;
    double fraction = 0;
    for (;;) {
        if (count == 3 || !isdigit((unsigned char)*p))
            return BAD_FORMAT;
        for (; isdigit((unsigned char)*p); p++)
            if (__builtin_mul_overflow(part[count], 10, &part[count]) || __builtin_add_overflow(part[count], *p - '0', &part[count]))
                return BAD_RANGE;
        count++;
        if (*p != ':')
            break;
        p++;
    }
    if (*p == '.') {
        char room[40];
        size_t n = strspn(p + 1, "0123456789");
        if (p[1 + n])
            return BAD_FORMAT;
        snprintf(room, sizeof room, "0.%.*s", (int)(n > 30 ? 30 : n), p + 1);
        fraction = strtod(room, NULL);
        p += 1 + n;
    }
    if (*p)
        return BAD_FORMAT;
    if (count == 2 && (fraction != 0 || range == (RANGE_MINUTE | RANGE_SECOND))) {        /* mm:ss */
        part[2] = part[1];
        part[1] = part[0];
        part[0] = 0;
    }
    if (part[1] > 59 || part[2] > 60)
        return BAD_RANGE;
    int64_t us;
    if (__builtin_mul_overflow(part[0], US_HOUR, &us) || __builtin_add_overflow(us, part[1] * US_MINUTE + part[2] * US_SECOND + (int64_t)rint(fraction * 1000000), &us))
        return BAD_RANGE;
    return __builtin_add_overflow(v->us, negative ? -us : us, &v->us) ? BAD_RANGE : GOOD;
}

static enum unit range_unit(int range)
{
    if (range & RANGE_SECOND)
        return UNIT_SECOND;
    if (range & RANGE_MINUTE)
        return UNIT_MINUTE;
    if (range & RANGE_HOUR)
        return UNIT_HOUR;
    if (range & RANGE_DAY)
        return UNIT_DAY;
    if (range & RANGE_MONTH)
        return UNIT_MONTH;
    return range & RANGE_YEAR ? UNIT_YEAR : UNIT_SECOND;
}

#define TOKENS_MAX 40
static enum verdict decode(const char *text, size_t length, int range, struct interval *v)
{
    char tokens[TOKENS_MAX][48];
    int count = 0;
    bool ago = false;
    const char *p = text, *end = text + length;
    while (p < end) {
        const char *start = p;
        if (text_is_space(*p) || *p == '@' || *p == ',') {
            p++;
            continue;
        }
        if (isalpha((unsigned char)*p))
            while (p < end && isalpha((unsigned char)*p))
                p++;
        else if (isdigit((unsigned char)*p) || *p == '+' || *p == '-' || *p == '.') {
            if (*p == '+' || *p == '-') {
                char sign = *p++;
                while (p < end && text_is_space(*p))
                    p++;
                if (p >= end || !(isdigit((unsigned char)*p) || *p == '.'))
                    return BAD_FORMAT;
                if (p != start + 1) {                         /* "- 1": close up */
                    if (count == TOKENS_MAX)
                        return BAD_FORMAT;
                    const char *q = p;
                    while (q < end && (isdigit((unsigned char)*q) || *q == '.' || *q == ':'))
                        q++;
                    if (q - p >= 46)
                        return BAD_FORMAT;
                    snprintf(tokens[count++], sizeof tokens[0], "%c%.*s", sign, (int)(q - p), p);
                    p = q;
                    continue;
                }
            }
            while (p < end && (isdigit((unsigned char)*p) || *p == '.' || *p == ':' || (*p == '-' && p > start && isdigit((unsigned char)p[-1]) && p + 1 < end && isdigit((unsigned char)p[1])))) {
                p++;
            }
        } else
            return BAD_FORMAT;
        if (count == TOKENS_MAX || p - start >= 47 || p == start)
            return BAD_FORMAT;
        for (int i = 0; start < p; i++, start++) {
            tokens[count][i] = (char)tolower((unsigned char)*start);
            tokens[count][i + 1] = 0;
        }
        count++;
    }
    if (!count)
        return BAD_FORMAT;
    /* In the SQL style one leading sign holds for all fields, if no other has one. */
    if (type_env->interval_style == INTERVAL_STYLE_SQL && tokens[0][0] == '-') {
        bool others = false;
        for (int i = 1; i < count; i++)
            others |= tokens[i][0] == '-' || tokens[i][0] == '+';
        if (!others)
            for (int i = 1; i < count; i++)
                if (isdigit((unsigned char)tokens[i][0]) || tokens[i][0] == '.') {
                    if (strlen(tokens[i]) > 45)
                        return BAD_FORMAT;
                    memmove(tokens[i] + 1, tokens[i], strlen(tokens[i]) + 1);
                    tokens[i][0] = '-';
                }
    }
    enum unit unit = UNIT_NONE;
    unsigned seen = 0;                                        /* units given: none twice */
    bool any = false;
    for (int i = count - 1; i >= 0; i--) {
        char *t = tokens[i];
        enum verdict verdict = GOOD;
        if (isalpha((unsigned char)*t)) {
            if (!strcmp(t, "ago")) {
                ago = true;
                continue;
            }
            if (unit != UNIT_NONE && i != count - 1 && !isdigit((unsigned char)tokens[i + 1][0]) && strcmp(tokens[i + 1], "ago") && isalpha((unsigned char)tokens[i + 1][0]))
                return BAD_FORMAT;
            unit = unit_find(t);
            if (unit == UNIT_NONE)
                return BAD_FORMAT;
            continue;
        }
        any = true;
        char *dash = strchr(t + 1, '-');
        if (strchr(t, ':')) {
            const unsigned clock = 1u << UNIT_HOUR | 1u << UNIT_MINUTE | 1u << UNIT_SECOND;
            if (seen & clock)
                return BAD_FORMAT;
            seen |= clock;
            verdict = clock_field(t, range, v);
            unit = UNIT_DAY;                                  /* of a number before it */
        } else if (dash && unit == UNIT_NONE && !strchr(t, 'e')) {              /* years-months */
            int64_t years, months;
            double none;
            *dash = 0;
            verdict = number(t, &years, &none);
            if (!verdict)
                verdict = number(dash + 1, &months, &none);
            if (!verdict && (months < 0 || months >= 12))
                verdict = BAD_RANGE;
            if (!verdict) {
                if (t[0] == '-')
                    months = -months;
                if (!add_months(v, years, 12) || !add_months(v, months, 1))
                    verdict = BAD_RANGE;
            }
            unit = UNIT_NONE;
        } else {
            int64_t whole;
            double fraction;
            verdict = number(t, &whole, &fraction);
            if (unit == UNIT_NONE)
                unit = range_unit(range);
            if (!verdict && seen & 1u << unit)
                return BAD_FORMAT;
            seen |= 1u << unit;
            if (!verdict && !add_field(v, unit, whole, fraction))
                verdict = BAD_RANGE;
            if (i > 0 && isalpha((unsigned char)tokens[i - 1][0]) == 0)
                unit = unit == UNIT_DAY || unit == UNIT_SECOND ? UNIT_NONE : unit;
        }
        if (verdict)
            return verdict;
    }
    if (!any)
        return BAD_FORMAT;
    if (ago && (__builtin_sub_overflow(0, v->us, &v->us) || __builtin_sub_overflow(0, v->days, &v->days) || __builtin_sub_overflow(0, v->months, &v->months)))
        return BAD_RANGE;
    return GOOD;
}

/* P1Y2M3DT4H5M6S, P0001-02-03T04:05:06. */
static enum verdict decode_iso(const char *text, struct interval *v)
{
    const char *p = text + 1;
    bool date = true;
    if (!*p)
        return BAD_FORMAT;
    while (*p) {
        if (*p == 'T' || *p == 't') {
            date = false;
            if (!*++p)
                return BAD_FORMAT;
            continue;
        }
        char room[48];
        size_t n = 0;
        if (*p == '-' || *p == '+')
            room[n++] = *p++;
        while ((isdigit((unsigned char)*p) || *p == '.') && n < sizeof room - 1)
            room[n++] = *p++;
        room[n] = 0;
        int64_t whole;
        double fraction;
        enum verdict verdict = number(room, &whole, &fraction);
        if (verdict)
            return verdict;
        enum unit unit = UNIT_NONE;
        char c = (char)toupper((unsigned char)*p);
        if (date && (c == '-' || c == 0) && fraction == 0) {  /* the alternative form */
            if (c == 0 || c == 'T') {
                if (n == 8) {
                    add_months(v, whole / 10000, 12);
                    add_months(v, whole / 100 % 100, 1);
                    add_days(v, whole % 100, 1);
                    continue;
                }
                return add_months(v, whole, 12) ? GOOD : BAD_RANGE;
            }
            int month, day = 0, used = 0;
            if (sscanf(p, "-%d%n", &month, &used) != 1)
                return BAD_FORMAT;
            p += used;
            if (*p == '-') {
                used = 0;
                if (sscanf(p, "-%d%n", &day, &used) != 1)
                    return BAD_FORMAT;
                p += used;
            }
            if (!add_months(v, whole, 12) || !add_months(v, month, 1) || !add_days(v, day, 1))
                return BAD_RANGE;
            continue;
        }
        if (!date && (c == ':' || c == 0)) {
            int minute = 0, used = 0;
            double second = 0;
            if (*p && (sscanf(p, ":%d%n", &minute, &used) != 1))
                return BAD_FORMAT;
            p += used;
            if (*p == ':') {
                used = 0;
                if (sscanf(p, ":%lf%n", &second, &used) != 1)
                    return BAD_FORMAT;
                p += used;
            }
            if (!add_us(v, whole, US_HOUR) || !add_us(v, minute, US_MINUTE) || !add_us_fraction(v, second, US_SECOND))
                return BAD_RANGE;
            continue;
        }
        if (date)
            unit = c == 'Y' ? UNIT_YEAR : c == 'M' ? UNIT_MONTH : c == 'W' ? UNIT_WEEK : c == 'D' ? UNIT_DAY : UNIT_NONE;
        else
            unit = c == 'H' ? UNIT_HOUR : c == 'M' ? UNIT_MINUTE : c == 'S' ? UNIT_SECOND : UNIT_NONE;
        if (unit == UNIT_NONE)
            return BAD_FORMAT;
        if (!add_field(v, unit, whole, fraction))
            return BAD_RANGE;
        p++;
    }
    return GOOD;
}

static enum status interval_range(void) { return error_set(STATUS_DATETIME_OVERFLOW, "interval out of range"); }

enum status interval_in(const char *text, size_t length, int32_t typmod, struct interval *out)
{
    int range = typmod >= 0 ? (typmod >> 16) & 0x7fff : 0x7fff;
    *out = (struct interval){0};
    enum verdict verdict = BAD_FORMAT;
    const char *p = text;
    size_t n = length;
    while (n && text_is_space(*p)) {
        p++;
        n--;
    }
    while (n && text_is_space(p[n - 1]))
        n--;
    if (n && (*p == 'P' || *p == 'p') && n < 100) {
        char room[100];
        memcpy(room, p, n);
        room[n] = 0;
        verdict = decode_iso(room, out);
    } else if (n)
        verdict = decode(p, n, range == 0x7fff ? 0 : range, out);
    if (verdict == BAD_RANGE)
        return error_set(STATUS_INTERVAL_OVERFLOW, "interval field value out of range: \"%.*s\"", (int)length, text);
    if (verdict)
        return error_set(STATUS_INVALID_DATETIME, "invalid input syntax for type interval: \"%.*s\"", (int)length, text);
    return interval_apply_typmod(out, typmod);
}

enum status interval_apply_typmod(struct interval *v, int32_t typmod)
{
    if (typmod < 0)
        return STATUS_OK;
    int range = (typmod >> 16) & 0x7fff, precision = typmod & 0xffff;
    switch (range) {
    case RANGE_YEAR: v->months = v->months / 12 * 12; v->days = 0; v->us = 0; break;
    case RANGE_MONTH: case RANGE_YEAR | RANGE_MONTH: v->days = 0; v->us = 0; break;
    case RANGE_DAY: v->us = 0; break;
    case RANGE_HOUR: case RANGE_DAY | RANGE_HOUR: v->us = v->us / US_HOUR * US_HOUR; break;
    case RANGE_MINUTE: case RANGE_HOUR | RANGE_MINUTE: case RANGE_DAY | RANGE_HOUR | RANGE_MINUTE: v->us = v->us / US_MINUTE * US_MINUTE; break;
    default: break;
    }
    if (precision != 0xffff)
        v->us = time_round(v->us, precision);
    return STATUS_OK;
}

/* ---- output ---- */

static void fraction_out(struct text_buffer *out, int64_t us)
{
    if (!us)
        return;
    char digits[8];
    snprintf(digits, sizeof digits, "%06d", (int)us);
    size_t n = 6;
    while (digits[n - 1] == '0')
        n--;
    text_buffer_putc(out, '.');
    text_buffer_add(out, digits, n);
}

static uint64_t size_of(int64_t v) { return v < 0 ? 0 - (uint64_t)v : (uint64_t)v; }

static void out_postgres(struct interval v, struct text_buffer *out)
{
    size_t start = out->length;
    bool before = false;                                      /* the field before was negative */
    const struct { int64_t value; const char *one, *many; } fields[] = {{v.months / 12, "year", "years"}, {v.months % 12, "mon", "mons"}, {v.days, "day", "days"}};
    for (int i = 0; i < 3; i++) {
        if (!fields[i].value)
            continue;
        text_buffer_printf(out, "%s%s%lld %s", out->length > start ? " " : "", before && fields[i].value > 0 ? "+" : "", (long long)fields[i].value,
                           fields[i].value == 1 ? fields[i].one : fields[i].many);
        before = fields[i].value < 0;
    }
    if (v.us || out->length == start) {
        uint64_t us = size_of(v.us);
        text_buffer_printf(out, "%s%s%02llu:%02llu:%02llu", out->length > start ? " " : "", v.us < 0 ? "-" : before ? "+" : "", (unsigned long long)(us / US_HOUR),
                           (unsigned long long)(us / US_MINUTE % 60), (unsigned long long)(us / US_SECOND % 60));
        fraction_out(out, (int64_t)(us % US_SECOND));
    }
}

static void seconds_out(int64_t seconds, int64_t us, bool minus, struct text_buffer *out)
{
    if (minus)
        text_buffer_putc(out, '-');
    text_buffer_printf(out, "%lld", (long long)seconds);
    fraction_out(out, us);
}

static void out_iso(struct interval v, struct text_buffer *out)
{
    if (!v.months && !v.days && !v.us) {
        text_buffer_puts(out, "PT0S");
        return;
    }
    text_buffer_putc(out, 'P');
    if (v.months / 12)
        text_buffer_printf(out, "%dY", v.months / 12);
    if (v.months % 12)
        text_buffer_printf(out, "%dM", v.months % 12);
    if (v.days)
        text_buffer_printf(out, "%dD", v.days);
    if (v.us) {
        text_buffer_putc(out, 'T');
        if (v.us / US_HOUR)
            text_buffer_printf(out, "%lldH", (long long)(v.us / US_HOUR));
        if (v.us / US_MINUTE % 60)
            text_buffer_printf(out, "%lldM", (long long)(v.us / US_MINUTE % 60));
        uint64_t rest = size_of(v.us % US_MINUTE);
        if (rest) {
            seconds_out((int64_t)(rest / US_SECOND), (int64_t)(rest % US_SECOND), v.us < 0, out);
            text_buffer_putc(out, 'S');
        }
    }
}

static void out_verbose(struct interval v, struct text_buffer *out)
{
    text_buffer_putc(out, '@');
    bool ago = false, any = false;
    uint64_t us = size_of(v.us);
    int sign = v.us < 0 ? -1 : 1;
    const struct { int64_t value; const char *one, *many; } fields[] = {
        {v.months / 12, "year", "years"}, {v.months % 12, "mon", "mons"}, {v.days, "day", "days"}, {sign * (int64_t)(us / US_HOUR), "hour", "hours"}, {sign * (int64_t)(us / US_MINUTE % 60), "min", "mins"}};
    for (int i = 0; i < 5; i++) {
        int64_t value = fields[i].value;
        if (!value)
            continue;
        if (!any) {                                           /* the first says which way */
            ago = value < 0;
            value = (int64_t)size_of(value);
        } else if (ago)
            value = -value;
        any = true;
        text_buffer_printf(out, " %lld %s", (long long)value, value == 1 ? fields[i].one : fields[i].many);
    }
    int64_t seconds = (int64_t)(us / US_SECOND % 60), fraction = (int64_t)(us % US_SECOND);
    if (seconds || fraction) {
        bool minus = false;
        if (!any)
            ago = v.us < 0;
        else
            minus = (v.us < 0) != ago;
        any = true;
        text_buffer_putc(out, ' ');
        seconds_out(seconds, fraction, minus, out);
        text_buffer_puts(out, seconds == 1 && !fraction ? " sec" : " secs");
    }
    if (!any)
        text_buffer_puts(out, " 0");
    if (ago)
        text_buffer_puts(out, " ago");
}

static void out_sql(struct interval v, struct text_buffer *out)
{
    bool negative = v.months < 0 || v.days < 0 || v.us < 0, positive = v.months > 0 || v.days > 0 || v.us > 0;
    bool has_month = v.months != 0, has_day = v.days != 0, has_time = v.us != 0, has_days = has_day || has_time;
    uint64_t us = size_of(v.us);
    if (!negative && !positive) {
        text_buffer_putc(out, '0');
        return;
    }
    char clock[64];
    snprintf(clock, sizeof clock, "%llu:%02llu:%02llu", (unsigned long long)(us / US_HOUR), (unsigned long long)(us / US_MINUTE % 60), (unsigned long long)(us / US_SECOND % 60));
    if ((negative && positive) || (has_month && has_days)) {  /* no SQL form: all parts, each with its sign */
        text_buffer_printf(out, "%c%d-%d %c%lld %c%s", v.months < 0 ? '-' : '+', abs(v.months / 12), abs(v.months % 12), v.days < 0 ? '-' : '+', (long long)size_of(v.days), v.us < 0 ? '-' : '+', clock);
        fraction_out(out, (int64_t)(us % US_SECOND));
        return;
    }
    if (negative)
        text_buffer_putc(out, '-');
    if (has_month) {
        text_buffer_printf(out, "%d-%d", abs(v.months / 12), abs(v.months % 12));
        return;
    }
    if (has_day)
        text_buffer_printf(out, "%lld ", (long long)size_of(v.days));
    text_buffer_puts(out, clock);
    fraction_out(out, (int64_t)(us % US_SECOND));
}

void interval_out(struct interval v, struct text_buffer *out)
{
    switch (type_env->interval_style) {
    case INTERVAL_STYLE_ISO: out_iso(v, out); return;
    case INTERVAL_STYLE_VERBOSE: out_verbose(v, out); return;
    case INTERVAL_STYLE_SQL: out_sql(v, out); return;
    default: out_postgres(v, out); return;
    }
}

/* ---- arithmetic ---- */

/* Months to days to microseconds: what a fraction of a bigger part leaves goes to the next smaller. */
static enum status scale(struct interval v, double factor, struct interval *out)
{
    double months = v.months * factor, days = v.days * factor;
    if (isnan(months) || months > INT32_MAX || months < INT32_MIN || isnan(days) || days > INT32_MAX || days < INT32_MIN)
        return interval_range();
    out->months = (int32_t)months;
    out->days = (int32_t)days;
    double month_rest = rint((months - (double)out->months) * 30 * 1e6) / 1e6;      /* in days, to the microsecond */
    double second_rest = (days - (double)out->days + month_rest - (double)(int)month_rest) * 86400;
    second_rest = rint(second_rest * 1e6) / 1e6;
    if (fabs(second_rest) >= 86400) {
        out->days += (int)(second_rest / 86400);
        second_rest -= (int)(second_rest / 86400) * 86400.0;
    }
    out->days += (int)month_rest;
    double us = rint((double)v.us * factor + second_rest * 1e6);
    if (isnan(us) || us < -9.2233720368547758e18 || us >= 9.2233720368547758e18)
        return interval_range();
    out->us = (int64_t)us;
    return STATUS_OK;
}

enum status interval_multiply(struct interval v, double factor, struct interval *out) { return scale(v, factor, out); }

enum status interval_divide(struct interval v, double divisor, struct interval *out)
{
    if (divisor == 0)
        return error_set(STATUS_DIVISION_BY_ZERO, NULL);
    double months = v.months / divisor, days = v.days / divisor;
    if (isnan(months) || fabs(months) > INT32_MAX || isnan(days) || fabs(days) > INT32_MAX)
        return interval_range();
    out->months = (int32_t)months;
    out->days = (int32_t)days;
    double month_rest = rint((months - (double)out->months) * 30 * 1e6) / 1e6;
    double second_rest = rint((days - (double)out->days + month_rest - (double)(int)month_rest) * 86400 * 1e6) / 1e6;
    if (fabs(second_rest) >= 86400) {
        out->days += (int)(second_rest / 86400);
        second_rest -= (int)(second_rest / 86400) * 86400.0;
    }
    out->days += (int)month_rest;
    double us = rint((double)v.us / divisor + second_rest * 1e6);
    if (isnan(us) || fabs(us) >= 9.2233720368547758e18)
        return interval_range();
    out->us = (int64_t)us;
    return STATUS_OK;
}

static enum status out_of_range(void) { return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range"); }

/* Months by the calendar (the day cut to the month's length), then days, then time. */
static enum status add_parts(int64_t local, struct interval v, int64_t *out)
{
    struct moment m;
    if (v.months) {
        if (!moment_of_timestamp(local, &m))
            return out_of_range();
        int64_t month = (int64_t)m.year * 12 + m.month - 1 + v.months;
        int64_t year = month >= 0 ? month / 12 : -((11 - month) / 12);
        if (year < -4800 || year > 300000)
            return out_of_range();
        m.year = (int)year;
        m.month = (int)(month - year * 12) + 1;
        if (m.day > month_days(m.year, m.month))
            m.day = month_days(m.year, m.month);
        enum status s = timestamp_of_moment(&m, &local);
        if (s)
            return s;
    }
    int64_t days;
    if (__builtin_mul_overflow((int64_t)v.days, US_DAY, &days) || __builtin_add_overflow(local, days, &local))
        return out_of_range();
    *out = local;
    return STATUS_OK;
}

static enum status finish(int64_t t, int64_t us, int64_t *out)
{
    if (__builtin_add_overflow(t, us, out) || *out < TIMESTAMP_MIN || *out >= TIMESTAMP_END)
        return out_of_range();
    return STATUS_OK;
}

enum status timestamp_add_interval(int64_t t, struct interval v, int64_t *out)
{
    if (!TIMESTAMP_FINITE(t)) {
        *out = t;
        return STATUS_OK;
    }
    enum status s = add_parts(t, v, &t);
    return s ? s : finish(t, v.us, out);
}

enum status timestamptz_add_interval(int64_t t, struct interval v, int64_t *out)
{
    if (!TIMESTAMP_FINITE(t)) {
        *out = t;
        return STATUS_OK;
    }
    if (v.months || v.days) {
        const void *zone = timezone_current();
        int64_t local;
        enum status s = add_parts(timestamp_to_local(t, zone), v, &local);
        if (s)
            return s;
        if (local < TIMESTAMP_MIN || local >= TIMESTAMP_END)
            return out_of_range();
        t = timestamp_to_utc(local, zone);
    }
    return finish(t, v.us, out);
}
