/* engine/types/utf8.h - text as UTF-8 bytes (text.c). */
#ifndef ENGINE_TYPES_UTF8_H
#define ENGINE_TYPES_UTF8_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* CHARACTER_NOT_IN_REPERTOIRE, with the bytes that are wrong, where the bytes aren't UTF-8 or hold a NUL. */
enum status text_check_utf8(const uint8_t *, size_t) MUST_CHECK;
size_t utf8_length(const uint8_t *, size_t bytes);               /* characters */
size_t utf8_offset(const uint8_t *, size_t bytes, size_t characters);   /* bytes of that many characters, at most `bytes` */
size_t utf8_clip(const uint8_t *, size_t bytes, size_t most);     /* the most whole characters in `most` bytes */
static inline unsigned utf8_width(uint8_t lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

#endif
