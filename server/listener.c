/* server/listener.c - the sockets that clients come in by.
 *
 * libuv only tells when a socket can be accepted from (uv_poll); the accepted descriptor never becomes a libuv handle,
 * since its connection's thread waits on it by itself.
 *
 * The Unix socket's file outlives a server that crashed. Who may remove it is decided by an flock on a second file beside
 * it (.lock, which names the owner's pid): the lock goes with its process, so there is no stale one. */
#include "server/listener.h"

#include "server/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKETS_MAX 16

struct listener {
    struct server *server;
    struct listening {
        uv_poll_t poll;
        int fd;
        bool unix_socket;
    } sockets[SOCKETS_MAX];
    int count;
    char socket_path[108], lock_path[120];
    int lock_fd; /* -1: no Unix socket */
    char description[512];
};

static void describe(struct listener *listener, const char *text)
{
    size_t length = strlen(listener->description);
    snprintf(listener->description + length, sizeof(listener->description) - length, "%s%s", length ? " and " : "", text);
}

static void peer_name(const struct sockaddr_storage *address, char *out, size_t capacity)
{
    char host[INET6_ADDRSTRLEN] = "";
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
    }
    snprintf(out, capacity, "%s", host);
}

static void accept_all(uv_poll_t *poll, int failed, int events)
{
    struct listener *listener = poll->data;
    struct listening *socket = (struct listening *)poll; /* its first field */
    (void)events;
    if (failed)
        return;
    for (int i = 0; i < 64; i++) { /* then the loop looks after its timers and signals */
        struct sockaddr_storage address = {0};
        socklen_t length = sizeof(address);
        int fd = accept4(socket->fd, (struct sockaddr *)&address, &length, SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            if (errno != EAGAIN) {
                log_line("LOG", "could not accept new connection: %s", strerror(errno));
                if (errno == EMFILE || errno == ENFILE)
                    sleep_us(10000); /* the socket stays readable: don't turn round and round */
            }
            return;
        }
        char peer[64];
        peer_name(&address, peer, sizeof(peer));
        if (!socket->unix_socket) {
            int one = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
            setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
        }
        if (server_shutdown_state(listener->server) == SHUTDOWN_FAST)
            connection_refuse(fd, STATUS_CANNOT_CONNECT_NOW, "the database system is shutting down");
        else if (!server_has_room(listener->server))
            connection_refuse(fd, STATUS_TOO_MANY_CONNECTIONS, "sorry, too many clients already");
        else
            connection_start(listener->server, fd, peer);
    }
}

static enum status add_socket(struct listener *listener, uv_loop_t *loop, int fd, bool unix_socket)
{
    if (listen(fd, 511) < 0) {
        close(fd);
        return error_set(STATUS_IO, "could not listen: %s", strerror(errno));
    }
    struct listening *socket = &listener->sockets[listener->count];
    socket->fd = fd;
    socket->unix_socket = unix_socket;
    if (uv_poll_init(loop, &socket->poll, fd) != 0) {
        close(fd);
        return error_set(STATUS_IO, "could not watch a listening socket");
    }
    socket->poll.data = listener;
    listener->count++;
    uv_poll_start(&socket->poll, UV_READABLE, accept_all);
    return STATUS_OK;
}

static enum status listen_tcp(struct listener *listener, uv_loop_t *loop, const char *host, int port)
{
    char service[16];
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    snprintf(service, sizeof(service), "%d", port);
    int failed = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, service, &hints, &found);
    if (failed)
        return error_set(STATUS_IO, "could not translate host name \"%s\" to address: %s", host, gai_strerror(failed));

    int bound = 0, last_error = 0;
    for (struct addrinfo *at = found; at; at = at->ai_next) {
        if (listener->count == SOCKETS_MAX)
            break;
        int one = 1, fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
        if (fd < 0) {
            last_error = errno;
            continue;
        }
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        if (at->ai_family == AF_INET6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
        if (bind(fd, at->ai_addr, at->ai_addrlen) < 0) {
            last_error = errno;
            close(fd);
            continue;
        }
        enum status status = add_socket(listener, loop, fd, false);
        if (status) {
            freeaddrinfo(found);
            return status;
        }
        bound++;
    }
    freeaddrinfo(found);
    if (!bound)
        return error_set(last_error == EADDRINUSE ? STATUS_OBJECT_IN_USE : STATUS_IO,
                         "could not bind address \"%s\", port %d: %s", host, port, strerror(last_error));
    char text[300];
    snprintf(text, sizeof(text), "%s port %d", host, port);
    describe(listener, text);
    return STATUS_OK;
}

static enum status lock_socket_file(struct listener *listener)
{
    for (;;) {
        int fd = open(listener->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return error_set(STATUS_IO, "could not open lock file \"%s\": %s", listener->lock_path, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            close(fd);
            enum status status = error_set(STATUS_OBJECT_IN_USE, "another server uses the socket \"%s\"", listener->socket_path);
            error_hint("Its process id stands in \"%s\".", listener->lock_path);
            return status;
        }
        /* Its last owner may have removed the file between our open and our lock. */
        struct stat ours, there;
        if (fstat(fd, &ours) == 0 && stat(listener->lock_path, &there) == 0 && ours.st_ino == there.st_ino) {
            if (ftruncate(fd, 0) == 0)
                dprintf(fd, "%d\n", (int)getpid());
            listener->lock_fd = fd;
            return STATUS_OK;
        }
        close(fd);
    }
}

static enum status listen_unix(struct listener *listener, uv_loop_t *loop, const char *directory, int port)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(listener->socket_path, sizeof(listener->socket_path), "%s/.s.PGSQL.%d", directory, port);
    if (length < 0 || (size_t)length >= sizeof(address.sun_path))
        return error_set(STATUS_CONFIG_FILE, "Unix-domain socket path in \"%s\" is too long (maximum %zu bytes)", directory,
                         sizeof(address.sun_path) - 1);
    snprintf(listener->lock_path, sizeof(listener->lock_path), "%s.lock", listener->socket_path);
    enum status status = lock_socket_file(listener);
    if (status)
        return status;
    memcpy(address.sun_path, listener->socket_path, (size_t)length + 1);
    unlink(listener->socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_set(STATUS_IO, "could not make a Unix-domain socket: %s", strerror(errno));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        int error = errno;
        close(fd);
        return error_set(STATUS_IO, "could not bind Unix-domain socket \"%s\": %s", listener->socket_path, strerror(error));
    }
    chmod(listener->socket_path, 0777);
    status = add_socket(listener, loop, fd, true);
    if (!status)
        describe(listener, listener->socket_path);
    return status;
}

enum status listener_open(uv_loop_t *loop, struct server *server, const struct server_settings *settings,
                          struct listener **out)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    if (!listener)
        panic("out of memory");
    listener->server = server;
    listener->lock_fd = -1;

    enum status status = STATUS_OK;
    char *addresses = strdup(settings->listen_addresses), *rest = addresses;
    for (char *host; addresses && !status && (host = strsep(&rest, ",")) != NULL;) {
        host += strspn(host, " ");
        host[strcspn(host, " ")] = '\0';
        if (*host)
            status = listen_tcp(listener, loop, host, settings->port);
    }
    free(addresses);
    if (!status && *settings->socket_directory)
        status = listen_unix(listener, loop, settings->socket_directory, settings->port);
    if (!status && listener->count == 0)
        status = error_set(STATUS_CONFIG_FILE, "no socket created for listening");
    *out = listener; /* closed by the caller also on failure: the loop may know some of its handles */
    return status;
}

const char *listener_description(const struct listener *listener)
{
    return listener->description;
}

void listener_close(struct listener *listener)
{
    for (int i = 0; i < listener->count; i++) {
        uv_close((uv_handle_t *)&listener->sockets[i].poll, NULL);
        close(listener->sockets[i].fd);
    }
    if (listener->lock_fd >= 0) {
        unlink(listener->socket_path);
        unlink(listener->lock_path);
        close(listener->lock_fd);
    }
}

void listener_free(struct listener *listener)
{
    free(listener);
}
