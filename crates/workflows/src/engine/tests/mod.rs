//! Runs on a real queue and database, with calls that are counted.

mod clock;
mod containers;
mod conversations;
mod decisions;
mod drive;
mod effects;
mod emitted;
mod events;
mod fake;
mod kill;
mod outside;
mod refused;
mod rerun;
mod retry;
mod rights;
mod shares;
mod waiting;
