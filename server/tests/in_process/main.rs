//! Tests in whose process the server is: the access to every route, and agents in a program's own process,
//! compared with the server, and what is built on them.

mod access;
mod agents;
mod evaluations;
#[path = "../serve/process.rs"]
#[expect(dead_code, reason = "this program needs less of it than the tests of the server")]
mod process;
