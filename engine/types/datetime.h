/* engine/types/datetime.h - dates, times, intervals and time zones.
 *
 * date is an int32 of days since 2000-01-01, timestamp and timestamptz an int64 of microseconds since 2000-01-01
 * (timestamptz in UTC), time an int64 of microseconds since midnight. The least and the greatest integer are -infinity
 * and infinity. interval is a struct interval. The calendar is the proleptic Gregorian one. */
#ifndef ENGINE_TYPES_DATETIME_H
#define ENGINE_TYPES_DATETIME_H

#include "engine/types/type.h"

struct interval { int64_t us; int32_t days, months; };

#define US_SECOND INT64_C(1000000)
#define US_MINUTE (60 * US_SECOND)
#define US_HOUR (60 * US_MINUTE)
#define US_DAY (24 * US_HOUR)
#define DATE_INFINITY INT32_MAX
#define DATE_NEGATIVE_INFINITY INT32_MIN
#define TIMESTAMP_INFINITY INT64_MAX
#define TIMESTAMP_NEGATIVE_INFINITY INT64_MIN
#define TIMESTAMP_MIN INT64_C(-211813488000000000)
#define TIMESTAMP_END INT64_C(9223371331200000000)
#define DATE_MIN_DAYS (-2451545)
#define DATE_END_DAYS (2147483494 - 2451545)
#define EPOCH_DAYS 10957                 /* 1970-01-01 .. 2000-01-01 */
#define TIMESTAMP_FINITE(t) ((t) != TIMESTAMP_INFINITY && (t) != TIMESTAMP_NEGATIVE_INFINITY)
#define DATE_FINITE(d) ((d) != DATE_INFINITY && (d) != DATE_NEGATIVE_INFINITY)

/* Broken-down time. year counts astronomically (0 is 1 BC). */
struct moment {
    int year, month, day, hour, minute, second, us;
    int weekday, yearday;                /* 0 Sunday; 1 .. 366 */
    int offset;                          /* seconds east of UTC */
    const char *zone;                    /* abbreviation, or NULL */
};

int  days_from_civil(int year, int month, int day);                  /* since 2000-01-01; any year that PostgreSQL knows */
void civil_from_days(int days, int *year, int *month, int *day);
bool leap_year(int year);
int  month_days(int year, int month);
int  iso_week(int year, int month, int day, int *iso_year);
int  iso_weekday(int days);                                          /* 1 Monday .. 7 */

/* Zones: TZif files of the system's tz database, loaded once and kept. */
/* datetime_zone_find (type.h) finds a zone by name. */
int  timezone_offset_at(const void *zone, int64_t utc_us, const char **abbreviation, bool *dst);   /* seconds east */
int  timezone_offset_local(const void *zone, int64_t local_us);      /* of a local time; the earlier reading of a doubtful one counts as PostgreSQL's */
const void *timezone_utc(void);
const void *timezone_current(void);                                  /* type_env's */
bool timezone_abbreviation(const char *word, size_t length, int *offset_seconds, const void **zone);
enum status timezone_parse(const char *name, size_t length, const void **zone, int *offset, bool *fixed);   /* AT TIME ZONE's argument */

bool moment_of_timestamp(int64_t local_us, struct moment *);         /* no zone */
bool moment_of_timestamptz(int64_t utc_us, const void *zone, struct moment *);
enum status timestamp_of_moment(const struct moment *, int64_t *out) MUST_CHECK;      /* local; 22008 outside the range */
int64_t timestamp_to_utc(int64_t local_us, const void *zone);
int64_t timestamp_to_local(int64_t utc_us, const void *zone);

enum status date_in(const char *text, size_t length, int32_t *out) MUST_CHECK;
enum status time_in(const char *text, size_t length, int32_t typmod, int64_t *out) MUST_CHECK;
enum status timestamp_in(const char *text, size_t length, bool with_zone, int32_t typmod, int64_t *out) MUST_CHECK;
enum status interval_in(const char *text, size_t length, int32_t typmod, struct interval *out) MUST_CHECK;
void date_out(int32_t, struct text_buffer *);
void time_out(int64_t, struct text_buffer *);
void timestamp_out(int64_t, bool with_zone, struct text_buffer *);
void interval_out(struct interval, struct text_buffer *);
int64_t time_round(int64_t us, int32_t typmod);                      /* to typmod's digits; infinities stay */
enum status interval_apply_typmod(struct interval *, int32_t typmod) MUST_CHECK;

static inline __int128 interval_span(struct interval v) { return (__int128)v.us + ((__int128)v.days + (__int128)v.months * 30) * US_DAY; }
enum status interval_divide(struct interval, double, struct interval *out) MUST_CHECK;
enum status interval_multiply(struct interval, double, struct interval *out) MUST_CHECK;
enum status timestamp_add_interval(int64_t, struct interval, int64_t *out) MUST_CHECK;
enum status timestamptz_add_interval(int64_t, struct interval, int64_t *out) MUST_CHECK;

#endif
