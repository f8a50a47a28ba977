#!/usr/bin/python3
"""tests/clients/drive_psycopg2.py - psycopg2 against the server of PGHOST/PGPORT; prints a transcript (transcript.py)."""
import datetime
import decimal
import io
import select
import threading
import uuid

import psycopg2
import psycopg2.extensions
import psycopg2.extras
from psycopg2 import sql

from transcript import error_lines, show, step

psycopg2.extras.register_uuid()
db = psycopg2.connect("")
db.set_session(autocommit=False)
VALUES = [None, True, False, 0, -1, 32767, 2**31, 2**62, 1.5, 1e300, float("inf"), float("nan"), decimal.Decimal("12345678901234567890.00100"), decimal.Decimal("NaN"), "", "it's \\ \"q\" ü\t\n", "%s %% {}",
          b"", b"\x00\xff'\\", datetime.date(2024, 2, 29), datetime.time(23, 59, 59, 999999), datetime.datetime(2024, 2, 29, 12, 0, 0, 1), datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.timezone.utc),
          datetime.timedelta(days=-1, seconds=3, microseconds=5), uuid.UUID(int=1), [1, 2, None], ["a", "b,\"c\\", None], [[1, 2], [3, 4]], [], [datetime.date(1, 1, 1)], (1, 2), psycopg2.extras.Json({"a": [1, None]})]
TYPES = {int: "int8", float: "float8", str: "text", bytes: "bytea"}


@step("connection")
def _():
    yield "encoding %s, autocommit %s, status %s, transaction %s" % (db.encoding, db.autocommit, db.status, db.info.transaction_status)
    yield "server_version %s, protocol %s" % (db.server_version // 10000, db.protocol_version)
    for name in ("server_encoding", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings", "is_superuser", "session_authorization", "application_name"):
        yield "%s = %s" % (name, db.get_parameter_status(name))


@step("parameters there and back")
def _():
    with db.cursor() as c:
        for value in VALUES:
            try:
                c.execute("SELECT %s", (value,))
                yield "%s -> %s oid %d" % (show(getattr(value, "adapted", value)), show(c.fetchone()[0]), c.description[0].type_code)
            except psycopg2.Error as error:
                db.rollback()
                for line in error_lines(error):
                    yield line
    db.rollback()


@step("every type of the table")
def _():
    with db.cursor() as c:
        c.execute("SELECT * FROM every_type WHERE k IN (1, 3, 5) ORDER BY k")
        for column in c.description:
            yield "%s oid %d size %s precision %s scale %s table %s" % (column.name, column.type_code, column.internal_size, column.precision, column.scale, column.table_column)
        for row in c:
            for value in row:
                yield value
    db.rollback()


@step("named parameters, LIKE with percent, IN with a tuple, ANY with a list")
def _():
    with db.cursor() as c:
        c.execute("SELECT id, name FROM shop.customer WHERE name LIKE %(like)s OR id IN %(ids)s OR id = ANY(%(any)s) ORDER BY id", {"like": "%d%", "ids": (1, 2), "any": [3]})
        yield c.fetchall()
        yield c.query.decode()
        yield "rowcount %d, status %s" % (c.rowcount, c.statusmessage)
    db.rollback()


@step("sql composition")
def _():
    with db.cursor() as c:
        c.execute(sql.SQL("SELECT {} FROM {} WHERE {} = %s").format(sql.SQL(", ").join(map(sql.Identifier, ["Key", "select", "ümlaut"])), sql.Identifier("Odd Names", "Table one"), sql.Identifier("Key")), [1])
        yield c.fetchall()
    db.rollback()


@step("cursors of other kinds")
def _():
    for factory in (psycopg2.extras.DictCursor, psycopg2.extras.RealDictCursor, psycopg2.extras.NamedTupleCursor):
        with db.cursor(cursor_factory=factory) as c:
            c.execute("SELECT id, name AS \"A name\" FROM shop.customer ORDER BY id LIMIT 2")
            yield "%r" % (c.fetchall(),)
    db.rollback()


@step("executemany, execute_batch, execute_values with RETURNING")
def _():
    with db.cursor() as c:
        c.execute("CREATE TABLE many (a int PRIMARY KEY, b text, c serial)")
        c.executemany("INSERT INTO many (a, b) VALUES (%s, %s)", [(i, "row %d" % i) for i in range(5)])
        yield "rowcount %d" % c.rowcount
        psycopg2.extras.execute_batch(c, "UPDATE many SET b = %s WHERE a = %s", [("new", 1), ("newer", 2), ("newest", 3)], page_size=2)
        yield psycopg2.extras.execute_values(c, "INSERT INTO many (a, b) VALUES %s RETURNING c, a", [(i, None) for i in range(10, 15)], page_size=2, fetch=True)
        c.execute("INSERT INTO many VALUES (1, 'x') ON CONFLICT (a) DO UPDATE SET b = excluded.b || many.b RETURNING *")
        yield c.fetchone()
        c.execute("SELECT * FROM many ORDER BY a")
        yield c.fetchall()
    db.commit()


@step("a server-side cursor: itersize, scroll, withhold")
def _():
    with db.cursor("big") as c:
        c.itersize = 100
        c.execute("SELECT g, 'x' || g FROM generate_series(1, 1000) g")
        yield "sum %d" % sum(row[0] for row in c)
    with db.cursor("scrolled", scrollable=True) as c:
        c.execute("SELECT g FROM generate_series(1, 10) g")
        yield c.fetchmany(3)
        c.scroll(2)
        yield c.fetchone()
        c.scroll(-3)
        yield c.fetchone()
        c.scroll(9, mode="absolute")
        yield c.fetchall()
    db.rollback()
    held = db.cursor("held", withhold=True)
    held.execute("SELECT g FROM generate_series(1, 5) g")
    yield held.fetchmany(2)
    db.commit()
    yield held.fetchall()
    held.close()
    db.commit()
    with db.cursor("backwards", scrollable=False) as c:
        c.execute("SELECT g FROM generate_series(1, 5) g")
        c.fetchmany(2)
        try:
            c.scroll(-1)
            yield "went back"
        except psycopg2.Error as error:
            for line in error_lines(error):
                yield line
    db.rollback()


@step("COPY out: text, csv, a query, binary")
def _():
    with db.cursor() as c:
        out = io.StringIO()
        c.copy_to(out, "many", columns=("a", "b"), sep="|", null="nil")
        yield "%r" % out.getvalue()
        out = io.StringIO()
        c.copy_expert("COPY (SELECT k, c_text, c_bytea, c_int4_array FROM every_type ORDER BY k) TO STDOUT WITH (FORMAT csv, HEADER, FORCE_QUOTE *)", out)
        yield "%r" % out.getvalue()
        out = io.BytesIO()
        c.copy_expert("COPY (SELECT k, c_bool, c_int2, c_int8, c_float8, c_numeric, c_text, c_bytea, c_date, c_time, c_timestamptz, c_interval, c_uuid, c_int4_array, c_char, c_name FROM every_type ORDER BY k) TO STDOUT (FORMAT binary)", out)
        yield out.getvalue().hex()
    db.rollback()


@step("COPY in: text, csv, an error in line 2, a connection that works on")
def _():
    with db.cursor() as c:
        c.copy_from(io.StringIO("20|twenty\n21|nil\n"), "many", columns=("a", "b"), sep="|", null="nil")
        yield "rowcount %d" % c.rowcount
        c.copy_expert("COPY many (a, b) FROM STDIN CSV", io.StringIO("30,\"a \"\"b\"\"\"\n31,\n"))
        c.execute("SELECT a, b FROM many WHERE a >= 20 ORDER BY a")
        yield c.fetchall()
        try:
            c.copy_expert("COPY many (a, b) FROM STDIN", io.StringIO("40\tx\nforty\ty\n"))
        except psycopg2.Error as error:
            for line in error_lines(error):
                yield line
    db.rollback()


class Broken(io.StringIO):
    def read(self, *_):
        raise ValueError("the file broke")


@step("COPY in that the client breaks off")
def _():
    with db.cursor() as c:
        try:
            c.copy_expert("COPY many (a, b) FROM STDIN", Broken())
        except Exception as error:
            yield "%s %s" % (type(error).__name__, str(error).split("\n")[0])
    db.rollback()
    with db.cursor() as c:
        c.execute("SELECT count(*) FROM many")
        yield c.fetchone()
    db.rollback()


@step("transactions: rollback, savepoints, with blocks")
def _():
    with db.cursor() as c:
        c.execute("DELETE FROM many")
        yield db.info.transaction_status
        db.rollback()
        c.execute("SELECT count(*) FROM many")
        yield c.fetchone()
        c.execute("SAVEPOINT one; DELETE FROM many WHERE a < 10; SAVEPOINT two; DELETE FROM many; ROLLBACK TO SAVEPOINT two")
        c.execute("SELECT count(*) FROM many")
        yield c.fetchone()
        c.execute("ROLLBACK TO one; RELEASE one")
        c.execute("SELECT count(*) FROM many")
        yield c.fetchone()
    db.rollback()
    try:
        with db, db.cursor() as c:
            c.execute("DELETE FROM many")
            c.execute("SELECT 1/0")
    except psycopg2.Error as error:
        for line in error_lines(error):
            yield line
    with db, db.cursor() as c:
        c.execute("SELECT count(*) FROM many")
        yield c.fetchone()


@step("errors")
def _():
    for text in ("SELECT nosuch FROM shop.customer", "SELECT * FROM nosuch", "SELEC 1", "SELECT 'x'::int", "INSERT INTO many VALUES (1, 'dup')", "INSERT INTO shop.customer (name) VALUES (NULL)", "INSERT INTO shop.customer (name, credit) VALUES ('x', -1)",
                 "INSERT INTO shop.orders (customer_id) VALUES (99)", "DELETE FROM shop.product WHERE code = 'nut'", "SELECT 2147483647 + 1", "SELECT nosuch(1)", "SELECT 1 +", "INSERT INTO shop.customer (name, country) VALUES ('x', 'DEU')",
                 "SELECT 1; SELECT nosuch; SELECT 2", "UPDATE shop.product SET gross = 1", "INSERT INTO shop.orders (id, customer_id) VALUES (1, 1)", "DROP TABLE shop.customer", "CREATE TABLE many (a int)", "SELECT cast('1' AS nosuch)", "COMMIT PREPARED 'x'",
                 "SELECT sum(a), b FROM many", "SELECT a FROM many GROUP BY b", "SET nosuch = 1", "SET work_mem = 'x'", "LOCK TABLE nosuch", "FETCH 1 FROM nosuch", "EXECUTE nosuch", "ROLLBACK TO nosuch"):
        with db.cursor() as c:
            try:
                c.execute(text)
                yield "no error: " + text
            except psycopg2.Error as error:
                yield text
                for line in error_lines(error):
                    yield line
                yield repr(str(error))
        db.rollback()


@step("in a failed transaction")
def _():
    with db.cursor() as c:
        for text in ("SELECT 1/0", "SELECT 1"):
            try:
                c.execute(text)
            except psycopg2.Error as error:
                for line in error_lines(error):
                    yield line
        yield db.info.transaction_status
    db.rollback()


@step("notices")
def _():
    db.notices.clear()
    with db.cursor() as c:
        c.execute("DROP TABLE IF EXISTS nosuch; CREATE TABLE IF NOT EXISTS many (a int); TRUNCATE shop.orders CASCADE")
        db.rollback()
        c.execute("CREATE TABLE %s (a int)" % ("long_name_" * 8))
        db.rollback()
    for notice in db.notices:
        yield repr(notice)


@step("isolation levels, read only, deferrable")
def _():
    for level in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "READ UNCOMMITTED"):
        db.set_session(isolation_level=level, readonly=level == "SERIALIZABLE", deferrable=level == "SERIALIZABLE")
        with db.cursor() as c:
            c.execute("SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('transaction_deferrable')")
            yield c.fetchone()
            if level == "SERIALIZABLE":
                try:
                    c.execute("DELETE FROM many")
                except psycopg2.Error as error:
                    for line in error_lines(error):
                        yield line
        db.rollback()
    db.set_session(isolation_level="DEFAULT", readonly="DEFAULT", deferrable="DEFAULT")
    db.autocommit = True
    db.set_session(isolation_level="REPEATABLE READ", readonly=True)
    with db.cursor() as c:
        c.execute("SHOW default_transaction_isolation")
        yield c.fetchone()
        c.execute("SHOW transaction_read_only")
        yield c.fetchone()
    db.set_session(isolation_level="DEFAULT", readonly="DEFAULT")
    db.autocommit = False


@step("autocommit")
def _():
    db.autocommit = True
    with db.cursor() as c:
        c.execute("INSERT INTO many VALUES (100, 'auto')")
        yield db.info.transaction_status
        c.execute("VACUUM many")
        yield c.statusmessage
        c.execute("SELECT b FROM many WHERE a = 100")
        yield c.fetchone()
        c.execute("DELETE FROM many WHERE a = 100; SELECT count(*) FROM many WHERE a = 100")
        yield c.fetchone()
        yield c.statusmessage
        c.execute("")
    db.autocommit = False


@step("an empty statement fetched")
def _():
    with db.cursor() as c:
        c.execute("-- nothing")
        yield c.statusmessage
        c.fetchone()


@step("cancel")
def _():
    timer = threading.Timer(0.3, db.cancel)
    timer.start()
    try:
        with db.cursor() as c:
            c.execute("SELECT pg_sleep(60)")
    finally:
        timer.join()
        db.rollback()


@step("statement_timeout, lock_timeout")
def _():
    with db.cursor() as c:
        for text in ("SET LOCAL statement_timeout = 50; SELECT pg_sleep(30)",):
            try:
                c.execute(text)
            except psycopg2.Error as error:
                for line in error_lines(error):
                    yield line
    db.rollback()
    other = psycopg2.connect("")
    with other.cursor() as held, db.cursor() as c:
        held.execute("LOCK TABLE many")
        for text in ("SET LOCAL lock_timeout = 50; SELECT * FROM many", "LOCK TABLE many NOWAIT", "SELECT 1"):
            try:
                c.execute(text)
            except psycopg2.Error as error:
                for line in error_lines(error):
                    yield line
            db.rollback()
        other.rollback()
        held.execute("SELECT * FROM many WHERE a = 1 FOR UPDATE")
        c.execute("SELECT a FROM many WHERE a < 3 ORDER BY a FOR UPDATE SKIP LOCKED")
        yield c.fetchall()
        c.execute("SELECT a FROM many WHERE a = 1 FOR UPDATE NOWAIT")
    other.close()


db.rollback()


@step("asynchronous")
def _():
    other = psycopg2.connect("", async_=True)

    def wait():
        while True:
            state = other.poll()
            if state == psycopg2.extensions.POLL_OK:
                return
            select.select([other.fileno()] if state == psycopg2.extensions.POLL_READ else [], [other.fileno()] if state == psycopg2.extensions.POLL_WRITE else [], [], 30)
    wait()
    c = other.cursor()
    c.execute("SELECT g FROM generate_series(1, 3) g")
    wait()
    yield c.fetchall()
    other.close()


@step("register_composite, HstoreAdapter's look-up, type objects")
def _():
    with db.cursor() as c:
        yield "%r" % (psycopg2.extras.HstoreAdapter.get_oids(db),)
        c.execute("SELECT 'x'::text, 1, 1.5, now(), '\\x00'::bytea")
        yield [bool(column.type_code == kind) for column, kind in zip(c.description, (psycopg2.STRING, psycopg2.NUMBER, psycopg2.NUMBER, psycopg2.DATETIME, psycopg2.BINARY))]
    db.rollback()


@step("dsn, backend pid, reset, close")
def _():
    with db.cursor() as c:
        c.execute("SELECT pg_backend_pid()")
        yield c.fetchone()[0] == db.info.backend_pid
        c.execute("SET statement_timeout = 5000; SET search_path = shop")
        db.commit()
        db.reset()
        c.execute("SHOW statement_timeout")
        yield c.fetchone()
    db.rollback()
    db.autocommit = True
    with db.cursor() as c:
        c.execute("DISCARD ALL")
        c.execute("DROP TABLE many")
        yield c.statusmessage
    db.close()
    try:
        db.cursor()
    except psycopg2.Error as error:
        yield "%s %s" % (type(error).__name__, error)


@step("wrong database, wrong user options")
def _():
    for dsn in ("dbname=nosuch", "options='-c nosuch=1'", "options='-c search_path=shop -c statement_timeout=3s' application_name=me client_encoding=latin1"):
        try:
            other = psycopg2.connect(dsn)
            with other.cursor() as c:
                c.execute("SELECT current_setting('search_path'), current_setting('statement_timeout'), current_setting('application_name'), current_setting('client_encoding'), 'ü'::text")
                yield c.fetchone()
            other.close()
        except psycopg2.Error as error:
            yield "%s %s" % (type(error).__name__, str(error).split("failed: ")[-1].strip())
