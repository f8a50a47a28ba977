/* tests/oracle/ask.h - asks the server, under several settings, and SQLite; compares what they answer.
 *
 * One connection for each way to ask, so that no SET stands between two questions. */
#ifndef TESTS_ORACLE_ASK_H
#define TESTS_ORACLE_ASK_H

#include "tests/oracle/tree.h"

enum asked { BASE, WORKERS_2, WORKERS_3, WORKERS_4, WORKERS_8, WORKERS_16, SMALL_MEMORY, LARGE_MEMORY, OTHER_PLAN, ASKED };

struct answer {
    bool failed;
    char state[6];
    char *message;
    struct text raw;                     /* every byte, in order; of an error, SQLSTATE and message */
    char **rows; int count, room;        /* a line each, written so that both systems write the same */
    long changed;
};

extern int ask_patience_s;               /* what takes the server longer is given up: set before ask_open */
void ask_open(void);
void ask_close(void);
/* What is set on that connection, for a script that replays. */
const char *ask_settings(enum asked);
/* Other settings for OTHER_PLAN and SMALL_MEMORY, other switches of the server's layers, by chance. */
void ask_change_settings(void);

struct answer ask_server(enum asked, const char *sql);
struct answer ask_prepared(const char *sql, const struct parameters *);
struct answer ask_lite(const char *sql);
struct answer ask_lite_patiently(const char *sql);       /* changes: what is interrupted takes SQLite's whole transaction with it */
/* At the same time. */
void          ask_both(const char *sql, const char *lite_sql, struct answer *server, struct answer *lite);
bool          lite_too_slow(void);       /* the last question to SQLite was given up, or too large for it */
void          answer_free(struct answer *);

/* What has to go well; ends the program when it doesn't. */
void must(enum asked, const char *sql);
void must_both(const char *sql, const char *lite_sql);

/* As bags, or in order; floats to 1e-12. */
bool answers_agree(struct answer *, struct answer *, bool ordered);
bool answers_equal(const struct answer *, const struct answer *);    /* every byte */
/* Overflow, division by zero, too slow: SQLite knows none of them, and another plan may not meet them. */
bool answer_excused(const struct answer *);
void answer_print(struct text *out, const char *who, const struct answer *);

/* The table's rows as SQLite has them, each "(v, v ...)". */
int  lite_rows(const char *sql, char ***rows);

#endif
