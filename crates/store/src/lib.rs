#![doc = include_str!("../README.md")]

mod accounts;
mod admin;
mod audit;
mod database;
mod error;
mod files;
mod history;
mod migrations;
mod postgres;
mod run;
mod schema;
mod search;
mod servers;
pub mod sql;
mod sqlite;
mod store;
mod transfer;
mod writer;

pub use accounts::api_keys::{ApiKeyRow, MAX_API_KEYS, NewApiKey};
pub use accounts::group_members::{GroupMember, MAX_GROUP_MEMBERS, MemberChange};
pub use accounts::groups::{Group, GroupChange, GroupOutcome, MAX_GROUPS, NewGroup};
pub use accounts::identities::{
    EndedAtProvider, Identity, LinkOutcome, MAX_IDENTITIES, ProviderClaims, SignInWays, UnlinkOutcome,
};
pub use accounts::invitations::{Invitation, MAX_INVITATIONS, NewInvitation};
pub use accounts::outside_keys::ExternalUser;
pub use accounts::scim_users::{MAX_SCIM_USERS_LISTED, ScimProfile, ScimUser, ScimUserChange, ScimUserOutcome};
pub use accounts::second_factors::{NewSecondFactor, SecondFactor, SecondFactorChange, SecondFactorProof};
pub use accounts::sessions::{NewSession, ProviderSession, SessionLifetime, SessionRow, SignInProof};
pub use accounts::users::{AddUserOutcome, NewUser, StoredPassword, User};
pub use admin::{
    ADMIN, AccessFilter, AccessKind, AccessSort, AdminAccess, AdminConversation, AdminGrant, AdminInvocation,
    AgentUsage, AuditFilter, AuditKind, ChangeUserOutcome, ConversationFilter, ConversationSort, DayRatings, DayUsage,
    EventKind, FeedbackRow, FeedbackSort, GrantFilter, GrantSort, GroupUsage, InvocationFilter, ListCursor, MAX_LISTED,
    MAX_RECENT_CALLS, MAX_RECENT_RUNS, ModelUsage, NewEvent, NumberedEvent, OwnerUsage, RatingFilter, Ratings,
    RecentRun, StoredEvent, ToolHealth, UsageFilter, UsageTotals, UserChange, UserFilter, UserGroup, UserRow, UserSort,
    append_event,
};
pub use audit::chain::{AuditFault, AuditHead, AuditReport};
pub use audit::{AuditEntry, AuditOutcome, AuditRow, Gate, GateDecision, GateVerdict, MAX_AUDIT_ROWS, append_audit};
pub use error::StoreError;
pub use files::{FILE_PIECE, FileRow, NewFile};
pub use history::append::{AddMessages, AlsoWrite, AppendMessage};
pub use history::branches::{CopyBranch, Deletion, MessageNode, SetBranch};
pub use history::change::{ConversationToDelete, set_generated_title};
pub use history::conversations::{Conversation, ConversationCursor, ConversationRow, MAX_CONVERSATIONS, RunRow};
pub use history::copies::{ImportedConversation, ImportedMessage, MAX_SHARES};
pub use history::encoded::{BranchPosition, EncodedMessage};
pub use history::event_claims::ClaimEvents;
pub use history::folder_tree::{MAX_FOLDER_LEVELS, MoveFolderOutcome};
pub use history::folders::{MAX_FOLDERS, color_folder, insert_folder, rename_folder_from};
pub use history::hand_over::HandOver;
pub use history::messages::StoredMessage;
pub use history::prepare::PrepareConversation;
pub use history::retention::{DueConversation, DueFilter, MAX_DUE};
pub use postgres::{Listener, Lock, ReplicaEvent, ServerInfo};
pub use run::agent_run_approvers::UndecidedRunRow;
pub use run::agent_runs::{
    AgentRun, AgentRunChange, AgentRunPhase, InvocationProgress, MAX_OPEN_AGENT_RUNS, agent_run, begin_agent_run,
    change_agent_run, finish_agent_run, insert_agent_run, interrupt_agent_run, record_progress,
    request_invocation_stop,
};
pub use run::begin_run::{BeginRun, BeginRunOutcome, NewMessage};
pub use run::grants::{GrantRow, MAX_GRANTS, NewGrant};
pub use run::invocations::FinishInvocation;
pub use run::run_events::{JournalBatch, JournalRow, MAX_EVENTS};
pub use run::runs::{FinishRun, OpenRun};
pub use run::steps::{MAX_STEPS, StepRecord, StepTotals, append_steps};
pub use run::tool_calls::{CallRepeat, RepeatableCall, StartedCall, SubAgentCall, ToolCallState, ToolOutcome};
pub use schema::{CapabilityTables, Migration, Schema, SqliteBaseline, Table};
pub use search::{MAX_HITS, SearchCursor};
pub use servers::replicas::{HeartbeatResult, RunProgress, RunsToStop, StopRequest};
pub use store::Store;
pub use transfer::TransferredTable;
pub use transfer::backup::{ClaimedDatabase, InspectedDatabase};
