//! What every database behind the store must do. Each test runs over a SQLite file and over SQLite in memory; the next
//! database joins in `support::each`.

mod accounts;
mod admin;
mod audit;
mod branches;
mod conversations;
mod copies;
mod faults;
mod files;
mod grants;
mod journal;
mod ledger;
mod order;
mod owners;
mod runs;
mod search;
mod steps;
mod support;
mod tree;
