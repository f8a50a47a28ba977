/* bench/compare_tools.c - clocks, medians, and when two answers are the same. */
#include "bench/compare.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double own_cpu_ms(int pid)
{
    clockid_t clock;
    struct timespec now;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0)
        return 0;
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* /proc/PID/stat: the parent, and the ticks of children that have ended. */
static bool process_read(const char *pid, int *parent, double *ended_ms)
{
    char path[300], text[1024];
    unsigned long user, system;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    char *name_end = strrchr(text, ')');
    if (!name_end || sscanf(name_end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu", parent, &user, &system) != 3)
        return false;
    *ended_ms = (double)(user + system) * 1e3 / (double)sysconf(_SC_CLK_TCK);
    return true;
}

double process_cpu_ms(int pid)
{
    char name[16];
    int parent;
    double ended = 0, sum = own_cpu_ms(pid);
    snprintf(name, sizeof name, "%d", pid);
    if (process_read(name, &parent, &ended))
        sum += ended;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        if (atoi(entry->d_name) > 0 && process_read(entry->d_name, &parent, &ended) && parent == pid)
            sum += own_cpu_ms(atoi(entry->d_name));
    if (processes)
        closedir(processes);
    return sum;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, by_size);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void answer_add(struct answer *a, const char *bytes, size_t length)
{
    if (a->length + length + 1 > a->capacity) {
        a->capacity = (a->length + length + 1) * 2;
        a->text = realloc(a->text, a->capacity);
        if (!a->text)
            abort();
    }
    memcpy(a->text + a->length, bytes, length);
    a->length += length;
    a->text[a->length] = 0;
}

static size_t value_length(const char *at) { return strcspn(at, "\t\n"); }

static bool values_agree(const char *a, size_t a_length, const char *b, size_t b_length)
{
    while (a_length && a[a_length - 1] == ' ')
        a_length--;
    while (b_length && b[b_length - 1] == ' ')
        b_length--;
    if (a_length == b_length && memcmp(a, b, a_length) == 0)
        return true;
    if (a_length == 0 || b_length == 0)
        return false;
    char *a_end, *b_end;
    double x = strtod(a, &a_end), y = strtod(b, &b_end);
    return a_end == a + a_length && b_end == b + b_length && fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

bool answers_agree(const char *one, const char *other)
{
    while (*one && *other) {
        size_t a = value_length(one), b = value_length(other);
        if (one[a] != other[b] || !values_agree(one, a, other, b))
            return false;
        one += a + (one[a] != 0);
        other += b + (other[b] != 0);
    }
    return *one == *other;
}
