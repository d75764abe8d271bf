#![doc = include_str!("../README.md")]

mod attachments;
mod body;
mod capabilities;
mod cli;
mod compose;
mod console_host;
pub mod embedded;
mod error;
mod gates;
mod guide;
mod listen;
mod memory;
mod reload;
mod router;
mod routes;
mod shutdown;
mod state;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;

pub use capabilities::config_language;
pub use rust_embed::EmbeddedFile;

use app::blocks::RustBlockType;
use app::pages::{RustPage, RustParts};
use capability::Definition;
use std::process::ExitCode;

/// The minimum number of worker threads: rendering a page can block a worker while another one must
/// answer it (leptos issue 4647).
const MIN_WORKERS: usize = 4;

/// The parts that a program adds to the product: the built site, pages and types of blocks that are written in Rust,
/// and its capabilities.
#[derive(Clone, Copy)]
pub struct Site {
    /// Returns a file of the built site by its path, such as `pkg/chatwright.wasm`.
    pub files: fn(&str) -> Option<EmbeddedFile>,
    /// The same pages as in the site's WASM.
    pub pages: &'static [RustPage],
    /// The same types of blocks as in the site's WASM.
    pub blocks: &'static [RustBlockType],
    /// The capabilities that the program adds to those of the product.
    pub capabilities: &'static [Definition],
}

impl Site {
    fn parts(&self) -> RustParts {
        RustParts { pages: self.pages, blocks: self.blocks }
    }
}

/// Runs the whole program: parses the command line and executes the command.
pub fn run(site: Site) -> ExitCode {
    embedded::enable_helpers();
    let arguments = cli::CommandLine::of_process();
    // Before anything else is started: the limits of that process count all of its memory.
    if let Some(code) = arguments.run_as_helper() {
        return code;
    }
    if let Err(problem) = capabilities::add(site) {
        return cli::fail(&problem);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers()).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(cli::run(arguments, site)),
        Err(error) => cli::fail(&format!("the runtime could not be started: {error}")),
    }
}

/// Returns the number of worker threads.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(MIN_WORKERS, |cores| cores.get().max(MIN_WORKERS))
}
