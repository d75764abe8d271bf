//! What every database behind the store must do. Each test runs over a SQLite file and over SQLite in memory; the next
//! database joins in `support::each`.

mod audit;
mod conversations;
mod faults;
mod grants;
mod journal;
mod ledger;
mod owners;
mod runs;
mod steps;
mod support;
mod tree;
