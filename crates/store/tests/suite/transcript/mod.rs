//! Conversations, their messages and their runs.

mod branches;
mod conversations;
mod copies;
mod journal;
mod ledger;
mod runs;
mod steps;
mod tree;
