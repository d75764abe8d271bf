//! What a run begins with, and how it ends.

use crate::{Grant, Grants, Seen, Spent};
use contract::{ApprovalTerms, FinishReason, Message, ModelError, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a run begins with.
pub struct Turn {
    /// The history, oldest first. It is valid but for the `pending` calls: those stand in its last assistant message, and
    /// the tool message behind that (if there is one) lacks their results, which the run adds in call order.
    pub messages: Vec<Arc<Message>>,
    /// Calls of the last assistant message that the user has decided on since, or that were cut off.
    pub pending: Vec<PendingCall>,
    /// On whose behalf.
    pub user_id: String,
    /// In which conversation.
    pub conversation_id: String,
    /// The standing approvals that hold; none without it.
    pub grants: Option<Arc<dyn Grants>>,
    /// What the conversation has in it already that makes sending dangerous.
    pub seen: Seen,
    /// Messages from this one on belong to the turn itself: a run that goes on with an answer has them, and they are not pruned.
    pub own_from: usize,
    /// What the turn used in the runs before this one, each of which ended [waiting](Ending::Waiting): its limits count on.
    pub earlier: Spent,
    /// Ends the run, within a second.
    pub cancel: CancellationToken,
}

/// A call with the user's decision.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingCall {
    /// The call as it was shown to the user.
    pub call: ToolCall,
    /// What the user decided.
    pub decision: Decision,
    /// Of a [suspended](crate::Event::ToolSuspended) call: what it goes on from.
    pub state: Option<Value>,
    /// The tool as it was when the user was asked, by its fingerprint. If it is another one now, the user is asked again.
    pub asked: Option<String>,
    /// The standing approval that was given with the yes.
    pub grant: Option<Grant>,
    /// It was [cut off](Decision::Again) in an earlier run: if it runs, it is made once more.
    pub cut_off: bool,
}

/// What the user decided about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Run it.
    Approved,
    /// Do not, perhaps with a reason.
    Denied(Option<String>),
    /// Nothing yet: the server died while the call ran. It runs once more if its tool is [idempotent](contract::Marks::idempotent) by now;
    /// otherwise the user is asked, for it may have had its effect.
    Again {
        /// The user had said yes to it the first time.
        approved: bool,
    },
}

/// What the model reads of a call that was cut off and that the user did not want to be made once more.
pub fn skipped(reason: Option<&str>) -> String {
    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!(
        "Interrupted before it finished. It may or may not have had an effect. The user did not want it to be run again{why}"
    )
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// What ended it.
    pub ending: Ending,
    /// Why the last reply ended.
    pub finish_reason: FinishReason,
    /// Tokens of all its requests, those of agents below included.
    pub usage: Usage,
    /// What they cost in US dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// What the turn has used, with the runs before this one.
    pub in_all: Spent,
    /// Its requests, without those of agents below.
    pub steps: u32,
    /// The history with what the run added to it. When it [waits](Ending::Waiting), it is valid but for the calls in `waiting`.
    pub messages: Vec<Arc<Message>>,
    /// Calls that the user must decide on.
    pub waiting: Vec<WaitingCall>,
}

/// A call that waits for the user's decision.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingCall {
    /// The call.
    pub call: ToolCall,
    /// Of a [suspended](crate::Event::ToolSuspended) call: what it goes on from.
    pub state: Option<Value>,
    /// The tool as it is now, by its fingerprint.
    pub asked: Option<String>,
    /// How the user is asked.
    pub terms: ApprovalTerms,
}

/// What ended a run.
#[derive(Debug)]
pub enum Ending {
    /// The model had nothing more to do.
    Done,
    /// A call waits for the user or the user's browser.
    Waiting,
    /// A limit.
    Limit(Limit),
    /// It was told to.
    Stopped,
    /// The model.
    Failed(ModelError),
    /// Its cost is limited, and the price of this model is not known.
    UnknownPrice {
        /// The provider's name for it.
        model: String,
    },
    /// The model made a call that cannot be run, and the agent is set up to stop there: [`crate::Settings::repair_tool_call`].
    InvalidCall {
        /// The tool as the model named it.
        tool: String,
    },
    /// The sink.
    SinkClosed,
}

/// A limit that a run reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`crate::Settings::max_steps`]
    MaxSteps,
    /// [`crate::Settings::stop_on_tool_call`]
    StopOnToolCall,
    /// [`crate::Timeouts::total`]
    Time,
    /// [`crate::Limits::requests`]
    Requests,
    /// [`crate::Limits::total_tokens`]
    TotalTokens,
    /// [`crate::Limits::tool_calls`]
    ToolCalls,
    /// [`crate::Limits::cost_usd`]
    Cost,
    /// The same calls were made too often.
    Loop,
}
