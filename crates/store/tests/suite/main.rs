//! The behavior that every database must have. Each test runs with a SQLite file, with SQLite in
//! memory, and with PostgreSQL if it is installed.

mod accounts;
mod admin;
mod audit;
mod event_claims;
mod faults;
mod files;
mod grants;
mod happened;
mod invocations;
mod lost_files;
mod operation;
mod order;
mod owners;
mod replicas;
mod schema;
mod search;
mod servers;
mod support;
mod transcript;
mod transfer;
