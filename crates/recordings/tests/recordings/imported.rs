//! Replies that were recorded from providers are made into turns, and replayed.

use crate::agents::{dead, dead_tools, scripted, spec};
use crate::exact::exact;
use contract::Part;
use contract::testing::RecordingTool;
use insta::assert_snapshot;
use recordings::format::{AnyFile, Entry, ProviderReply, RecordedScope, Recording, read, read_any, write};
use recordings::import::{header, record_reply};
use recordings::replay::{Options, Replies, replay};
use recordings::report::{Kind, compare, imported_turn};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Returns the files that are recordings of providers, with their names.
fn fixtures() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../providers/fixtures");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            files.push((file.strip_prefix(&root).unwrap().display().to_string(), file));
        }
    }
    files.sort();
    files
}

fn reply(text: &[u8]) -> ProviderReply {
    match read_any(text, None).unwrap() {
        AnyFile::Reply(reply) => reply,
        AnyFile::Recordings(_) => panic!("these are recordings"),
    }
}

async fn imported(reply: &ProviderReply, agent: &agent::Agent) -> Recording {
    let header = header(reply, "helper", "config");
    let scope = RecordedScope { user_id: "ada".to_owned(), ..RecordedScope::default() };
    record_reply(agent, reply, (header, scope), "What is it?", CancellationToken::new()).await.unwrap()
}

/// Returns an agent that has the tools that the replies call; none may run.
fn with_called_tools() -> agent::Agent {
    let mut agent = dead();
    agent.tools.extend(["weather", "clock"].map(|name| -> Arc<dyn contract::Tool> {
        let mut spec = spec(name);
        spec.input_schema = serde_json::json!({ "type": "object" });
        Arc::new(RecordingTool::new(spec, move |_, _| async move { panic!("{name} runs") }))
    }));
    agent
}

/// Each recording of a provider makes the same turn again, without a difference in anything that is
/// decoded.
#[tokio::test]
async fn all_recordings_of_providers_are_replayed() {
    let agent = with_called_tools();
    let mut turns = String::new();
    let mut apis = HashSet::new();
    for (name, file) in fixtures() {
        let reply = reply(&std::fs::read(file).unwrap());
        apis.insert(reply.api);
        let recording = imported(&reply, &agent).await;
        // The file of the recording is portable.
        let mut file = Vec::new();
        write(&recording, &mut file).unwrap();
        assert_eq!(read(&*file).unwrap(), std::slice::from_ref(&recording));
        let replayed = replay(&recording, &agent, &exact(), CancellationToken::new()).await.unwrap();
        let comparison = compare(&recording, &replayed.recording, &replayed.misses, 1);
        assert_eq!(comparison.findings().count(), 0, "{name}: {comparison:#?}");
        assert_eq!(replayed.live_requests, 0);
        let _ = writeln!(turns, "{name}: {}", summary(&recording));
    }
    assert_eq!(apis.len(), 4, "each provider has a recording");
    assert_snapshot!(turns, @r#"
    anthropic/containers.jsonl: stopped, "tool-calls", 5 + 9 tokens, a3ac4ba7: reasoning tool-call provider-item tool-result provider-item tool-call provider-item tool-result provider-item tool-call provider-item text provider-item
    anthropic/items.jsonl: stopped, "pause", 5 + 8 tokens, cefd3a5d: tool-call provider-item tool-result provider-item text text
    anthropic/server_tools.jsonl: stopped, "tool-calls", 0 + 3 tokens, ba490781: tool-call provider-item tool-result provider-item tool-call provider-item tool-result provider-item tool-call provider-item tool-result provider-item tool-call provider-item tool-result provider-item provider-item text tool-call
    anthropic/text.jsonl: done, "stop", 442 + 9 tokens, 8e851c0a: text
    anthropic/thinking_and_tools.jsonl: stopped, "tool-calls", 50 + 70 tokens, b944b106: reasoning reasoning text tool-call tool-call
    google/grounding.jsonl: stopped, "tool-calls", 3 + 4 tokens, 170ca102: tool-call provider-item tool-call provider-item tool-result provider-item tool-result provider-item tool-call provider-item tool-result provider-item text tool-call text
    google/server_tools.jsonl: done, "stop", 134 + 27 tokens, 92601416: text tool-call provider-item tool-result provider-item tool-call provider-item tool-result provider-item file provider-item text
    google/thinking_and_tools.jsonl: stopped, "tool-calls", 20 + 22 tokens, 9d1ce7c5: reasoning text tool-call tool-call tool-call
    openai_chat/careless.jsonl: stopped, "stop", 0 + 1 tokens, 95da3442: reasoning text reasoning text tool-call tool-call tool-call tool-call
    openai_chat/groq.jsonl: stopped, "tool-calls", 210 + 15 tokens, 4426f376: reasoning tool-call
    openai_chat/parallel.jsonl: stopped, "tool-calls", 34 + 28 tokens, e63f04b7: tool-call tool-call
    openai_chat/text.jsonl: done, "stop", 15 + 78 tokens, 8e851c0a: text
    openai_chat/thinking_and_tools.jsonl: stopped, "tool-calls", 339 + 83 tokens, 4ae04aaf: reasoning text tool-call tool-call
    openai_responses/items.jsonl: stopped, "tool-calls", 3 + 4 tokens, 4e7252f0: reasoning tool-call provider-item tool-result provider-item tool-call provider-item tool-call provider-item tool-result provider-item tool-call provider-item tool-call provider-item tool-call provider-item provider-item tool-call tool-result provider-item tool-call provider-item tool-call tool-result provider-item provider-item tool-call tool-result provider-item text
    openai_responses/parallel.jsonl: stopped, "tool-calls", 34 + 28 tokens, 800e6ee0: tool-call tool-call tool-call
    openai_responses/server_tools.jsonl: limit: ContentFilter, "content-filter", 134 + 55 tokens, 208d188f: tool-call tool-result provider-item tool-call tool-result provider-item tool-call tool-result provider-item tool-call tool-result provider-item tool-call tool-result provider-item tool-call provider-item tool-call provider-item provider-item reasoning text
    openai_responses/thinking_and_tool.jsonl: stopped, "tool-calls", 30 + 12 tokens, 836295c1: reasoning reasoning text tool-call tool-call tool-result provider-item
    "#);
}

/// Returns how the run of a recording ended, what it used, what the model's message has, and the
/// hash of the message.
fn summary(recording: &Recording) -> String {
    let end = recording.end().unwrap();
    let id = &end.messages[1];
    let parts = recording.blob(id)["content"].as_array().unwrap().iter();
    let parts: Vec<_> = parts.map(|part| part["type"].as_str().unwrap()).collect();
    let (usage, reason) = (end.usage, serde_json::to_value(end.finish_reason).unwrap());
    let (ending, parts, hash) = (&end.ending, parts.join(" "), &id[..8]);
    format!("{ending}, {reason}, {} + {} tokens, {hash}: {parts}", usage.input_tokens, usage.output_tokens)
}

#[tokio::test]
async fn the_turn_of_a_reply_is_shown() {
    let file = fixtures().into_iter().find(|(name, _)| name == "anthropic/thinking_and_tools.jsonl").unwrap().1;
    let recording = imported(&reply(&std::fs::read(file).unwrap()), &with_called_tools()).await;
    assert_snapshot!(imported_turn(&recording).unwrap(), @r#"
    a reply of anthropic with 20 events
      user: What is it?
      reasoning: Two places. Two calls.
      reasoning: (not readable)
      text: I look.
      call: weather {"city":"Paris"}
      call: clock {}
      end: tool-calls, 50 tokens in, 70 tokens out
    "#);
}

const CHAT: &str = r#"data: {"choices":[{"delta":{"content":"It is two."}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}

data: [DONE]

"#;

/// Changes the parts that were decoded when the reply was imported.
fn with_other_parts(recording: &Recording, change: impl Fn(&mut Part)) -> Recording {
    let mut recording = recording.clone();
    for entry in &mut recording.entries {
        if let Entry::Reply { parts, .. } = entry {
            parts.iter_mut().for_each(&change);
        }
    }
    recording
}

#[tokio::test]
async fn a_reply_that_is_decoded_differently_today_is_a_divergence() {
    let agent = dead();
    let recording = imported(&reply(CHAT.as_bytes()), &agent).await;
    assert_eq!(recording.end().unwrap().ending, "done");
    // As if the version that has imported it had decoded something else.
    let old = with_other_parts(&recording, |part| {
        if let Part::TextDelta { delta, .. } = part {
            *delta = "It is three.".to_owned();
        }
    });
    let replayed = replay(&old, &agent, &exact(), CancellationToken::new()).await.unwrap();
    let comparison = compare(&old, &replayed.recording, &replayed.misses, 1);
    let kinds: Vec<_> = comparison.findings().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::Text]);

    // A difference that no step shows, such as one in reasoning or in the provider's own items.
    let mut old = recording.clone();
    let end = old.entries.iter_mut().find_map(|entry| if let Entry::End(end) = entry { Some(end) } else { None });
    let last = end.unwrap().messages.last().unwrap().clone();
    let message: Value = serde_json::from_str(&old.blobs[&last].to_string().replace("two", "2")).unwrap();
    old.blobs.insert(last, message);
    let replayed = replay(&old, &agent, &exact(), CancellationToken::new()).await.unwrap();
    let comparison = compare(&old, &replayed.recording, &replayed.misses, 1);
    assert_eq!(comparison.findings().map(|finding| finding.kind).collect::<Vec<_>>(), [Kind::Messages]);
    assert!(comparison.run[0].kind.is_divergence());
}

#[tokio::test]
async fn another_config_is_compared_with_the_reply_of_the_provider() {
    let recording = imported(&reply(CHAT.as_bytes()), &dead()).await;
    // The same reply under another prompt.
    let mut other = scripted(Vec::new(), dead_tools());
    other.instructions = Some("Be kind.".to_owned());
    let recorded = Options { replies: Replies::Recorded, ..Options::default() };
    let replayed = replay(&recording, &other, &recorded, CancellationToken::new()).await.unwrap();
    let comparison = compare(&recording, &replayed.recording, &replayed.misses, 1);
    assert_eq!(comparison.findings().map(|finding| finding.kind).collect::<Vec<_>>(), [Kind::Prompt]);
    // Another model.
    let live = scripted(vec![contract::testing::text_reply("It is three.")], dead_tools());
    let options = Options { replies: Replies::Live, ..Options::default() };
    let replayed = replay(&recording, &live, &options, CancellationToken::new()).await.unwrap();
    let comparison = compare(&recording, &replayed.recording, &replayed.misses, 1);
    assert_eq!(replayed.live_requests, 1);
    assert!(comparison.findings().any(|finding| finding.kind == Kind::Text));
}
