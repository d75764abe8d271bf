//! Recordings of runs, and their replays.

mod agents;
mod changes;
mod exact;
mod imported;
mod stored;
mod world;
