/* tests/clients/Jdbc.java - the JDBC driver against a server: java -cp postgresql.jar:DIR Jdbc SOCKET. Prints a transcript: metadata, batches,
 * fetch size, binary transfer from the fifth run on, generated keys, updatable result sets, savepoints, warnings, cancel, timeouts, COPY.
 *
 * The driver speaks TCP only, the servers of tests listen on a socket file: Bridge carries bytes between the two. */
import java.io.*;
import java.math.BigDecimal;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.Executors;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;

/* A port of its own, each connection to which is one to the socket file. */
class Bridge extends Thread {
    final ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    final UnixDomainSocketAddress target;

    Bridge(String path) throws IOException {
        target = UnixDomainSocketAddress.of(path);
        setDaemon(true);
        start();
    }

    int port() throws IOException { return ((InetSocketAddress) listener.getLocalAddress()).getPort(); }

    /* Until either side is gone, which ends the other. */
    static void pump(SocketChannel from, SocketChannel to) {
        Thread pump = new Thread(() -> {
            ByteBuffer bytes = ByteBuffer.allocate(65536);
            try (from; to) {
                while (from.read(bytes) >= 0) {
                    bytes.flip();
                    while (bytes.hasRemaining()) to.write(bytes);
                    bytes.clear();
                }
            } catch (IOException e) {
                return;
            }
        });
        pump.setDaemon(true);
        pump.start();
    }

    @Override public void run() {
        try {
            for (;;) {
                SocketChannel client = listener.accept();
                client.setOption(StandardSocketOptions.TCP_NODELAY, true);
                SocketChannel server = SocketChannel.open(target);
                pump(client, server);
                pump(server, client);
            }
        } catch (IOException e) {
            System.out.println("bridge: " + e);
        }
    }
}

public class Jdbc {
    static Connection db;
    static String url;

    interface Step { void run() throws Exception; }

    static void step(String name, Step step) {
        System.out.println("== " + name);
        try {
            step.run();
        } catch (SQLException e) {
            error(e);
            rollback();
        } catch (Exception e) {
            System.out.println("  " + e);
            rollback();
        }
    }

    static void rollback() {
        try {
            if (!db.getAutoCommit()) db.rollback();
        } catch (SQLException e) {
            System.out.println("  rollback: " + e.getMessage());
        }
    }

    static void error(SQLException e) {
        for (SQLException each = e; each != null; each = each.getNextException()) {
            System.out.println("  " + each.getClass().getSimpleName() + " " + each.getSQLState() + " " + each.getMessage().replace("\n", " | "));
            if (each instanceof org.postgresql.util.PSQLException && ((org.postgresql.util.PSQLException) each).getServerErrorMessage() != null) {
                var m = ((org.postgresql.util.PSQLException) each).getServerErrorMessage();
                System.out.println("    " + m.getSeverity() + " table " + m.getTable() + " column " + m.getColumn() + " constraint " + m.getConstraint() + " schema " + m.getSchema() + " position " + m.getPosition());
            }
        }
    }

    static void say(Object what) { System.out.println("  " + what); }

    static String text(Object value) throws SQLException {
        if (value instanceof byte[]) return "bytes " + HexFormat.of().formatHex((byte[]) value);
        if (value instanceof java.sql.Array) {
            Object inner = ((java.sql.Array) value).getArray();
            return ((java.sql.Array) value).getBaseTypeName() + Arrays.deepToString((Object[]) inner);
        }
        return value == null ? "null" : value.getClass().getSimpleName() + " " + value;
    }

    static void rows(ResultSet rs, String... hidden) throws SQLException {
        ResultSetMetaData m = rs.getMetaData();
        Set<String> skip = new HashSet<>(Arrays.asList(hidden));
        while (rs.next()) {
            StringBuilder line = new StringBuilder();
            for (int i = 1; i <= m.getColumnCount(); i++)
                if (!skip.contains(m.getColumnLabel(i)))
                    line.append(m.getColumnLabel(i)).append('=').append(rs.getString(i)).append(' ');
            say(line.toString().trim().replace("\n", "\\n"));
        }
        rs.close();
    }

    static void metadata() {
        step("server and driver", () -> {
            DatabaseMetaData m = db.getMetaData();
            say(m.getDatabaseProductName() + " " + m.getDatabaseMajorVersion() + " " + m.getSQLKeywords().length() + " " + m.getIdentifierQuoteString() + " " + m.getMaxColumnNameLength() + " " + m.getMaxIndexLength());
            say(m.getUserName() + " " + m.getDefaultTransactionIsolation() + " " + m.supportsTransactionIsolationLevel(8) + " " + m.getMaxColumnsInIndex() + " " + m.supportsBatchUpdates());
            say(m.getSQLKeywords());
        });
        for (String schema : new String[] {"shop", "public", "Odd Names"}) {
            step("getTables " + schema, () -> rows(db.getMetaData().getTables(null, schema, "%", null)));
            step("getColumns " + schema, () -> rows(db.getMetaData().getColumns(null, schema, "%", "%")));
        }
        step("getTables by type", () -> rows(db.getMetaData().getTables(null, null, "%o%", new String[] {"TABLE", "VIEW", "SEQUENCE", "INDEX", "MATERIALIZED VIEW", "TYPE", "FOREIGN TABLE", "PARTITIONED TABLE", "TEMPORARY TABLE"})));
        step("getTables of the system", () -> rows(db.getMetaData().getTables(null, "pg_catalog", "pg\\_n%", null)));
        step("getColumns of the system", () -> rows(db.getMetaData().getColumns(null, "pg_catalog", "pg\\_namespace", "%")));
        for (String table : new String[] {"customer", "product", "orders", "line", "many_checks", "every_type", "Table one"}) {
            step("getPrimaryKeys " + table, () -> rows(db.getMetaData().getPrimaryKeys(null, null, table)));
            step("getIndexInfo " + table, () -> rows(db.getMetaData().getIndexInfo(null, null, table, false, true), "CARDINALITY", "PAGES"));
            step("getIndexInfo of unique ones " + table, () -> rows(db.getMetaData().getIndexInfo(null, null, table, true, true), "CARDINALITY", "PAGES"));
            step("getImportedKeys " + table, () -> rows(db.getMetaData().getImportedKeys(null, null, table)));
            step("getExportedKeys " + table, () -> rows(db.getMetaData().getExportedKeys(null, null, table)));
            step("getBestRowIdentifier " + table, () -> rows(db.getMetaData().getBestRowIdentifier(null, null, table, DatabaseMetaData.bestRowSession, true)));
            step("getVersionColumns " + table, () -> rows(db.getMetaData().getVersionColumns(null, null, table)));
            step("getTablePrivileges " + table, () -> rows(db.getMetaData().getTablePrivileges(null, null, table)));
            step("getColumnPrivileges " + table, () -> rows(db.getMetaData().getColumnPrivileges(null, null, table, "%")));
        }
        step("getCrossReference", () -> rows(db.getMetaData().getCrossReference(null, "shop", "customer", null, "shop", "orders")));
        step("getSchemas", () -> rows(db.getMetaData().getSchemas()));
        step("getSchemas by pattern", () -> rows(db.getMetaData().getSchemas(null, "s%")));
        step("getCatalogs", () -> { try (ResultSet rs = db.getMetaData().getCatalogs()) { boolean found = false; while (rs.next()) found |= rs.getString(1).equals("postgres"); say(found); } });
        step("getTableTypes", () -> rows(db.getMetaData().getTableTypes()));
        step("getTypeInfo", () -> {
            Set<String> ours = new HashSet<>(List.of("bool", "bytea", "char", "name", "int8", "int2", "int4", "text", "oid", "float4", "float8", "bpchar", "varchar", "date", "time", "timestamp", "timestamptz", "interval", "numeric", "uuid", "json", "serial", "bigserial", "smallserial", "_int4", "_text"));
            try (ResultSet rs = db.getMetaData().getTypeInfo()) {
                List<String> lines = new ArrayList<>();
                while (rs.next())
                    if (ours.contains(rs.getString("TYPE_NAME")))
                        lines.add(rs.getString("TYPE_NAME") + " " + rs.getInt("DATA_TYPE") + " " + rs.getInt("PRECISION") + " " + rs.getString("LITERAL_PREFIX") + " " + rs.getString("CREATE_PARAMS") + " " + rs.getInt("SEARCHABLE") + " " + rs.getBoolean("AUTO_INCREMENT") + " " + rs.getInt("NUM_PREC_RADIX"));
                Collections.sort(lines);
                for (String line : lines) say(line);
            }
        });
        step("getFunctions", () -> rows(db.getMetaData().getFunctions(null, null, "pg\\_get\\_view%"), "SPECIFIC_NAME", "REMARKS"));
        step("getFunctions of one's own", () -> rows(db.getMetaData().getFunctions(null, "shop", "%")));
        step("getProcedures", () -> rows(db.getMetaData().getProcedures(null, null, "%")));
        step("getProcedureColumns", () -> rows(db.getMetaData().getProcedureColumns(null, "shop", "%", "%")));
        step("getFunctionColumns", () -> rows(db.getMetaData().getFunctionColumns(null, "pg_catalog", "lower", "%"), "SPECIFIC_NAME"));
        step("getUDTs", () -> rows(db.getMetaData().getUDTs(null, "shop", "%", null)));
        step("getClientInfoProperties", () -> rows(db.getMetaData().getClientInfoProperties()));
        for (String table : new String[] {"every_type", "shop.product", "shop.orders", "\"Odd Names\".\"Table one\"", "shop.order_total"})
            step("ResultSetMetaData " + table, () -> {
                try (Statement s = db.createStatement(); ResultSet rs = s.executeQuery("SELECT * FROM " + table)) {
                    ResultSetMetaData m = rs.getMetaData();
                    for (int i = 1; i <= m.getColumnCount(); i++)
                        say(m.getColumnName(i) + " " + m.getColumnTypeName(i) + " " + m.getColumnType(i) + " " + m.getPrecision(i) + " " + m.getScale(i) + " " + m.getColumnDisplaySize(i) + " " + m.isNullable(i) + " " + m.isAutoIncrement(i) + " " + m.getTableName(i) + " " + m.getSchemaName(i) + " " + m.getColumnClassName(i) + " " + m.isSigned(i) + " " + m.isCaseSensitive(i));
                }
            });
        step("ParameterMetaData", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT * FROM every_type WHERE k = ? AND c_numeric_p > ? AND c_text LIKE ? AND c_timestamptz < ? AND c_bool = ? AND c_int4_array = ? AND c_uuid = ?")) {
                ParameterMetaData m = s.getParameterMetaData();
                for (int i = 1; i <= m.getParameterCount(); i++) say(m.getParameterTypeName(i) + " " + m.getParameterType(i) + " " + m.getParameterClassName(i));
                say(s.getMetaData().getColumnCount());
            }
        });
    }

    static void data() throws Exception {
        step("every type, text and then binary", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT * FROM every_type WHERE k = ?")) {
                ((org.postgresql.PGStatement) s).setPrepareThreshold(3);
                for (int run = 1; run <= 5; run++)
                    for (int k : new int[] {1, 2, 3, 5}) {
                        s.setInt(1, k);
                        try (ResultSet rs = s.executeQuery()) {
                            rs.next();
                            if (run == 1 || run == 5)
                                for (int i = 1; i <= rs.getMetaData().getColumnCount(); i++) {
                                    String got;
                                    try { got = text(rs.getObject(i)); } catch (Exception e) { got = e.getClass().getSimpleName() + " " + e.getMessage(); }
                                    say(run + " " + k + " " + rs.getMetaData().getColumnName(i) + " " + got);
                                }
                        }
                    }
            }
            db.commit();
        });
        step("parameters of every kind, there and back", () -> {
            try (Statement s = db.createStatement()) {
                s.execute("CREATE TABLE kinds (id serial PRIMARY KEY, b boolean, i2 smallint, i4 int, i8 bigint, f4 real, f8 float8, n numeric(20,4), t text, v varchar(10), by bytea, d date, ti time, ts timestamp, tz timestamptz, u uuid, a int[], ta text[], j json)");
            }
            try (PreparedStatement s = db.prepareStatement("INSERT INTO kinds (b, i2, i4, i8, f4, f8, n, t, v, by, d, ti, ts, tz, u, a, ta) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
                for (int run = 0; run < 8; run++) {
                    s.setBoolean(1, run % 2 == 0);
                    s.setShort(2, (short) (run * 1000));
                    s.setInt(3, run * 100000);
                    s.setLong(4, run * 10000000000L);
                    s.setFloat(5, run / 3f);
                    s.setDouble(6, run / 7.0);
                    s.setBigDecimal(7, new BigDecimal("12345678901234.5678").multiply(BigDecimal.valueOf(run)));
                    s.setString(8, "text ü " + run);
                    s.setString(9, "v" + run);
                    s.setBytes(10, new byte[] {(byte) run, 0, -1});
                    s.setObject(11, LocalDate.of(2024, 2, 29).plusDays(run));
                    s.setObject(12, LocalTime.of(1, 2, 3, run * 1000));
                    s.setTimestamp(13, Timestamp.valueOf("2024-01-02 03:04:05.678901"));
                    s.setObject(14, OffsetDateTime.of(2024, 7, 1, 12, 0, 0, run * 1000, ZoneOffset.ofHours(2)));
                    s.setObject(15, new UUID(run, run));
                    s.setArray(16, db.createArrayOf("int4", new Integer[] {run, null, -run}));
                    s.setArray(17, db.createArrayOf("text", new String[] {"a,b", null, "q\"\\"}));
                    say(s.executeUpdate());
                }
                for (int i = 1; i <= 17; i++) s.setNull(i, new int[] {Types.BOOLEAN, Types.SMALLINT, Types.INTEGER, Types.BIGINT, Types.REAL, Types.DOUBLE, Types.NUMERIC, Types.VARCHAR, Types.VARCHAR, Types.BINARY, Types.DATE, Types.TIME, Types.TIMESTAMP, Types.TIMESTAMP_WITH_TIMEZONE, Types.OTHER, Types.ARRAY, Types.ARRAY}[i - 1]);
                say(s.executeUpdate());
            }
            try (Statement s = db.createStatement()) { rows(s.executeQuery("SELECT * FROM kinds ORDER BY id")); }
            try (PreparedStatement s = db.prepareStatement("SELECT d, ti, ts, tz, n, f8 FROM kinds WHERE id = ?")) {
                for (int run = 0; run < 7; run++) {
                    s.setInt(1, 3);
                    try (ResultSet rs = s.executeQuery()) {
                        rs.next();
                        if (run == 0 || run == 6) say(rs.getDate(1) + " " + rs.getTime(2) + " " + rs.getTimestamp(3) + " " + rs.getObject(3, LocalDateTime.class) + " " + rs.getObject(4, OffsetDateTime.class) + " " + rs.getBigDecimal(5) + " " + rs.getDouble(6) + " " + rs.getString(2) + " " + rs.getString(4));
                    }
                }
            }
            db.commit();
        });
        step("generated keys", () -> {
            try (PreparedStatement s = db.prepareStatement("INSERT INTO shop.customer (name) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                s.setString(1, "generated");
                s.executeUpdate();
                rows(s.getGeneratedKeys(), "id");
            }
            try (PreparedStatement s = db.prepareStatement("INSERT INTO shop.product (code, price) VALUES (?, ?)", new String[] {"code", "gross"})) {
                s.setString(1, "gen");
                s.setBigDecimal(2, new BigDecimal("2.50"));
                s.executeUpdate();
                rows(s.getGeneratedKeys());
            }
            try (Statement s = db.createStatement()) {
                say(s.executeUpdate("UPDATE shop.product SET price = price * 2 WHERE price < 2", new String[] {"code", "price"}));
                rows(s.getGeneratedKeys());
            }
            db.rollback();
        });
        step("batches", () -> {
            try (PreparedStatement s = db.prepareStatement("INSERT INTO kinds (i4, t) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
                for (int i = 0; i < 300; i++) {
                    s.setInt(1, i);
                    s.setString(2, "batch");
                    s.addBatch();
                }
                int[] counts = s.executeBatch();
                say(counts.length + " " + Arrays.stream(counts).sum());
                int keys = 0;
                ResultSet rs = s.getGeneratedKeys();
                while (rs.next()) keys++;
                say(keys);
            }
            try (Statement s = db.createStatement()) {
                s.addBatch("UPDATE kinds SET i8 = 1 WHERE t = 'batch'");
                s.addBatch("DELETE FROM kinds WHERE i4 < 10 AND t = 'batch'");
                s.addBatch("CREATE TABLE batched (a int)");
                say(Arrays.toString(s.executeBatch()));
            }
            db.rollback();
            try (PreparedStatement s = db.prepareStatement("INSERT INTO kinds (id, v) VALUES (?, ?)")) {
                for (int i = 0; i < 5; i++) {
                    s.setInt(1, 1000 + i);
                    s.setString(2, i == 3 ? "much too long" : "short");
                    s.addBatch();
                }
                s.executeBatch();
            } catch (BatchUpdateException e) {
                say(Arrays.toString(e.getUpdateCounts()));
                error(e);
            }
            db.rollback();
        });
        step("fetch size", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT g, 'row ' || g FROM generate_series(1, ?) g")) {
                s.setFetchSize(50);
                s.setInt(1, 1001);
                long sum = 0;
                try (ResultSet rs = s.executeQuery()) { while (rs.next()) sum += rs.getInt(1); }
                say(sum);
                s.setMaxRows(7);
                try (ResultSet rs = s.executeQuery()) { int n = 0; while (rs.next()) n++; say(n); }
            }
            db.commit();
        });
        step("scrollable and updatable result sets", () -> {
            try (Statement s = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE); ResultSet rs = s.executeQuery("SELECT id, name, credit FROM shop.customer ORDER BY id")) {
                rs.last();
                say(rs.getRow());
                rs.absolute(2);
                rs.updateString("name", "Bobby");
                rs.updateBigDecimal("credit", new BigDecimal("5.50"));
                rs.updateRow();
                say(rs.getString("name") + " " + rs.getBigDecimal("credit"));
                rs.refreshRow();
                say(rs.getString("name") + " " + rs.getBigDecimal("credit"));
                rs.moveToInsertRow();
                rs.updateInt("id", 777);
                rs.updateString("name", "inserted");
                rs.updateBigDecimal("credit", BigDecimal.ONE);
                rs.insertRow();
                rs.moveToCurrentRow();
                rs.absolute(4);
                rs.deleteRow();
                try (Statement t = db.createStatement()) { rows(t.executeQuery("SELECT id, name, credit FROM shop.customer ORDER BY id")); }
            }
            db.rollback();
        });
        step("savepoints", () -> {
            try (Statement s = db.createStatement()) {
                s.executeUpdate("DELETE FROM kinds WHERE id = 1");
                Savepoint one = db.setSavepoint();
                s.executeUpdate("DELETE FROM kinds WHERE id = 2");
                Savepoint two = db.setSavepoint("it's \"two\"");
                try { s.executeUpdate("DELETE FROM nosuch"); } catch (SQLException e) { error(e); }
                try { s.executeQuery("SELECT 1"); } catch (SQLException e) { error(e); }
                db.rollback(two);
                rows(s.executeQuery("SELECT count(*) FROM kinds"));
                db.rollback(one);
                rows(s.executeQuery("SELECT count(*) FROM kinds"));
                db.releaseSavepoint(one);
            }
            db.rollback();
        });
        step("warnings", () -> {
            try (Statement s = db.createStatement()) {
                s.execute("DROP TABLE IF EXISTS nosuch, nosuch2");
                for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) say(w.getSQLState() + " " + w.getMessage());
            }
            db.rollback();
        });
        step("several results", () -> {
            try (Statement s = db.createStatement()) {
                boolean has = s.execute("SELECT 1 AS a; UPDATE kinds SET i4 = 0 WHERE id < 3; SELECT 2 AS b, 3 AS c; CREATE TABLE several (a int)");
                for (;;) {
                    if (has) rows(s.getResultSet());
                    else if (s.getUpdateCount() < 0) break;
                    else say("updated " + s.getUpdateCount());
                    has = s.getMoreResults();
                }
            }
            db.rollback();
        });
        step("escapes", () -> {
            try (Statement s = db.createStatement()) {
                rows(s.executeQuery("SELECT {fn concat('a', 'b')}, {d '2024-02-29'}, {t '12:00:00'}, {ts '2024-02-29 12:00:00'}, {fn ucase('x')}, {fn length('abc')}, {fn mod(7, 4)}, {fn year({d '2024-02-29'})}, {fn substring('abcdef', 2, 3)}, {fn locate('c', 'abc')}, {fn ifnull(NULL, 'n')}, {fn timestampdiff(SQL_TSI_DAY, {d '2024-01-01'}, {d '2024-02-29'})}, {fn dayname({d '2024-02-29'})}, {fn left('abc', 2)}, {fn round(1.255, 2)}, {fn power(2, 3)}, {fn log(1)}, {fn user()} = current_user"));
                rows(s.executeQuery("SELECT * FROM {oj shop.customer c LEFT OUTER JOIN shop.orders o ON c.id = o.customer_id} WHERE c.name LIKE 'A{%' {escape '{'} OR c.id = 2"));
            }
            db.commit();
        });
        step("cancel", () -> {
            try (Statement s = db.createStatement()) {
                Thread other = new Thread(() -> { try { Thread.sleep(300); s.cancel(); } catch (Exception e) { say(e); } });
                other.start();
                try { s.execute("SELECT pg_sleep(60)"); } catch (SQLException e) { error(e); }
                other.join();
            }
            db.rollback();
        });
        step("query timeout, network timeout, isValid", () -> {
            try (Statement s = db.createStatement()) {
                s.setQueryTimeout(1);
                try { s.execute("SELECT pg_sleep(60)"); } catch (SQLException e) { error(e); }
            }
            db.rollback();
            say(db.isValid(10));
            db.setNetworkTimeout(Executors.newSingleThreadExecutor(r -> { Thread t = new Thread(r); t.setDaemon(true); return t; }), 30000);
            say(db.getNetworkTimeout());
            say(db.isValid(10));
        });
        step("isolation, read only, schema, client info", () -> {
            for (int level : new int[] {1, 2, 4, 8}) {
                db.setTransactionIsolation(level);
                say(db.getTransactionIsolation());
            }
            db.setTransactionIsolation(2);
            db.commit();
            db.setReadOnly(true);
            try (Statement s = db.createStatement()) { s.execute("DELETE FROM kinds"); } catch (SQLException e) { error(e); }
            db.rollback();
            db.setReadOnly(false);
            db.setSchema("shop");
            say(db.getSchema() + " " + db.getCatalog());
            try (Statement s = db.createStatement()) { rows(s.executeQuery("SELECT count(*) FROM customer")); }
            db.setSchema("public");
            db.setClientInfo("ApplicationName", "a test");
            try (Statement s = db.createStatement()) { rows(s.executeQuery("SHOW application_name")); }
            db.commit();
        });
        step("COPY", () -> {
            CopyManager copy = new CopyManager((BaseConnection) db);
            say(copy.copyIn("COPY kinds (id, t) FROM STDIN WITH (FORMAT csv)", new StringReader("5000,\"a \"\"b\"\"\"\n5001,\n")));
            StringWriter out = new StringWriter();
            say(copy.copyOut("COPY (SELECT id, t FROM kinds WHERE id >= 5000 ORDER BY id) TO STDOUT", out));
            say(out.toString().replace("\n", "|"));
            try { copy.copyIn("COPY kinds (id) FROM STDIN", new StringReader("x\n")); } catch (SQLException e) { error(e); }
            db.rollback();
        });
        step("errors", () -> {
            for (String bad : new String[] {"SELECT nosuch", "SELECT * FROM nosuch", "SELEC", "INSERT INTO shop.customer (name) VALUES (NULL)", "INSERT INTO kinds (id) VALUES (1)", "INSERT INTO shop.orders (customer_id) VALUES (99)", "INSERT INTO shop.customer (name, credit) VALUES ('x', -1)", "SELECT 1/0", "SELECT 'x'::date"}) {
                try (Statement s = db.createStatement()) { s.execute(bad); say("no error: " + bad); } catch (SQLException e) { error(e); }
                db.rollback();
            }
            try (PreparedStatement s = db.prepareStatement("SELECT * FROM kinds WHERE id = ?")) { s.setString(1, "x"); s.executeQuery(); } catch (SQLException e) { error(e); }
            db.rollback();
            try (PreparedStatement s = db.prepareStatement("SELECT ?")) { s.executeQuery(); } catch (SQLException e) { error(e); }
            db.rollback();
        });
        step("the plan of a named statement outlives a change of the table", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT * FROM kinds WHERE id = ?"); Statement t = db.createStatement()) {
                for (int i = 0; i < 8; i++) { s.setInt(1, 1); s.executeQuery().close(); }
                db.commit();
                t.execute("ALTER TABLE kinds ADD COLUMN extra int DEFAULT 5");
                db.commit();
                s.setInt(1, 1);
                try (ResultSet rs = s.executeQuery()) { say(rs.getMetaData().getColumnCount()); }
            }
            db.rollback();
        });
        step("in autocommit", () -> {
            db.setAutoCommit(true);
            try (Statement s = db.createStatement()) {
                say(s.executeUpdate("UPDATE kinds SET t = 'auto' WHERE id = 1"));
                s.execute("VACUUM ANALYZE kinds");
                say(s.executeUpdate("DROP TABLE kinds"));
            }
        });
    }

    public static void main(String[] args) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        Locale.setDefault(Locale.ROOT);
        url = "jdbc:postgresql://127.0.0.1:" + new Bridge(args[0]).port() + "/postgres?user=postgres";
        db = DriverManager.getConnection(url);
        db.setAutoCommit(false);
        metadata();
        data();
        db.close();
        step("other connection parameters", () -> {
            for (String more : new String[] {"&preferQueryMode=simple", "&preferQueryMode=extendedForPrepared", "&binaryTransfer=false&prepareThreshold=1", "&reWriteBatchedInserts=true", "&defaultRowFetchSize=2", "&currentSchema=shop&options=-c%20statement_timeout=9s&ApplicationName=other&readOnly=true"}) {
                try (Connection c = DriverManager.getConnection(url + more)) {
                    c.setAutoCommit(false);
                    try (PreparedStatement s = c.prepareStatement("SELECT id, name, credit, since FROM shop.customer WHERE id > ? ORDER BY id")) {
                        for (int i = 0; i < 2; i++) { s.setInt(1, i); rows(s.executeQuery()); }
                    }
                    try (Statement s = c.createStatement()) { rows(s.executeQuery("SELECT current_schema(), current_setting('statement_timeout'), current_setting('application_name')")); }
                    if (more.contains("reWrite"))
                        try (PreparedStatement s = c.prepareStatement("INSERT INTO shop.customer (name, credit) VALUES (?, ?)")) {
                            for (int i = 0; i < 10; i++) { s.setString(1, "batch " + i); s.setInt(2, i); s.addBatch(); }
                            say(Arrays.toString(s.executeBatch()));
                        }
                    c.rollback();
                }
            }
        });
    }
}
