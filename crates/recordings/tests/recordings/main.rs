//! Recordings of runs, and their replays.

mod agents;
mod changes;
mod exact;
mod stored;
mod world;
