/* server/settings.h - the command line, and the settings that the server floor itself reads. */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

#define CRABTREE_VERSION "0.1"
#define REPORTED_VERSION "15.8 (Crabtree " CRABTREE_VERSION ")"

struct server_settings {
    const char *directory;
    const char *listen_addresses;       /* names and addresses with commas between, "*" all, "" no TCP */
    const char *socket_directory;       /* "" no Unix socket */
    int port;
    int max_connections;
    bool print_version, print_help;
};
/* Takes the options in their order, the later ones win; -c goes to the engine's settings. Errors: CONFIG_FILE and those
 * of settings_set_server(). What is in *out points into argv or into the engine's settings. */
enum status server_settings_read(int argc, char **argv, struct server_settings *out) MUST_CHECK;
extern const char server_usage[];

#endif
