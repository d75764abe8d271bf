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
mod migrations;
mod outside_keys;
mod postgres;
mod replicas;
mod retention;
mod run_events;
mod runs;
mod schema;
mod search;
mod secrets;
mod sessions;
pub mod sql;
mod sqlite;
mod steps;
mod store;
mod tool_calls;
mod transfer;
mod users;
mod writer;

pub use admin::{
    ADMIN, AccessFilter, AccessKind, AccessSort, AdminAccess, AdminConversation, AdminGrant, AgentUsage, AuditFilter,
    AuditKind, ChangeUserOutcome, ConversationFilter, ConversationSort, DayUsage, FeedbackRow, FeedbackSort,
    GrantFilter, GrantSort, ListCursor, MAX_LISTED, MAX_RECENT_CALLS, MAX_RECENT_RUNS, RatingFilter, RecentRun,
    ToolHealth, UsageTotals, UserChange, UserFilter, UserRow, UserSort,
};
pub use api_keys::{ApiKeyRow, MAX_API_KEYS, NewApiKey};
pub use audit::{AuditEntry, AuditOutcome, AuditRow, Gate, GateDecision, GateVerdict, MAX_AUDIT_ROWS, append_audit};
pub use audit_chain::{AuditFault, AuditHead, AuditReport};
pub use backup::{ClaimedDatabase, InspectedDatabase};
pub use begin_run::{BeginRun, BeginRunOutcome, NewMessage};
pub use branches::{CopyBranch, Deletion, MessageNode, SetBranch};
pub use change::ConversationToDelete;
pub use conversations::{Conversation, ConversationCursor, ConversationRow, MAX_CONVERSATIONS, RunRow};
pub use copies::{ImportedConversation, ImportedMessage, MAX_SHARES};
pub use error::StoreError;
pub use event_claims::ClaimEvents;
pub use files::{FILE_PIECE, FileRow, NewFile};
pub use folders::MAX_FOLDERS;
pub use grants::{GrantRow, MAX_GRANTS, NewGrant};
pub use invocations::FinishInvocation;
pub use messages::StoredMessage;
pub use outside_keys::ExternalUser;
pub use postgres::{Listener, Lock, ReplicaEvent, ServerInfo};
pub use replicas::{HeartbeatResult, RunProgress, StopRequest};
pub use retention::{DueConversation, DueFilter, MAX_DUE};
pub use run_events::{JournalBatch, JournalRow, MAX_EVENTS};
pub use runs::{FinishRun, OpenRun};
pub use schema::{CapabilityTables, Migration, Schema, Table};
pub use search::{MAX_HITS, SearchCursor};
pub use sessions::{NewSession, SessionLifetime, SessionRow};
pub use steps::{MAX_STEPS, StepRecord, StepTotals};
pub use store::Store;
pub use tool_calls::{CallRepeat, RepeatableCall, StartedCall, SubAgentCall, ToolCallState, ToolOutcome};
pub use transfer::TransferredTable;
pub use users::{AddUserOutcome, NewUser, User};
