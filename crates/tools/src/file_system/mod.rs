//! `read-file`, `list-files`, `search-files` and `stat-file`: an agent reads what is in one folder, and nothing outside it (L-59 to
//! L-63, A32).

mod base;
mod budget;
mod glob;
mod input;
mod list;
mod notice;
mod path;
mod read;
mod refusal;
mod search;
mod stat;
#[cfg(all(test, unix))]
mod tests;
mod tool;
mod walk;

use base::Base;
use contract::{Tool, ToolSpec};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tool::FileTool;

/// Calls that one folder answers at the same time.
const PARALLEL_CALLS: usize = 8;

/// Opens a folder and answers the tools over it. The handle is kept: what the path leads to later does not matter. A call may take
/// `timeout`: a walk's own time, waiting for other calls, and a disk that does not answer.
///
/// # Errors
/// When the folder cannot be opened.
pub fn open(base_path: &Path, timeout: Duration) -> io::Result<Vec<Arc<dyn Tool>>> {
    let spec = |spec: ToolSpec| ToolSpec { timeout, ..spec };
    let (base, slots) = (Arc::new(Base::open(base_path)?), Arc::new(Semaphore::new(PARALLEL_CALLS)));
    Ok(vec![
        Arc::new(FileTool::new(spec(read::spec()), read::run, &base, &slots)),
        Arc::new(FileTool::new(spec(list::spec()), list::run, &base, &slots)),
        Arc::new(FileTool::new(spec(search::spec()), search::run, &base, &slots)),
        Arc::new(FileTool::new(spec(stat::spec()), stat::run, &base, &slots)),
    ])
}
