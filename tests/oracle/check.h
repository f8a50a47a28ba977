/* tests/oracle/check.h - what must hold of a statement: against SQLite, and against Crabtree itself.
 *
 *     fault = check_run(&check, &statement, &report);
 *
 * For one plan, every byte is the same, the first error too: whatever the workers, the memory, crab.agg. For another plan (forced,
 * or of another work_mem, or of parameters) the rows are, floats to 1e-12; an error may be met by one plan alone. */
#ifndef TESTS_ORACLE_CHECK_H
#define TESTS_ORACLE_CHECK_H

#include "tests/oracle/ask.h"
#include "tests/oracle/generate.h"

enum check_kind { AGAINST_SQLITE, AT_WORKERS, IN_SMALL_MEMORY, IN_LARGE_MEMORY, WITH_OTHER_PLAN, COLLECTED, PREPARED, PARTITIONED, COUNTED_PLAINLY, CHANGED, CHECKS };
struct check { enum check_kind kind; enum asked workers; };

/* NULL: it holds; else what is wrong, in a few words that stay the same while the statement is cut smaller. report, when not NULL,
 * gets the statements and their answers as an SQL script. */
const char *check_run(struct check, struct statement *, struct text *report);
const char *check_name(struct check);

/* How often each was asked, and how often it could say nothing (overflow, division by zero, too slow). */
extern long asked_count[CHECKS], said_nothing[CHECKS];

void database_make(void);
/* Dropped and made again with these rows of each table, as lite_rows wrote them. script, when not NULL, gets what makes the tables that
 * are named in `names`. */
void database_rebuild(char ***rows, const int *counts, struct text *script, const char *names);

#endif
