/* server/settings.c - the command line.
 *
 * -h, -p and -k are other names for the settings listen_addresses, port and unix_socket_directories; every option ends
 * up in the engine's table of settings, so that SHOW tells the truth. */
#include "server/settings.h"

#include "engine/settings.h"

#include <stdlib.h>
#include <string.h>

const char server_usage[] =
    "crabtree is a relational database server that speaks the PostgreSQL protocol.\n"
    "\n"
    "Usage: crabtree [-D DIR] [-h HOST] [-p PORT] [-k SOCKETDIR] [-c NAME=VALUE]...\n"
    "\n"
    "  -D DIR          database directory, made when it's missing (default ./data)\n"
    "  -h HOST         address to listen on, * for all, empty for none (default 127.0.0.1)\n"
    "  -p PORT         port number (default 5433)\n"
    "  -k SOCKETDIR    directory of the Unix socket, empty for none (default /tmp)\n"
    "  -c NAME=VALUE   sets a run-time setting\n"
    "  --version       prints the version and ends\n"
    "  --help          prints this and ends\n";

static enum status set_pair(const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return error_set(STATUS_CONFIG_FILE, "-c requires a value: NAME=VALUE, not \"%s\"", pair);
    char name[128];
    size_t length = (size_t)(equals - pair);
    if (length >= sizeof(name))
        return error_set(STATUS_CONFIG_FILE, "name of setting is too long: \"%s\"", pair);
    for (size_t i = 0; i < length; i++)
        name[i] = pair[i] == '-' ? '_' : pair[i];
    name[length] = '\0';
    return settings_set_server(name, equals + 1);
}

static enum status take_option(char option, const char *value, struct server_settings *out)
{
    switch (option) {
    case 'D': out->directory = value; return STATUS_OK;
    case 'h': return settings_set_server("listen_addresses", value);
    case 'p': return settings_set_server("port", value);
    case 'k': return settings_set_server("unix_socket_directories", value);
    case 'c': return set_pair(value);
    default: return error_set(STATUS_CONFIG_FILE, "unknown option -%c", option);
    }
}

enum status server_settings_read(int argc, char **argv, struct server_settings *out)
{
    memset(out, 0, sizeof(*out));
    out->directory = "./data";

    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (strcmp(argument, "--version") == 0 || strcmp(argument, "-V") == 0) {
            out->print_version = true;
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-?") == 0) {
            out->print_help = true;
        } else if (strncmp(argument, "--", 2) == 0 && strchr(argument, '=')) {
            enum status status = set_pair(argument + 2);
            if (status)
                return status;
        } else if (argument[0] == '-' && argument[1] && argument[1] != '-') {
            const char *value = argument + 2;
            if (!*value) {
                if (i + 1 == argc)
                    return error_set(STATUS_CONFIG_FILE, "option %s requires a value", argument);
                value = argv[++i];
            }
            enum status status = take_option(argument[1], value, out);
            if (status)
                return status;
        } else {
            return error_set(STATUS_CONFIG_FILE, "invalid argument: \"%s\"", argument);
        }
    }
    out->listen_addresses = settings_server_value("listen_addresses");
    if (!out->listen_addresses)
        out->listen_addresses = "127.0.0.1";
    out->socket_directory = settings_server_value("unix_socket_directories");
    if (!out->socket_directory)
        out->socket_directory = "/tmp";
    out->port = settings_server_value("port") ? (int)settings_server_number("port") : 5433;
    if (out->port < 1 || out->port > 65535)
        return error_set(STATUS_CONFIG_FILE, "%d is outside the valid range for \"port\" (1 .. 65535)", out->port);
    out->max_connections = settings_server_value("max_connections") ? (int)settings_server_number("max_connections") : 100;
    return STATUS_OK;
}
