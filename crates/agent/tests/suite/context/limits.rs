//! Requests that are too long although they fit the budget, and budgets that leave no room.

use super::*;
use agent::{Ending, MeasuredSize};
use contract::Usage;

fn long_history() -> Vec<Arc<Message>> {
    let mut messages = Vec::new();
    for at in 0..30 {
        messages.extend([user(&format!("question {at} {}", "y".repeat(400))), says("Yes.")]);
    }
    messages.push(user("newest"));
    shared(messages)
}

/// An agent whose summaries are written by another model, in as many pieces as it needs.
fn summarized(replies: Vec<Vec<Cue>>, settings: RunSettings) -> (Agent, Arc<ScriptedModel>) {
    let (agent, model) = agent(replies, settings);
    let writer = ScriptedModel::new(std::iter::repeat_with(|| text_reply("Facts.")).take(20).collect());
    (Agent { summary_model: Some(Arc::new(writer)), ..agent }, model)
}

fn too_long() -> Vec<Cue> {
    vec![Cue::Fail(model_error(ModelErrorKind::ContextTooLong))]
}

/// The model's context is smaller than is known of it.
#[tokio::test]
async fn refused_request_is_made_shorter_and_sent_again() {
    let replies = vec![too_long(), tool_call_reply(&[("a", "look", "{}")]), text_reply("ok")];
    let (agent, model) = summarized(replies, RunSettings::default());
    let messages = long_history();
    let (outcome, events) = turn(&agent, messages.clone(), Projection::default()).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(outcome.steps, 2, "the refused request is no step");
    assert!(events.iter().any(|event| matches!(event, Event::ContextSummarized { .. })), "{events:?}");
    assert!(matches!(events.last(), Some(Event::Retry { attempt: 1, .. })), "{events:?}");
    let requests = model.requests();
    assert_eq!((requests.len(), &requests[0].messages), (3, &messages));
    assert!(tokens(&requests[1]) <= tokens(&requests[0]) / 2, "{} tokens", tokens(&requests[1]));
    assert!(text(&requests[1]).contains("Facts.") && text(&requests[1]).contains("newest"));
    assert!(text(&requests[2]).starts_with(&text(&requests[1])), "the context stays as it is");
}

#[tokio::test]
async fn refusal_fails_the_turn_if_nothing_becomes_shorter() {
    let check = async |messages: Vec<Arc<Message>>, context: ContextSettings, replies: Vec<Vec<Cue>>| {
        let sent = replies.len();
        let settings = RunSettings { max_retries: 2, context, ..RunSettings::default() };
        let (agent, model) = summarized(replies, settings);
        let (outcome, _) = turn(&agent, messages, Projection::default()).await;
        let Ending::Failed(error) = outcome.ending else { panic!("{:?}", outcome.ending) };
        assert_eq!((error.kind, model.requests().len()), (ModelErrorKind::ContextTooLong, sent));
    };
    let off = ContextSettings { enabled: false, ..ContextSettings::default() };
    check(long_history(), off, vec![too_long()]).await;
    check(shared(vec![user(&"y".repeat(4_000))]), ContextSettings::default(), vec![too_long()]).await;
    // The second refusal in a row counts.
    let replies = vec![too_long(), too_long()];
    check(long_history(), ContextSettings::default(), replies).await;
}

/// Calls at once may have more results than are kept.
#[tokio::test]
async fn results_that_the_model_has_not_read_are_not_cleared() {
    let check = async |keep_tool_results: usize, calls: usize| {
        let messages = vec![user("Look around.")];
        let ids: Vec<_> = (0..calls).map(|at| format!("c{at}")).collect();
        let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "dump", "{}")).collect();
        let model = Arc::new(ScriptedModel::new(vec![tool_call_reply(&calls), text_reply("ok")]));
        let spec = ToolSpec::new("dump", "", json!({ "type": "object" }));
        let dump = || async { Ok(json!(format!("BEGIN{}", "x".repeat(3_000)))) };
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(RecordingTool::new(spec, move |_, _| dump()))];
        let context = ContextSettings { keep_tool_results, ..ContextSettings::default() };
        let agent = Agent { tools, settings: settings(4_000, context), ..Agent::new("helper", model.clone()) };
        let (_, events) = turn(&agent, shared(messages), Projection::default()).await;
        let requests = model.requests();
        assert_eq!(text(&requests[1]).matches("BEGIN").count(), ids.len());
        assert!(tokens(&requests[1]) < 4_000, "{} tokens", tokens(&requests[1]));
        // The oldest are shortened, and the newest are whole as far as there is room.
        let whole = text(&requests[1]).matches(&"x".repeat(1_100)).count();
        assert!((1..ids.len()).contains(&whole), "{whole} are whole");
        let [Event::ReadingOffered, Event::ContextShortened { .. }] = &events[..] else { panic!("{events:?}") };
    };
    check(5, 10).await;
    check(0, 10).await;
    check(20, 10).await;
}

/// Two bytes a letter: the estimate of four bytes a token is half of what the provider counts.
#[tokio::test]
async fn estimates_of_a_turn_begin_with_what_the_provider_counted_before() {
    let check = async |measured: Option<MeasuredSize>, summarizes: bool| {
        let mut messages = Vec::new();
        for at in 0..10 {
            messages.extend([user(&format!("{at} {}", "\u{5e9}".repeat(400))), says("\u{5db}\u{5df}.")]);
        }
        messages.push(user("newest"));
        let messages = shared(messages);
        let (agent, _) = summarized(vec![text_reply("ok")], settings(3_500, ContextSettings::default()));
        let context = ContextInput { boundaries: boundaries(&messages), measured, ..ContextInput::default() };
        let (_, events) = turn_with(&agent, messages, context).await;
        let is_summary = |event: &Event| matches!(event, Event::ContextSummarized { .. });
        assert_eq!(events.iter().any(is_summary), summarizes, "{measured:?} {events:?}");
    };
    check(None, false).await;
    check(Some(MeasuredSize { estimated: 2_000, reported: 4_000 }), true).await;
    check(Some(MeasuredSize { estimated: 2_000, reported: 1_000 }), false).await;
    // What the provider adds to a short request says nothing about the language.
    check(Some(MeasuredSize { estimated: 50, reported: 400 }), false).await;
}

#[tokio::test]
async fn room_for_the_answer_is_left() {
    let check = async |max_output_tokens: Option<u32>, output_is_beside: bool, summarizes: bool| {
        let messages = long_history();
        let (agent, _) = summarized(vec![text_reply("ok")], RunSettings::default());
        let mut settings = RunSettings { context_tokens: Some(6_000), output_is_beside, ..RunSettings::default() };
        settings.sampling.max_output_tokens = max_output_tokens;
        let (_, events) = turn(&Agent { settings, ..agent }, messages, Projection::default()).await;
        assert_eq!(!events.is_empty(), summarizes, "{max_output_tokens:?} {events:?}");
    };
    // The history has more than 3,000 and less than 4,800 tokens.
    check(None, false, false).await;
    check(Some(4_000), false, true).await;
    check(Some(4_000), true, false).await;
}

/// A provider that counts more than the estimate corrects the next step.
#[tokio::test]
async fn estimates_are_corrected_within_a_turn() {
    let mut reply = tool_call_reply(&[("a", "look", "{}")]);
    for cue in &mut reply {
        if let Cue::Part(contract::Part::Finish { usage, .. }) = cue {
            *usage = Usage { input_tokens: 8_000, ..*usage };
        }
    }
    let (agent, _) = summarized(vec![reply, text_reply("ok")], settings(5_000, ContextSettings::default()));
    let (_, events) = turn(&agent, long_history(), Projection::default()).await;
    assert!(events.iter().any(|event| matches!(event, Event::ContextSummarized { .. })), "{events:?}");
}
