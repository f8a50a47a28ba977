/* parser/lexer.c - bytes to tokens, by PostgreSQL's rules.
 *
 * 1. The text was checked to be UTF-8 without NUL before (text_check), so a byte >= 0x80 is part of a letter.
 * 2. Words fold to lower case in ASCII only, and are cut to 63 bytes at a character's edge.
 * 3. An operator is the longest run of operator characters, cut before a comment starts, and without trailing + or -
 *    unless it holds one of ~ ! @ # ^ & | ` ? %. So a<-1 is a < -1 and a@-1 is a @- 1.
 * 4. Two strings with a newline between them are one string.
 * 5. Tokens are read one at a time: an error in the text counts only when the parse gets there. */
#include "parser/internal.h"

#include <stdio.h>
#include <string.h>

static inline bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
static inline bool is_word_start(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}
static inline bool is_word(unsigned char c) { return is_word_start(c) || is_digit(c) || c == '$'; }
static inline bool is_space(unsigned char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
static inline bool is_operator(unsigned char c) { return c != 0 && strchr("~!@#^&|`?+-*/%<>=", c) != NULL; }

static inline unsigned char byte_at(const struct parser *p, int at)
{
    return at < p->length ? (unsigned char)p->sql[at] : 0;
}

/* Length of the valid UTF-8 character at `bytes`, 0 if there is none. */
static int utf8_length(const unsigned char *bytes, size_t room)
{
    unsigned char c = bytes[0];
    if (c == 0)
        return 0;
    if (c < 0x80)
        return 1;
    if (c < 0xC2 || c > 0xF4)
        return 0;
    int length = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (room < (size_t)length)
        return 0;
    for (int i = 1; i < length; i++)
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    if ((c == 0xE0 && bytes[1] < 0xA0) || (c == 0xED && bytes[1] > 0x9F) || (c == 0xF0 && bytes[1] < 0x90) ||
        (c == 0xF4 && bytes[1] > 0x8F))
        return 0;
    return length;
}

static enum status bad_byte(const unsigned char *bytes, size_t room)
{
    unsigned char c = bytes[0];
    size_t count = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF8 ? 4 : 1;
    char shown[32];
    int used = 0;
    if (count > room)
        count = room;
    for (size_t i = 0; i < count; i++)
        used += snprintf(shown + used, sizeof shown - (size_t)used, "%s0x%02x", i ? " " : "", bytes[i]);
    return error_set(STATUS_CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": %s", shown);
}

enum status text_check(const char *sql, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)sql;
    size_t at = 0;

    while (at < length) {
        /* Eight ASCII bytes at once: none has its top bit set, none is 0. */
        if (length - at >= 8) {
            uint64_t word;
            memcpy(&word, bytes + at, 8);
            if (!((word | (word - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080))) {
                at += 8;
                continue;
            }
        }
        int step = utf8_length(bytes + at, length - at);
        if (step == 0)
            return bad_byte(bytes + at, length - at);
        at += (size_t)step;
    }
    return STATUS_OK;
}

char *identifier_fold(struct arena *arena, const char *word, size_t length)
{
    if (length > NAME_MAX_BYTES) {
        length = NAME_MAX_BYTES;
        while (length > 0 && ((unsigned char)word[length] & 0xC0) == 0x80)
            length--;
    }
    char *name = arena_alloc(arena, length + 1);
    for (size_t i = 0; i < length; i++) {
        char c = word[i];
        name[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    name[length] = '\0';
    return name;
}

/* The lexer's own error, with the text from `start` to `end`. */
static void fail_near(struct parser *p, int start, int end, const char *message)
{
    if (start >= p->length)
        syntax_fail_at(p, start + 1, STATUS_SYNTAX, "%s at end of input", message);
    else
        syntax_fail_at(p, start + 1, STATUS_SYNTAX, "%s at or near \"%.*s\"", message, end - start, p->sql + start);
}

/* Skips white space and comments. Returns false on an unterminated comment. */
static bool skip_space(struct parser *p)
{
    for (;;) {
        unsigned char c = byte_at(p, p->at);
        if (is_space(c)) {
            p->at++;
        } else if (c == '-' && byte_at(p, p->at + 1) == '-') {
            while (p->at < p->length && p->sql[p->at] != '\n' && p->sql[p->at] != '\r')
                p->at++;
        } else if (c == '/' && byte_at(p, p->at + 1) == '*') {
            int start = p->at, depth = 0;
            do {
                unsigned char a = byte_at(p, p->at), b = byte_at(p, p->at + 1);
                if (p->at >= p->length) {
                    fail_near(p, start, p->length, "unterminated /* comment");
                    return false;
                } else if (a == '/' && b == '*') {
                    depth++;
                    p->at += 2;
                } else if (a == '*' && b == '/') {
                    depth--;
                    p->at += 2;
                } else {
                    p->at++;
                }
            } while (depth > 0);
        } else {
            return true;
        }
    }
}

/* After a closing quote: if white space with a newline and another quote follow, goes behind that quote. */
static bool string_continues(struct parser *p)
{
    int at = p->at;
    bool newline = false;

    for (;;) {
        unsigned char c = byte_at(p, at);
        if (c == '\n' || c == '\r') {
            newline = true;
            at++;
        } else if (is_space(c)) {
            at++;
        } else if (c == '-' && byte_at(p, at + 1) == '-') {
            while (at < p->length && p->sql[at] != '\n' && p->sql[at] != '\r')
                at++;
        } else {
            break;
        }
    }
    if (!newline || byte_at(p, at) != '\'')
        return false;
    p->at = at + 1;
    return true;
}

static int hex_digit(unsigned char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void add_utf8(struct text_buffer *out, uint32_t c)
{
    if (c < 0x80) {
        text_buffer_putc(out, (char)c);
    } else if (c < 0x800) {
        text_buffer_putc(out, (char)(0xC0 | c >> 6));
        text_buffer_putc(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        text_buffer_putc(out, (char)(0xE0 | c >> 12));
        text_buffer_putc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        text_buffer_putc(out, (char)(0x80 | (c & 0x3F)));
    } else {
        text_buffer_putc(out, (char)(0xF0 | c >> 18));
        text_buffer_putc(out, (char)(0x80 | (c >> 12 & 0x3F)));
        text_buffer_putc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        text_buffer_putc(out, (char)(0x80 | (c & 0x3F)));
    }
}

/* One backslash escape of an E'' string; p->at is at the backslash. `high` holds a first surrogate that waits for its
 * second. Sets `raw` when bytes were written that need not be UTF-8. */
static bool read_escape(struct parser *p, struct text_buffer *out, uint32_t *high, bool *raw)
{
    int start = p->at;
    unsigned char c = byte_at(p, p->at + 1);

    if (c == 'u' || c == 'U') {
        int digits = c == 'u' ? 4 : 8;
        uint32_t value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = hex_digit(byte_at(p, p->at + 2 + i));
            if (digit < 0) {
                syntax_fail_at(p, start + 1, STATUS_INVALID_ESCAPE, "invalid Unicode escape");
                error_hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.");
                return false;
            }
            value = value << 4 | (uint32_t)digit;
        }
        p->at += 2 + digits;
        bool is_high = value >= 0xD800 && value <= 0xDBFF, is_low = value >= 0xDC00 && value <= 0xDFFF;
        if (*high) {
            if (!is_low) {
                fail_near(p, start, p->at, "invalid Unicode surrogate pair");
                return false;
            }
            value = 0x10000 + ((*high - 0xD800) << 10) + (value - 0xDC00);
            *high = 0;
        } else if (is_low) {
            fail_near(p, start, p->at, "invalid Unicode surrogate pair");
            return false;
        } else if (is_high) {
            *high = value;
            return true;
        }
        if (value == 0 || value > 0x10FFFF) {
            fail_near(p, start, p->at, "invalid Unicode escape value");
            return false;
        }
        add_utf8(out, value);
        return true;
    }
    if (*high) {
        fail_near(p, start, start + 1, "invalid Unicode surrogate pair");
        return false;
    }
    if (c >= '0' && c <= '7') {
        int value = 0, i = 0;
        for (; i < 3 && byte_at(p, p->at + 1 + i) >= '0' && byte_at(p, p->at + 1 + i) <= '7'; i++)
            value = value * 8 + (byte_at(p, p->at + 1 + i) - '0');
        p->at += 1 + i;
        text_buffer_putc(out, (char)(value & 0xFF));
        *raw = true;
        return true;
    }
    if (c == 'x' && hex_digit(byte_at(p, p->at + 2)) >= 0) {
        int value = hex_digit(byte_at(p, p->at + 2));
        p->at += 3;
        if (hex_digit(byte_at(p, p->at)) >= 0)
            value = value * 16 + hex_digit(byte_at(p, p->at++));
        text_buffer_putc(out, (char)value);
        *raw = true;
        return true;
    }
    if (p->at + 1 >= p->length) {
        p->at++;
        return true;                     /* the loop above meets the end of the text: unterminated */
    }
    switch (c) {
    case 'b': c = '\b'; break;
    case 'f': c = '\f'; break;
    case 'n': c = '\n'; break;
    case 'r': c = '\r'; break;
    case 't': c = '\t'; break;
    default: break;
    }
    text_buffer_putc(out, (char)c);      /* of a longer character, the rest follows as plain bytes */
    p->at += 2;
    return true;
}

/* p->at is behind the opening quote. Escapes: an E'' string. */
static bool read_string(struct parser *p, struct token *token, bool escapes, const char *unterminated)
{
    struct text_buffer out;
    uint32_t high = 0;
    bool raw = false, plain = true;
    int run = p->at;                     /* what lies between run and p->at isn't in the buffer yet */

    for (;;) {
        unsigned char c = byte_at(p, p->at);
        if (p->at >= p->length) {
            fail_near(p, token->start, p->length, unterminated);
            return false;
        }
        if (c != '\'' && !(escapes && c == '\\')) {
            if (high) {
                fail_near(p, p->at, p->at + 1, "invalid Unicode surrogate pair");
                return false;
            }
            p->at++;
            continue;
        }
        int run_end = p->at;
        if (c == '\'') {
            if (high) {
                fail_near(p, p->at, p->at + 1, "invalid Unicode surrogate pair");
                return false;
            }
            p->at++;
            bool doubled = byte_at(p, p->at) == '\'';
            if (!doubled) {
                if (plain && !string_continues(p)) {     /* the usual string: copied once */
                    token->text = arena_strndup(p->arena, p->sql + run, (size_t)(run_end - run));
                    token->text_length = run_end - run;
                    return true;
                } else if (!plain && !string_continues(p)) {
                    text_buffer_add(&out, p->sql + run, (size_t)(run_end - run));
                    break;
                }
            }
            if (plain) {
                text_buffer_open(&out, p->arena);
                plain = false;
            }
            text_buffer_add(&out, p->sql + run, (size_t)(run_end - run));
            if (doubled) {
                text_buffer_putc(&out, '\'');
                p->at++;
            }
        } else {
            if (plain) {
                text_buffer_open(&out, p->arena);
                plain = false;
            }
            text_buffer_add(&out, p->sql + run, (size_t)(run_end - run));
            if (!read_escape(p, &out, &high, &raw))
                return false;
        }
        run = p->at;
    }
    token->text = out.bytes;
    token->text_length = (int)out.length;
    if (raw) {
        enum status status = text_check(out.bytes, out.length);
        if (status) {
            if (!failed(p))
                p->status = status;
            return false;
        }
    }
    return true;
}

static bool read_quoted_identifier(struct parser *p, struct token *token)
{
    char *name = arena_alloc(p->arena, NAME_MAX_BYTES + 5);
    int length = 0, total = 0;

    p->at++;
    for (;;) {
        if (p->at >= p->length) {
            fail_near(p, token->start, p->length, "unterminated quoted identifier");
            return false;
        }
        char c = p->sql[p->at++];
        if (c == '"') {
            if (byte_at(p, p->at) != '"')
                break;
            p->at++;
        }
        if (length < NAME_MAX_BYTES + 1)
            name[length++] = c;
        total++;
    }
    if (total == 0) {
        fail_near(p, token->start, p->at, "zero-length delimited identifier");
        return false;
    }
    if (total > NAME_MAX_BYTES) {
        length = NAME_MAX_BYTES;
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
            length--;
    }
    name[length] = '\0';
    token->kind = TOKEN_IDENTIFIER;
    token->quoted = true;
    token->text = name;
    token->text_length = length;
    return true;
}

/* $tag$ ... $tag$; false without an error if no tag starts here. */
static bool read_dollar_string(struct parser *p, struct token *token)
{
    int tag_end = p->at + 1;

    if (byte_at(p, tag_end) != '$') {
        if (!is_word_start(byte_at(p, tag_end)))
            return false;
        while (is_word_start(byte_at(p, tag_end)) || is_digit(byte_at(p, tag_end)))
            tag_end++;
        if (byte_at(p, tag_end) != '$')
            return false;
    }
    int tag_length = ++tag_end - p->at;
    const char *end = memmem(p->sql + tag_end, (size_t)(p->length - tag_end), p->sql + p->at, (size_t)tag_length);
    if (!end) {
        fail_near(p, token->start, p->length, "unterminated dollar-quoted string");
        return false;
    }
    token->kind = TOKEN_STRING;
    token->text_length = (int)(end - (p->sql + tag_end));
    token->text = arena_strndup(p->arena, p->sql + tag_end, (size_t)token->text_length);
    p->at = (int)(end - p->sql) + tag_length;
    return true;
}

static void read_number(struct parser *p, struct token *token)
{
    int at = p->at;
    bool whole = true;

    while (is_digit(byte_at(p, at)))
        at++;
    if (byte_at(p, at) == '.' && byte_at(p, at + 1) != '.') {   /* 1..2 is 1 .. 2 */
        whole = false;
        at++;
        while (is_digit(byte_at(p, at)))
            at++;
    }
    if (byte_at(p, at) == 'e' || byte_at(p, at) == 'E') {
        int exponent = at + 1;
        if (byte_at(p, exponent) == '+' || byte_at(p, exponent) == '-')
            exponent++;
        if (is_digit(byte_at(p, exponent))) {
            whole = false;
            at = exponent;
            while (is_digit(byte_at(p, at)))
                at++;
        } else if (exponent > at + 1) {
            fail_near(p, token->start, exponent, "trailing junk after numeric literal");
            return;
        }
    }
    if (is_word_start(byte_at(p, at))) {
        while (is_word(byte_at(p, at)))
            at++;
        fail_near(p, token->start, at, "trailing junk after numeric literal");
        return;
    }
    token->text_length = at - p->at;
    token->text = arena_strndup(p->arena, p->sql + p->at, (size_t)token->text_length);
    token->kind = TOKEN_NUMERIC;
    if (whole) {
        int64_t value = 0;
        bool overflow = false;
        for (int i = 0; i < token->text_length && !overflow; i++)
            overflow = __builtin_mul_overflow(value, 10, &value) ||
                       __builtin_add_overflow(value, token->text[i] - '0', &value);
        if (!overflow) {
            token->kind = TOKEN_INTEGER;
            token->integer = value;
        }
    }
    p->at = at;
}

static void read_parameter(struct parser *p, struct token *token)
{
    int at = p->at + 1;
    int64_t number = 0;

    while (is_digit(byte_at(p, at))) {
        if (number < 1000000000)
            number = number * 10 + (byte_at(p, at) - '0');
        at++;
    }
    if (is_word_start(byte_at(p, at))) {
        while (is_word(byte_at(p, at)))
            at++;
        fail_near(p, token->start, at, "trailing junk after parameter");
        return;
    }
    token->kind = TOKEN_PARAMETER;
    token->integer = number;
    p->at = at;
}

static void read_operator(struct parser *p, struct token *token)
{
    int at = p->at, length;
    bool exotic = false;

    while (is_operator(byte_at(p, at))) {
        unsigned char c = byte_at(p, at), next = byte_at(p, at + 1);
        if ((c == '/' && next == '*') || (c == '-' && next == '-'))
            break;
        exotic |= strchr("~!@#^&|`?%", c) != NULL;
        at++;
    }
    length = at - p->at;
    if (!exotic)
        while (length > 1 && (p->sql[p->at + length - 1] == '+' || p->sql[p->at + length - 1] == '-'))
            length--;

    const char *text = p->sql + p->at;
    if (length > NAME_MAX_BYTES) {
        fail_near(p, token->start, token->start + length, "operator too long");
        return;
    }
    p->at += length;
    token->text = arena_strndup(p->arena, text, (size_t)length);
    token->text_length = length;
    token->kind = TOKEN_OPERATOR;
    if (length == 1 && strchr("+-*/%^<>=", text[0]))
        token->kind = text[0];
    else if (length == 2 && text[0] == '=' && text[1] == '>')
        token->kind = TOKEN_ARROW;
    else if (length == 2 && text[0] == '<' && text[1] == '=')
        token->kind = TOKEN_LESS_EQUALS;
    else if (length == 2 && text[0] == '>' && text[1] == '=')
        token->kind = TOKEN_GREATER_EQUALS;
    else if (length == 2 && ((text[0] == '<' && text[1] == '>') || (text[0] == '!' && text[1] == '='))) {
        token->kind = TOKEN_NOT_EQUALS;
        token->text = "<>";
    }
}

static void read_word(struct parser *p, struct token *token)
{
    int start = p->at, at = p->at + 1;

    while (is_word(byte_at(p, at)))
        at++;
    token->text_length = at - start;
    token->kind = TOKEN_IDENTIFIER;
    p->at = at;
    if (token->text_length <= KEYWORD_LONGEST) {
        char folded[KEYWORD_LONGEST];
        for (int i = 0; i < token->text_length; i++) {
            char c = p->sql[start + i];
            folded[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
        }
        token->keyword = keyword_find(folded, (size_t)token->text_length);
        if (token->keyword != NO_KEYWORD) {
            token->kind = TOKEN_KEYWORD;
            token->text = (char *)keyword_table[token->keyword].text;
            return;
        }
    }
    token->text = identifier_fold(p->arena, p->sql + start, (size_t)token->text_length);
    token->text_length = (int)strlen(token->text);
}

struct token lexer_next(struct parser *p)
{
    struct token token = {.keyword = NO_KEYWORD};

    if (failed(p) || !skip_space(p) || p->at >= p->length) {
        token.start = token.end = p->length;
        return token;
    }
    token.start = p->at;
    unsigned char c = byte_at(p, p->at), next = byte_at(p, p->at + 1);

    if (next == '\'' && strchr("eEbBxXnN", c)) {
        p->at += 2;
        bool escapes = c == 'e' || c == 'E';
        bool bits = c == 'b' || c == 'B', hex = c == 'x' || c == 'X';
        const char *unterminated = bits  ? "unterminated bit string literal"
                                   : hex ? "unterminated hexadecimal string literal"
                                         : "unterminated quoted string";
        token.kind = bits ? TOKEN_BITS : hex ? TOKEN_HEX : TOKEN_STRING;
        read_string(p, &token, escapes, unterminated);
        if (bits || hex)
            for (int i = 0; i < token.text_length && !failed(p); i++) {
                char digit = token.text[i];
                if (bits ? digit != '0' && digit != '1' : hex_digit((unsigned char)digit) < 0)
                    syntax_fail_at(p, token.start + 1, STATUS_INVALID_TEXT, "\"%c\" is not a valid %s digit", digit,
                            bits ? "binary" : "hexadecimal");
            }
    } else if ((c == 'u' || c == 'U') && next == '&' &&
               (byte_at(p, p->at + 2) == '\'' || byte_at(p, p->at + 2) == '"')) {
        syntax_fail_at(p, token.start + 1, STATUS_FEATURE_NOT_SUPPORTED, "U& Unicode escapes are not supported");
        error_hint("Use E'\\uXXXX' instead.");
    } else if (c == '\'') {
        p->at++;
        token.kind = TOKEN_STRING;
        read_string(p, &token, false, "unterminated quoted string");
    } else if (is_word_start(c)) {
        read_word(p, &token);
    } else if (c == '"') {
        read_quoted_identifier(p, &token);
    } else if (is_digit(c) || (c == '.' && is_digit(next))) {
        read_number(p, &token);
    } else if (c == '$' && is_digit(next)) {
        read_parameter(p, &token);
    } else if (c == '$' && read_dollar_string(p, &token)) {
        ;
    } else if (failed(p)) {
        ;
    } else if (is_operator(c)) {
        read_operator(p, &token);
    } else if (c == ':' && (next == ':' || next == '=')) {
        token.kind = next == ':' ? TOKEN_CAST : TOKEN_COLON_EQUALS;
        p->at += 2;
    } else if (c == '.' && next == '.') {
        token.kind = TOKEN_DOT_DOT;
        p->at += 2;
    } else if (strchr(",()[].;:", c)) {
        token.kind = c;
        p->at++;
    } else {
        fail_near(p, token.start, token.start + 1, "syntax error");
    }
    if (failed(p)) {
        token = (struct token){.keyword = NO_KEYWORD, .start = p->length, .end = p->length};
        return token;
    }
    token.end = p->at;
    return token;
}
