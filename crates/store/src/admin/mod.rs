//! What administrators see and do: rows of all owners. Nothing here asks for an owner, so only who answers for the system may get here;
//! the routes see to that.

mod access;
mod audit;
mod conversations;
mod delete;
mod feedback;
mod grants;
mod health;
mod usage;
mod users;

pub use access::{AccessFilter, AccessKind, AccessSort, AdminAccess};
pub use audit::{AuditFilter, AuditKind};
pub use conversations::{AdminConversation, AdminSort, ConversationFilter, Judged};
pub use feedback::{FeedbackRow, FeedbackSort};
pub use grants::{AdminGrant, GrantFilter, GrantSort};
pub use health::{MAX_RECENT_CALLS, MAX_RECENT_RUNS, RecentRun, ToolHealth};
pub use usage::{AgentUsage, DayUsage, Used};
pub use users::{UserChange, UserChanged, UserFilter, UserRow, UserSort};

use crate::StoreError;

/// Rows of an administrator's list at once: a page of 50, and one more that tells whether there is a next page.
pub const MAX_LISTED: u32 = 51;

/// The role that answers for the system.
pub const ADMIN: &str = "admin";

/// The row of a list after which to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// By what the list is sorted, of that row.
    pub key: String,
    /// Decides between equal ones.
    pub id: String,
}

impl Place {
    /// The key of a list that is sorted by a number.
    fn number<T: std::str::FromStr>(&self) -> Result<T, StoreError> {
        self.key.parse().map_err(|_| StoreError::Invalid("this is not a place in the list"))
    }
}
