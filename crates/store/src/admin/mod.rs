//! The queries of the admin console, over the rows of all owners. Nothing here checks an owner, so
//! the routes must admit administrators only.

mod access;
mod audit;
mod conversations;
mod delete;
mod events;
mod feedback;
mod grants;
mod health;
mod invocations;
mod model_usage;
mod outbox;
mod usage;
mod users;

pub use access::{AccessFilter, AccessKind, AccessSort, AdminAccess};
pub use audit::{AuditFilter, AuditKind};
pub use conversations::{AdminConversation, ConversationFilter, ConversationSort, RatingFilter};
pub use events::{EventKind, StoredEvent};
pub use feedback::{DayRatings, FeedbackRow, FeedbackSort, Ratings};
pub use grants::{AdminGrant, GrantFilter, GrantSort};
pub use health::{MAX_RECENT_CALLS, MAX_RECENT_RUNS, RecentRun, ToolHealth};
pub use invocations::{AdminInvocation, InvocationFilter};
pub use model_usage::ModelUsage;
pub use outbox::{NewEvent, NumberedEvent, append_event};
pub use usage::{AgentUsage, DayUsage, GroupUsage, OwnerUsage, UsageFilter, UsageTotals};
pub(crate) use users::apply_user_change;
pub use users::{ChangeUserOutcome, UserChange, UserFilter, UserGroup, UserRow, UserSort};

use crate::StoreError;

/// The maximum number of rows of an admin list: a page of 50, and one more that tells whether there is a next page.
pub const MAX_LISTED: u32 = 51;

/// The role of administrators.
pub const ADMIN: &str = "admin";

/// A cursor in an admin list: the row after which the next page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCursor {
    /// The sort key of that row.
    pub key: String,
    /// The tie-breaker for equal sort keys.
    pub id: String,
}

impl ListCursor {
    /// Parses the key of a list that is sorted by a number.
    fn number<T: std::str::FromStr>(&self) -> Result<T, StoreError> {
        self.key.parse().map_err(|_| StoreError::InvalidCursor)
    }
}
