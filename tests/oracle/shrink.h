/* tests/oracle/shrink.h - cuts a failing statement, and the rows under it, smaller while it fails in the same way. */
#ifndef TESTS_ORACLE_SHRINK_H
#define TESTS_ORACLE_SHRINK_H

#include "tests/oracle/check.h"

/* Prints an SQL script that shows the fault, and how to make it again. rebuildable: the database may be made anew; seen: the report of
 * the fault, printed where it does not happen again. */
void shrink_and_print(struct check, struct statement *, const char *fault, bool rebuildable, const char *origin, const char *seen);

#endif
