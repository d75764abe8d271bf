use super::request::body;
use crate::testing::{call, file, reasoning, request, result, text, tool, user};
use contract::{
    AssistantPart, FileData, Message, ProviderMetadata, ResponseFormat, ToolCall, ToolChoice, ToolOutput, UserPart,
};
use serde_json::json;

fn signed_call() -> AssistantPart {
    let metadata = ProviderMetadata::from_iter([("google".to_owned(), json!({ "thoughtSignature": "sig" }))]);
    AssistantPart::ToolCall(ToolCall {
        id: "call_1".to_owned(),
        name: "weather".to_owned(),
        input: json!({ "city": "Rome" }),
        provider_executed: false,
        metadata: Some(metadata),
    })
}

#[test]
fn conversation_is_converted() {
    let mut request = request(vec![
        user("Weather?"),
        Message::Assistant(vec![
            reasoning("Hm.", "google", json!({ "thoughtSignature": "s0" })),
            reasoning("of another model", "anthropic", json!({ "signature": "x" })),
            text("I look."),
            signed_call(),
            call("call_2", json!({ "city": "Oslo" })),
            AssistantPart::ProviderItem {
                provider: "google".to_owned(),
                item: json!({ "executableCode": { "code": "1" } }),
            },
            AssistantPart::ProviderItem { provider: "openai".to_owned(), item: json!({ "type": "x" }) },
        ]),
        Message::Tool(vec![
            result("call_1", ToolOutput::Json(json!({ "sun": true }))),
            result("call_2", ToolOutput::ErrorText("no such city".to_owned())),
        ]),
        user("And now?"),
    ]);
    request.system = Some("Be brief.".to_owned());
    request.tools = vec![tool()];
    request.tool_choice = ToolChoice::Tool("weather".to_owned());
    request.sampling.temperature = Some(0.5);
    request.sampling.stop_sequences = vec!["END".to_owned()];
    request.provider_options.insert(
        "google".to_owned(),
        json!({ "generationConfig": { "thinkingConfig": { "includeThoughts": true } }, "safetySettings": [{ "category": "C", "threshold": "T" }] }),
    );
    insta::assert_snapshot!(body("gemini-2.5-pro", &request), @r##"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Weather?"}]},{"role":"model","parts":[{"text":"Hm.","thought":true,"thoughtSignature":"s0"},{"text":"I look."},{"functionCall":{"id":"call_1","name":"weather","args":{"city":"Rome"}},"thoughtSignature":"sig"},{"functionCall":{"id":"call_2","name":"weather","args":{"city":"Oslo"}}},{"executableCode":{"code":"1"}}]},{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"weather","response":{"name":"weather","content":{"sun":true}}}},{"functionResponse":{"id":"call_2","name":"weather","response":{"name":"weather","error":"no such city"}}},{"text":"And now?"}]}],"tools":[{"functionDeclarations":[{"name":"weather","description":"The weather.","parametersJsonSchema":{"type":"object"}}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["weather"]}},"generationConfig":{"temperature":0.5,"stopSequences":["END"],"thinkingConfig":{"includeThoughts":true}},"safetySettings":[{"category":"C","threshold":"T"}]}"##);
}

#[test]
fn unsigned_calls_get_a_placeholder_for_gemini_3() {
    let messages = || vec![user("Weather?"), Message::Assistant(vec![call("a", json!({})), call("b", json!({}))])];
    let signatures = |model: &str| {
        let body = body(model, &request(messages()));
        let parts = body["contents"][1]["parts"].as_array().unwrap().clone();
        parts.into_iter().map(|part| part["thoughtSignature"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(signatures("gemini-2.5-flash"), [json!(null), json!(null)]);
    assert_eq!(signatures("gemini-3-pro-preview"), [json!("skip_thought_signature_validator"), json!(null)]);
}

#[test]
fn response_format_is_converted() {
    let config = |strict| {
        let mut request = request(vec![user("Weather?")]);
        let (name, schema) = ("weather".to_owned(), json!({ "type": "object" }));
        request.response_format = Some(ResponseFormat { name, strict, schema });
        body("gemini-2.5-pro", &request)["generationConfig"].clone()
    };
    let json = "application/json";
    assert_eq!(config(true), json!({ "responseMimeType": json, "responseJsonSchema": { "type": "object" } }));
    assert_eq!(config(false), json!({ "responseMimeType": json }));
}

#[test]
fn files_become_parts_or_notes() {
    let base64 = || FileData::Base64("aGk=".to_owned());
    let parts = vec![
        file("image/png", base64(), None),
        file("application/pdf", base64(), Some("a.pdf")),
        file("text/csv; charset=utf-8", base64(), None),
        file("video/mp4", FileData::Url("https://example.org/a.mp4".to_owned()), None),
        file("application/zip", base64(), Some("a.zip")),
        UserPart::Text { text: "What is this?".to_owned() },
    ];
    let body = body("gemini-2.5-pro", &request(vec![Message::User(parts)]));
    insta::assert_snapshot!(body["contents"][0]["parts"], @r##"[{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"inlineData":{"mimeType":"application/pdf","data":"aGk="}},{"inlineData":{"mimeType":"text/csv","data":"aGk="}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://example.org/a.mp4"}},{"text":"(The user sent a file a.zip of type application/zip, which cannot be read here.)"},{"text":"What is this?"}]"##);
}

#[test]
fn contents_begin_with_the_user() {
    let body = body("gemini-2.5-pro", &request(vec![Message::Assistant(vec![text("Hello.")])]));
    insta::assert_snapshot!(body["contents"], @r##"[{"role":"user","parts":[{"text":"(no text)"}]},{"role":"model","parts":[{"text":"Hello."}]}]"##);
}

#[test]
fn generated_image_is_sent_back() {
    let metadata = ProviderMetadata::from_iter([("google".to_owned(), json!({ "thoughtSignature": "s" }))]);
    let image = AssistantPart::File {
        media_type: "image/png".to_owned(),
        data: FileData::Base64("AAAA".to_owned()),
        filename: None,
        metadata: Some(metadata),
    };
    let request = request(vec![user("Draw a fox."), Message::Assistant(vec![image]), user("Now in red.")]);
    assert_eq!(
        body("gemini-3-pro-image", &request)["contents"][1],
        json!({ "role": "model", "parts": [{ "inlineData": { "mimeType": "image/png", "data": "AAAA" }, "thoughtSignature": "s" }] })
    );
}
