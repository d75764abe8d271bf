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
use capability::Definition;
use std::process::ExitCode;

/// The minimum number of worker threads: rendering a page can block a worker while another one must
/// answer it (leptos issue 4647).
const MIN_WORKERS: usize = 4;

/// What a program adds to the product: the built site, the pages whose content is written in Rust,
/// and its capabilities.
#[derive(Clone, Copy)]
pub struct Site {
    /// Returns a file of the built site by its path, such as `pkg/chatwright.wasm`.
    pub files: fn(&str) -> Option<EmbeddedFile>,
    /// The same pages as in the site's WASM.
    pub pages: &'static [RustPage],
    /// The capabilities that the program adds to those of the product.
    pub capabilities: &'static [Definition],
}

/// Runs the whole program: parses the command line and executes the command.
pub fn run(site: Site) -> ExitCode {
    capabilities::add(site.capabilities);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers()).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(cli::run(site)),
        Err(error) => cli::fail(&format!("the runtime could not be started: {error}")),
    }
}

/// Returns the number of worker threads.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(MIN_WORKERS, |cores| cores.get().max(MIN_WORKERS))
}
