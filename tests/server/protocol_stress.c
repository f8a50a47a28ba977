/* tests/server/protocol_stress.c - a whole server against clients that misbehave.
 *
 *     protocol_stress [threads [connections [seed]]]
 *
 * A child process runs the server on a database directory of its own. Threads of this process throw well formed, broken and
 * cut-off messages at it and hang up at any byte; after each storm the server must still answer a plain client rightly. At the
 * end clients that sleep, that don't read and that are idle must all be sent away by a fast shutdown, and the server must
 * end with exit status 0. */
#include "base/hash.h"
#include "base/latch.h"
#include "engine/session.h"
#include "server/server.h"
#include "tests/switches.h"
#include "tests/verdict.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            kill(child, SIGQUIT);                                                                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static pid_t child;
static int port, thread_count = 3, connections = 100;
static uint64_t seed = 1;
static char directory[64] = "/tmp/protocol_stress.XXXXXX";

static int run_server(void)
{
    char port_text[16], data[80];
    snprintf(port_text, sizeof(port_text), "%d", port);
    snprintf(data, sizeof(data), "%s/data", directory);
    char *argv[] = {"crabtree", "-D", data, "-k", "", "-p", port_text, "-c", "max_connections=20", "-c", "shared_buffers=16MB", NULL};
    struct server_settings settings;
    struct engine_options options = {.directory = data};
    struct engine *engine;
    if (server_settings_read(11, argv, &settings) || engine_open(&options, &engine) || server_run(&settings, engine)) {
        log_line("FATAL", "%s", error_current()->message);
        return 1;
    }
    engine_close(engine);
    return 0;
}

/* ---- A client of raw bytes ---- */

static int connect_once(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

struct bytes { uint8_t data[8192]; size_t length; };

static void put(struct bytes *bytes, const void *data, size_t length)
{
    if (bytes->length + length <= sizeof(bytes->data)) {
        memcpy(bytes->data + bytes->length, data, length);
        bytes->length += length;
    }
}

static void put_message(struct bytes *bytes, char type, const void *data, size_t length)
{
    uint32_t size = htonl((uint32_t)length + 4);
    if (type)
        put(bytes, &type, 1);
    put(bytes, &size, 4);
    put(bytes, data, length);
}

#define TEXT(type, text) put_message(bytes, type, text, sizeof(text) - 1)

static void put_startup(struct bytes *bytes)
{
    TEXT(0, "\0\3\0\0user\0postgres\0database\0postgres\0\0");
}

static void put_piece(struct bytes *bytes, uint64_t dice)
{
    switch (dice % 36) {
    case 0: TEXT('Q', "SELECT 1\0"); break;
    case 1: TEXT('Q', "SELECT 1; SELECT 2; SELEC 3\0"); break;
    case 2: TEXT('Q', ";\0"); break;
    case 3: TEXT('P', "\0SELECT $1 + 1\0\0\1\0\0\0\x17"); break;
    case 4: TEXT('B', "\0\0\0\1\0\1\0\1\0\0\0\4\0\0\0\7\0\0"); break;
    case 5: TEXT('D', "P\0"); break;
    case 6: TEXT('D', "S\0"); break;
    case 7: TEXT('E', "\0\0\0\0\0"); break;
    case 8: case 9: case 10: TEXT('S', ""); break;
    case 11: TEXT('H', ""); break;
    case 12: TEXT('C', "S\0"); break;
    case 13: TEXT('d', "7\tseven\n"); break;
    case 14: TEXT('c', ""); break;
    case 15: TEXT('f', "no more\0"); break;
    case 16: TEXT('Q', "COPY stress FROM STDIN\0"); break;
    case 17: TEXT('Q', "COPY stress TO STDOUT\0"); break;
    case 18: TEXT('Q', "INSERT INTO stress VALUES (1, 'one')\0"); break;
    case 19: TEXT('Q', "BEGIN\0"); break;
    case 20: TEXT('Q', "COMMIT\0"); break;
    case 21: TEXT('Q', "SELECT * FROM generate_series(1, 3000)\0"); break;
    case 22: TEXT('F', "xxxx"); break;
    case 23: TEXT('Q', ""); break;
    case 24: TEXT('Q', "no end"); break;
    case 25: TEXT('B', "\0\0\0\1\0\7"); break;
    case 26: TEXT('B', "\0\0\0\0\xff\xff"); break;
    case 27: TEXT('P', "x"); break;
    case 28: TEXT('D', "Z\0"); break;
    case 29: TEXT('P', "\0\xff\xfe\0\0\0"); break;
    case 30: put(bytes, "Q\0\0\0\2", 5); break;
    case 31: put(bytes, "Q\x7f\xff\xff\xff", 5); break;
    case 32: put(bytes, "Q\x3f\xff\xff\xff" "abc", 8); break;
    case 33: put(bytes, "C\0\0\xff\xff", 5); break;
    case 34: TEXT('X', ""); break;
    case 35: put(bytes, "!", 1); break;
    }
}

/* Reads until the server closes or stays quiet for so many milliseconds. */
static size_t drain(int fd, int quiet_ms)
{
    uint8_t buffer[4096];
    size_t total = 0;
    for (;;) {
        struct pollfd polled = {fd, POLLIN, 0};
        if (poll(&polled, 1, quiet_ms) <= 0)
            return total;
        ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
        if (got <= 0)
            return total;
        total += (size_t)got;
    }
}

static _Atomic uint64_t next_seed;

static void storm(void *argument)
{
    (void)argument;
    uint64_t random = atomic_fetch_add(&next_seed, 1);
    for (int i = 0; i < connections; i++) {
        struct bytes bytes = {.length = 0};
        int fd = connect_once();
        if (fd < 0)
            continue;
        if (random_next(&random) % 10)
            put_startup(&bytes);
        for (uint64_t n = random_next(&random) % 14; n > 0; n--)
            put_piece(&bytes, random_next(&random));
        if (random_next(&random) % 3 == 0)
            for (uint64_t n = random_next(&random) % 3; bytes.length && n > 0; n--)
                bytes.data[random_next(&random) % bytes.length] = (uint8_t)random_next(&random);
        if (random_next(&random) % 3 == 0)
            bytes.length = random_next(&random) % (bytes.length + 1);
        for (size_t at = 0; at < bytes.length;) { /* in pieces of any size */
            size_t count = 1 + random_next(&random) % (bytes.length - at);
            ssize_t sent = send(fd, bytes.data + at, count, MSG_NOSIGNAL);
            if (sent <= 0)
                break;
            at += (size_t)sent;
        }
        if (random_next(&random) % 2)
            shutdown(fd, SHUT_WR);
        if (random_next(&random) % 2)
            drain(fd, 20);
        close(fd);
    }
}

/* A plain client gets a plain answer: the last message is ReadyForQuery. */
static void ask(const char *sql)
{
    struct bytes bytes = {.length = 0};
    uint8_t answer[8192];
    size_t length = 0;
    int fd = -1;
    for (int tries = 0; tries < 1000; tries++) { /* those of the storm may still hold all places */
        fd = connect_once();
        bytes.length = length = 0;
        put_startup(&bytes);
        put_message(&bytes, 'Q', sql, strlen(sql) + 1);
        put_message(&bytes, 'X', "", 0);
        CHECK(fd >= 0);
        CHECK(send(fd, bytes.data, bytes.length, MSG_NOSIGNAL) == (ssize_t)bytes.length);
        for (ssize_t got; length < sizeof(answer) && (got = recv(fd, answer + length, sizeof(answer) - length, 0)) > 0;)
            length += (size_t)got;
        close(fd);
        if (length > 0 && answer[0] == 'R')
            break;
        sleep_us(10000);
    }
    CHECK(length > 6 && memcmp(answer + length - 6, "Z\0\0\0\5I", 6) == 0);
}

static void everybody_is_sent_away(void)
{
    static const char *sql[] = {"SELECT pg_sleep(1000)", "SELECT * FROM generate_series(1, 100000000)", "BEGIN", "COPY stress FROM STDIN"};
    int fds[8];
    for (int i = 0; i < 8; i++) {
        struct bytes bytes = {.length = 0};
        fds[i] = connect_once();
        CHECK(fds[i] >= 0);
        put_startup(&bytes);
        put_message(&bytes, 'Q', sql[i % 4], strlen(sql[i % 4]) + 1);
        CHECK(send(fds[i], bytes.data, bytes.length, MSG_NOSIGNAL) == (ssize_t)bytes.length);
        struct pollfd polled = {fds[i], POLLIN, 0};
        CHECK(poll(&polled, 1, 10000) == 1);
    }
    kill(child, SIGINT);
    int exit_status, waited = 0;
    while (waitpid(child, &exit_status, WNOHANG) == 0) {
        CHECK(waited++ < 3000);
        sleep_us(10000);
    }
    child = 0;
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    if (!WIFEXITED(exit_status) || WEXITSTATUS(exit_status) != 0) {
        fprintf(stderr, "the server ended with status %x\n", exit_status);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        thread_count = atoi(argv[1]);
    if (argc > 2)
        connections = atoi(argv[2]);
    if (argc > 3)
        seed = strtoull(argv[3], NULL, 10);
    port = 20000 + (int)getpid() % 20000;
    if (!mkdtemp(directory))
        return 1;
    child = fork();
    if (child == 0)
        return run_server();
    for (int tries = 0, fd = -1; (fd = connect_once()) < 0; tries++) {
        CHECK(tries < 3000);
        CHECK(waitpid(child, NULL, WNOHANG) == 0);
        sleep_us(10000);
    }
    atomic_store(&next_seed, seed);
    ask("CREATE TABLE stress (number int, word text)");
    for (int round = 0; round < 3; round++) {
        struct thread *threads[64];
        for (int i = 0; i < thread_count && i < 64; i++)
            threads[i] = thread_start("storm", storm, NULL);
        for (int i = 0; i < thread_count && i < 64; i++)
            thread_join(threads[i]);
        ask("SELECT count(*) FROM stress");
    }
    everybody_is_sent_away();
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return verdict("protocol_stress", (uint32_t)thread_count, 3ull * (uint64_t)thread_count * (uint64_t)connections, seed, system(command) != 0);
}
