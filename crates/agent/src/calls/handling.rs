//! Handles the tool calls of a reply: decides which of them run, and asks the user about others.
//! `decisions` continues with what the user answers.

use crate::approval::{exposure, grants, policy};
use crate::calls::execution::{self, CallOrder, RunnableCall};
use crate::calls::outcome::{CallOutcome, tool_result};
use crate::calls::validation::{CallTarget, CheckedCall, InvalidCall};
use crate::limits::loop_detection::{self, LoopVerdict};
use crate::model::reply::{ModelReply, RunFailure};
use crate::run::Run;
use crate::{Checkpoint, Event, EventSink, Grant, PolicyQuery, RepeatTerms, Ruling, WaitingCall};
use contract::{AssistantPart, Execution, FinishReason, Message, ToolCall, ToolError, ToolSpec};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The result of the other calls of a reply when one of its calls is invalid and thereby ends the
/// turn.
const NOT_RUN: &str = "Not run: another call of this reply cannot be run, which ends the turn.";

/// The result of a call that needs an approval in a run in which nobody can give it.
const NOBODY_TO_ASK: &str = "Not run: it needs the user's approval, and nobody can be asked here.";

/// Returns the result of a task that is refused, because the others of the reply take all places.
fn too_many_agents(most: usize) -> String {
    format!(
        "Not run: at most {most} tasks are worked on at the same time, and this reply has more. Read the results of the \
         others first, then call it again, or do the task yourself."
    )
}

/// The outcome of a reply's calls.
pub(crate) struct CallsOutcome {
    /// Whether there were calls.
    pub(crate) has_calls: bool,
    /// Whether each call has its result.
    pub(crate) all_have_results: bool,
    /// The names of the tools that ran or that wait for the user, that is, of the calls that were
    /// neither invalid nor refused.
    pub(crate) accepted: Vec<String>,
}

/// The results by call id.
type Results = HashMap<String, Result<Value, ToolError>>;

impl Run<'_> {
    /// Runs those calls of a reply that can run, and appends the reply and the results to the
    /// history.
    pub(crate) async fn handle_reply<S: EventSink>(
        &mut self,
        reply: ModelReply,
        verdict: LoopVerdict,
        sink: &mut S,
    ) -> Result<CallsOutcome, RunFailure> {
        let ModelReply { said: parts, calls, has_sources, reason, usage, .. } = reply;
        // The calls of a reply that was truncated or refused may be incomplete, so none of them
        // runs.
        let run = matches!(reason, FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause);
        let order: Vec<_> = calls.iter().map(|checked| checked.call.clone()).collect();
        // The provider has run these calls already, without approval.
        let by_provider =
            |part: &&AssistantPart| matches!(part, AssistantPart::ToolCall(call) if call.provider_executed);
        self.caller.meter.count_tool_calls(parts.iter().filter(by_provider).count());
        // The calls of this reply may already follow what the provider's tools returned.
        self.expose_reply(&parts, has_sources, sink).await?;
        if run && !order.is_empty() && sink.wants_checkpoints() {
            let state = Checkpoint::new(&self.messages, &parts, &order, self.turn_usage(), &self.caller.exposure);
            sink.checkpoint(state).await?;
        }
        let (results, accepted) = self.run_calls(calls, run, verdict, sink).await?;
        self.append(parts, &order, &results);
        let cost_usd = self.cost(usage);
        sink.emit(Event::StepFinish { number: self.steps, finish_reason: reason, usage, cost_usd }).await?;
        if !run {
            return Ok(CallsOutcome { has_calls: false, all_have_results: true, accepted });
        }
        let settled = order.iter().all(|call| results.contains_key(&call.id));
        Ok(CallsOutcome { has_calls: !order.is_empty(), all_have_results: settled, accepted })
    }

    /// Runs the calls that can run. Returns the results, and the names of the tools that ran or
    /// wait for the user.
    pub(crate) async fn run_calls<S: EventSink>(
        &mut self,
        calls: Vec<CheckedCall>,
        run: bool,
        verdict: LoopVerdict,
        sink: &mut S,
    ) -> Result<(Results, Vec<String>), RunFailure> {
        let rulings = if run { self.rulings(&calls).await } else { HashMap::new() };
        let most_agents = self.agent.settings.max_parallel_agents;
        let ends = !self.agent.settings.repair_tool_call && calls.iter().any(|checked| checked.tool.is_err());
        let (mut ready, mut results, mut accepted) = (Vec::new(), HashMap::new(), Vec::new());
        let mut delegated = 0;
        for CheckedCall { call, tool } in calls {
            let ruling = rulings.get(&call.id).unwrap_or(&Ruling::Allow);
            if *ruling != Ruling::Allow {
                sink.emit(Event::CallRuled { call_id: call.id.clone(), ruling: ruling.clone() }).await?;
            }
            if let (true, Ok(_), Ruling::Deny(reason)) = (run, &tool, ruling) {
                results.insert(call.id.clone(), emit_failure(&call, policy::denied(reason), false, sink).await?);
                continue;
            }
            let refusal =
                if ends { Some(NOT_RUN.to_owned()) } else { self.refusal(verdict, ready.len() + self.waiting.len()) };
            self.is_over_calls |= run && tool.is_ok() && refusal.is_some() && verdict != LoopVerdict::Stop && !ends;
            match (tool, refusal) {
                (Err(InvalidCall { error, dynamic, .. }), _) => {
                    results.insert(call.id.clone(), emit_failure(&call, error, dynamic, sink).await?);
                }
                (Ok(_), _) if !run => {}
                (Ok(_), Some(refusal)) => {
                    results.insert(call.id.clone(), emit_failure(&call, refusal, false, sink).await?);
                }
                (Ok(CallTarget::Agent(below)), None) if below.is_copy && delegated >= most_agents => {
                    let refusal = too_many_agents(most_agents);
                    results.insert(call.id.clone(), emit_failure(&call, refusal, false, sink).await?);
                }
                // A tool of this kind is under the user's control in the browser, so it needs no
                // approval.
                (Ok(tool), None) if tool.spec().execution == Execution::Client => accepted.push(call.name),
                (Ok(tool), None) if self.is_without_approval(tool.spec(), ruling).await => {
                    results.insert(call.id.clone(), emit_unapproved(&call, sink).await?);
                }
                (Ok(tool), None) => {
                    accepted.push(call.name.clone());
                    delegated += usize::from(matches!(tool, CallTarget::Agent(_)));
                    if self.may_run(&call, tool.spec(), ruling, false, sink).await? {
                        if tool.spec().execution.is_client() {
                            self.hand_over(&call, tool.spec(), sink).await?
                        } else {
                            ready.push(RunnableCall { call, runner: tool, resumed: None })
                        }
                    }
                }
            }
        }
        self.caller.meter.count_tool_calls(ready.len());
        results.extend(self.run_ready(ready, sink).await?);
        Ok((results, accepted))
    }

    /// Returns whether a call may run at once. Otherwise it waits for the user's approval. The
    /// approval is needed if the tool's settings or a policy require it. It is also needed if the tool
    /// can send data to others after the agent has read both private data and untrusted text.
    pub(super) async fn may_run<S: EventSink>(
        &mut self,
        call: &ToolCall,
        tool: &ToolSpec,
        ruling: &Ruling,
        cut_off: bool,
        sink: &mut S,
    ) -> Result<bool, RunFailure> {
        let exposed = self.caller.exposure.reason_to_ask(tool);
        if !tool.needs_approval && *ruling != Ruling::Ask && exposed.is_none() {
            return Ok(true);
        }
        let grant = self.caller.find_grant(&self.agent.id, tool, ruling, exposed.as_ref()).await;
        let is_granted = grant.is_some();
        if is_granted {
            emit_grant(call, grant, sink).await?
        } else {
            self.request_approval(call.clone(), tool, ruling, cut_off, sink).await?
        }
        Ok(is_granted)
    }

    /// Returns whether a call needs an approval that nobody can give in this run.
    async fn is_without_approval(&self, tool: &ToolSpec, ruling: &Ruling) -> bool {
        let exposed = self.caller.exposure.reason_to_ask(tool);
        let is_needed = tool.needs_approval || *ruling == Ruling::Ask || exposed.is_some();
        is_needed
            && !self.caller.can_ask()
            && self.caller.find_grant(&self.agent.id, tool, ruling, exposed.as_ref()).await.is_none()
    }

    /// Requests the user's approval of a call, for the tool as it is now. `cut_off` asks whether an
    /// interrupted call should run again.
    pub(super) async fn request_approval<S: EventSink>(
        &mut self,
        call: ToolCall,
        tool: &ToolSpec,
        ruling: &Ruling,
        cut_off: bool,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        let exposed = self.caller.exposure.reason_to_ask(tool);
        let fingerprint = Some(exposure::fingerprint(tool, exposed.is_some()));
        let terms = grants::approval_terms(tool, ruling, exposed);
        let terms = if cut_off { grants::repeat_approval_terms(terms) } else { terms };
        let call_id = call.id.clone();
        sink.emit(Event::ApprovalRequest { call_id, asked: fingerprint.clone(), terms: terms.clone() }).await?;
        self.waiting.push(WaitingCall { call, state: None, tool_fingerprint: fingerprint, terms });
        Ok(())
    }

    /// Returns the ruling on each valid call.
    async fn rulings(&self, calls: &[CheckedCall]) -> HashMap<String, Ruling> {
        let valid = calls.iter().filter_map(|CheckedCall { call, tool }| Some((call, tool.as_ref().ok()?)));
        let rulings = valid.map(async |(call, tool)| (call.id.clone(), self.ruling(call, tool).await));
        futures::future::join_all(rulings).await.into_iter().collect()
    }

    /// Returns the strictest ruling of the tool itself, of the agent's own policy and of those of
    /// all calling agents, which could otherwise be evaded by delegating a task. If the run is
    /// stopped meanwhile, the call is denied.
    pub(super) async fn ruling(&self, call: &ToolCall, tool: &CallTarget) -> Ruling {
        let query = PolicyQuery {
            call,
            tool: tool.spec(),
            scope: &self.caller.scope,
            agent_id: &self.agent.id,
            user_id: &self.caller.scope.user_id,
            conversation_id: &self.caller.scope.conversation_id,
            is_sub_agent: self.caller.is_sub_agent,
            history: &self.messages,
        };
        let rulings = self.caller.policies.iter().map(|policy| policy.decide(query.clone()));
        let rulings = futures::future::join(tool.ruling(call, &self.caller.scope), futures::future::join_all(rulings));
        match self.caller.cancel.run_until_cancelled(rulings).await {
            Some((own, rulings)) => rulings.into_iter().fold(own, Ruling::stricter),
            // Nothing starts in a run that was stopped.
            None if self.caller.policies.is_empty() => Ruling::Allow,
            None => Ruling::Deny("the answer was stopped.".to_owned()),
        }
    }

    /// Runs calls, and queues those that got suspended for the user's decision.
    pub(super) async fn run_ready<S: EventSink>(
        &mut self,
        ready: Vec<RunnableCall>,
        sink: &mut S,
    ) -> Result<Results, RunFailure> {
        let calls: Vec<_> = ready.iter().map(|ready| ready.call.clone()).collect();
        let waits_below = ready.iter().any(|ready| matches!(ready.runner, CallTarget::Agent(_)));
        let settings = &self.agent.settings;
        let order =
            CallOrder { at_once: settings.tools_at_once(), ends_at_failure: settings.tool_strategy.is_sequential() };
        let running = execution::run_all(ready, &self.caller, order, sink);
        let mut outcomes = if waits_below {
            self.caller.permit.release_during(&self.caller.cancel, running).await?
        } else {
            running.await?
        };
        let mut results = HashMap::new();
        for call in calls {
            match outcomes.remove(&call.id) {
                Some(CallOutcome::Result(result)) => drop(results.insert(call.id, result)),
                Some(CallOutcome::Suspended { state, terms, .. }) => {
                    self.waiting.push(WaitingCall { call, state: Some(state), tool_fingerprint: None, terms })
                }
                None => {}
            }
        }
        Ok(results)
    }

    /// Returns why a valid call is not run: a loop, or a limit. `ready` calls of this step run
    /// before it.
    fn refusal(&self, verdict: LoopVerdict, ready: usize) -> Option<String> {
        if verdict == LoopVerdict::Stop {
            return Some(loop_detection::STOPPED.to_owned());
        }
        let (remaining, limit) = self.caller.meter.remaining_calls()?;
        (ready >= remaining as usize)
            .then(|| format!("Not run: the limit of {limit} tool calls in one turn is reached."))
    }

    /// Appends the reply and the results of its calls to the history.
    fn append(&mut self, parts: Vec<AssistantPart>, order: &[ToolCall], results: &Results) {
        let parts: Vec<_> = parts.into_iter().filter(|part| !is_empty(part)).collect();
        if !parts.is_empty() {
            self.messages.push(Arc::new(Message::Assistant(parts)));
        }
        let results: Vec<_> = order.iter().filter_map(|call| Some(tool_result(call, results.get(&call.id)?))).collect();
        if !results.is_empty() {
            self.messages.push(Arc::new(Message::Tool(results)));
        }
    }

    /// Hands the call over to the user's browser. For a tool of the page, the terms under which the
    /// call may be repeated are recorded first, in case the server dies before the page reports its
    /// outcome.
    pub(super) async fn hand_over<S: EventSink>(
        &mut self,
        call: &ToolCall,
        tool: &ToolSpec,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        self.expose(tool, sink).await?;
        if tool.execution == Execution::Page {
            let (call_id, name) = (call.id.clone(), call.name.clone());
            sink.emit(Event::PageCallReady { call_id, name, repeat: RepeatTerms::for_tool(tool) }).await?;
        }
        Ok(())
    }
}

pub(super) async fn emit_grant<S: EventSink>(
    call: &ToolCall,
    grant: Option<Grant>,
    sink: &mut S,
) -> Result<(), RunFailure> {
    let Some(grant) = grant else { return Ok(()) };
    let (call_id, tool) = (call.id.clone(), call.name.clone());
    Ok(sink.emit(Event::CallGranted { call_id, tool, grant }).await?)
}

/// Gives a call that is not run its result: the reason.
pub(super) async fn emit_failure<S: EventSink>(
    call: &ToolCall,
    error: String,
    dynamic: bool,
    sink: &mut S,
) -> Result<Result<Value, ToolError>, RunFailure> {
    let result = Err(ToolError::new(error));
    let (call_id, name) = (call.id.clone(), call.name.clone());
    sink.emit(Event::ToolFinished { call_id, name, result: result.clone(), dynamic, stopped: false }).await?;
    Ok(result)
}

/// Gives a call that nobody can approve its result.
async fn emit_unapproved<S: EventSink>(call: &ToolCall, sink: &mut S) -> Result<Result<Value, ToolError>, RunFailure> {
    let reason = Some(NOBODY_TO_ASK.to_owned());
    sink.emit(Event::ToolDenied { call_id: call.id.clone(), reason }).await?;
    Ok(Err(ToolError::new(NOBODY_TO_ASK)))
}

fn is_empty(part: &AssistantPart) -> bool {
    matches!(part, AssistantPart::Text { text, metadata: None } if text.is_empty())
}
