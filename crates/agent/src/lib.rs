#![doc = include_str!("../README.md")]

mod approval;
mod calls;
mod context;
mod deferral;
mod event;
mod execution_mode;
mod invoke;
mod limits;
mod model;
mod recorder;
mod routing;
mod run;
mod settings;
mod sub_agent;
mod turn;

pub use approval::exposure::ExposureState;
pub use approval::grants::{Grant, GrantLookup, GrantQuery};
pub use approval::policy::{Policy, PolicyQuery, Ruling};
pub use approval::rules::{PolicySettings, RuleAction, RulePolicy, RuleSettings};
pub use context::{
    Compaction, ContextInput, ContextParts, ContextSettings, ContextSize, ContextSummary, ContextTriggers,
    EarlierHistory, EarlierMessages, MeasuredSize, PageContext, Projection, READ_RESULT_TOOL, SummarySettings,
    TurnBoundary,
};
pub use contract::ReplyUsage;
pub use deferral::{DeferTools, TOOL_CALL, TOOL_SEARCH, is_provider_search};
pub use event::{Event, EventSink, RepeatTerms, SinkClosed};
pub use execution_mode::{ExecutionMode, ToolStrategy};
pub use invoke::{
    AnswerForm, AppCall, AppDecision, Checkpoint, InvocationInput, InvocationObserver, InvocationReply,
    InvocationRequest, InvocationResult, InvocationTools, InvokeError, RunQuestion, SchemaError, ToolCallResult,
    ToolFailure, ToolRequest, call_tool, invoke,
};
pub use limits::turn_usage::TurnUsage;
pub use limits::{Limit, TurnLimits};
pub use model::circuit::{CircuitStatus, Circuits};
pub use model::prepare_step::StepRule;
pub use model::prune::{EmptyMessages, Prune, PruneReasoning, PruneToolCalls, PrunedCalls, prune};
pub use recorder::{RecordedRun, RunRecorder, RunRecording};
pub use routing::{ROUTING, Route, RouteNeed};
pub use run::run;
pub use settings::{Agent, RunSettings, Timeouts};
pub use sub_agent::{NestedCall, SubAgent, waiting_nested_calls};
pub use turn::{Decision, Ending, PendingCall, RunOutcome, TurnInput, WaitingCall, skipped_call_text};
