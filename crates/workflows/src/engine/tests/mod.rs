//! Runs on a real queue and database, with calls that are counted.

mod drive;
mod fake;
mod kill;
