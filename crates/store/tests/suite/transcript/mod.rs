//! Conversations, their messages and their runs.

mod append;
mod branches;
mod conversations;
mod copies;
mod hand_over;
mod journal;
mod ledger;
mod runs;
mod steps;
mod tree;
