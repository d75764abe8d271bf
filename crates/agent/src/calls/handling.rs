//! Handles the tool calls of a run: those of a reply, and those that the user has decided on since.

use crate::approval::exposure;
use crate::approval::grants;
use crate::approval::policy;
use crate::calls::execution::{self, CallOutcome, RunnableCall};
use crate::calls::validation::{CallTarget, CheckedCall, InvalidCall};
use crate::limits::loop_detection::{self, LoopVerdict};
use crate::model::reply::{ModelReply, RunFailure};
use crate::model::retry;
use crate::run::Run;
use crate::sub_agent::Resumption;
use crate::{
    Decision, Event, EventSink, Grant, PendingCall, PolicyQuery, RepeatTerms, Ruling, WaitingCall, skipped_call_text,
};
use contract::{
    AssistantPart, Execution, FinishReason, Message, ToolCall, ToolError, ToolOutput, ToolResult, ToolSpec,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The result of the other calls of a reply when one of its calls is invalid and thereby ends the
/// turn.
const NOT_RUN: &str = "Not run: another call of this reply cannot be run, which ends the turn.";

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
        let ModelReply { said, calls, has_sources, reason, usage } = reply;
        // The calls of a reply that was truncated or refused may be incomplete, so none of them
        // runs.
        let run = matches!(reason, FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause);
        let order: Vec<_> = calls.iter().map(|checked| checked.call.clone()).collect();
        // The provider has run these calls already, without approval.
        let by_provider =
            |part: &&AssistantPart| matches!(part, AssistantPart::ToolCall(call) if call.provider_executed);
        self.caller.meter.count_tool_calls(said.iter().filter(by_provider).count());
        // The calls of this reply may already follow what the provider's tools returned.
        self.expose_reply(&said, has_sources, sink).await?;
        let (results, accepted) = self.run_calls(calls, run, verdict, sink).await?;
        self.append(said, &order, &results);
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
    async fn run_calls<S: EventSink>(
        &mut self,
        calls: Vec<CheckedCall>,
        run: bool,
        verdict: LoopVerdict,
        sink: &mut S,
    ) -> Result<(Results, Vec<String>), RunFailure> {
        let rulings = if run { self.rulings(&calls).await } else { HashMap::new() };
        let ends = !self.agent.settings.repair_tool_call && calls.iter().any(|checked| checked.tool.is_err());
        let (mut ready, mut results, mut accepted) = (Vec::new(), HashMap::new(), Vec::new());
        for CheckedCall { call, tool } in calls {
            let ruling = rulings.get(&call.id).unwrap_or(&Ruling::Allow);
            if *ruling != Ruling::Allow {
                sink.emit(Event::CallRuled { call_id: call.id.clone(), ruling: ruling.clone() }).await?;
            }
            if let (true, Ok(_), Ruling::Deny(reason)) = (run, &tool, ruling) {
                results.insert(call.id.clone(), emit_failure(&call, policy::denied(reason), false, sink).await?);
                continue;
            }
            let refusal = match ends {
                true => Some(NOT_RUN.to_owned()),
                false => self.refusal(verdict, ready.len() + self.waiting.len()),
            };
            self.is_over_calls |= run && tool.is_ok() && refusal.is_some() && verdict != LoopVerdict::Stop && !ends;
            match (tool, refusal) {
                (Err(InvalidCall { error, dynamic, .. }), _) => {
                    results.insert(call.id.clone(), emit_failure(&call, error, dynamic, sink).await?);
                }
                (Ok(_), _) if !run => {}
                (Ok(_), Some(refusal)) => {
                    results.insert(call.id.clone(), emit_failure(&call, refusal, false, sink).await?);
                }
                // A tool of this kind is under the user's control in the browser, so it needs no
                // approval.
                (Ok(tool), None) if tool.spec().execution == Execution::Client => accepted.push(call.name),
                (Ok(tool), None) => {
                    accepted.push(call.name.clone());
                    if self.may_run(&call, tool.spec(), ruling, false, sink).await? {
                        match tool.spec().execution.is_client() {
                            true => self.hand_over(&call, tool.spec(), sink).await?,
                            false => ready.push(RunnableCall { call, runner: tool, resumed: None }),
                        }
                    }
                }
            }
        }
        self.caller.meter.count_tool_calls(ready.len());
        results.extend(self.run_ready(ready, sink).await?);
        Ok((results, accepted))
    }

    /// Returns whether a call may run at once. Otherwise it waits for the user's approval, which is
    /// needed if the tool's settings or a policy require it, or if the tool can send data to others
    /// after the agent has read both private data and untrusted text.
    async fn may_run<S: EventSink>(
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
        match is_granted {
            true => emit_grant(call, grant, sink).await?,
            false => self.request_approval(call.clone(), tool, ruling, cut_off, sink).await?,
        }
        Ok(is_granted)
    }

    /// Requests the user's approval of a call, for the tool as it is now. `cut_off` asks whether an
    /// interrupted call should run again.
    async fn request_approval<S: EventSink>(
        &mut self,
        call: ToolCall,
        tool: &ToolSpec,
        ruling: &Ruling,
        cut_off: bool,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        let exposed = self.caller.exposure.reason_to_ask(tool);
        let asked = Some(exposure::fingerprint(tool, exposed.is_some()));
        let terms = grants::approval_terms(tool, ruling, exposed);
        let terms = if cut_off { grants::repeat_approval_terms(terms) } else { terms };
        let (call_id, told) = (call.id.clone(), terms.clone());
        sink.emit(Event::ApprovalRequest { call_id, asked: asked.clone(), terms: told }).await?;
        self.waiting.push(WaitingCall { call, state: None, tool_fingerprint: asked, terms });
        Ok(())
    }

    /// Returns the policies' ruling on each valid call.
    async fn rulings(&self, calls: &[CheckedCall]) -> HashMap<String, Ruling> {
        if self.caller.policies.is_empty() {
            return HashMap::new();
        }
        let fitting = calls.iter().filter(|checked| checked.tool.is_ok());
        let asked = fitting.map(async |CheckedCall { call, .. }| (call.id.clone(), self.ruling(call).await));
        futures::future::join_all(asked).await.into_iter().collect()
    }

    /// Returns the strictest ruling of the agent's own policy and of those of all calling agents,
    /// which could otherwise be evaded by delegating a task. If the run is stopped meanwhile, the
    /// call is denied.
    async fn ruling(&self, call: &ToolCall) -> Ruling {
        let asked = PolicyQuery {
            call,
            agent_id: &self.agent.id,
            user_id: &self.caller.scope.user_id,
            conversation_id: &self.caller.scope.conversation_id,
            is_sub_agent: self.caller.is_sub_agent,
        };
        let asked = self.caller.policies.iter().map(|policy| policy.decide(asked.clone()));
        match self.caller.cancel.run_until_cancelled(futures::future::join_all(asked)).await {
            Some(rulings) => rulings.into_iter().fold(Ruling::Allow, Ruling::stricter),
            None => Ruling::Deny("the answer was stopped.".to_owned()),
        }
    }

    /// Runs calls, and queues those that got suspended for the user's decision.
    async fn run_ready<S: EventSink>(&mut self, ready: Vec<RunnableCall>, sink: &mut S) -> Result<Results, RunFailure> {
        let calls: Vec<_> = ready.iter().map(|ready| ready.call.clone()).collect();
        let waits_below = ready.iter().any(|ready| matches!(ready.runner, CallTarget::Agent(_)));
        let running = execution::run_all(ready, &self.caller, self.agent.settings.max_parallel_tools, sink);
        let mut came = match waits_below {
            true => self.caller.permit.release_during(&self.caller.cancel, running).await?,
            false => running.await?,
        };
        let mut results = HashMap::new();
        for call in calls {
            match came.remove(&call.id) {
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
        let (left, most) = self.caller.meter.remaining_calls()?;
        (ready >= left as usize).then(|| format!("Not run: the limit of {most} tool calls in one turn is reached."))
    }

    fn append(&mut self, said: Vec<AssistantPart>, order: &[ToolCall], results: &Results) {
        let said: Vec<_> = said.into_iter().filter(|part| !is_empty(part)).collect();
        if !said.is_empty() {
            self.messages.push(Arc::new(Message::Assistant(said)));
        }
        let results: Vec<_> = order.iter().filter_map(|call| Some(tool_result(call, results.get(&call.id)?))).collect();
        if !results.is_empty() {
            self.messages.push(Arc::new(Message::Tool(results)));
        }
    }

    /// Applies the user's decisions before the model is asked: approved calls run, denied ones get
    /// their result. Returns whether all of them have their results now; a resumed call may request
    /// a further approval, and calls of the browser are handed over to it.
    pub(crate) async fn apply_decisions<S: EventSink>(&mut self, sink: &mut S) -> Result<bool, RunFailure> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(true);
        }
        let (mut ready, mut outputs, mut is_handed_over) = (Vec::new(), HashMap::new(), false);
        for PendingCall { call, decision, state, tool_fingerprint: asked, grant, cut_off } in pending {
            let exposed =
                asked.as_deref().filter(|asked| exposure::is_exposed(asked)).map(|_| self.caller.exposure.snapshot());
            sink.emit(Event::CallDecided { call: call.clone(), decision: decision.clone(), exposed, cut_off }).await?;
            let resumed = match state {
                // For a suspended call, a denial is an input like an approval.
                Some(state) => Some(Resumption { state, decision: decision.clone(), grant }),
                None => {
                    emit_grant(&call, grant, sink).await?;
                    None
                }
            };
            match decision.clone() {
                Decision::Denied(reason) if resumed.is_none() => {
                    // The model should react to a denial, even where the call would have ended the
                    // turn.
                    self.is_last = false;
                    sink.emit(Event::ToolDenied { call_id: call.id.clone(), reason: reason.clone() }).await?;
                    let output = match cut_off {
                        // The call may have had its effect, unlike one that is denied before it
                        // runs.
                        true => ToolOutput::ErrorText(skipped_call_text(reason.as_deref())),
                        false => ToolOutput::Denied(reason),
                    };
                    outputs.insert(call.id, (call.name, output));
                }
                // The tools may have changed since the user was asked, so the arguments are checked
                // again.
                _ => match self.resolve_decided(&call).await? {
                    Ok(runner) if asked.is_some_and(|asked| !exposure::matches_tool(&asked, runner.spec())) => {
                        let ruling = self.ruling(&call).await;
                        self.request_approval(call, runner.spec(), &ruling, cut_off, sink).await?;
                    }
                    // The policy may have changed, too, and the user may have edited the arguments.
                    // A ruling of `Ask` is satisfied by the user's approval.
                    Ok(runner) => match self.ruling(&call).await {
                        Ruling::Deny(reason) if resumed.is_none() => {
                            let ruling = Ruling::Deny(reason.clone());
                            sink.emit(Event::CallRuled { call_id: call.id.clone(), ruling }).await?;
                            let result = emit_failure(&call, policy::denied(&reason), false, sink).await?;
                            outputs.insert(call.id, (call.name, output(&result)));
                        }
                        ruling if !self.may_resume(&call, runner.spec(), &decision, &ruling, sink).await? => {}
                        _ if runner.spec().execution.is_client() => {
                            is_handed_over = true;
                            self.hand_over(&call, runner.spec(), sink).await?;
                            sink.emit(Event::CallHandedOver { call }).await?;
                        }
                        _ => ready.push(RunnableCall { call, runner, resumed }),
                    },
                    Err(unusable) => {
                        let result = emit_failure(&call, unusable.error, unusable.dynamic, sink).await?;
                        outputs.insert(call.id, (call.name, output(&result)));
                    }
                },
            }
        }
        let names: HashMap<_, _> =
            ready.iter().map(|RunnableCall { call, .. }| (call.id.clone(), call.name.clone())).collect();
        self.caller.meter.count_tool_calls(ready.len());
        let results = self.run_ready(ready, sink).await?;
        outputs.extend(results.into_iter().map(|(id, result)| {
            let name = names.get(&id).cloned().unwrap_or_default();
            (id, (name, output(&result)))
        }));
        self.check_not_stopped()?;
        self.add_results(outputs);
        Ok(self.waiting.is_empty() && !is_handed_over)
    }

    /// Returns the tool of a decided call, unless the run is stopped meanwhile.
    async fn resolve_decided(&self, call: &ToolCall) -> Result<Result<CallTarget, InvalidCall>, RunFailure> {
        let fitting = self.caller.cancel.run_until_cancelled(self.offer.resolve(call, &call.input)).await;
        fitting.ok_or_else(|| retry::cancelled_error().into())
    }

    /// Returns whether a decided call may run. An interrupted call may need another approval,
    /// unless its tool is idempotent; even then the policy and the exposure are checked as they are
    /// now.
    async fn may_resume<S: EventSink>(
        &mut self,
        call: &ToolCall,
        tool: &ToolSpec,
        decision: &Decision,
        ruling: &Ruling,
        sink: &mut S,
    ) -> Result<bool, RunFailure> {
        match *decision {
            Decision::Again { .. } if !tool.annotations.idempotent => {
                self.request_approval(call.clone(), tool, ruling, true, sink).await?;
                Ok(false)
            }
            Decision::Again { approved: false } => self.may_run(call, tool, ruling, true, sink).await,
            _ => Ok(true),
        }
    }

    /// Hands the call over to the user's browser. For a tool of the page, what is needed to repeat
    /// the call is recorded first, in case the server dies before the page reports its outcome.
    async fn hand_over<S: EventSink>(
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

    /// Adds results to the tool message after the last assistant message, in call order.
    fn add_results(&mut self, mut outputs: HashMap<String, (String, ToolOutput)>) {
        let mut known = match self.messages.last().map(|last| &**last) {
            Some(Message::Tool(results)) => {
                let results = results.clone();
                self.messages.pop();
                results
            }
            _ => Vec::new(),
        };
        let Some(Message::Assistant(parts)) = self.messages.last().map(|last| &**last) else { return };
        let mut ordered = Vec::new();
        for part in parts {
            let AssistantPart::ToolCall(call) = part else { continue };
            if let Some(at) = known.iter().position(|result| result.call_id == call.id) {
                ordered.push(known.remove(at));
            } else if let Some((name, output)) = outputs.remove(&call.id) {
                ordered.push(ToolResult { call_id: call.id.clone(), name, output, metadata: None });
            }
        }
        if !ordered.is_empty() {
            self.messages.push(Arc::new(Message::Tool(ordered)));
        }
    }
}

async fn emit_grant<S: EventSink>(call: &ToolCall, grant: Option<Grant>, sink: &mut S) -> Result<(), RunFailure> {
    let Some(grant) = grant else { return Ok(()) };
    let (call_id, tool) = (call.id.clone(), call.name.clone());
    Ok(sink.emit(Event::CallGranted { call_id, tool, grant }).await?)
}

/// Gives a call that is not run its result: the reason.
async fn emit_failure<S: EventSink>(
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

fn is_empty(part: &AssistantPart) -> bool {
    matches!(part, AssistantPart::Text { text, metadata: None } if text.is_empty())
}

fn tool_result(call: &ToolCall, result: &Result<Value, ToolError>) -> ToolResult {
    ToolResult { call_id: call.id.clone(), name: call.name.clone(), output: output(result), metadata: None }
}

fn output(result: &Result<Value, ToolError>) -> ToolOutput {
    match result {
        Ok(value) => ToolOutput::from_url(value.clone()),
        Err(error) => ToolOutput::ErrorText(error.message.clone()),
    }
}
