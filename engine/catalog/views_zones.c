/* engine/catalog/views_zones.c - pg_timezone_names, as a view and as a function: the zones of the system's tz database, as they stand now. */
#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/catalog/views_private.h"
#include "engine/types/datetime.h"

#define ZONES "/usr/share/zoneinfo"

struct zone_list { struct arena *arena; int64_t now_us; zone_visit *visit; void *context; };

static enum status zone_row(struct zone_list *list, const char *name)
{
    const char *canonical, *abbreviation;
    bool summer;
    const void *zone = datetime_zone_find(name, &canonical);
    if (!zone)
        return STATUS_OK;
    struct value offset;
    int seconds = timezone_offset_at(zone, list->now_us, &abbreviation, &summer);
    const char *text = arena_printf(list->arena, "%d seconds", seconds);
    enum status status = type_in(type_make(OID_INTERVAL, -1), text, strlen(text), list->arena, &offset);
    const struct value row[4] = {value_text(name), value_text(arena_strdup(list->arena, abbreviation ? abbreviation : "")), offset, value_bool(summer)};
    return status ? status : list->visit(list->context, row);
}

/* Files of the system's tz database, folder by folder. Names that begin with a small letter are no zones (posix, right, zone.tab). */
static enum status zones_in(struct zone_list *list, const char *folder)
{
    DIR *directory = opendir(arena_printf(list->arena, ZONES "%s%s", *folder ? "/" : "", folder));
    enum status status = STATUS_OK;
    for (struct dirent *entry; !status && directory && (entry = readdir(directory));) {
        struct stat info;
        if (!isupper((unsigned char)entry->d_name[0]) || strlen(folder) + strlen(entry->d_name) > 60)
            continue;
        char *name = arena_printf(list->arena, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
        if (stat(arena_printf(list->arena, ZONES "/%s", name), &info))
            continue;
        status = S_ISDIR(info.st_mode) ? zones_in(list, name) : zone_row(list, name);
    }
    if (directory)
        closedir(directory);
    return status;
}

enum status zones_each(struct arena *arena, zone_visit *visit, void *context)
{
    struct zone_list list = {arena, type_env->now_us, visit, context};
    return zones_in(&list, "");
}

static enum status to_sink(void *context, const struct value *row) { struct row_sink *sink = context; return sink->row(sink, row); }

enum status fill_pg_timezone_names(struct session *session, struct row_sink *sink)
{
    (void)session;
    return zones_each(sink->arena, to_sink, sink);
}
