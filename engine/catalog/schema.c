/* engine/catalog/schema.c - see schema.h. File numbers: catalog number c has heap 16 (c + 1), overflow and space the two after it, indexes from
 * the eighth on. */
#include "engine/catalog/schema.h"

#include <string.h>

struct column_def { const char *name; uint32_t type; };
struct index_def { const char *name; uint32_t oid; bool unique; const char *columns[3]; };

#define X(name, type) {#name, type},
static const struct column_def columns_NAMESPACE[] = {COLUMNS_NAMESPACE(X)};
static const struct column_def columns_CLASS[] = {COLUMNS_CLASS(X)};
static const struct column_def columns_ATTRIBUTE[] = {COLUMNS_ATTRIBUTE(X)};
static const struct column_def columns_ATTRDEF[] = {COLUMNS_ATTRDEF(X)};
static const struct column_def columns_CONSTRAINT[] = {COLUMNS_CONSTRAINT(X)};
static const struct column_def columns_INDEX[] = {COLUMNS_INDEX(X)};
static const struct column_def columns_SEQUENCE[] = {COLUMNS_SEQUENCE(X)};
static const struct column_def columns_REWRITE[] = {COLUMNS_REWRITE(X)};
static const struct column_def columns_DESCRIPTION[] = {COLUMNS_DESCRIPTION(X)};
static const struct column_def columns_STATISTIC[] = {COLUMNS_STATISTIC(X)};
#undef X

static const struct { uint32_t oid; const char *name; const struct column_def *columns; uint16_t column_count; struct index_def indexes[3]; } definitions[CATALOG_COUNT] = {
#define COLUMNS(id) columns_##id, sizeof columns_##id / sizeof columns_##id[0]
    [CATALOG_NAMESPACE] = {2615, "pg_namespace", COLUMNS(NAMESPACE), {{"pg_namespace_oid_index", 2685, true, {"oid"}}, {"pg_namespace_nspname_index", 2684, true, {"nspname"}}}},
    [CATALOG_CLASS] = {1259, "pg_class", COLUMNS(CLASS), {{"pg_class_oid_index", 2662, true, {"oid"}}, {"pg_class_relname_nsp_index", 2663, true, {"relname", "relnamespace"}}}},
    [CATALOG_ATTRIBUTE] = {1249, "pg_attribute", COLUMNS(ATTRIBUTE), {{"pg_attribute_relid_attnum_index", 2659, true, {"attrelid", "attnum"}}}},
    [CATALOG_ATTRDEF] = {2604, "pg_attrdef", COLUMNS(ATTRDEF), {{"pg_attrdef_adrelid_adnum_index", 2656, true, {"adrelid", "adnum"}}}},
    [CATALOG_CONSTRAINT] = {2606, "pg_constraint", COLUMNS(CONSTRAINT), {{"pg_constraint_oid_index", 2667, true, {"oid"}}, {"pg_constraint_conrelid_contypid_conname_index", 2665, true, {"conrelid", "contypid", "conname"}}, {"crab_constraint_confrelid_index", 9100, false, {"confrelid"}}}},
    [CATALOG_INDEX] = {2610, "pg_index", COLUMNS(INDEX), {{"pg_index_indexrelid_index", 2679, true, {"indexrelid"}}, {"pg_index_indrelid_index", 2678, false, {"indrelid"}}}},
    [CATALOG_SEQUENCE] = {2224, "pg_sequence", COLUMNS(SEQUENCE), {{"pg_sequence_seqrelid_index", 5002, true, {"seqrelid"}}}},
    [CATALOG_REWRITE] = {2618, "pg_rewrite", COLUMNS(REWRITE), {{"pg_rewrite_rel_rulename_index", 2693, true, {"ev_class", "rulename"}}}},
    [CATALOG_DESCRIPTION] = {2609, "pg_description", COLUMNS(DESCRIPTION), {{"pg_description_o_c_o_index", 2675, true, {"objoid", "classoid", "objsubid"}}}},
    [CATALOG_STATISTIC] = {2619, "pg_statistic", COLUMNS(STATISTIC), {{"pg_statistic_relid_att_inh_index", 2696, true, {"starelid", "staattnum"}}}},
};

struct table catalog_tables[CATALOG_COUNT];
static struct arena *tables_arena;

void catalog_tables_open(struct store *store)
{
    arena_close(tables_arena);
    tables_arena = arena_open(NULL, "catalogs");
    for (int t = 0; t < CATALOG_COUNT; t++) {
        struct table *table = &catalog_tables[t];
        uint32_t file = 16u * (uint32_t)(t + 1);
        *table = (struct table){.oid = definitions[t].oid, .name = definitions[t].name, .schema = SCHEMA_PG_CATALOG, .schema_name = "pg_catalog", .kind = RELATION_TABLE,
                                .column_count = definitions[t].column_count, .row_estimate = -1, .owner = 10, .system = true};
        table->columns = arena_array(tables_arena, struct column, table->column_count);
        table->heap = (struct heap){.store = store, .table = table->oid, .file = file, .overflow_file = file + 1, .space_file = file + 2, .column_count = table->column_count, .name = table->name,
                                    .columns = arena_array(tables_arena, struct heap_column, table->column_count)};
        for (uint16_t c = 0; c < table->column_count; c++) {
            struct column *column = &table->columns[c];
            column->name = definitions[t].columns[c].name;
            column->type = type_make(definitions[t].columns[c].type, -1);
            column->number = (int16_t)(c + 1);
            table->heap.columns[c] = (struct heap_column){.width = column->type.width, .nullable = true, .missing_null = true};
        }
        for (uint16_t i = 0; i < 3 && definitions[t].indexes[i].name; i++)
            table->index_count++;
        table->indexes = arena_array(tables_arena, struct index, table->index_count);
        for (uint16_t i = 0; i < table->index_count; i++) {
            const struct index_def *definition = &definitions[t].indexes[i];
            struct index *index = &table->indexes[i];
            *index = (struct index){.oid = definition->oid, .name = definition->name, .unique = definition->unique, .primary = i == 0, .valid = true,
                                    .tree = {.store = store, .file = file + 8 + i, .name = definition->name}};
            index->columns = arena_array(tables_arena, struct index_column, 3);
            for (; index->column_count < 3 && definition->columns[index->column_count]; index->column_count++) {
                int c = table_column(table, definition->columns[index->column_count]);
                ASSERT(c >= 0);
                index->columns[index->column_count] = (struct index_column){.column = (int16_t)(c + 1), .type = table->columns[c].type};
            }
            if (index->primary)
                table->primary_key = index->oid;
        }
    }
}

const struct table *catalog_system_table(uint32_t oid)
{
    for (int t = 0; t < CATALOG_COUNT; t++)
        if (catalog_tables[t].oid == oid)
            return &catalog_tables[t];
    return NULL;
}
