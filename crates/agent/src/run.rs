//! The loop: ask, run the tools, append, until something says stop.

use crate::calls::{Checked, Ids, Offer};
use crate::prune::{self, Prune};
use crate::reply::{self, Failure, Reply};
use crate::tools::{self, Caller};
use crate::{Agent, Event, EventSink, prepare_step, retry, stop};
use contract::{
    AssistantPart, Execution, FinishReason, Message, ModelError, ModelErrorKind, Request, Tool, ToolCall, ToolError,
    ToolOutput, ToolResult, Usage,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// What a run begins with.
pub struct Turn {
    /// The history, oldest first. It is valid but for the `pending` calls: those stand in its last assistant message, and
    /// the tool message behind that (if there is one) lacks their results, which the run adds in call order.
    pub messages: Vec<Arc<Message>>,
    /// Calls of the last assistant message that the user has decided on since.
    pub pending: Vec<PendingCall>,
    /// On whose behalf.
    pub user_id: String,
    /// In which conversation.
    pub conversation_id: String,
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
}

/// What the user decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Approved,
    /// Do not, perhaps with a reason.
    Denied(Option<String>),
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// What ended it.
    pub ending: Ending,
    /// Why the last reply ended.
    pub finish_reason: FinishReason,
    /// Tokens of all its requests.
    pub usage: Usage,
    /// Its requests.
    pub steps: u32,
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
}

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
    let mut run = Run::new(agent, turn, cancel.clone());
    let ending = match run.drive(sink).await {
        Ok(ending) => ending,
        Err(Failure::Sink) => Ending::SinkClosed,
        Err(Failure::Model(_)) if outer.is_cancelled() => Ending::Stopped,
        Err(Failure::Model(_)) if cancel.is_cancelled() => Ending::Limit(Limit::Time),
        Err(Failure::Model(error)) => Ending::Failed(error),
    };
    Outcome { ending, finish_reason: run.finish_reason, usage: run.usage, steps: run.steps }
}

struct Run<'a> {
    agent: &'a Agent,
    offer: Offer,
    ids: Ids,
    caller: Caller,
    messages: Vec<Arc<Message>>,
    pending: Vec<PendingCall>,
    finish_reason: FinishReason,
    usage: Usage,
    steps: u32,
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
            usage: Usage::default(),
            steps: 0,
            model: 0,
        }
    }

    async fn drive<S: EventSink>(&mut self, sink: &mut S) -> Result<Ending, Failure> {
        self.act_on_decisions(sink).await?;
        self.leave_out();
        loop {
            self.check_not_stopped()?;
            let reply = self.ask(sink).await?;
            let (calls, settled) = self.act_on_calls(reply, sink).await?;
            self.check_not_stopped()?;
            if calls.is_empty() {
                return Ok(Ending::Done);
            }
            if !settled {
                return Ok(Ending::Waiting);
            }
            if let Some(limit) = stop::limit(&self.agent.settings, self.steps, &calls) {
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
        self.steps += 1;
        let cancel = self.caller.cancel.clone();
        let ask = async {
            let begun = retry::ask(self.agent, &mut self.model, &request, &cancel, sink).await?;
            sink.emit(Event::StepStart { number: self.steps }).await?;
            reply::read(self.agent, &self.offer, &mut self.ids, begun, &cancel, sink).await
        };
        let reply = match self.agent.settings.timeouts.step {
            None => ask.await?,
            Some(limit) => tokio::time::timeout(limit, ask).await.unwrap_or_else(|_| {
                Err(ModelError::new(ModelErrorKind::Timeout, format!("no whole reply within {limit:?} (step)")).into())
            })?,
        };
        self.finish_reason = reply.reason;
        self.usage += reply.usage;
        Ok(reply)
    }

    fn request(&self) -> Request {
        let settings = &self.agent.settings;
        let rule = prepare_step::rule(&settings.prepare_step, self.steps + 1);
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
        sink: &mut S,
    ) -> Result<(Vec<ToolCall>, bool), Failure> {
        let Reply { said, calls, reason, usage } = reply;
        // A reply that was cut off or refused says nothing reliable about what to run (wire protocol §5).
        let run = matches!(reason, FinishReason::Stop | FinishReason::ToolCalls);
        let order: Vec<_> = calls.iter().map(|checked| checked.call.clone()).collect();
        let results = self.run_calls(calls, run, sink).await?;
        self.append(said, &order, &results);
        sink.emit(Event::StepFinish { number: self.steps, finish_reason: reason, usage }).await?;
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
        sink: &mut S,
    ) -> Result<HashMap<String, Result<Value, ToolError>>, Failure> {
        let (mut ready, mut results) = (Vec::new(), HashMap::new());
        for Checked { call, tool } in calls {
            match tool {
                Err(unusable) => {
                    let result = Err(ToolError::new(unusable.error));
                    let (call_id, name) = (call.id.clone(), call.name);
                    sink.emit(Event::ToolFinished { call_id, name, result: result.clone(), dynamic: unusable.dynamic })
                        .await?;
                    results.insert(call.id, result);
                }
                Ok(_) if !run => {}
                Ok(tool) if tool.spec().needs_approval => {
                    sink.emit(Event::ApprovalRequest { call_id: call.id }).await?
                }
                Ok(tool) if tool.spec().execution == Execution::Client => {}
                Ok(tool) => ready.push((call, tool)),
            }
        }
        results.extend(tools::run_all(ready, &self.caller, self.agent.settings.max_parallel_tools, sink).await?);
        Ok(results)
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
