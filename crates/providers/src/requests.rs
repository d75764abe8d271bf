//! Compares the requests for the same conversations with all providers. They were checked against
//! the requests of the AI SDK (ai 7.0, its providers 4.0); a test names each intended difference.

use crate::testing::{call, file, reasoning, request, result, text, user};
use crate::{anthropic, google, openai_chat, openai_responses};
use contract::{
    AssistantPart, FileData, Message, OutputPart, Request, ResponseFormat, Sampling, ToolChoice, ToolOutput, ToolSpec,
};
use serde_json::{Map, Value, json};

/// Returns the bodies for all providers, one per line, without the fields of every request.
fn request_bodies(request: &Request) -> String {
    let bodies = [
        ("anthropic", anthropic::request::body("claude-sonnet-4-20250514", request)),
        ("openai", openai_responses::request::body("gpt-5", request)),
        ("chat", openai_chat::request::body("llama", request)),
        ("google", google::request::body("gemini-3-pro-preview", request)),
    ];
    let always = ["model", "stream", "stream_options", "store"];
    let line = |(provider, mut body): (&str, Value)| {
        let fields = body.as_object_mut().unwrap();
        fields.retain(|key, value| !always.contains(&key.as_str()) && *value != json!({}));
        // Defaults are omitted.
        fields.retain(|key, value| !(key == "max_tokens" && *value == 64_000));
        fields.retain(|key, value| !(key == "include" && *value == json!(["reasoning.encrypted_content"])));
        format!("{provider} {body}")
    };
    bodies.map(line).join("\n")
}

fn with_tool(messages: Vec<Message>) -> Request {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    Request { tools: vec![ToolSpec::new("weather", "The weather.", schema)], ..request(messages) }
}

/// Returns the bodies of a request that contains only a history. Anthropic's API wants the tools of its calls declared,
/// which the AI SDK leaves to its caller.
fn history_bodies(messages: Vec<Message>) -> String {
    let lines = request_bodies(&request(messages));
    lines
        .replace("},{\"role\"", "},\n  {\"role\"")
        .replace("},{\"type\":\"function_call", "},\n  {\"type\":\"function_call")
}

/// The AI SDK writes instructions for OpenAI as a message of the role `developer`, which is
/// equivalent to `instructions`.
#[test]
fn text_and_instructions_are_sent() {
    let mut request = request(vec![user("Hi"), Message::Assistant(vec![text("Hello. ")]), user("Again")]);
    request.system = Some("Be brief.".to_owned());
    insta::assert_snapshot!(request_bodies(&request), @r##"
    anthropic {"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"text","text":"Hello. "}]},{"role":"user","content":[{"type":"text","text":"Again"}]}]}
    openai {"instructions":"Be brief.","input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]},{"role":"assistant","content":[{"type":"output_text","text":"Hello. "}]},{"role":"user","content":[{"type":"input_text","text":"Again"}]}]}
    chat {"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello. "},{"role":"user","content":"Again"}]}
    google {"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello. "}]},{"role":"user","parts":[{"text":"Again"}]}]}
    "##);
}

/// The AI SDK fails for a file that a provider is known not to accept. Here the model gets a note
/// instead, so that it can say so. Text files of any type are sent as text.
#[test]
fn user_files_are_sent() {
    let base64 = |data: &str| FileData::Base64(data.to_owned());
    let url = |name: &str| FileData::Url(format!("https://example.com/{name}"));
    let files = [
        file("image/png", base64("iVBORw0KGgo="), None),
        file("image/png", url("a.png"), None),
        file("image/svg+xml", base64("PHN2Zy8+"), None),
        file("image/tiff", base64("SUkqAA=="), Some("a.tiff")),
        file("application/pdf", base64("JVBERi0="), Some("a.pdf")),
        file("application/pdf", url("a.pdf"), None),
        file("text/csv", base64("SGk="), Some("a.csv")),
        file("application/json", base64("e30="), Some("a.json")),
        file("text/plain", url("a.txt"), Some("a.txt")),
        file("audio/mpeg", base64("SUQz"), Some("a.mp3")),
        file("video/mp4", base64("AAAA"), Some("a.mp4")),
        file("application/zip", base64("UEsD"), Some("a.zip")),
    ];
    insta::assert_snapshot!(history_bodies(vec![Message::User(files.to_vec())]), @r##"
    anthropic {"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"<svg/>"}},{"type":"text","text":"(The user sent a file a.tiff of type image/tiff, which cannot be read here.)"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"a.pdf"},{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Hi"},"title":"a.csv"},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"{}"},"title":"a.json"},{"type":"text","text":"(The user sent a file a.txt of type text/plain, which cannot be read here.)"},{"type":"text","text":"(The user sent a file a.mp3 of type audio/mpeg, which cannot be read here.)"},{"type":"text","text":"(The user sent a file a.mp4 of type video/mp4, which cannot be read here.)"},{"type":"text","text":"(The user sent a file a.zip of type application/zip, which cannot be read here.)"}]}]}
    openai {"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_image","image_url":"https://example.com/a.png"},{"type":"input_text","text":"<svg/>"},{"type":"input_text","text":"(The user sent a file a.tiff of type image/tiff, which cannot be read here.)"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="},{"type":"input_file","file_url":"https://example.com/a.pdf"},{"type":"input_text","text":"Hi"},{"type":"input_text","text":"{}"},{"type":"input_text","text":"(The user sent a file a.txt of type text/plain, which cannot be read here.)"},{"type":"input_text","text":"(The user sent a file a.mp3 of type audio/mpeg, which cannot be read here.)"},{"type":"input_text","text":"(The user sent a file a.mp4 of type video/mp4, which cannot be read here.)"},{"type":"input_text","text":"(The user sent a file a.zip of type application/zip, which cannot be read here.)"}]}]}
    chat {"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"text","text":"<svg/>"},{"type":"text","text":"(The user sent a file a.tiff of type image/tiff, which cannot be read here.)"},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}},{"type":"text","text":"(The user sent a file without a name of type application/pdf, which cannot be read here.)"},{"type":"text","text":"Hi"},{"type":"text","text":"{}"},{"type":"text","text":"(The user sent a file a.txt of type text/plain, which cannot be read here.)"},{"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}},{"type":"text","text":"(The user sent a file a.mp4 of type video/mp4, which cannot be read here.)"},{"type":"text","text":"(The user sent a file a.zip of type application/zip, which cannot be read here.)"}]}]}
    google {"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"fileData":{"mimeType":"image/png","fileUri":"https://example.com/a.png"}},{"inlineData":{"mimeType":"text/plain","data":"PHN2Zy8+"}},{"inlineData":{"mimeType":"image/tiff","data":"SUkqAA=="}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0="}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://example.com/a.pdf"}},{"inlineData":{"mimeType":"text/csv","data":"SGk="}},{"inlineData":{"mimeType":"text/plain","data":"e30="}},{"fileData":{"mimeType":"text/plain","fileUri":"https://example.com/a.txt"}},{"inlineData":{"mimeType":"audio/mpeg","data":"SUQz"}},{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}},{"text":"(The user sent a file a.zip of type application/zip, which cannot be read here.)"}]}]}
    "##);
}

/// With `eager_input_streaming`, arguments are streamed. For Claude, a rejection by the user is an
/// error, unlike with the AI SDK. OpenAI gets an error as plain text, which the AI SDK wraps in
/// JSON.
#[test]
fn tools_choices_and_results_are_sent() {
    let choices = [ToolChoice::Auto, ToolChoice::Required, ToolChoice::None, ToolChoice::Tool("weather".to_owned())];
    let bodies =
        choices.map(|tool_choice| request_bodies(&Request { tool_choice, ..with_tool(vec![user("Weather?")]) }));
    insta::assert_snapshot!(bodies[0], @r##"
    anthropic {"messages":[{"role":"user","content":[{"type":"text","text":"Weather?"}]}],"tools":[{"name":"weather","description":"The weather.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"eager_input_streaming":true}],"tool_choice":{"type":"auto"}}
    openai {"input":[{"role":"user","content":[{"type":"input_text","text":"Weather?"}]}],"tools":[{"type":"function","name":"weather","description":"The weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"strict":false}],"tool_choice":"auto"}
    chat {"messages":[{"role":"user","content":"Weather?"}],"tools":[{"type":"function","function":{"name":"weather","description":"The weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}],"tool_choice":"auto"}
    google {"contents":[{"role":"user","parts":[{"text":"Weather?"}]}],"tools":[{"functionDeclarations":[{"name":"weather","description":"The weather.","parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}
    "##);
    let choice = |body: &str| body[body.find("\"tool_choice\"").or(body.find("\"toolConfig\"")).unwrap()..].to_owned();
    let choices: Vec<_> = bodies[1..].iter().flat_map(|bodies| bodies.lines().map(choice)).collect();
    insta::assert_snapshot!(choices.join("\n"), @r##"
    "tool_choice":{"type":"any"}}
    "tool_choice":"required"}
    "tool_choice":"required"}
    "toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}
    "tool_choice":{"type":"none"}}
    "tool_choice":"none"}
    "tool_choice":"none"}
    "toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}
    "tool_choice":{"type":"tool","name":"weather"}}
    "tool_choice":{"type":"function","name":"weather"}}
    "tool_choice":{"type":"function","function":{"name":"weather"}}}
    "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["weather"]}}}
    "##);
    let outputs = [
        ToolOutput::Json(json!({ "sun": true })),
        ToolOutput::ErrorText("no such city".to_owned()),
        ToolOutput::Denied(Some("not now".to_owned())),
        ToolOutput::Text("rain".to_owned()),
    ];
    let results = outputs.into_iter().enumerate();
    let (calls, results) = results
        .map(|(n, output)| {
            let id = format!("c{n}");
            (call(&id, json!({ "city": "Rome" })), result(&id, output))
        })
        .unzip();
    insta::assert_snapshot!(history_bodies(vec![user("Weather?"), Message::Assistant(calls), Message::Tool(results), user("And now?")]), @r##"
    anthropic {"messages":[{"role":"user","content":[{"type":"text","text":"Weather?"}]},
      {"role":"assistant","content":[{"type":"tool_use","id":"c0","name":"weather","input":{"city":"Rome"}},{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Rome"}},{"type":"tool_use","id":"c2","name":"weather","input":{"city":"Rome"}},{"type":"tool_use","id":"c3","name":"weather","input":{"city":"Rome"}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c0","content":"{\"sun\":true}"},{"type":"tool_result","tool_use_id":"c1","content":"no such city","is_error":true},{"type":"tool_result","tool_use_id":"c2","content":"not now","is_error":true},{"type":"tool_result","tool_use_id":"c3","content":"rain"},{"type":"text","text":"And now?"}]}],"tools":[{"name":"weather","description":"Not available any more.","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"}}
    openai {"input":[{"role":"user","content":[{"type":"input_text","text":"Weather?"}]},
      {"type":"function_call","call_id":"c0","name":"weather","arguments":"{\"city\":\"Rome\"}"},
      {"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"city\":\"Rome\"}"},
      {"type":"function_call","call_id":"c2","name":"weather","arguments":"{\"city\":\"Rome\"}"},
      {"type":"function_call","call_id":"c3","name":"weather","arguments":"{\"city\":\"Rome\"}"},
      {"type":"function_call_output","call_id":"c0","output":"{\"sun\":true}"},
      {"type":"function_call_output","call_id":"c1","output":"no such city"},
      {"type":"function_call_output","call_id":"c2","output":"not now"},
      {"type":"function_call_output","call_id":"c3","output":"rain"},
      {"role":"user","content":[{"type":"input_text","text":"And now?"}]}]}
    chat {"messages":[{"role":"user","content":"Weather?"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}},{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}},{"id":"c2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}},{"id":"c3","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]},
      {"role":"tool","tool_call_id":"c0","content":"{\"sun\":true}"},
      {"role":"tool","tool_call_id":"c1","content":"no such city"},
      {"role":"tool","tool_call_id":"c2","content":"not now"},
      {"role":"tool","tool_call_id":"c3","content":"rain"},
      {"role":"user","content":"And now?"}]}
    google {"contents":[{"role":"user","parts":[{"text":"Weather?"}]},
      {"role":"model","parts":[{"functionCall":{"id":"c0","name":"weather","args":{"city":"Rome"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"c1","name":"weather","args":{"city":"Rome"}}},{"functionCall":{"id":"c2","name":"weather","args":{"city":"Rome"}}},{"functionCall":{"id":"c3","name":"weather","args":{"city":"Rome"}}}]},
      {"role":"user","parts":[{"functionResponse":{"id":"c0","name":"weather","response":{"name":"weather","content":{"sun":true}}}},{"functionResponse":{"id":"c1","name":"weather","response":{"name":"weather","error":"no such city"}}},{"functionResponse":{"id":"c2","name":"weather","response":{"name":"weather","error":"not now"}}},{"functionResponse":{"id":"c3","name":"weather","response":{"name":"weather","content":"rain"}}},{"text":"And now?"}]}]}
    "##);
}

/// Results in Chat Completions contain only text; the AI SDK sends the Base64 of files, which no
/// model can read.
#[test]
fn files_in_tool_results_are_sent() {
    let part =
        |media_type: &str, data: &str| OutputPart::File { media_type: media_type.to_owned(), data: data.to_owned() };
    let output = ToolOutput::Content(vec![
        OutputPart::Text { text: "A map.".to_owned() },
        part("image/png", "iVBORw0KGgo="),
        part("application/pdf", "JVBERi0="),
    ]);
    let messages = vec![
        user("Where?"),
        Message::Assistant(vec![call("c1", json!({}))]),
        Message::Tool(vec![result("c1", output)]),
    ];
    insta::assert_snapshot!(history_bodies(messages), @r##"
    anthropic {"messages":[{"role":"user","content":[{"type":"text","text":"Where?"}]},
      {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"A map."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}}]}]}],"tools":[{"name":"weather","description":"Not available any more.","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"}}
    openai {"input":[{"role":"user","content":[{"type":"input_text","text":"Where?"}]},
      {"type":"function_call","call_id":"c1","name":"weather","arguments":"{}"},
      {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"A map."},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,JVBERi0="}]}]}
    chat {"messages":[{"role":"user","content":"Where?"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"A map.\n[a file of the type image/png, which cannot be shown here]\n[a file of the type application/pdf, which cannot be shown here]"}]}
    google {"contents":[{"role":"user","parts":[{"text":"Where?"}]},
      {"role":"model","parts":[{"functionCall":{"id":"c1","name":"weather","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},
      {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"weather","response":{"name":"weather","content":"A map."},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0="}}]}}]}]}
    "##);
}

/// Adds metadata of all providers to a part.
fn with_metadata(part: AssistantPart) -> AssistantPart {
    let metadata: Map<String, Value> = serde_json::from_value(json!({
        "anthropic": { "signature": "s1" },
        "openai": { "itemId": "rs_1", "reasoningEncryptedContent": "e1", "reasoningField": "reasoning_content" },
        "google": { "thoughtSignature": "g1" },
    }))
    .unwrap();
    match part {
        AssistantPart::Text { text, .. } => AssistantPart::Text { text, metadata: Some(metadata) },
        AssistantPart::Reasoning { text, .. } => AssistantPart::Reasoning { text, metadata: Some(metadata) },
        AssistantPart::ToolCall(mut call) => {
            call.metadata = Some(metadata);
            AssistantPart::ToolCall(call)
        }
        part => part,
    }
}

/// Reasoning without a signature of the same provider is omitted; the AI SDK sends other models'
/// reasoning to Gemini. Of the calls in a step, only the first is signed for Gemini. Chat
/// Completions gets reasoning only with calls, as DeepSeek expects it.
#[test]
fn reasoning_is_sent_back_to_its_provider() {
    let thought = |text: &str| with_metadata(reasoning(text, "nobody", json!({})));
    let messages = vec![
        user("Weather?"),
        Message::Assistant(vec![
            thought("Hm."),
            with_metadata(call("c1", json!({ "city": "Rome" }))),
            call("c2", json!({})),
        ]),
        Message::Tool(vec![
            result("c1", ToolOutput::Text("sun".to_owned())),
            result("c2", ToolOutput::Text("rain".to_owned())),
        ]),
        Message::Assistant(vec![
            thought("Aha."),
            reasoning("", "anthropic", json!({ "redactedData": "r" })),
            with_metadata(text("Sunny.")),
        ]),
        user("And tomorrow?"),
        Message::Assistant(vec![reasoning("Of no one.", "nobody", json!({})), call("c3", json!({}))]),
        Message::Tool(vec![result("c3", ToolOutput::Text("snow".to_owned()))]),
    ];
    insta::assert_snapshot!(history_bodies(messages), @r##"
    anthropic {"messages":[{"role":"user","content":[{"type":"text","text":"Weather?"}]},
      {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s1"},{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Rome"}},{"type":"tool_use","id":"c2","name":"weather","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"sun"},{"type":"tool_result","tool_use_id":"c2","content":"rain"}]},
      {"role":"assistant","content":[{"type":"thinking","thinking":"Aha.","signature":"s1"},{"type":"redacted_thinking","data":"r"},{"type":"text","text":"Sunny."}]},
      {"role":"user","content":[{"type":"text","text":"And tomorrow?"}]},
      {"role":"assistant","content":[{"type":"tool_use","id":"c3","name":"weather","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","content":"snow"}]}],"tools":[{"name":"weather","description":"Not available any more.","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"}}
    openai {"input":[{"role":"user","content":[{"type":"input_text","text":"Weather?"}]},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"e1"},
      {"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"city\":\"Rome\"}"},
      {"type":"function_call","call_id":"c2","name":"weather","arguments":"{}"},
      {"type":"function_call_output","call_id":"c1","output":"sun"},
      {"type":"function_call_output","call_id":"c2","output":"rain"},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Aha."}],"encrypted_content":"e1"},
      {"role":"assistant","content":[{"type":"output_text","text":"Sunny."}]},
      {"role":"user","content":[{"type":"input_text","text":"And tomorrow?"}]},
      {"type":"function_call","call_id":"c3","name":"weather","arguments":"{}"},
      {"type":"function_call_output","call_id":"c3","output":"snow"}]}
    chat {"messages":[{"role":"user","content":"Weather?"},
      {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}},{"id":"c2","type":"function","function":{"name":"weather","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"sun"},
      {"role":"tool","tool_call_id":"c2","content":"rain"},
      {"role":"assistant","content":"Sunny."},
      {"role":"user","content":"And tomorrow?"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c3","type":"function","function":{"name":"weather","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c3","content":"snow"}]}
    google {"contents":[{"role":"user","parts":[{"text":"Weather?"}]},
      {"role":"model","parts":[{"text":"Hm.","thought":true,"thoughtSignature":"g1"},{"functionCall":{"id":"c1","name":"weather","args":{"city":"Rome"}},"thoughtSignature":"g1"},{"functionCall":{"id":"c2","name":"weather","args":{}}}]},
      {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"weather","response":{"name":"weather","content":"sun"}}},{"functionResponse":{"id":"c2","name":"weather","response":{"name":"weather","content":"rain"}}}]},
      {"role":"model","parts":[{"text":"Aha.","thought":true,"thoughtSignature":"g1"},{"text":"Sunny.","thoughtSignature":"g1"}]},
      {"role":"user","parts":[{"text":"And tomorrow?"}]},
      {"role":"model","parts":[{"functionCall":{"id":"c3","name":"weather","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},
      {"role":"user","parts":[{"functionResponse":{"id":"c3","name":"weather","response":{"name":"weather","content":"snow"}}}]}]}
    "##);
}

/// Claude accepts either temperature or top P. With thinking, it accepts neither, and calls cannot
/// be forced.
#[test]
fn settings_that_a_model_rejects_are_omitted() {
    let sampling = Sampling {
        max_output_tokens: Some(100),
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(3),
        frequency_penalty: Some(0.1),
        presence_penalty: Some(0.2),
        seed: Some(7),
        stop_sequences: vec!["END".to_owned()],
    };
    let mut request = Request { sampling, ..request(vec![user("Hi")]) };
    insta::assert_snapshot!(request_bodies(&request), @r##"
    anthropic {"max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"stop_sequences":["END"],"temperature":0.5,"top_k":3}
    openai {"input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}],"max_output_tokens":100}
    chat {"messages":[{"role":"user","content":"Hi"}],"max_tokens":100,"temperature":0.5,"top_p":0.9,"frequency_penalty":0.1,"presence_penalty":0.2,"seed":7,"stop":["END"]}
    google {"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":100,"temperature":0.5,"topP":0.9,"topK":3,"frequencyPenalty":0.1,"presencePenalty":0.2,"seed":7,"stopSequences":["END"]}}
    "##);
    request.tools = with_tool(Vec::new()).tools;
    request.tool_choice = ToolChoice::Required;
    request.provider_options = serde_json::from_value(json!({
        "anthropic": { "thinking": { "type": "enabled", "budget_tokens": 1024 }, "toolStreaming": false },
        "openai": { "reasoning": { "effort": "low", "summary": "auto" }, "tools": [{ "type": "web_search" }], "include": ["more"] },
        "google": { "thinkingConfig": { "includeThoughts": true }, "safetySettings": [{ "category": "C", "threshold": "T" }] },
    })).unwrap();
    insta::assert_snapshot!(request_bodies(&request), @r##"
    anthropic {"max_tokens":1124,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"stop_sequences":["END"],"tools":[{"name":"weather","description":"The weather.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}],"tool_choice":{"type":"auto"},"thinking":{"type":"enabled","budget_tokens":1024}}
    openai {"input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}],"include":["reasoning.encrypted_content","web_search_call.action.sources","more"],"max_output_tokens":100,"tools":[{"type":"function","name":"weather","description":"The weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"strict":false},{"type":"web_search"}],"tool_choice":"required","reasoning":{"effort":"low","summary":"auto"}}
    chat {"messages":[{"role":"user","content":"Hi"}],"max_tokens":100,"temperature":0.5,"top_p":0.9,"frequency_penalty":0.1,"presence_penalty":0.2,"seed":7,"stop":["END"],"tools":[{"type":"function","function":{"name":"weather","description":"The weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}},{"type":"web_search"}],"tool_choice":"required","reasoning":{"effort":"low","summary":"auto"},"include":["more"]}
    google {"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"weather","description":"The weather.","parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"maxOutputTokens":100,"temperature":0.5,"topP":0.9,"topK":3,"frequencyPenalty":0.1,"presencePenalty":0.2,"seed":7,"stopSequences":["END"],"thinkingConfig":{"includeThoughts":true}},"safetySettings":[{"category":"C","threshold":"T"}]}
    "##);
}

/// `cache_control` is set on the last tool, the instructions and the newest message, which every
/// Claude model supports; the AI SDK sets it for the whole request, which only the newest API
/// supports.
#[test]
fn cache_control_is_set_at_the_ends() {
    let mut request = with_tool(vec![user("Hi"), Message::Assistant(vec![text("Hello.")]), user("Again")]);
    request.system = Some("Be brief.".to_owned());
    request.provider_options.insert("anthropic".to_owned(), json!({ "cacheControl": { "type": "ephemeral" } }));
    insta::assert_snapshot!(request_bodies(&request).lines().next().unwrap(), @r##"anthropic {"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"text","text":"Hello."}]},{"role":"user","content":[{"type":"text","text":"Again","cache_control":{"type":"ephemeral"}}]}],"tools":[{"name":"weather","description":"The weather.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"eager_input_streaming":true,"cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"auto"}}"##);
}

/// The request's response format takes precedence over the options'; their other settings remain.
#[test]
fn response_format_takes_precedence_over_options() {
    let mut request = request(vec![user("Hi")]);
    let schema = json!({ "type": "object" });
    request.response_format = Some(ResponseFormat { name: "answer".to_owned(), strict: true, schema });
    request.provider_options = serde_json::from_value(json!({
        "anthropic": { "output_config": { "format": { "type": "text" }, "effort": "low" } },
        "openai": { "text": { "verbosity": "low", "format": { "type": "text" } }, "response_format": { "type": "text" } },
        "google": { "generationConfig": { "responseMimeType": "text/plain", "candidateCount": 1 } },
    }))
    .unwrap();
    let bodies = request_bodies(&request);
    let line = |provider: &str| bodies.lines().find(|line| line.starts_with(provider)).unwrap();
    assert!(
        line("openai").contains(r#""text":{"verbosity":"low","format":{"type":"json_schema","name":"answer""#),
        "{bodies}"
    );
    assert!(line("chat").contains(r#""response_format":{"type":"json_schema""#), "{bodies}");
    assert!(line("google").contains(r#""responseMimeType":"application/json""#), "{bodies}");
    assert!(line("google").contains(r#""candidateCount":1"#), "{bodies}");
}
