/* tests/engine/slow_client.c - a client that reads one row of a query, or a few, and then waits.
 *
 *     slow_client QUERY [ROWS]      prints "ready" after so many rows (1); reads a line from stdin; then the other rows, and prints how many there were */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

static PGresult *next_row(PGconn *connection, long *rows)
{
    PGresult *result = PQgetResult(connection);
    if (result && PQresultStatus(result) == PGRES_SINGLE_TUPLE)
        ++*rows;
    else if (result && PQresultStatus(result) != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s", PQresultErrorMessage(result));
        exit(1);
    }
    return result;
}

int main(int argc, char **argv)
{
    PGconn *connection = PQconnectdb("application_name=slow");
    long rows = 0;
    if (argc < 2 || argc > 3 || PQstatus(connection) != CONNECTION_OK || !PQsendQuery(connection, argv[1]) || !PQsetSingleRowMode(connection)) {
        fprintf(stderr, "slow_client: %s\n", PQerrorMessage(connection));
        return 1;
    }
    for (long first = argc == 3 ? atol(argv[2]) : 1; rows < first;) {
        PGresult *result = next_row(connection, &rows);
        if (!result)
            break;
        PQclear(result);
    }
    puts("ready");
    fflush(stdout);
    getchar();
    for (PGresult *result; (result = next_row(connection, &rows));)
        PQclear(result);
    printf("%ld\n", rows);
    PQfinish(connection);
    return 0;
}
