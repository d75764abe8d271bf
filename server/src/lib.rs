#![doc = include_str!("../README.md")]

mod auth;
mod body;
mod cli;
mod compose;
mod error;
mod listen;
mod memory;
mod reload;
mod router;
mod routes;
mod shutdown;
mod telemetry;

pub use rust_embed::EmbeddedFile;

use app::pages::RustPage;
use std::process::ExitCode;

/// Rendering a page can block a worker while another must answer it (leptos issue 4647): never fewer than this.
const MIN_WORKERS: usize = 4;

/// What the browser gets: the built site, and the pages whose content is written in Rust.
#[derive(Clone, Copy)]
pub struct Site {
    /// A file of the built site by its path, such as `pkg/chatwright.wasm`.
    pub files: fn(&str) -> Option<EmbeddedFile>,
    /// The same pages as in the site's WASM.
    pub pages: &'static [RustPage],
}

/// The whole program: reads the command line and does what it says.
pub fn run(site: Site) -> ExitCode {
    let workers = std::thread::available_parallelism().map_or(MIN_WORKERS, |cores| cores.get().max(MIN_WORKERS));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(cli::run(site)),
        Err(error) => cli::fail(&format!("the runtime could not be started: {error}")),
    }
}
