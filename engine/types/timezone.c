/* engine/types/timezone.c - time zones, read from the system's tz database (TZif files under /usr/share/zoneinfo).
 *
 * A zone is loaded once, when first named, and kept for good in a list that only grows: readers walk it without a latch,
 * a loader pushes with compare-and-swap, and two loaders at once leave a harmless twin. After the last transition of the
 * file its POSIX rule (the footer) holds. Names that are no file may be fixed offsets (+05:30, UTC-3) or POSIX rules
 * (EST5EDT). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/atomic.h"
#include "engine/types/internal.h"

#define EPOCH_SECONDS INT64_C(946684800)                  /* 1970 .. 2000 */

struct period { int32_t offset; bool dst; uint8_t name; };
struct rule { int month, week, day, julian; int32_t at; };        /* julian: 0 Mm.w.d, 1 Jn, 2 n */
struct zone {
    struct zone *next;
    char *name;                          /* as found: canonical */
    size_t count;
    int64_t *times;                      /* seconds since 1970 */
    uint8_t *types;
    struct period *periods;
    size_t period_count;
    char *names;
    int first;                           /* period before the first transition */
    bool has_rule, rule_dst;             /* the POSIX rule */
    struct period standard, summer;
    char standard_name[16], summer_name[16];
    struct rule begin, end;
};
static _Atomic(struct zone *) zones;

/* ---- POSIX rules ---- */

static bool rule_name(const char **p, char out[16])
{
    size_t n = 0;
    if (**p == '<') {
        for ((*p)++; **p && **p != '>'; (*p)++)
            if (n < 15)
                out[n++] = **p;
        if (**p != '>')
            return false;
        (*p)++;
    } else
        for (; isalpha((unsigned char)**p); (*p)++)
            if (n < 15)
                out[n++] = **p;
    out[n] = 0;
    return n >= 3;
}

static bool rule_number(const char **p, int *out)
{
    if (!isdigit((unsigned char)**p))
        return false;
    for (*out = 0; isdigit((unsigned char)**p); (*p)++) {
        *out = *out * 10 + (**p - '0');
        if (*out > 100000)
            return false;
    }
    return true;
}

static bool rule_time(const char **p, int32_t *out)
{
    int sign = 1, h, m = 0, s = 0;
    if (**p == '-' || **p == '+')
        sign = *(*p)++ == '-' ? -1 : 1;
    if (!rule_number(p, &h) || h > 167)
        return false;
    if (**p == ':' && (++*p, !rule_number(p, &m)))
        return false;
    if (**p == ':' && (++*p, !rule_number(p, &s)))
        return false;
    *out = sign * (h * 3600 + m * 60 + s);
    return true;
}

static bool rule_date(const char **p, struct rule *r)
{
    *r = (struct rule){.at = 7200};
    if (**p == 'M') {
        (*p)++;
        if (!rule_number(p, &r->month) || *(*p)++ != '.' || !rule_number(p, &r->week) || *(*p)++ != '.' || !rule_number(p, &r->day))
            return false;
    } else {
        r->julian = 2;
        if (**p == 'J') {
            r->julian = 1;
            (*p)++;
        }
        if (!rule_number(p, &r->day))
            return false;
    }
    if (**p == '/') {
        (*p)++;
        return rule_time(p, &r->at);
    }
    return true;
}

static bool parse_rule(const char *text, struct zone *z)
{
    const char *p = text;
    int32_t offset;
    if (!rule_name(&p, z->standard_name) || !rule_time(&p, &offset))
        return false;
    z->standard = (struct period){-offset, false, 0};
    z->has_rule = true;
    if (!*p)
        return true;
    if (!rule_name(&p, z->summer_name))
        return false;
    z->rule_dst = true;
    z->summer = (struct period){-offset + 3600, true, 0};
    if (*p && *p != ',') {
        if (!rule_time(&p, &offset))
            return false;
        z->summer.offset = -offset;
    }
    if (!*p) {                                                /* the American rule */
        p = ",M3.2.0,M11.1.0";
    }
    return *p++ == ',' && rule_date(&p, &z->begin) && *p++ == ',' && rule_date(&p, &z->end) && !*p;
}

/* Seconds from the year's start, local, at which the rule strikes. */
static int64_t rule_second(const struct rule *r, int year)
{
    int start = days_from_civil(year, 1, 1), day;
    if (r->julian == 1)
        day = r->day - 1 + (leap_year(year) && r->day >= 60);
    else if (r->julian == 2)
        day = r->day;
    else {
        int first = days_from_civil(year, r->month, 1);
        int weekday = iso_weekday(first) % 7;
        int d = (r->day - weekday + 7) % 7 + (r->week - 1) * 7;
        while (d >= month_days(year, r->month))
            d -= 7;
        day = first - start + d;
    }
    return (int64_t)day * 86400 + r->at;
}

static const struct period *rule_period(const struct zone *z, int64_t t)
{
    if (!z->rule_dst)
        return &z->standard;
    int year, month, day;
    int64_t local = t + z->standard.offset - EPOCH_SECONDS;
    int64_t days = local >= 0 ? local / 86400 : -((86399 - local) / 86400);
    civil_from_days((int)days, &year, &month, &day);
    int64_t start = (int64_t)days_from_civil(year, 1, 1) * 86400 + EPOCH_SECONDS;
    int64_t begin = start + rule_second(&z->begin, year) - z->standard.offset, end = start + rule_second(&z->end, year) - z->summer.offset;
    bool dst = begin < end ? t >= begin && t < end : !(t >= end && t < begin);
    return dst ? &z->summer : &z->standard;
}

/* ---- files ---- */

static int64_t big(const uint8_t *p, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | p[i];
    return bytes == 4 ? (int32_t)v : (int64_t)v;
}

static bool read_block(const uint8_t *p, size_t left, int width, struct zone *z, size_t *used)
{
    if (left < 44 || memcmp(p, "TZif", 4))
        return false;
    size_t utc = (size_t)big(p + 20, 4), std = (size_t)big(p + 24, 4), leap = (size_t)big(p + 28, 4), times = (size_t)big(p + 32, 4), types = (size_t)big(p + 36, 4),
           chars = (size_t)big(p + 40, 4);
    size_t bytes = 44 + times * (size_t)width + times + types * 6 + chars + leap * ((size_t)width + 4) + std + utc;
    if (times > 100000 || types > 256 || chars > 10000 || left < bytes || !types)
        return false;
    *used = bytes;
    if (!z)
        return true;
    const uint8_t *q = p + 44;
    z->count = times;
    z->times = malloc(times * sizeof *z->times + 1);
    z->types = malloc(times + 1);
    z->period_count = types;
    z->periods = malloc(types * sizeof *z->periods);
    z->names = malloc(chars + 1);
    ASSERT(z->times && z->types && z->periods && z->names);
    for (size_t i = 0; i < times; i++)
        z->times[i] = big(q + i * (size_t)width, width);
    q += times * (size_t)width;
    memcpy(z->types, q, times);
    q += times;
    for (size_t i = 0; i < types; i++, q += 6)
        z->periods[i] = (struct period){(int32_t)big(q, 4), q[4] != 0, q[5]};
    memcpy(z->names, q, chars);
    z->names[chars] = 0;
    for (size_t i = 0; i < times; i++)
        if (z->types[i] >= types)
            return false;
    z->first = 0;
    for (size_t i = 0; i < types; i++)
        if (!z->periods[i].dst) {
            z->first = (int)i;
            break;
        }
    return true;
}

static bool load_file(const char *name, struct zone *z)
{
    char path[256];
    if (strlen(name) > 128 || name[0] == '/' || name[0] == '.' || strstr(name, ".."))
        return false;
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    uint8_t *bytes = malloc(1 << 18);
    ASSERT(bytes);
    size_t length = fread(bytes, 1, 1 << 18, f), used = 0;
    fclose(f);
    bool good = length >= 44 && read_block(bytes, length, 4, NULL, &used);
    if (good && bytes[4] >= '2') {
        size_t second;
        good = read_block(bytes + used, length - used, 8, z, &second);
        const uint8_t *footer = bytes + used + (good ? second : 0), *end = bytes + length;
        if (good && footer < end && *footer == '\n') {
            const uint8_t *stop = memchr(footer + 1, '\n', (size_t)(end - footer - 1));
            if (stop && stop > footer + 1) {
                char rule[128] = "";
                size_t n = (size_t)(stop - footer - 1);
                memcpy(rule, footer + 1, n < sizeof rule ? n : sizeof rule - 1);
                if (!parse_rule(rule, z))
                    z->has_rule = z->rule_dst = false;
            }
        }
    } else if (good)
        good = read_block(bytes, length, 4, z, &used);
    free(bytes);
    return good;
}

static struct zone *zone_add(struct zone *z, const char *name)
{
    z->name = strdup(name);
    ASSERT(z->name);
    struct zone *head = atom_load_acquire(&zones);
    do
        z->next = head;
    while (!atom_cas(&zones, &head, z));
    return z;
}

/* America/New_York from any spelling of its letters' case: words of a path or name start high. */
static void spell(const char *name, char *out, size_t room)
{
    bool start = true;
    size_t n = 0;
    for (; *name && n + 1 < room; name++) {
        out[n++] = (char)(start ? toupper((unsigned char)*name) : tolower((unsigned char)*name));
        start = *name == '/' || *name == '_' || *name == '-';
    }
    out[n] = 0;
}

const void *datetime_zone_find(const char *name, const char **canonical)
{
    for (struct zone *z = atom_load_acquire(&zones); z; z = z->next)
        if (!strcasecmp(z->name, name)) {
            if (canonical)
                *canonical = z->name;
            return z;
        }
    struct zone *z = calloc(1, sizeof *z);
    ASSERT(z);
    char spelled[132];
    const char *as = name;
    if (strlen(name) > 128 || !*name)
        goto none;
    if (!strcasecmp(name, "utc") || !strcasecmp(name, "gmt") || !strcasecmp(name, "zulu")) {
        for (size_t i = 0; i <= strlen(name); i++)
            spelled[i] = (char)toupper((unsigned char)name[i]);
        as = spelled;
        parse_rule(!strcmp(as, "GMT") ? "GMT0" : "UTC0", z);
    } else if (!load_file(as, z)) {
        spell(name, spelled, sizeof spelled);
        as = spelled;
        if (!load_file(as, z)) {
            for (size_t i = 0; i <= strlen(name); i++)
                spelled[i] = (char)toupper((unsigned char)name[i]);
            if (!load_file(as, z)) {
                /* +05:30 or -8: hours east, as SET TIME ZONE INTERVAL; UTC+3, EST5EDT: POSIX, hours west. */
                const char *p = name;
                int32_t offset;
                as = name;
                if ((*p == '+' || *p == '-' || isdigit((unsigned char)*p)) && rule_time(&p, &offset) && !*p) {
                    z->has_rule = true;
                    z->standard = (struct period){offset, false, 0};
                    int size = abs(offset);
                    snprintf(z->standard_name, sizeof z->standard_name, size % 3600 ? "%c%02d:%02d" : "%c%02d", offset < 0 ? '-' : '+', size / 3600 % 100, size / 60 % 60);
                    snprintf(spelled, sizeof spelled, "<%s>%s", z->standard_name, z->standard_name);
                    spelled[strlen(z->standard_name) + 2] = offset < 0 ? '+' : '-';
                    as = spelled;
                } else if (!parse_rule(name, z))
                    goto none;
            }
        }
    }
    zone_add(z, as);
    if (strcasecmp(as, name)) {                               /* found again under the name it was asked by */
        struct zone *twin = malloc(sizeof *twin);
        ASSERT(twin);
        *twin = *z;
        zone_add(twin, name);
    }
    if (canonical)
        *canonical = z->name;
    return z;
none:
    free(z);
    return NULL;
}

const void *timezone_utc(void)
{
    static _Atomic(const void *) utc;
    const void *z = atom_load_acquire(&utc);
    if (!z) {
        z = datetime_zone_find("UTC", NULL);
        atom_store_release(&utc, z);
    }
    return z;
}

const void *timezone_current(void) { return type_env->timezone ? type_env->timezone : timezone_utc(); }

static const struct period *period_at(const struct zone *z, int64_t t, const char **name)
{
    if (!z->count || t >= z->times[z->count - 1]) {
        if (z->has_rule) {
            const struct period *p = rule_period(z, t);
            *name = p == &z->summer ? z->summer_name : z->standard_name;
            return p;
        }
        const struct period *p = &z->periods[z->count ? z->types[z->count - 1] : z->first];
        *name = z->names + p->name;
        return p;
    }
    size_t low = 0, high = z->count;                          /* first transition after t */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (z->times[mid] <= t)
            low = mid + 1;
        else
            high = mid;
    }
    const struct period *p = &z->periods[low ? z->types[low - 1] : z->first];
    *name = z->names + p->name;
    return p;
}

int timezone_offset_at(const void *zone, int64_t utc_us, const char **abbreviation, bool *dst)
{
    int64_t s = utc_us >= 0 ? utc_us / US_SECOND : -((US_SECOND - 1 - utc_us) / US_SECOND);
    const char *name;
    const struct period *p = period_at(zone, s + EPOCH_SECONDS, &name);
    if (abbreviation)
        *abbreviation = name;
    if (dst)
        *dst = p->dst;
    return p->offset;
}

int timezone_offset_local(const void *zone, int64_t local_us)
{
    if (local_us < INT64_MIN + 2 * US_DAY || local_us > INT64_MAX - 2 * US_DAY)
        return 0;
    int before = timezone_offset_at(zone, local_us - US_DAY, NULL, NULL), after = timezone_offset_at(zone, local_us + US_DAY, NULL, NULL);
    if (before == after)
        return before;
    bool fits_before = timezone_offset_at(zone, local_us - before * US_SECOND, NULL, NULL) == before;
    bool fits_after = timezone_offset_at(zone, local_us - after * US_SECOND, NULL, NULL) == after;
    /* Twice (clocks set back): the later, standard one. Never (set forward): as if they hadn't been. */
    return fits_after ? after : fits_before ? before : before;
}

int64_t timestamp_to_utc(int64_t local_us, const void *zone)
{
    return TIMESTAMP_FINITE(local_us) ? local_us - timezone_offset_local(zone, local_us) * US_SECOND : local_us;
}
int64_t timestamp_to_local(int64_t utc_us, const void *zone)
{
    return TIMESTAMP_FINITE(utc_us) ? utc_us + timezone_offset_at(zone, utc_us, NULL, NULL) * US_SECOND : utc_us;
}

bool timezone_abbreviation(const char *word, size_t length, int *offset, const void **zone)
{
    static const struct { const char *name; int minutes; } known[] = {
        {"acdt", 630}, {"acst", 570}, {"adt", -180}, {"aedt", 660}, {"aest", 600}, {"akdt", -480}, {"akst", -540}, {"art", -180}, {"ast", -240}, {"awst", 480},
        {"bst", 60}, {"brt", -180}, {"cdt", -300}, {"cest", 120}, {"cet", 60}, {"cst", -360}, {"edt", -240}, {"eest", 180}, {"eet", 120}, {"est", -300},
        {"gmt", 0}, {"hkt", 480}, {"hst", -600}, {"idt", 180}, {"ist", 120}, {"jst", 540}, {"kst", 540}, {"mdt", -360}, {"mest", 120}, {"met", 60},
        {"msd", 240}, {"msk", 180}, {"mst", -420}, {"ndt", -150}, {"nst", -210}, {"nzdt", 780}, {"nzst", 720}, {"pdt", -420}, {"pkt", 300}, {"pst", -480},
        {"sgt", 480}, {"sast", 120}, {"uct", 0}, {"ut", 0}, {"utc", 0}, {"wat", 60}, {"west", 60}, {"wet", 0}, {"wib", 420}, {"z", 0}, {"zulu", 0}};
    *zone = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && !strncasecmp(known[i].name, word, length)) {
            *offset = known[i].minutes * 60;
            return true;
        }
    return false;
}

enum status timezone_parse(const char *name, size_t length, const void **zone, int *offset, bool *fixed)
{
    char text[132];
    *zone = NULL;
    *fixed = true;
    if (timezone_abbreviation(name, length, offset, zone))
        return STATUS_OK;
    if (length && length < sizeof text) {
        memcpy(text, name, length);
        text[length] = 0;
        /* A bare offset in AT TIME ZONE is POSIX's: hours west. */
        const char *p = text;
        int32_t west;
        if ((*p == '+' || *p == '-' || isdigit((unsigned char)*p)) && rule_time(&p, &west) && !*p) {
            *offset = -west;
            return STATUS_OK;
        }
        *zone = datetime_zone_find(text, NULL);
        *fixed = false;
        if (*zone)
            return STATUS_OK;
    }
    return error_set(STATUS_INVALID_PARAMETER_VALUE, "time zone \"%.*s\" not recognized", (int)length, name);
}
