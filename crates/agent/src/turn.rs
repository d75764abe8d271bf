//! The input of a run, and its outcome.

use crate::{ContextInput, ExposureState, Grant, GrantLookup, Limit, TurnUsage};
use contract::{ApprovalTerms, FinishReason, Message, ModelError, ModelErrorKind, RunScope, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The longest reason of a provider that is logged, in characters.
const MAX_RAW_REASON: usize = 100;

/// The input of a run.
pub struct TurnInput {
    /// The history, oldest first. It is valid except for the `pending` calls: they are in its last
    /// assistant message, and the tool message after it, if there is one, lacks their results. The
    /// run adds them in call order. It may begin after [other messages](ContextInput::earlier).
    pub messages: Vec<Arc<Message>>,
    /// The calls of the last assistant message that the user has decided on since, or that were
    /// interrupted.
    pub pending: Vec<PendingCall>,
    /// The user, the conversation and the page; the run sets the agent.
    pub scope: RunScope,
    /// The standing approvals that apply; none if absent.
    pub grants: Option<Arc<dyn GrantLookup>>,
    /// The sources that were read in the conversation so far.
    pub exposure: ExposureState,
    /// The index of the first message that belongs to this turn, including its earlier runs.
    /// Messages of the turn are not pruned.
    pub turn_start: usize,
    /// The part of the history that the model reads, and where it can be cut.
    pub context: ContextInput,
    /// The usage of the turn in its earlier runs, each of which ended [waiting](Ending::Waiting).
    /// Its limits apply to the sum.
    pub earlier: TurnUsage,
    /// Cancels the run, which then ends within a second.
    pub cancel: CancellationToken,
}

/// A call with the user's decision.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingCall {
    /// The call as it was shown to the user.
    pub call: ToolCall,
    /// The decision.
    pub decision: Decision,
    /// The state from which a [suspended](crate::Event::ToolSuspended) call resumes.
    pub state: Option<Value>,
    /// The tool's fingerprint when the user was asked. If it has changed, the user is asked again.
    pub tool_fingerprint: Option<String>,
    /// The standing approval that was given with this one.
    pub grant: Option<Grant>,
    /// Whether the call was [interrupted](Decision::Again) in an earlier run, so that running it is
    /// a repetition.
    pub cut_off: bool,
}

/// A decision on a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Run the call.
    Approved,
    /// Do not run the call, with the reason if one was given.
    Denied(Option<String>),
    /// There is no decision: the server died while the call ran. The call is repeated if its tool
    /// is [idempotent](contract::Annotations::idempotent) now; otherwise the user is asked, because it
    /// may have had its effect.
    Again {
        /// Whether the user had approved the interrupted call.
        approved: bool,
    },
}

/// Returns the result of an interrupted call that the user did not want to repeat.
pub fn skipped_call_text(reason: Option<&str>) -> String {
    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!(
        "Interrupted before it finished. It may or may not have had an effect. The user did not want it to be run again{why}"
    )
}

/// The outcome of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Why the run ended.
    pub ending: Ending,
    /// Why the last reply ended.
    pub finish_reason: FinishReason,
    /// The tokens of all requests, including those of sub-agents.
    pub usage: Usage,
    /// The cost in US dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// The usage of the whole turn, including its earlier runs.
    pub turn_usage: TurnUsage,
    /// The number of requests, without those of sub-agents.
    pub steps: u32,
    /// The history with what the run added. If the run [waits](Ending::Waiting), it is valid except
    /// for the calls in `waiting`. Messages before it that the run did not need may be missing.
    pub messages: Vec<Arc<Message>>,
    /// The calls that the user must decide on.
    pub waiting: Vec<WaitingCall>,
}

/// A call that waits for the user's decision.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingCall {
    /// The call.
    pub call: ToolCall,
    /// The state from which a [suspended](crate::Event::ToolSuspended) call resumes.
    pub state: Option<Value>,
    /// The tool's current fingerprint.
    pub tool_fingerprint: Option<String>,
    /// The terms of the approval request.
    pub terms: ApprovalTerms,
}

/// Why a run ended.
#[derive(Debug)]
pub enum Ending {
    /// The model finished.
    Done,
    /// A call waits for the user, or for the user's browser.
    Waiting,
    /// A limit was reached.
    Limit(Limit),
    /// The run was stopped.
    Stopped,
    /// The model failed.
    Failed(ModelError),
    /// The user has asked for a summary, and the model has written none.
    EmptySummary,
    /// The cost is limited, but the price of this model is not known.
    UnknownPrice {
        /// The provider's name for the model.
        model: String,
    },
    /// The model made an invalid call, and the agent is configured to end there:
    /// [`crate::RunSettings::repair_tool_call`].
    InvalidCall {
        /// The tool's name as the model wrote it.
        tool: String,
    },
    /// The event sink was closed.
    SinkClosed,
}

impl Ending {
    /// Returns the ending of a run whose last reply has no calls and ended for this reason. `raw` is
    /// the reason in the provider's words.
    pub(crate) fn of_reply(reason: FinishReason, raw: Option<&str>) -> Self {
        match reason {
            FinishReason::Length => Self::Limit(Limit::OutputTokens),
            FinishReason::ContentFilter => Self::Limit(Limit::ContentFilter),
            FinishReason::Error => {
                let raw: String = raw.unwrap_or("no reason").escape_default().take(MAX_RAW_REASON).collect();
                let cause = format!("the provider ended the reply before its end: {raw}");
                Self::Failed(ModelError::new(ModelErrorKind::BrokenStream, cause))
            }
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause | FinishReason::Other => Self::Done,
        }
    }
}
