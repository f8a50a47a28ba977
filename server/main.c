/* server/main.c - the program: command line, engine, server, and the same backwards. */
#include "engine/session.h"
#include "server/server.h"
#include "server/settings.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(void)
{
    const struct error *error = error_current();
    log_line("FATAL", "%s", error->message ? error->message : status_text(error->status));
    if (error->detail)
        log_line("DETAIL", "%s", error->detail);
    if (error->hint)
        log_line("HINT", "%s", error->hint);
    return 1;
}

/* What a statement frees is the next one's. Left alone, the C library gives large pieces back to the system, and a hash table or a sort of some
 * ten megabytes then spends a tenth to a fourth of its time on page faults. */
static void memory_keep(void)
{
#ifdef __GLIBC__
    if (!mallopt(M_MMAP_THRESHOLD, 32 << 20) || !mallopt(M_TRIM_THRESHOLD, 128 << 20))
        log_line("WARNING", "the C library keeps no memory between statements");
#endif
}

int main(int argc, char **argv)
{
    struct server_settings settings;
    struct engine *engine;

    memory_keep();

    if (server_settings_read(argc, argv, &settings)) {
        fail();
        fprintf(stderr, "Try \"crabtree --help\" for more information.\n");
        return 1;
    }
    if (settings.print_version || settings.print_help) {
        if (settings.print_version)
            printf("crabtree (Crabtree) %s\n", CRABTREE_VERSION);
        else
            fputs(server_usage, stdout);
        return 0;
    }
    struct engine_options options = {.directory = settings.directory};
    if (engine_open(&options, &engine))
        return fail();
    int exit_status = server_run(&settings, engine) ? fail() : 0;
    engine_close(engine);
    log_line("LOG", "database system is shut down");
    return exit_status;
}
