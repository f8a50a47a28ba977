/* engine/types/kernels_datetime.c - functions, operators and casts of dates, times and intervals. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/latch.h"
#include "engine/types/kernel.h"

#define TS int64_t
#define IV struct interval
#define TEXT struct varlen

static enum status date_range(void) { return error_set(STATUS_DATETIME_OVERFLOW, "date out of range"); }
static enum status stamp_range(void) { return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range"); }
static enum status interval_range(void) { return error_set(STATUS_DATETIME_OVERFLOW, "interval out of range"); }

static int64_t floor_day(int64_t t) { return t >= 0 ? t / US_DAY : -((US_DAY - 1 - t) / US_DAY); }

/* ---- casts ---- */

static enum status date_to_stamp(int32_t d, int64_t *out)
{
    if (!DATE_FINITE(d))
        *out = d == DATE_INFINITY ? TIMESTAMP_INFINITY : TIMESTAMP_NEGATIVE_INFINITY;
    else if (d >= 106751983 + 0 || __builtin_mul_overflow((int64_t)d, US_DAY, out) || *out >= TIMESTAMP_END)
        return error_set(STATUS_DATETIME_OVERFLOW, "date out of range for timestamp");
    return STATUS_OK;
}
static int32_t stamp_to_date(int64_t t)
{
    return TIMESTAMP_FINITE(t) ? (int32_t)floor_day(t) : t == TIMESTAMP_INFINITY ? DATE_INFINITY : DATE_NEGATIVE_INFINITY;
}
static int64_t stamp_to_time(int64_t t) { return t - floor_day(t) * US_DAY; }
KERNEL1(k_date_timestamp, int32_t, TS, CHECK_ROW(date_to_stamp(a, &r)))
KERNEL1(k_date_timestamptz, int32_t, TS, CHECK_ROW(date_to_stamp(a, &r)); r = timestamp_to_utc(r, timezone_current()))
KERNEL1(k_timestamp_date, TS, int32_t, r = stamp_to_date(a))
KERNEL1(k_timestamptz_date, TS, int32_t, r = stamp_to_date(timestamp_to_local(a, timezone_current())))
KERNEL1(k_timestamp_timestamptz, TS, TS, r = timestamp_to_utc(a, timezone_current()))
KERNEL1(k_timestamptz_timestamp, TS, TS, r = timestamp_to_local(a, timezone_current()))
KERNEL1(k_timestamp_time, TS, TS, if (!TIMESTAMP_FINITE(a)) GIVE_NULL; r = stamp_to_time(a))
KERNEL1(k_timestamptz_time, TS, TS, if (!TIMESTAMP_FINITE(a)) GIVE_NULL; r = stamp_to_time(timestamp_to_local(a, timezone_current())))
KERNEL1(k_interval_time, IV, TS, r = a.us % US_DAY; if (r < 0) r += US_DAY)
KERNEL1(k_time_interval, TS, IV, r = (IV){.us = a})
KERNEL2(k_datetime_timestamp, int32_t, TS, TS, CHECK_ROW(date_to_stamp(a, &r)); if (TIMESTAMP_FINITE(r)) r += b)
KERNEL2(k_timedate_pl, TS, int32_t, TS, CHECK_ROW(date_to_stamp(b, &r)); if (TIMESTAMP_FINITE(r)) r += a)
KERNEL2(k_datetimetz, int32_t, TS, TS, CHECK_ROW(date_to_stamp(a, &r)); if (TIMESTAMP_FINITE(r)) r += b; r = timestamp_to_utc(r, timezone_current()))

/* ---- arithmetic ---- */

static enum status date_move(int32_t d, int64_t by, int32_t *out)
{
    if (!DATE_FINITE(d)) {
        *out = d;
        return STATUS_OK;
    }
    int64_t sum = (int64_t)d + by;
    if (sum < DATE_MIN_DAYS || sum >= DATE_END_DAYS)
        return date_range();
    *out = (int32_t)sum;
    return STATUS_OK;
}
KERNEL2(k_date_pli, int32_t, int32_t, int32_t, CHECK_ROW(date_move(a, b, &r)))
KERNEL2(k_date_mii, int32_t, int32_t, int32_t, CHECK_ROW(date_move(a, -(int64_t)b, &r)))
KERNEL2(k_integer_pl_date, int32_t, int32_t, int32_t, CHECK_ROW(date_move(b, a, &r)))
KERNEL2(k_date_mi, int32_t, int32_t, int32_t,
    if (!DATE_FINITE(a) || !DATE_FINITE(b)) FAIL(error_set(STATUS_DATETIME_OVERFLOW, "cannot subtract infinite dates")); r = a - b)

static enum status negate(IV v, IV *out)
{
    if (__builtin_sub_overflow(0, v.us, &out->us) || __builtin_sub_overflow(0, v.days, &out->days) || __builtin_sub_overflow(0, v.months, &out->months))
        return interval_range();
    return STATUS_OK;
}
static enum status add(IV a, IV b, IV *out)
{
    if (__builtin_add_overflow(a.us, b.us, &out->us) || __builtin_add_overflow(a.days, b.days, &out->days) || __builtin_add_overflow(a.months, b.months, &out->months))
        return interval_range();
    return STATUS_OK;
}
static enum status subtract(IV a, IV b, IV *out)
{
    if (__builtin_sub_overflow(a.us, b.us, &out->us) || __builtin_sub_overflow(a.days, b.days, &out->days) || __builtin_sub_overflow(a.months, b.months, &out->months))
        return interval_range();
    return STATUS_OK;
}
static enum status stamp_move(TS t, IV v, bool minus, bool zoned, TS *out)
{
    if (minus) {
        IV n = {0};
        enum status s = negate(v, &n);
        if (s)
            return s;
        v = n;
    }
    return zoned ? timestamptz_add_interval(t, v, out) : timestamp_add_interval(t, v, out);
}
static enum status date_interval(int32_t d, IV v, bool minus, TS *out)
{
    TS t = 0;
    enum status s = date_to_stamp(d, &t);
    return s ? s : stamp_move(t, v, minus, false, out);
}
KERNEL2(k_timestamp_pl_interval, TS, IV, TS, CHECK_ROW(stamp_move(a, b, false, false, &r)))
KERNEL2(k_timestamp_mi_interval, TS, IV, TS, CHECK_ROW(stamp_move(a, b, true, false, &r)))
KERNEL2(k_timestamptz_pl_interval, TS, IV, TS, CHECK_ROW(stamp_move(a, b, false, true, &r)))
KERNEL2(k_timestamptz_mi_interval, TS, IV, TS, CHECK_ROW(stamp_move(a, b, true, true, &r)))
KERNEL2(k_interval_pl_timestamp, IV, TS, TS, CHECK_ROW(stamp_move(b, a, false, false, &r)))
KERNEL2(k_interval_pl_timestamptz, IV, TS, TS, CHECK_ROW(stamp_move(b, a, false, true, &r)))
KERNEL2(k_date_pl_interval, int32_t, IV, TS, CHECK_ROW(date_interval(a, b, false, &r)))
KERNEL2(k_date_mi_interval, int32_t, IV, TS, CHECK_ROW(date_interval(a, b, true, &r)))
KERNEL2(k_interval_pl_date, IV, int32_t, TS, CHECK_ROW(date_interval(b, a, false, &r)))
static TS time_wrap(TS t) { t %= US_DAY; return t < 0 ? t + US_DAY : t; }
KERNEL2(k_time_pl_interval, TS, IV, TS, r = time_wrap(a + b.us % US_DAY))
KERNEL2(k_time_mi_interval, TS, IV, TS, r = time_wrap(a - b.us % US_DAY))
KERNEL2(k_interval_pl_time, IV, TS, TS, r = time_wrap(b + a.us % US_DAY))
KERNEL2(k_time_mi_time, TS, TS, IV, r = (IV){.us = a - b})

/* Days whole, the rest as time of one sign. */
static IV justify_hours(IV v)
{
    int64_t days = v.us / US_DAY;
    v.us -= days * US_DAY;
    v.days += (int32_t)days;
    if (v.days > 0 && v.us < 0) {
        v.us += US_DAY;
        v.days--;
    } else if (v.days < 0 && v.us > 0) {
        v.us -= US_DAY;
        v.days++;
    }
    return v;
}
static IV justify_days(IV v)
{
    int32_t months = v.days / 30;
    v.days -= months * 30;
    v.months += months;
    if (v.months > 0 && v.days < 0) {
        v.days += 30;
        v.months--;
    } else if (v.months < 0 && v.days > 0) {
        v.days -= 30;
        v.months++;
    }
    return v;
}
static IV justify(IV v)
{
    if ((v.days > 0 && v.us > 0) || (v.days < 0 && v.us < 0)) {
        int32_t months = v.days / 30;
        v.days -= months * 30;
        v.months += months;
    }
    int64_t days = v.us / US_DAY;
    v.us -= days * US_DAY;
    v.days += (int32_t)days;
    int32_t months = v.days / 30;
    v.days -= months * 30;
    v.months += months;
    if (v.months > 0 && (v.days < 0 || (v.days == 0 && v.us < 0))) {
        v.days += 30;
        v.months--;
    } else if (v.months < 0 && (v.days > 0 || (v.days == 0 && v.us > 0))) {
        v.days -= 30;
        v.months++;
    }
    if (v.days > 0 && v.us < 0) {
        v.us += US_DAY;
        v.days--;
    } else if (v.days < 0 && v.us > 0) {
        v.us -= US_DAY;
        v.days++;
    }
    return v;
}
static enum status difference(TS a, TS b, IV *out)
{
    if (!TIMESTAMP_FINITE(a) || !TIMESTAMP_FINITE(b))
        return error_set(STATUS_DATETIME_OVERFLOW, "cannot subtract infinite timestamps");
    *out = (IV){0};
    if (__builtin_sub_overflow(a, b, &out->us))
        return interval_range();
    *out = justify_hours(*out);
    return STATUS_OK;
}
KERNEL2(k_timestamp_mi, TS, TS, IV, CHECK_ROW(difference(a, b, &r)))
KERNEL1(k_interval_um, IV, IV, CHECK_ROW(negate(a, &r)))
KERNEL2(k_interval_pl, IV, IV, IV, CHECK_ROW(add(a, b, &r)))
KERNEL2(k_interval_mi, IV, IV, IV, CHECK_ROW(subtract(a, b, &r)))
KERNEL2(k_interval_mul, IV, double, IV, CHECK_ROW(interval_multiply(a, b, &r)))
KERNEL2(k_mul_d_interval, double, IV, IV, CHECK_ROW(interval_multiply(b, a, &r)))
KERNEL2(k_interval_div, IV, double, IV, CHECK_ROW(interval_divide(a, b, &r)))
KERNEL1(k_interval_justify_hours, IV, IV, r = justify_hours(a))
KERNEL1(k_interval_justify_days, IV, IV, r = justify_days(a))
KERNEL1(k_interval_justify_interval, IV, IV, r = justify(a))
#define ORDERED(NAME, T, GREATER) KERNEL2(k_##NAME##_larger, T, T, T, r = (GREATER) > 0 ? a : b) KERNEL2(k_##NAME##_smaller, T, T, T, r = (GREATER) < 0 ? a : b)
ORDERED(date, int32_t, (a > b) - (a < b))
ORDERED(time, TS, (a > b) - (a < b))
ORDERED(timestamp, TS, (a > b) - (a < b))
ORDERED(interval, IV, (interval_span(a) > interval_span(b)) - (interval_span(a) < interval_span(b)))

KERNEL1(k_date_finite, int32_t, uint8_t, r = DATE_FINITE(a))
KERNEL1(k_timestamp_finite, TS, uint8_t, r = TIMESTAMP_FINITE(a))
KERNEL1(k_interval_finite, IV, uint8_t, (void)a; r = 1)

/* ---- the clock ---- */

KERNEL0(k_now, TS, r = type_env->now_us)
KERNEL0(k_statement_timestamp, TS, r = type_env->statement_us)
KERNEL0(k_clock_timestamp, TS, r = wall_us() - EPOCH_DAYS * US_DAY)
KERNEL0(k_current_date, int32_t, r = stamp_to_date(timestamp_to_local(type_env->now_us, timezone_current())))
KERNEL0(k_localtimestamp, TS, r = timestamp_to_local(type_env->now_us, timezone_current()))
KERNEL0(k_localtime, TS, r = stamp_to_time(timestamp_to_local(type_env->now_us, timezone_current())))
KERNEL0(k_timeofday, TEXT, struct text_buffer b; text_buffer_open(&b, c->arena); struct moment m; moment_of_timestamptz(wall_us() - EPOCH_DAYS * US_DAY, timezone_current(), &m);
    static const char days[] = "SunMonTueWedThuFriSat"; static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    text_buffer_printf(&b, "%.3s %.3s %02d %02d:%02d:%02d.%06d %d %s", days + 3 * m.weekday, months + 3 * (m.month - 1), m.day, m.hour, m.minute, m.second, m.us, m.year, m.zone);
    r = varlen_of(b.bytes, b.length))

/* ---- AT TIME ZONE ---- */

static enum status at_zone(TEXT name, TS t, bool to_utc, TS *out)
{
    const void *zone;
    int offset;
    bool fixed;
    enum status s = timezone_parse((const char *)name.bytes, name.length, &zone, &offset, &fixed);
    if (s)
        return s;
    if (!TIMESTAMP_FINITE(t))
        *out = t;
    else if (fixed)
        *out = to_utc ? t - offset * US_SECOND : t + offset * US_SECOND;
    else
        *out = to_utc ? timestamp_to_utc(t, zone) : timestamp_to_local(t, zone);
    if (TIMESTAMP_FINITE(t) && (*out < TIMESTAMP_MIN || *out >= TIMESTAMP_END))
        return stamp_range();
    return STATUS_OK;
}
static enum status at_interval(IV v, TS t, bool to_utc, TS *out)
{
    if (v.months || v.days) {
        struct arena *arena = arena_open(NULL, "interval");
        struct text_buffer b;
        text_buffer_open(&b, arena);
        interval_out(v, &b);
        enum status s = error_set(STATUS_INVALID_PARAMETER_VALUE, "interval time zone \"%s\" must not include months or days", b.bytes);
        arena_close(arena);
        return s;
    }
    *out = !TIMESTAMP_FINITE(t) ? t : to_utc ? t - v.us : t + v.us;
    return STATUS_OK;
}
KERNEL2(k_timestamp_zone, TEXT, TS, TS, CHECK_ROW(at_zone(a, b, true, &r)))
KERNEL2(k_timestamptz_zone, TEXT, TS, TS, CHECK_ROW(at_zone(a, b, false, &r)))
KERNEL2(k_timestamp_izone, IV, TS, TS, CHECK_ROW(at_interval(a, b, true, &r)))
KERNEL2(k_timestamptz_izone, IV, TS, TS, CHECK_ROW(at_interval(a, b, false, &r)))

/* ---- fields ---- */

enum field { F_NONE, F_MICROSECONDS, F_MILLISECONDS, F_SECOND, F_MINUTE, F_HOUR, F_DAY, F_WEEK, F_MONTH, F_QUARTER, F_YEAR, F_DECADE, F_CENTURY, F_MILLENNIUM,
             F_EPOCH, F_DOW, F_ISODOW, F_DOY, F_ISOYEAR, F_JULIAN, F_TIMEZONE, F_TIMEZONE_HOUR, F_TIMEZONE_MINUTE };

static enum field field_search(TEXT name)
{
    static const struct { const char *name; enum field field; } fields[] = {
        {"microseconds", F_MICROSECONDS}, {"microsecond", F_MICROSECONDS}, {"us", F_MICROSECONDS}, {"usec", F_MICROSECONDS}, {"usecs", F_MICROSECONDS},
        {"milliseconds", F_MILLISECONDS}, {"millisecond", F_MILLISECONDS}, {"ms", F_MILLISECONDS}, {"msec", F_MILLISECONDS}, {"msecs", F_MILLISECONDS},
        {"second", F_SECOND}, {"seconds", F_SECOND}, {"sec", F_SECOND}, {"secs", F_SECOND}, {"s", F_SECOND}, {"minute", F_MINUTE}, {"minutes", F_MINUTE}, {"min", F_MINUTE},
        {"mins", F_MINUTE}, {"m", F_MINUTE}, {"hour", F_HOUR}, {"hours", F_HOUR}, {"hr", F_HOUR}, {"hrs", F_HOUR}, {"h", F_HOUR}, {"day", F_DAY}, {"days", F_DAY}, {"d", F_DAY},
        {"week", F_WEEK}, {"weeks", F_WEEK}, {"w", F_WEEK}, {"month", F_MONTH}, {"months", F_MONTH}, {"mon", F_MONTH}, {"mons", F_MONTH}, {"quarter", F_QUARTER}, {"qtr", F_QUARTER},
        {"year", F_YEAR}, {"years", F_YEAR}, {"yr", F_YEAR}, {"yrs", F_YEAR}, {"y", F_YEAR}, {"decade", F_DECADE}, {"decades", F_DECADE}, {"dec", F_DECADE}, {"century", F_CENTURY},
        {"centuries", F_CENTURY}, {"c", F_CENTURY}, {"cent", F_CENTURY}, {"millennium", F_MILLENNIUM}, {"millennia", F_MILLENNIUM}, {"mil", F_MILLENNIUM}, {"mils", F_MILLENNIUM},
        {"epoch", F_EPOCH}, {"dow", F_DOW}, {"isodow", F_ISODOW}, {"doy", F_DOY}, {"isoyear", F_ISOYEAR}, {"julian", F_JULIAN}, {"j", F_JULIAN}, {"jd", F_JULIAN}, {"timezone", F_TIMEZONE},
        {"timezone_hour", F_TIMEZONE_HOUR}, {"timezone_h", F_TIMEZONE_HOUR}, {"timezone_minute", F_TIMEZONE_MINUTE}, {"timezone_m", F_TIMEZONE_MINUTE}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == name.length && !strncasecmp(fields[i].name, (const char *)name.bytes, name.length))
            return fields[i].field;
    return F_NONE;
}

/* Every row of a column asks for the same one. */
static enum field field_find(TEXT name)
{
    static _Thread_local struct { char name[16]; uint32_t length; enum field field; } last;
    if (name.length != last.length || memcmp(name.bytes, last.name, name.length) != 0) {
        enum field found = field_search(name);
        if (name.length > sizeof last.name)
            return found;
        memcpy(last.name, name.bytes, name.length);
        last.length = name.length;
        last.field = found;
    }
    return last.field;
}

static enum status bad_unit(TEXT name, uint32_t type, bool known)
{
    char lower[64];
    size_t n = name.length < sizeof lower - 1 ? name.length : sizeof lower - 1;
    for (size_t i = 0; i < n; i++)
        lower[i] = (char)tolower(name.bytes[i]);
    lower[n] = 0;
    const char *sql = type_info(type)->sql_name;
    if (known)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "unit \"%s\" not supported for type %s", lower, sql);
    return error_set(STATUS_INVALID_PARAMETER_VALUE, "unit \"%s\" not recognized for type %s", lower, sql);
}

/* A field's value as whole and scaled: value * 10^-scale, so that both numeric and float8 can be made of it. */
struct part { __int128 value; int scale; int special; bool null; };    /* special: 1 infinity, -1 minus infinity */

static int century(int year) { return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100); }
static int millennium(int year) { return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000); }
static int decade(int year) { return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10); }
static int shown(int year) { return year > 0 ? year : year - 1; }

static struct part whole(int64_t v) { return (struct part){.value = v}; }

static bool moment_part(enum field f, const struct moment *m, struct part *out)
{
    switch (f) {
    case F_MICROSECONDS: *out = whole(m->second * INT64_C(1000000) + m->us); return true;
    case F_MILLISECONDS: *out = (struct part){.value = m->second * INT64_C(1000000) + m->us, .scale = 3}; return true;
    case F_SECOND: *out = (struct part){.value = m->second * INT64_C(1000000) + m->us, .scale = 6}; return true;
    case F_MINUTE: *out = whole(m->minute); return true;
    case F_HOUR: *out = whole(m->hour); return true;
    case F_DAY: *out = whole(m->day); return true;
    case F_MONTH: *out = whole(m->month); return true;
    case F_QUARTER: *out = whole((m->month - 1) / 3 + 1); return true;
    case F_WEEK: *out = whole(iso_week(m->year, m->month, m->day, NULL)); return true;
    case F_YEAR: *out = whole(shown(m->year)); return true;
    case F_DECADE: *out = whole(decade(m->year)); return true;
    case F_CENTURY: *out = whole(century(m->year)); return true;
    case F_MILLENNIUM: *out = whole(millennium(m->year)); return true;
    case F_DOW: *out = whole(m->weekday); return true;
    case F_ISODOW: *out = whole(m->weekday ? m->weekday : 7); return true;
    case F_DOY: *out = whole(m->yearday); return true;
    case F_ISOYEAR: { int y; iso_week(m->year, m->month, m->day, &y); *out = whole(shown(y)); return true; }
    default: return false;
    }
}

static enum status stamp_part(TEXT name, TS t, uint32_t type, struct part *out)
{
    enum field f = field_find(name);
    bool zoned = type == OID_TIMESTAMPTZ;
    struct moment m;
    *out = (struct part){0};
    if (f == F_NONE)
        return bad_unit(name, type, false);
    if (!TIMESTAMP_FINITE(t)) {
        switch (f) {
        case F_YEAR: case F_DECADE: case F_CENTURY: case F_MILLENNIUM: case F_JULIAN: case F_ISOYEAR: case F_EPOCH: out->special = t == TIMESTAMP_INFINITY ? 1 : -1; return STATUS_OK;
        case F_TIMEZONE: case F_TIMEZONE_HOUR: case F_TIMEZONE_MINUTE:
            if (!zoned)
                return bad_unit(name, type, true);
            /* fallthrough */
        default: out->null = true; return STATUS_OK;
        }
    }
    if (f == F_EPOCH) {
        *out = (struct part){.value = (__int128)t + (__int128)EPOCH_DAYS * US_DAY, .scale = 6};
        return STATUS_OK;
    }
    if (!(zoned ? moment_of_timestamptz(t, timezone_current(), &m) : moment_of_timestamp(t, &m)))
        return stamp_range();
    if (moment_part(f, &m, out))
        return STATUS_OK;
    if (f == F_JULIAN) {
        int64_t us = m.hour * US_HOUR + m.minute * US_MINUTE + m.second * US_SECOND + m.us;
        /* days and a fraction of a day: us / 86400000000 has no short decimal; PostgreSQL divides numerics */
        struct numeric a, b, q;
        numeric_set(&a, us, 0);
        numeric_set(&b, US_DAY, 0);
        numeric_div_scale(&a, &b, numeric_select_div_scale(&a, &b), &q);
        *out = (struct part){.value = (__int128)(days_from_civil(m.year, m.month, m.day) + 2451545) * pow10_128[q.scale] + q.small, .scale = q.scale};
        return STATUS_OK;
    }
    if (!zoned)
        return bad_unit(name, type, true);
    switch (f) {
    case F_TIMEZONE: *out = whole(m.offset); return STATUS_OK;
    case F_TIMEZONE_HOUR: *out = whole(m.offset / 3600); return STATUS_OK;
    case F_TIMEZONE_MINUTE: *out = whole(m.offset / 60 % 60); return STATUS_OK;
    default: return bad_unit(name, type, true);
    }
}

static enum status date_part(TEXT name, int32_t d, struct part *out)
{
    enum field f = field_find(name);
    struct moment m = {0};
    *out = (struct part){0};
    if (f == F_NONE)
        return bad_unit(name, OID_DATE, false);
    if (f == F_MICROSECONDS || f == F_MILLISECONDS || f == F_SECOND || f == F_MINUTE || f == F_HOUR || f == F_TIMEZONE || f == F_TIMEZONE_HOUR || f == F_TIMEZONE_MINUTE)
        return bad_unit(name, OID_DATE, true);
    if (!DATE_FINITE(d)) {
        switch (f) {
        case F_YEAR: case F_DECADE: case F_CENTURY: case F_MILLENNIUM: case F_JULIAN: case F_ISOYEAR: case F_EPOCH: out->special = d == DATE_INFINITY ? 1 : -1; return STATUS_OK;
        default: out->null = true; return STATUS_OK;
        }
    }
    if (f == F_EPOCH)
        *out = whole(((int64_t)d + EPOCH_DAYS) * 86400);
    else if (f == F_JULIAN)
        *out = whole((int64_t)d + 2451545);
    else {
        civil_from_days(d, &m.year, &m.month, &m.day);
        m.weekday = iso_weekday(d) % 7;
        m.yearday = d - days_from_civil(m.year, 1, 1) + 1;
        moment_part(f, &m, out);
    }
    return STATUS_OK;
}

static enum status time_part(TEXT name, TS t, struct part *out)
{
    enum field f = field_find(name);
    if (f == F_NONE)
        return bad_unit(name, OID_TIME, false);
    struct moment m = {.hour = (int)(t / US_HOUR), .minute = (int)(t / US_MINUTE % 60), .second = (int)(t / US_SECOND % 60), .us = (int)(t % US_SECOND)};
    if (f == F_EPOCH)
        *out = (struct part){.value = t, .scale = 6};
    else if (f == F_MICROSECONDS || f == F_MILLISECONDS || f == F_SECOND || f == F_MINUTE || f == F_HOUR)
        moment_part(f, &m, out);
    else
        return bad_unit(name, OID_TIME, true);
    return STATUS_OK;
}

static enum status interval_part(TEXT name, IV v, struct part *out)
{
    enum field f = field_find(name);
    *out = (struct part){0};
    if (f == F_NONE)
        return bad_unit(name, OID_INTERVAL, false);
    int years = v.months / 12;
    switch (f) {
    case F_MICROSECONDS: *out = whole(v.us % US_MINUTE); break;
    case F_MILLISECONDS: *out = (struct part){.value = v.us % US_MINUTE, .scale = 3}; break;
    case F_SECOND: *out = (struct part){.value = v.us % US_MINUTE, .scale = 6}; break;
    case F_MINUTE: *out = whole(v.us / US_MINUTE % 60); break;
    case F_HOUR: *out = whole(v.us / US_HOUR); break;
    case F_DAY: *out = whole(v.days); break;
    case F_MONTH: *out = whole(v.months % 12); break;
    case F_QUARTER: *out = whole(v.months % 12 / 3 + 1); break;
    case F_YEAR: *out = whole(years); break;
    case F_DECADE: *out = whole(years / 10); break;
    case F_CENTURY: *out = whole(years / 100); break;
    case F_MILLENNIUM: *out = whole(years / 1000); break;
    /* A year is 365.25 days here, a month 30. */
    case F_EPOCH:
        *out = (struct part){.value = ((__int128)years * 31557600 + (__int128)(v.months % 12) * 30 * 86400 + (__int128)v.days * 86400) * 1000000 + v.us, .scale = 6};
        break;
    default: return bad_unit(name, OID_INTERVAL, true);
    }
    return STATUS_OK;
}

static void part_numeric(const struct part *p, struct numeric *out)
{
    if (p->special)
        numeric_set_special(out, p->special > 0 ? NUMERIC_PINF : NUMERIC_NINF);
    else
        numeric_set(out, p->value, p->scale);
}
static double part_double(const struct part *p)
{
    struct numeric n;
    part_numeric(p, &n);
    return numeric_to_double(&n);
}
#define PARTS(EXTRACT, PART, T, CALL) \
    KERNEL2(k_##EXTRACT, TEXT, T, TEXT, struct part p; struct numeric n; CHECK_ROW(CALL); if (p.null) GIVE_NULL; part_numeric(&p, &n); r = numeric_varlen(&n, c->arena)) \
    KERNEL2(k_##PART, TEXT, T, double, struct part p; CHECK_ROW(CALL); if (p.null) GIVE_NULL; r = part_double(&p))
PARTS(extract_timestamp, timestamp_part, TS, stamp_part(a, b, OID_TIMESTAMP, &p))
PARTS(extract_timestamptz, timestamptz_part, TS, stamp_part(a, b, OID_TIMESTAMPTZ, &p))
PARTS(extract_date, date_part, int32_t, date_part(a, b, &p))
PARTS(extract_time, time_part, TS, time_part(a, b, &p))
PARTS(extract_interval, interval_part, IV, interval_part(a, b, &p))

/* ---- date_trunc, date_bin ---- */

static enum status trunc_moment(enum field f, TEXT name, uint32_t type, struct moment *m)
{
    switch (f) {
    case F_WEEK: {
        int days = days_from_civil(m->year, m->month, m->day);
        civil_from_days(days - iso_weekday(days) + 1, &m->year, &m->month, &m->day);
        m->hour = m->minute = m->second = m->us = 0;
        return STATUS_OK;
    }
    case F_MILLENNIUM: m->year = m->year > 0 ? (m->year + 999) / 1000 * 1000 - 999 : -((999 - (m->year - 1)) / 1000) * 1000 + 1; break;
    case F_CENTURY: m->year = m->year > 0 ? (m->year + 99) / 100 * 100 - 99 : -((99 - (m->year - 1)) / 100) * 100 + 1; break;
    case F_DECADE: m->year = m->year > 0 ? m->year / 10 * 10 : -((8 - (m->year - 1)) / 10) * 10; break;
    case F_YEAR: break;
    case F_QUARTER: m->month = (m->month - 1) / 3 * 3 + 1; m->day = 1; m->hour = m->minute = m->second = m->us = 0; return STATUS_OK;
    case F_MONTH: m->day = 1; m->hour = m->minute = m->second = m->us = 0; return STATUS_OK;
    case F_DAY: m->hour = m->minute = m->second = m->us = 0; return STATUS_OK;
    case F_HOUR: m->minute = m->second = m->us = 0; return STATUS_OK;
    case F_MINUTE: m->second = m->us = 0; return STATUS_OK;
    case F_SECOND: m->us = 0; return STATUS_OK;
    case F_MILLISECONDS: m->us = m->us / 1000 * 1000; return STATUS_OK;
    case F_MICROSECONDS: return STATUS_OK;
    case F_TIMEZONE: case F_TIMEZONE_HOUR: case F_TIMEZONE_MINUTE: return bad_unit(name, type, true);
    default: return bad_unit(name, type, false);
    }
    m->month = m->day = 1;
    m->hour = m->minute = m->second = m->us = 0;
    return STATUS_OK;
}
static enum status stamp_trunc(TEXT name, TS t, const void *zone, TS *out)
{
    struct moment m;
    *out = t;
    enum field f = field_find(name);
    uint32_t type = zone ? OID_TIMESTAMPTZ : OID_TIMESTAMP;
    if (f == F_NONE)
        return bad_unit(name, type, false);
    if (!TIMESTAMP_FINITE(t))
        return STATUS_OK;
    if (!(zone ? moment_of_timestamptz(t, zone, &m) : moment_of_timestamp(t, &m)))
        return stamp_range();
    enum status s = trunc_moment(f, name, type, &m);
    if (!s)
        s = timestamp_of_moment(&m, out);
    if (s || !zone)
        return s;
    /* From days up the offset is that of the new local time; below, the one it had. */
    *out = f >= F_DAY ? timestamp_to_utc(*out, zone) : *out - m.offset * US_SECOND;
    return STATUS_OK;
}
static enum status zone_named(TEXT name, const void **zone)
{
    int offset;
    bool fixed;
    enum status s = timezone_parse((const char *)name.bytes, name.length, zone, &offset, &fixed);
    if (!s && fixed) {
        char text[16];
        snprintf(text, sizeof text, "%c%02d:%02d", offset < 0 ? '-' : '+', abs(offset) / 3600 % 100, abs(offset) / 60 % 60);
        *zone = datetime_zone_find(text, NULL);
        if (!*zone)
            s = error_set(STATUS_INVALID_PARAMETER_VALUE, "time zone \"%.*s\" not recognized", (int)name.length, name.bytes);
    }
    return s;
}
KERNEL2(k_timestamp_trunc, TEXT, TS, TS, CHECK_ROW(stamp_trunc(a, b, NULL, &r)))
KERNEL2(k_timestamptz_trunc, TEXT, TS, TS, CHECK_ROW(stamp_trunc(a, b, timezone_current(), &r)))
KERNEL3(k_timestamptz_trunc_zone, TEXT, TS, TEXT, TS, const void *zone; CHECK_ROW(zone_named(d, &zone)); CHECK_ROW(stamp_trunc(a, b, zone, &r)))

static enum status interval_trunc(TEXT name, IV v, IV *out)
{
    enum field f = field_find(name);
    *out = v;
    switch (f) {
    case F_MILLENNIUM: out->months = v.months / 12000 * 12000; out->days = 0; out->us = 0; break;
    case F_CENTURY: out->months = v.months / 1200 * 1200; out->days = 0; out->us = 0; break;
    case F_DECADE: out->months = v.months / 120 * 120; out->days = 0; out->us = 0; break;
    case F_YEAR: out->months = v.months / 12 * 12; out->days = 0; out->us = 0; break;
    case F_QUARTER: out->months = v.months / 3 * 3; out->days = 0; out->us = 0; break;
    case F_MONTH: out->days = 0; out->us = 0; break;
    case F_DAY: out->us = 0; break;
    case F_HOUR: out->us = v.us / US_HOUR * US_HOUR; break;
    case F_MINUTE: out->us = v.us / US_MINUTE * US_MINUTE; break;
    case F_SECOND: out->us = v.us / US_SECOND * US_SECOND; break;
    case F_MILLISECONDS: out->us = v.us / 1000 * 1000; break;
    case F_MICROSECONDS: break;
    case F_WEEK: {
        enum status s = bad_unit(name, OID_INTERVAL, true);
        error_detail("Months usually have fractional weeks.");
        return s;
    }
    case F_TIMEZONE: case F_TIMEZONE_HOUR: case F_TIMEZONE_MINUTE: return bad_unit(name, OID_INTERVAL, true);
    default: return bad_unit(name, OID_INTERVAL, false);
    }
    return STATUS_OK;
}
KERNEL2(k_interval_trunc, TEXT, IV, IV, CHECK_ROW(interval_trunc(a, b, &r)))

static enum status bin(IV stride, TS t, TS origin, TS *out)
{
    *out = t;
    if (!TIMESTAMP_FINITE(t))
        return STATUS_OK;
    if (!TIMESTAMP_FINITE(origin))
        return error_set(STATUS_DATETIME_OVERFLOW, "origin out of range");
    if (stride.months)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "timestamps cannot be binned into intervals containing months or years");
    int64_t us, distance;
    if (__builtin_add_overflow(stride.days * US_DAY, stride.us, &us))
        return interval_range();
    if (us <= 0)
        return error_set(STATUS_DATETIME_OVERFLOW, "stride must be greater than zero");
    if (__builtin_sub_overflow(t, origin, &distance))
        return interval_range();
    int64_t steps = distance / us;
    if (distance % us < 0)
        steps--;
    *out = origin + steps * us;
    return STATUS_OK;
}
KERNEL3(k_timestamp_bin, IV, TS, TS, TS, CHECK_ROW(bin(a, b, d, &r)))
KERNEL3(k_timestamptz_bin, IV, TS, TS, TS, CHECK_ROW(bin(a, b, d, &r)))

/* ---- age: years, months and days as one counts them on the calendar ---- */

static enum status age(TS a, TS b, IV *out)
{
    struct moment x, y;
    if (!TIMESTAMP_FINITE(a) || !TIMESTAMP_FINITE(b))
        return stamp_range();
    if (!moment_of_timestamp(a, &x) || !moment_of_timestamp(b, &y))
        return stamp_range();
    bool negative = a < b;
    if (negative) {
        struct moment t = x;
        x = y;
        y = t;
    }
    int64_t us = (x.hour - y.hour) * US_HOUR + (x.minute - y.minute) * US_MINUTE + (x.second - y.second) * US_SECOND + (x.us - y.us);
    int days = x.day - y.day, months = (x.year - y.year) * 12 + x.month - y.month;
    if (us < 0) {
        us += US_DAY;
        days--;
    }
    /* A borrowed month is as long as the earlier date's. */
    for (int year = y.year, month = y.month; days < 0; months--) {
        if (negative) {
            days += month_days(year, month);
        } else {
            days += month_days(y.year, y.month);
        }
    }
    if (negative) {
        us = -us;
        days = -days;
        months = -months;
    }
    *out = (IV){.us = us, .days = days, .months = months};
    return STATUS_OK;
}
static TS midnight(void)
{
    TS now = timestamp_to_local(type_env->now_us, timezone_current());
    return floor_day(now) * US_DAY;
}
KERNEL2(k_timestamp_age, TS, TS, IV, CHECK_ROW(age(a, b, &r)))
KERNEL2(k_timestamptz_age, TS, TS, IV, CHECK_ROW(age(timestamp_to_local(a, timezone_current()), timestamp_to_local(b, timezone_current()), &r)))
KERNEL1(k_age_now, TS, IV, CHECK_ROW(age(midnight(), a, &r)))
KERNEL1(k_age_now_tz, TS, IV, CHECK_ROW(age(midnight(), timestamp_to_local(a, timezone_current()), &r)))

/* ---- making ---- */

static enum status make_date(int32_t year, int32_t month, int32_t day, int32_t *out)
{
    int y = year < 0 ? year + 1 : year;
    if (year == 0 || month < 1 || month > 12 || day < 1 || y > 5874897 || y < -4713 || day > month_days(y, month))
        return error_set(STATUS_DATETIME_OVERFLOW, "date field value out of range: %d-%02d-%02d", year, month, day);
    *out = days_from_civil(y, month, day);
    return STATUS_OK;
}
static enum status make_time(int32_t hour, int32_t minute, double second, TS *out)
{
    if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || !(second >= 0 && second <= 60) || (hour == 24 && (minute || second > 0)))
        return error_set(STATUS_DATETIME_OVERFLOW, "time field value out of range: %d:%02d:%02g", hour, minute, second);
    *out = hour * US_HOUR + minute * US_MINUTE + (int64_t)rint(second * 1e6);
    return STATUS_OK;
}
KERNEL3(k_make_date, int32_t, int32_t, int32_t, int32_t, CHECK_ROW(make_date(a, b, d, &r)))
KERNEL3(k_make_time, int32_t, int32_t, double, TS, CHECK_ROW(make_time(a, b, d, &r)))
static enum status make_stamp(struct kernel_call *c, size_t i, TS *out)
{
    int32_t day;
    TS time;
    enum status s = make_date(VECTOR(int32_t, &c->args[0], i), VECTOR(int32_t, &c->args[1], i), VECTOR(int32_t, &c->args[2], i), &day);
    if (!s)
        s = make_time(VECTOR(int32_t, &c->args[3], i), VECTOR(int32_t, &c->args[4], i), VECTOR(double, &c->args[5], i), &time);
    if (!s)
        s = date_to_stamp(day, out);
    if (!s)
        *out += time;
    return s;
}
KERNEL0(k_make_timestamp, TS, CHECK_ROW(make_stamp(c, i, &r)))
KERNEL0(k_make_timestamptz, TS, CHECK_ROW(make_stamp(c, i, &r)); r = timestamp_to_utc(r, timezone_current()))
KERNEL0(k_make_timestamptz_at_timezone, TS, CHECK_ROW(make_stamp(c, i, &r)); CHECK_ROW(at_zone(VECTOR(TEXT, &c->args[6], i), r, true, &r)))
static enum status make_interval(struct kernel_call *c, size_t i, IV *out)
{
    int32_t v[6] = {0};
    double seconds = 0;
    for (int k = 0; k < 6 && k < c->arg_count; k++)
        v[k] = VECTOR(int32_t, &c->args[k], i);
    if (c->arg_count > 6)
        seconds = VECTOR(double, &c->args[6], i);
    int64_t months = (int64_t)v[0] * 12 + v[1], days = (int64_t)v[2] * 7 + v[3];
    if (months != (int32_t)months || days != (int32_t)days || !isfinite(seconds) || fabs(seconds) > 9e12)
        return interval_range();
    *out = (IV){.us = v[4] * US_HOUR + v[5] * US_MINUTE + (int64_t)rint(seconds * 1e6), .days = (int32_t)days, .months = (int32_t)months};
    return STATUS_OK;
}
KERNEL0(k_make_interval, IV, CHECK_ROW(make_interval(c, i, &r)))
static enum status from_epoch(double d, TS *out)
{
    if (isnan(d))
        return error_set(STATUS_DATETIME_OVERFLOW, "timestamp cannot be NaN");
    if (isinf(d)) {
        *out = d > 0 ? TIMESTAMP_INFINITY : TIMESTAMP_NEGATIVE_INFINITY;
        return STATUS_OK;
    }
    double us = (d - EPOCH_DAYS * 86400.0) * 1e6;
    if (us < (double)TIMESTAMP_MIN || us >= (double)TIMESTAMP_END)
        return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range: \"%g\"", d);
    *out = (int64_t)rint(us);
    return STATUS_OK;
}
KERNEL1(k_float8_timestamptz, double, TS, CHECK_ROW(from_epoch(a, &r)))

/* ---- OVERLAPS: two spans, ends in any order; a null end of one may still be decided ---- */

static enum status overlaps(struct kernel_call *c, int64_t (*read)(const struct vector *, size_t))
{
    uint8_t *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        int64_t v[4];
        bool null[4];
        for (int k = 0; k < 4; k++) {
            null[k] = vector_null(&c->args[k], i);
            v[k] = null[k] ? 0 : read(&c->args[k], i);
        }
        bool unknown = false, result = false;
        for (int k = 0; k < 4 && !unknown; k += 2) {
            if (null[k] && null[k + 1])
                unknown = true;
            else if (null[k]) {
                v[k] = v[k + 1];
                null[k] = false;
                null[k + 1] = true;
            } else if (!null[k + 1] && v[k] > v[k + 1]) {
                int64_t t = v[k];
                v[k] = v[k + 1];
                v[k + 1] = t;
            }
        }
        if (!unknown) {
            if (v[0] == v[2]) {
                result = true;
                unknown = null[1] || null[3];
            } else {
                int first = v[0] > v[2] ? 2 : 0, other = 2 - first;      /* the span that begins first */
                if (null[first + 1])
                    unknown = true;
                else if (v[other] < v[first + 1])
                    result = true;
                else
                    result = false;
                if (result && null[other + 1])
                    unknown = true;
            }
        }
        out[i] = result;
        if (unknown) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = 0;
        }
    }
    return STATUS_OK;
}
static int64_t read_stamp(const struct vector *v, size_t i) { return VECTOR(int64_t, v, i); }
enum status k_overlaps_timestamp(struct kernel_call *c) { return overlaps(c, read_stamp); }
enum status k_overlaps_time(struct kernel_call *c) { return overlaps(c, read_stamp); }
