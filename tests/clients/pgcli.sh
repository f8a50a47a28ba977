# shellcheck shell=bash
# tests/clients/pgcli.sh - pgcli, sourced by clients.sh: in batch mode, through a pipe, and what its completer knows of the server.

# Through a pipe; what it draws around the prompt on its own is left out.
pgcli_commands() {
    printf '%s\n' 'SELECT id, name, credit, tags FROM shop.customer ORDER BY id;' '\dt shop.*' '\d shop.line' '\dv shop.*' '\ds shop.*' '\di shop.*' '\dn' '\df shop.*' '\du' '\dT shop.*' 'SELECT nosuch;' '\x' 'SELECT 1; SELECT 2;' '\x' \
        '\d+ shop.order_total' '\d "Odd Names"."Table one"' '\l nosuch' '\dD' '\dm' '\db' '\ddp' 'INSERT INTO shop.customer (name) VALUES (NULL);' |
        HOME=$scratch/home PAGER=cat TERM=dumb timeout 120 pgcli --warn off --pgclirc "$scratch/pgclirc" 2>&1 |
        sed 's/\r//g; s/.*postgres> */postgres> /; s/ *$//' | grep -v '^ *$\|\[F2\]\|^postgres>$'
}
# Its completer reads the catalogs on a connection of its own.
pgcli_completer() {
    HOME=$scratch/home timeout 120 /usr/bin/python3 - <<'END'
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from pgcli.completion_refresher import CompletionRefresher
from pgcli.pgexecute import PGExecute
from pgspecial import PGSpecial
import os
import threading

execute = PGExecute("postgres", "postgres", "", os.environ["PGHOST"], os.environ.get("PGPORT", ""), None)
done, made = threading.Event(), []
CompletionRefresher().refresh(execute, PGSpecial(), lambda completer: (made.append(completer), done.set()), None, {"keyword_casing": "upper"})
assert done.wait(60), "no completion"
completer = made[0]
for text in ("SELECT * FROM shop.", "SELECT  FROM shop.customer", "SELECT * FROM shop.orders o JOIN shop.", "INSERT INTO shop.line (", "SELECT lowe", "ALTER TABLE shop.li", "SET sear", "DROP VIEW shop.", "SELECT * FROM shop.orders o JOIN shop.customer c ON ",
             "SELECT CAST(1 AS tim"):
    at = 7 if text.startswith("SELECT  FROM") else len(text)
    words = [c.text for c in completer.get_completions(Document(text, at), CompleteEvent())]
    print(text, "->", sorted(word for word in words if not word.isupper())[:60])
END
}
pgcli_client() {
    mkdir -p "$scratch/home"
    printf '[main]\nless_chatty = True\nsmart_completion = True\nlog_level = NONE\nlog_file = %s\nhistory_file = %s\ntable_format = psql\nenable_pager = False\ntiming = False\n' "$scratch/pgcli.log" "$scratch/pgcli.history" >"$scratch/pgclirc"
    compare pgcli pgcli_commands
    compare pgcli_completer pgcli_completer
}
