/* tests/parser/statement_test.c - statements are told apart, hold what was written, and fail where PostgreSQL fails. */
#include "tests/parser/parse.h"

Test(statement, every_kind_is_recognised)
{
    static const struct pair pairs[] = {
        {";; select 1 ;; values (1); table t;", "SELECT, SELECT, SELECT"},
        {"with a as (select 1) insert into t select * from a; update t set a = 1; delete from t",
         "INSERT, UPDATE, DELETE"},
        {"create table t (a int); create table t as select 1; select 1 into t",
         "CREATE TABLE, CREATE TABLE AS, SELECT INTO"},
        {"create table t (a, b) as values (1, 2)", "CREATE TABLE AS"},
        {"create unique index on t (a); create or replace view v as select 1; create sequence s; create schema x",
         "CREATE INDEX, CREATE VIEW, CREATE SEQUENCE, CREATE SCHEMA"},
        {"drop table a, b cascade; alter table t add a int; alter sequence s restart; truncate t; comment on table t is 'x'",
         "DROP TABLE, ALTER TABLE, ALTER SEQUENCE, TRUNCATE TABLE, COMMENT"},
        {"begin; start transaction; commit; end; rollback; abort; savepoint a; release a; rollback to a",
         "BEGIN, START TRANSACTION, COMMIT, COMMIT, ROLLBACK, ROLLBACK, SAVEPOINT, RELEASE, ROLLBACK"},
        {"set a = 1; reset a; show a; set constraints all deferred", "SET, RESET, SHOW, SET CONSTRAINTS"},
        {"copy t from stdin; vacuum; analyze t; explain select 1", "COPY, VACUUM, ANALYZE, EXPLAIN"},
        {"prepare p as select $1; execute p (1); deallocate p; deallocate all",
         "PREPARE, EXECUTE, DEALLOCATE, DEALLOCATE ALL"},
        {"declare c cursor for select 1; fetch 5 from c; move c; close c; close all",
         "DECLARE CURSOR, FETCH, MOVE, CLOSE CURSOR, CLOSE CURSOR ALL"},
        {"lock t; checkpoint; reindex table t; cluster; discard all; listen x; notify x, 'y'; unlisten *",
         "LOCK TABLE, CHECKPOINT, REINDEX, CLUSTER, DISCARD ALL, LISTEN, NOTIFY, UNLISTEN"},
        {"create function f() returns int as $$ x; y $$ language sql; do $$ x $$; grant select on t to u; drop role x",
         "CREATE FUNCTION, DO, GRANT, DROP ROLE"},
    };
    CHECK_PAIRS(pairs, tags);
}

Test(statement, syntax_errors_stand_where_postgresql_puts_them)
{
    static const struct pair pairs[] = {
        {"select from select 1e5e", "42601 trailing junk after numeric literal at or near \"1e5e\" @20"},
        {"selec 1", "42601 syntax error at or near \"selec\" @1"},
        {"select 1 from", "42601 syntax error at end of input @14"},
        {"select 1; select from from", "42601 syntax error at or near \"from\" @23"},
        {"select a from t where", "42601 syntax error at end of input @22"},
        {"select ()", "42601 syntax error at or near \")\" @9"},
        {"select array[1,2][1]", "42601 syntax error at or near \"[\" @18"},
        {"select 1 from (select 1)", "42601 subquery in FROM must have an alias @15"},
        {"select 1 from (t)", "42601 syntax error at or near \")\" @17"},
        {"select 1 limit 1, 2", "42601 LIMIT #,# syntax is not supported @10"},
        {"(select 1 limit 1) limit 2", "42601 multiple LIMIT clauses not allowed @26"},
        {"create table t (a int, b)", "42601 syntax error at or near \")\" @25"},
        {"create table select (a int)", "42601 syntax error at or near \"select\" @14"},
        {"insert into t values (1", "42601 syntax error at end of input @24"},
        {"insert into t (a) default values", "42601 syntax error at or near \"default\" @19"},
        {"create foo", "42601 syntax error at or near \"foo\" @8"},
        {"select a over from t", "42601 syntax error at or near \"over\" @10"},
        {"'abc'", "42601 syntax error at or near \"'abc'\" @1"},
        {"select (select 1 into x)", "42601 SELECT ... INTO is not allowed here @23"},
    };
    CHECK_PAIRS(pairs, tags);
}

Test(statement, each_knows_its_own_text)
{
    struct arena *arena = arena_open(NULL, "test");
    const char *sql = " select 1 ;  /* x */ update t set a = 1 -- y\n;";
    struct statement_list list;
    cr_assert_eq(parse_sql(arena, sql, strlen(sql), &list), STATUS_OK);
    cr_assert_eq(list.count, 2);
    cr_expect(strncmp(sql + list.items[0]->start - 1, "select 1", (size_t)list.items[0]->length) == 0);
    cr_expect_eq(list.items[1]->length, (int)strlen("update t set a = 1"));
    cr_expect_eq(list.items[1]->start, 22);
    arena_close(arena);
}

Test(statement, a_select_holds_its_clauses)
{
    struct arena *arena = arena_open(NULL, "test");
    struct select *s = parse_one(arena, "select distinct on (a) a, b as c from t as x (p) left join u using (id), "
                                        "lateral f(1) g where a = $2 group by 1 having true window w as (order by a) "
                                        "order by 1 desc limit 5 offset 2 for update of t skip locked")->select;
    cr_expect_eq(s->distinct_on.count, 1);
    cr_expect_str_eq(s->targets.items[1]->name, "c");
    cr_assert_eq(s->from.count, 2);
    cr_expect_eq(s->from.items[0]->kind, FROM_JOIN);
    cr_expect_eq(s->from.items[0]->join, JOIN_LEFT);
    cr_expect_str_eq(s->from.items[0]->left->alias, "x");
    cr_expect_str_eq(s->from.items[0]->using_columns.items[0], "id");
    cr_expect(s->from.items[1]->lateral);
    cr_expect_eq(s->where->op.right->parameter, 2);
    cr_expect_eq(s->windows.count, 1);
    cr_expect_eq(s->order_by.items[0]->direction, SORT_DESC);
    cr_expect_eq(s->locking[0]->wait, FOR_SKIP_LOCKED);
    cr_expect_eq(s->locking[0]->of.count, 1);
    arena_close(arena);
}

Test(statement, joins_nest_as_their_conditions_do)
{
    struct arena *arena = arena_open(NULL, "test");
    struct select *s = parse_one(arena, "select * from a join b join c on x on y cross join d")->select;
    cr_expect_str_eq(deparse_select(arena, s), "SELECT * FROM ((a JOIN (b JOIN c ON x) ON y) CROSS JOIN d)");
    s = parse_one(arena, "select 1 union select 2 intersect select 3 except select 4")->select;
    cr_expect_str_eq(deparse_select(arena, s),
                     "((SELECT 1) UNION ((SELECT 2) INTERSECT (SELECT 3))) EXCEPT (SELECT 4)");
    arena_close(arena);
}

Test(statement, a_table_holds_its_columns_and_constraints)
{
    struct arena *arena = arena_open(NULL, "test");
    struct create_table_statement *t =
        parse_one(arena, "create table if not exists s.t (a int generated by default as identity (start 5) primary key, "
                         "b varchar(10) default 'x' || 'y' not null, constraint c check (a > 0), "
                         "foreign key (a, b) references u on delete cascade deferrable, like v including all)")->create_table;
    cr_expect(t->if_not_exists);
    cr_expect_str_eq(t->relation->schema, "s");
    cr_assert_eq(t->element_count, 5);
    struct column_definition *a = t->elements[0].column, *b = t->elements[1].column;
    cr_expect_str_eq(a->type->name, "int4");
    cr_assert_eq(a->constraints.count, 2);
    cr_expect_eq(a->constraints.items[0]->kind, CONSTRAINT_IDENTITY);
    cr_expect_str_eq(a->constraints.items[0]->options.items[0]->text, "5");
    cr_expect_str_eq(deparse_type(arena, b->type), "character varying(10)");
    cr_expect_str_eq(deparse_expr(arena, b->constraints.items[0]->expr), "('x' || 'y')");
    cr_expect_eq(b->constraints.items[1]->kind, CONSTRAINT_NOT_NULL);
    cr_expect_str_eq(t->elements[2].constraint->name, "c");
    cr_expect_eq(t->elements[3].constraint->on_delete, ACTION_CASCADE);
    cr_expect(t->elements[3].constraint->deferrable);
    cr_expect_eq(t->elements[4].like_options, LIKE_ALL);
    arena_close(arena);
}

Test(statement, an_insert_holds_rows_conflict_and_returning)
{
    struct arena *arena = arena_open(NULL, "test");
    struct insert_statement *i =
        parse_one(arena, "insert into t (a, b) values (1, default), (2, 3) on conflict (a) where a > 0 do update "
                         "set (b, c) = (excluded.b, 1) where t.a = 1 returning *")->insert;
    cr_expect_eq(i->column_count, 2);
    cr_expect_eq(i->source->row_count, 2);
    cr_expect_eq(i->source->rows[0].items[1]->kind, EXPR_DEFAULT);
    cr_expect_eq(i->on_conflict->action, CONFLICT_UPDATE);
    cr_expect_eq(i->on_conflict->set.items[0]->count, 2);
    cr_expect_eq(i->returning.count, 1);
    arena_close(arena);
}

Test(statement, old_and_new_copy_options_are_one)
{
    struct arena *arena = arena_open(NULL, "test");
    static const char *const texts[] = {
        "copy t (a) from stdin with csv header delimiter ';' null ''",
        "copy t (a) from stdin (format csv, header true, delimiter ';', null '')"};
    for (int k = 0; k < 2; k++) {
        struct copy_statement *c = parse_one(arena, texts[k])->copy;
        cr_assert_eq(c->options.count, 4);
        cr_expect_str_eq(c->options.items[0]->name, "format");
        cr_expect_str_eq(c->options.items[0]->text, "csv");
        cr_expect_str_eq(c->options.items[2]->text, ";");
        cr_expect(c->is_from && c->file == NULL);
    }
    arena_close(arena);
}

Test(statement, names_in_strings_are_read_like_names)
{
    struct arena *arena = arena_open(NULL, "test");
    struct relation_name name;
    cr_assert_eq(parse_qualified_name(arena, "My.\"T x\"", &name), STATUS_OK);
    cr_expect_str_eq(name.schema, "my");
    cr_expect_str_eq(name.name, "T x");
    cr_assert_eq(parse_qualified_name(arena, "table", &name), STATUS_OK);
    cr_expect_str_eq(name.name, "table");
    cr_expect_eq(parse_qualified_name(arena, "a b", &name), STATUS_INVALID_NAME);
    cr_expect_eq(parse_qualified_name(arena, "", &name), STATUS_INVALID_NAME);
    arena_close(arena);
}
