/* bench/floor.c - the floor under pgbench: a server that does no work.
 *
 *     floor SOCKETDIR PORT          listens on SOCKETDIR/.s.PGSQL.PORT until it is killed
 *
 * One thread a connection, blocking in recv(); every message of a batch is answered from canned bytes with one send() at its
 * Sync. So it costs what any server of threads costs at least: two system calls and a wake-up a round trip, and the client. It
 * knows only what `pgbench -n` sends: the two start-up queries, Parse, Bind / Describe / Execute / Sync. What a statement is, its
 * first word says. Values are made up: nothing is stored, nothing is synced. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define IN_BYTES   65536
#define NAMES_MAX  64

enum kind { KIND_OTHER, KIND_SELECT, KIND_UPDATE, KIND_INSERT, KIND_BEGIN, KIND_END };

struct floor {
    int     fd;
    char    state;                          /* of ReadyForQuery: I or T */
    enum kind bound;
    struct { char name[32]; enum kind kind; } names[NAMES_MAX];
    int     name_count;
    size_t  out_length;
    uint8_t out[4096];
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void put(struct floor *floor, const void *bytes, size_t count)
{
    if (floor->out_length + count > sizeof floor->out) {
        fprintf(stderr, "floor: an answer longer than any of pgbench's\n");
        exit(1);
    }
    memcpy(floor->out + floor->out_length, bytes, count);
    floor->out_length += count;
}

static void put_int32(struct floor *floor, uint32_t value)
{
    value = __builtin_bswap32(value);
    put(floor, &value, 4);
}

static void put_message(struct floor *floor, char type, const void *body, size_t count)
{
    put(floor, &type, 1);
    put_int32(floor, (uint32_t)count + 4);
    put(floor, body, count);
}

static void put_ready(struct floor *floor) { put_message(floor, 'Z', &floor->state, 1); }

/* RowDescription of `count` int4 columns; DataRow of `count` times the text 10. */
static void put_description(struct floor *floor, int count)
{
    static const uint8_t column[] = "c\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0";
    uint8_t body[2 + 4 * sizeof column] = {0, (uint8_t)count};
    size_t length = 2;
    for (int i = 0; i < count; i++, length += 20)
        memcpy(body + length, column, 20);
    put_message(floor, 'T', body, length);
}

static void put_row(struct floor *floor, int count)
{
    uint8_t body[64] = {0, (uint8_t)count};
    size_t length = 2;
    for (int i = 0; i < count; i++, length += 6)
        memcpy(body + length, "\0\0\0\x02" "10", 6);
    put_message(floor, 'D', body, length);
}

#define put_tag(floor, text) put_message(floor, 'C', text, sizeof(text))

static enum kind kind_of(const char *sql)
{
    switch (sql[0] | 0x20) {
    case 's': return KIND_SELECT;
    case 'u': return KIND_UPDATE;
    case 'i': return KIND_INSERT;
    case 'b': return KIND_BEGIN;
    case 'e': return KIND_END;
    default: return KIND_OTHER;
    }
}

static enum kind *kind_named(struct floor *floor, const char *name)
{
    for (int i = 0; i < floor->name_count; i++)
        if (!strcmp(floor->names[i].name, name))
            return &floor->names[i].kind;
    if (floor->name_count == NAMES_MAX) {
        fprintf(stderr, "floor: more prepared statements than pgbench has\n");
        exit(1);
    }
    snprintf(floor->names[floor->name_count].name, sizeof floor->names[0].name, "%s", name);
    return &floor->names[floor->name_count++].kind;
}

static void execute(struct floor *floor)
{
    switch (floor->bound) {
    case KIND_SELECT: put_row(floor, 1); put_tag(floor, "SELECT 1"); break;
    case KIND_UPDATE: put_tag(floor, "UPDATE 1"); break;
    case KIND_INSERT: put_tag(floor, "INSERT 0 1"); break;
    case KIND_BEGIN: floor->state = 'T'; put_tag(floor, "BEGIN"); break;
    case KIND_END: floor->state = 'I'; put_tag(floor, "COMMIT"); break;
    case KIND_OTHER: put_tag(floor, "SET"); break;
    }
}

/* pgbench asks for the scale, and for the partitions of its table: (which schema of the path, strategy, count). */
static void query(struct floor *floor, const char *sql)
{
    int columns = strstr(sql, "partstrat") ? 3 : 1;
    if (kind_of(sql) == KIND_SELECT) {
        put_description(floor, columns);
        if (columns == 3)
            put_message(floor, 'D', "\0\3" "\0\0\0\1" "1" "\xff\xff\xff\xff" "\0\0\0\1" "0", 16);
        else
            put_row(floor, 1);
        put_tag(floor, "SELECT 1");
    } else {
        put_tag(floor, "SET");
    }
    put_ready(floor);
}

/* False when the client is done. A batch's answers go out with its Sync. */
static int message(struct floor *floor, char type, const char *body)
{
    switch (type) {
    case 'Q': query(floor, body); break;
    case 'P': *kind_named(floor, body) = kind_of(body + strlen(body) + 1); put_message(floor, '1', "", 0); break;
    case 'B': floor->bound = *kind_named(floor, body + strlen(body) + 1); put_message(floor, '2', "", 0); break;
    case 'D':
        if (floor->bound == KIND_SELECT)
            put_description(floor, 1);
        else
            put_message(floor, 'n', "", 0);
        break;
    case 'E': execute(floor); break;
    case 'S': put_ready(floor); break;
    case 'X': return 0;
    }
    if (type == 'S' || type == 'Q') {
        if (send(floor->fd, floor->out, floor->out_length, MSG_NOSIGNAL) != (ssize_t)floor->out_length)
            return 0;
        floor->out_length = 0;
    }
    return 1;
}

static uint32_t length_at(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, 4);
    return __builtin_bswap32(value);
}

static void *serve(void *argument)
{
    struct floor *floor = argument;
    uint8_t *in = malloc(IN_BYTES);
    size_t start = 0, end = 0;
    int started = 0;

    for (;;) {
        size_t head = started ? 1 : 0;      /* a startup packet has no type byte */
        while (end - start >= head + 4 && end - start >= head + length_at(in + start + head)) {
            uint32_t length = length_at(in + start + head);
            const uint8_t *at = in + start;
            start += head + length;
            if (started) {
                if (!message(floor, (char)at[0], (const char *)at + 5))
                    goto done;
            } else if (length == 8) {       /* SSLRequest, GSSENCRequest */
                if (send(floor->fd, "N", 1, MSG_NOSIGNAL) != 1)
                    goto done;
            } else {
                started = 1;
                put_message(floor, 'R', "\0\0\0\0", 4);
                put_message(floor, 'S', "server_version\0" "15.0", 20);
                put_message(floor, 'S', "client_encoding\0UTF8", 21);
                put_message(floor, 'S', "standard_conforming_strings\0on", 31);
                put_message(floor, 'K', "\0\0\0\1\0\0\0\1", 8);
                message(floor, 'S', "");
            }
            head = started ? 1 : 0;
        }
        if (start == end)
            start = end = 0;
        else if (end == IN_BYTES) {
            memmove(in, in + start, end - start);
            end -= start;
            start = 0;
            if (end == IN_BYTES)
                break;                      /* longer than anything pgbench sends */
        }
        ssize_t got = recv(floor->fd, in + end, IN_BYTES - end, 0);
        if (got <= 0)
            break;
        end += (size_t)got;
    }
done:
    close(floor->fd);
    free(in);
    free(floor);
    return NULL;
}

int main(int count, char **arguments)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 3) {
        fprintf(stderr, "usage: floor SOCKETDIR PORT\n");
        return 2;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.%s", arguments[1], arguments[2]);
    unlink(address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 128))
        die(address.sun_path);
    for (;;) {
        struct floor *floor = calloc(1, sizeof *floor);
        pthread_t thread;
        if (!floor || (floor->fd = accept(fd, NULL, NULL)) < 0)
            die("accept");
        floor->state = 'I';
        if (pthread_create(&thread, NULL, serve, floor))
            die("pthread_create");
        pthread_detach(thread);
    }
}
