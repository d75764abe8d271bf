//! Every recording, changed in every place: each JSON value replaced by one of each other type, removed and doubled, each event left
//! out and doubled. A reply fails only for what the answer cannot do without, and the error names it; a field that is no part of the
//! answer changes nothing of it.
//!
//! `cargo nextest run -p providers mutations --run-ignored all` with `RECORDINGS` as a folder of recordings (one event a line, in
//! folders named by provider) goes through those, too, and takes minutes.

mod answer;
mod change;

use crate::parallel::Expanding;
use crate::testing::{events, read};
use crate::{anthropic, google, openai_chat, openai_responses};
use answer::Answer;
use change::{Change, Path, changed, changes};
use contract::{ModelError, ModelErrorKind, Part};
use serde_json::Value;
use std::collections::BTreeSet;

/// The most changes to one recording in the usual run; of more, these are taken at equal distances.
const MOST: usize = 2_000;

/// The parts of a reply, and how it ended.
type Decoded = (Vec<Part>, Result<(), ModelError>);

/// A codec, and what its API's answers cannot do without.
struct Codec {
    name: &'static str,
    read: fn(&str) -> Decoded,
    /// Behind the last event.
    end: &'static str,
    /// Fields, by the ends of their paths, for which a reply may fail.
    needed: &'static [&'static str],
    /// Fields that hold the answer, so that it changes with them; `needed` ones do as well.
    told: &'static [&'static str],
    /// Events without which there is no whole answer.
    last: &'static [&'static str],
}

const ANTHROPIC: Codec = Codec {
    name: "anthropic",
    read: |stream| read(anthropic::stream::Reader::default(), &[stream.as_bytes()]),
    end: "",
    needed: &["type", "delta", "content_block", "content"],
    told: &["text", "thinking", "partial_json", "name", "id", "stop_reason", "input", "content", "citation"],
    last: &["content_block_start", "content_block_stop", "message_stop"],
};

const RESPONSES: Codec = Codec {
    name: "openai_responses",
    read: |stream| read(Expanding::new(openai_responses::stream::Reader::default(), &[]), &[stream.as_bytes()]),
    end: "",
    needed: &["type"],
    told: &[
        "delta",
        "arguments",
        "name",
        "reason",
        "text",
        // Of the tools that OpenAI knows: what they are to do, and who runs them.
        "input",
        "action",
        "actions",
        "operation",
        "pending_safety_checks",
        "status",
        "environment",
        "execution",
        "call_id",
        "item",
    ],
    last: &["response.completed", "response.incomplete", "response.output_item.done"],
};

const CHAT: Codec = Codec {
    name: "openai_chat",
    read: |stream| read(Expanding::new(openai_chat::stream::Reader::default(), &[]), &[stream.as_bytes()]),
    end: "data: [DONE]\n\n",
    needed: &["choices", "delta", "tool_calls", "function", "finish_reason"],
    told: &[
        "content",
        "reasoning",
        "reasoning_content",
        "text",
        "thinking",
        "refusal",
        "name",
        "id",
        "index",
        "arguments",
    ],
    last: &["finish_reason"],
};

const GOOGLE: Codec = Codec {
    name: "google",
    read: |stream| read(google::stream::Reader::default(), &[stream.as_bytes()]),
    end: "",
    needed: &["candidates", "content", "parts", "functionCall", "finishReason"],
    told: &["text", "thought", "name", "id", "args"],
    last: &["finishReason"],
};

/// The gateway speaks Chat Completions.
const RECORDINGS: [(&Codec, &str, &str); 17] = [
    (&ANTHROPIC, "containers", include_str!("../../fixtures/anthropic/containers.jsonl")),
    (&ANTHROPIC, "items", include_str!("../../fixtures/anthropic/items.jsonl")),
    (&ANTHROPIC, "server_tools", include_str!("../../fixtures/anthropic/server_tools.jsonl")),
    (&ANTHROPIC, "text", include_str!("../../fixtures/anthropic/text.jsonl")),
    (&ANTHROPIC, "thinking_and_tools", include_str!("../../fixtures/anthropic/thinking_and_tools.jsonl")),
    (&RESPONSES, "items", include_str!("../../fixtures/openai_responses/items.jsonl")),
    (&RESPONSES, "parallel", include_str!("../../fixtures/openai_responses/parallel.jsonl")),
    (&RESPONSES, "server_tools", include_str!("../../fixtures/openai_responses/server_tools.jsonl")),
    (&RESPONSES, "thinking_and_tool", include_str!("../../fixtures/openai_responses/thinking_and_tool.jsonl")),
    (&CHAT, "careless", include_str!("../../fixtures/openai_chat/careless.jsonl")),
    (&CHAT, "groq", include_str!("../../fixtures/openai_chat/groq.jsonl")),
    (&CHAT, "parallel", include_str!("../../fixtures/openai_chat/parallel.jsonl")),
    (&CHAT, "text", include_str!("../../fixtures/openai_chat/text.jsonl")),
    (&CHAT, "thinking_and_tools", include_str!("../../fixtures/openai_chat/thinking_and_tools.jsonl")),
    (&GOOGLE, "grounding", include_str!("../../fixtures/google/grounding.jsonl")),
    (&GOOGLE, "server_tools", include_str!("../../fixtures/google/server_tools.jsonl")),
    (&GOOGLE, "thinking_and_tools", include_str!("../../fixtures/google/thinking_and_tools.jsonl")),
];

#[test]
fn changed_recordings_of_each_codec_are_read() {
    let faults: Vec<_> =
        RECORDINGS.iter().flat_map(|(codec, name, recording)| check(codec, name, recording, MOST)).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
#[ignore = "takes minutes; run it by hand"]
fn all_changes_of_all_recordings_are_read() {
    let mut faults = Vec::new();
    for (codec, name, recording) in RECORDINGS {
        faults.extend(check(codec, name, recording, usize::MAX));
    }
    for (codec, name, recording) in from_folder() {
        faults.extend(check(codec, &name, &recording, usize::MAX));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The recordings of the folder `RECORDINGS`.
fn from_folder() -> Vec<(&'static Codec, String, String)> {
    let Some(root) = std::env::var_os("RECORDINGS") else { return Vec::new() };
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let provider = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let codec = match provider.as_str() {
                "anthropic" => &ANTHROPIC,
                "google" => &GOOGLE,
                _ if name.starts_with("responses--") => &RESPONSES,
                _ => &CHAT,
            };
            found.push((codec, format!("{provider}/{name}"), std::fs::read_to_string(&file).unwrap()));
        }
    }
    found
}

/// The faults of one recording's changes, a line each; at most some for each place.
fn check(codec: &Codec, name: &str, recording: &str, most: usize) -> Vec<String> {
    let lines: Vec<&str> = recording.lines().filter(|line| line.trim().starts_with('{')).collect();
    let stream = |lines: &[String]| events(&lines.join("\n"), codec.end);
    let whole: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let (parts, ended) = (codec.read)(&stream(&whole));
    let label = format!("{} {name}", codec.name);
    if let Err(error) = &ended {
        // An error that the provider tells is its answer; nothing else may end a recording.
        let is_told = error.kind != ModelErrorKind::BrokenStream;
        return if is_told { Vec::new() } else { vec![format!("{label}: {error}")] };
    }
    let answer = Answer::of(&parts).unwrap();
    let all: Vec<(usize, Path, Change)> = lines
        .iter()
        .enumerate()
        .flat_map(|(at, line)| {
            let event: Value = serde_json::from_str(line).unwrap();
            changes(&event).into_iter().map(move |(path, change)| (at, path, change))
        })
        .collect();
    let stride = all.len().div_ceil(most).max(1);
    println!("{label}: {} changes, every {stride}. of them", all.len());
    let mut faults = BTreeSet::new();
    for (at, path, change) in all.into_iter().step_by(stride) {
        let event: Value = serde_json::from_str(lines[at]).unwrap();
        let mut changed_lines = whole.clone();
        changed_lines.splice(at..=at, changed(&event, &path, &change));
        let (parts, ended) = (codec.read)(&stream(&changed_lines));
        if let Err(fault) = judge(codec, &answer, &event, &path, &change, &parts, ended) {
            let kind = event["type"].as_str().unwrap_or_default();
            let path: Vec<_> = path.iter().filter(|step| !step.starts_with('[')).map(String::as_str).collect();
            faults.insert(format!("{label} {kind} {}: {fault}", path.join(".")));
        }
    }
    faults.into_iter().collect()
}

/// Whether what came of a change is right.
fn judge(
    codec: &Codec,
    answer: &Answer,
    event: &Value,
    path: &[String],
    change: &Change,
    parts: &[Part],
    ended: Result<(), ModelError>,
) -> Result<(), String> {
    let keys: Vec<&str> = path.iter().map(String::as_str).filter(|step| !step.starts_with('[')).collect();
    let key = keys.last().copied().unwrap_or_default();
    let is_event = keys.is_empty();
    let shown = || format!("{change:?}");
    if let Err(error) = ended {
        let is_named = |name: &str| error.cause.contains(&format!("`{name}`"));
        // An event is left out when nothing says any more which one it is.
        let is_left_out = is_event || matches!(key, "type" | "item") || codec.needed.contains(&key);
        let is_allowed = if is_left_out && codec.last.iter().any(|name| is_named(name)) {
            true
        } else {
            codec.needed.contains(&key) && is_named(key)
        };
        return if is_allowed { Ok(()) } else { Err(format!("{}: {error}", shown())) };
    }
    let changed = Answer::of(parts).map_err(|fault| format!("{}: {fault}", shown()))?;
    let holds_answer = is_event
        || keys.iter().any(|key| codec.told.contains(key) || codec.needed.contains(key))
        || is_told_error(event, key);
    if !holds_answer && changed != *answer {
        return Err(format!("{}: the answer is {changed:?} instead of {answer:?}", shown()));
    }
    Ok(())
}

/// Whether a change makes the field the report of an error.
fn is_told_error(event: &Value, key: &str) -> bool {
    event.is_object() && matches!(key, "error" | "message" | "x_groq")
}
