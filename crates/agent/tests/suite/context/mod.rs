//! A long history: what a model reads of it, and what happens when that is changed.

mod delegations;
mod earlier;
mod limits;
mod long_conversation;
mod projections;

use crate::support;
use agent::{
    Agent, ContextInput, ContextSettings, ContextSummary, ContextTriggers, Event, EventSink, PageContext, Projection,
    RunOutcome, RunSettings, SinkClosed, SummarySettings, TurnBoundary, TurnInput,
};
use contract::testing::{
    Cue, RecordingTool, ScriptedModel, finish_cue, history_error, model_error, text_reply, tool_call_reply,
};
use contract::{
    AssistantPart, FinishReason, Message, ModelErrorKind, NoteQuery, Request, RunScope, SourceTools, Tool, ToolCall,
    ToolError, ToolOutput, ToolResult, ToolSource, ToolSpec, UserPart,
};
use futures::future::BoxFuture;
use serde_json::json;
use std::sync::Arc;

/// Records the events about the context.
#[derive(Default)]
struct Events(Vec<Event>);

impl EventSink for Events {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if matches!(
            event,
            Event::ContextCleared { .. }
                | Event::ContextShortened { .. }
                | Event::ReadingOffered
                | Event::Retry { .. }
                | Event::ContextSummarized { .. }
                | Event::SummaryFailed { .. }
                | Event::SideReply(_)
                | Event::PageContext { .. }
                | Event::PromptNote { .. }
        ) {
            self.0.push(event);
        }
        Ok(())
    }
}

fn user(text: &str) -> Message {
    Message::User(vec![UserPart::Text { text: text.to_owned() }])
}

fn says(text: &str) -> Message {
    Message::Assistant(vec![AssistantPart::Text { text: text.to_owned(), metadata: None }])
}

/// A call with a result of this length.
fn look(id: &str, length: usize) -> [Message; 2] {
    let (id, name) = (id.to_owned(), "look".to_owned());
    let call =
        ToolCall { id: id.clone(), name: name.clone(), input: json!({}), provider_executed: false, metadata: None };
    let output = ToolOutput::Text("x".repeat(length));
    [
        Message::Assistant(vec![AssistantPart::ToolCall(call)]),
        Message::Tool(vec![ToolResult { call_id: id, name, output, metadata: None }]),
    ]
}

fn shared(messages: Vec<Message>) -> Vec<Arc<Message>> {
    messages.into_iter().map(Arc::new).collect()
}

/// Returns the places before the messages of the user.
fn boundaries(messages: &[Arc<Message>]) -> Vec<TurnBoundary> {
    let places = messages.iter().enumerate().skip(1).filter(|(_, message)| matches!(***message, Message::User(_)));
    places.map(|(at, _)| TurnBoundary { at, message_id: format!("m{}", at - 1) }).collect()
}

fn settings(tokens: u64, context: ContextSettings) -> RunSettings {
    let triggers = ContextTriggers { tokens: Some(tokens), ..ContextTriggers::default() };
    RunSettings { max_retries: 0, context: ContextSettings { triggers, ..context }, ..RunSettings::default() }
}

async fn turn(agent: &Agent, messages: Vec<Arc<Message>>, projection: Projection) -> (RunOutcome, Vec<Event>) {
    let context = ContextInput { projection, boundaries: boundaries(&messages), ..ContextInput::default() };
    turn_with(agent, messages, context).await
}

async fn turn_with(agent: &Agent, messages: Vec<Arc<Message>>, context: ContextInput) -> (RunOutcome, Vec<Event>) {
    let turn_start = messages.len();
    turn_from(agent, messages, turn_start, context).await
}

/// Runs a turn that begins at this message.
async fn turn_from(
    agent: &Agent,
    messages: Vec<Arc<Message>>,
    turn_start: usize,
    context: ContextInput,
) -> (RunOutcome, Vec<Event>) {
    let mut events = Events::default();
    let turn = TurnInput { turn_start, scope: RunScope::default(), context, ..support::turn(messages) };
    let outcome = agent::run(agent, turn, &mut events).await;
    (outcome, events.0)
}

fn agent(replies: Vec<Vec<Cue>>, settings: RunSettings) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    let spec = ToolSpec::new("look", "", json!({ "type": "object" }));
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(RecordingTool::new(spec, |_, _| async { Ok(json!("seen")) }))];
    (Agent { tools, settings, ..Agent::new("helper", model.clone()) }, model)
}

fn text(request: &Request) -> String {
    request.messages.iter().map(|message| format!("{message:?}\n")).collect()
}

fn tokens(request: &Request) -> usize {
    request.messages.iter().map(|message| message.text_length() / 4).sum()
}

#[tokio::test]
async fn old_results_are_cleared_and_can_be_read_again() {
    let mut messages = vec![user("Look around.")];
    for at in 0..8 {
        messages.extend(look(&format!("c{at}"), 2_000));
    }
    messages.extend([says("Seen."), user("And again?")]);
    let context = ContextSettings { keep_tool_results: 2, ..ContextSettings::default() };
    let replies = vec![tool_call_reply(&[("r", "read-tool-result", r#"{"callId":"c0"}"#)]), text_reply("x")];
    let (agent, model) = agent(replies, settings(3_000, context));
    let (outcome, events) = turn(&agent, shared(messages.clone()), Projection::default()).await;
    assert!(matches!(&events[..], [Event::ContextCleared { through, .. }] if through == "c5"), "{events:?}");
    let requests = model.requests();
    let cleared = text(&requests[0]).matches("This result was cleared").count();
    assert_eq!((cleared, requests[0].tools.len()), (6, 2), "the tool is offered");
    assert_eq!(history_error(&requests[0].messages), None);
    let whole = text(&requests[1]).matches(&"x".repeat(2_000)).count();
    assert_eq!(whole, 3, "two are kept, and one was read again");
    // The history itself is unchanged.
    assert_eq!(outcome.messages[..messages.len()], shared(messages)[..]);
}

#[tokio::test]
async fn large_results_are_shortened_before_they_are_sent() {
    let check = async |context: ContextSettings, shortened: bool| {
        let model = Arc::new(ScriptedModel::new(vec![
            tool_call_reply(&[("a", "dump", "{}")]),
            tool_call_reply(&[("r", "read-tool-result", r#"{"callId":"a","offset":6000}"#)]),
            text_reply("ok"),
        ]));
        let spec = ToolSpec::new("dump", "", json!({ "type": "object" }));
        let dump = format!("{}MIDDLE{}", "h".repeat(10_000), "t".repeat(90_000));
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(RecordingTool::new(spec, move |_, _| {
            let dump = json!(dump);
            async move { Ok(dump) }
        }))];
        let settings = RunSettings { context, context_tokens: Some(1_000_000), ..RunSettings::default() };
        let agent = Agent { tools, settings, ..Agent::new("helper", model.clone()) };
        let (outcome, events) = turn(&agent, shared(vec![user("Dump.")]), Projection::default()).await;
        // The tool that is added is recorded, once.
        assert_eq!(events, if shortened { vec![Event::ReadingOffered] } else { Vec::new() });
        assert!(outcome.messages[2].text_length() > 100_000, "the history has all of it");
        let requests = model.requests();
        let offered: Vec<_> = requests.iter().map(|request| request.tools.len()).collect();
        assert_eq!(offered, if shortened { [1, 2, 2] } else { [1, 1, 1] });
        assert_eq!(text(&requests[1]).contains("MIDDLE"), !shortened);
        assert_eq!(tokens(&requests[1]) < 3_000, shortened);
        // What was left out can be read, and the result stays as it was sent.
        assert!(!shortened || text(&requests[2]).contains("MIDDLE"));
        assert!(text(&requests[2]).starts_with(&text(&requests[1])));
    };
    check(ContextSettings::default(), true).await;
    check(ContextSettings { max_result_bytes: 200_000, ..ContextSettings::default() }, false).await;
    check(ContextSettings { enabled: false, ..ContextSettings::default() }, false).await;
}

#[tokio::test]
async fn older_turns_are_summarised() {
    let mut messages = Vec::new();
    for at in 0..30 {
        messages.extend([user(&format!("question {at} {}", "y".repeat(400))), says("Yes.")]);
    }
    messages.push(user("newest"));
    let (agent, model) =
        agent(vec![text_reply("Facts."), text_reply("ok")], settings(3_000, ContextSettings::default()));
    let (_, events) = turn(&agent, shared(messages), Projection::default()).await;
    let [Event::SideReply(usage), Event::ContextSummarized { text: summary, through, tokens_before, tokens_after, .. }] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((summary.as_str(), usage.usage.input_tokens), ("Facts.", 10));
    assert!(tokens_before >= &3_000 && tokens_after <= &1_500, "{tokens_before} {tokens_after}");
    let requests = model.requests();
    assert!(text(&requests[0]).contains("question 0 ") && !text(&requests[0]).contains("newest"));
    let sent = text(&requests[1]);
    assert!(sent.starts_with("User([Text { text: \"<summary-of-earlier-messages>"), "{sent}");
    assert!(sent.contains("Facts.") && sent.contains("newest") && !sent.contains("question 0 "));
    assert_eq!(through, &format!("m{}", 60 - requests[1].messages.len()));
}

/// The model is told again what the page contains when the message that said it is summarised.
#[tokio::test]
async fn page_context_is_told_when_the_model_does_not_know_it() {
    let check = async |turns: usize, is_known: bool, told: bool| {
        let mut messages = Vec::new();
        for _ in 0..turns {
            messages.extend([user(&"y".repeat(400)), says("Yes.")]);
        }
        messages.push(user("newest"));
        let replies = vec![text_reply("Facts."), text_reply("ok")];
        let (agent, model) = agent(replies, settings(3_000, ContextSettings::default()));
        let page = Some(PageContext { text: "<page-state>1</page-state>".to_owned(), is_known });
        let messages = shared(messages);
        let context = ContextInput { boundaries: boundaries(&messages), page, ..ContextInput::default() };
        let (outcome, events) = turn_with(&agent, messages, context).await;
        let events = events.iter().filter(|event| matches!(event, Event::PageContext { .. })).count();
        assert_eq!(events, usize::from(told), "{turns} {is_known}");
        let sent = model.requests().last().unwrap().messages.last().unwrap().clone();
        let front = if told { "<page-state>1</page-state>" } else { "newest" };
        assert!(
            matches!(&*sent, Message::User(parts) if parts[0] == UserPart::Text { text: front.to_owned() }),
            "{sent:?}"
        );
        assert!(outcome.messages.contains(&sent), "it stays in the history");
    };
    check(1, false, true).await;
    check(1, true, false).await;
    check(30, false, true).await;
    check(30, true, true).await;
}

/// A source that tells the model a rule as soon as the model does not read it, once the history has it.
struct Rule;

const RULE: &str = "Answer in Latin.";

impl ToolSource for Rule {
    fn name(&self) -> &str {
        "rule"
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        Box::pin(std::future::ready(Ok(SourceTools::default())))
    }

    fn reads_history(&self) -> bool {
        true
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        let has = |messages: &[Arc<Message>]| messages.iter().any(|message| **message == user(RULE));
        Box::pin(std::future::ready((has(asked.history) && !has(asked.messages)).then(|| RULE.to_owned())))
    }
}

#[tokio::test]
async fn what_a_source_has_told_is_told_again_with_the_summary() {
    let mut messages = vec![user(RULE)];
    for _ in 0..30 {
        messages.extend([says("Yes."), user(&"y".repeat(400))]);
    }
    let (agent, model) =
        agent(vec![text_reply("Facts."), text_reply("ok")], settings(3_000, ContextSettings::default()));
    let agent = Agent { sources: vec![Arc::new(Rule)], ..agent };
    let (_, events) = turn(&agent, shared(messages), Projection::default()).await;
    let notes = events.iter().filter(|event| matches!(event, Event::PromptNote { .. })).count();
    let answered = &model.requests()[1];
    assert_eq!((notes, text(answered).matches(RULE).count()), (1, 1));
    assert_eq!(**answered.messages.last().unwrap(), user(RULE));
}

#[tokio::test]
async fn failed_summary_loses_nothing() {
    let check = async |reply: Vec<Cue>| {
        let mut messages = Vec::new();
        for _ in 0..30 {
            messages.extend([user(&"y".repeat(400)), says("Yes.")]);
        }
        messages.push(user("newest"));
        let replies = vec![reply, tool_call_reply(&[("a", "look", "{}")]), text_reply("ok")];
        let (agent, model) = agent(replies, settings(3_000, ContextSettings::default()));
        let (_, events) = turn(&agent, shared(messages.clone()), Projection::default()).await;
        assert!(matches!(events.last(), Some(Event::SummaryFailed { .. })), "{events:?}");
        let requests = model.requests();
        assert_eq!(requests.len(), 3, "no other attempt in this run");
        assert_eq!(requests[1].messages, shared(messages));
    };
    check(text_reply(" \n ")).await;
    check(vec![Cue::Fail(model_error(ModelErrorKind::Refused))]).await;
    check(vec![finish_cue(FinishReason::ContentFilter)]).await;
}

/// A summary that failed lately is attempted again as soon as the request is larger than the model's context.
#[tokio::test]
async fn request_beyond_the_context_does_not_rest() {
    let check = async |context_tokens: u64, summaries: &[&str]| {
        let mut messages = Vec::new();
        for _ in 0..30 {
            messages.extend([user(&"y".repeat(500)), says("Yes.")]);
        }
        messages.push(user("newest"));
        let replies = summaries.iter().chain(&["ok"]).map(|text| text_reply(text)).collect();
        let settings =
            RunSettings { context_tokens: Some(context_tokens), ..settings(3_000, ContextSettings::default()) };
        let (agent, model) = agent(replies, settings);
        let messages = shared(messages);
        let input = ContextInput { boundaries: boundaries(&messages), rests: true, ..ContextInput::default() };
        let (_, events) = turn_with(&agent, messages, input).await;
        assert_eq!(model.requests().len(), summaries.len() + 1, "{context_tokens} {summaries:?}");
        let is_summarised = text(model.requests().last().unwrap()).contains("The facts.");
        let is_empty = summaries.iter().any(|text| text.trim().is_empty());
        assert_eq!(is_summarised, !summaries.is_empty() && !is_empty, "{context_tokens} {summaries:?}");
        let is_told = events.iter().any(|event| matches!(event, Event::SummaryFailed { .. }));
        assert_eq!(is_told, is_empty, "{context_tokens} {summaries:?}");
    };
    check(100_000, &[]).await;
    // The history is summarised in two pieces.
    check(3_500, &["Some facts.", "The facts."]).await;
    check(3_500, &[" "]).await;
}

#[tokio::test]
async fn switched_off_context_is_sent_whole() {
    let mut messages = Vec::new();
    for _ in 0..30 {
        messages.extend([user(&"y".repeat(400)), says("Yes.")]);
    }
    messages.push(user("newest"));
    let off = ContextSettings { enabled: false, ..ContextSettings::default() };
    let (agent, model) = agent(vec![text_reply("ok")], settings(3_000, off));
    let (_, events) = turn(&agent, shared(messages.clone()), Projection::default()).await;
    assert_eq!((events, model.requests()[0].messages.clone()), (Vec::new(), shared(messages)));
}

#[tokio::test]
async fn another_model_summarises() {
    let mut messages = Vec::new();
    for _ in 0..30 {
        messages.extend([user(&"y".repeat(400)), says("Yes.")]);
    }
    messages.push(user("newest"));
    let summary = SummarySettings { prompt: Some("Keep the colours.".to_owned()), ..SummarySettings::default() };
    let context = ContextSettings { summary, ..ContextSettings::default() };
    let (agent, model) = agent(vec![text_reply("ok")], settings(3_000, context));
    let writer = Arc::new(ScriptedModel::new(vec![text_reply("Facts.")]));
    let agent = Agent { summary_model: Some(writer.clone()), ..agent };
    turn(&agent, shared(messages), Projection::default()).await;
    assert!(writer.requests()[0].system.as_ref().unwrap().contains("Keep the colours."));
    assert_eq!((writer.requests().len(), model.requests().len()), (1, 1));
}
