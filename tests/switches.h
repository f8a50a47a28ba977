/* tests/switches.h - a program that includes this begins under the settings that CRAB_SWITCHES names, by the same door as the
 * server's -c: CRAB_SWITCHES="crab.btree_latching=tree crab.pool_io=latched". (Servers that scripts start: tests/lib.sh.) */
#ifndef TESTS_SWITCHES_H
#define TESTS_SWITCHES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/settings.h"

static inline const char *switches_text(void)
{
    const char *text = getenv("CRAB_SWITCHES");
    return text ? text : "";
}

/* A program that turns a switch by itself leaves it alone when it is given. */
static inline bool switch_given(const char *name)
{
    size_t length = strlen(name);
    for (const char *at = switches_text(); (at = strstr(at, name)) != NULL; at += length)
        if (at[length] == '=')
            return true;
    return false;
}

/* For the options of a store or pool that a test opens without an engine. */
static inline uint32_t switch_partitions(void)
{
    return switch_given("crab.pool_partitions") ? (uint32_t)settings_server_number("crab.pool_partitions") : 16;
}

__attribute__((constructor)) static void switches_begin(void)
{
    char *text = strdup(switches_text()), *rest = text, *word;
    while ((word = strsep(&rest, " ")) != NULL) {
        char *value = strchr(word, '=');
        if (!*word)
            continue;
        if (value)
            *value++ = 0;
        if (!value || settings_set_server(word, value)) {
            fprintf(stderr, "CRAB_SWITCHES: %s: %s\n", word, value ? error_current()->message : "no value");
            exit(2);
        }
    }
    free(text);
}

#endif
