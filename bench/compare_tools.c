/* bench/compare_tools.c - clocks, medians, and when two answers are the same. */
#include "bench/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

double process_cpu_ms(int pid)
{
    clockid_t clock;
    struct timespec now;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0)
        return 0;
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
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
