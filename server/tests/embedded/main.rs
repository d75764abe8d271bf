//! Tests of agents in one's own process, compared with the server, and of what is built on them.

mod agents;
mod evaluations;
#[path = "../serve/process.rs"]
#[expect(dead_code, reason = "this program needs less of it than the tests of the server")]
mod process;
