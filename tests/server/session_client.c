/* tests/server/session_client.c - several sessions, step by step, from a script; prints what each was told.
 *
 *     session_client FILE.steps
 *
 * A script is a list of lines; nothing in it waits for a time to pass:
 *
 *     # comment
 *     setup: SQL            on a session of its own, not printed
 *     NAME: SQL             session NAME runs it, and must not have to wait for a lock (a session begins when first named)
 *     NAME&: SQL            it must be seen waiting for a lock
 *     NAME+: SQL            it must be seen running
 *     NAME?: SQL            it is sent; whether it waits is not asked
 *     NAME<                 now its statement must end, within ten seconds
 *     NAME< MS              the same, within so many milliseconds
 *     cancel NAME           a cancel request for what it runs
 *     deadlock A B MS       of the two, one must fail with 40P01 and the other go on, within so many milliseconds
 *     gone NAME MS          the server must end that connection within so many milliseconds
 *     quit NAME             the client ends it
 *
 * "Seen waiting" means: pg_stat_activity says wait_event_type 'Lock' of it; "seen running": state 'active'. Errors are printed with
 * their SQLSTATE. */
#include <ctype.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 10000

struct session { char name[32]; PGconn *conn; bool busy; };
static struct session sessions[16];
static int session_count;
static PGconn *monitor;
static const char *file;
static int line_number;

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static _Noreturn void fail(const char *what, const char *detail)
{
    fflush(stdout);
    printf("%s:%d: %s: %s\n", file, line_number, what, detail);
    fflush(stdout);
    exit(1);
}

static void notice(void *name, const PGresult *result)
{
    printf("%s: %s:  %s\n", (const char *)name, PQresultErrorField(result, PG_DIAG_SEVERITY), PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
}

static PGconn *join(void)
{
    PGconn *conn = PQconnectdb("");
    if (PQstatus(conn) != CONNECTION_OK)
        fail("no connection", PQerrorMessage(conn));
    return conn;
}

static struct session *find(const char *name, size_t length)
{
    if (length == 0 || length >= sizeof(sessions[0].name))
        fail("bad session name", name);
    for (int i = 0; i < session_count; i++)
        if (strlen(sessions[i].name) == length && !memcmp(sessions[i].name, name, length))
            return &sessions[i];
    if (session_count == (int)(sizeof(sessions) / sizeof(sessions[0])))
        fail("too many sessions", name);
    struct session *s = &sessions[session_count++];
    memcpy(s->name, name, length);
    s->name[length] = 0;
    s->conn = join();
    PQsetNoticeReceiver(s->conn, notice, s->name);
    return s;
}

static void print_result(const char *name, PGresult *result)
{
    int columns = PQnfields(result), rows = PQntuples(result);
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
        for (int c = 0; c < columns; c++)
            printf("%s%s", c ? "|" : "   ", PQfname(result, c));
        putchar('\n');
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++)
                printf("%s%s", c ? "|" : "   ", PQgetisnull(result, r, c) ? "NULL" : PQgetvalue(result, r, c));
            putchar('\n');
        }
        printf("%s: %s\n", name, PQcmdStatus(result));
        break;
    case PGRES_COMMAND_OK:
        printf("%s: %s\n", name, PQcmdStatus(result));
        break;
    default: {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE), *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
        printf("%s: ERROR %s: %s\n", name, state ? state : "?", text ? text : PQresultErrorMessage(result));
        if (detail && strcmp(state, "40P01"))
            printf("   %s\n", detail);
    }
    }
}

/* True when the running statement has nothing more to say. */
static bool ended(struct session *s, long timeout_ms)
{
    long until = now_ms() + timeout_ms;
    for (;;) {
        if (!PQconsumeInput(s->conn))
            return true;
        if (!PQisBusy(s->conn))
            return true;
        long left = until - now_ms();
        if (left <= 0)
            return false;
        struct pollfd fd = {.fd = PQsocket(s->conn), .events = POLLIN};
        poll(&fd, 1, (int)left);
    }
}

static void collect(struct session *s, char *state)
{
    PGresult *result;
    if (state)
        state[0] = 0;
    while ((result = PQgetResult(s->conn))) {
        if (state) {
            const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
            snprintf(state, 6, "%s", sqlstate ? sqlstate : "");
        } else {
            print_result(s->name, result);
        }
        PQclear(result);
    }
    s->busy = false;
}

static bool seen(struct session *s, const char *how)
{
    char sql[160];
    snprintf(sql, sizeof(sql), "SELECT 1 FROM pg_stat_activity WHERE pid = %d AND %s", PQbackendPID(s->conn), how);
    PGresult *result = PQexec(monitor, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail("pg_stat_activity", PQerrorMessage(monitor));
    bool found = PQntuples(result) > 0;
    PQclear(result);
    return found;
}

static void start(struct session *s, const char *sql)
{
    if (s->busy)
        fail("session is busy", s->name);
    if (!PQsendQuery(s->conn, sql))
        fail("cannot send", PQerrorMessage(s->conn));
    s->busy = true;
}

static void take_line(char *line)
{
    char *colon;
    size_t length = strlen(line);
    while (length && isspace((unsigned char)line[length - 1]))
        line[--length] = 0;
    if (!line[0] || line[0] == '#')
        return;
    if (!strncmp(line, "setup: ", 7)) {
        PGresult *result = PQexec(monitor, line + 7);
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            fail("setup", PQerrorMessage(monitor));
        PQclear(result);
        return;
    }
    printf("%s\n", line);
    char one[32], two[32];
    int ms;
    if (sscanf(line, "cancel %31s", one) == 1) {
        struct session *s = find(one, strlen(one));
        char error[256];
        PGcancel *cancel = PQgetCancel(s->conn);
        if (!PQcancel(cancel, error, sizeof(error)))
            fail("cancel", error);
        PQfreeCancel(cancel);
        return;
    }
    if (sscanf(line, "quit %31s", one) == 1) {
        struct session *s = find(one, strlen(one));
        PQfinish(s->conn);
        *s = sessions[--session_count];
        return;
    }
    if (sscanf(line, "deadlock %31s %31s %d", one, two, &ms) == 3) {
        struct session *a = find(one, strlen(one)), *b = find(two, strlen(two));
        long until = now_ms() + ms;
        char state_a[6], state_b[6];
        if (!ended(a, until - now_ms()) || !ended(b, until - now_ms()))
            fail("the deadlock was not resolved in time", line);
        collect(a, state_a);
        collect(b, state_b);
        if (!((!strcmp(state_a, "40P01") && !state_b[0]) || (!strcmp(state_b, "40P01") && !state_a[0])))
            fail("one should have failed with 40P01", state_a[0] ? state_a : state_b);
        printf("   one fails with 40P01, the other goes on\n");
        return;
    }
    if (sscanf(line, "gone %31s %d", one, &ms) == 2) {
        struct session *s = find(one, strlen(one));
        long until = now_ms() + ms;
        while (PQconsumeInput(s->conn)) {
            if (now_ms() > until)
                fail("the connection lives on", one);
            struct pollfd fd = {.fd = PQsocket(s->conn), .events = POLLIN};
            poll(&fd, 1, (int)(until - now_ms()) + 1);
        }
        printf("   gone\n");
        return;
    }
    char *less = strchr(line, '<');
    colon = strchr(line, ':');
    if (less && (!colon || less < colon)) {
        struct session *s = find(line, (size_t)(less - line));
        long patience = less[1] ? atol(less + 1) : PATIENCE_MS;
        if (!s->busy)
            fail("it runs nothing", line);
        if (!ended(s, patience))
            fail("it did not end in time", line);
        collect(s, NULL);
        return;
    }
    if (!colon || colon == line)
        fail("not understood", line);
    const char *sql = colon + 1;
    if (colon[-1] == '&' || colon[-1] == '+') {
        bool wait = colon[-1] == '&';
        struct session *s = find(line, (size_t)(colon - line) - 1);
        start(s, sql);
        for (long until = now_ms() + PATIENCE_MS; !seen(s, wait ? "wait_event_type = 'Lock'" : "state = 'active'");) {
            if (ended(s, 5)) {
                collect(s, NULL);
                fail("it ended at once", line);
            }
            if (now_ms() > until)
                fail("it neither ended nor was seen as it should be", line);
        }
        if (wait)
            printf("%s: waits\n", s->name);
    } else if (colon[-1] == '?') {
        start(find(line, (size_t)(colon - line) - 1), sql);
    } else {
        struct session *s = find(line, (size_t)(colon - line));
        start(s, sql);
        if (!ended(s, PATIENCE_MS))
            fail("it did not end in time", line);
        collect(s, NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: session_client FILE.steps\n");
        return 2;
    }
    FILE *script = fopen(argv[1], "r");
    if (!script) {
        perror(argv[1]);
        return 2;
    }
    const char *slash = strrchr(argv[1], '/');
    file = slash ? slash + 1 : argv[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    monitor = join();
    PQclear(PQexec(monitor, "SET client_min_messages = warning"));
    char line[4096];
    while (fgets(line, sizeof(line), script)) {
        line_number++;
        take_line(line);
    }
    for (int i = 0; i < session_count; i++) {
        if (sessions[i].busy)
            fail("it was left running", sessions[i].name);
        PQfinish(sessions[i].conn);
    }
    PQfinish(monitor);
    fclose(script);
    return 0;
}
