//! What a run does with calls: those of a reply, and those that the user has decided on since.

use crate::calls::{Checked, Runner, Unusable};
use crate::exposure;
use crate::grants;
use crate::loops::{self, Verdict};
use crate::policy;
use crate::reply::{Failure, Reply};
use crate::retry;
use crate::run::Run;
use crate::sub_agent::Resumed;
use crate::tools::{self, Came, Ready};
use crate::{Asked, Decision, Event, EventSink, Grant, PendingCall, Repeat, Ruling, WaitingCall, skipped};
use contract::{
    AssistantPart, Execution, FinishReason, Message, ToolCall, ToolError, ToolOutput, ToolResult, ToolSpec,
};
use faults::Break;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What the model reads of a call beside one that cannot be run, where that ends the turn.
const NOT_RUN: &str = "Not run: another call of this reply cannot be run, which ends the turn.";

/// What came of the calls of a reply.
pub(crate) struct Acted {
    /// There were calls.
    pub(crate) called: bool,
    /// Each of them has its result.
    pub(crate) settled: bool,
    /// The names of the tools that ran, or that wait for the user: those of calls that were neither invalid nor refused.
    pub(crate) accepted: Vec<String>,
}

/// Results by call id.
type Results = HashMap<String, Result<Value, ToolError>>;

impl Run<'_> {
    /// Runs what can be run of a reply's calls and appends both to the history.
    pub(crate) async fn act_on_calls<S: EventSink>(
        &mut self,
        reply: Reply,
        verdict: Verdict,
        sink: &mut S,
    ) -> Result<Acted, Failure> {
        let Reply { said, calls, has_sources, reason, usage } = reply;
        // A reply that was cut off or refused says nothing reliable about what to run (wire protocol §5).
        let run = matches!(reason, FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause);
        let order: Vec<_> = calls.iter().map(|checked| checked.call.clone()).collect();
        // They have run by now: nobody was asked.
        let by_provider =
            |part: &&AssistantPart| matches!(part, AssistantPart::ToolCall(call) if call.provider_executed);
        self.caller.meter.tool_calls(said.iter().filter(by_provider).count());
        // The calls behind it may follow what stands in there.
        self.expose_reply(&said, has_sources, sink).await?;
        let (results, accepted) = self.run_calls(calls, run, verdict, sink).await?;
        self.append(said, &order, &results);
        let cost_usd = self.cost(usage);
        sink.emit(Event::StepFinish { number: self.steps, finish_reason: reason, usage, cost_usd }).await?;
        if !run {
            return Ok(Acted { called: false, settled: true, accepted });
        }
        let settled = order.iter().all(|call| results.contains_key(&call.id));
        Ok(Acted { called: !order.is_empty(), settled, accepted })
    }

    /// Runs what can be run. Answers the results, and the names of the tools that ran or wait for the user.
    async fn run_calls<S: EventSink>(
        &mut self,
        calls: Vec<Checked>,
        run: bool,
        verdict: Verdict,
        sink: &mut S,
    ) -> Result<(Results, Vec<String>), Failure> {
        let rulings = if run { self.rulings(&calls).await } else { HashMap::new() };
        let ends = !self.agent.settings.repair_tool_call && calls.iter().any(|checked| checked.tool.is_err());
        let (mut ready, mut results, mut accepted) = (Vec::new(), HashMap::new(), Vec::new());
        for Checked { call, tool } in calls {
            let ruling = rulings.get(&call.id).unwrap_or(&Ruling::Allow);
            if *ruling != Ruling::Allow {
                sink.emit(Event::CallRuled { call_id: call.id.clone(), ruling: ruling.clone() }).await?;
            }
            if let (true, Ok(_), Ruling::Deny(reason)) = (run, &tool, ruling) {
                results.insert(call.id.clone(), tell_failure(&call, policy::denied(reason), false, sink).await?);
                continue;
            }
            let refusal = match ends {
                true => Some(NOT_RUN.to_owned()),
                false => self.refusal(verdict, ready.len() + self.waiting.len()),
            };
            self.is_over_calls |= run && tool.is_ok() && refusal.is_some() && verdict != Verdict::Stop && !ends;
            match (tool, refusal) {
                (Err(Unusable { error, dynamic, .. }), _) => {
                    results.insert(call.id.clone(), tell_failure(&call, error, dynamic, sink).await?);
                }
                (Ok(_), _) if !run => {}
                (Ok(_), Some(refusal)) => {
                    results.insert(call.id.clone(), tell_failure(&call, refusal, false, sink).await?);
                }
                // What the browser runs by itself is in the user's hands already.
                (Ok(tool), None) if tool.spec().execution == Execution::Client => accepted.push(call.name),
                (Ok(tool), None) => {
                    accepted.push(call.name.clone());
                    if self.may_run(&call, tool.spec(), ruling, false, sink).await? {
                        match tool.spec().execution.is_client() {
                            true => self.hand_over(&call, tool.spec(), sink).await?,
                            false => ready.push(Ready { call, runner: tool, resumed: None }),
                        }
                    }
                }
            }
        }
        self.caller.meter.tool_calls(ready.len());
        results.extend(self.run_ready(ready, sink).await?);
        Ok((results, accepted))
    }

    /// Whether a call may run at once; otherwise it waits for the user. He is asked for the tool's own sake, by the policy, or since the
    /// agent has read private data and text from outside by now, and the tool can send something away.
    async fn may_run<S: EventSink>(
        &mut self,
        call: &ToolCall,
        tool: &ToolSpec,
        ruling: &Ruling,
        cut_off: bool,
        sink: &mut S,
    ) -> Result<bool, Failure> {
        let exposed = self.caller.seen.against(tool);
        if !tool.needs_approval && *ruling != Ruling::Ask && exposed.is_none() {
            return Ok(true);
        }
        let grant = self.caller.grant(&self.agent.id, tool, ruling, exposed.as_ref()).await;
        let is_granted = grant.is_some();
        match is_granted {
            true => tell_grant(call, grant, sink).await?,
            false => self.ask_user(call.clone(), tool, ruling, cut_off, sink).await?,
        }
        Ok(is_granted)
    }

    /// The call waits for the user, who decides about the tool as it is now; of one that was cut off, whether it is made once more.
    async fn ask_user<S: EventSink>(
        &mut self,
        call: ToolCall,
        tool: &ToolSpec,
        ruling: &Ruling,
        cut_off: bool,
        sink: &mut S,
    ) -> Result<(), Failure> {
        let exposed = self.caller.seen.against(tool);
        let asked = Some(exposure::fingerprint(tool, exposed.is_some()));
        let terms = grants::terms(tool, ruling, exposed);
        let terms = if cut_off { grants::once_more(terms) } else { terms };
        let (call_id, told) = (call.id.clone(), terms.clone());
        sink.emit(Event::ApprovalRequest { call_id, asked: asked.clone(), terms: told }).await?;
        self.waiting.push(WaitingCall { call, state: None, asked, terms });
        Ok(())
    }

    /// What the policies say of each call that could be run.
    async fn rulings(&self, calls: &[Checked]) -> HashMap<String, Ruling> {
        if self.caller.policies.is_empty() {
            return HashMap::new();
        }
        let fitting = calls.iter().filter(|checked| checked.tool.is_ok());
        let asked = fitting.map(async |Checked { call, .. }| (call.id.clone(), self.ruling(call).await));
        futures::future::join_all(asked).await.into_iter().collect()
    }

    /// The strictest of what the policies say of a call: the agent's own, and those of all agents above it, which would otherwise be
    /// evaded by handing over a task. While they are asked the run may be stopped; then the answer is no.
    async fn ruling(&self, call: &ToolCall) -> Ruling {
        let asked = Asked {
            call,
            agent_id: &self.agent.id,
            user_id: &self.caller.user_id,
            conversation_id: &self.caller.conversation_id,
            is_sub_agent: self.caller.is_sub_agent,
        };
        let asked = self.caller.policies.iter().map(|policy| policy.decide(asked.clone()));
        match self.caller.cancel.run_until_cancelled(futures::future::join_all(asked)).await {
            Some(rulings) => rulings.into_iter().fold(Ruling::Allow, Ruling::stricter),
            None => Ruling::Deny("the answer was stopped.".to_owned()),
        }
    }

    /// Runs calls. Those that came to a question for the user wait.
    async fn run_ready<S: EventSink>(&mut self, ready: Vec<Ready>, sink: &mut S) -> Result<Results, Failure> {
        let calls: Vec<_> = ready.iter().map(|ready| ready.call.clone()).collect();
        let waits_below = ready.iter().any(|ready| matches!(ready.runner, Runner::Agent(_)));
        let running = tools::run_all(ready, &self.caller, self.agent.settings.max_parallel_tools, sink);
        let mut came = match waits_below {
            true => self.caller.place.lend(&self.caller.cancel, running).await?,
            false => running.await?,
        };
        let mut results = HashMap::new();
        for call in calls {
            match came.remove(&call.id) {
                Some(Came::Result(result)) => drop(results.insert(call.id, result)),
                Some(Came::Suspended { state, terms, .. }) => {
                    self.waiting.push(WaitingCall { call, state: Some(state), asked: None, terms })
                }
                None => {}
            }
        }
        Ok(results)
    }

    /// Why a call is not run although it could be: a loop, or a limit. `ready` calls of this step run before it.
    fn refusal(&self, verdict: Verdict, ready: usize) -> Option<String> {
        if verdict == Verdict::Stop {
            return Some(loops::STOPPED.to_owned());
        }
        let (left, most) = self.caller.meter.may_call()?;
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

    /// The user's decisions take effect before the model is asked: approved calls run, denied ones are told. Answers whether all of them
    /// have their results; one that goes on may come to a further question, and what the browser runs is handed over to it.
    pub(crate) async fn act_on_decisions<S: EventSink>(&mut self, sink: &mut S) -> Result<bool, Failure> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(true);
        }
        let (mut ready, mut outputs, mut is_handed_over) = (Vec::new(), HashMap::new(), false);
        for PendingCall { call, decision, state, asked, grant, cut_off } in pending {
            let exposed = asked.as_deref().filter(|asked| exposure::is_exposed(asked)).map(|_| self.caller.seen.now());
            sink.emit(Event::CallDecided { call: call.clone(), decision: decision.clone(), exposed, cut_off }).await?;
            let resumed = match state {
                // Within a suspended call, a no is an answer like a yes.
                Some(state) => Some(Resumed { state, decision: decision.clone(), grant }),
                None => {
                    tell_grant(&call, grant, sink).await?;
                    None
                }
            };
            match decision.clone() {
                Decision::Denied(reason) if resumed.is_none() => {
                    // The model has something to say to a no, also where the call would have ended the turn.
                    self.is_last = false;
                    sink.emit(Event::ToolDenied { call_id: call.id.clone(), reason: reason.clone() }).await?;
                    let output = match cut_off {
                        // It may have happened: that is another thing than a no before it.
                        true => ToolOutput::ErrorText(skipped(reason.as_deref())),
                        false => ToolOutput::Denied(reason),
                    };
                    outputs.insert(call.id, (call.name, output));
                }
                // The tools may have changed since the user was asked, so the arguments are checked anew.
                _ => match self.fitting(&call).await? {
                    Ok(runner)
                        if asked.is_some_and(|asked| !exposure::is_of(&asked, runner.spec()))
                            && !faults::is_broken(Break::ApprovalWithoutHash) =>
                    {
                        let ruling = self.ruling(&call).await;
                        self.ask_user(call, runner.spec(), &ruling, cut_off, sink).await?;
                    }
                    // So may the policy, or the arguments, if the user changed them. What the user said yes to is not asked again.
                    Ok(runner) => match self.ruling(&call).await {
                        Ruling::Deny(reason) if resumed.is_none() => {
                            let ruling = Ruling::Deny(reason.clone());
                            sink.emit(Event::CallRuled { call_id: call.id.clone(), ruling }).await?;
                            let result = tell_failure(&call, policy::denied(&reason), false, sink).await?;
                            outputs.insert(call.id, (call.name, output(&result)));
                        }
                        ruling if !self.may_repeat(&call, runner.spec(), &decision, &ruling, sink).await? => {}
                        _ if runner.spec().execution.is_client() => {
                            is_handed_over = true;
                            self.hand_over(&call, runner.spec(), sink).await?;
                            sink.emit(Event::CallHandedOver { call }).await?;
                        }
                        _ => ready.push(Ready { call, runner, resumed }),
                    },
                    Err(unusable) => {
                        let result = tell_failure(&call, unusable.error, unusable.dynamic, sink).await?;
                        outputs.insert(call.id, (call.name, output(&result)));
                    }
                },
            }
        }
        let names: HashMap<_, _> =
            ready.iter().map(|Ready { call, .. }| (call.id.clone(), call.name.clone())).collect();
        self.caller.meter.tool_calls(ready.len());
        let results = self.run_ready(ready, sink).await?;
        outputs.extend(results.into_iter().map(|(id, result)| {
            let name = names.get(&id).cloned().unwrap_or_default();
            (id, (name, output(&result)))
        }));
        self.check_not_stopped()?;
        self.add_results(outputs);
        Ok(self.waiting.is_empty() && !is_handed_over)
    }

    /// The tool for a decided call, unless the run is stopped meanwhile.
    async fn fitting(&self, call: &ToolCall) -> Result<Result<Runner, Unusable>, Failure> {
        let fitting = self.caller.cancel.run_until_cancelled(self.offer.fitting(call, &call.input)).await;
        fitting.ok_or_else(|| retry::stopped().into())
    }

    /// Whether a decided call may run; one that was cut off may wait for the user once more. What a tool does no more of by a second call
    /// needs no question of its own, but the gates before it are as they are now.
    async fn may_repeat<S: EventSink>(
        &mut self,
        call: &ToolCall,
        tool: &ToolSpec,
        decision: &Decision,
        ruling: &Ruling,
        sink: &mut S,
    ) -> Result<bool, Failure> {
        match *decision {
            Decision::Again { .. } if !tool.marks.idempotent => {
                self.ask_user(call.clone(), tool, ruling, true, sink).await?;
                Ok(false)
            }
            Decision::Again { approved: false } => self.may_run(call, tool, ruling, true, sink).await,
            _ => Ok(true),
        }
    }

    /// The user's browser is to run the call; what its page may do is known until it is told, should the server die before that.
    async fn hand_over<S: EventSink>(&mut self, call: &ToolCall, tool: &ToolSpec, sink: &mut S) -> Result<(), Failure> {
        self.expose(tool, sink).await?;
        if tool.execution == Execution::Page {
            let (call_id, name) = (call.id.clone(), call.name.clone());
            sink.emit(Event::CallForPage { call_id, name, repeat: Repeat::of(tool) }).await?;
        }
        Ok(())
    }

    /// Adds results to the tool message behind the last assistant message, in call order.
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

async fn tell_grant<S: EventSink>(call: &ToolCall, grant: Option<Grant>, sink: &mut S) -> Result<(), Failure> {
    let Some(grant) = grant else { return Ok(()) };
    let (call_id, tool) = (call.id.clone(), call.name.clone());
    Ok(sink.emit(Event::CallGranted { call_id, tool, grant }).await?)
}

/// A call that is not run has its result at once: why.
async fn tell_failure<S: EventSink>(
    call: &ToolCall,
    error: String,
    dynamic: bool,
    sink: &mut S,
) -> Result<Result<Value, ToolError>, Failure> {
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
        Ok(value) => ToolOutput::of(value.clone()),
        Err(error) => ToolOutput::ErrorText(error.message.clone()),
    }
}
