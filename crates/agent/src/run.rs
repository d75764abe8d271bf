//! The loop: ask, run the tools, append, until something says stop.

use crate::calls::{Checked, Ids, Offer, Unusable};
use crate::limits::Spent;
use crate::loops::{self, Loops, Verdict};
use crate::prune::{self, Prune};
use crate::reply::{self, Failure, Reply};
use crate::sources;
use crate::tools::{self, Caller};
use crate::{Agent, Decision, Ending, Event, EventSink, Limit, Outcome, PendingCall, Turn, prepare_step, retry, stop};
use contract::{
    AssistantPart, Execution, FinishReason, Message, ModelError, ModelErrorKind, Request, Tool, ToolCall, ToolError,
    ToolOutput, ToolResult, Usage, UserPart,
};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Runs a turn to its end. Never panics because of a tool or a model; ends within a second after `cancel`.
pub async fn run<S: EventSink>(agent: &Agent, turn: Turn, sink: &mut S) -> Outcome {
    let limit = agent.settings.timeouts.total;
    let outer = turn.cancel.clone();
    // A child, so that running out of time ends the run as a stop would, and only the ending tells them apart.
    let cancel = outer.child_token();
    let clock = cancel.clone();
    let _timer = AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(limit).await;
        clock.cancel();
    }));
    let gathered = sources::gather(agent, &turn.user_id, &cancel, sink).await;
    // A sink that closed before the beginning says so again at the first step.
    let agent = gathered.unwrap_or(Cow::Borrowed(agent));
    let mut run = Run::new(&agent, turn, cancel.clone());
    let ending = match run.drive(sink).await {
        Ok(ending) => ending,
        Err(Failure::Sink) => Ending::SinkClosed,
        Err(Failure::Model(_)) if outer.is_cancelled() => Ending::Stopped,
        Err(Failure::Model(_)) if cancel.is_cancelled() => Ending::Limit(Limit::Time),
        Err(Failure::Model(error)) => Ending::Failed(error),
    };
    Outcome {
        ending,
        finish_reason: run.finish_reason,
        usage: run.spent.usage,
        cost_usd: run.spent.cost_usd,
        steps: run.spent.requests,
    }
}

struct Run<'a> {
    agent: &'a Agent,
    offer: Offer,
    ids: Ids,
    caller: Caller,
    messages: Vec<Arc<Message>>,
    pending: Vec<PendingCall>,
    finish_reason: FinishReason,
    spent: Spent,
    loops: Loops,
    /// Whether a call was refused because there were too many.
    is_over_calls: bool,
    /// Which of the agent's models is asked.
    model: usize,
}

impl<'a> Run<'a> {
    fn new(agent: &'a Agent, turn: Turn, cancel: CancellationToken) -> Self {
        Self {
            agent,
            offer: Offer::of(agent),
            ids: Ids::of(&turn.messages),
            caller: Caller { user_id: turn.user_id, conversation_id: turn.conversation_id, cancel },
            messages: turn.messages,
            pending: turn.pending,
            finish_reason: FinishReason::Other,
            spent: Spent::default(),
            loops: Loops::default(),
            is_over_calls: false,
            model: 0,
        }
    }

    async fn drive<S: EventSink>(&mut self, sink: &mut S) -> Result<Ending, Failure> {
        self.act_on_decisions(sink).await?;
        self.leave_out();
        loop {
            self.check_not_stopped()?;
            if let Some(limit) = self.agent.settings.limits.reached(&self.spent) {
                return Ok(Ending::Limit(limit));
            }
            let reply = self.ask(sink).await?;
            let verdict = self.loops.see(&reply.calls.iter().map(|checked| checked.call.clone()).collect::<Vec<_>>());
            let (calls, settled) = self.act_on_calls(reply, verdict, sink).await?;
            self.check_not_stopped()?;
            if calls.is_empty() {
                return Ok(Ending::Done);
            }
            if verdict == Verdict::Stop {
                return Ok(Ending::Limit(Limit::Loop));
            }
            if self.is_over_calls {
                return Ok(Ending::Limit(Limit::ToolCalls));
            }
            if !settled {
                return Ok(Ending::Waiting);
            }
            if verdict == Verdict::Warn {
                let text = loops::WARNING.to_owned();
                self.messages.push(Arc::new(Message::User(vec![UserPart::Text { text }])));
            }
            if let Some(limit) = stop::limit(&self.agent.settings, self.spent.requests, &calls) {
                return Ok(Ending::Limit(limit));
            }
        }
    }

    /// What the turn begins with is pruned; what it adds itself stays.
    fn leave_out(&mut self) {
        let rules = &self.agent.settings.prune;
        if *rules != Prune::default() {
            self.messages = prune::prune(&self.messages, rules);
            // No provider takes an empty message.
            self.messages.retain(|message| !prune::is_empty(message));
        }
    }

    fn check_not_stopped(&self) -> Result<(), Failure> {
        if self.caller.cancel.is_cancelled() { Err(retry::stopped().into()) } else { Ok(()) }
    }

    /// One request, read to the end of its reply.
    async fn ask<S: EventSink>(&mut self, sink: &mut S) -> Result<Reply, Failure> {
        let request = self.request();
        self.spent.requests += 1;
        let cancel = self.caller.cancel.clone();
        let ask = async {
            let begun = retry::ask(self.agent, &mut self.model, &request, &cancel, sink).await?;
            sink.emit(Event::StepStart { number: self.spent.requests }).await?;
            reply::read(self.agent, &self.offer, &mut self.ids, begun, &cancel, sink).await
        };
        let reply = match self.agent.settings.timeouts.step {
            None => ask.await?,
            Some(limit) => tokio::time::timeout(limit, ask).await.unwrap_or_else(|_| {
                Err(ModelError::new(ModelErrorKind::Timeout, format!("no whole reply within {limit:?} (step)")).into())
            })?,
        };
        self.finish_reason = reply.reason;
        self.spent.usage += reply.usage;
        if let Some(cost) = self.cost(reply.usage) {
            self.spent.cost_usd = Some(self.spent.cost_usd.unwrap_or_default() + cost);
        }
        Ok(reply)
    }

    /// What a request's tokens cost at the price of the model that answered it.
    fn cost(&self, usage: Usage) -> Option<f64> {
        let model = self.agent.models().nth(self.model)?;
        Some(self.agent.settings.prices.get(&model.id().model)?.of(usage))
    }

    fn request(&self) -> Request {
        let settings = &self.agent.settings;
        let rule = prepare_step::rule(&settings.prepare_step, self.spent.requests + 1);
        let active_tools = rule.and_then(|rule| rule.active_tools.as_ref()).or(settings.active_tools.as_ref());
        let active = |tool: &&Arc<dyn Tool>| active_tools.is_none_or(|active| active.contains(&tool.spec().name));
        let mut sampling = settings.sampling.clone();
        if let Some(rule) = rule {
            sampling.max_output_tokens = rule.max_output_tokens.or(sampling.max_output_tokens);
            sampling.temperature = rule.temperature.or(sampling.temperature);
        }
        Request {
            system: self.agent.instructions.clone(),
            messages: self.messages.clone(),
            tools: self.agent.tools.iter().filter(active).map(|tool| tool.spec().clone()).collect(),
            tool_choice: rule.and_then(|rule| rule.tool_choice.as_ref()).unwrap_or(&settings.tool_choice).clone(),
            sampling,
            response_format: settings.response_format.clone(),
            provider_options: settings.provider_options.clone(),
        }
    }

    /// Runs what can be run of a reply's calls and appends both to the history. Answers the calls, and whether each of
    /// them has its result.
    async fn act_on_calls<S: EventSink>(
        &mut self,
        reply: Reply,
        verdict: Verdict,
        sink: &mut S,
    ) -> Result<(Vec<ToolCall>, bool), Failure> {
        let Reply { said, calls, reason, usage } = reply;
        // A reply that was cut off or refused says nothing reliable about what to run (wire protocol §5).
        let run = matches!(reason, FinishReason::Stop | FinishReason::ToolCalls);
        let order: Vec<_> = calls.iter().map(|checked| checked.call.clone()).collect();
        let results = self.run_calls(calls, run, verdict, sink).await?;
        self.append(said, &order, &results);
        let cost_usd = self.cost(usage);
        sink.emit(Event::StepFinish { number: self.spent.requests, finish_reason: reason, usage, cost_usd }).await?;
        if !run {
            return Ok((Vec::new(), true));
        }
        let settled = order.iter().all(|call| results.contains_key(&call.id));
        Ok((order, settled))
    }

    async fn run_calls<S: EventSink>(
        &mut self,
        calls: Vec<Checked>,
        run: bool,
        verdict: Verdict,
        sink: &mut S,
    ) -> Result<HashMap<String, Result<Value, ToolError>>, Failure> {
        let (mut ready, mut results) = (Vec::new(), HashMap::new());
        for Checked { call, tool } in calls {
            let refusal = self.refusal(verdict, ready.len());
            self.is_over_calls |= run && tool.is_ok() && refusal.is_some() && verdict != Verdict::Stop;
            match (tool, refusal) {
                (Err(Unusable { error, dynamic, .. }), _) => {
                    results.insert(call.id.clone(), tell_failure(&call, error, dynamic, sink).await?);
                }
                (Ok(_), _) if !run => {}
                (Ok(_), Some(refusal)) => {
                    results.insert(call.id.clone(), tell_failure(&call, refusal, false, sink).await?);
                }
                (Ok(tool), None) if tool.spec().needs_approval => {
                    sink.emit(Event::ApprovalRequest { call_id: call.id }).await?
                }
                (Ok(tool), None) if tool.spec().execution == Execution::Client => {}
                (Ok(tool), None) => ready.push((call, tool)),
            }
        }
        self.spent.tool_calls = self.spent.tool_calls.saturating_add(u32::try_from(ready.len()).unwrap_or(u32::MAX));
        results.extend(tools::run_all(ready, &self.caller, self.agent.settings.max_parallel_tools, sink).await?);
        Ok(results)
    }

    /// Why a call is not run although it could be: a loop, or a limit. `ready` calls of this step run before it.
    fn refusal(&self, verdict: Verdict, ready: usize) -> Option<String> {
        if verdict == Verdict::Stop {
            return Some(loops::STOPPED.to_owned());
        }
        let left = self.agent.settings.limits.may_call(&self.spent)?;
        let most = self.agent.settings.limits.tool_calls?;
        (ready >= left as usize).then(|| format!("Not run: the limit of {most} tool calls in one turn is reached."))
    }

    fn append(
        &mut self,
        said: Vec<AssistantPart>,
        order: &[ToolCall],
        results: &HashMap<String, Result<Value, ToolError>>,
    ) {
        let said: Vec<_> = said.into_iter().filter(|part| !is_empty(part)).collect();
        if !said.is_empty() {
            self.messages.push(Arc::new(Message::Assistant(said)));
        }
        let results: Vec<_> = order.iter().filter_map(|call| Some(tool_result(call, results.get(&call.id)?))).collect();
        if !results.is_empty() {
            self.messages.push(Arc::new(Message::Tool(results)));
        }
    }

    /// The user's decisions take effect before the model is asked: approved calls run, denied ones are told.
    async fn act_on_decisions<S: EventSink>(&mut self, sink: &mut S) -> Result<(), Failure> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let (mut ready, mut outputs) = (Vec::new(), HashMap::new());
        for PendingCall { call, decision } in pending {
            match decision {
                Decision::Denied(reason) => {
                    sink.emit(Event::ToolDenied { call_id: call.id.clone(), reason: reason.clone() }).await?;
                    outputs.insert(call.id, (call.name, ToolOutput::Denied(reason)));
                }
                // The tools may have changed since the user was asked, so the arguments are checked anew.
                Decision::Approved => match self.offer.fitting(&call.name, &call.input) {
                    Ok(tool) => ready.push((call, tool)),
                    Err(unusable) => {
                        let error = ToolError::new(unusable.error);
                        let (call_id, name) = (call.id.clone(), call.name.clone());
                        let result = Err(error.clone());
                        sink.emit(Event::ToolFinished { call_id, name, result, dynamic: unusable.dynamic }).await?;
                        outputs.insert(call.id, (call.name, ToolOutput::ErrorText(error.message)));
                    }
                },
            }
        }
        let names: HashMap<_, _> = ready.iter().map(|(call, _)| (call.id.clone(), call.name.clone())).collect();
        let results = tools::run_all(ready, &self.caller, self.agent.settings.max_parallel_tools, sink).await?;
        outputs.extend(results.into_iter().map(|(id, result)| {
            let name = names.get(&id).cloned().unwrap_or_default();
            (id, (name, output(&result)))
        }));
        self.check_not_stopped()?;
        self.add_results(outputs);
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
        self.messages.push(Arc::new(Message::Tool(ordered)));
    }
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
    sink.emit(Event::ToolFinished { call_id, name, result: result.clone(), dynamic }).await?;
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
