/* server/server.c - the event loop, and what the connections share.
 *
 *     main thread: libuv loop            connection threads
 *       listening sockets  --start-->      read, run, answer ...
 *       signals            --interrupt-->  TERMINATE
 *       one timer          --interrupt-->  TIMEOUT
 *       another            --interrupt-->  TERMINATE, where the client has gone
 *       one async          <--wake--       a connection has ended; an earlier deadline was set
 *
 * 1. `list`, the counts and `next_pid` stand under `latch`. It is held for a walk of the list at most.
 * 2. Statement timeouts: a statement stores its deadline in its connection. The loop's timer stands at the earliest one
 *    it knows of (`timer_us`); a statement wakes the loop only when its own is earlier, so with a fixed timeout the loop
 *    is woken once per timeout, not once per statement. The loop fires under the latch and swaps the deadline for 0; a
 *    statement that ends and finds 0 takes the latch once, after which the interrupt has surely arrived and is cleared:
 *    none strays into the next statement.
 * 3. Shutdown. SIGTERM (smart): no new sessions; ends when the last has gone; statements that crab.step has stopped are
 *    canceled. SIGINT (fast): every thread is interrupted with TERMINATE, whatever it waits on; its open transaction is rolled
 *    back. SIGQUIT (immediate): the process ends at once, and recovery finds everything acknowledged. A later signal may only
 *    make it more urgent.
 * 4. With more sessions than processors, connection threads let who runs have its turn when a message wakes them: the client
 *    sends to others of its sessions before it waits, and switching is saved. With fewer, a message is answered sooner the
 *    other way.
 * 5. Connection threads are joined by the loop, so that when server_run() returns nobody uses the engine.
 * 6. A thread that runs a statement doesn't read its socket. Once a second the loop looks whether a client has hung up; who is
 *    seen so twice is ended, and its workers are free. A thread leaves the list before it closes its socket. */
#include "server/server.h"
#include "base/atomic.h"
#include "base/step.h"

#include "server/connection.h"
#include "server/listener.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define EXTRA_THREADS 64 /* beyond max_connections: cancel requests, and those about to be refused in good form */

struct server {
    struct engine *engine;
    const struct server_settings *settings;
    struct listener *listener;

    struct latch latch;
    struct connection *list;
    int connection_count, session_count;
    long processors;
    _Atomic bool crowded;
    int32_t next_pid;
    _Atomic uint32_t shutdown;          /* enum shutdown; set by the loop */

    uv_loop_t loop;
    uv_async_t async;
    uv_timer_t timer, watch;
    uv_signal_t signals[4];
    _Atomic uint64_t timer_us;          /* when the timer goes off; UINT64_MAX: it doesn't */
};

/* ---- The list ---- */

struct engine *server_engine(struct server *server)
{
    return server->engine;
}

/* The thread starts under the latch, so that whoever finds the connection in the list finds its thread too. */
bool server_enter(struct server *server, struct connection *connection, void (*run)(void *))
{
    latch_acquire(&server->latch, LATCH_EXCLUSIVE);
    connection->pid = server->next_pid;
    connection->thread = thread_start("connection", run, connection);
    if (connection->thread) {
        server->next_pid = server->next_pid == INT32_MAX ? 1 : server->next_pid + 1;
        connection->next = server->list;
        if (server->list)
            server->list->previous = connection;
        server->list = connection;
        server->connection_count++;
    }
    bool started = connection->thread != NULL;
    latch_release(&server->latch);
    return started;
}

static void count_crowd(struct server *server)
{
    atomic_store_explicit(&server->crowded, server->session_count > server->processors, memory_order_relaxed);
}

bool server_crowded(struct server *server)
{
    return atomic_load_explicit(&server->crowded, memory_order_relaxed);
}

enum status server_enter_session(struct server *server, struct connection *connection)
{
    enum status status = STATUS_OK;
    latch_acquire(&server->latch, LATCH_EXCLUSIVE);
    if (atom_load(&server->shutdown) != SHUTDOWN_NONE) {
        status = STATUS_CANNOT_CONNECT_NOW;
    } else if (server->session_count >= server->settings->max_connections) {
        status = STATUS_TOO_MANY_CONNECTIONS;
    } else {
        server->session_count++;
        count_crowd(server);
        connection->in_session = true;
    }
    latch_release(&server->latch);
    return status ? error_set(status, NULL) : STATUS_OK;
}

void server_set_secret(struct server *server, struct connection *connection, uint32_t secret)
{
    latch_acquire(&server->latch, LATCH_EXCLUSIVE);
    connection->secret = secret;
    latch_release(&server->latch);
}

void server_leave(struct server *server, struct connection *connection)
{
    latch_acquire(&server->latch, LATCH_EXCLUSIVE);
    connection->ended = true;
    if (connection->in_session)
        server->session_count--;
    count_crowd(server);
    connection->in_session = false;
    uv_async_send(&server->async); /* under the latch: the loop can't be closed before it has joined this thread */
    latch_release(&server->latch);
}

void server_cancel(struct server *server, int32_t pid, uint32_t secret)
{
    latch_acquire(&server->latch, LATCH_SHARED);
    for (struct connection *at = server->list; at; at = at->next)
        if (at->pid == pid && at->in_session) {
            if (at->secret == secret)
                thread_interrupt(at->thread, INTERRUPT_CANCEL);
            else
                log_line("LOG", "wrong key in cancel request for process %d", pid);
            break;
        }
    latch_release(&server->latch);
}

bool server_has_room(struct server *server)
{
    latch_acquire(&server->latch, LATCH_SHARED);
    bool room = server->connection_count < server->settings->max_connections + EXTRA_THREADS;
    latch_release(&server->latch);
    return room;
}

enum shutdown server_shutdown_state(struct server *server)
{
    return (enum shutdown)atom_load(&server->shutdown);
}

/* ---- Statement timeouts (rule 2) ---- */

void server_statement_begin(struct server *server, struct connection *connection, uint64_t deadline_us)
{
    atom_store(&connection->deadline_us, deadline_us);
    if (deadline_us < atom_load(&server->timer_us))
        uv_async_send(&server->async);
}

void server_statement_end(struct server *server, struct connection *connection)
{
    if (atom_exchange(&connection->deadline_us, 0) == 0) {
        latch_acquire(&server->latch, LATCH_SHARED);
        latch_release(&server->latch);
    }
    thread_interrupt_clear(INTERRUPT_TIMEOUT);
}

static void timer_went_off(uv_timer_t *timer);

/* The timer is first said to be far away and the list is read after: a statement that stores its deadline meanwhile
 * either is seen by the walk or wakes the loop again. */
static void timer_set(struct server *server)
{
    atom_store(&server->timer_us, UINT64_MAX);
    uint64_t earliest = UINT64_MAX, now = now_us();

    latch_acquire(&server->latch, LATCH_SHARED);
    for (struct connection *at = server->list; at; at = at->next) {
        uint64_t deadline = atom_load(&at->deadline_us);
        if (deadline != 0 && deadline <= now) {
            if (atom_cas(&at->deadline_us, &deadline, 0))
                thread_interrupt(at->thread, INTERRUPT_TIMEOUT);
        } else if (deadline != 0 && deadline < earliest) {
            earliest = deadline;
        }
    }
    latch_release(&server->latch);

    if (earliest == UINT64_MAX) {
        uv_timer_stop(&server->timer);
    } else {
        uv_update_time(&server->loop);
        uv_timer_start(&server->timer, timer_went_off, (earliest - now + 999) / 1000, 0);
        atom_store(&server->timer_us, earliest);
    }
}

static void timer_went_off(uv_timer_t *timer)
{
    timer_set(timer->data);
}

/* ---- Clients that have gone (rule 6) ---- */

#define WATCH_MS 1000

static void watch_clients(uv_timer_t *timer)
{
    struct server *server = timer->data;
    latch_acquire(&server->latch, LATCH_SHARED);
    for (struct connection *at = server->list; at; at = at->next) {
        struct pollfd socket = {.fd = at->fd, .events = POLLRDHUP};
        if (!at->in_session || poll(&socket, 1, 0) != 1)
            continue;
        if (at->hung_up)
            thread_interrupt(at->thread, INTERRUPT_TERMINATE);
        at->hung_up = true;
    }
    latch_release(&server->latch);
}

/* ---- Shutdown (rule 3) ---- */

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void reap(struct server *server)
{
    for (;;) {
        latch_acquire(&server->latch, LATCH_EXCLUSIVE);
        struct connection *at = server->list;
        while (at && !at->ended)
            at = at->next;
        if (at) {
            if (at->previous)
                at->previous->next = at->next;
            else
                server->list = at->next;
            if (at->next)
                at->next->previous = at->previous;
            server->connection_count--;
        }
        latch_release(&server->latch);
        if (!at)
            break;
        thread_join(at->thread);
        free(at);
    }
    if (atom_load(&server->shutdown) != SHUTDOWN_NONE && server->connection_count == 0)
        uv_stop(&server->loop);
}

static void woken(uv_async_t *async)
{
    struct server *server = async->data;
    reap(server);
    timer_set(server);
}

static void terminate_all(struct server *server)
{
    latch_acquire(&server->latch, LATCH_SHARED);
    for (struct connection *at = server->list; at; at = at->next)
        thread_interrupt(at->thread, INTERRUPT_TERMINATE);
    latch_release(&server->latch);
}

/* Sessions that crab.step has stopped would wait for somebody to let them go, who may not come in any more. */
static void cancel_stopped(struct server *server)
{
    step_close();
    latch_acquire(&server->latch, LATCH_SHARED);
    for (struct connection *at = server->list; at; at = at->next)
        if (step_stands(at->pid))
            thread_interrupt(at->thread, INTERRUPT_CANCEL);
    latch_release(&server->latch);
}

static void signaled(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    switch (number) {
    case SIGTERM:
        log_line("LOG", "received smart shutdown request");
        if (atom_load(&server->shutdown) == SHUTDOWN_NONE)
            atom_store(&server->shutdown, SHUTDOWN_SMART);
        cancel_stopped(server);
        break;
    case SIGINT:
        log_line("LOG", "received fast shutdown request");
        atom_store(&server->shutdown, SHUTDOWN_FAST);
        terminate_all(server);
        break;
    case SIGQUIT:
        log_line("LOG", "received immediate shutdown request");
        listener_close(server->listener);
        _exit(2);
    default:
        return;
    }
    reap(server);
}

enum status server_run(const struct server_settings *settings, struct engine *engine)
{
    static const int numbers[4] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
    struct server *server = calloc(1, sizeof(*server));
    if (!server)
        panic("out of memory");
    server->engine = engine;
    server->settings = settings;
    server->next_pid = 1;
    server->processors = sysconf(_SC_NPROCESSORS_ONLN);
    atom_store(&server->timer_us, UINT64_MAX);
    latch_init(&server->latch, RANK_SERVER, 0, 0, 0);
    signal(SIGPIPE, SIG_IGN);

    if (uv_loop_init(&server->loop) != 0)
        panic("could not make the event loop");
    uv_async_init(&server->loop, &server->async, woken);
    server->async.data = server;
    uv_timer_init(&server->loop, &server->timer);
    server->timer.data = server;
    uv_timer_init(&server->loop, &server->watch);
    server->watch.data = server;
    uv_timer_start(&server->watch, watch_clients, WATCH_MS, WATCH_MS);
    for (int i = 0; i < 4; i++) {
        uv_signal_init(&server->loop, &server->signals[i]);
        server->signals[i].data = server;
        uv_signal_start(&server->signals[i], signaled, numbers[i]);
    }

    enum status status = listener_open(&server->loop, server, settings, &server->listener);
    if (!status) {
        printf("crabtree: ready to accept connections on %s\n", listener_description(server->listener));
        fflush(stdout);
        uv_run(&server->loop, UV_RUN_DEFAULT);
        log_line("LOG", "shutting down");
    }
    listener_close(server->listener);
    uv_walk(&server->loop, close_handle, NULL);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    uv_loop_close(&server->loop);
    ASSERT(server->connection_count == 0);
    listener_free(server->listener);
    free(server);
    return status;
}
