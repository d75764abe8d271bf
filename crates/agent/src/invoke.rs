//! A single request without tools, for programs. The answer is text, or JSON that fits a schema.

use crate::calls::meter::unknown_price_error;
use crate::{Agent, Ending, Event, EventSink, Limit, ReplyUsage, RunOutcome, SinkClosed, TurnInput, TurnUsage, run};
use contract::{
    AssistantPart, Message, ModelError, ModelUse, Part, ResponseFormat, RunScope, ToolChoice, Usage, UserPart,
};
pub use schemas::SchemaError;
use schemas::{CheckError, InstanceFault, Schema};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The maximum size of an answer in bytes; a longer one is truncated.
const MAX_ANSWER: usize = 4 << 20;
/// The maximum number of attempts: the first one, and one to correct it.
const ATTEMPTS: u32 = 2;
/// The maximum number of errors in an answer that are reported to the model.
const MAX_FAULTS: usize = 8;
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
    /// The prompt.
    pub prompt: String,
    /// The form of the answer; text if absent.
    pub form: Option<AnswerForm>,
    /// The time limit for all attempts together.
    pub time: Duration,
    /// The user for whom the request is made. The agent adds its id.
    pub scope: RunScope,
    /// Meters the requests to models for the caller.
    pub models: ModelUse,
    /// Cancels the request.
    pub cancel: CancellationToken,
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
    /// The cost is limited, but the price of this model is not known.
    #[error("{}", unknown_price_error(.0))]
    UnknownPrice(String),
    /// The meter refused the request.
    #[error("{0}")]
    NotAdmitted(String),
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Stopped,
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
    pub replies: Vec<ReplyUsage>,
}

/// Asks an agent without its tools. JSON that does not fit the schema is sent back once with its
/// errors.
pub async fn invoke(agent: &Agent, question: InvocationRequest) -> InvocationResult {
    let mut replies = Vec::new();
    let output = invoke_with_correction(agent, question, &mut replies).await;
    let usage = replies.iter().fold(Usage::default(), |mut sum, reply| {
        sum += reply.usage;
        sum
    });
    InvocationResult { output, usage, replies }
}

async fn invoke_with_correction(
    agent: &Agent,
    question: InvocationRequest,
    replies: &mut Vec<ReplyUsage>,
) -> Result<Value, InvokeError> {
    let mut agent = prepared(agent, &question);
    let until = Instant::now() + agent.settings.timeouts.total();
    let mut messages = vec![user(question.prompt.clone())];
    let (mut faults, mut earlier) = (String::new(), TurnUsage::default());
    for _ in 0..ATTEMPTS {
        agent.settings.timeouts.total = Some(until.saturating_duration_since(Instant::now()));
        let (text, spent) = attempt(&agent, messages.clone(), &question, earlier, replies).await?;
        // The limits hold for both attempts together, but each attempt has its own step.
        earlier = TurnUsage { used: spent.used, ..TurnUsage::default() };
        let Some(form) = &question.form else { return Ok(Value::String(text)) };
        match form.read(&text, until, &question.cancel).await? {
            Ok(output) => return Ok(output),
            Err(wrong) => faults = wrong,
        }
        messages.push(Arc::new(Message::Assistant(vec![AssistantPart::Text { text, metadata: None }])));
        messages
            .push(user(format!("That cannot be used: {faults}\nAnswer again, with nothing but the corrected JSON.")));
    }
    Err(InvokeError::SchemaMismatch(faults))
}

/// Returns the agent without tools, with instructions about the form of its answer.
fn prepared(agent: &Agent, question: &InvocationRequest) -> Agent {
    let mut agent = agent.clone();
    agent.tools.clear();
    agent.agents.clear();
    agent.sources.clear();
    agent.settings.max_steps = 1;
    agent.settings.tool_choice = ToolChoice::Auto;
    agent.settings.active_tools = None;
    let most = agent.settings.limits.time.unwrap_or(Duration::MAX);
    agent.settings.timeouts.total = Some(question.time.min(most));
    for options in agent.settings.provider_options.values_mut().filter_map(Value::as_object_mut) {
        TOOL_OPTIONS.iter().for_each(|option| drop(options.remove(*option)));
    }
    if let Some(AnswerForm { format, .. }) = &question.form {
        let rule = format!(
            "Answer with one JSON value and nothing else: no explanation, no code fence. It must fit this JSON Schema:\n{}",
            format.schema
        );
        agent.append_instructions(&rule);
        agent.settings.response_format = Some(format.clone());
    }
    agent
}

fn user(text: String) -> Arc<Message> {
    Arc::new(Message::User(vec![UserPart::Text { text }]))
}

async fn attempt(
    agent: &Agent,
    messages: Vec<Arc<Message>>,
    question: &InvocationRequest,
    earlier: TurnUsage,
    replies: &mut Vec<ReplyUsage>,
) -> Result<(String, TurnUsage), InvokeError> {
    let model = agent.model.id();
    let is_priced = agent.settings.prices.contains_key(&model.model);
    question.models.admit(model, is_priced).await.map_err(InvokeError::NotAdmitted)?;
    let turn = TurnInput {
        earlier,
        turn_start: messages.len(),
        messages,
        pending: Vec::new(),
        scope: question.scope.clone(),
        grants: None,
        exposure: crate::ExposureState::default(),
        cancel: question.cancel.clone(),
    };
    let mut sink = AnswerSink { text: String::new(), replies, models: &question.models };
    let outcome = run(agent, turn, &mut sink).await;
    let text = sink.text;
    let RunOutcome { ending, turn_usage: in_all, .. } = outcome;
    match ending {
        Ending::Done | Ending::Waiting | Ending::SinkClosed => Ok((text, in_all)),
        Ending::Limit(Limit::Time) => Err(InvokeError::TimedOut),
        // A provider that paused may not continue: what it wrote is the answer. If JSON is required
        // and there is none, the model is asked once more.
        Ending::Limit(Limit::MaxSteps) if !text.is_empty() || question.form.is_some() => Ok((text, in_all)),
        Ending::Limit(limit) => Err(InvokeError::Limit(limit)),
        Ending::Stopped => Err(InvokeError::Stopped),
        Ending::Failed(error) => Err(InvokeError::Model(error)),
        Ending::UnknownPrice { model } => Err(InvokeError::UnknownPrice(model)),
        // There are no tools, so a tool call is not part of the answer.
        Ending::InvalidCall { .. } => Ok((text, in_all)),
    }
}

/// Collects the text of an answer and its usage.
struct AnswerSink<'a> {
    text: String,
    replies: &'a mut Vec<ReplyUsage>,
    models: &'a ModelUse,
}

impl EventSink for AnswerSink<'_> {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        match event {
            Event::Part(Part::TextDelta { delta, .. }) => self.text.push_str(&delta),
            Event::ReplyComplete(replied) => {
                self.models.record_reply(replied.clone()).await;
                self.replies.push(replied);
            }
            _ => {}
        }
        if self.text.len() > MAX_ANSWER { Err(SinkClosed) } else { Ok(()) }
    }
}

/// The form of an answer, with its compiled schema.
#[derive(Clone, Debug)]
pub struct AnswerForm {
    format: ResponseFormat,
    schema: Schema,
}

impl AnswerForm {
    /// Compiles the schema of an answer. It may be untrusted.
    ///
    /// # Errors
    /// It is not a valid JSON Schema, or it would be too costly to check an answer against it.
    pub async fn new(format: ResponseFormat) -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::compile(&format.schema).await?, format })
    }

    /// Returns the JSON of an answer, or the errors in it. Ends at `until` and on cancellation.
    async fn read(
        &self,
        text: &str,
        until: Instant,
        cancel: &CancellationToken,
    ) -> Result<Result<Value, String>, InvokeError> {
        let Some(output) = find_json(text) else { return Ok(Err("it contains no JSON.".to_owned())) };
        let check = tokio::time::timeout_at(until, self.schema.check(&output, MAX_FAULTS));
        let checked = cancel.run_until_cancelled(check).await.ok_or(InvokeError::Stopped)?;
        match checked.map_err(|_| InvokeError::TimedOut)? {
            Ok(()) => Ok(Ok(output)),
            Err(CheckError::Faults(faults)) => {
                Ok(Err(faults.iter().map(InstanceFault::to_string).collect::<Vec<_>>().join("; ")))
            }
            Err(misfit @ (CheckError::TooCostly | CheckError::PatternTooCostly | CheckError::Busy)) => {
                Err(InvokeError::Unchecked(misfit))
            }
        }
    }
}

/// Finds the JSON in an answer: the whole text, a code fence, or the text from the first to the
/// last bracket. What the model wrote in `<think>` is ignored.
fn find_json(text: &str) -> Option<Value> {
    let answer = match text.rfind("</think>") {
        Some(end) => &text[end + "</think>".len()..],
        None => text,
    };
    let parse = |text: &str| serde_json::from_str(text.trim()).ok();
    parse(answer).or_else(|| fences(answer).find_map(parse)).or_else(|| {
        let start = answer.find(['{', '['])?;
        let end = answer.rfind(['}', ']'])?;
        parse(answer.get(start..=end)?)
    })
}

/// Returns the contents of the code fences.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    let fenced = text.split("```").skip(1).step_by(2);
    // The first line is the name of the language.
    fenced.map(|code| code.split_once('\n').map_or(code, |(_, code)| code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_is_found_in_an_answer() {
        let check = |text: &str, expected: &str| {
            assert_eq!(find_json(text).map(|json| json.to_string()).unwrap_or_default(), expected, "{text}");
        };
        check(r#" {"a": 1} "#, r#"{"a":1}"#);
        check("```json\n{\"a\": 1}\n```", r#"{"a":1}"#);
        check("Two:\n```\nlet x\n```\nand\n```json\n[1]\n```\n", "[1]");
        check("Here you are: {\"a\": {}}. Bye.", r#"{"a":{}}"#);
        check("<think>maybe {\"a\": 0}</think>{\"a\": 1}", r#"{"a":1}"#);
        check("no", "");
        check("} {", "");
    }

    proptest! {
        #[test]
        fn any_text_is_handled_without_a_panic(text in "[`{}\\[\\]a\\n<>/think ü\"]{0,60}") {
            let _ = find_json(&text);
        }
    }
}
