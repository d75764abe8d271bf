//! What happens in a run, in order: a closed enum, noun first.

use crate::{Decision, Grant, Ruling};
use contract::{ApprovalTerms, Exposure, FinishReason, ModelId, Part, Replied, ToolCall, ToolError, ToolSpec, Usage};
use serde_json::Value;
use std::time::Duration;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The reply to a request begins; told with its first part, so that a request that fails before it leaves no step.
    StepStart {
        /// Counts from 1.
        number: u32,
    },
    /// A piece of the reply as it came; never [`Part::ToolCall`] or [`Part::Finish`], which have events of their own.
    Part(Part),
    /// A call is complete and fits its tool.
    ToolCall {
        /// The call; its id is unique within the conversation.
        call: ToolCall,
        /// Not a declared tool.
        dynamic: bool,
    },
    /// A call that cannot be run: no such tool, not JSON, or not what the tool takes. Its [`Event::ToolFinished`] follows.
    ToolCallInvalid {
        /// The call.
        id: String,
        /// The tool as the model named it.
        name: String,
        /// The arguments, as text where they are not JSON.
        input: Value,
        /// Why.
        error: String,
        /// Not a declared tool.
        dynamic: bool,
    },
    /// The user has decided on a call of an earlier run. What comes of it follows.
    CallDecided {
        /// The call, with the arguments that it will run with.
        call: ToolCall,
        /// The decision.
        decision: Decision,
        /// Why the user was asked, where that was what the agent had read.
        exposed: Option<Exposure>,
        /// It was cut off in an earlier run.
        cut_off: bool,
    },
    /// The call is the page's to run: nothing stands before it any more. How it ends is told by the page, in another run.
    CallForPage {
        /// The call.
        call_id: String,
        /// The tool.
        name: String,
        /// What must be known if the server dies before the page is told.
        repeat: Repeat,
    },
    /// The user has said yes to a call that the browser runs: it may run it now.
    CallHandedOver {
        /// The call, with the arguments that it will run with.
        call: ToolCall,
    },
    /// The agent's policy has more to say of a call than that it may run. What comes of it follows.
    CallRuled {
        /// The call.
        call_id: String,
        /// [`Ruling::Ask`] or [`Ruling::Deny`].
        ruling: Ruling,
    },
    /// A standing approval lets the call run, or was given with the user's yes.
    CallGranted {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The approval.
        grant: Grant,
    },
    /// The agent, or one below it, is about to read something that makes sending dangerous. It is to be kept with the conversation, for
    /// its later runs: see [`crate::Turn::seen`].
    Exposed {
        /// All that has been read by then.
        exposure: Exposure,
    },
    /// Something that happened to a call of an agent below. It is told for the record; the user sees it in the call's
    /// [progress](Event::ToolProgress).
    Nested {
        /// The call of that agent; of one further below, the calls on the way with `/` between them.
        call_id: String,
        /// That agent.
        agent_id: String,
        /// What happened. Its ids are that agent's.
        event: Box<Event>,
    },
    /// The call waits for the user's decision.
    ApprovalRequest {
        /// The call.
        call_id: String,
        /// The tool as it is now, by [`contract::ToolSpec::fingerprint`]; none for a suspended call.
        asked: Option<String>,
        /// How the user is asked.
        terms: ApprovalTerms,
    },
    /// A tool is about to run; it runs once the sink has taken this.
    ToolStarted {
        /// The call.
        call_id: String,
        /// The tool.
        name: String,
        /// It goes on from where it was suspended.
        resumed: bool,
        /// What must be known if it is cut off; none for what is never made once more as it is: an agent's task.
        repeat: Option<Repeat>,
    },
    /// How far a running tool has come.
    ToolProgress {
        /// The call.
        call_id: String,
        /// What there is of its result; it takes the place of what was told before.
        output: Value,
    },
    /// A call cannot go on before the user has decided on something within it. Its [`Event::ApprovalRequest`] follows.
    ToolSuspended {
        /// The call.
        call_id: String,
        /// What there is of its result, with what is asked.
        output: Value,
        /// What it goes on from; for nobody else to read.
        state: Value,
    },
    /// A tool has run, or could not.
    ToolFinished {
        /// The call.
        call_id: String,
        /// The tool.
        name: String,
        /// What came of it.
        result: Result<Value, ToolError>,
        /// Not a declared tool.
        dynamic: bool,
        /// What it ran for was stopped before it ended.
        stopped: bool,
    },
    /// The user's no took effect.
    ToolDenied {
        /// The call.
        call_id: String,
        /// In the user's words.
        reason: Option<String>,
    },
    /// A reply is complete; none of its calls has run yet. It is for the record of what requests take.
    Replied(Replied),
    /// The reply is over and its tools have run.
    StepFinish {
        /// Counts from 1.
        number: u32,
        /// Why the reply ended.
        finish_reason: FinishReason,
        /// Tokens of this request.
        usage: Usage,
        /// What it cost in US dollars, if the model's price is known.
        cost_usd: Option<f64>,
    },
    /// A model failed before its reply began; another one is asked at once, and goes on being asked in this run.
    Fallback {
        /// The other one.
        to: ModelId,
        /// For the log.
        error: String,
    },
    /// Tools that the agent should have cannot be had in this run.
    SourceUnavailable {
        /// Where they come from.
        name: String,
        /// For the user.
        error: String,
    },
    /// A request failed before its first part and will be sent again.
    Retry {
        /// The failures so far.
        attempt: u32,
        /// Until it is sent again.
        wait: Duration,
        /// For the log.
        error: String,
    },
}

/// Whether and how a call may be made once more, should it be cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The tool as it is now, by [`contract::ToolSpec::fingerprint`].
    pub fingerprint: String,
    /// Nobody needs to be asked.
    pub is_idempotent: bool,
}

impl Repeat {
    /// Of a tool as it is now.
    pub(crate) fn of(tool: &ToolSpec) -> Self {
        Self { fingerprint: tool.fingerprint(), is_idempotent: tool.marks.idempotent }
    }
}

impl Event {
    /// An event of a call, for the record of an agent above: with ids that are unique there. None for all others.
    pub fn below(self, above: &str) -> Option<Self> {
        let named = |id: String| format!("{above}/{id}");
        Some(match self {
            Self::ToolCall { call, dynamic } => {
                Self::ToolCall { call: ToolCall { id: named(call.id), ..call }, dynamic }
            }
            Self::ToolCallInvalid { id, name, input, error, dynamic } => {
                Self::ToolCallInvalid { id: named(id), name, input, error, dynamic }
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

/// Takes a run's events, one after the other. The run goes on when an event is taken, so a slow sink slows its run.
pub trait EventSink: Send {
    /// Takes an event; what must be durable is durable when this resolves.
    ///
    /// # Errors
    /// Nothing more can be taken: the run ends.
    fn emit(&mut self, event: Event) -> impl Future<Output = Result<(), SinkClosed>> + Send;

    /// Nothing more is there for the moment: whoever gathers what came together may pass it on now. It is called before each wait for
    /// a model, so what a provider sends in one piece can be told in one piece.
    fn pause(&mut self) {}
}

/// The sink takes no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkClosed;
