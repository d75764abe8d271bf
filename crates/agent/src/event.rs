//! The events of a run, in order.

use crate::{Checkpoint, ContextSize, Decision, Grant, Ruling};
use contract::{
    ApprovalTerms, Exposure, FinishReason, ModelId, Part, ProviderMetadata, ReplyUsage, ToolCall, ToolError, ToolSpec,
    Usage,
};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The reply to a request begins. Emitted with its first part, so that a request that fails
    /// before that leaves no step.
    StepStart {
        /// The number of the step, from 1.
        number: u32,
    },
    /// A part of the reply as it was received. Never [`Part::ToolCall`] or [`Part::Finish`], which
    /// have events of their own.
    Part(Part),
    /// A tool call is complete and valid.
    ToolCall {
        /// The call; its id is unique within the conversation.
        call: ToolCall,
        /// Whether the tool is not a declared one.
        dynamic: bool,
    },
    /// A tool call is invalid: there is no such tool, the arguments are not JSON, or they do not
    /// fit the schema. Its [`Event::ToolFinished`] follows.
    ToolCallInvalid {
        /// The call's id.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// The arguments, as text if they are not JSON.
        input: Value,
        /// The reason.
        error: String,
        /// Whether the tool is not a declared one.
        dynamic: bool,
        /// Data that goes back to the same provider with the call, such as a signature.
        metadata: Option<ProviderMetadata>,
    },
    /// Old tool results are cleared from now on.
    ContextCleared {
        /// The id of the newest call whose result is cleared.
        through: String,
        /// The estimated tokens of the request before.
        tokens_before: u64,
        /// The estimated tokens after.
        tokens_after: u64,
    },
    /// Tool results that are neither cleared nor summarised are shortened from now on.
    ContextShortened {
        /// The id of the newest call whose result is shortened.
        through: String,
        /// The estimated tokens of the request before.
        tokens_before: u64,
        /// The estimated tokens after.
        tokens_after: u64,
    },
    /// The first result of the conversation that is not sent whole. From now on the model has a tool that
    /// reads such results, which changes the cached beginning of the requests.
    ReadingOffered,
    /// Older messages are replaced by a summary from now on.
    ContextSummarized {
        /// The summary.
        text: String,
        /// The id of the newest message that it covers: [`crate::TurnBoundary::message_id`].
        through: String,
        /// The model that wrote it.
        model: String,
        /// The estimated tokens of the request before.
        tokens_before: u64,
        /// The estimated tokens after.
        tokens_after: u64,
    },
    /// How large the context of the newest request of the agent is. With every complete reply.
    ContextSize(ContextSize),
    /// A model was asked for something beside the answer, such as a summary or a route; the usage of its
    /// reply.
    SideReply(ReplyUsage),
    /// A summary failed. The whole context stays in use.
    SummaryFailed {
        /// The cause, for the operator.
        error: String,
    },
    /// The server told the model something in its history, after the results of a step.
    PromptNote {
        /// The text.
        text: String,
    },
    /// The model was told what the user's page contains: in front of the user's message, or after what
    /// the turn has so far.
    PageContext {
        /// The text.
        text: String,
    },
    /// The user has decided on a call of an earlier run. The event of its outcome follows.
    CallDecided {
        /// The call with the arguments with which it will run.
        call: ToolCall,
        /// The decision.
        decision: Decision,
        /// The sources that the agent had read, if that was why the user was asked.
        exposed: Option<Exposure>,
        /// Whether the call was interrupted in an earlier run.
        cut_off: bool,
    },
    /// The page may run the call: all checks have passed. The page reports the outcome in another
    /// run.
    PageCallReady {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The data needed to repeat the call if the server dies before the page has it.
        repeat: RepeatTerms,
    },
    /// The user has approved a call that the browser runs, so the browser may run it now.
    CallHandedOver {
        /// The call with the arguments with which it will run.
        call: ToolCall,
    },
    /// A policy asks about a call or denies it. The event of the outcome follows.
    CallRuled {
        /// The call's id.
        call_id: String,
        /// [`Ruling::Ask`] or [`Ruling::Deny`].
        ruling: Ruling,
    },
    /// A standing approval covers the call, or the user gave one with the approval of this call.
    CallGranted {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// The standing approval.
        grant: Grant,
    },
    /// The agent or a sub-agent is about to read private data or untrusted text. This must be
    /// stored with the conversation, for its later runs: see [`crate::TurnInput::exposure`].
    Exposed {
        /// Everything that has been read so far.
        exposure: Exposure,
    },
    /// An event of a sub-agent's call, for the record. The user sees it in the
    /// [progress](Event::ToolProgress) of the call.
    Nested {
        /// The call that runs the sub-agent. On deeper levels, the ids on the path to it are joined
        /// with `/`.
        call_id: String,
        /// The sub-agent.
        agent_id: String,
        /// The event, with the sub-agent's own ids.
        event: Box<Event>,
    },
    /// A call waits for the user's approval.
    ApprovalRequest {
        /// The call's id.
        call_id: String,
        /// The current [fingerprint](contract::ToolSpec::fingerprint) of the tool; `None` for a
        /// suspended call.
        asked: Option<String>,
        /// The terms of the approval request.
        terms: ApprovalTerms,
    },
    /// A tool is about to run. It runs once the sink has accepted this event.
    ToolStarted {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// Whether a suspended call resumes.
        resumed: bool,
        /// The data needed to repeat the call if it is interrupted; `None` for a task of a
        /// sub-agent, which is never repeated as it is.
        repeat: Option<RepeatTerms>,
    },
    /// A running tool reports its progress.
    ToolProgress {
        /// The call's id.
        call_id: String,
        /// The result so far, which replaces the previous one.
        output: Value,
    },
    /// A tool adds a data part to the message, or replaces the one with the same name and id.
    Data {
        /// The part's name; its type is `data-NAME`.
        name: String,
        /// The part's id.
        id: Option<String>,
        /// The content.
        data: Value,
    },
    /// A call is suspended until the user has decided on a call within it. Its
    /// [`Event::ApprovalRequest`] follows.
    ToolSuspended {
        /// The call's id.
        call_id: String,
        /// The result so far, with the request.
        output: Value,
        /// The state from which the call resumes; opaque to everyone else.
        state: Value,
    },
    /// A tool has run, or could not be run.
    ToolFinished {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The result.
        result: Result<Value, ToolError>,
        /// Whether the tool is not a declared one.
        dynamic: bool,
        /// Whether the run was stopped before the tool finished.
        stopped: bool,
    },
    /// A call was denied by the user.
    ToolDenied {
        /// The call's id.
        call_id: String,
        /// The reason in the user's words.
        reason: Option<String>,
    },
    /// A reply is complete, and none of its calls has run yet. This event is for the record of
    /// usage.
    ReplyComplete(ReplyUsage),
    /// A step is complete, including its tool calls.
    StepFinish {
        /// The number of the step, from 1.
        number: u32,
        /// Why the reply ended.
        finish_reason: FinishReason,
        /// The tokens of this request.
        usage: Usage,
        /// The cost in US dollars, if the model's price is known.
        cost_usd: Option<f64>,
    },
    /// A model failed before its reply began. Another one is asked at once, and for the rest of
    /// this run.
    Fallback {
        /// The model that is asked instead.
        to: ModelId,
        /// The failure, for the log.
        error: String,
    },
    /// The tools of a source are not available in this run.
    SourceUnavailable {
        /// The source's name.
        name: String,
        /// The message for the user.
        error: String,
    },
    /// A request failed before its first part and will be sent again.
    Retry {
        /// The number of failures so far.
        attempt: u32,
        /// The time until the request is sent again.
        wait: Duration,
        /// The failure, for the log.
        error: String,
    },
}

/// The data needed to decide whether an interrupted call may be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatTerms {
    /// The tool's current [fingerprint](contract::ToolSpec::fingerprint).
    pub fingerprint: String,
    /// Whether the call may be repeated without approval.
    pub is_idempotent: bool,
}

impl RepeatTerms {
    /// Returns the terms of a tool as it is now.
    pub(crate) fn for_tool(tool: &ToolSpec) -> Self {
        Self { fingerprint: tool.fingerprint(), is_idempotent: tool.annotations.idempotent }
    }
}

impl Event {
    /// Converts the event of a call for the record of the calling agent, with ids that are unique
    /// there. Returns `None` for all other events.
    pub fn with_parent_call(self, above: &str) -> Option<Self> {
        let named = |id: String| format!("{above}/{id}");
        Some(match self {
            Self::ToolCall { call, dynamic } => {
                Self::ToolCall { call: ToolCall { id: named(call.id), ..call }, dynamic }
            }
            Self::ToolCallInvalid { id, name, input, error, dynamic, metadata } => {
                Self::ToolCallInvalid { id: named(id), name, input, error, dynamic, metadata }
            }
            Self::CallDecided { call, decision, exposed, cut_off } => {
                Self::CallDecided { call: ToolCall { id: named(call.id), ..call }, decision, exposed, cut_off }
            }
            Self::CallRuled { call_id, ruling } => Self::CallRuled { call_id: named(call_id), ruling },
            Self::CallGranted { call_id, tool, grant } => Self::CallGranted { call_id: named(call_id), tool, grant },
            Self::ApprovalRequest { call_id, asked, terms } => {
                Self::ApprovalRequest { call_id: named(call_id), asked, terms }
            }
            Self::ToolStarted { call_id, name, resumed, repeat } => {
                Self::ToolStarted { call_id: named(call_id), name, resumed, repeat }
            }
            Self::ToolFinished { call_id, name, result, dynamic, stopped } => {
                Self::ToolFinished { call_id: named(call_id), name, result, dynamic, stopped }
            }
            Self::ToolSuspended { call_id, output, state } => {
                Self::ToolSuspended { call_id: named(call_id), output, state }
            }
            Self::ToolDenied { call_id, reason } => Self::ToolDenied { call_id: named(call_id), reason },
            exposed @ Self::Exposed { .. } => exposed,
            _ => return None,
        })
    }
}

/// Receives a run's events in order. The run continues once an event is accepted, so a slow sink
/// slows down its run.
pub trait EventSink: Send {
    /// Accepts an event. An event that must be durable is stored when this returns.
    ///
    /// # Errors
    /// The sink is closed, and the run ends.
    fn emit(&mut self, event: Event) -> impl Future<Output = Result<(), SinkClosed>> + Send;

    /// No event follows for the moment, so a sink may flush what it has buffered. This is called
    /// before each wait for a model, so that parts that a provider sends together can be passed on
    /// together.
    fn pause(&mut self) {}

    /// Returns whether the sink stores the state of the run, so that another process can continue it.
    fn wants_checkpoints(&self) -> bool {
        false
    }

    /// Accepts the state of the run after a reply with tool calls, before any of them runs. The events
    /// that follow complete it, see [`Checkpoint::record`].
    ///
    /// # Errors
    /// The sink is closed, and the run ends.
    fn checkpoint(&mut self, _state: Checkpoint) -> impl Future<Output = Result<(), SinkClosed>> + Send {
        std::future::ready(Ok(()))
    }
}

/// The sink accepts no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkClosed;

/// Sends the events of a sub-agent's calls to the calling run. The sub-agent continues once an
/// event is recorded.
pub(crate) type EventRecorder = mpsc::Sender<(Event, oneshot::Sender<Result<(), SinkClosed>>)>;
