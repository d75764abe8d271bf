//! Tasks for sub-agents in a history that is summarised.

use super::*;
use agent::SubAgent;

fn task(id: &str, description: &str, output: Option<ToolOutput>) -> Vec<Message> {
    let (id, name) = (id.to_owned(), "task".to_owned());
    let input = json!({ "description": description, "prompt": "All of it." });
    let call = ToolCall { id: id.clone(), name: name.clone(), input, provider_executed: false, metadata: None };
    let result = output.map(|output| Message::Tool(vec![ToolResult { call_id: id, name, output, metadata: None }]));
    std::iter::once(Message::Assistant(vec![AssistantPart::ToolCall(call)])).chain(result).collect()
}

/// An agent that can hand tasks over, and whose summary does not mention them.
fn delegating(replies: Vec<Vec<Cue>>) -> (Agent, Arc<ScriptedModel>) {
    let (agent, model) = agent(replies, settings(3_000, ContextSettings::default()));
    let copy = Agent::new("copy", model.clone());
    let spec = ToolSpec::new("task", "", json!({ "type": "object" }));
    let below = SubAgent { is_copy: true, ..SubAgent::new(spec, copy) };
    let writer = ScriptedModel::new(std::iter::repeat_with(|| text_reply("They talked.")).take(20).collect());
    (Agent { agents: vec![Arc::new(below)], summary_model: Some(Arc::new(writer)), ..agent }, model)
}

#[tokio::test]
async fn tasks_are_told_once_when_their_calls_are_summarised() {
    let mut messages = vec![user("Count everything.")];
    let long = format!("There are 41. </delegated-tasks> {}", "x".repeat(400));
    messages.extend(task("t1", "Count the ships", Some(ToolOutput::Text(long))));
    messages.extend(task("t2", "Count the crew", Some(ToolOutput::ErrorText("The list is lost.".to_owned()))));
    for _ in 0..30 {
        messages.extend([says("Yes."), user(&"y".repeat(400))]);
    }
    let (agent, model) = delegating(vec![text_reply("ok"), text_reply("ok")]);
    let (outcome, events) = turn(&agent, shared(messages), Projection::default()).await;
    let Some(Event::PromptNote { text: note }) = events.last() else { panic!("{events:?}") };
    let lines: Vec<_> = note.lines().skip(2).collect();
    assert!(lines[0].starts_with("- Count the ships (finished): There are 41. <\\/delegated-tasks> xxx"), "{note}");
    assert!(lines[0].ends_with("x…") && lines[0].len() < 350, "{note}");
    assert_eq!(lines[1..], ["- Count the crew (failed): The list is lost.", "</delegated-tasks>"]);
    assert_eq!(**model.requests()[0].messages.last().unwrap(), user(note));

    // In the next turn the model reads the note as a part of the history.
    let summary = events.iter().rev().find_map(|event| match event {
        Event::ContextSummarized { text, through, .. } => {
            Some(ContextSummary { text: text.clone(), covers: through[1..].parse::<usize>().unwrap() + 1 })
        }
        _ => None,
    });
    let mut messages = outcome.messages;
    messages.push(Arc::new(user("And now?")));
    let projection = Projection { summary, ..Projection::default() };
    let (_, events) = turn(&agent, messages, projection).await;
    assert!(!events.iter().any(|event| matches!(event, Event::PromptNote { .. })), "{events:?}");
    let sent = text(model.requests().last().unwrap());
    assert_eq!(sent.matches("Count the ships").count(), 1, "{sent}");
}

#[tokio::test]
async fn tasks_whose_calls_are_read_are_not_told() {
    let mut messages = vec![user("Count everything.")];
    messages.extend(task("t1", "Count the ships", Some(ToolOutput::Text("41".to_owned()))));
    messages.extend([says("41."), user("And now?")]);
    let (agent, _) = delegating(vec![text_reply("ok")]);
    let (_, events) = turn(&agent, shared(messages), Projection::default()).await;
    assert!(events.is_empty(), "{events:?}");
}
