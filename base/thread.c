/* base/thread.c - threads, and the conditions they wait on.
 *
 *            thread_start            the thread ends            thread_join
 *     FREE -------------> JOINABLE --------------------> ENDED -------------> FREE
 *                             | thread_detach                  thread_detach
 *                             +-------------> DETACHED ----------------------> FREE   (as the thread ends)
 *
 * Waiting on a condition:
 *
 * 1. A thread enters the condition's queue while it still holds the latch, then lets the latch go and sleeps on the
 *    park word of its own record. So a waker that changed the predicate under the latch finds it in the queue: no
 *    wake-up is lost.
 * 2. A waker takes the thread off the queue and sets SIGNALED in its park word, both under the guard. A thread that
 *    stops waiting for another reason (deadline, interrupt) looks under the guard whether it's still in the queue; if
 *    not, it was signaled, and says so. So no wake-up is given to a thread that then reports something else, and
 *    none arrives in a later wait.
 * 3. thread_interrupt sets the bit first and then POKED in the park word; an interruptible wait clears the park word
 *    first and then reads the bits (all sequentially consistent): one of the two sees the other. POKED may come late,
 *    into another wait, where it only causes one more look at the bits. */
#include "base/latch.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/mutant.h"
#include "base/step.h"
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local struct thread *thread_current;
_Atomic(struct thread *) thread_records;

static _Atomic uint32_t records_guard; /* over the two below */
static struct thread *free_records;
static uint32_t record_count;

/* ---- Sleeping and waking ---- */

bool kernel_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline_us)
{
    struct timespec deadline = {(time_t)(deadline_us / 1000000), (long)(deadline_us % 1000000) * 1000};
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                          deadline_us ? &deadline : NULL, NULL, bits);
    return !(result < 0 && errno == ETIMEDOUT);
}

int kernel_wake(_Atomic uint32_t *word, int count, uint32_t bits)
{
    long woken = syscall(SYS_futex, word, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, count, NULL, NULL, bits);
    return woken > 0 ? (int)woken : 0;
}

bool futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline_us)
{
    return scheduled() ? scheduler_futex_wait(word, expected, bits, deadline_us) : kernel_wait(word, expected, bits, deadline_us);
}

int futex_wake(_Atomic uint32_t *word, int count, uint32_t bits)
{
    return scheduled() ? scheduler_futex_wake(word, count, bits) : kernel_wake(word, count, bits);
}

void spin_pause(void)
{
    if (scheduled())
        scheduler_yield("spin");
#if defined(__x86_64__)
    else
        __builtin_ia32_pause();
#endif
}

int spin_count(int wanted)
{
    return scheduled() ? 0 : wanted;
}

void guard_wait(_Atomic uint32_t *guard)
{
    for (int spins = 0; spins < 60; spins++) {
        uint32_t expected = 0;
        if (atomic_load_explicit(guard, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(guard, &expected, 1, memory_order_acquire, memory_order_relaxed))
            return;
        spin_pause();
    }
    while (atomic_exchange_explicit(guard, 2, memory_order_acquire) != 0)
        futex_wait(guard, 2, FUTEX_ALL_BITS, 0);
}

/* ---- Records ---- */

static void name_set(struct thread *thread, const char *name)
{
    size_t length = strnlen(name, sizeof(thread->shown_name) - 1);
    for (size_t i = 0; i < sizeof(thread->shown_name); i++) {
        char c = i < length ? name[i] : '\0';
        atomic_store_explicit(&thread->name[i], c, memory_order_relaxed);
        thread->shown_name[i] = c;
    }
}

static struct thread *record_take(const char *name)
{
    guard_take(&records_guard);
    struct thread *thread = free_records;
    if (thread) {
        free_records = thread->next_free;
    } else {
        thread = calloc(1, sizeof(*thread));
        if (!thread)
            panic("out of memory: no room for a thread's record");
        thread->number = ++record_count;
        thread->wake_fd = -1;
        thread->next_record = atomic_load_explicit(&thread_records, memory_order_relaxed);
        atomic_store_explicit(&thread_records, thread, memory_order_release);
    }
    guard_drop(&records_guard);

    name_set(thread, name);
    atomic_store(&thread->interrupts, 0);
    atomic_store(&thread->pid, 0);
    atomic_store_explicit(&thread->waits_for, NULL, memory_order_relaxed);
    atomic_store_explicit(&thread->started_us, wall_us(), memory_order_relaxed);
    thread->next_free = NULL;
    thread->member = NULL;
    return thread;
}

static void record_give_back(struct thread *thread)
{
    ASSERT(atomic_load(&thread->held_count) == 0);
    atomic_store(&thread->state, THREAD_FREE);
    atomic_store(&thread->pid, 0);
    guard_take(&records_guard);
    thread->next_free = free_records;
    free_records = thread;
    guard_drop(&records_guard);
}

/* A foreign thread's record comes back by the destructor of a key; main's never does. */
static pthread_key_t adopted_key;
static pthread_once_t adopted_once = PTHREAD_ONCE_INIT;

static void adopted_end(void *thread)
{
    thread_current = NULL;
    error_clear();
    arena_thread_ends();
    record_give_back(thread);
}

static void adopted_key_make(void)
{
    if (pthread_key_create(&adopted_key, adopted_end) != 0)
        panic("could not make a thread key");
}

struct thread *thread_adopt(void)
{
    pthread_once(&adopted_once, adopted_key_make);
    struct thread *thread = record_take(getpid() == gettid() ? "main" : "foreign");
    thread->id = pthread_self();
    atomic_store(&thread->state, THREAD_DETACHED);
    thread_current = thread;
    pthread_setspecific(adopted_key, thread);
    return thread;
}

/* ---- Starting and ending ---- */

static void *thread_main(void *argument)
{
    struct thread *thread = argument;
    thread_current = thread;
    char short_name[16];
    memcpy(short_name, thread->shown_name, 15);
    short_name[15] = '\0';
    pthread_setname_np(pthread_self(), short_name);
    struct member *member = thread->member;
    if (member)
        scheduler_thread_begins();

    thread->run(thread->argument);

    error_clear();
    arena_thread_ends();
    ASSERT(atomic_load(&thread->held_count) == 0);
    if (atomic_exchange(&thread->state, THREAD_ENDED) == THREAD_DETACHED) {
        thread_current = NULL;
        record_give_back(thread);
    }
    if (member)
        scheduler_thread_ends(member);
    return NULL;
}

/* Signals are main's business, so a thread starts with all blocked but those that its own faults raise. */
static struct thread *start(const char *name, void (*run)(void *argument), void *argument, bool managed)
{
    sigset_t blocked, before;
    sigfillset(&blocked);
    int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&blocked, faults[i]);

    struct thread *thread = record_take(name);
    thread->run = run;
    thread->argument = argument;
    atomic_store(&thread->state, THREAD_JOINABLE);
    if (managed)
        scheduler_thread_made(thread);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int failed = pthread_create(&thread->id, NULL, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        if (managed)
            scheduler_thread_unmade(thread);
        record_give_back(thread);
        return NULL;
    }
    return thread;
}

struct thread *thread_start(const char *name, void (*run)(void *argument), void *argument)
{
    struct thread *thread = start(name, run, argument, scheduled());
    point("thread.started");
    return thread;
}

struct thread *thread_start_scheduled(const char *name, void (*run)(void *argument), void *argument)
{
    return start(name, run, argument, true);
}

void thread_join(struct thread *thread)
{
    if (scheduled())
        scheduler_thread_join(thread);
    if (pthread_join(thread->id, NULL) != 0)
        panic("could not join thread \"%s\"", thread->shown_name);
    ASSERT(atomic_load(&thread->state) == THREAD_ENDED);
    record_give_back(thread);
}

void thread_detach(struct thread *thread)
{
    pthread_detach(thread->id);
    if (atomic_exchange(&thread->state, THREAD_DETACHED) == THREAD_ENDED)
        record_give_back(thread);
}

struct thread *thread_self(void)
{
    return thread_here();
}

const char *thread_name(const struct thread *thread)
{
    return thread->shown_name;
}

void thread_set_pid(struct thread *thread, int32_t pid)
{
    atomic_store_explicit(&thread->pid, pid, memory_order_relaxed);
}

int32_t thread_pid(const struct thread *thread)
{
    return atomic_load_explicit(&thread->pid, memory_order_relaxed);
}

/* ---- What a thread waits for, for views ---- */

void thread_waits_for(const char *name)
{
    atomic_store_explicit(&thread_here()->waits_for, name, memory_order_relaxed);
}

size_t thread_sights(struct thread_sight *out, size_t capacity)
{
    size_t found = 0;
    for (struct thread *thread = atomic_load_explicit(&thread_records, memory_order_acquire); thread;
         thread = thread->next_record) {
        uint32_t state = atomic_load(&thread->state);
        if (state != THREAD_JOINABLE && state != THREAD_DETACHED)
            continue;
        if (found < capacity) {
            struct thread_sight *sight = &out[found];
            memset(sight, 0, sizeof(*sight));
            sight->pid = atomic_load_explicit(&thread->pid, memory_order_relaxed);
            sight->number = thread->number;
            for (size_t i = 0; i < sizeof(sight->name) - 1; i++)
                sight->name[i] = atomic_load_explicit(&thread->name[i], memory_order_relaxed);
            sight->waits_for = atomic_load_explicit(&thread->waits_for, memory_order_relaxed);
            sight->started_us = atomic_load_explicit(&thread->started_us, memory_order_relaxed);
        }
        found++;
    }
    return found;
}

/* ---- Interrupts ---- */

void thread_interrupt(struct thread *thread, enum interrupt bit)
{
    atomic_fetch_or(&thread->interrupts, (unsigned)bit);
    atomic_fetch_or(&thread->park, PARK_POKED);
    futex_wake(&thread->park, 1, FUTEX_ALL_BITS);
    if (atomic_load(&thread->waits_for_fd)) {
        uint64_t one = 1;
        ssize_t ignored = write(thread->wake_fd, &one, sizeof(one));
        (void)ignored; /* full: it is readable already */
    }
    if (bit == INTERRUPT_TERMINATE) {
        guard_take(&thread->socket_guard);
        if (thread->socket > 0)
            shutdown(thread->socket - 1, SHUT_RD);
        guard_drop(&thread->socket_guard);
    }
    if (atomic_load(&hooks_on) & HOOK_STEP)
        step_interrupted(thread);
}

void thread_serves(int socket)
{
    struct thread *self = thread_here();
    guard_take(&self->socket_guard);
    self->socket = socket + 1;
    if (socket >= 0 && (atomic_load(&self->interrupts) & INTERRUPT_TERMINATE))
        shutdown(socket, SHUT_RD); /* it came before it knew the socket */
    guard_drop(&self->socket_guard);
}

void thread_set_patient(bool on)
{
    struct sched_param none = {0};
    (void)pthread_setschedparam(pthread_self(), on ? SCHED_BATCH : SCHED_OTHER, &none); /* a favour: it works without */
}

unsigned thread_interrupts(void)
{
    return atomic_load_explicit(&thread_here()->interrupts, memory_order_relaxed);
}

enum status thread_check_interrupts(void)
{
    unsigned bits = thread_interrupts();
    if (__builtin_expect(bits == 0, 1))
        return STATUS_OK;
    if (bits & INTERRUPT_TERMINATE)
        return error_set(STATUS_ADMIN_SHUTDOWN, "terminating connection due to administrator command");
    if (bits & INTERRUPT_TIMEOUT) {
        thread_interrupt_clear(INTERRUPT_TIMEOUT);
        return error_set(STATUS_CANCELED, "canceling statement due to statement timeout");
    }
    if (bits & INTERRUPT_CANCEL) {
        thread_interrupt_clear(INTERRUPT_CANCEL);
        return error_set(STATUS_CANCELED, "canceling statement due to user request");
    }
    return STATUS_OK;
}

void thread_interrupt_clear(unsigned bits)
{
    atomic_fetch_and(&thread_here()->interrupts, ~bits);
}

/* The same agreement as rule 3, with waits_for_fd for the park word: it is set before the bits are read. A write that
 * comes late makes the next wait look once more. Where no eventfd can be had, the wait looks every tenth of a second. */
enum wake thread_wait_fd(int fd, bool writable, uint64_t deadline_us, unsigned interrupts)
{
    struct thread *self = thread_here();
    enum wake wake;

    ASSERT(latch_held_count() == 0);
    if (self->wake_fd < 0)
        self->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->wake_fd >= 0)
        atomic_store(&self->waits_for_fd, 1);
    thread_waits_for(writable ? "fd.write" : "fd.read");
    point_at("fd.wait", NULL, (uint64_t)fd);
    for (;;) {
        struct pollfd polled[2] = {{fd, writable ? POLLOUT : POLLIN, 0}, {self->wake_fd, POLLIN, 0}};
        struct timespec left, *timeout = NULL;
        uint64_t left_us = self->wake_fd < 0 ? 100000 : UINT64_MAX;

        if (atomic_load(&self->interrupts) & interrupts) {
            wake = WAKE_INTERRUPTED;
            break;
        }
        if (deadline_us) {
            uint64_t now = now_us();
            if (now >= deadline_us) {
                wake = WAKE_TIMEOUT;
                break;
            }
            if (deadline_us - now < left_us)
                left_us = deadline_us - now;
        }
        if (left_us != UINT64_MAX) {
            left = (struct timespec){(time_t)(left_us / 1000000), (long)(left_us % 1000000) * 1000};
            timeout = &left;
        }
        int ready = scheduled() ? scheduler_poll(polled, deadline_us) : ppoll(polled, 2, timeout, NULL);
        if (ready > 0 && polled[1].revents) {
            uint64_t count;
            ssize_t ignored = read(self->wake_fd, &count, sizeof(count));
            (void)ignored;
        }
        if (ready > 0 && polled[0].revents) {
            wake = WAKE_SIGNALED;
            break;
        }
    }
    atomic_store(&self->waits_for_fd, 0);
    thread_waits_for(NULL);
    return wake;
}

/* ---- Conditions ---- */

void condition_init(struct condition *condition, const char *name)
{
    atomic_init(&condition->guard, 0);
    condition->first = condition->last = NULL;
    condition->name = name;
}

static void queue_add(struct condition *condition, struct thread *thread)
{
    thread->wait_next = NULL;
    thread->wait_previous = condition->last;
    if (condition->last)
        condition->last->wait_next = thread;
    else
        condition->first = thread;
    condition->last = thread;
    thread->in_queue = true;
}

static void queue_remove(struct condition *condition, struct thread *thread)
{
    if (thread->wait_previous)
        thread->wait_previous->wait_next = thread->wait_next;
    else
        condition->first = thread->wait_next;
    if (thread->wait_next)
        thread->wait_next->wait_previous = thread->wait_previous;
    else
        condition->last = thread->wait_previous;
    thread->in_queue = false;
}

_Thread_local const struct wait_hooks *thread_wait_hooks;

enum wake condition_wait_until(struct condition *condition, struct latch *latch, uint64_t deadline_us,
                               bool interruptible)
{
    struct thread *self = thread_here();
    ASSERT(latch_held(latch));
    enum latch_mode mode = latch_held_exclusive(latch) ? LATCH_EXCLUSIVE : LATCH_SHARED;
    enum wake wake = WAKE_SIGNALED;

    atomic_store(&self->park, 0);
    if (interruptible && atomic_load(&self->interrupts))
        return WAKE_INTERRUPTED;

    point_at("condition.enter", condition, 0);  /* who changes what this thread has seen without its latch wakes nobody here */
    if (MUTANT(CONDITION_JOINED_LATE)) {
        latch_release(latch);
        point_at("condition.wait", condition, 0);
    }
    guard_take(&condition->guard);
    queue_add(condition, self);
    guard_drop(&condition->guard);
    if (!MUTANT(CONDITION_JOINED_LATE))
        latch_release(latch);
    const struct wait_hooks *hooks = interruptible ? thread_wait_hooks : NULL;
    if (hooks)
        hooks->before();
    thread_waits_for(condition->name);
    point_at("condition.wait", condition, 0);

    for (;;) {
        uint32_t park = atomic_load(&self->park);
        if (park & PARK_SIGNALED)
            break;
        if ((park & PARK_POKED) && interruptible) {
            if (atomic_load(&self->interrupts)) {
                wake = WAKE_INTERRUPTED;
                break;
            }
            atomic_fetch_and(&self->park, ~PARK_POKED);
            if (atomic_load(&self->interrupts)) { /* came between the two lines above */
                wake = WAKE_INTERRUPTED;
                break;
            }
            continue;
        }
        if (!futex_wait(&self->park, park, FUTEX_ALL_BITS, deadline_us)) {
            wake = WAKE_TIMEOUT;
            break;
        }
    }
    if (wake != WAKE_SIGNALED) {
        guard_take(&condition->guard);
        if (self->in_queue)
            queue_remove(condition, self);
        else
            wake = WAKE_SIGNALED; /* rule 2 */
        guard_drop(&condition->guard);
    }
    thread_waits_for(NULL);
    point_at("condition.woken", condition, 0);
    if (hooks)
        hooks->after();
    latch_acquire(latch, mode);
    return wake;
}

void condition_wait(struct condition *condition, struct latch *latch)
{
    condition_wait_until(condition, latch, 0, false);
}

void condition_wake_one(struct condition *condition)
{
    guard_take(&condition->guard);
    struct thread *thread = condition->first;
    if (thread) {
        queue_remove(condition, thread);
        atomic_fetch_or(&thread->park, PARK_SIGNALED);
    }
    guard_drop(&condition->guard);
    if (thread)
        futex_wake(&thread->park, 1, FUTEX_ALL_BITS);
}

/* Wakes those who stand in the queue now, some at a time; the system calls are made outside the guard. */
void condition_wake_all(struct condition *condition)
{
    struct thread *woken[64];
    size_t count;
    do {
        count = 0;
        guard_take(&condition->guard);
        while (condition->first && count < sizeof(woken) / sizeof(woken[0])) {
            struct thread *thread = condition->first;
            queue_remove(condition, thread);
            atomic_fetch_or(&thread->park, PARK_SIGNALED);
            woken[count++] = thread;
        }
        guard_drop(&condition->guard);
        for (size_t i = 0; i < count; i++)
            futex_wake(&woken[i]->park, 1, FUTEX_ALL_BITS);
    } while (count == sizeof(woken) / sizeof(woken[0]));
}

/* ---- Time ---- */

uint64_t now_us(void)
{
    if (scheduled())
        return scheduler_now_us();
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int64_t wall_us(void)
{
    if (scheduled())
        return scheduler_wall_us();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void sleep_us(uint64_t us)
{
    if (scheduled()) {
        scheduler_sleep(us);
        return;
    }
    struct timespec left = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}
