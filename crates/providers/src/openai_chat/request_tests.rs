use super::request::body;
use crate::testing::{call, file, reasoning, request, result, text, tool, user};
use contract::{FileData, Message, Request, Sampling, ToolChoice, ToolOutput, UserPart};
use serde_json::{Value, json};

/// Returns the messages of a body, one per line.
fn messages(messages: Vec<Message>) -> String {
    let body = body("m", &request(messages));
    body["messages"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn complete_request_is_converted() {
    let request = Request {
        system: Some("Be kind.".to_owned()),
        tools: vec![tool()],
        tool_choice: ToolChoice::Required,
        sampling: Sampling {
            max_output_tokens: Some(100),
            temperature: Some(0.5),
            seed: Some(1),
            stop_sequences: vec!["END".to_owned()],
            ..Sampling::default()
        },
        provider_options: serde_json::from_value(json!({
            "openaiCompatible": { "user": "u", "seed": 2 },
            "openai": { "seed": 3 },
            "anthropic": { "not": "for this one" },
        }))
        .unwrap(),
        ..request(vec![user("Hi")])
    };
    insta::assert_snapshot!(format!("{:#}", body("llama", &request)), @r##"
    {
      "model": "llama",
      "messages": [
        {
          "role": "system",
          "content": "Be kind."
        },
        {
          "role": "user",
          "content": "Hi"
        }
      ],
      "stream": true,
      "stream_options": {
        "include_usage": true
      },
      "max_tokens": 100,
      "temperature": 0.5,
      "seed": 3,
      "stop": [
        "END"
      ],
      "tools": [
        {
          "type": "function",
          "function": {
            "name": "weather",
            "description": "The weather.",
            "parameters": {
              "type": "object"
            }
          }
        }
      ],
      "tool_choice": "required",
      "user": "u"
    }
    "##);
}

#[test]
fn output_limit_field_depends_on_the_model() {
    let check = |model: &str, key: &str| {
        let sampling = Sampling { max_output_tokens: Some(7), ..Sampling::default() };
        assert_eq!(body(model, &Request { sampling, ..request(vec![user("Hi")]) })[key], 7, "{model}");
    };
    check("gpt-4o", "max_tokens");
    check("o3-mini", "max_completion_tokens");
    check("gpt-5-nano", "max_completion_tokens");
    assert!(body("gpt-4o", &request(vec![user("Hi")])).get("max_tokens").is_none());
}

#[test]
fn history_with_tools_is_converted() {
    let came_as = |field: &str| json!({ "reasoningField": field });
    let mut with_extra = call("call_2", json!("no object"));
    if let contract::AssistantPart::ToolCall(call) = &mut with_extra {
        call.metadata =
            serde_json::from_value(json!({ "openai": { "extraContent": { "google": { "s": 1 } } } })).unwrap();
    }
    insta::assert_snapshot!(messages(vec![
        user("The weather?"),
        Message::Assistant(vec![
            reasoning("Mine. ", "openai", came_as("reasoning_content")),
            reasoning("Under another field.", "openai", came_as("reasoning")),
            reasoning("Another provider's.", "anthropic", json!({ "signature": "s" })),
            call("call_1", json!({ "city": "Paris" })),
            with_extra,
        ]),
        Message::Tool(vec![
            result("call_1", ToolOutput::Json(json!({ "sun": true }))),
            result("call_2", ToolOutput::Denied(Some("not now".to_owned()))),
        ]),
        Message::Assistant(vec![reasoning("Done.", "openai", came_as("reasoning_content")), text("It is "), text("sunny.")]),
        Message::Assistant(vec![reasoning("only thoughts", "openai", came_as("reasoning_content"))]),
        Message::User(vec![UserPart::Text { text: "one".to_owned() }, UserPart::Text { text: "two".to_owned() }]),
    ]), @r##"
    {"role":"user","content":"The weather?"}
    {"role":"assistant","content":null,"reasoning_content":"Mine. ","tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Paris\"}"}},{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{}"},"extra_content":{"google":{"s":1}}}]}
    {"role":"tool","tool_call_id":"call_1","content":"{\"sun\":true}"}
    {"role":"tool","tool_call_id":"call_2","content":"not now"}
    {"role":"assistant","content":"It is sunny."}
    {"role":"user","content":"one\n\ntwo"}
    "##);
}

#[test]
fn files_become_parts_or_notes() {
    let base64 = || FileData::Base64("SGk=".to_owned());
    let url = || FileData::Url("https://example.com/a".to_owned());
    insta::assert_snapshot!(messages(vec![Message::User(vec![
        file("image/png", base64(), None),
        file("image/png", url(), None),
        file("application/pdf", base64(), None),
        file("application/pdf", url(), Some("a.pdf")),
        file("text/csv", base64(), Some("a.csv")),
        file("video/mp4", base64(), None),
    ])]).replace("},{", "},\n{"), @r##"
    {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,SGk="}},
    {"type":"image_url","image_url":{"url":"https://example.com/a"}},
    {"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,SGk="}},
    {"type":"text","text":"(The user sent a file a.pdf of type application/pdf, which cannot be read here.)"},
    {"type":"text","text":"Hi"},
    {"type":"text","text":"(The user sent a file without a name of type video/mp4, which cannot be read here.)"}]}
    "##);
}
