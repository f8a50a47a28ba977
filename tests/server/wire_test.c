/* tests/server/wire_test.c - messages in and out, well formed and not; startup packets. */
#include "server/auth.h"
#include "server/wire.h"

#include "base/latch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int client;
static struct wire wire;

static void set_up(void)
{
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    client = pair[1];
    wire_open(&wire, pair[0]);
}

static void tear_down(void)
{
    close(wire.fd);
    close(client);
    wire_close(&wire);
}

static void say(const void *bytes, size_t count)
{
    cr_assert_eq(write(client, bytes, count), (ssize_t)count);
}

static enum status hear(struct message *message)
{
    return wire_read(&wire, now_us() + 1000, 0, message);
}

TestSuite(wire, .init = set_up, .fini = tear_down);

Test(wire, reads_messages_that_arrive_byte_by_byte)
{
    struct message message;
    const char bytes[] = "Q\0\0\0\x0dSELECT 1\0S\0\0\0\4";
    for (size_t i = 0; i < 13; i++) {
        say(bytes + i, 1);
        cr_assert_eq(hear(&message), STATUS_WOULD_BLOCK);
    }
    say(bytes + 13, sizeof(bytes) - 1 - 13);
    cr_assert_eq(hear(&message), STATUS_OK);
    cr_assert_eq(message.type, 'Q');
    cr_assert_str_eq(message_string(&message), "SELECT 1");
    cr_assert_eq(message_end(&message), STATUS_OK);
    cr_assert_eq(hear(&message), STATUS_OK);
    cr_assert_eq(message.type, 'S');
    cr_assert_eq(message.length, 0);
    cr_assert_eq(hear(&message), STATUS_WOULD_BLOCK);
    close(client);
    client = -1;
    cr_assert_eq(hear(&message), STATUS_CONNECTION_FAILURE);
}

Test(wire, grows_for_a_long_message_and_shrinks_again)
{
    struct message message;
    size_t length = 1000000;
    uint8_t *long_message = calloc(1, length + 5);
    memcpy(long_message, "d\0\x0f\x42\x44", 5); /* 1000004 */
    long_message[5 + length - 1] = 'z';
    for (size_t at = 0; at < length + 5;) {
        ssize_t wrote = write(client, long_message + at, length + 5 - at);
        if (wrote > 0)
            at += (size_t)wrote;
        if (at < length + 5)
            cr_assert_eq(hear(&message), STATUS_WOULD_BLOCK);
    }
    cr_assert_eq(hear(&message), STATUS_OK);
    cr_assert_eq(message.length, length);
    cr_assert_eq(message.bytes[length - 1], 'z');
    size_t grown = wire.in_capacity;
    cr_assert_geq(grown, length);
    say("S\0\0\0\4", 5);
    cr_assert_eq(hear(&message), STATUS_OK);
    cr_assert_lt(wire.in_capacity, grown);
    free(long_message);
}

Test(wire, an_announced_gigabyte_costs_nothing)
{
    struct message message;
    say("Q\x3f\xff\xff\xffSELECT", 11);
    cr_assert_eq(hear(&message), STATUS_WOULD_BLOCK);
    cr_assert_leq(wire.in_capacity, 16384);
}

static void refuses(const char *bytes, size_t count)
{
    struct message message;
    say(bytes, count);
    cr_assert_eq(hear(&message), STATUS_PROTOCOL_VIOLATION);
}

Test(wire, refuses_an_unknown_type) { refuses("!\0\0\0\4", 5); }
Test(wire, refuses_a_length_below_its_own) { refuses("Q\0\0\0\3", 5); }
Test(wire, refuses_a_negative_length) { refuses("Q\xff\xff\xff\xff", 5); }
Test(wire, refuses_more_than_a_gigabyte) { refuses("Q\x40\0\0\4", 5); }
Test(wire, refuses_a_long_sync) { refuses("S\0\1\0\0", 5); }

Test(wire, a_message_taken_apart_says_when_it_was_too_short_or_long)
{
    struct message message = {.bytes = (const uint8_t *)"\1\2\3\4ab", .length = 6};
    cr_assert_eq(message_int16(&message), 0x0102);
    cr_assert_eq(message_end(&message), STATUS_PROTOCOL_VIOLATION);
    cr_assert_eq(message_byte(&message), 3);
    cr_assert_eq(message_int32(&message), 0); /* three bytes are left */
    cr_assert(message.bad);
    cr_assert_str_eq(message_string(&message), "");
    cr_assert_null(message_bytes(&message, 1));
    cr_assert_eq(message_end(&message), STATUS_PROTOCOL_VIOLATION);

    struct message unterminated = {.bytes = (const uint8_t *)"abc", .length = 3};
    cr_assert_str_eq(message_string(&unterminated), "");
    cr_assert(unterminated.bad);
    struct message huge = {.bytes = (const uint8_t *)"abc", .length = 3, .at = 1};
    cr_assert_null(message_bytes(&huge, SIZE_MAX));
}

Test(wire, writes_messages_and_takes_one_back)
{
    char heard[64];
    wire_begin(&wire, 'C');
    wire_string(&wire, "BEGIN");
    wire_end(&wire);
    wire_begin(&wire, 'D');
    wire_int16(&wire, 3);
    wire_cancel(&wire);
    wire_begin(&wire, 'Z');
    wire_byte(&wire, 'I');
    wire_end(&wire);
    cr_assert_eq(wire_flush(&wire, 0), STATUS_OK);
    cr_assert_eq(read(client, heard, sizeof(heard)), 17);
    cr_assert_eq(memcmp(heard, "C\0\0\0\x0a" "BEGIN\0" "Z\0\0\0\5I", 17), 0);
    close(client);
    client = -1;
    wire_begin(&wire, 'Z');
    wire_end(&wire);
    cr_assert_eq(wire_flush(&wire, 0), STATUS_CONNECTION_FAILURE);
    cr_assert(wire.broken);
}

Test(wire, a_write_to_a_client_that_does_not_read_ends_with_an_interrupt)
{
    wire_begin(&wire, 'd');
    for (int i = 0; i < 1000000; i++)
        wire_int32(&wire, (uint32_t)i);
    wire_end(&wire);
    thread_interrupt(thread_self(), INTERRUPT_CANCEL);
    cr_assert_eq(wire_flush(&wire, INTERRUPT_CANCEL), STATUS_STOP);
    thread_interrupt_clear(INTERRUPT_CANCEL);
    cr_assert_eq(wire.out.length, 4000005);
    cr_assert_gt(wire.out_sent, 0);
}

/* ---- Startup ---- */

#define PACKET(code, text) code text, sizeof(code) + sizeof(text) - 2

static enum status start(const char *bytes, size_t length, struct startup *out)
{
    static struct arena *arena;
    if (!arena)
        arena = arena_open(NULL, "test");
    struct message message = {.bytes = (const uint8_t *)bytes, .length = length};
    return startup_parse(&message, arena, out);
}

Test(startup, takes_a_packet_apart)
{
    struct startup startup;
    cr_assert_eq(start(PACKET("\0\3\0\0", "user\0postgres\0database\0postgres\0options\0-c work_mem=1MB --a-b=c\\ d\0"
                                            "application_name\0psql\0_pq_.x\0y\0\0"), &startup), STATUS_OK);
    cr_assert_eq(startup.kind, STARTUP_SESSION);
    cr_assert_str_eq(startup.user, "postgres");
    cr_assert_str_eq(startup.application_name, "psql");
    cr_assert_eq(startup.option_count, 3);
    cr_assert_str_eq(startup.options[0].name, "work_mem");
    cr_assert_str_eq(startup.options[1].name, "a_b");
    cr_assert_str_eq(startup.options[1].value, "c d");
    cr_assert_str_eq(startup.options[2].name, "application_name");
    cr_assert_eq(startup.unknown_count, 1);
    cr_assert_eq(auth_check(&startup), STATUS_OK);
}

Test(startup, the_database_is_the_user_when_not_named)
{
    struct startup startup;
    cr_assert_eq(start(PACKET("\0\3\0\0", "user\0bob\0\0"), &startup), STATUS_OK);
    cr_assert_str_eq(startup.database, "bob");
    cr_assert_eq(auth_check(&startup), STATUS_INVALID_AUTHORIZATION);
}

Test(startup, knows_requests_for_encryption_and_cancel)
{
    struct startup startup;
    cr_assert_eq(start(PACKET("\x04\xd2\x16\x2f", ""), &startup), STATUS_OK);
    cr_assert_eq(startup.kind, STARTUP_ENCRYPTION);
    cr_assert_eq(start(PACKET("\x04\xd2\x16\x2e", "\0\0\0\7\1\2\3\4"), &startup), STATUS_OK);
    cr_assert_eq(startup.kind, STARTUP_CANCEL);
    cr_assert_eq(startup.cancel_pid, 7);
    cr_assert_eq(startup.cancel_secret, 0x01020304);
    cr_assert_eq(start(PACKET("\x04\xd2\x16\x2e", "\0\0\0\7"), &startup), STATUS_PROTOCOL_VIOLATION);
}

Test(startup, refuses_what_is_malformed)
{
    struct startup startup;
    cr_assert_eq(start(PACKET("\0\2\0\0", "user\0x\0\0"), &startup), STATUS_FEATURE_NOT_SUPPORTED);
    cr_assert_eq(start(PACKET("\0\3\0\0", ""), &startup), STATUS_PROTOCOL_VIOLATION);
    cr_assert_eq(start(PACKET("\0\3\0\0", "user\0x\0"), &startup), STATUS_PROTOCOL_VIOLATION);
    cr_assert_eq(start(PACKET("\0\3\0\0", "user\0x"), &startup), STATUS_PROTOCOL_VIOLATION);
    cr_assert_eq(start(PACKET("\0\3\0\0", "user\0x\0\0more"), &startup), STATUS_PROTOCOL_VIOLATION);
    cr_assert_eq(start(PACKET("\0\3\0\0", "database\0x\0\0"), &startup), STATUS_INVALID_AUTHORIZATION);
    cr_assert_eq(start(PACKET("\0\3\0\0", "user\0x\0options\0-c\0\0"), &startup), STATUS_SYNTAX);
    cr_assert_eq(start(PACKET("\0\3\0\0", "user\0\xff\0\0"), &startup), STATUS_CHARACTER_NOT_IN_REPERTOIRE);
}

Test(utf8, accepts_what_is_well_formed_and_nothing_else)
{
    const char *good[] = {"", "plain ascii text", "h\xc3\xa9llo w\xc3\xb6rld", "\xe2\x82\xac 1", "\xf0\x9f\xa6\x80 crab", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"};
    const char *bad[] = {"\x80", "abcdefgh\xff", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\xa6", "12345678\xc3(12345678"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        cr_assert_eq(utf8_check(good[i], strlen(good[i])), STATUS_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert_eq(utf8_check(bad[i], strlen(bad[i])), STATUS_CHARACTER_NOT_IN_REPERTOIRE, "%zu", i);
    cr_assert_eq(utf8_check("12345678\0abc", 12), STATUS_CHARACTER_NOT_IN_REPERTOIRE);
    cr_assert_eq(utf8_characters("h\xc3\xa9llo", 4), 3);
}
