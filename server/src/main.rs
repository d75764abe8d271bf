//! The `chatwright` binary: reads the command line, composes the rooms, serves.

mod auth;
mod cli;
mod compose;
mod error;
mod listen;
mod reload;
mod router;
mod routes;
mod shutdown;

use std::process::ExitCode;

/// Rendering a page can block a worker while another must answer it (leptos issue 4647): never fewer than this.
const MIN_WORKERS: usize = 4;

fn main() -> ExitCode {
    let workers = std::thread::available_parallelism().map_or(MIN_WORKERS, |cores| cores.get().max(MIN_WORKERS));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(cli::run()),
        Err(error) => cli::fail(&format!("the runtime could not be started: {error}")),
    }
}
