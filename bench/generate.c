/* bench/generate.c - a TPC-H-shaped database: tables like TPC-H's, filled by a generator of our own.
 *
 *     generate schema                     CREATE TABLE statements
 *     generate keys                       primary keys and indexes, for after the load
 *     generate TABLE [SCALE] [ROWS]       rows for COPY (text format, tab-separated); ROWS cuts lineitem off after so many
 *     generate micro ROWS                 rows of the table of bench/micro (id, a, b, f, s), for COPY
 *     generate sums [SCALE] [ROWS]        what sums over lineitem must be, by this program's own arithmetic
 *
 * Every value is a hash of (table, row, column): the same scale gives the same bytes on every machine and in any order. Scale 1 has
 * 1,500,000 orders of 1 to 7 lines each. Sizes, ranges and dependencies between columns follow TPC-H's description; the texts
 * are ours, so query answers differ from the benchmark's published ones. char(n) values come padded, as COPY writes them out again. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum table { REGION = 1, NATION, SUPPLIER, PART, PARTSUPP, CUSTOMER, ORDERS, LINEITEM };

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33; x *= 0xff51afd7ed558ccdULL; x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL; x ^= x >> 33;
    return x;
}

/* The number that (table, row, column) stands for, in low .. high. */
static int64_t pick(enum table table, int64_t row, int column, int64_t low, int64_t high)
{
    uint64_t h = mix(mix((uint64_t)row * 0x9e3779b97f4a7c15ULL + (uint64_t)table) + (uint64_t)column * 0xd1342543de82ef95ULL);
    return low + (int64_t)(h % (uint64_t)(high - low + 1));
}

#define PICK_WORD(words, table, row, column) ((words)[pick((table), (row), (column), 0, (int64_t)(sizeof(words) / sizeof((words)[0])) - 1)])

static const char *const regions[] = {"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"};
static const struct { const char *name; int region; } nations[] = {
    {"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3}, {"INDIA", 2},
    {"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2}, {"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1},
    {"CHINA", 2}, {"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3}, {"UNITED KINGDOM", 3}, {"UNITED STATES", 1}};
static const char *const segments[] = {"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"};
static const char *const priorities[] = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"};
static const char *const instructions[] = {"COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"};
static const char *const modes[] = {"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"};
static const char *const sizes[] = {"ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD"};
static const char *const finishes[] = {"ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED"};
static const char *const metals[] = {"BRASS", "COPPER", "NICKEL", "STEEL", "TIN"};
static const char *const boxes[] = {"JUMBO", "LG", "MED", "SM", "WRAP"};
static const char *const shapes[] = {"BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG"};
static const char *const colors[] = {"almond", "azure", "beige", "blush", "brown", "coral", "cream", "cyan", "forest", "ghost", "green", "ivory", "khaki", "lemon",
                                     "linen", "maroon", "mint", "navy", "olive", "orange", "peach", "pink", "plum", "red", "rose", "sienna", "sky", "snow", "tan", "wheat"};
static const char *const words[] = {"quick", "crabs", "walk", "sideways", "over", "warm", "pages", "while", "quiet", "latches", "sleep", "and", "bold", "requests", "haggle",
                                    "among", "ironic", "deposits", "that", "never", "wait", "final", "packages", "dance", "across", "even", "accounts", "special", "ideas", "nag"};

static void comment(char *out, enum table table, int64_t row, int column, int least, int most)
{
    int length = (int)pick(table, row, column, least, most), used = 0;
    out[0] = 0;
    for (int n = 0; used < length; n++) {
        const char *word = PICK_WORD(words, table, row, column * 1000 + n + 1);
        used += snprintf(out + used, 256 - (size_t)used, "%s%s", n ? " " : "", word);
    }
    out[length] = 0;
    if (length && out[length - 1] == ' ')
        out[length - 1] = '.';
}

static void money(int64_t cents) { printf("%s%" PRId64 ".%02d", cents < 0 ? "-" : "", cents < 0 ? -(cents / 100) : cents / 100, (int)((cents < 0 ? -cents : cents) % 100)); }

/* Days since 1992-01-01 to a date; the calendar that TPC-H spans has leap years 1992 and 1996. */
static void date(int64_t day)
{
    static const int months[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 1992, month = 0;
    for (;; year++) {
        int length = year % 4 == 0 ? 366 : 365;
        if (day < length)
            break;
        day -= length;
    }
    for (;; month++) {
        int length = months[month] + (month == 1 && year % 4 == 0);
        if (day < length)
            break;
        day -= length;
    }
    printf("%d-%02d-%02d", year, month + 1, (int)day + 1);
}

static struct { double scale; int64_t suppliers, parts, customers, orders, lines; } size;

static int64_t part_price(int64_t part) { return 90000 + (part / 10) % 20001 + 100 * (part % 1000); }   /* cents */
static int64_t part_supplier(int64_t part, int64_t i) { return (part + i * (size.suppliers / 4 + (part - 1) / size.suppliers)) % size.suppliers + 1; }
static int64_t order_key(int64_t n) { return (n - 1) / 8 * 32 + (n - 1) % 8 + 1; }                     /* sparse, as TPC-H's */
#define LAST_ORDER_DAY 2405                                                                              /* 1998-08-02 */
#define CURRENT_DAY 1263                                                                                 /* 1995-06-17 */

struct line { int64_t order, number, part, supplier, quantity, price, discount, tax, ship, commit, receipt; char returned, status; };

static int lines_of(int64_t order) { return (int)pick(ORDERS, order, 100, 1, 7); }

static void line_make(int64_t order, int number, struct line *line)
{
    int64_t row = order * 8 + number, ordered = pick(ORDERS, order, 4, 0, LAST_ORDER_DAY);
    line->order = order_key(order);
    line->number = number;
    line->part = pick(LINEITEM, row, 1, 1, size.parts);
    line->supplier = part_supplier(line->part, pick(LINEITEM, row, 2, 0, 3));
    line->quantity = pick(LINEITEM, row, 4, 1, 50);
    line->price = line->quantity * part_price(line->part);
    line->discount = pick(LINEITEM, row, 6, 0, 10);
    line->tax = pick(LINEITEM, row, 7, 0, 8);
    line->ship = ordered + pick(LINEITEM, row, 10, 1, 121);
    line->commit = ordered + pick(LINEITEM, row, 11, 30, 90);
    line->receipt = line->ship + pick(LINEITEM, row, 12, 1, 30);
    line->returned = line->receipt <= CURRENT_DAY ? (pick(LINEITEM, row, 8, 0, 1) ? 'R' : 'A') : 'N';
    line->status = line->ship > CURRENT_DAY ? 'O' : 'F';
}

static void line_print(const struct line *line)
{
    char text[256];
    int64_t row = line->order * 8 + line->number;
    printf("%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 ".00\t", line->order, line->part, line->supplier, line->number, line->quantity);
    money(line->price);
    printf("\t0.%02d\t0.%02d\t%c\t%c\t", (int)line->discount, (int)line->tax, line->returned, line->status);
    date(line->ship);
    putchar('\t');
    date(line->commit);
    putchar('\t');
    date(line->receipt);
    comment(text, LINEITEM, row, 16, 10, 43);
    printf("\t%-25s\t%-10s\t%s\n", PICK_WORD(instructions, LINEITEM, row, 14), PICK_WORD(modes, LINEITEM, row, 15), text);
}

static void lineitem(void)
{
    int64_t left = size.lines;
    for (int64_t order = 1; order <= size.orders && left; order++)
        for (int number = 1; number <= lines_of(order) && left; number++, left--) {
            struct line line;
            line_make(order, number, &line);
            line_print(&line);
        }
}

/* count, then sums of quantity, extendedprice, discount, tax (hundredths), price * (100 - discount), orderkey, partkey; and what a filter leaves */
static void sums(void)
{
    int64_t left = size.lines, count = 0, filtered = 0;
    __int128 quantity = 0, price = 0, discount = 0, tax = 0, discounted = 0, orders = 0, parts = 0, filtered_price = 0;
    for (int64_t order = 1; order <= size.orders && left; order++)
        for (int number = 1; number <= lines_of(order) && left; number++, left--) {
            struct line line;
            line_make(order, number, &line);
            count++;
            quantity += line.quantity;
            price += line.price;
            discount += line.discount;
            tax += line.tax;
            discounted += (__int128)line.price * (100 - line.discount);
            orders += line.order;
            parts += line.part;
            if (line.quantity < 24 && line.discount >= 5 && line.discount <= 7) {
                filtered++;
                filtered_price += line.price;
            }
        }
    printf("%" PRId64 "|%" PRId64 ".00|%" PRId64 ".%02d|%" PRId64 ".%02d|%" PRId64 ".%02d|%" PRId64 ".%04d|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 ".%02d\n", count, (int64_t)quantity,
           (int64_t)(price / 100), (int)(price % 100), (int64_t)(discount / 100), (int)(discount % 100), (int64_t)(tax / 100), (int)(tax % 100),
           (int64_t)(discounted / 10000), (int)(discounted % 10000), (int64_t)orders, (int64_t)parts, filtered, (int64_t)(filtered_price / 100), (int)(filtered_price % 100));
}

static void orders(void)
{
    char text[256];
    for (int64_t order = 1; order <= size.orders; order++) {
        int64_t total = 0, open = 0;
        int lines = lines_of(order);
        for (int number = 1; number <= lines; number++) {
            struct line line;
            line_make(order, number, &line);
            total += line.price * (100 + line.tax) / 100 * (100 - line.discount) / 100;
            open += line.status == 'O';
        }
        int64_t customer = pick(ORDERS, order, 2, 1, size.customers);
        if (customer % 3 == 0)                                /* a third of the customers never order */
            customer = customer > 1 ? customer - 1 : customer + 1;
        printf("%" PRId64 "\t%" PRId64 "\t%c\t", order_key(order), customer, open == lines ? 'O' : open == 0 ? 'F' : 'P');
        money(total);
        putchar('\t');
        date(pick(ORDERS, order, 4, 0, LAST_ORDER_DAY));
        comment(text, ORDERS, order, 9, 19, 78);
        printf("\t%-15s\tClerk#%09" PRId64 "\t0\t%s\n", PICK_WORD(priorities, ORDERS, order, 6), pick(ORDERS, order, 7, 1, size.orders / 1000 + 1), text);
    }
}

static void phone(enum table table, int64_t row, int64_t nation)
{
    printf("%" PRId64 "-%03d-%03d-%04d", nation + 10, (int)pick(table, row, 20, 100, 999), (int)pick(table, row, 21, 100, 999), (int)pick(table, row, 22, 1000, 9999));
}

static void customer(void)
{
    char address[256], text[256];
    for (int64_t c = 1; c <= size.customers; c++) {
        int64_t nation = pick(CUSTOMER, c, 4, 0, 24);
        comment(address, CUSTOMER, c, 3, 10, 40);
        comment(text, CUSTOMER, c, 8, 29, 116);
        printf("%" PRId64 "\tCustomer#%09" PRId64 "\t%s\t%" PRId64 "\t", c, c, address, nation);
        phone(CUSTOMER, c, nation);
        putchar('\t');
        money(pick(CUSTOMER, c, 6, -99999, 999999));
        printf("\t%-10s\t%s\n", PICK_WORD(segments, CUSTOMER, c, 7), text);
    }
}

static void supplier(void)
{
    char address[256], text[256];
    for (int64_t s = 1; s <= size.suppliers; s++) {
        int64_t nation = pick(SUPPLIER, s, 4, 0, 24);
        comment(address, SUPPLIER, s, 3, 10, 40);
        comment(text, SUPPLIER, s, 7, 25, 100);
        printf("%" PRId64 "\tSupplier#%09" PRId64 "       \t%s\t%" PRId64 "\t", s, s, address, nation);
        phone(SUPPLIER, s, nation);
        putchar('\t');
        money(pick(SUPPLIER, s, 6, -99999, 999999));
        printf("\t%s\n", text);
    }
}

static void part(void)
{
    char text[256];
    for (int64_t p = 1; p <= size.parts; p++) {
        int maker = (int)pick(PART, p, 3, 1, 5);
        char box[8];
        snprintf(box, sizeof box, "%s ", PICK_WORD(boxes, PART, p, 43));
        printf("%" PRId64 "\t", p);
        for (int n = 0; n < 5; n++)
            printf("%s%s", n ? " " : "", PICK_WORD(colors, PART, p, 30 + n));
        comment(text, PART, p, 9, 5, 22);
        printf("\tManufacturer#%-12d\tBrand#%d%-3d\t%s %s %s\t%d\t%s%-*s\t", maker, maker, (int)pick(PART, p, 4, 1, 5), PICK_WORD(sizes, PART, p, 40), PICK_WORD(finishes, PART, p, 41),
               PICK_WORD(metals, PART, p, 42), (int)pick(PART, p, 6, 1, 50), box, (int)(10 - strlen(box)), PICK_WORD(shapes, PART, p, 44));
        money(part_price(p));
        printf("\t%s\n", text);
    }
}

static void partsupp(void)
{
    char text[256];
    for (int64_t p = 1; p <= size.parts; p++)
        for (int i = 0; i < 4; i++) {
            int64_t row = p * 4 + i;
            comment(text, PARTSUPP, row, 5, 49, 198);
            printf("%" PRId64 "\t%" PRId64 "\t%d\t", p, part_supplier(p, i), (int)pick(PARTSUPP, row, 3, 1, 9999));
            money(pick(PARTSUPP, row, 4, 100, 100000));
            printf("\t%s\n", text);
        }
}

static void small(bool region)
{
    char text[256];
    for (int i = 0; i < (region ? 5 : 25); i++) {
        comment(text, region ? REGION : NATION, i, 4, 31, 114);
        if (region)
            printf("%d\t%-25s\t%s\n", i, regions[i], text);
        else
            printf("%d\t%-25s\t%d\t%s\n", i, nations[i].name, nations[i].region, text);
    }
}

static const char schema[] =
    "CREATE TABLE region (r_regionkey integer NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152));\n"
    "CREATE TABLE nation (n_nationkey integer NOT NULL, n_name char(25) NOT NULL, n_regionkey integer NOT NULL, n_comment varchar(152));\n"
    "CREATE TABLE supplier (s_suppkey integer NOT NULL, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, s_nationkey integer NOT NULL, s_phone char(15) NOT NULL, s_acctbal numeric(15,2) NOT NULL, s_comment varchar(101) NOT NULL);\n"
    "CREATE TABLE part (p_partkey integer NOT NULL, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, p_brand char(10) NOT NULL, p_type varchar(25) NOT NULL, p_size integer NOT NULL, p_container char(10) NOT NULL, p_retailprice numeric(15,2) NOT NULL, p_comment varchar(23) NOT NULL);\n"
    "CREATE TABLE partsupp (ps_partkey integer NOT NULL, ps_suppkey integer NOT NULL, ps_availqty integer NOT NULL, ps_supplycost numeric(15,2) NOT NULL, ps_comment varchar(199) NOT NULL);\n"
    "CREATE TABLE customer (c_custkey integer NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, c_nationkey integer NOT NULL, c_phone char(15) NOT NULL, c_acctbal numeric(15,2) NOT NULL, c_mktsegment char(10) NOT NULL, c_comment varchar(117) NOT NULL);\n"
    "CREATE TABLE orders (o_orderkey integer NOT NULL, o_custkey integer NOT NULL, o_orderstatus char(1) NOT NULL, o_totalprice numeric(15,2) NOT NULL, o_orderdate date NOT NULL, o_orderpriority char(15) NOT NULL, o_clerk char(15) NOT NULL, o_shippriority integer NOT NULL, o_comment varchar(79) NOT NULL);\n"
    "CREATE TABLE lineitem (l_orderkey integer NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, l_linenumber integer NOT NULL, l_quantity numeric(15,2) NOT NULL, l_extendedprice numeric(15,2) NOT NULL, l_discount numeric(15,2) NOT NULL, l_tax numeric(15,2) NOT NULL, l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL, l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL);\n";
static const char keys[] =
    "ALTER TABLE region ADD PRIMARY KEY (r_regionkey);\nALTER TABLE nation ADD PRIMARY KEY (n_nationkey);\nALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);\n"
    "ALTER TABLE part ADD PRIMARY KEY (p_partkey);\nALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);\nALTER TABLE customer ADD PRIMARY KEY (c_custkey);\n"
    "ALTER TABLE orders ADD PRIMARY KEY (o_orderkey);\nALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber);\n"
    "CREATE INDEX orders_custkey ON orders (o_custkey);\nCREATE INDEX lineitem_partkey ON lineitem (l_partkey);\n";

static int usage(void)
{
    fprintf(stderr, "usage: generate schema | keys | TABLE [SCALE [ROWS]] | sums [SCALE [ROWS]] | micro ROWS\n");
    return 2;
}

/* The nth number of the SplitMix64 sequence that begins at 0. */
static uint64_t splitmix(uint64_t n)
{
    uint64_t z = (n + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* id rising; a below 100,000, b from 1 to ROWS, f below 1, s a month, a dash and 16 hex digits: all pseudo-random. */
static void micro(int64_t rows)
{
    static const char *const names[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
    for (int64_t id = 1; id <= rows; id++) {
        uint64_t first = (uint64_t)(id - 1) * 5;
        printf("%" PRId64 "\t%d\t%" PRId64 "\t%.17g\t%s-%016" PRIx64 "\n", id, (int)(splitmix(first + 1) % 100000), (int64_t)(splitmix(first + 2) % (uint64_t)rows) + 1,
               (double)(splitmix(first + 3) >> 11) / 9007199254740992.0, names[splitmix(first + 4) % 12], splitmix(first));
    }
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (argc < 2)
        return usage();
    const char *what = argv[1];
    size.scale = argc > 2 ? atof(argv[2]) : 0.01;
    bool by_rows = !strcmp(what, "micro");
    if (size.scale <= 0 || (size.scale > 1000 && !by_rows))
        return usage();
    size.suppliers = (int64_t)(10000 * size.scale) > 4 ? (int64_t)(10000 * size.scale) : 4;
    size.parts = (int64_t)(200000 * size.scale) + 1;
    size.customers = (int64_t)(150000 * size.scale) + 3;
    size.orders = (int64_t)(1500000 * size.scale) + 1;
    size.lines = argc > 3 ? atoll(argv[3]) : INT64_MAX;
    if (by_rows) micro(argc > 2 ? atoll(argv[2]) : 1000000);
    else if (!strcmp(what, "schema")) fputs(schema, stdout);
    else if (!strcmp(what, "keys")) fputs(keys, stdout);
    else if (!strcmp(what, "region")) small(true);
    else if (!strcmp(what, "nation")) small(false);
    else if (!strcmp(what, "supplier")) supplier();
    else if (!strcmp(what, "part")) part();
    else if (!strcmp(what, "partsupp")) partsupp();
    else if (!strcmp(what, "customer")) customer();
    else if (!strcmp(what, "orders")) orders();
    else if (!strcmp(what, "lineitem")) lineitem();
    else if (!strcmp(what, "sums")) sums();
    else return usage();
    if (fflush(stdout) || ferror(stdout)) {
        perror("generate");
        return 1;
    }
    return 0;
}
