-- Foreign keys between columns of different types: equal values match, whatever their form; others never do.
create table p1(a bigint primary key); create table c1(a int references p1 on delete cascade on update cascade);
insert into p1 values (1),(2); insert into c1 values (1),(null); insert into c1 values (3);
update p1 set a = 5 where a = 1; select * from c1 order by 1; delete from p1 where a = 5; select * from c1;
create table p2(a numeric(10,2) primary key); create table c2(a numeric references p2 on delete set null);
insert into p2 values (1.5),(2); insert into c2 values (1.50),(2.0); insert into c2 values (1.501);
delete from p2 where a = 1.5; select * from c2 order by 1;
create table p3(a text primary key); create table c3(a varchar(10) references p3 on update cascade);
insert into p3 values ('x'); insert into c3 values ('x'); insert into c3 values ('y'); update p3 set a = 'z'; select * from c3;
create table p4(a int primary key); create table c4(a numeric references p4);
create table c4(a bigint references p4); insert into p4 values (1); insert into c4 values (1); insert into c4 values (10000000000);
create table p5(a char(5) primary key); create table c5(a char(8) references p5); insert into p5 values ('a'); insert into c5 values ('a'); insert into c5 values ('b');
delete from p5;
create table p6(a numeric primary key); create table c6(a int references p6); insert into p6 values (1.0), (2); insert into c6 values (1), (2); insert into c6 values (3); delete from p6 where a = 1;
set client_min_messages = error;
drop schema public cascade;
create schema public;
