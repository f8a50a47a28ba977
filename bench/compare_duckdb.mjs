// bench/compare_duckdb.mjs - the child of compare_duckdb.c: a statement a line in; rows, then "\1ok MILLISECONDS" or "\1error TEXT" out.
// Rows that a statement doesn't return (a count of changed rows) aren't shown.
import { DuckDBInstance } from '@duckdb/node-api';
import { createInterface } from 'node:readline';

const connection = await (await DuckDBInstance.create('duck.db')).connect();
const shown = value => value === null ? '' : typeof value === 'boolean' ? (value ? 't' : 'f') : String(value);

for await (const line of createInterface({ input: process.stdin })) {
    // It has no VACUUM ANALYZE, no keys added later that help a query.
    const sql = /^\s*VACUUM/i.test(line) ? 'CHECKPOINT' : /^\s*ALTER TABLE \S+ ADD PRIMARY KEY/i.test(line) ? 'SELECT 1 WHERE false' : line;
    try {
        const from = process.hrtime.bigint();
        const reader = await connection.runAndReadAll(sql);
        const took = Number(process.hrtime.bigint() - from) / 1e6;
        const returns = /^\s*(SELECT|WITH|VALUES)/i.test(sql);
        const rows = returns ? reader.getRows().map(row => row.map(shown).join('\t') + '\n').join('') : '';
        process.stdout.write(`${rows}\x01ok ${took}\n`);
    } catch (error) {
        process.stdout.write(`\x01error ${String(error.message ?? error).replaceAll('\n', ' ')}\n`);
    }
}
