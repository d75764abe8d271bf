create table invoices (
    number      text primary key,
    supplier    text not null,
    total       real not null,
    approved_by text not null
);
