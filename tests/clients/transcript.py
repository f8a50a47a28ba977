"""tests/clients/transcript.py - what the Python clients' scripts share: every step prints its name and what came of it, errors with all
their fields, so that two servers can be compared line by line."""
import sys
import traceback

FIELDS = ("severity", "severity_nonlocalized", "sqlstate", "message_primary", "message_detail", "message_hint", "statement_position", "internal_position",
          "internal_query", "context", "schema_name", "table_name", "column_name", "datatype_name", "constraint_name")


def show(value):
    """A value with its type, floats exactly."""
    if isinstance(value, memoryview):
        value = bytes(value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ", ".join(show(item) for item in value) + ")"
    return "%s:%r" % (type(value).__name__, value)


def error_lines(error):
    yield "%s %s" % (type(error).__name__, getattr(error, "sqlstate", None) or getattr(error, "pgcode", None))
    diag = getattr(error, "diag", None)
    for field in FIELDS:
        value = getattr(diag, field, None)
        if value is not None:
            yield "    %s: %s" % (field, value)
    if diag is None or diag.message_primary is None:
        yield "    %s" % error


def step(name):
    """@step('name') def f(): ... runs f at once and prints what it yields or returns."""
    def run(function):
        print("== " + name)
        try:
            result = function()
            if result is not None and hasattr(result, "__next__"):
                for item in result:
                    print("  ", item if isinstance(item, str) else show(item))
            elif result is not None:
                print("  ", result if isinstance(result, str) else show(result))
        except Exception as error:  # what a client sees is the test, errors too
            module = type(error).__module__
            if not module.startswith("psycopg"):
                traceback.print_exc(file=sys.stdout)
            for line in error_lines(error):
                print("  ", line)
        sys.stdout.flush()
        return function
    return run
