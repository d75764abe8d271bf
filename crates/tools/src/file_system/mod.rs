//! `read-file`, `list-files`, `search-files` and `stat-file`: tools with which an agent reads one
//! folder, and nothing outside of it.

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

use base::BaseFolder;
use contract::{Tool, ToolSpec};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tool::FileTool;

/// The maximum number of concurrent calls for one folder.
const PARALLEL_CALLS: usize = 8;

/// Opens a folder and returns its tools. The handle is kept, so later changes of the path do not
/// matter. `timeout` is the maximum duration of a call, which includes the walk's own time, the
/// wait for other calls, and a disk that does not respond.
///
/// # Errors
/// The folder cannot be opened.
pub fn open(base_path: &Path, timeout: Duration) -> io::Result<Vec<Arc<dyn Tool>>> {
    let spec = |spec: ToolSpec| ToolSpec { timeout, ..spec };
    let (base, slots) = (Arc::new(BaseFolder::open(base_path)?), Arc::new(Semaphore::new(PARALLEL_CALLS)));
    Ok(vec![
        Arc::new(FileTool::new(spec(read::spec()), read::run, &base, &slots)),
        Arc::new(FileTool::new(spec(list::spec()), list::run, &base, &slots)),
        Arc::new(FileTool::new(spec(search::spec()), search::run, &base, &slots)),
        Arc::new(FileTool::new(spec(stat::spec()), stat::run, &base, &slots)),
    ])
}
