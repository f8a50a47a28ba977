/* engine/types/json.h - is a text JSON? */
#ifndef ENGINE_TYPES_JSON_H
#define ENGINE_TYPES_JSON_H

#include <stddef.h>

#include "base/error.h"

enum status json_check(const char *text, size_t length) MUST_CHECK;      /* 22P02, with what is wrong in the detail */

#endif
