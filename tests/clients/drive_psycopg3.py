#!/usr/bin/python3
"""tests/clients/drive_psycopg3.py - psycopg 3 (extended protocol, binary both ways, pipelines) against the server of PGHOST/PGPORT; prints
a transcript (transcript.py)."""
import asyncio
import datetime
import decimal
import logging
import threading
import uuid

import psycopg
from psycopg import sql
from psycopg.rows import dict_row, namedtuple_row
from psycopg.types import TypeInfo
from psycopg.types.json import Json

from transcript import error_lines, show, step

logging.getLogger("psycopg").setLevel(logging.CRITICAL)      # what it says of a pipeline that ends early comes or doesn't, by chance
db = psycopg.connect("")
VALUES = [None, True, False, 0, -1, 32767, 32768, 2**31, 2**62, -2**63, 10**30, 1.5, 1e300, float("inf"), float("-inf"), float("nan"), 5e-324, decimal.Decimal("12345678901234567890.00100"), decimal.Decimal("NaN"), decimal.Decimal("0.0000"),
          decimal.Decimal("-1E+20"), decimal.Decimal("1E-20"), "", "it's \\ \"q\" ü\t\n", b"", b"\x00\xff'\\", datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.time(23, 59, 59, 999999), datetime.datetime(2024, 2, 29, 12, 0, 0, 1),
          datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.timezone.utc), datetime.timedelta(days=-1, seconds=3, microseconds=5), datetime.timedelta(days=400, hours=3), uuid.UUID(int=1), [1, 2, None], [1, 70000], [2**40, None], ["a", "b,\"c\\", None],
          [[1, 2], [3, 4]], [], [1.5, None], [datetime.date(2024, 1, 1), None], [True, False], [decimal.Decimal("1.50")], [uuid.UUID(int=2)], [b"\x01"], Json({"a": [1, None]})]
CASTS = {int: ("int2", "int4", "int8", "numeric", "float4", "float8", "text", "oid"), float: ("float4", "float8", "numeric", "text"), decimal.Decimal: ("numeric", "numeric(30,5)", "float8", "text"), str: ("text", "varchar", "varchar(3)", "bpchar", "char(5)", "name", "bytea"),
         bool: ("bool", "text", "int4"), datetime.date: ("date", "timestamp", "timestamptz", "text"), datetime.datetime: ("timestamp", "timestamptz", "date", "time", "text"), datetime.time: ("time", "interval", "text"), datetime.timedelta: ("interval", "time", "text"),
         uuid.UUID: ("uuid", "text"), bytes: ("bytea", "text"), list: ("text",)}


def attempts(values):
    for text, arguments, binary in values:
        label = "%s %s%s" % (text, show(arguments), " binary" if binary else "")
        try:
            c = db.execute(text, arguments, binary=binary)
            row = c.fetchone() if c.description else None
            yield "%s -> %s %s" % (label, show(row[0]) if row else None, c.description[0].type_code if c.description else c.statusmessage)
            db.commit()
        except psycopg.Error as error:
            yield label
            for line in error_lines(error):
                yield line
            db.rollback()
        except Exception as error:  # psycopg cannot make a Python value of it
            yield "%s -> %s %s" % (label, type(error).__name__, error)
            db.rollback()


@step("connection")
def _():
    yield "encoding %s, autocommit %s, %s, pid %s" % (db.info.encoding, db.autocommit, db.info.transaction_status, db.info.backend_pid > 0)
    yield "server %s" % (db.info.server_version // 10000)
    for name in ("server_encoding", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings", "is_superuser", "session_authorization", "application_name", "in_hot_standby", "default_transaction_read_only"):
        yield "%s = %s" % (name, db.info.parameter_status(name))


@step("parameters there and back, text and binary results")
def _():
    return attempts(("SELECT %s", [value], binary) for value in VALUES for binary in (False, True))


@step("binary parameters")
def _():
    return attempts(("SELECT %b", [value], True) for value in VALUES)


@step("text parameters")
def _():
    return attempts(("SELECT %t", [value], True) for value in VALUES)


@step("casts of parameters")
def _():
    return attempts(("SELECT %%s::%s" % cast, [value], True) for value in VALUES for cast in CASTS.get(type(value), ()))


@step("parameters beside columns: the types are found")
def _():
    return attempts([("SELECT k FROM every_type WHERE %s = %%s" % column, [value], False) for column, value in (
        ("c_int2", 32767), ("c_int4", 2**31 - 1), ("c_int8", 2**63 - 1), ("c_float4", 0.0), ("c_float8", 0.1), ("c_numeric", decimal.Decimal("-0.000000000000000000001")), ("c_numeric_p", 0), ("c_text", "text"), ("c_varchar", "varchar"), ("c_bpchar", "char"),
        ("c_char", "c"), ("c_name", "name"), ("c_bytea", b"abc"), ("c_date", datetime.date(2024, 2, 29)), ("c_time", datetime.time(12)), ("c_timestamp", datetime.datetime(1970, 1, 1)), ("c_timestamptz", datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)),
        ("c_interval", datetime.timedelta(days=-1, microseconds=1)), ("c_uuid", uuid.UUID(int=0)), ("c_oid", 1), ("c_int4_array", [0]), ("c_text_array", []), ("c_bool", False))] +
        [("SELECT %s + 1", [1], False), ("SELECT %s || 'x'", ["a"], False), ("SELECT 1 WHERE 2 IN (%s, 2)", [1], False), ("SELECT 1 WHERE 2 = ANY(%s)", [[1, 2]], False), ("SELECT count(*) FROM generate_series(1, %s)", [5], False), ("SELECT 1 LIMIT %s", [0], False),
         ("SELECT now() > %s", ["2000-01-01"], False), ("SELECT date '2024-01-31' + %s", [1], False), ("SELECT date '2024-01-31' + %s::interval", ["1 month"], False), ("SELECT coalesce(%s, %s)", [None, "x"], False), ("SELECT %s IS NULL", [None], False),
         ("SELECT substr(%s, %s, %s)", ["abcdef", 2, 3], False), ("SELECT round(%s, %s)", [decimal.Decimal("1.255"), 2], False), ("SELECT CASE WHEN %s THEN %s ELSE %s END", [True, "a", "b"], False), ("SELECT %s::text[]", [["a"]], False), ("SELECT greatest(%s, %s)", [1, 2.5], False),
         ("SELECT array[%s, %s]", [1, 2], False), ("SELECT %s = %s", ["a", "b"], False), ("VALUES (%s, %s)", [1, "x"], False), ("SELECT format(%s, %s)", ["%s!", "x"], False), ("SELECT to_char(%s, 'YYYY')", [datetime.date(2024, 1, 1)], False), ("SELECT extract(year FROM %s)", [datetime.date(2024, 1, 1)], False)])


for binary_rows in (False, True):
    @step("every type of the table, %s" % ("binary" if binary_rows else "text"))
    def _():
        c = db.cursor(binary=binary_rows)
        c.execute("SELECT * FROM every_type WHERE k IN (1, 3, 5) ORDER BY k")
        for column in c.description:
            yield "%s oid %d display %s internal %s precision %s scale %s" % (column.name, column.type_code, column.display_size, column.internal_size, column.precision, column.scale)
        result = c.pgresult
        for column in range(result.nfields):
            yield "table %s column %d format %d mod %d" % (result.ftable(column) > 0, result.ftablecol(column), result.fformat(column), result.fmod(column))
        for row in range(result.ntuples):
            for column in range(result.nfields):
                try:
                    yield c._tx.load_rows(row, row + 1, tuple)[0][column] if column == 0 else ""
                except Exception:
                    yield "row does not load"
                yield "%r" % result.get_value(row, column)
        db.rollback()


@step("prepared by itself from the sixth run on, and again after the table changed")
def _():
    db.execute("CREATE TABLE changing (a int, b text)")
    db.execute("INSERT INTO changing VALUES (1, 'x')")
    db.commit()
    for i in range(8):
        yield db.execute("SELECT a, b FROM changing WHERE a < %s", [i]).fetchall()
    yield [row[0] for row in db.execute("SELECT statement FROM pg_prepared_statements ORDER BY name").fetchall()]
    db.commit()
    db.execute("ALTER TABLE changing ALTER b TYPE int USING 7")
    db.commit()
    try:
        yield db.execute("SELECT a, b FROM changing WHERE a < %s", [5]).fetchall()
    except psycopg.Error as error:
        for line in error_lines(error):
            yield line
    db.rollback()
    db.execute("DROP TABLE changing")
    db.commit()


@step("a server cursor: fetch, scroll, binary, hold")
def _():
    with db.cursor(name="big") as c:
        c.itersize = 100
        c.execute("SELECT g, 'x' || g FROM generate_series(1, %s) g", [1000])
        yield "sum %d" % sum(row[0] for row in c)
    with db.cursor(name="scrolled", scrollable=True, binary=True) as c:
        c.execute("SELECT g FROM generate_series(1, 10) g")
        yield c.fetchmany(3)
        c.scroll(2)
        yield c.fetchone()
        c.scroll(-3)
        yield c.fetchone()
        c.scroll(9, mode="absolute")
        yield c.fetchall()
    db.rollback()
    held = db.cursor(name="held", withhold=True)
    held.execute("SELECT g FROM generate_series(1, 5) g")
    yield held.fetchmany(2)
    db.commit()
    yield held.fetchall()
    held.close()
    db.commit()


@step("executemany, RETURNING in it")
def _():
    with db.cursor() as c:
        c.execute("CREATE TABLE many (a int PRIMARY KEY, b text, c serial)")
        c.executemany("INSERT INTO many (a, b) VALUES (%s, %s)", [(i, "row %d" % i) for i in range(20)])
        yield "rowcount %d" % c.rowcount
        c.executemany("INSERT INTO many (a, b) VALUES (%s, %s) RETURNING c", [(i, None) for i in range(100, 105)], returning=True)
        while True:
            yield c.fetchone()
            if not c.nextset():
                break
        c.execute("SELECT count(*), sum(a), max(c) FROM many")
        yield c.fetchone()
    db.commit()


@step("pipeline")
def _():
    with db.pipeline() as pipeline:
        cursors = [db.execute("SELECT %s::int * 2", [i]) for i in range(10)]
        yield [c.fetchone()[0] for c in cursors]
        db.execute("INSERT INTO many (a) VALUES (200)")
        bad = db.cursor()
        try:
            bad.execute("INSERT INTO many (a) VALUES (200)")
            pipeline.sync()
        except psycopg.Error as error:
            for line in error_lines(error):
                yield line
        db.rollback()
        yield db.execute("SELECT count(*) FROM many WHERE a = 200").fetchone()
    db.rollback()


@step("an error in the middle of a pipeline skips up to the sync")
def _():
    try:
        with db.pipeline():
            db.execute("SELECT 1")
            db.execute("SELECT nosuch")
            db.execute("SELECT 2")
    except psycopg.Error as error:
        for line in error_lines(error):
            yield line
    db.rollback()


@step("transactions: blocks in blocks")
def _():
    with db.transaction():
        db.execute("INSERT INTO many (a) VALUES (300)")
        try:
            with db.transaction():
                db.execute("INSERT INTO many (a) VALUES (301)")
                db.execute("INSERT INTO many (a) VALUES (300)")
        except psycopg.errors.UniqueViolation as error:
            for line in error_lines(error):
                yield line
        with db.transaction("named", force_rollback=True):
            db.execute("INSERT INTO many (a) VALUES (302)")
    yield db.execute("SELECT a FROM many WHERE a >= 300").fetchall()
    db.rollback()
    for level in psycopg.IsolationLevel:
        db.isolation_level = level
        yield db.execute("SELECT current_setting('transaction_isolation')").fetchone()
        db.rollback()
    db.isolation_level = None
    db.read_only, db.deferrable = True, True
    yield db.execute("SELECT current_setting('transaction_read_only'), current_setting('transaction_deferrable')").fetchone()
    try:
        db.execute("DELETE FROM many")
    except psycopg.Error as error:
        for line in error_lines(error):
            yield line
    db.rollback()
    db.read_only, db.deferrable = None, None


@step("COPY both ways: rows, blocks, binary with types, csv")
def _():
    with db.cursor() as c:
        with c.copy("COPY many (a, b) FROM STDIN") as copy:
            for i in range(400, 405):
                copy.write_row((i, "tab\t and \\ and \n" if i % 2 else None))
        yield "rowcount %d" % c.rowcount
        with c.copy("COPY many (a, b, c) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "text", "int4"])
            for i in range(500, 503):
                copy.write_row((i, "binary", -i))
        with c.copy("COPY (SELECT a, b FROM many WHERE a >= 400 ORDER BY a) TO STDOUT") as copy:
            for row in copy.rows():
                yield row
        with c.copy("COPY (SELECT a, b, c FROM many WHERE a >= 500 ORDER BY a) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text", "int4"])
            for row in copy.rows():
                yield row
        with c.copy("COPY (SELECT a, b FROM many WHERE a >= %s ORDER BY a) TO STDOUT (FORMAT csv)", [404]) as copy:
            yield repr(b"".join(bytes(block) for block in copy))
        for text, rows in (("COPY many (a, b) FROM STDIN", [("x", 1)]), ("COPY many (a, b) FROM STDIN (FORMAT csv)", [("1", "2", "3")])):
            try:
                with db.transaction(), c.copy(text) as copy:
                    for row in rows:
                        copy.write("\t".join(map(str, row)) + "\n" if "csv" not in text else ",".join(row) + "\n")
            except psycopg.Error as error:
                for line in error_lines(error):
                    yield line
        try:
            with db.transaction(), c.copy("COPY many (a, b) FROM STDIN") as copy:
                copy.write("600\tx\n")
                raise ValueError("the program broke off")
        except Exception as error:
            yield "%s %s" % (type(error).__name__, str(error).split("\n")[0])
        yield c.execute("SELECT count(*) FROM many WHERE a = 600").fetchone()
    db.rollback()


@step("errors, by extended protocol")
def _():
    for text, arguments in (("SELECT nosuch FROM shop.customer WHERE id = %s", [1]), ("SELECT * FROM nosuch WHERE a = %s", [1]), ("SELECT %s::int", ["x"]), ("INSERT INTO many VALUES (%s, %s)", [1, "dup"]), ("INSERT INTO shop.customer (name) VALUES (%s)", [None]),
                            ("INSERT INTO shop.customer (name, credit) VALUES (%s, %s)", ["x", -1]), ("INSERT INTO shop.orders (customer_id) VALUES (%s)", [99]), ("SELECT 1 / %s", [0]), ("SELECT %s + %s", [2**31 - 1, 1]), ("SELECT lower(%s)", [1]),
                            ("SELECT 1 WHERE %s", [1]), ("INSERT INTO shop.customer (name, country) VALUES ('x', %s)", ["DEU"]), ("SELECT 1; SELECT 2", None), ("SELECT %s; SELECT 2", [1]), ("SELECT %s", [object]), ("SELECT nosuch(%s, %s)", [1, "x"]),
                            ("SELECT %s = %s", [1, "x"]), ("SELECT * FROM shop.customer WHERE id = %s", ["x"]), ("UPDATE shop.product SET price = %s", ["much"]), ("SELECT ''::date", None), ("SELECT %s::numeric(3,1)", [1000])):
        try:
            db.execute(text, arguments)
            yield "no error: " + text
        except psycopg.Error as error:
            yield text
            for line in error_lines(error):
                yield line
        db.rollback()


@step("notices")
def _():
    seen = []

    def handler(diag):
        seen.append(" ".join(str(x) for x in (diag.severity, diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint)))
    db.add_notice_handler(handler)
    db.execute("DROP TABLE IF EXISTS nosuch")
    db.execute("CREATE TABLE IF NOT EXISTS many (a int)")
    db.execute("ROLLBACK")
    db.execute("ROLLBACK")
    db.rollback()
    db.remove_notice_handler(handler)
    return iter(seen)


@step("type introspection")
def _():
    for name in ("int4", "text", "numeric", "timestamptz", "uuid", "shop.customer", "varchar", "_int4", "nosuch", "json", "integer", "pg_catalog.int8", "time with time zone"):
        info = TypeInfo.fetch(db, name)
        yield "%s -> %s" % (name, info and (info.name, info.array_oid > 0 if info.oid >= 10000 else (info.oid, info.array_oid), info.regtype, info.delimiter))
    db.rollback()


@step("rows of other kinds, sql composition")
def _():
    yield "%r" % db.cursor(row_factory=dict_row).execute("SELECT id, name FROM shop.customer ORDER BY id LIMIT 1").fetchone()
    yield "%r" % (db.cursor(row_factory=namedtuple_row).execute("SELECT id, name FROM shop.customer ORDER BY id LIMIT 1").fetchone(),)
    query = sql.SQL("SELECT {} FROM {} WHERE {} = {}").format(sql.SQL(", ").join(map(sql.Identifier, ["Key", "select", "ümlaut"])), sql.Identifier("Odd Names", "Table one"), sql.Identifier("Key"), sql.Literal(1))
    yield query.as_string(db)
    yield db.execute(query).fetchall()
    db.rollback()


@step("stream, several results")
def _():
    c = db.cursor()
    yield [row for row in c.stream("SELECT g FROM generate_series(1, %s) g", [5])]
    c.execute("SELECT 1; SELECT 2, 3; DELETE FROM many WHERE a < 0; SELECT 4")
    while True:
        yield "%s %s" % (c.statusmessage, c.fetchall() if c.description else None)
        if not c.nextset():
            break
    db.rollback()


@step("cancel")
def _():
    timer = threading.Timer(0.3, db.cancel)
    timer.start()
    try:
        db.execute("SELECT pg_sleep(60)")
    finally:
        timer.join()
        db.rollback()


@step("autocommit, and a broken connection")
def _():
    db.autocommit = True
    db.execute("DROP TABLE many")
    yield str(db.info.transaction_status)
    other = psycopg.connect("", autocommit=True)
    db.execute("SELECT pg_terminate_backend(%s)", [other.info.backend_pid])
    try:
        other.execute("SELECT 1")
    except psycopg.OperationalError as error:
        yield "%s %s" % (type(error).__name__, str(error).split("\n")[0])
    yield "closed %s broken %s" % (other.closed, other.broken)


async def asynchronous():
    connection = await psycopg.AsyncConnection.connect("", autocommit=True)
    cursors = [await connection.execute("SELECT %s::int", [i]) for i in range(3)]
    rows = [await c.fetchone() for c in cursors]
    await connection.close()
    return rows


@step("asyncio")
def _():
    return asyncio.run(asynchronous())


db.close()
