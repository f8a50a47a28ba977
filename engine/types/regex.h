/* engine/types/regex.h - regular expressions for the functions that return sets (the others are kernels in regex.c). */
#ifndef ENGINE_TYPES_REGEX_H
#define ENGINE_TYPES_REGEX_H

#include "engine/types/type.h"

/* Each match (the first only, without flag g) as a text[] of its groups. */
enum status regex_matches(struct varlen text, struct varlen pattern, struct varlen flags, struct arena *, struct value **out, uint32_t *count) MUST_CHECK;
/* The pieces between matches, as text. They point into `text`. */
enum status regex_split(struct varlen text, struct varlen pattern, struct varlen flags, struct arena *, struct value **out, uint32_t *count) MUST_CHECK;
/* Frees the patterns that the calling thread keeps compiled; when a session ends. */
void regex_forget(void);

#endif
