/* engine/types/datetime.c - the calendar, and dates and times as text.
 *
 * Input is cut into fields (numbers, words, times, dates with separators, zones), as PostgreSQL does, and each field is
 * judged by its shape and by what is already known; so '1999-01-08 04:05:06 PST', 'Jan 8 99', '19990108T040506Z' and
 * '8/1/1999' (by DateStyle) are all read by the same few rules. Two-digit years are 1970 .. 2069. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/types/internal.h"

/* ---- calendar ---- */

bool leap_year(int y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); }

int month_days(int year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && leap_year(year) ? 29 : days[month - 1];
}

int days_from_civil(int year, int month, int day)
{
    int64_t y = (int64_t)year - (month <= 2);                 /* years from March */
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400, of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return (int)(era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 730425);
}

void civil_from_days(int days, int *year, int *month, int *day)
{
    int64_t z = (int64_t)days + 730425;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100), m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

int iso_weekday(int days)
{
    int64_t d = ((int64_t)days + 5) % 7;                      /* 2000-01-01 was a Saturday */
    return (int)(d < 0 ? d + 7 : d) + 1;
}

int iso_week(int year, int month, int day, int *iso_year)
{
    int days = days_from_civil(year, month, day);
    int thursday = days - iso_weekday(days) + 4, y, m, d;
    civil_from_days(thursday, &y, &m, &d);
    if (iso_year)
        *iso_year = y;
    return (thursday - days_from_civil(y, 1, 1)) / 7 + 1;
}

bool moment_of_timestamp(int64_t t, struct moment *m)
{
    memset(m, 0, sizeof *m);
    int64_t days = t >= 0 ? t / US_DAY : -((US_DAY - 1 - t) / US_DAY), rest = t - days * US_DAY;
    if (days < DATE_MIN_DAYS || days > INT32_MAX)
        return false;
    civil_from_days((int)days, &m->year, &m->month, &m->day);
    m->hour = (int)(rest / US_HOUR);
    m->minute = (int)(rest / US_MINUTE % 60);
    m->second = (int)(rest / US_SECOND % 60);
    m->us = (int)(rest % US_SECOND);
    m->weekday = iso_weekday((int)days) % 7;
    m->yearday = (int)days - days_from_civil(m->year, 1, 1) + 1;
    return true;
}

bool moment_of_timestamptz(int64_t utc, const void *zone, struct moment *m)
{
    const char *name;
    int offset = timezone_offset_at(zone, utc, &name, NULL);
    if (!moment_of_timestamp(utc + offset * US_SECOND, m))
        return false;
    m->offset = offset;
    m->zone = name;
    return true;
}

static enum status timestamp_range(void) { return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range"); }

enum status timestamp_of_moment(const struct moment *m, int64_t *out)
{
    if (m->year < -4713 || m->year > 294277)
        return timestamp_range();
    int64_t t = (int64_t)days_from_civil(m->year, m->month, m->day);
    if (__builtin_mul_overflow(t, US_DAY, &t) ||
        __builtin_add_overflow(t, m->hour * US_HOUR + m->minute * US_MINUTE + m->second * US_SECOND + m->us, &t) || t < TIMESTAMP_MIN || t >= TIMESTAMP_END)
        return timestamp_range();
    *out = t;
    return STATUS_OK;
}

int64_t time_round(int64_t us, int32_t typmod)
{
    static const int64_t units[] = {1000000, 100000, 10000, 1000, 100, 10};
    if (typmod < 0 || typmod > 5 || !TIMESTAMP_FINITE(us))
        return us;
    int64_t unit = units[typmod];
    return us >= 0 ? (us + unit / 2) / unit * unit : -((-us + unit / 2) / unit * unit);
}

/* ---- input ---- */

enum field_kind { FIELD_NUMBER, FIELD_TIME, FIELD_DATE, FIELD_WORD, FIELD_ZONE, FIELD_SPECIAL };
struct field { enum field_kind kind; char text[64]; };
#define FIELDS_MAX 25
enum known { HAS_YEAR = 1, HAS_MONTH = 2, HAS_DAY = 4, HAS_DATE = 7, HAS_TIME = 8, HAS_ZONE = 16, HAS_DOY = 32 };
enum word_meaning { WORD_NONE, WORD_MONTH, WORD_WEEKDAY, WORD_AM, WORD_PM, WORD_AD, WORD_BC, WORD_NOISE, WORD_T, WORD_JULIAN, WORD_NOW, WORD_TODAY, WORD_TOMORROW,
                    WORD_YESTERDAY, WORD_EPOCH, WORD_INFINITY, WORD_NEGATIVE_INFINITY, WORD_ALLBALLS };

struct parsed {
    unsigned known;
    struct moment m;
    bool two_digit_year, bc, has_text_month;
    int pm;                              /* 0 none, 1 am, 2 pm */
    int offset;
    const void *zone;                    /* a named zone, whose offset hangs on the date */
    enum word_meaning special;           /* WORD_NOW .. WORD_NEGATIVE_INFINITY, or 0 */
};
enum verdict { GOOD, BAD_FORMAT, BAD_FIELD, BAD_MONTH_DAY, BAD_ZONE_OFFSET, BAD_ZONE_NAME };

static bool add(struct field *fields, int *count, enum field_kind kind, const char *from, const char *to)
{
    if (*count == FIELDS_MAX || to - from >= (long)sizeof fields[0].text)
        return false;
    struct field *f = &fields[(*count)++];
    f->kind = kind;
    for (int i = 0; from < to; i++, from++) {
        f->text[i] = (char)tolower((unsigned char)*from);
        f->text[i + 1] = 0;
    }
    return true;
}

#define DIGIT(p) ((p) < end && isdigit((unsigned char)*(p)))
#define ALPHA(p) ((p) < end && isalpha((unsigned char)*(p)))
#define ALNUM(p) ((p) < end && isalnum((unsigned char)*(p)))

static bool split(const char *p, const char *end, struct field *fields, int *count)
{
    *count = 0;
    while (p < end) {
        const char *start = p;
        if (text_is_space(*p)) {
            p++;
        } else if (isdigit((unsigned char)*p)) {
            enum field_kind kind = FIELD_NUMBER;
            while (DIGIT(p))
                p++;
            if (p < end && *p == ':') {
                kind = FIELD_TIME;
                while (p < end && (isdigit((unsigned char)*p) || *p == ':' || *p == '.'))
                    p++;
            } else if (p < end && (*p == '-' || *p == '/' || *p == '.')) {
                char mark = *p++;
                if (DIGIT(p)) {
                    kind = mark == '.' ? FIELD_NUMBER : FIELD_DATE;
                    while (DIGIT(p))
                        p++;
                    if (p < end && *p == mark) {
                        kind = FIELD_DATE;
                        while (p < end && (isdigit((unsigned char)*p) || *p == mark))
                            p++;
                    }
                } else {
                    kind = FIELD_DATE;
                    while (p < end && (isalnum((unsigned char)*p) || *p == mark))
                        p++;
                    if (mark == '.' && p == start + 1)
                        kind = FIELD_NUMBER;
                }
            }
            if (!add(fields, count, kind, start, p))
                return false;
        } else if (*p == '.') {
            p++;
            while (DIGIT(p))
                p++;
            if (!add(fields, count, FIELD_NUMBER, start, p))
                return false;
        } else if (isalpha((unsigned char)*p)) {
            enum field_kind kind = FIELD_WORD;
            while (ALPHA(p))
                p++;
            bool date = p < end && (*p == '-' || *p == '/' || *p == '.');
            if (p < end && (*p == '+' || isdigit((unsigned char)*p)) && p - start >= 3)      /* EST5EDT, GMT+3: not Jan8 */
                date = !(p - start == 3 && isdigit((unsigned char)*p));
            if (date) {
                kind = FIELD_DATE;
                while (p < end && (isalnum((unsigned char)*p) || *p == '+' || *p == '-' || *p == '/' || *p == '_' || *p == '.' || *p == ':'))
                    p++;
            }
            if (!add(fields, count, kind, start, p))
                return false;
        } else if (*p == '+' || *p == '-') {
            p++;
            while (p < end && text_is_space(*p))
                p++;
            char sign[64] = {*start};
            const char *from = p;
            if (DIGIT(p)) {
                while (p < end && (isdigit((unsigned char)*p) || *p == ':' || *p == '.' || *p == '-'))
                    p++;
            } else if (ALPHA(p)) {
                while (ALPHA(p))
                    p++;
            } else
                return false;
            if (p - from >= 60)
                return false;
            memcpy(sign + 1, from, (size_t)(p - from));
            if (!add(fields, count, isdigit((unsigned char)*from) ? FIELD_ZONE : FIELD_SPECIAL, sign, sign + 1 + (p - from)))
                return false;
        } else if (ispunct((unsigned char)*p))
            p++;
        else
            return false;
    }
    return true;
}

static enum word_meaning word_find(const char *word, int *value)
{
    static const char *const months[] = {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"};
    static const char *const weekdays[] = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};
    static const struct { const char *word; enum word_meaning meaning; } others[] = {
        {"am", WORD_AM}, {"pm", WORD_PM}, {"ad", WORD_AD}, {"bc", WORD_BC}, {"at", WORD_NOISE}, {"on", WORD_NOISE}, {"t", WORD_T}, {"j", WORD_JULIAN}, {"jd", WORD_JULIAN},
        {"julian", WORD_JULIAN}, {"now", WORD_NOW}, {"today", WORD_TODAY}, {"tomorrow", WORD_TOMORROW}, {"yesterday", WORD_YESTERDAY}, {"epoch", WORD_EPOCH},
        {"infinity", WORD_INFINITY}, {"+infinity", WORD_INFINITY}, {"-infinity", WORD_NEGATIVE_INFINITY}, {"allballs", WORD_ALLBALLS}, {"tues", WORD_WEEKDAY}, {"weds", WORD_WEEKDAY},
        {"thur", WORD_WEEKDAY}, {"thurs", WORD_WEEKDAY}};
    size_t n = strlen(word);
    *value = 0;
    if (!strcmp(word, "sept")) {
        *value = 9;
        return WORD_MONTH;
    }
    for (int i = 0; i < 12; i++)
        if ((n == 3 && !strncmp(word, months[i], 3)) || !strcmp(word, months[i])) {
            *value = i + 1;
            return WORD_MONTH;
        }
    for (int i = 0; i < 7; i++)
        if ((n == 3 && !strncmp(word, weekdays[i], 3)) || !strcmp(word, weekdays[i]))
            return WORD_WEEKDAY;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(word, others[i].word))
            return others[i].meaning;
    return WORD_NONE;
}

/* ".125" or "125" after the point: microseconds, rounded. */
static int fraction_us(const char *digits)
{
    char text[32];
    snprintf(text, sizeof text, "0.%.20s", digits);
    return (int)rint(strtod(text, NULL) * 1000000);
}

static enum verdict read_time(const char *text, struct parsed *p)
{
    int parts[3] = {0}, count = 0;
    const char *q = text;
    for (;;) {
        if (!isdigit((unsigned char)*q) || count == 3)
            return BAD_FORMAT;
        long v = strtol(q, (char **)&q, 10);
        if (v > 100000)
            return BAD_FIELD;
        parts[count++] = (int)v;
        if (*q != ':')
            break;
        q++;
    }
    p->m.us = 0;
    if (*q == '.') {
        if (count == 2) {                                     /* mm:ss.fff of a time is not taken; PostgreSQL reads it so */
            parts[2] = parts[1];
            parts[1] = parts[0];
            parts[0] = 0;
        }
        if (strspn(q + 1, "0123456789") != strlen(q + 1))
            return BAD_FORMAT;
        p->m.us = fraction_us(q + 1);
    } else if (*q)
        return BAD_FORMAT;
    p->m.hour = parts[0];
    p->m.minute = parts[1];
    p->m.second = parts[2];
    if (p->m.minute > 59 || p->m.second > 60 || p->m.hour > 24 || (p->m.hour == 24 && (p->m.minute || p->m.second || p->m.us)))
        return BAD_FIELD;
    p->known |= HAS_TIME;
    return GOOD;
}

static enum verdict read_zone(const char *text, struct parsed *p)
{
    const char *q = text + 1;
    if (!isdigit((unsigned char)*q))
        return BAD_FORMAT;
    const char *start = q;
    int h = (int)strtol(q, (char **)&q, 10), m = 0, s = 0;
    if (*q == ':') {
        m = (int)strtol(q + 1, (char **)&q, 10);
        if (*q == ':')
            s = (int)strtol(q + 1, (char **)&q, 10);
    } else if (!*q && q - start > 2) {
        m = h % 100;
        h /= 100;
    }
    if (*q)
        return BAD_FORMAT;
    if (h > 15 || m > 59 || s > 59)
        return BAD_ZONE_OFFSET;
    p->offset = (h * 3600 + m * 60 + s) * (*text == '-' ? -1 : 1);
    p->zone = NULL;
    p->known |= HAS_ZONE;
    return GOOD;
}

static enum verdict set(struct parsed *p, unsigned what, int value, size_t digits)
{
    if (p->known & what)
        return BAD_FORMAT;
    p->known |= what;
    if (what == HAS_YEAR) {
        p->m.year = value;
        p->two_digit_year = digits <= 2;
    } else if (what == HAS_MONTH)
        p->m.month = value;
    else
        p->m.day = value;
    return GOOD;
}

/* One number of a date, by what is known so far. */
static enum verdict read_number(const char *text, struct parsed *p, bool text_month)
{
    size_t n = strspn(text, "0123456789");
    if (text[n] || n > 9)
        return BAD_FORMAT;
    int v = atoi(text), order = type_env->date_order;
    switch (p->known & HAS_DATE) {
    case 0:
        if (n >= 3 || order == DATE_ORDER_YMD)
            return set(p, HAS_YEAR, v, n);
        return set(p, order == DATE_ORDER_DMY ? HAS_DAY : HAS_MONTH, v, n);
    case HAS_YEAR:
        if (n == 3) {                                         /* day of the year */
            p->known |= HAS_MONTH | HAS_DAY | HAS_DOY;
            p->m.yearday = v;
            return v < 1 || v > 366 ? BAD_FIELD : GOOD;
        }
        return set(p, HAS_MONTH, v, n);
    case HAS_MONTH:
        if (text_month && (n >= 3 || order == DATE_ORDER_YMD))
            return set(p, HAS_YEAR, v, n);
        return set(p, HAS_DAY, v, n);
    case HAS_YEAR | HAS_MONTH:
        if (text_month && n >= 3 && p->two_digit_year) {      /* the first was the day */
            p->m.day = p->m.year;
            p->known |= HAS_DAY;
            p->m.year = v;
            p->two_digit_year = false;
            return GOOD;
        }
        return set(p, HAS_DAY, v, n);
    case HAS_DAY: return set(p, HAS_MONTH, v, n);
    case HAS_MONTH | HAS_DAY: return set(p, HAS_YEAR, v, n);
    default: return BAD_FORMAT;
    }
}

/* 19990108, 990108; 040506, 0405, 040506.789. */
static enum verdict read_run(const char *text, struct parsed *p)
{
    const char *point = strchr(text, '.');
    size_t n = point ? (size_t)(point - text) : strlen(text);
    if (strspn(text, "0123456789") < n)
        return BAD_FORMAT;
    char digits[64];
    snprintf(digits, sizeof digits, "%.*s", (int)n, text);
    if (point) {
        p->m.us = fraction_us(point + 1);
    } else if ((p->known & HAS_DATE) != HAS_DATE && n >= 6) {
        if (n > 12)
            return BAD_FORMAT;
        p->m.day = atoi(digits + n - 2);
        digits[n - 2] = 0;
        p->m.month = atoi(digits + n - 4);
        digits[n - 4] = 0;
        p->m.year = atoi(digits);
        p->two_digit_year = n - 4 == 2;
        p->known |= HAS_DATE;
        return GOOD;
    }
    if (p->known & HAS_TIME)
        return BAD_FORMAT;
    int v = atoi(digits);
    if (n == 6) {
        p->m.hour = v / 10000;
        p->m.minute = v / 100 % 100;
        p->m.second = v % 100;
    } else if (n == 4 && !point) {
        p->m.hour = v / 100;
        p->m.minute = v % 100;
        p->m.second = 0;
    } else
        return BAD_FORMAT;
    p->known |= HAS_TIME;
    return p->m.hour > 24 || p->m.minute > 59 || p->m.second > 60 ? BAD_FIELD : GOOD;
}

static enum verdict read_date(char *text, struct parsed *p)
{
    char *parts[4];
    int count = 0;
    for (char *q = text; *q;) {
        while (*q && !isalnum((unsigned char)*q))
            q++;
        if (!*q)
            break;
        if (count == 3)
            return BAD_FORMAT;
        parts[count++] = q;
        if (isdigit((unsigned char)*q))
            while (isdigit((unsigned char)*q))
                q++;
        else
            while (isalpha((unsigned char)*q))
                q++;
        if (isalnum((unsigned char)*q)) {                     /* 08jan99: letters end, digits begin */
            if (count == 3)
                return BAD_FORMAT;
            char *copy = q;
            size_t n = strlen(copy);
            memmove(copy + 1, copy, n + 1);
            *copy = 0;
            q = copy + 1;
        } else if (*q)
            *q++ = 0;
    }
    bool text_month = false;
    for (int i = 0; i < count; i++)
        if (isalpha((unsigned char)*parts[i])) {
            int month;
            if (word_find(parts[i], &month) != WORD_MONTH || (p->known & HAS_MONTH))
                return BAD_FORMAT;
            p->m.month = month;
            p->known |= HAS_MONTH;
            text_month = true;
            parts[i] = NULL;
        }
    for (int i = 0; i < count; i++)
        if (parts[i]) {
            enum verdict v = read_number(parts[i], p, text_month);
            if (v)
                return v;
        }
    return (p->known & HAS_DATE) == HAS_DATE ? GOOD : BAD_FORMAT;
}

static enum verdict read_named_zone(const char *text, struct parsed *p)
{
    const void *zone;
    int offset;
    if (timezone_abbreviation(text, strlen(text), &offset, &zone)) {
        p->offset = offset;
        p->zone = NULL;
    } else {
        p->zone = datetime_zone_find(text, NULL);
        if (!p->zone)
            return BAD_ZONE_NAME;
    }
    p->known |= HAS_ZONE;
    return GOOD;
}

static enum verdict decode(struct field *fields, int count, bool time_only, struct parsed *p)
{
    bool after_t = false, julian = false;
    for (int i = 0; i < count; i++) {
        char *text = fields[i].text;
        enum verdict v = GOOD;
        int value;
        switch (fields[i].kind) {
        case FIELD_DATE:
            if (isalpha((unsigned char)*text) && (p->known & (HAS_TIME | HAS_DAY)))
                v = read_named_zone(text, p);
            else if ((p->known & HAS_DATE) == HAS_DATE && isdigit((unsigned char)*text)) {
                char *mark = strchr(text, '-');               /* 040506-08 */
                if (!mark)
                    return BAD_FORMAT;
                v = read_zone(mark, p);
                *mark = 0;
                if (!v)
                    v = read_run(text, p);
            } else
                v = read_date(text, p);
            break;
        case FIELD_TIME:
            if (p->known & HAS_TIME)
                return BAD_FORMAT;
            v = read_time(text, p);
            after_t = false;
            break;
        case FIELD_ZONE:
            if ((p->known & HAS_ZONE) && !p->zone && p->offset) {
                return BAD_FORMAT;
            }
            v = read_zone(text, p);
            break;
        case FIELD_NUMBER: {
            size_t n = strlen(text);
            char *point = strchr(text, '.');
            if (julian) {
                double days = strtod(text, NULL);
                if (days < 0 || days > 2e9)
                    return BAD_FIELD;
                civil_from_days((int)((int64_t)days - 2451545), &p->m.year, &p->m.month, &p->m.day);
                p->known |= HAS_DATE;
                if (point) {
                    int64_t us = (int64_t)rint((days - floor(days)) * (double)US_DAY);
                    p->m.hour = (int)(us / US_HOUR);
                    p->m.minute = (int)(us / US_MINUTE % 60);
                    p->m.second = (int)(us / US_SECOND % 60);
                    p->m.us = (int)(us % US_SECOND);
                    p->known |= HAS_TIME;
                }
                julian = false;
            } else if (after_t || (time_only && (n == 4 || n == 6 || point))) {
                p->known |= after_t ? 0 : 0;
                unsigned date = p->known & HAS_DATE;
                p->known |= HAS_DATE;
                v = read_run(text, p);
                if (time_only)
                    p->known = (p->known & ~(unsigned)HAS_DATE) | date;
                after_t = false;
            } else if (point && !(p->known & HAS_DATE))
                v = read_date(text, p);
            else if (point && point - text > 2)
                v = read_run(text, p);
            else if (!point && n >= 6 && (!(p->known & HAS_DATE) || !(p->known & HAS_TIME)))
                v = read_run(text, p);
            else if (!point && n == 4 && (p->known & HAS_DATE) == HAS_DATE && !(p->known & HAS_TIME))
                v = read_run(text, p);
            else
                v = read_number(text, p, p->has_text_month);
            break;
        }
        case FIELD_WORD:
        case FIELD_SPECIAL: {
            enum word_meaning meaning = word_find(text, &value);
            switch (meaning) {
            case WORD_NONE:
                v = fields[i].kind == FIELD_WORD ? read_named_zone(text, p) : BAD_FORMAT;
                if (v == BAD_ZONE_NAME)
                    v = BAD_FORMAT;
                break;
            case WORD_MONTH:
                /* 8 Jan: what was taken for the month is the day. */
                if ((p->known & HAS_MONTH) && !p->has_text_month && !(p->known & HAS_DAY) && p->m.month >= 1 && p->m.month <= 31) {
                    p->m.day = p->m.month;
                    p->known |= HAS_DAY;
                } else if (p->known & HAS_MONTH)
                    return BAD_FORMAT;
                p->m.month = value;
                p->known |= HAS_MONTH;
                p->has_text_month = true;
                break;
            case WORD_WEEKDAY: case WORD_NOISE: break;
            case WORD_AM: p->pm = 1; break;
            case WORD_PM: p->pm = 2; break;
            case WORD_AD: break;
            case WORD_BC: p->bc = true; break;
            case WORD_T:
                if (!time_only && (p->known & HAS_DATE) != HAS_DATE)
                    return BAD_FORMAT;
                after_t = true;
                break;
            case WORD_JULIAN: julian = true; break;
            case WORD_ALLBALLS:
                p->m.hour = p->m.minute = p->m.second = p->m.us = 0;
                p->known |= HAS_TIME | HAS_ZONE;
                break;
            default:
                if (p->special)
                    return BAD_FORMAT;
                p->special = meaning;
                break;
            }
            break;
        }
        }
        if (v)
            return v;
    }
    if (after_t || julian)
        return BAD_FORMAT;
    if (p->pm) {
        if (p->m.hour > 12)
            return BAD_FIELD;
        if (p->pm == 2 && p->m.hour != 12)
            p->m.hour += 12;
        else if (p->pm == 1 && p->m.hour == 12)
            p->m.hour = 0;
    }
    if (p->special) {
        if (p->known & HAS_DATE)
            return BAD_FORMAT;
        return GOOD;
    }
    if ((p->known & HAS_DATE) == HAS_DATE) {
        if (p->bc) {
            if (p->m.year <= 0)
                return BAD_FIELD;
            p->m.year = 1 - p->m.year;
        } else if (p->two_digit_year)
            p->m.year += p->m.year < 70 ? 2000 : 1900;
        else if (p->m.year <= 0)
            return BAD_FIELD;
        if (p->known & HAS_DOY)
            civil_from_days(days_from_civil(p->m.year, 1, 1) + p->m.yearday - 1, &p->m.year, &p->m.month, &p->m.day);
        if (p->m.month < 1 || p->m.month > 12 || p->m.day < 1 || p->m.day > 31)
            return BAD_MONTH_DAY;
        if (p->m.year > 5874898 || p->m.day > month_days(p->m.year, p->m.month))
            return BAD_FIELD;
    } else if ((p->known & HAS_DATE) && !time_only)
        return BAD_FORMAT;
    else if (!time_only)
        return BAD_FORMAT;
    return GOOD;
}

static enum status refuse(enum verdict v, const char *type, const char *text, size_t length, const char *zone)
{
    enum status s;
    switch (v) {
    case BAD_FIELD: return error_set(STATUS_DATETIME_OVERFLOW, "date/time field value out of range: \"%.*s\"", (int)length, text);
    case BAD_MONTH_DAY:
        s = error_set(STATUS_DATETIME_OVERFLOW, "date/time field value out of range: \"%.*s\"", (int)length, text);
        error_hint("Perhaps you need a different \"datestyle\" setting.");
        return s;
    case BAD_ZONE_OFFSET: return error_set(STATUS_INVALID_TIME_ZONE, "time zone displacement out of range: \"%.*s\"", (int)length, text);
    case BAD_ZONE_NAME: return error_set(STATUS_INVALID_PARAMETER_VALUE, "time zone \"%s\" not recognized", zone);
    default: return error_set(STATUS_INVALID_DATETIME, "invalid input syntax for type %s: \"%.*s\"", type, (int)length, text);
    }
}

static enum status parse(const char *text, size_t length, const char *type, bool time_only, struct parsed *p)
{
    struct field fields[FIELDS_MAX];
    int count;
    memset(p, 0, sizeof *p);
    if (length > 200 || !split(text, text + length, fields, &count) || !count)
        return refuse(BAD_FORMAT, type, text, length, NULL);
    enum verdict v = decode(fields, count, time_only, p);
    if (v == BAD_ZONE_NAME) {
        int i = count - 1;
        while (i > 0 && !isalpha((unsigned char)fields[i].text[0]))
            i--;
        return refuse(v, type, text, length, fields[i].text);
    }
    return v ? refuse(v, type, text, length, NULL) : STATUS_OK;
}

/* A special word as a local timestamp. */
static int64_t special_local(const struct parsed *p)
{
    int64_t now = timestamp_to_local(type_env->now_us, timezone_current());
    int64_t day = (now >= 0 ? now / US_DAY : -((US_DAY - 1 - now) / US_DAY)) * US_DAY;
    int64_t time = p->known & HAS_TIME ? p->m.hour * US_HOUR + p->m.minute * US_MINUTE + p->m.second * US_SECOND + p->m.us : 0;
    switch (p->special) {
    case WORD_NOW: return now;
    case WORD_TODAY: return day + time;
    case WORD_TOMORROW: return day + US_DAY + time;
    case WORD_YESTERDAY: return day - US_DAY + time;
    case WORD_INFINITY: return TIMESTAMP_INFINITY;
    case WORD_NEGATIVE_INFINITY: return TIMESTAMP_NEGATIVE_INFINITY;
    default: return -(int64_t)EPOCH_DAYS * US_DAY;
    }
}

enum status date_in(const char *text, size_t length, int32_t *out)
{
    struct parsed p;
    /* The usual form, without the machinery. */
    if (length == 10 && text[4] == '-' && text[7] == '-') {
        int d[8];
        static const uint8_t at[8] = {0, 1, 2, 3, 5, 6, 8, 9};
        bool plain = true;
        for (int i = 0; i < 8; i++)
            plain &= (unsigned)(d[i] = text[at[i]] - '0') < 10;
        int y = d[0] * 1000 + d[1] * 100 + d[2] * 10 + d[3], m = d[4] * 10 + d[5], day = d[6] * 10 + d[7];
        if (plain && y > 0 && m >= 1 && m <= 12 && day >= 1 && day <= month_days(y, m)) {
            *out = days_from_civil(y, m, day);
            return STATUS_OK;
        }
    }
    enum status s = parse(text, length, "date", false, &p);
    if (s)
        return s;
    if (p.special == WORD_INFINITY || p.special == WORD_NEGATIVE_INFINITY) {
        *out = p.special == WORD_INFINITY ? DATE_INFINITY : DATE_NEGATIVE_INFINITY;
        return STATUS_OK;
    }
    if (p.special) {
        int64_t t = special_local(&p);
        *out = (int32_t)(t >= 0 ? t / US_DAY : -((US_DAY - 1 - t) / US_DAY));
        return STATUS_OK;
    }
    if (p.m.year < -4713 || p.m.year > 5874897 || days_from_civil(p.m.year, p.m.month, p.m.day) < DATE_MIN_DAYS)
        return error_set(STATUS_DATETIME_OVERFLOW, "date out of range: \"%.*s\"", (int)length, text);
    *out = days_from_civil(p.m.year, p.m.month, p.m.day);
    return STATUS_OK;
}

enum status time_in(const char *text, size_t length, int32_t typmod, int64_t *out)
{
    struct parsed p;
    enum status s = parse(text, length, "time", true, &p);
    if (s)
        return s;
    if (p.special) {
        if (p.special != WORD_NOW)
            return refuse(BAD_FORMAT, "time", text, length, NULL);
        int64_t t = special_local(&p) % US_DAY;
        *out = time_round(t < 0 ? t + US_DAY : t, typmod);
        return STATUS_OK;
    }
    if (!(p.known & HAS_TIME) || ((p.known & HAS_DATE) && (p.known & HAS_DATE) != HAS_DATE))
        return refuse(BAD_FORMAT, "time", text, length, NULL);
    *out = time_round(p.m.hour * US_HOUR + p.m.minute * US_MINUTE + p.m.second * US_SECOND + p.m.us, typmod);
    return STATUS_OK;
}

enum status timestamp_in(const char *text, size_t length, bool with_zone, int32_t typmod, int64_t *out)
{
    const char *type = with_zone ? "timestamp with time zone" : "timestamp";
    struct parsed p;
    enum status s = parse(text, length, type, false, &p);
    if (s)
        return s;
    if (p.special) {
        *out = special_local(&p);
        if (with_zone && TIMESTAMP_FINITE(*out) && p.special != WORD_EPOCH)
            *out = p.special == WORD_NOW ? type_env->now_us : timestamp_to_utc(*out, timezone_current());
        *out = time_round(*out, typmod);
        return STATUS_OK;
    }
    if (timestamp_of_moment(&p.m, out))
        return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range: \"%.*s\"", (int)length, text);
    if (with_zone) {
        if ((p.known & HAS_ZONE) && !p.zone)
            *out -= p.offset * US_SECOND;
        else
            *out = timestamp_to_utc(*out, p.zone ? p.zone : timezone_current());
    }
    *out = time_round(*out, typmod);
    if (*out < TIMESTAMP_MIN || *out >= TIMESTAMP_END)
        return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range: \"%.*s\"", (int)length, text);
    return STATUS_OK;
}

/* ---- output ---- */

static void two(struct text_buffer *out, int v)
{
    char c[2] = {(char)('0' + v / 10 % 10), (char)('0' + v % 10)};
    text_buffer_add(out, c, 2);
}

static void year_out(struct text_buffer *out, int year)
{
    int y = year > 0 ? year : 1 - year;
    if (y < 10000) {
        two(out, y / 100);
        two(out, y % 100);
    } else
        text_buffer_printf(out, "%d", y);
}

static void clock_out(struct text_buffer *out, int h, int m, int s, int us)
{
    two(out, h);
    text_buffer_putc(out, ':');
    two(out, m);
    text_buffer_putc(out, ':');
    two(out, s);
    if (us) {
        char digits[8];
        snprintf(digits, sizeof digits, "%06d", us);
        size_t n = 6;
        while (digits[n - 1] == '0')
            n--;
        text_buffer_putc(out, '.');
        text_buffer_add(out, digits, n);
    }
}

static void calendar_out(struct text_buffer *out, const struct moment *m, char between)
{
    switch (type_env->date_style) {
    case DATE_STYLE_ISO:
        year_out(out, m->year);
        text_buffer_putc(out, '-');
        two(out, m->month);
        text_buffer_putc(out, '-');
        two(out, m->day);
        return;
    case DATE_STYLE_GERMAN:
        two(out, m->day);
        text_buffer_putc(out, '.');
        two(out, m->month);
        text_buffer_putc(out, '.');
        year_out(out, m->year);
        return;
    default: {
        bool day_first = type_env->date_order == DATE_ORDER_DMY;
        two(out, day_first ? m->day : m->month);
        text_buffer_putc(out, between);
        two(out, day_first ? m->month : m->day);
        text_buffer_putc(out, between);
        year_out(out, m->year);
        return;
    }
    }
}

void date_out(int32_t d, struct text_buffer *out)
{
    struct moment m = {0};
    if (!DATE_FINITE(d)) {
        text_buffer_puts(out, d == DATE_INFINITY ? "infinity" : "-infinity");
        return;
    }
    civil_from_days(d, &m.year, &m.month, &m.day);
    calendar_out(out, &m, type_env->date_style == DATE_STYLE_SQL ? '/' : '-');
    if (m.year <= 0)
        text_buffer_puts(out, " BC");
}

void time_out(int64_t t, struct text_buffer *out)
{
    clock_out(out, (int)(t / US_HOUR), (int)(t / US_MINUTE % 60), (int)(t / US_SECOND % 60), (int)(t % US_SECOND));
}

static void zone_out(struct text_buffer *out, const struct moment *m)
{
    int size = abs(m->offset);
    text_buffer_putc(out, m->offset < 0 ? '-' : '+');
    two(out, size / 3600);
    if (size % 3600) {
        text_buffer_putc(out, ':');
        two(out, size / 60 % 60);
        if (size % 60) {
            text_buffer_putc(out, ':');
            two(out, size % 60);
        }
    }
}

void timestamp_out(int64_t t, bool with_zone, struct text_buffer *out)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec", weekdays[] = "SunMonTueWedThuFriSat";
    struct moment m;
    if (!TIMESTAMP_FINITE(t)) {
        text_buffer_puts(out, t == TIMESTAMP_INFINITY ? "infinity" : "-infinity");
        return;
    }
    if (!(with_zone ? moment_of_timestamptz(t, timezone_current(), &m) : moment_of_timestamp(t, &m)))
        memset(&m, 0, sizeof m);
    if (type_env->date_style == DATE_STYLE_POSTGRES) {
        text_buffer_add(out, weekdays + 3 * m.weekday, 3);
        text_buffer_putc(out, ' ');
        if (type_env->date_order == DATE_ORDER_DMY) {
            two(out, m.day);
            text_buffer_putc(out, ' ');
            text_buffer_add(out, months + 3 * (m.month - 1), 3);
        } else {
            text_buffer_add(out, months + 3 * (m.month - 1), 3);
            text_buffer_putc(out, ' ');
            two(out, m.day);
        }
        text_buffer_putc(out, ' ');
        clock_out(out, m.hour, m.minute, m.second, m.us);
        text_buffer_putc(out, ' ');
        year_out(out, m.year);
    } else {
        calendar_out(out, &m, '/');
        text_buffer_putc(out, ' ');
        clock_out(out, m.hour, m.minute, m.second, m.us);
    }
    if (with_zone) {
        if (type_env->date_style != DATE_STYLE_ISO && m.zone && isalpha((unsigned char)*m.zone)) {
            text_buffer_putc(out, ' ');
            text_buffer_puts(out, m.zone);
        } else {
            if (type_env->date_style == DATE_STYLE_POSTGRES)
                text_buffer_putc(out, ' ');
            zone_out(out, &m);
        }
    }
    if (m.year <= 0)
        text_buffer_puts(out, " BC");
}
