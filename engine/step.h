/* engine/step.h - crab.step: a session stops at the page points of one table or index (base/step.h), and others let it go.
 *
 *     SET crab.step = 'accounts_pkey'      from its next statement on; '' or off: no more
 *     SELECT crab_step(pid [, n])          it goes on to the next (nth) point
 *     SELECT crab_run(pid)                 it goes on until its statement ends
 *
 * The name is looked up anew for each statement, so it follows a rewrite of the table; a name that is gone stops nobody.
 * A table stands for its heap and its long values, an index for its tree. */
#ifndef ENGINE_STEP_H
#define ENGINE_STEP_H

#include "engine/session.h"

/* Is there such a relation, and may one step through it? UNDEFINED_TABLE, WRONG_OBJECT_TYPE, INSUFFICIENT_PRIVILEGE (a
 * system catalog: whoever looks needs those). Begins a transaction when there is none. */
enum status step_check_name(struct session *, const char *text) MUST_CHECK;

/* Around a statement of a session that steps. `begin` waits until autovacuum has left the table. `end`: an interrupt that let
 * the session go is the statement's error, even if nothing in it asked. */
enum status step_statement_begin(struct session *) MUST_CHECK;
enum status step_statement_end(struct session *, enum status) MUST_CHECK;

/* For autovacuum: the table is its own until it leaves, unless somebody steps through it. */
bool step_table_enter(struct session *, const struct table *);
void step_table_leave(struct session *);

/* Which relation each file belongs to: by its name, with /overflow or /space behind it where it's not the main one. */
struct file_names { struct file_name { uint32_t file; const char *name; } *items; size_t count, capacity; struct arena *arena; };
enum status file_names_read(struct session *, struct arena *, struct file_names *out) MUST_CHECK;
const char *file_name(const struct file_names *, uint32_t file);      /* NULL: none that this session sees */
uint16_t    latch_tree_level(uint16_t rank, uint16_t latch_level);    /* of a NODE latch: 0 is a leaf */

#endif
