/* engine/engine.c - opens and closes everything below the server floor: store, catalog, workers, autovacuum. */
#include "engine/session_private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/autovacuum.h"
#include "engine/functions.h"

/* Temporary files of a crashed server. They are unlinked when made, so this seldom finds any. */
static enum status temporary_directory(const char *directory)
{
    char path[4096], file[4400];
    snprintf(path, sizeof path, "%s/pgsql_tmp", directory);
    if (mkdir(path, 0700) && errno != EEXIST)
        return error_set(STATUS_IO, "could not create directory \"%s\": %s", path, strerror(errno));
    DIR *dir = opendir(path);
    if (!dir)
        return error_set(STATUS_IO, "could not open directory \"%s\": %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.') {
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
            unlink(file);
        }
    closedir(dir);
    return STATUS_OK;
}

enum status engine_open(const struct engine_options *options, struct engine **out)
{
    struct engine *engine = calloc(1, sizeof *engine);
    ASSERT(engine);
    functions_open();
    engine->directory = strdup(options->directory);
    latch_init(&engine->latch, RANK_SERVER, 0, 0, 0);
    condition_init(&engine->wake, "autovacuum");
    struct store_options store = {
        .pool_bytes = (uint64_t)settings_server_number("shared_buffers"),
        .wal_ring_bytes = (uint64_t)settings_server_number("wal_buffers"),
        .lock_bytes = (uint64_t)settings_server_number("max_lock_memory"),
        .pool_partitions = (uint32_t)settings_server_number("crab.pool_partitions"),
        .checkpoint_seconds = (uint32_t)settings_server_number("checkpoint_timeout"),
        .max_transactions = (uint32_t)settings_server_number("max_connections") + 8,      /* and vacuum, start-up */
        .max_wal_bytes = (uint64_t)settings_server_number("max_wal_size") << 20,
    };
    enum status status = store_open(options->directory, &store, &engine->store);
    if (!status)
        status = temporary_directory(options->directory);
    if (!status && engine->store->fresh)
        status = catalog_bootstrap(engine->store);
    if (!status)
        status = catalog_open_store(engine->store);
    if (!status)
        status = workers_start((uint32_t)settings_server_number("max_parallel_workers"));
    if (!status)
        status = autovacuum_start(engine);
    if (status) {
        struct error kept = {0};
        error_save(&kept);
        if (engine->store && store_close(engine->store))
            error_clear();
        free(engine->directory);
        free(engine);
        return error_restore(&kept);
    }
    *out = engine;
    return STATUS_OK;
}

void engine_close(struct engine *engine)
{
    autovacuum_stop(engine);
    workers_stop();
    if (store_close(engine->store)) {
        log_line("LOG", "closing the data directory: %s", error_current()->message);
        error_clear();
    }
    free(engine->directory);
    free(engine);
}

struct store *engine_store(struct engine *engine) { return engine->store; }
