//! Runs on a real queue and database, with calls that are counted.

mod clock;
mod conversations;
mod drive;
mod events;
mod fake;
mod kill;
mod outside;
mod refused;
mod retry;
mod shares;
