-- The customers that were registered. The database lives in memory: a restart begins with this one.
create table customers (
  id integer primary key,
  legal_name text not null,
  company text,
  email text not null unique,
  plan text not null,
  seats integer not null,
  topics text
);

insert into customers (legal_name, company, email, plan, seats) values
  ('Grace Hopper', 'Compilers & Co', 'grace@compilers.example', 'team', 12);
