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
use contract::Tool;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tool::FileTool;

/// Calls that one folder answers at the same time.
const PARALLEL_CALLS: usize = 8;

/// Opens a folder and answers the tools over it. The handle is kept: what the path leads to later does not matter.
///
/// # Errors
/// When the folder cannot be opened.
pub fn open(base_path: &Path) -> io::Result<Vec<Arc<dyn Tool>>> {
    let (base, slots) = (Arc::new(Base::open(base_path)?), Arc::new(Semaphore::new(PARALLEL_CALLS)));
    Ok(vec![
        Arc::new(FileTool::new(read::spec(), read::run, &base, &slots)),
        Arc::new(FileTool::new(list::spec(), list::run, &base, &slots)),
        Arc::new(FileTool::new(search::spec(), search::run, &base, &slots)),
        Arc::new(FileTool::new(stat::spec(), stat::run, &base, &slots)),
    ])
}
