#![doc = include_str!("../README.md")]

mod admin;
mod api_keys;
mod audit;
mod audit_chain;
mod backup;
mod begin_run;
mod body;
mod branches;
mod change;
mod conversations;
mod copies;
mod custom_agents;
mod database;
mod error;
mod event_claims;
mod feedback;
mod files;
mod folders;
mod grants;
mod invocations;
mod job;
mod messages;
mod outside_keys;
mod postgres;
mod replicas;
mod retention;
mod run_events;
mod runs;
mod search;
mod secrets;
mod sessions;
mod sql;
mod sqlite;
mod steps;
mod store;
mod tool_calls;
mod transfer;
mod users;
mod writer;

pub use admin::{
    ADMIN, AccessFilter, AccessKind, AccessSort, AdminAccess, AdminConversation, AdminGrant, AdminSort, AgentUsage,
    AuditFilter, AuditKind, ConversationFilter, DayUsage, FeedbackRow, FeedbackSort, GrantFilter, GrantSort, Judged,
    MAX_LISTED, MAX_RECENT_CALLS, MAX_RECENT_RUNS, Place, RecentRun, ToolHealth, Used, UserChange, UserChanged,
    UserFilter, UserRow, UserSort,
};
pub use api_keys::{ApiKeyRow, MAX_API_KEYS, NewApiKey};
pub use audit::{AuditEntry, AuditOutcome, AuditRow, Gate, GateDecision, GateVerdict, MAX_AUDIT_ROWS};
pub use audit_chain::{AuditFault, AuditHead, AuditReport};
pub use backup::{Claimed, Copied};
pub use begin_run::{BeginRun, Begun, NewMessage};
pub use branches::{CopyBranch, Deletion, Node, SetBranch};
pub use change::Deleted;
pub use conversations::{Conversation, ConversationRow, Cursor, MAX_CONVERSATIONS, RunRow};
pub use copies::{ImportedMessage, MAX_SHARES, NewConversation};
pub use custom_agents::{
    CustomAgentRow, CustomAgentSaved, CustomAgentVersion, MAX_CUSTOM_AGENTS, MAX_VERSIONS, SaveCustomAgent,
};
pub use error::StoreError;
pub use event_claims::ClaimEvents;
pub use files::{FILE_PIECE, FileRow, NewFile};
pub use folders::MAX_FOLDERS;
pub use grants::{GrantRow, MAX_GRANTS, NewGrant};
pub use invocations::FinishInvocation;
pub use messages::StoredMessage;
pub use outside_keys::OutsideUser;
pub use postgres::{Listener, Lock, News, ServerFacts};
pub use replicas::{Pulse, RunProgress, StopRequest};
pub use retention::{Due, DueConversation, MAX_DUE};
pub use run_events::{JournalBatch, JournalRow, MAX_EVENTS};
pub use runs::{FinishRun, OpenRun};
pub use search::{MAX_FOUND, SearchCursor};
pub use sessions::{NewSession, SessionLife, SessionRow};
pub use steps::{MAX_STEPS, Step, Totals};
pub use store::Store;
pub use tool_calls::{CallBelow, CutOffCall, Repeat, StartedCall, ToolCallState, ToolOutcome};
pub use transfer::Moved;
pub use users::{Added, NewUser, User};
