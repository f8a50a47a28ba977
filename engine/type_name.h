/* engine/type_name.h - from a type as written (parser/tree.h) to an SQL type. */
#ifndef ENGINE_TYPE_NAME_H
#define ENGINE_TYPE_NAME_H

#include "engine/types/type.h"
#include "parser/tree.h"

/* UNDEFINED_OBJECT `type "x" does not exist` and the modifiers' errors, at the name's position. */
enum status type_from_name(const struct type_name *, struct sql_type *out) MUST_CHECK;

#endif
