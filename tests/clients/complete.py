#!/usr/bin/python3
"""tests/clients/complete.py - presses TAB in a real psql (on a terminal of its own) after each text below, and prints what psql offers.

Nothing is waited for by the clock: after TAB the line is killed and an \\echo of a mark is sent, so what stands before the mark's own
output is what the completion showed.
"""
import os
import pty
import re
import select
import sys
import tempfile

TEXTS = r"""
SELECT * FROM cust
SELECT * FROM shop.
SELECT * FROM shop.o
SELECT * FROM "Odd
SELECT * FROM "Odd Names".
SELECT * FROM information_schema.tabl
SELECT * FROM pg_catalog.pg_cl
SELECT * FROM nosuch_
INSERT INTO shop.
INSERT INTO product (
INSERT INTO product VAL
UPDATE li
UPDATE product SET
UPDATE product SET p
DELETE FROM order
SELECT name FROM customer WHERE c
SELECT pg_get_vi
SELECT nextval('
DROP TABLE shop.
DROP TABLE cu
DROP VIEW
DROP INDEX customer_
DROP SEQUENCE shop.t
DROP SCHEMA
DROP FUNCTION pg_get_ser
ALTER TABLE cus
ALTER TABLE customer
ALTER TABLE customer DROP CONSTRAINT
ALTER TABLE customer DROP COLUMN
ALTER TABLE customer ALTER COLUMN cr
ALTER TABLE customer RENAME COLUMN na
ALTER TABLE line VALIDATE CONSTRAINT
ALTER TABLE customer CLUSTER ON
ALTER INDEX line_
ALTER SEQUENCE shop.
ALTER VIEW big
ALTER SCHEMA sh
ALTER ROLE post
CREATE INDEX i ON line (
CREATE INDEX i ON shop.
CREATE TABLE x (LIKE prod
CREATE TABLE x (a inter
CREATE VIEW v AS SEL
COMMENT ON COLUMN customer.
COMMENT ON CONSTRAINT line_
COMMENT ON TABLE shop.li
CLUSTER customer USING
REINDEX INDEX cust
TRUNCATE shop.l
VACUUM ANALYZE pro
ANALYZE shop.cu
LOCK TABLE or
COPY shop.pro
GRANT SELECT ON cus
SET work_
SET search_path TO
SET default_transaction_isolation TO
SET client_min_messages TO
SET DateStyle TO
SET TimeZone TO U
SET enable_h
SHOW server_v
SHOW enable_has
RESET enable_sor
EXECUTE
EXECUTE q
DEALLOCATE q
EXPLAIN SELECT * FROM big_
TABLE shop.big
BEGIN ISOLATION LEVEL R
START TRANS
FETCH FORWARD 2 FROM cur
CLOSE cur
\d cust
\d shop.
\d "Odd Names"."
\dt shop.
\di line_
\dv shop.
\ds cust
\dn sh
\du post
\df pg_get_const
\dT time
\sv big
\sf pg_get_use
\c post
\encoding UT
\dconfig work_
"""


def fork_psql():
    inputrc = tempfile.NamedTemporaryFile("w", suffix=".inputrc", delete=False)
    inputrc.write("set bell-style none\nset show-all-if-ambiguous on\nset page-completions off\nset completion-query-items 0\n"
                  "set enable-bracketed-paste off\nset completion-display-width 1\nset colored-stats off\nset horizontal-scroll-mode on\n")
    inputrc.close()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", INPUTRC=inputrc.name, PSQL_HISTORY="/dev/null", PAGER="cat", COLUMNS="200", LINES="2000")
        os.execvp("psql", ["psql", "-X", "-q", "-v", "PROMPT1=ready> ", "-v", "PROMPT2=> "])
    return pid, terminal, inputrc.name


class Terminal:
    def __init__(self, descriptor):
        self.descriptor, self.seen = descriptor, b""

    def until(self, mark):
        """What came before the mark; the mark is taken, too."""
        while mark not in self.seen:
            ready, _, _ = select.select([self.descriptor], [], [], 60)
            if not ready:
                raise SystemExit("psql says nothing for a minute; last: %r" % self.seen[-300:])
            self.seen += os.read(self.descriptor, 65536)
        before, self.seen = self.seen.split(mark, 1)
        return before

    def send(self, text):
        os.write(self.descriptor, text.encode())


def main():
    pid, descriptor, inputrc = fork_psql()
    terminal = Terminal(descriptor)
    terminal.until(READY)
    number = 0

    def mark(before):
        nonlocal number
        number += 1
        terminal.send(before + "\\echo MARK-%d-\n" % number)
        shown = terminal.until(b"\r\nMARK-%d-\r\n" % number)
        terminal.until(READY)            # else the terminal itself would echo what comes next
        return shown

    mark("PREPARE q1(int) AS SELECT $1; PREPARE q2 AS SELECT 2;\nSET search_path = shop, public;\n")
    mark("BEGIN; DECLARE curious CURSOR FOR SELECT 1;\n")
    for text in TEXTS.strip("\n").split("\n"):
        # Ctrl-A, Ctrl-K empty the line.
        space = " " if text.endswith(WHOLE) else ""
        shown = mark(text + space + "\t\x01\x0b").decode("utf-8", "replace")
        shown = re.sub(r"\\echo MARK-\d+-$", "", shown.replace("\r", ""))
        lines = [line.strip() for line in shown.split("\n")]
        print("TAB after: %s%s" % (text, space))
        for line in lines:
            for part in re.split("\x07|\x1b\\[[0-9;?]*[A-Za-z]", line):
                part = part.replace("\x08", "").strip()
                if part:
                    print("    " + part)
    terminal.send("\\q\n")
    os.waitpid(pid, 0)
    os.unlink(inputrc)


READY = b"ready> "
# Texts that end in a whole word: TAB comes after a space.
WHOLE = ("SET", "DROP VIEW", "DROP SCHEMA", "DROP CONSTRAINT", "DROP COLUMN", "VALIDATE CONSTRAINT", "CLUSTER ON", "USING", " TO", "EXECUTE", "ALTER TABLE customer")

if __name__ == "__main__":
    sys.exit(main())
