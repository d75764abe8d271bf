//! A conversation of 2,000 turns with 400 tool calls on a model with a context of 32,000 tokens: it
//! never exceeds it, recalls a fact of the third turn, and its cost grows linearly.

use crate::support;
use agent::{
    Agent, ContextInput, ContextSettings, ContextSummary, ContextTriggers, Event, EventSink, Projection, RunSettings,
    SinkClosed, TurnBoundary, TurnInput,
};
use contract::testing::{Cue, history_error};
use contract::testing::{RecordingTool, text_reply, tool_call_reply};
use contract::{Message, Model, ModelError, ModelId, PartStream, Request, Tool, ToolSpec, UserPart};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

const BUDGET: usize = 32_000;
const TURNS: usize = 2_000;
const FACT: &str = "the code word is heron-4711";

/// A model that knows only what it is sent. It repeats the fact in a summary if it was sent there,
/// and calls a tool in every fifth turn.
struct Attentive {
    id: ModelId,
    /// The tokens of each request.
    sent: Mutex<Vec<usize>>,
}

/// Answers from nothing but the request.
fn reply(request: &Request) -> Vec<Cue> {
    let text: String = request.messages.iter().map(|message| format!("{message:?}\n")).collect();
    let known = if text.contains(FACT) { FACT } else { "nothing" };
    if request.system.as_ref().is_some_and(|system| system.starts_with("You summarise")) {
        return text_reply(&format!("They talked. Known: {known}."));
    }
    match request.messages.last().map(|last| &**last) {
        Some(Message::User(parts)) => match parts.last() {
            Some(UserPart::Text { text }) if text.contains("look") => {
                let id = format!("look-{}", text.split_whitespace().next().unwrap_or_default());
                tool_call_reply(&[(&id, "look", &format!("{{\"at\":\"{id}\"}}"))])
            }
            Some(UserPart::Text { text }) if text.contains("code word?") => text_reply(known),
            _ => text_reply(&"An answer of some length. ".repeat(10)),
        },
        _ => text_reply("Seen."),
    }
}

impl Model for Attentive {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, _: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        assert_eq!(history_error(&request.messages), None);
        let system = request.system.as_ref().map_or(0, String::len);
        let bytes: usize = request.messages.iter().map(|message| message.text_length()).sum();
        self.sent.lock().unwrap().push((system + bytes) / 4);
        let parts: Vec<_> = reply(&request)
            .into_iter()
            .filter_map(|cue| if let Cue::Part(part) = cue { Some(Ok(part)) } else { None })
            .collect();
        Box::pin(async { Ok(futures::stream::iter(parts).boxed()) })
    }
}

/// Keeps the projection as a store does.
struct Kept {
    projection: Projection,
    summaries: usize,
}

impl EventSink for Kept {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        match event {
            Event::ContextCleared { through, .. } => self.projection.cleared_through = Some(through),
            Event::ContextSummarized { text, through, .. } => {
                let covers = through.parse::<usize>().unwrap();
                self.projection.summary = Some(ContextSummary { text, covers });
                self.summaries += 1;
            }
            Event::SummaryFailed { error } => panic!("{error}"),
            _ => {}
        }
        Ok(())
    }
}

#[tokio::test]
async fn conversation_of_two_thousand_turns_fits_its_budget() {
    let id = ModelId { provider: "scripted".to_owned(), model: "attentive".to_owned() };
    let model = Arc::new(Attentive { id, sent: Mutex::default() });
    let look = RecordingTool::new(ToolSpec::new("look", "Looks.", json!({ "type": "object" })), |_, _| async {
        Ok(Value::from("a long result ".repeat(300)))
    });
    let looks = look.inputs();
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(look)];
    let triggers = ContextTriggers { tokens: Some(BUDGET as u64), ..ContextTriggers::default() };
    let context = ContextSettings { triggers, ..ContextSettings::default() };
    let settings = RunSettings { context, ..RunSettings::default() };
    let agent = Agent { tools, settings, ..Agent::new("helper", model.clone()) };
    let mut kept = Kept { projection: Projection::default(), summaries: 0 };
    let (mut messages, mut boundaries) = (Vec::new(), Vec::new());
    let mut answer = String::new();
    for turn in 1..=TURNS {
        let text = match turn {
            3 => format!("{turn} Remember: {FACT}."),
            TURNS => format!("{turn} What was the code word?"),
            turn if turn % 5 == 4 => format!("{turn} Please look."),
            _ => format!("{turn} {}", "What about this and that? ".repeat(10)),
        };
        if !messages.is_empty() {
            boundaries.push(TurnBoundary { at: messages.len(), message_id: messages.len().to_string() });
        }
        messages.push(Arc::new(Message::User(vec![UserPart::Text { text }])));
        let projection = kept.projection.clone();
        let input = TurnInput {
            turn_start: messages.len(),
            scope: contract::RunScope::default(),
            context: ContextInput { projection, boundaries: boundaries.clone(), ..ContextInput::default() },
            ..support::turn(messages)
        };
        let outcome = agent::run(&agent, input, &mut kept).await;
        assert!(matches!(outcome.ending, agent::Ending::Done), "{:?}", outcome.ending);
        messages = outcome.messages;
        answer = format!("{:?}", messages.last());
    }
    assert_eq!(looks.lock().unwrap().len(), 400);
    assert!(answer.contains(FACT), "{answer}");
    let sent = model.sent.lock().unwrap();
    let most = sent.iter().max().unwrap();
    assert!(*most <= BUDGET, "a request of {most} tokens");
    let (first, second) = sent.split_at(sent.len() / 2);
    let (first, second): (usize, usize) = (first.iter().sum(), second.iter().sum());
    assert!(second <= first * 13 / 10, "{first} tokens in the first half, {second} in the second");
    println!("{} requests, {} tokens, at most {most}, {} summaries", sent.len(), first + second, kept.summaries);
}
