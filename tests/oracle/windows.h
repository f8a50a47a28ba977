/* tests/oracle/windows.h - window functions at random. */
#ifndef TESTS_ORACLE_WINDOWS_H
#define TESTS_ORACLE_WINDOWS_H

#include "tests/oracle/expression.h"

struct node *window_call(enum sort, const struct scope *);

#endif
