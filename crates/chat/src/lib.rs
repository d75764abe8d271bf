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
mod lifecycle;
mod outside;
mod record;
mod run;
mod stream;
mod submit;
mod upkeep;

pub use admission::memory::{MemoryLevel, MemoryProbe, MemoryStatus, MemoryUse};
pub use admission::quota::QuotaUsage;
pub use agent::ToolFailure;
pub use agents::{AgentRequest, AgentSource, SubmissionLimits};
pub use caller::{Caller, SiteClaims};
pub use chat::Chat;
pub use clock::Clock;
pub use contract::Bearer;
pub use events::{LifecycleEvent, LifecycleObserver};
pub use files::uploads::{FileLimits, NewUpload};
pub use history::export::{ExportedConversation, ExportedMessage, FORMAT};
pub use history::share::SharedSnapshot;
pub use outside::invoke::{CountedInvocation, InvocationUsage};
pub use outside::routine::RoutineMeters;
pub use outside::tool_call::{CountedToolCall, ToolCallRequest};
pub use outside::trial::{TrialRequest, TrialResult};
pub use record::steps::ConversationUsage;
pub use record::telemetry::{Backlog, RunFacts, Telemetry, ToolEnd, Trace, current_trace, traced};
pub use run::hooks::{HookEvent, Hooks};
pub use settings::{InvocationTiers, Quota, QuotaPeriod, Retention};
pub use stream::Frames;
pub use stream::keep_alive::with_keep_alive;
pub use submit::SendResponse;
pub use upkeep::readiness::StoreHealth;
pub use upkeep::retention::{RetentionRule, SweepResult, invocations_due_before};

pub(crate) use clock::now;
pub(crate) use lifecycle::Inner;
