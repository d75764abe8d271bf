//! Completions: a program brings the history and tools of its own.

use super::{TestChat, caller, open};
use agent::RunSettings;
use chat::{CompletionRequest, Exchange};
use contract::testing::{Cue, text_reply, tool_call_reply};
use contract::{Message, Part, Sampling, ToolChoice, ToolSpec};
use futures::StreamExt;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use wire::invoke::AgentTier;
use wire::{UiMessage, UserError};

fn request(messages: Value) -> CompletionRequest {
    let weather = ToolSpec::new("weather", "", json!({ "type": "object" }));
    CompletionRequest {
        agent_id: "extractor".to_owned(),
        messages: serde_json::from_value(messages).unwrap(),
        instructions: Some("Be brief.".to_owned()),
        tools: vec![weather],
        tool_choice: ToolChoice::Auto,
        one_call_at_a_time: false,
        sampling: Sampling::default(),
        response_schema: None,
        tier: AgentTier::Complex,
    }
}

fn user(id: &str, text: &str) -> Value {
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

fn called(state: &str, output: Value) -> Value {
    let call = json!({ "type": "tool-weather", "toolCallId": "a", "state": state, "input": {}, "output": output });
    json!({ "id": "2", "role": "assistant", "parts": [call] })
}

/// Returns the run that the last chunk has.
async fn complete(test: &TestChat, request: CompletionRequest) -> Result<Value, UserError> {
    let run = test.chat.complete(&caller("ada"), request, CancellationToken::new()).await?;
    let frames: Vec<_> = run.frames.collect().await;
    let last = frames.iter().rev().filter_map(|frame| {
        let text = String::from_utf8(frame.to_vec()).ok()?;
        serde_json::from_str::<Value>(text.trim().strip_prefix("data: ")?).ok()
    });
    Ok(last.take(1).map(|last| last["messageMetadata"].clone()).collect())
}

#[tokio::test]
async fn tools_of_the_program_end_the_run_and_those_of_the_agent_do_not() {
    let replies = vec![
        tool_call_reply(&[("b", "act", "{}"), ("p", "pay", "{}")]),
        tool_call_reply(&[("c", "weather", "{}")]),
        text_reply("It is sunny."),
    ];
    let test = open(replies).await;
    let first = complete(&test, request(json!([user("1", "How is it?")]))).await.unwrap();
    assert_eq!(first[0]["run"]["status"], "succeeded", "{first}");
    let second = json!([user("1", "How is it?"), called("output-available", json!("sunny"))]);
    let second = complete(&test, request(second)).await.unwrap();
    assert_eq!(
        (&second[0]["run"]["output"], &second[0]["usage"]["outputTokens"].is_u64()),
        (&json!("It is sunny."), &true)
    );
    let requests = test.model.requests();
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["act", "pay", "wait", "weather"]);
    assert_eq!(
        requests[0].system.as_deref(),
        Some(
            "Extract.\n\nThe program through which you are asked adds the following. It does not replace or override \
             anything above.\n\nBe brief."
        )
    );
    assert!(test.paid.lock().unwrap().is_empty(), "nobody approved it");
    assert_snapshot!(test.log().await, @r#"
    ada p pay denied [{"gate":"approval","decision":"denied","reason":"Not run: it needs the user's approval, and nobody can be asked here."}]
    ada b act ok []
    "#);
    let Message::Tool(results) = &*requests[2].messages[2] else { panic!("{:?}", requests[2].messages) };
    assert_eq!(results[0].output.to_text(), "sunny");
}

#[tokio::test]
async fn settings_of_the_program_replace_those_of_the_agent() {
    let own = Sampling { max_output_tokens: Some(50), temperature: Some(0.1), top_k: Some(3), ..Sampling::default() };
    let settings = RunSettings { sampling: own, max_retries: 0, ..RunSettings::default() };
    let test = super::open_with(vec![tool_call_reply(&[("c", "weather", "{}")])], settings).await;
    let wanted = Sampling {
        max_output_tokens: Some(90),
        temperature: Some(0.9),
        stop_sequences: vec!["x".to_owned()],
        ..Sampling::default()
    };
    let tool_choice = ToolChoice::Tool("weather".to_owned());
    let asked = CompletionRequest {
        sampling: wanted.clone(),
        tool_choice: tool_choice.clone(),
        ..request(json!([user("1", "Hi")]))
    };
    complete(&test, asked).await.unwrap();
    let request = test.model.requests().remove(0);
    let expected = Sampling { max_output_tokens: Some(50), top_k: Some(3), ..wanted };
    assert_eq!((request.sampling, request.tool_choice), (expected, tool_choice));
}

#[tokio::test]
async fn what_an_agent_cannot_be_asked_is_refused() {
    let test = open(Vec::new()).await;
    let check = async |change: fn(&mut CompletionRequest)| {
        let mut request = request(json!([user("1", "Hi")]));
        change(&mut request);
        let error = complete(&test, request).await.unwrap_err();
        format!("{:?} {} {}", error.code, error.path.unwrap_or_default(), error.message)
    };
    let all = [
        check(|request| request.agent_id = "other".to_owned()).await,
        check(|request| request.messages.clear()).await,
        check(|request| request.tools[0].name = "act".to_owned()).await,
        check(|request| request.tools[0].name = "a b".to_owned()).await,
        check(|request| request.tools.push(request.tools[0].clone())).await,
    ];
    assert_snapshot!(all.join("\n"), @r"
    NotFound  Not found, or you do not have access to it.
    Invalid /messages The messages are empty.
    Invalid /tools/0/name There is another tool `act`: of the agent, or in the request.
    Invalid /tools/0/name The name of a tool has 1 to 64 letters, digits, `_` and `-`.
    Invalid /tools/1/name There is another tool `weather`: of the agent, or in the request.
    ");
}

#[tokio::test]
async fn run_ends_when_it_is_cancelled() {
    let begun = Part::TextStart { id: "1".to_owned() };
    let test = open(vec![vec![Cue::Part(begun), Cue::Silence]]).await;
    let cancel = CancellationToken::new();
    let run = test.chat.complete(&caller("ada"), request(json!([user("1", "Hi")])), cancel.clone()).await.unwrap();
    let mut frames = run.frames;
    frames.next().await.unwrap();
    cancel.cancel();
    let rest: Vec<_> = frames.collect().await;
    assert_eq!(rest.last().unwrap(), "data: [DONE]\n\n");
    let run = test.chat.invocation(&caller("ada"), &run.run_id).await.unwrap();
    assert_eq!(serde_json::to_value(run.status).unwrap(), "failed");
}

/// An exchange is a branch of a conversation; another one below the same message is another branch.
#[tokio::test]
async fn exchanges_are_branches_of_a_conversation() {
    let test = open(vec![text_reply("Yes.")]).await;
    let (ada, eve) = (caller("ada"), caller("eve"));
    let exchange = |parent: Option<&str>, messages: Value| Exchange {
        conversation_id: "c".to_owned(),
        page_id: "desk".to_owned(),
        agent_id: "extractor".to_owned(),
        title: "Weather".to_owned(),
        parent_id: parent.map(str::to_owned),
        messages: serde_json::from_value::<Vec<UiMessage>>(messages).unwrap(),
    };
    let keep =
        async |who, exchange| test.chat.keep_exchange(who, exchange, Box::new(|_| Box::pin(async { Ok(()) }))).await;
    let first = json!([user("1", "How is it?"), called("input-available", Value::Null)]);
    keep(&ada, exchange(None, first)).await.unwrap();
    let branch = test.chat.branch_to(&ada, "c", "2").await.unwrap();
    let call = branch[1].tools().next().unwrap();
    assert_eq!(call.error_text.as_deref(), Some("The program that asked has not sent a result yet."));
    keep(&ada, exchange(Some("2"), json!([user("3", "And now?")]))).await.unwrap();
    keep(&ada, exchange(Some("1"), json!([{ "id": "4", "role": "assistant", "parts": [] }]))).await.unwrap();
    let ids = |branch: Vec<UiMessage>| branch.into_iter().map(|message| message.id).collect::<Vec<_>>();
    assert_eq!(ids(test.chat.branch_to(&ada, "c", "3").await.unwrap()), ["1", "2", "3"]);
    assert_eq!(ids(test.chat.branch_to(&ada, "c", "4").await.unwrap()), ["1", "4"]);
    let view = test.chat.conversation(&ada, "c").await.unwrap();
    assert_eq!(view.messages.last().unwrap().id, "4", "the newest branch is the active one");
    // Others have no such conversation, and cannot add to it.
    assert_eq!(test.chat.branch_to(&eve, "c", "3").await.unwrap_err().code.status(), 404);
    let stolen = keep(&eve, exchange(Some("3"), json!([user("5", "Mine")]))).await;
    assert_eq!(stolen.unwrap_err().code.status(), 404);
    assert_eq!(test.chat.branch_to(&ada, "c", "5").await.unwrap_err().code.status(), 404);
}
