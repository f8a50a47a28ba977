/* engine/catalog/views_zones.c - pg_timezone_names: the zones of the system's tz database, as they stand now. */
#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/catalog/views_private.h"
#include "engine/types/datetime.h"

#define ROW(sink, ...) do { const struct value row_values[] = {__VA_ARGS__}; enum status row_status = (sink)->row((sink), row_values); if (row_status) return row_status; } while (0)

#define ZONES "/usr/share/zoneinfo"

static enum status zone_row(struct row_sink *sink, const char *name, int64_t now_us)
{
    const char *canonical, *abbreviation;
    bool summer;
    const void *zone = datetime_zone_find(name, &canonical);
    if (!zone)
        return STATUS_OK;
    struct value offset;
    int seconds = timezone_offset_at(zone, now_us, &abbreviation, &summer);
    const char *text = arena_printf(sink->arena, "%d seconds", seconds);
    enum status status = type_in(type_make(OID_INTERVAL, -1), text, strlen(text), sink->arena, &offset);
    if (!status)
        ROW(sink, value_text(arena_strdup(sink->arena, name)), value_text(arena_strdup(sink->arena, abbreviation ? abbreviation : "")), offset, value_bool(summer));
    return status;
}

/* Files of the system's tz database, folder by folder. Names that begin with a small letter are no zones (posix, right, zone.tab). */
static enum status zones_in(struct row_sink *sink, const char *folder, int64_t now_us)
{
    char *path = arena_printf(sink->arena, ZONES "%s%s", *folder ? "/" : "", folder);
    DIR *directory = opendir(path);
    enum status status = STATUS_OK;
    for (struct dirent *entry; !status && directory && (entry = readdir(directory));) {
        struct stat info;
        if (!isupper((unsigned char)entry->d_name[0]) || strlen(folder) + strlen(entry->d_name) > 60)
            continue;
        char *name = arena_printf(sink->arena, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
        if (stat(arena_printf(sink->arena, ZONES "/%s", name), &info))
            continue;
        status = S_ISDIR(info.st_mode) ? zones_in(sink, name, now_us) : zone_row(sink, name, now_us);
    }
    if (directory)
        closedir(directory);
    return status;
}

enum status fill_pg_timezone_names(struct session *session, struct row_sink *sink) { (void)session; return zones_in(sink, "", type_env->now_us); }
