//! Conversations, their messages and their runs.

mod append;
mod branches;
mod conversations;
mod copies;
mod journal;
mod ledger;
mod runs;
mod steps;
mod tree;
