//! Invocations: a program sends one prompt to an agent and gets one answer, which is stored and
//! listed, outside of conversations.

use crate::errors::Result;
use crate::outside::call_record::RunState;
use crate::outside::execute::Execution;
use crate::outside::invoke_request;
use crate::outside::suspended::{SuspendableInvocation, suspended};
use crate::record::telemetry::in_trace;
use crate::{Caller, Chat, Inner, errors};
use agent::{Checkpoint, InvocationInput, InvokeError};
use tokio_util::sync::CancellationToken;
use wire::UserError;
use wire::invoke::{Invocation, InvocationList, InvocationStatus, InvokeRequest};

/// An invocation that has ended, with what it has used.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedInvocation {
    /// The invocation.
    pub invocation: Invocation,
    /// Its usage.
    pub usage: InvocationUsage,
}

/// The usage of an invocation. Sub-agents and routines count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvocationUsage {
    /// The requests to models that were answered.
    pub requests: u32,
    /// The tokens of all requests.
    pub total_tokens: u64,
    /// The tool calls that were started.
    pub tool_calls: u32,
    /// The cost in US dollars, of models whose price is known.
    pub cost_usd: f64,
    /// The requests to models whose price is not known.
    pub unpriced: u32,
}

/// An invocation with its context.
pub(super) struct Invoked {
    pub(super) request: InvokeRequest,
    /// See [`Execution::key`].
    pub(super) key: Option<String>,
    /// Whether calls may wait for a decision.
    pub(super) asks: bool,
    /// From where it goes on.
    pub(super) from: Option<Checkpoint>,
    /// See [`Execution::causes`].
    pub(super) causes: Vec<String>,
}

impl Chat {
    /// Invokes an agent once, without tools unless the request names some, and stores the answer. A
    /// caller who disconnects finds it in the list.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 and 422 for an invalid request, 503 when
    /// full, short of memory or draining. A failure of the model is reported in the invocation.
    pub async fn invoke(&self, caller: &Caller, request: InvokeRequest) -> Result<Invocation, UserError> {
        Ok(self.invoke_counted(caller, request, None, CancellationToken::new()).await?.invocation)
    }

    /// As [`Chat::invoke`], until `cancel` is cancelled, with what the invocation has used. If the invocation may be
    /// repeated, `key` must be the same each time: then equal tool calls have the same idempotency keys.
    ///
    /// # Errors
    /// As [`Chat::invoke`].
    pub async fn invoke_counted(
        &self,
        caller: &Caller,
        request: InvokeRequest,
        key: Option<String>,
        cancel: CancellationToken,
    ) -> Result<CountedInvocation, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let invoked = Invoked { request, key, asks: false, from: None, causes: Vec::new() };
        let task = self.inner.tasks.spawn(in_trace(async move { inner.invoke(&caller, invoked, &cancel).await }));
        Ok(task.await.map_err(|_| errors::internal())??.counted)
    }

    /// Returns the caller's invocations, newest first, at most `limit` (1 to 100).
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn invocations(&self, caller: &Caller, limit: u32) -> Result<InvocationList, UserError> {
        Ok(self.inner.invocations(caller, limit).await?)
    }

    /// Returns one invocation.
    ///
    /// # Errors
    /// 404 for one that the caller does not own.
    pub async fn invocation(&self, caller: &Caller, id: &str) -> Result<Invocation, UserError> {
        Ok(self.inner.invocation(caller, id).await?)
    }
}

impl Inner {
    /// See [`Chat::invocations`].
    async fn invocations(&self, caller: &Caller, limit: u32) -> Result<InvocationList> {
        Ok(InvocationList { items: self.store.invocations(&caller.user_id, limit.max(1)).await? })
    }

    /// See [`Chat::invocation`].
    async fn invocation(&self, caller: &Caller, id: &str) -> Result<Invocation> {
        Ok(self.store.invocation(&caller.user_id, id).await?.ok_or_else(UserError::not_found)?)
    }

    /// See [`Chat::invoke`] and [`Chat::invoke_suspendable`].
    pub(super) async fn invoke(
        &self,
        caller: &Caller,
        invoked: Invoked,
        outside: &CancellationToken,
    ) -> Result<SuspendableInvocation> {
        let Invoked { request, key, asks, from, causes } = invoked;
        invoke_request::check(&request)?;
        let agent = self.agents.by_id(caller, &request.agent_name).await?;
        invoke_request::check_tools(&request, &agent)?;
        if !asks {
            // A step of a workflow, which asks, needs no check: its approved tools were checked with the definition.
            invoke_request::check_approved_tools(&agent.settings.approvers, caller, &request)?;
        }
        let pass = self.check_quotas(caller, from.is_none(), agent.unpriced_model()).await?;
        self.memory.admit(self.is_answering())?;
        let (id, cancel) = (uuid::Uuid::now_v7().simple().to_string(), self.stopping.child_token());
        let place = self.invocations.acquire(&id, cancel.clone()).ok_or_else(invoke_request::capacity_error)?;
        // Checked before anything is stored: an unusable schema is a bad request.
        let form = match request.response_schema.clone() {
            Some(schema) => Some(invoke_request::form(schema).await?),
            None => None,
        };
        let created_at = self.clock.now();
        self.store.begin_invocation(&caller.user_id, &id, &request.agent_name, created_at).await?;
        // The invocation is stored, so it is counted.
        drop(pass);
        let tiers = self.agents.invocation_tiers();
        let (agent_name, approvers) = (request.agent_name.clone(), agent.settings.approvers.clone());
        let execution = Execution {
            id: id.clone(),
            caller: caller.clone(),
            time: invoke_request::time_limit(request.agent_tier, &tiers),
            max_bytes: invoke_request::byte_limit(request.agent_tier, &tiers),
            input: InvocationInput::prompt(request.input.prompt.clone()),
            program_tools: Vec::new(),
            request,
            agent,
            form,
            replaces_limits: false,
            from: from.clone(),
            key,
            causes,
            state: asks.then(|| RunState::kept(from)),
            stream: None,
            cancel: cancel.clone(),
        };
        let mut executed = self.execute(execution, outside).await;
        let mut end = executed.end(place.is_ended());
        let suspended = match end.status {
            InvocationStatus::Waiting => suspended(&mut executed, approvers).ok(),
            _ => None,
        };
        if end.status == InvocationStatus::Waiting && suspended.is_none() {
            // Without its state it could never go on. The cause is logged.
            executed.result = Err(InvokeError::NotRecorded);
            end = executed.end(place.is_ended());
        }
        executed.report(&id, &agent_name, &end);
        let mut finish = executed.finish(&id, &end);
        if suspended.is_some() {
            // This part has ended without an error; the next one is an invocation of its own.
            finish.status = InvocationStatus::Succeeded;
        }
        self.store.finish_invocation(finish).await?;
        if let Some((hooks, end)) = executed.hooks.take().filter(|_| suspended.is_none()) {
            // There is no message that the hooks could add parts to.
            hooks.finish(end, cancel).await;
        }
        let invocation = end.invocation(id, agent_name, created_at);
        Ok(SuspendableInvocation { counted: CountedInvocation { invocation, usage: executed.counted }, suspended })
    }
}
