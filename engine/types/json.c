/* engine/types/json.c - is a text JSON (RFC 8259)? What type json keeps is the text itself.
 *
 * A walk by hand over the text; nesting is bounded by the stack. Errors are PostgreSQL's: 22P02, and what token is wrong. */
#include "base/stack.h"
#include "engine/types/json.h"

#include <stdio.h>
#include <string.h>

struct json { const char *start, *at, *end; };

/* The token ends at `to`; the line is shown up to there, as PostgreSQL does: some 50 bytes of it. */
static enum status invalid(const struct json *j, const char *detail, const char *token, const char *to)
{
    const char *line = j->start, *from;
    int number = 1;
    for (const char *c = j->start; c < (token ? token : to); c++)
        if (*c == '\n')
            line = c + 1, number++;
    for (from = line; to - from >= 50; from++)
        ;
    while (from > line && from < to && ((unsigned char)*from & 0xC0) == 0x80)
        from++;
    if (from - line <= 3)
        from = line;
    error_set(STATUS_INVALID_TEXT, "invalid input syntax for type json");
    if (token)
        error_detail(detail, (int)(to - token), token);
    else
        error_detail("%s", detail);
    error_context("JSON data, line %d: %s%.*s%s", number, from > line ? "..." : "", (int)(to - from), from, to < j->end && *to != '\n' && *to != '\r' ? "..." : "");
    return STATUS_INVALID_TEXT;
}

static enum status ended(const struct json *j) { return invalid(j, "The input string ended unexpectedly.", NULL, j->end); }

static bool word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80; }

static void blanks(struct json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r'))
        j->at++;
}

static enum status string(struct json *j)
{
    const char *from = j->at++;
    for (; j->at < j->end; j->at++) {
        unsigned char c = (unsigned char)*j->at;
        if (c == '"') {
            j->at++;
            return STATUS_OK;
        }
        if (c < 32) {
            char detail[64];
            snprintf(detail, sizeof detail, "Character with value 0x%02x must be escaped.", c);
            return invalid(j, detail, NULL, j->at);
        }
        if (c != '\\')
            continue;
        if (++j->at == j->end)
            break;
        if (*j->at == 'u') {
            for (int k = 0; k < 4; k++)
                if (++j->at == j->end || !strchr("0123456789abcdefABCDEF", *j->at))
                    return invalid(j, "\"\\u\" must be followed by four hexadecimal digits.", NULL, j->at < j->end ? j->at + 1 : j->end);
        } else if (!strchr("\"\\/bfnrt", *j->at)) {
            return invalid(j, "Escape sequence \"\\%.*s\" is invalid.", j->at, j->at + 1);
        }
    }
    return invalid(j, "Token \"%.*s\" is invalid.", from, j->end);
}

static bool digits(struct json *j)
{
    const char *from = j->at;
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
        j->at++;
    return j->at > from;
}

static enum status number(struct json *j)
{
    const char *from = j->at;
    bool good = true;
    if (*j->at == '-')
        j->at++;
    if (j->at < j->end && *j->at == '0')
        j->at++;
    else
        good = digits(j);
    if (good && j->at < j->end && *j->at == '.') {
        j->at++;
        good = digits(j);
    }
    if (good && j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
            j->at++;
        good = digits(j);
    }
    if (good && (j->at == j->end || !word_char(*j->at)))
        return STATUS_OK;
    while (j->at < j->end && (word_char(*j->at) || *j->at == '.'))
        j->at++;
    return invalid(j, "Token \"%.*s\" is invalid.", from, j->at);
}

static bool word(struct json *j)
{
    static const char *const words[] = { "true", "false", "null" };
    for (int k = 0; k < 3; k++) {
        size_t length = strlen(words[k]);
        if ((size_t)(j->end - j->at) >= length && !memcmp(j->at, words[k], length) && (j->at + length == j->end || !word_char(j->at[length]))) {
            j->at += length;
            return true;
        }
    }
    return false;
}

/* Something else stands there: a token of the wrong kind, or none. expected: with %.*s for it. */
static enum status unexpected(struct json *j, const char *expected)
{
    const char *from = j->at;
    enum status status = STATUS_OK;
    if (j->at == j->end)
        return ended(j);
    if (*from == '"')
        status = string(j);
    else if (*from == '-' || (*from >= '0' && *from <= '9'))
        status = number(j);
    else if (word_char(*from)) {
        if (!word(j)) {
            while (j->at < j->end && word_char(*j->at))
                j->at++;
            expected = "Token \"%.*s\" is invalid.";
        }
    } else {
        j->at++;
        if (!strchr("{}[],:", *from))
            expected = "Token \"%.*s\" is invalid.";
    }
    return status ? status : invalid(j, expected, from, j->at);
}

static enum status value(struct json *j);

/* The list behind { or [, of which the bracket is read. */
static enum status list(struct json *j, char close)
{
    blanks(j);
    if (j->at < j->end && *j->at == close)
        return j->at++, STATUS_OK;
    for (bool first = true;; first = false) {
        enum status status = STATUS_OK;
        if (close == '}') {
            blanks(j);
            if (j->at == j->end || *j->at != '"')
                return unexpected(j, first ? "Expected string or \"}\", but found \"%.*s\"." : "Expected string, but found \"%.*s\".");
            status = string(j);
            blanks(j);
            if (!status && (j->at == j->end || *j->at != ':'))
                return unexpected(j, "Expected \":\", but found \"%.*s\".");
            j->at++;
        }
        if (!status)
            status = value(j);
        if (status)
            return status;
        blanks(j);
        if (j->at < j->end && *j->at == close)
            return j->at++, STATUS_OK;
        if (j->at == j->end || *j->at != ',')
            return unexpected(j, close == '}' ? "Expected \",\" or \"}\", but found \"%.*s\"." : "Expected \",\" or \"]\", but found \"%.*s\".");
        j->at++;
    }
}

static enum status value(struct json *j)
{
    if (stack_is_deep()) {
        error_set(STATUS_TOO_COMPLEX, "stack depth limit exceeded");
        return STATUS_TOO_COMPLEX;
    }
    blanks(j);
    if (j->at == j->end)
        return ended(j);
    char c = *j->at;
    if (c == '{' || c == '[') {
        j->at++;
        return list(j, c == '{' ? '}' : ']');
    }
    if (c == '"')
        return string(j);
    if (c == '-' || (c >= '0' && c <= '9'))
        return number(j);
    return word(j) ? STATUS_OK : unexpected(j, "Expected JSON value, but found \"%.*s\".");
}

enum status json_check(const char *text, size_t length)
{
    struct json j = { text, text, text + length };
    enum status status = value(&j);
    if (status)
        return status;
    blanks(&j);
    return j.at == j.end ? STATUS_OK : unexpected(&j, "Expected end of input, but found \"%.*s\".");
}
