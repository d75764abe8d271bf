//! The tool pages: MCP servers, statistics of the last calls, and test runs of a tool.

mod list;
mod trial;

use crate::state::ConsoleState;
use axum::Router;

pub(crate) fn routes() -> Router<ConsoleState> {
    list::routes().merge(trial::routes())
}
