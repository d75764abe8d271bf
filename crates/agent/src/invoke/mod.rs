//! A single question to an agent, for programs: without tools unless the program asks for them. The
//! answer is text, or JSON that fits a schema.

mod answer;
#[cfg(test)]
mod app_tests;
mod checkpoint;
mod sink;
mod tool_call;
mod tools;

use crate::calls::meter::unknown_price_error;
use crate::{
    Agent, ContextInput, Ending, GrantLookup, Limit, ReplyUsage, RunOutcome, ToolStrategy, TurnInput, TurnLimits,
    TurnUsage, run,
};
pub use answer::AnswerForm;
pub(crate) use answer::find_json;
use checkpoint::Continuation;
pub use checkpoint::{Checkpoint, RunQuestion};
use contract::{AssistantPart, Exposure, Message, ModelError, ModelUse, RunScope, ToolChoice, Usage, UserPart};
use schemas::CheckError;
pub use schemas::SchemaError;
use serde_json::Value;
use sink::AnswerSink;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
pub use tool_call::{AppCall, AppDecision, ToolCallResult, ToolFailure, ToolRequest, call_tool};
use tools::GivenApprovals;
pub use tools::{InvocationObserver, InvocationTools};

/// The maximum number of attempts: the first one, and one to correct it.
const ATTEMPTS: u32 = 2;
/// Provider options that give a model tools which its provider runs, in the terms of the providers'
/// APIs and of the AI SDK.
const TOOL_OPTIONS: [&str; 11] = [
    "tools",
    "tool_choice",
    "tool_config",
    "toolConfig",
    "functions",
    "function_call",
    "mcp_servers",
    "mcpServers",
    "allowedTools",
    "container",
    "web_search_options",
];

/// The request.
pub struct InvocationRequest {
    /// The history and the question.
    pub input: InvocationInput,
    /// The form of the answer; text if absent.
    pub form: Option<AnswerForm>,
    /// The tools that the agent may use; none if absent.
    pub tools: Option<InvocationTools>,
    /// Sees each event before it has an effect.
    pub observer: Option<Arc<dyn InvocationObserver>>,
    /// Limits beside those of the agent; the stricter ones apply. They hold for all attempts
    /// together.
    pub limits: TurnLimits,
    /// Whether `limits` replace those of the agent, so that they may be wider.
    pub replaces_limits: bool,
    /// Whether calls may wait for a decision. The request then ends with [`InvokeError::Waiting`], and
    /// continues later from its last checkpoint. Otherwise such calls are denied.
    pub asks: bool,
    /// The state from which the request continues.
    pub from: Option<Checkpoint>,
    /// The time limit for all attempts together.
    pub time: Duration,
    /// The user for whom the request is made. The agent adds its id.
    pub scope: RunScope,
    /// Meters the requests to models for the caller.
    pub models: ModelUse,
    /// Cancels the request.
    pub cancel: CancellationToken,
}

impl InvocationRequest {
    /// Returns the limits that hold for the request to this agent.
    pub fn limits_for(&self, agent: &Agent) -> TurnLimits {
        if self.replaces_limits {
            self.limits.or(&agent.settings.limits)
        } else {
            agent.settings.limits.stricter(&self.limits)
        }
    }
}

/// The input of an invocation: a history that ends with the question.
#[derive(Clone, Debug, Default)]
pub struct InvocationInput {
    /// The history, oldest first. It is valid, and the agent answers its end.
    pub messages: Vec<Arc<Message>>,
    /// The index of the first message of the turn. Those before it may be pruned.
    pub turn_start: usize,
    /// The private and untrusted content in the messages.
    pub exposure: Exposure,
}

impl InvocationInput {
    /// A prompt without a history.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self { messages: vec![user(text.into())], ..Self::default() }
    }

    /// A prompt with files, without a history.
    pub fn prompt_with_files(text: impl Into<String>, files: Vec<UserPart>) -> Self {
        let text = UserPart::Text { text: text.into() };
        let parts = std::iter::once(text).chain(files).collect();
        Self { messages: vec![Arc::new(Message::User(parts))], ..Self::default() }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum InvokeError {
    /// The model failed.
    #[error("{0}")]
    Model(ModelError),
    /// The time limit was reached.
    #[error("there was no answer within the time limit")]
    TimedOut,
    /// A limit was reached before there was an answer.
    #[error("a limit was reached before there was an answer")]
    Limit(Limit),
    /// The provider refused the answer or cut it off. It would have been text; this is what there is of it.
    #[error("the model's answer was refused, or cut off before its end")]
    Incomplete {
        /// The limit: [`Limit::OutputTokens`] or [`Limit::ContentFilter`].
        limit: Limit,
        /// The text so far.
        text: String,
    },
    /// The cost is limited, but the price of this model is not known.
    #[error("{}", unknown_price_error(.0))]
    UnknownPrice(String),
    /// The model made an invalid call, and the agent is configured to end there.
    #[error("the model made an invalid call of the tool `{0}`")]
    InvalidCall(String),
    /// The answer is too long.
    #[error("the answer is too long")]
    TooLong,
    /// A tool call could not be recorded.
    #[error("a tool call could not be recorded")]
    NotRecorded,
    /// The meter refused the request.
    #[error("{0}")]
    NotAdmitted(String),
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Stopped,
    /// Calls wait for decisions. The observer has the state; this is the usage so far.
    #[error("a call waits for a decision")]
    Waiting(Box<TurnUsage>),
    /// Neither attempt produced JSON that fits the schema. Has the errors, one line each.
    #[error("the answer does not fit the schema: {0}")]
    SchemaMismatch(String),
    /// The answer could not be checked against the schema.
    #[error("the answer could not be checked: {0}")]
    Unchecked(CheckError),
}

/// The answer with its usage.
#[derive(Debug)]
pub struct InvocationResult {
    /// The text, or the JSON that was requested.
    pub output: Result<Value, InvokeError>,
    /// The tokens of all requests.
    pub usage: Usage,
    /// The usage of each request.
    pub replies: Vec<InvocationReply>,
}

/// The usage of one request of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct InvocationReply {
    /// The tool call and the agent that made the request; absent for the agent itself.
    pub below: Option<(String, String)>,
    /// The usage.
    pub usage: ReplyUsage,
}

/// Asks an agent. JSON that does not fit the schema is sent back once with its errors.
pub async fn invoke(agent: &Agent, question: InvocationRequest) -> InvocationResult {
    let mut replies = Vec::new();
    let output = invoke_with_correction(agent, question, &mut replies).await;
    let usage = replies.iter().fold(Usage::default(), |mut sum, reply| {
        sum += reply.usage.usage;
        sum
    });
    InvocationResult { output, usage, replies }
}

async fn invoke_with_correction(
    agent: &Agent,
    question: InvocationRequest,
    replies: &mut Vec<InvocationReply>,
) -> Result<Value, InvokeError> {
    let mut agent = prepared(agent, &question);
    let until = Instant::now() + agent.settings.timeouts.total();
    let mut faults = String::new();
    let mut begin = match question.from.clone() {
        Some(state) => state.into_continuation(&agent.settings.stop_on_tool_call),
        None => first(question.input.clone()),
    };
    if begin.corrections > 0 {
        without_tool_choice(&mut agent);
    }
    let turn_start = begin.turn_start;
    for corrections in begin.corrections..ATTEMPTS {
        agent.settings.timeouts.total = Some(until.saturating_duration_since(Instant::now()));
        let Attempt { answer, messages: after, spent, exposure, calls_program, is_cut } =
            attempt(&agent, begin, &question, replies).await?;
        let Some(form) = question.form.as_ref().filter(|_| !calls_program) else { return Ok(answer) };
        let text = match answer {
            Value::String(text) => text,
            output => output.to_string(),
        };
        match form.read(&text, until, &question.cancel).await? {
            Ok(output) => return Ok(output),
            Err(_) if is_cut && corrections + 1 == ATTEMPTS => return Err(InvokeError::Limit(Limit::OutputTokens)),
            Err(wrong) => faults = wrong,
        }
        let mut messages = after;
        messages
            .push(user(format!("That cannot be used: {faults}\nAnswer again, with nothing but the corrected JSON.")));
        if question.tools.is_some() {
            // Only the form of the answer is wrong.
            without_tool_choice(&mut agent);
        }
        // The limits hold for both attempts together, but the correction has steps of its own.
        let usage = TurnUsage { used: spent.used, ..TurnUsage::default() };
        let corrections = corrections + 1;
        begin = Continuation { messages, usage, exposure, corrections, turn_start, ..Continuation::default() };
    }
    Err(InvokeError::SchemaMismatch(faults))
}

/// Returns the state in which a request begins.
fn first(input: InvocationInput) -> Continuation {
    let InvocationInput { messages, turn_start, exposure } = input;
    Continuation { messages, turn_start, exposure: exposure.into(), ..Continuation::default() }
}

/// Lets the agent answer without a call.
fn without_tool_choice(agent: &mut Agent) {
    agent.settings.tool_choice = ToolChoice::None;
    agent.settings.tool_strategy = ToolStrategy::Model;
    agent.settings.prepare_step.iter_mut().for_each(|rule| rule.tool_choice = None);
}

/// Returns the agent with the tools of the invocation, and with instructions about the form of its
/// answer.
fn prepared(agent: &Agent, question: &InvocationRequest) -> Agent {
    let mut agent = agent.clone();
    agent.settings.limits = question.limits_for(&agent);
    let most = agent.settings.limits.time.unwrap_or(Duration::MAX);
    agent.settings.timeouts.total = Some(question.time.min(most));
    match &question.tools {
        Some(tools) => tools.restrict(&mut agent),
        None => remove_tools(&mut agent),
    }
    if let Some(AnswerForm { format, .. }) = &question.form {
        let rule = format!(
            "Answer with one JSON value and nothing else: no explanation, no code fence. It must fit this JSON Schema:\n{}",
            format.schema
        );
        agent.append_instructions(&rule);
        // Not every provider accepts a form and tools in one request.
        agent.settings.response_format = question.tools.is_none().then(|| format.clone());
    }
    agent
}

/// Removes all tools, also those that the provider runs.
fn remove_tools(agent: &mut Agent) {
    agent.tools.clear();
    agent.agents.clear();
    agent.sources.clear();
    agent.settings.max_steps = 1;
    agent.settings.tool_strategy = ToolStrategy::Model;
    agent.settings.tool_choice = ToolChoice::Auto;
    agent.settings.active_tools = None;
    agent.routes = &[];
    agent.settings.prepare_step.iter_mut().for_each(|rule| (rule.tool_choice, rule.active_tools) = (None, None));
    for options in agent.settings.provider_options.values_mut().filter_map(Value::as_object_mut) {
        TOOL_OPTIONS.iter().for_each(|option| drop(options.remove(*option)));
    }
}

fn user(text: String) -> Arc<Message> {
    Arc::new(Message::User(vec![UserPart::Text { text }]))
}

/// The outcome of an attempt that has an answer.
struct Attempt {
    /// The text, or the result of the tool that ended the turn.
    answer: Value,
    /// The history with the answer.
    messages: Vec<Arc<Message>>,
    spent: TurnUsage,
    /// The sources that were read so far.
    exposure: crate::ExposureState,
    /// Whether the program is to run calls, whose results it sends with its next request.
    calls_program: bool,
    /// Whether the provider cut off the answer at its length limit.
    is_cut: bool,
}

async fn attempt(
    agent: &Agent,
    begin: Continuation,
    question: &InvocationRequest,
    replies: &mut Vec<InvocationReply>,
) -> Result<Attempt, InvokeError> {
    let model = agent.model.id();
    let is_priced = agent.settings.prices.contains_key(&model.model);
    question.models.admit(model, is_priced).await.map_err(InvokeError::NotAdmitted)?;
    let approved = question.tools.as_ref().map_or_else(Vec::new, |tools| tools.approved.clone());
    let grants: Arc<dyn GrantLookup> = Arc::new(GivenApprovals { tools: approved, can_ask: question.asks });
    let Continuation { messages, pending, usage: earlier, exposure, last_result, corrections, turn_start } = begin;
    let turn = TurnInput {
        context: ContextInput::default(),
        earlier,
        turn_start,
        messages: messages.clone(),
        pending,
        scope: question.scope.clone(),
        grants: Some(grants),
        exposure: exposure.clone(),
        cancel: question.cancel.clone(),
    };
    let mut sink = AnswerSink {
        text: String::new(),
        last_result,
        corrections,
        is_too_long: false,
        replies,
        models: &question.models,
        observer: question.observer.as_deref(),
        ends_with: &agent.settings.stop_on_tool_call,
    };
    let outcome = run(agent, turn, &mut sink).await;
    let AnswerSink { text, last_result, is_too_long, .. } = sink;
    let RunOutcome { ending, turn_usage: spent, messages: after, waiting, .. } = outcome;
    let is_cut = matches!(ending, Ending::Limit(Limit::OutputTokens));
    match ending {
        // JSON that was cut off does not fit its schema, and the correction may be shorter.
        Ending::Limit(limit @ (Limit::OutputTokens | Limit::ContentFilter)) if !is_cut || question.form.is_none() => {
            return Err(InvokeError::Incomplete { limit, text });
        }
        _ => {}
    }
    if let Some(tools) = &question.tools {
        let calls_program = matches!(ending, Ending::Waiting) && waiting.is_empty() && !tools.program.is_empty();
        let answer = match ending {
            Ending::Waiting if calls_program => Value::String(text),
            Ending::Done => Value::String(text),
            Ending::Limit(Limit::OutputTokens) => Value::String(text),
            Ending::Limit(Limit::StopOnToolCall) => last_result.unwrap_or(Value::String(text)),
            Ending::SinkClosed if is_too_long => return Err(InvokeError::TooLong),
            Ending::Waiting if question.asks => return Err(InvokeError::Waiting(Box::new(spent))),
            other => return Err(failure(other)),
        };
        return Ok(Attempt { answer, messages: after, spent, exposure, calls_program, is_cut });
    }
    match ending {
        Ending::Limit(Limit::OutputTokens) => {}
        // There are no tools, so a tool call is not part of the answer.
        Ending::Done | Ending::Waiting | Ending::SinkClosed | Ending::InvalidCall { .. } => {}
        // A provider that paused may not continue: what it wrote is the answer. If JSON is required
        // and there is none, the model is asked once more.
        Ending::Limit(Limit::MaxSteps) if !text.is_empty() || question.form.is_some() => {}
        other => return Err(failure(other)),
    }
    let mut messages = messages;
    messages.push(Arc::new(Message::Assistant(vec![AssistantPart::Text { text: text.clone(), metadata: None }])));
    Ok(Attempt { answer: Value::String(text), messages, spent, exposure, calls_program: false, is_cut })
}

/// Returns the error of a run without an answer.
fn failure(ending: Ending) -> InvokeError {
    match ending {
        Ending::Limit(Limit::Time) => InvokeError::TimedOut,
        Ending::Limit(limit) => InvokeError::Limit(limit),
        Ending::Stopped => InvokeError::Stopped,
        Ending::Failed(error) => InvokeError::Model(error),
        Ending::UnknownPrice { model } => InvokeError::UnknownPrice(model),
        Ending::InvalidCall { tool } => InvokeError::InvalidCall(tool),
        // `Waiting` and `EmptySummary` do not occur here: nobody can be asked, and nothing is summarised on demand.
        Ending::Done | Ending::Waiting | Ending::SinkClosed | Ending::EmptySummary => InvokeError::NotRecorded,
    }
}
