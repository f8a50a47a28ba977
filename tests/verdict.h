/* tests/verdict.h - the last line of a program with threads: who did how much, by which seed, under which settings, and was it right. */
#ifndef TESTS_VERDICT_H
#define TESTS_VERDICT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the exit status. tests/soak.sh reads this line. */
static inline int verdict(const char *program, uint32_t threads, uint64_t operations, uint64_t seed, uint64_t failures)
{
    const char *switches = getenv("CRAB_SWITCHES");
    printf("%s: %u threads, %llu operations, seed %llu, %s: ", program, threads, (unsigned long long)operations, (unsigned long long)seed,
           switches && *switches ? switches : "default switches");
    if (failures)
        printf("FAILED (%llu)\n", (unsigned long long)failures);
    else
        printf("fine\n");
    return failures != 0;
}

#endif
