//! Checks that requests for random valid histories follow each provider's rules.

use crate::{ai_gateway, anthropic, google, openai_chat, openai_responses, testing};
use contract::testing::history_error;
use contract::{AssistantPart, Message, Request, ToolOutput};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One reply of a model: text, reasoning, calls.
#[derive(Clone, Debug)]
struct ModelStep {
    text: &'static str,
    thought: Option<&'static str>,
    calls: Vec<u8>,
}

fn any_step() -> impl Strategy<Value = ModelStep> {
    let text = prop::sample::select(vec!["", " ", "well"]);
    let thought = prop::option::of(prop::sample::select(vec!["anthropic", "openai", "google", "nobody"]));
    (text, thought, prop::collection::vec(0..3_u8, 0..3)).prop_map(|(text, thought, calls)| ModelStep {
        text,
        thought,
        calls,
    })
}

/// Generates user turns with the model's replies. A turn that was stopped early has no replies, an
/// edited one begins with the model.
fn any_history() -> impl Strategy<Value = Vec<Message>> {
    let turn = (any::<bool>(), prop::collection::vec(any_step(), 0..3));
    prop::collection::vec(turn, 1..5).prop_map(|turns| {
        let mut messages = Vec::new();
        let mut id = 0;
        for (asks, steps) in turns {
            if asks {
                messages.push(testing::user("go on"));
            }
            for step in steps {
                let mut parts: Vec<AssistantPart> = step
                    .thought
                    .map(|by| testing::reasoning("hm", by, json!({ "signature": "s" })))
                    .into_iter()
                    .collect();
                if !step.text.is_empty() {
                    parts.push(testing::text(step.text));
                }
                let mut results = Vec::new();
                for kind in step.calls {
                    id += 1;
                    let name = format!("c{id}");
                    parts.push(testing::call(&name, json!({})));
                    let output = [
                        ToolOutput::Text(String::new()),
                        ToolOutput::ErrorText("no".to_owned()),
                        ToolOutput::Denied(None),
                    ];
                    results.push(testing::result(&name, output[usize::from(kind)].clone()));
                }
                if !parts.is_empty() {
                    messages.push(Message::Assistant(parts));
                }
                if !results.is_empty() {
                    messages.push(Message::Tool(results));
                }
            }
        }
        messages.push(testing::user("and now?"));
        messages
    })
}

fn strings_at<'v>(list: &'v Value, key: &str) -> Vec<&'v str> {
    list.as_array().into_iter().flatten().filter_map(|item| item[key].as_str()).collect()
}

/// Checks that turns alternate and begin with the user, that calls are answered at the beginning of
/// the next turn, and that no block is empty.
fn check_anthropic(request: &Request) -> Result<(), TestCaseError> {
    let body = anthropic::request::body("claude", request);
    let messages = body["messages"].as_array().unwrap();
    let mut owed: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        prop_assert_eq!(&message["role"], if at % 2 == 0 { "user" } else { "assistant" }, "{}", body);
        let blocks = message["content"].as_array().unwrap();
        prop_assert!(!blocks.is_empty(), "{}", body);
        prop_assert!(
            blocks.iter().all(|block| block["text"].as_str().is_none_or(|text| !text.trim().is_empty())),
            "{}",
            body
        );
        let answered = strings_at(&message["content"], "tool_use_id");
        prop_assert_eq!(&answered, &owed, "{}", body);
        prop_assert!(blocks.iter().take(answered.len()).all(|block| block["type"] == "tool_result"), "{}", body);
        owed = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .filter_map(|block| block["id"].as_str())
            .collect();
    }
    prop_assert!(owed.is_empty());
    Ok(())
}

/// Checks that results directly follow their calls, one message each. Also used for the AI Gateway.
fn check_chat(body: &Value) -> Result<(), TestCaseError> {
    let mut owed: Vec<&str> = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            prop_assert!(!owed.is_empty(), "{}", body);
            prop_assert_eq!(message["tool_call_id"].as_str(), Some(owed.remove(0)), "{}", body);
            continue;
        }
        prop_assert!(owed.is_empty(), "{}", body);
        owed = strings_at(&message["tool_calls"], "id");
        prop_assert!(!message["content"].is_null() || !owed.is_empty(), "{}", body);
    }
    prop_assert!(owed.is_empty());
    Ok(())
}

/// Checks that every call has one output after it, and every output a call before it.
fn check_responses(request: &Request) -> Result<(), TestCaseError> {
    let body = openai_responses::request::body("gpt", request);
    let mut owed: Vec<&str> = Vec::new();
    for item in body["input"].as_array().unwrap() {
        match item["type"].as_str() {
            Some("function_call") => owed.push(item["call_id"].as_str().unwrap()),
            Some("function_call_output") => {
                let answered = item["call_id"].as_str().unwrap();
                prop_assert!(owed.contains(&answered), "{}", body);
                owed.retain(|call| *call != answered);
            }
            _ => prop_assert!(owed.is_empty(), "{}", body),
        }
    }
    prop_assert!(owed.is_empty());
    Ok(())
}

/// Checks that turns alternate and begin with the user, that the next turn contains the responses
/// to all calls, and that no turn is empty.
fn check_google(request: &Request) -> Result<(), TestCaseError> {
    let body = google::request::body("gemini-3-pro", request);
    let mut owed = 0;
    for (at, content) in body["contents"].as_array().unwrap().iter().enumerate() {
        prop_assert_eq!(&content["role"], if at % 2 == 0 { "user" } else { "model" }, "{}", body);
        let parts = content["parts"].as_array().unwrap();
        prop_assert!(!parts.is_empty(), "{}", body);
        let count = |key: &str| parts.iter().filter(|part| part.get(key).is_some()).count();
        prop_assert_eq!(count("functionResponse"), owed, "{}", body);
        owed = count("functionCall");
    }
    prop_assert_eq!(owed, 0);
    Ok(())
}

proptest! {
    #[test]
    fn random_histories_become_valid_requests(history in any_history()) {
        let request = testing::request(history);
        prop_assert_eq!(history_error(&request.messages), None);
        check_anthropic(&request)?;
        check_chat(&openai_chat::request::body("gpt", &request))?;
        check_chat(&ai_gateway::request::body("vendor/model", &request))?;
        check_responses(&request)?;
        check_google(&request)?;
    }
}
