//! Chunks of runs, and what clients get of them.

use super::chat::ChatWriter;
use super::response::ResponseWriter;
use super::turn::{Ended, Turn};
use crate::request::responses::ResponseCall;
use serde_json::{Value, json};

const RUN: &str = "r";

/// How a run is read and written.
#[derive(Default)]
struct How {
    holds_text: bool,
    one_call: bool,
    shows_reasoning: bool,
}

fn frames(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

fn finish(reason: &str, run: Value) -> Value {
    let usage = json!({ "inputTokens": 5, "outputTokens": 3, "cacheReadTokens": 2, "reasoningTokens": 1 });
    let mut stored = json!({ "run_id": RUN, "output": "", "error": null, "reason": "done" });
    stored.as_object_mut().unwrap().extend(run.as_object().unwrap().clone());
    json!({ "type": "finish", "finishReason": reason, "messageMetadata": { "run": stored, "usage": usage } })
}

fn text(step: bool, words: &[&str]) -> Vec<Value> {
    let mut chunks: Vec<_> = step.then(|| json!({ "type": "start-step" })).into_iter().collect();
    chunks.push(json!({ "type": "text-start", "id": "1" }));
    chunks.extend(words.iter().map(|delta| json!({ "type": "text-delta", "id": "1", "delta": delta })));
    chunks.push(json!({ "type": "text-end", "id": "1" }));
    chunks
}

fn call(id: &str, name: &str) -> Value {
    json!({ "type": "tool-input-available", "toolCallId": id, "toolName": name, "input": { "n": 1 } })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool-output-available", "toolCallId": id, "output": "secret" })
}

/// Reads the frames in pieces of this size, and returns the frames of the response.
fn read<W>(
    chunks: &[Value],
    size: usize,
    how: &How,
    writer: &mut W,
    write: fn(&mut W, super::turn::Output) -> Vec<bytes::Bytes>,
) -> (String, Ended) {
    let mut turn = Turn::new("m".to_owned(), &["weather".to_owned()], how.holds_text, how.one_call);
    let mut sent = String::new();
    for piece in frames(chunks).as_bytes().chunks(size) {
        for output in turn.push(piece) {
            sent.extend(write(writer, output).iter().map(|frame| String::from_utf8_lossy(frame).into_owned()));
        }
    }
    (sent, turn.end())
}

/// Returns the deltas and the end of a completion, however the frames of the run are cut.
fn chat(chunks: &[Value], how: &How) -> String {
    let seen = [1, 11, 1 << 20].map(|size| {
        let mut writer = ChatWriter::new(RUN, 7, "helper".to_owned(), true);
        let (mut sent, ended) = read(chunks, size, how, &mut writer, ChatWriter::write);
        let (last, object) = writer.end(ended);
        sent.extend(last.iter().map(|frame| String::from_utf8_lossy(frame).into_owned()));
        let lines = sent.lines().filter_map(|line| line.strip_prefix("data: ")).map(|data| {
            let chunk: Value = serde_json::from_str(data).unwrap_or_else(|_| data.into());
            let choice = &chunk["choices"][0];
            match (choice["finish_reason"].as_str(), choice["delta"].is_object()) {
                (Some(reason), _) => format!("ends: {reason}"),
                (None, true) => choice["delta"].to_string(),
                (None, false) => chunk.get("error").or(chunk.get("usage")).unwrap_or(&chunk).to_string(),
            }
        });
        let lines: Vec<_> = lines.collect();
        let object = object.map(|object| serde_json::to_value(object).unwrap()["choices"][0].to_string());
        format!("{}\n{}", lines.join("\n"), object.unwrap_or_else(|error| error.status.to_string()))
    });
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
    seen[0].clone()
}

/// Returns the events of a response and its end.
fn response(chunks: &[Value], how: &How) -> String {
    let summary = how.shows_reasoning.then(|| json!({ "summary": "auto" }));
    let body = json!({ "model": "helper", "input": "Hi", "reasoning": summary });
    let call = ResponseCall::read(body.to_string().as_bytes()).unwrap();
    let mut writer = ResponseWriter::new(RUN, 7, &call);
    let mut sent: String = writer.begin().iter().map(|frame| String::from_utf8_lossy(frame).into_owned()).collect();
    let (more, ended) = read(chunks, 1 << 20, how, &mut writer, ResponseWriter::write);
    let (last, object) = writer.end(&ended, false, 8);
    let last = last.into_iter().chain(writer.last(&object));
    sent += &more;
    sent.extend(last.map(|frame| String::from_utf8_lossy(&frame).into_owned()));
    let lines = sent.lines().filter_map(|line| line.strip_prefix("data: ")).enumerate().map(|(at, data)| {
        let event: Value = serde_json::from_str(data).unwrap();
        assert_eq!(event["sequence_number"], at);
        let kind = event["type"].as_str().unwrap().trim_start_matches("response.");
        let place = event["output_index"].as_u64().map(|at| format!(" {at}")).unwrap_or_default();
        let news = ["delta", "text", "arguments"].iter().find_map(|key| event[key].as_str());
        format!("{kind}{place} {}", news.unwrap_or_default()).trim_end().to_owned()
    });
    let lines: Vec<_> = lines.collect();
    let end = format!("{} {} {}", object["status"], object["incomplete_details"], object["error"]);
    format!("{}\n{end}\n{}", lines.join("\n"), object["output"])
}

#[test]
fn texts_of_steps_are_paragraphs_and_own_calls_are_hidden() {
    let mut run = text(true, &["Let ", "me see."]);
    run.extend([call("a", "find"), result("a"), json!({ "type": "finish-step" })]);
    run.extend(text(true, &["Found."]));
    run.push(finish("stop", json!({ "output": "Found." })));
    insta::assert_snapshot!(chat(&run, &How::default()), @r#"
    {"content":"Let "}
    {"content":"me see."}
    {"content":"\n\nFound."}
    ends: stop
    {"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
    "[DONE]"
    {"index":0,"message":{"role":"assistant","content":"Let me see.\n\nFound.","refusal":null},"logprobs":null,"finish_reason":"stop"}
    "#);
    insta::assert_snapshot!(response(&run, &How::default()), @r#"
    created
    in_progress
    output_item.added 0
    content_part.added 0
    output_text.delta 0 Let
    output_text.delta 0 me see.
    output_text.done 0 Let me see.
    content_part.done 0
    output_item.done 0
    output_item.added 1
    content_part.added 1
    output_text.delta 1 Found.
    output_text.done 1 Found.
    content_part.done 1
    output_item.done 1
    completed
    "completed" null null
    [{"id":"msg_r_0","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Let me see.","annotations":[],"logprobs":[]}]},{"id":"msg_r_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Found.","annotations":[],"logprobs":[]}]}]
    "#);
}

#[test]
fn calls_of_the_caller_end_the_answer() {
    let mut run = text(true, &["Well."]);
    // The agent's own call has run, and an invalid one was refused.
    run.extend([call("a", "find"), call("b", "weather"), call("c", "weather"), call("d", "weather"), result("a")]);
    run.push(json!({ "type": "tool-output-error", "toolCallId": "d", "errorText": "no" }));
    run.push(finish("tool-calls", json!({ "output": "Well." })));
    insta::assert_snapshot!(chat(&run, &How::default()), @r#"
    {"content":"Well."}
    {"tool_calls":[{"id":"b","type":"function","function":{"name":"weather","arguments":"{\"n\":1}"},"index":0}]}
    {"tool_calls":[{"id":"c","type":"function","function":{"name":"weather","arguments":"{\"n\":1}"},"index":1}]}
    ends: tool_calls
    {"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
    "[DONE]"
    {"index":0,"message":{"role":"assistant","content":"Well.","refusal":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"weather","arguments":"{\"n\":1}"}},{"id":"c","type":"function","function":{"name":"weather","arguments":"{\"n\":1}"}}]},"logprobs":null,"finish_reason":"tool_calls"}
    "#);
    insta::assert_snapshot!(response(&run, &How { one_call: true, ..How::default() }), @r#"
    created
    in_progress
    output_item.added 0
    content_part.added 0
    output_text.delta 0 Well.
    output_text.done 0 Well.
    content_part.done 0
    output_item.done 0
    output_item.added 1
    function_call_arguments.delta 1 {"n":1}
    function_call_arguments.done 1 {"n":1}
    output_item.done 1
    completed
    "completed" null null
    [{"id":"msg_r_0","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Well.","annotations":[],"logprobs":[]}]},{"id":"fc_r_1","type":"function_call","status":"completed","call_id":"b","name":"weather","arguments":"{\"n\":1}"}]
    "#);
}

#[test]
fn json_comes_as_it_was_checked() {
    let mut run = text(true, &["```json\n{\"a\": 1}", "\n```"]);
    run.push(finish("stop", json!({ "output": { "a": 1 } })));
    let how = How { holds_text: true, ..How::default() };
    insta::assert_snapshot!(chat(&run, &how), @r#"
    {"content":"{\"a\":1}"}
    ends: stop
    {"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
    "[DONE]"
    {"index":0,"message":{"role":"assistant","content":"{\"a\":1}","refusal":null},"logprobs":null,"finish_reason":"stop"}
    "#);
    insta::assert_snapshot!(chat(&[finish("stop", json!({ "output": "x" }))], &how), @r#"
    {"content":"\"x\""}
    ends: stop
    {"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
    "[DONE]"
    {"index":0,"message":{"role":"assistant","content":"\"x\"","refusal":null},"logprobs":null,"finish_reason":"stop"}
    "#);
}

#[test]
fn reasoning_is_shown_on_demand() {
    let mut run = vec![
        json!({ "type": "start-step" }),
        json!({ "type": "reasoning-start", "id": "r" }),
        json!({ "type": "reasoning-delta", "id": "r", "delta": "Hm" }),
        json!({ "type": "reasoning-end", "id": "r" }),
    ];
    // A model may only reason.
    let only = [&run[..], &[finish("stop", json!({}))]].concat();
    insta::assert_snapshot!(chat(&only, &How::default()), @r#"
    ends: stop
    {"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
    "[DONE]"
    {"index":0,"message":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":"stop"}
    "#);
    run.extend(text(false, &["Yes."]));
    run.push(finish("stop", json!({ "output": "Yes." })));
    insta::assert_snapshot!(response(&run, &How { shows_reasoning: true, ..How::default() }), @r#"
    created
    in_progress
    output_item.added 0
    reasoning_summary_part.added 0
    reasoning_summary_text.delta 0 Hm
    reasoning_summary_text.done 0 Hm
    reasoning_summary_part.done 0
    output_item.done 0
    output_item.added 1
    content_part.added 1
    output_text.delta 1 Yes.
    output_text.done 1 Yes.
    content_part.done 1
    output_item.done 1
    completed
    "completed" null null
    [{"id":"rs_r_0","type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]},{"id":"msg_r_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Yes.","annotations":[],"logprobs":[]}]}]
    "#);
    insta::assert_snapshot!(response(&only, &How::default()), @r#"
    created
    in_progress
    completed
    "completed" null null
    []
    "#);
}

#[test]
fn ends_are_named() {
    let ends = |reason: &str, run: Value| {
        let mut chunks = text(true, &["We"]);
        chunks.extend([call("b", "weather"), finish(reason, run)]);
        chunks
    };
    let cut = ends("length", json!({ "output": "We", "error": "Cut off.", "reason": "maxOutputTokens" }));
    insta::assert_snapshot!(chat(&cut, &How::default()), @r#"
    {"content":"We"}
    ends: length
    {"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
    "[DONE]"
    {"index":0,"message":{"role":"assistant","content":"We","refusal":null},"logprobs":null,"finish_reason":"length"}
    "#);
    insta::assert_snapshot!(response(&cut, &How::default()), @r#"
    created
    in_progress
    output_item.added 0
    content_part.added 0
    output_text.delta 0 We
    output_text.done 0 We
    content_part.done 0
    output_item.done 0
    incomplete
    "incomplete" {"reason":"max_output_tokens"} null
    [{"id":"msg_r_0","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"We","annotations":[],"logprobs":[]}]}]
    "#);
    let filtered = ends("content-filter", json!({ "output": "We", "error": "Refused.", "reason": "contentFilter" }));
    insta::assert_snapshot!(chat(&filtered, &How::default()), @r#"
    {"content":"We"}
    ends: content_filter
    {"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
    "[DONE]"
    {"index":0,"message":{"role":"assistant","content":"We","refusal":null},"logprobs":null,"finish_reason":"content_filter"}
    "#);
    let failed = ends("error", json!({ "output": null, "error": "The provider is away.", "reason": "modelAway" }));
    insta::assert_snapshot!(chat(&failed, &How::default()), @r#"
    {"content":"We"}
    {"message":"The provider is away.","type":"server_error","param":null,"code":null}
    503 Service Unavailable
    "#);
    insta::assert_snapshot!(response(&failed, &How::default()), @r#"
    created
    in_progress
    output_item.added 0
    content_part.added 0
    output_text.delta 0 We
    output_text.done 0 We
    content_part.done 0
    output_item.done 0
    failed
    "failed" null {"code":"server_error","message":"The provider is away."}
    [{"id":"msg_r_0","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"We","annotations":[],"logprobs":[]}]}]
    "#);
    // The stream broke off.
    insta::assert_snapshot!(chat(&text(true, &["We"]), &How::default()), @r#"
    {"content":"We"}
    {"message":"The answer was cut off. Try again.","type":"server_error","param":null,"code":null}
    500 Internal Server Error
    "#);
}
