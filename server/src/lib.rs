#![doc = include_str!("../README.md")]

#[cfg(test)]
mod access_tests;
mod body;
mod capabilities;
mod cli;
mod compose;
mod console_host;
mod error;
mod gates;
mod listen;
mod memory;
mod reload;
mod router;
mod routes;
mod shutdown;
mod telemetry;

pub use capabilities::config_language;
pub use rust_embed::EmbeddedFile;

use app::pages::RustPage;
use std::process::ExitCode;

/// The minimum number of worker threads: rendering a page can block a worker while another one must
/// answer it (leptos issue 4647).
const MIN_WORKERS: usize = 4;

/// What the browser is served: the built site, and the pages whose content is written in Rust.
#[derive(Clone, Copy)]
pub struct Site {
    /// Returns a file of the built site by its path, such as `pkg/chatwright.wasm`.
    pub files: fn(&str) -> Option<EmbeddedFile>,
    /// The same pages as in the site's WASM.
    pub pages: &'static [RustPage],
}

/// Runs the whole program: parses the command line and executes the command.
pub fn run(site: Site) -> ExitCode {
    let workers = std::thread::available_parallelism().map_or(MIN_WORKERS, |cores| cores.get().max(MIN_WORKERS));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(cli::run(site)),
        Err(error) => cli::fail(&format!("the runtime could not be started: {error}")),
    }
}
