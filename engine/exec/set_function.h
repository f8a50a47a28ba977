/* engine/exec/set_function.h - functions that return sets: FROM generate_series(…), SELECT unnest(…).
 *
 * The registry of functions (engine/types/function.h) says which there are and of what types; here is what they do.
 * An implementation hands out rows through `row`; other floors of the engine add theirs by name before any query runs. */
#ifndef ENGINE_EXEC_SET_FUNCTION_H
#define ENGINE_EXEC_SET_FUNCTION_H

#include "engine/types/function.h"

struct session;
struct set_call {
    struct session *session;
    const struct function *function;
    uint16_t arg_count; const struct value *args; const struct sql_type *arg_types;
    uint16_t column_count; const struct sql_type *types;             /* of a row */
    struct arena *arena;                                             /* bytes of values; lives until the call is over */
    enum status (*row)(struct set_call *, const struct value *values);   /* STATUS_STOP: no more wanted; hand it back */
    void *context;
};
typedef enum status (*set_function_fn)(struct set_call *);
void set_function_register(const char *name, set_function_fn);
set_function_fn set_function_find(const struct function *);          /* NULL: none */
bool set_function_strict(const struct function *);

#endif
