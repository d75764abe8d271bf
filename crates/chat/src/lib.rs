#![doc = include_str!("../README.md")]

mod admission;
mod agents;
mod caller;
mod chat;
mod clock;
mod errors;
mod events;
mod files;
mod history;
mod ids;
mod inner;
mod lifecycle;
mod outside;
mod record;
mod run;
mod stream;
mod submit;
mod upkeep;
mod viewer;

pub use admission::memory::{MemoryLevel, MemoryProbe, MemoryStatus, MemoryUse};
pub use admission::permits::{PermitError, RunPermit, RunPermits};
pub use admission::quota::{QuotaUsage, quota_span};
pub use agent::{AppDecision, ToolFailure};
pub use agents::{AgentRequest, AgentSource, SelectableModel, SubmissionLimits, TitleAgent};
pub use caller::{Caller, SiteClaims};
pub use chat::Chat;
pub use clock::Clock;
pub use contract::{Bearer, RunScope};
pub use events::{LifecycleEvent, LifecycleObserver};
pub use files::attachments::{AttachmentError, AttachmentReader};
pub use files::sniff::media_type;
pub use files::uploads::{FileLimits, NewUpload};
pub use history::exchange::Exchange;
pub use history::export::{ExportedConversation, ExportedMessage, FORMAT};
pub use history::folder_links::FolderPage;
pub use history::share::SharedSnapshot;
pub use outside::RunResponse;
pub use outside::completion::{CompletionRequest, CompletionRun};
pub use outside::invoke::{CountedInvocation, InvocationUsage};
pub use outside::routine::RoutineMeters;
pub use outside::suspended::{
    DecidedState, SuspendableInvocation, SuspendableRequest, SuspendedInvocation, decide_suspended, lapse_suspended,
};
pub use outside::tool_call::{AppToolCall, CountedToolCall, ToolCallRequest};
pub use outside::trial::{TrialRequest, TrialResult};
pub use record::conversation_usage::ConversationUsage;
pub use record::telemetry::{Backlog, RunFacts, Telemetry, ToolEnd, Trace, current_trace, traced};
pub use run::hooks::{HookEvent, Hooks};
pub use settings::{InvocationTiers, Quota, QuotaPeriod, Retention};
pub use stream::keep_alive::with_keep_alive;
pub use stream::{ChunkReader, Frames};
pub use submit::SendResponse;
pub use submit::deliver::{Delivery, DeliveryOutcome};
pub use submit::frontend::Frontend;
pub use submit::hand_over::{HandOver, HandOverOutcome};
pub use submit::origin::{TEXT_ORIGIN, TextOrigin};
pub use submit::post::Posting;
pub use submit::preset::MAX_PRESET_MESSAGES;
pub use upkeep::readiness::StoreHealth;
pub use upkeep::retention::{RetentionRule, SweepResult, invocations_due_before};
pub use viewer::Viewer;

pub(crate) use clock::now;
pub(crate) use inner::Inner;
