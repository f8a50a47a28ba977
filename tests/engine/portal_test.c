/* tests/engine/portal_test.c - portals with a row limit: what they say, where they stand, and what ends them. */
#include <criterion/criterion.h>
#include "tests/engine/in_process.h"

static struct peer peer;
static struct engine *engine;
static char directory[] = "/tmp/crab-portals-XXXXXX";

static void run(const char *sql)
{
    enum status status = peer_run(&peer, sql);
    cr_assert_eq(status, STATUS_OK, "%s: %s", sql, error_current()->message);
}

static void fails(enum status wanted, enum status status)
{
    cr_assert_eq(status, wanted, "%s %s", status ? status_sqlstate(status) : "OK", status ? error_current()->message : peer.answer);
}

static void open_all(void)
{
    cr_assert(scratch_engine_open(directory, &engine));
    cr_assert_eq(peer_open(&peer, engine, 0), STATUS_OK);
    run("create table t (id int primary key, v text); insert into t select g, 'v' || g from generate_series(1, 5000) g");
}

static void close_all(void)
{
    peer_close(&peer);
    if (!scratch_engine_close(directory, engine)) cr_log_warn("scratch directory stays");
}

TestSuite(portal, .init = open_all, .fini = close_all);

static void bind(const char *portal, const char *statement, const char *sql)
{
    struct bind_values none = { 0 };
    if (sql)
        cr_assert_eq(session_parse(peer.session, statement, sql, strlen(sql), NULL, 0), STATUS_OK, "%s", error_current()->message);
    cr_assert_eq(session_bind(peer.session, portal, statement, &none), STATUS_OK, "%s", error_current()->message);
}

static enum status execute(const char *portal, uint64_t rows)
{
    peer_forget(&peer);
    return session_execute(peer.session, portal, rows);
}

/* wanted: "suspended", or the tag. */
static void gives(const char *portal, uint64_t rows, const char *answer, const char *wanted)
{
    cr_assert_eq(execute(portal, rows), STATUS_OK, "%s", error_current()->message);
    cr_assert_str_eq(peer.answer, answer);
    cr_assert_str_eq(peer.suspended ? "suspended" : peer.tag, wanted);
}

Test(portal, pieces)
{
    run("begin");
    bind("p", "", "select id from t where id <= 5");
    gives("p", 2, "1|2|", "suspended");
    gives("p", 3, "3|4|5|", "suspended");
    gives("p", 3, "", "SELECT 0");
    gives("p", 0, "", "SELECT 0");
    bind("q", "", "select id from t where id <= 3");
    gives("q", 2, "1|2|", "suspended");
    gives("q", 0, "3|", "SELECT 1");
    bind("i", "", "insert into t values (6000, 'a'), (6001, 'b') returning id");
    gives("i", 1, "6000|", "suspended");
    gives("i", 0, "6001|", "INSERT 0 2");
    bind("u", "", "update t set v = 'c' where id < 4");
    gives("u", 1, "", "UPDATE 3");
    run("savepoint s");
    bind("v", "", "delete from t where id < 4");
    gives("v", 0, "", "DELETE 3");
    fails(STATUS_OBJECT_NOT_READY, execute("v", 0));
    run("rollback to s");
    run("rollback");
    fails(STATUS_INVALID_CURSOR_NAME, execute("p", 1));
}

/* Rows that were sent are gone. */
Test(portal, only_goes_forward)
{
    static const char *const back[] = { "fetch prior from p", "fetch 0 from p", "fetch relative 0 from p", "fetch absolute 3 from p", "fetch absolute 10 from p",
                                        "fetch first from p", "fetch last from p", "move backward all in p", "fetch backward 2 from p" };
    for (size_t i = 0; i < sizeof back / sizeof *back; i++) {
        run("begin");
        bind("p", "", "select id from t");
        cr_assert_eq(execute("p", 10), STATUS_OK);
        run("savepoint s");
        fails(STATUS_OBJECT_NOT_READY, peer_run(&peer, back[i]));
        run("rollback to s");
        fails(STATUS_OBJECT_NOT_READY, execute("p", 2));
        run("rollback");
    }
    run("begin");
    bind("p", "", "select id from t");
    gives("p", 2, "1|2|", "suspended");
    run("fetch 2 from p");
    cr_assert_str_eq(peer.answer, "3|4|");
    run("move 3000 in p");
    cr_assert_str_eq(peer.tag, "MOVE 3000");
    gives("p", 1, "3005|", "suspended");
    run("rollback");
}

Test(portal, a_cursor_past_its_end)
{
    run("begin; declare c cursor for select id from t where id < 3; fetch all from c");
    gives("c", 5, "", "SELECT 0");
    run("fetch prior from c");
    cr_assert_str_eq(peer.answer, "2|");
    run("rollback");
}

/* Bound before the savepoint, begun behind it. */
Test(portal, begun_behind_a_savepoint)
{
    run("begin");
    bind("p", "", "select v from t order by id");
    run("savepoint s; truncate t; insert into t values (1, 'new'), (2, 'newer')");
    gives("p", 1, "new|", "suspended");
    run("rollback to s");
    fails(STATUS_OBJECT_NOT_READY, execute("p", 1));
    run("rollback");
    run("begin");
    bind("p", "", "select v from t order by id");
    run("savepoint s");
    gives("p", 1, "v1|", "suspended");
    run("release s; savepoint s; delete from t; rollback to s");
    gives("p", 2, "v2|v3|", "suspended");
    run("rollback");
}

Test(portal, that_failed)
{
    run("begin");
    bind("p", "", "insert into t select g, 'x' from generate_series(5002, 4999, -1) g returning id");
    run("savepoint s");
    fails(STATUS_UNIQUE_VIOLATION, execute("p", 1));
    run("rollback to s");
    fails(STATUS_OBJECT_NOT_READY, execute("p", 1));
    run("rollback; begin");
    bind("p", "", "select 10 / (3 - id) from t order by id");
    run("savepoint s");
    gives("p", 1, "5|", "suspended");
    fails(STATUS_DIVISION_BY_ZERO, execute("p", 5));
    cr_assert_str_eq(peer.answer, "10|");
    run("rollback");
}

/* Two portals of one statement, which is planned anew between them. */
Test(portal, planned_anew)
{
    run("begin");
    bind("one", "named", "select id, (select count(*) from t u where u.id <= t.id) from t where v like 'v%' order by id");
    gives("one", 1, "1|1|", "suspended");
    run("create table beside (a int)");
    bind("two", "named", NULL);
    gives("two", 2, "1|1|2|2|", "suspended");
    run("drop table beside");
    bind("three", "named", NULL);
    gives("three", 1, "1|1|", "suspended");
    gives("one", 2, "2|2|3|3|", "suspended");
    cr_assert_eq(session_close_statement(peer.session, "named"), STATUS_OK);
    cr_assert_eq(session_close_portal(peer.session, "one"), STATUS_OK);
    gives("two", 1, "3|3|", "suspended");
    gives("three", 1, "2|2|", "suspended");
    run("commit");
}

/* In an implicit transaction a portal lives until Sync. */
Test(portal, implicit)
{
    bind("", "", "select id from t");
    gives("", 2, "1|2|", "suspended");
    fails(STATUS_ACTIVE_TRANSACTION, peer_run(&peer, "begin isolation level repeatable read"));
    bind("", "", "select id from t");
    gives("", 2, "1|2|", "suspended");
    cr_assert_eq(session_sync(peer.session), STATUS_OK);
    fails(STATUS_INVALID_CURSOR_NAME, execute("", 1));
}

/* One that failed gives nothing more, not even rows that it has. */
Test(portal, failed_with_rows_left)
{
    run("begin; declare c no scroll cursor for select id from t; fetch 2 from c; savepoint s");
    fails(STATUS_OBJECT_NOT_READY, peer_run(&peer, "fetch prior from c"));
    run("rollback to s");
    fails(STATUS_OBJECT_NOT_READY, peer_run(&peer, "fetch 2 from c"));
    cr_assert_str_eq(peer.answer, "");
    run("rollback");
}
