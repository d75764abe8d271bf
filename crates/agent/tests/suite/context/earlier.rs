//! Histories that begin after the messages that the summary covers.

use super::*;
use agent::{DeferTools, EarlierHistory, EarlierMessages, TOOL_CALL};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts how often the messages are read, and how often they are searched for a call with the id `new`.
struct Stored {
    messages: Vec<Arc<Message>>,
    reads: Arc<AtomicUsize>,
    searches: Arc<AtomicUsize>,
}

impl EarlierHistory for Stored {
    fn read(&self) -> Vec<Arc<Message>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.messages.clone()
    }

    fn may_contain(&self, text: &str) -> bool {
        self.searches.fetch_add(usize::from(text == "\"new\""), Ordering::Relaxed);
        format!("{:?}", self.messages).contains(text)
    }

    fn longest_result(&self) -> usize {
        let results = self.messages.iter().filter_map(|message| match &**message {
            Message::Tool(results) => Some(results),
            _ => None,
        });
        results.flatten().map(|result| result.output.to_text().len()).max().unwrap_or_default()
    }
}

/// Runs a turn with the whole history, and with one that begins after what the summary covers. Both must send the same,
/// and have the same history at the end, as far as it was read. Returns how often the covered messages were read.
async fn reads(
    replies: impl Fn() -> Vec<Vec<Cue>>,
    covered: Vec<Message>,
    cleared: Option<&str>,
    sources: Vec<Arc<dyn ToolSource>>,
) -> usize {
    let (covered, rest) = (shared(covered), shared(vec![user("Go on."), says("Yes."), user("And now?")]));
    let count = Arc::new(AtomicUsize::new(0));
    let mut ends = Vec::new();
    for is_whole in [true, false] {
        let (agent, model) = agent(replies(), settings(1_000_000, ContextSettings::default()));
        let agent = Agent { sources: sources.clone(), ..agent };
        let messages = if is_whole { [&covered[..], &rest[..]].concat() } else { rest.clone() };
        let covers = if is_whole { covered.len() } else { 0 };
        let summary = Some(ContextSummary { text: "facts".to_owned(), covers });
        let cleared_through = cleared.map(str::to_owned);
        let projection = Projection { summary, cleared_through, covers_earlier: !is_whole, ..Projection::default() };
        let stored = Stored { messages: covered.clone(), reads: count.clone(), searches: Arc::default() };
        let earlier = (!is_whole).then(|| EarlierMessages::new(stored));
        let context = ContextInput { projection, earlier, ..ContextInput::default() };
        let (outcome, events) = turn_with(&agent, messages, context).await;
        let sent = model.requests().into_iter().map(|request| (request.messages, request.tools));
        ends.push((sent.collect::<Vec<_>>(), events, outcome.messages));
    }
    let (Some((sent, events, history)), Some((sent_whole, events_whole, whole))) = (ends.pop(), ends.pop()) else {
        unreachable!()
    };
    assert_eq!((sent, events), (sent_whole, events_whole));
    assert!(whole.ends_with(&history), "{history:?}");
    count.load(Ordering::Relaxed)
}

#[tokio::test]
async fn covered_messages_are_read_only_when_they_are_needed() {
    let covered = |length: usize| [&[user("Look.")][..], &look("old", length), &[says("Seen.")]].concat();
    let says_ok = || vec![text_reply("ok")];
    let calls = |id: &'static str, name: &'static str, input: &'static str| {
        move || vec![tool_call_reply(&[(id, name, input)]), text_reply("ok")]
    };
    assert_eq!(reads(says_ok, covered(100), None, Vec::new()).await, 0);
    assert_eq!(reads(says_ok, covered(70_000), Some("old"), Vec::new()).await, 0);
    // A large result has the tool offered that reads it.
    assert_eq!(reads(says_ok, covered(70_000), None, Vec::new()).await, 1);
    // The id of a call is unique in the conversation.
    assert_eq!(reads(calls("new", "look", "{}"), covered(100), None, Vec::new()).await, 0);
    assert_eq!(reads(calls("old", "look", "{}"), covered(100), None, Vec::new()).await, 1);
    // With the call of an earlier turn, two calls of the turn are three.
    let repeats = || {
        let look = |id: &str| tool_call_reply(&[(id, "look", "{}")]);
        vec![look("one"), look("two"), text_reply("ok")]
    };
    assert_eq!(reads(repeats, covered(100), None, Vec::new()).await, 1);
    let read_result = calls("r", "read-tool-result", r#"{"callId":"old"}"#);
    assert_eq!(reads(read_result, covered(5_000), Some("old"), Vec::new()).await, 1);
    assert_eq!(reads(says_ok, vec![user(RULE), says("Yes.")], None, vec![Arc::new(Rule)]).await, 1);
}

/// The arguments of a call come in many parts, and the covered messages may be long.
#[tokio::test]
async fn covered_messages_are_searched_once_for_the_id_of_a_call() {
    let check = async |name: &str, input: &str| {
        let settings =
            RunSettings { defer_tools: DeferTools::Always, ..settings(1_000_000, ContextSettings::default()) };
        let (agent, model) = agent(vec![tool_call_reply(&[("new", name, input)]), text_reply("ok")], settings);
        let spec = |name: &str, deferrable: bool| ToolSpec {
            deferrable,
            ..ToolSpec::new(name, "", json!({ "type": "object" }))
        };
        let tool = |spec: ToolSpec| -> Arc<dyn Tool> {
            Arc::new(RecordingTool::new(spec, |_, _| async { Ok(json!("seen")) }))
        };
        let agent = Agent { tools: vec![tool(spec("look", false)), tool(spec("find", true))], ..agent };
        let (covered, searches) = (shared(vec![user("Look."), says("Seen.")]), Arc::new(AtomicUsize::new(0)));
        let stored = Stored { messages: covered, reads: Arc::default(), searches: searches.clone() };
        let summary = Some(ContextSummary { text: "facts".to_owned(), covers: 0 });
        let projection = Projection { summary, covers_earlier: true, ..Projection::default() };
        let context =
            ContextInput { projection, earlier: Some(EarlierMessages::new(stored)), ..ContextInput::default() };
        let (outcome, _) = turn_with(&agent, shared(vec![user("And now?")]), context).await;
        assert_eq!((model.requests().len(), outcome.messages.len()), (2, 4), "{:?}", outcome.messages);
        assert_eq!(searches.load(Ordering::Relaxed), 1, "{name}");
    };
    check("look", "{}").await;
    check(TOOL_CALL, r#"{"name":"find","arguments":{}}"#).await;
}
