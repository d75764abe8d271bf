//! The tool pages: MCP servers, statistics of the last calls, and test runs of a tool.

mod list;
mod trial;

use crate::state::ConsoleState;
use web::openapi::ApiRouter;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes().merge(trial::routes())
}
