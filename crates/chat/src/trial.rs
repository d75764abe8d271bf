//! A tool that an administrator tries: one call, as if the agent's model had made it, with every gate and a row in the audit log.

use crate::audit::{Auditor, Subject};
use crate::{Caller, Chat, Inner, errors, in_trace, steps};
use agent::{Agent, Decision, Event, EventSink, PendingCall, Replied, SinkClosed, Turn};
use contract::{FinishReason, Model, ModelError, ModelId, Part, PartStream, Request, ToolError, Usage};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{AuditEntry, AuditOutcome, GateDecision};
use tokio_util::sync::CancellationToken;
use wire::{ErrorCode, UserError};

/// Bytes of arguments.
const MAX_ARGUMENTS: usize = 64 * 1024;
/// Why a call was not run that asks first.
const NOT_APPROVED: &str = "Not approved in this trial.";

/// A call to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialRequest {
    /// Whose tool it is.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, as JSON; empty: none.
    pub arguments: String,
    /// What is said where the call asks first.
    pub approved: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// As in the audit log.
    pub outcome: AuditOutcome,
    /// What was decided about the call, in order.
    pub gates: Vec<GateDecision>,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Why there is none, in the words for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long the tool ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
}

impl Chat {
    /// Makes one call of an agent's tool for the caller, with the caller's rights. What asks first runs only with the caller's yes. The
    /// call is entered in the audit log, and goes on when the caller hangs up.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not ask, 413 for the arguments, 422 for a tool that runs in a browser, 503 when the store
    /// fails. A tool that fails is no error here.
    pub async fn try_tool(&self, caller: &Caller, request: TrialRequest) -> Result<Trial, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(in_trace(async move { inner.try_tool(&caller, request).await }));
        task.await.unwrap_or_else(|_| Err(errors::internal()))
    }
}

impl Inner {
    async fn try_tool(&self, caller: &Caller, request: TrialRequest) -> Result<Trial, UserError> {
        if request.arguments.len() > MAX_ARGUMENTS {
            return Err(UserError::new(ErrorCode::TooLarge, "The arguments are longer than 64 KB."));
        }
        let run_id = uuid::Uuid::now_v7().to_string();
        let agent = Agent::clone(&*self.agents.by_id(caller, &request.agent_id)?);
        let agent = driven(agent, &run_id, &request);
        let subject = Subject {
            user_id: caller.user_id.clone(),
            agent_id: request.agent_id,
            conversation_id: String::new(),
            message_id: String::new(),
            run_id,
        };
        let cancel = self.stopping.child_token();
        let facts = (subject.user_id.clone(), subject.run_id.clone());
        let auditor = Auditor::new(subject);
        let mut seen = Seen { auditor, row: None, result: None, replies: Vec::new(), cancel: cancel.clone() };
        let turn = |messages, pending| Turn {
            messages,
            pending,
            user_id: caller.user_id.clone(),
            conversation_id: String::new(),
            grants: None,
            seen: agent::Seen::default(),
            own_from: 0,
            earlier: agent::Spent::default(),
            cancel: cancel.clone(),
        };
        let mut outcome = agent::run(&agent, turn(Vec::new(), Vec::new()), &mut seen).await;
        if let Some(waiting) = outcome.waiting.pop() {
            let decision = match request.approved {
                true => Decision::Approved,
                false => Decision::Denied(Some(NOT_APPROVED.to_owned())),
            };
            let agent::WaitingCall { call, state, asked, .. } = waiting;
            let pending = vec![PendingCall { call, decision, state, asked, grant: None, cut_off: false }];
            agent::run(&agent, turn(outcome.messages, pending), &mut seen).await;
        }
        for (agent_id, replied) in seen.replies.drain(..) {
            self.enter_outside(steps::outside(&facts.0, &facts.1, &agent_id, replied)).await;
        }
        let Some(row) = seen.row else {
            let text = "This tool runs in a user's browser, or is another agent. It cannot be tried here.";
            return Err(UserError::invalid("/tool", text));
        };
        self.store.enter_audit(row.clone()).await.map_err(errors::of_store)?;
        let (output, error) = match seen.result {
            Some(Ok(output)) => (Some(output), None),
            Some(Err(error)) => (None, Some(error.message)),
            None => (None, Some(NOT_APPROVED.to_owned())),
        };
        Ok(Trial { outcome: row.outcome, gates: row.gates, output, error, duration_ms: row.duration_ms })
    }
}

/// The agent with the administrator in the place of its model.
fn driven(mut agent: Agent, id: &str, request: &TrialRequest) -> Agent {
    let call = Part::ToolCall {
        id: id.to_owned(),
        name: request.tool.clone(),
        input: request.arguments.clone(),
        provider_executed: false,
        metadata: None,
    };
    agent.model = Arc::new(Hand::new(call));
    agent.fallbacks.clear();
    // These ask models of their own.
    agent.agents.clear();
    agent.settings.max_steps = 1;
    // The administrator costs nothing; what the tool asks of models is theirs to answer for.
    agent.settings.limits.cost_usd = None;
    agent
}

/// A model that makes one call and then has nothing more to say.
struct Hand {
    id: ModelId,
    call: Part,
    has_called: AtomicBool,
}

impl Hand {
    fn new(call: Part) -> Self {
        let id = ModelId { provider: "administrator".to_owned(), model: "trial".to_owned() };
        Self { id, call, has_called: AtomicBool::new(false) }
    }
}

impl Model for Hand {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, _: Request, _: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let is_first = !self.has_called.swap(true, Ordering::Relaxed);
        let reason = if is_first { FinishReason::ToolCalls } else { FinishReason::Stop };
        let finish = Part::Finish { reason, raw_reason: None, usage: Usage::default(), metadata: None };
        let parts = is_first.then(|| self.call.clone()).into_iter().chain([finish]).map(Ok);
        async move { Ok(futures::stream::iter(parts.collect::<Vec<_>>()).boxed()) }.boxed()
    }
}

/// What a trial tells.
struct Seen {
    auditor: Auditor,
    row: Option<AuditEntry>,
    result: Option<Result<Value, ToolError>>,
    /// What requests of the tool took, with the agent's id.
    replies: Vec<(String, Replied)>,
    cancel: CancellationToken,
}

impl EventSink for Seen {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if let Event::Nested { agent_id, event, .. } = event {
            if let Event::Replied(replied) = *event {
                self.replies.push((agent_id, replied));
            }
            return Ok(());
        }
        let row = self.auditor.see(&event, None, &self.cancel);
        // Of a call that cannot be run, its end is told after its row.
        self.row = self.row.take().or(row);
        if let Event::ToolFinished { result, .. } = event {
            self.result = Some(result);
        }
        Ok(())
    }
}
