-- More of ALTER TABLE and views: defaults of old rows, savepoints, USING INDEX, queries that are kept as text.
create table n(v text);
insert into n select 'r'||g from generate_series(1,5) g;
alter table n add column id serial primary key;
select * from n order by id;
alter table n add column w int default 5, add column x text default 'abc', add column y numeric(8,2) default 1.5;
select * from n order by id;
insert into n(v) values ('new');
alter table n alter w drop default;
insert into n(v) values ('new2');
update n set v = 'upd' where id = 2;
select * from n order by id;
create index on n(w); create index on n(x, y);
select id from n where w = 5 order by id;
select id from n where x = 'abc' and y = 1.5 order by id;
alter table n alter column y type numeric(10,4), alter column w type text using 'w' || w, drop column x, add column x int default 3 not null;
select * from n order by id;
begin; alter table n rename to m; alter table m rename column v to vv; insert into m(vv) values ('q'); select count(*) from m; rollback;
select count(*) from n;
begin; create table zz(a int); savepoint a; create table yy(a int); insert into yy values (1); rollback to a; insert into zz values (1); select * from yy; rollback;
begin; create table zz(a int unique); savepoint a; insert into zz values (1); alter table zz add column b int default 9; select * from zz; rollback to a; select * from zz; insert into zz values (2); commit;
select * from zz;
alter table zz add column c int check (c > 5) default 3;
alter table zz add column c int check (c > 5) default 8;
alter table zz add column d int references zz(a) default 99;
alter table zz add column d int references zz(a) default 2;
select * from zz;
alter table zz drop column a;
alter table zz drop column a cascade;
\d zz
create table s(a int, b int);
insert into s values (1, 10), (2, 20);
alter table s add constraint su unique (a), add constraint sc check (b > 5), alter a set not null, add primary key (b);
\d s
alter table s drop constraint su, drop constraint sc, alter a drop not null;
\d s
alter table s add unique using index s_pkey;
create unique index sx on s(a);
alter table s add constraint sxx unique using index sx;
\d s
alter table s rename constraint sxx to sxy;
alter index sxy rename to sxz;
\d s
create view sv as select a, sum(b) as t from s group by a;
create view sv2 as select * from sv where t > 5;
create or replace view sv as select a, sum(b) as t, count(*) as n from s group by a;
select * from sv2 order by 1;
create or replace view sv as select b as a, a as t from s;
alter view sv set schema nosuch;
alter view if exists nosv rename to x;
alter table sv rename to sv3;
select * from sv2 order by 1;
truncate sv3;
create index on sv3(a);
drop table sv3;
drop view s;
drop sequence s;
drop index s;
drop table sx, s;
drop view sv2, sv3;
create view bad as select 1 as a, 2 as a;
create view bad as select nosuch from s;
create view bad(a,b) as select 1;
create view w1 as with q as (select a, b from s) select * from q where a in (select a from s) union all select 9, 9 order by 1;
select * from w1;
create view w2 as select x.*, y.b as yb, row_number() over (partition by x.a order by y.b desc) rn, case when x.a > 1 then 'big' else 'small' end sz from s x left join lateral (select b from s where s.a = x.a limit 1) y on true where exists (select 1 from s where a = 1) and x.b between 1 and 100 and x.a is not null and not (x.a = 5);
select * from w2 order by a;
create view w3 as values (1,'a'),(2,'b');
select * from w3;
create view w4 as select a, b from s natural join (select a from s) q;
alter table s add column extra int default 1;
select * from w4 order by 1;
select * from w2 order by a;
create view w5 as select s.a::text || 'x' as t, coalesce(b, 0) c, s.a = any (array[1,2]) arr, date '2020-01-01' + 1 as dd, interval '1 day' as iv, current_date > '2000-01-01' cd, extract(year from timestamp '2020-05-05') ey, substring('abc' from 2 for 1) sb, position('b' in 'abc') po, trim(both 'x' from 'xax') tr, (a, b) = (1, 10) rw, 'it''s' q, e'a\nb' nl, -5 neg, 1.5e3 fl, null::int nn, true b1 from s;
select * from w5 order by 1;
\d w5
alter table s rename a to aa;
select * from w5 order by 1;
select * from w2 order by a;
alter table s rename to s_new;
select * from w5 order by 1;
select * from w1;
alter table s_new drop column b;
alter table s_new drop column b cascade;
\dv
set client_min_messages = error;
drop schema public cascade;
create schema public;
