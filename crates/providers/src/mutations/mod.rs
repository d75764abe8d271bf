//! Mutates every recording: each JSON value is replaced by a value of each other type, removed and
//! duplicated, and each event is dropped and duplicated. A reply may fail only if something
//! essential is missing, and the error must name it. A field that is not part of the answer must
//! not change it.
//!
//! `cargo nextest run -p providers mutations --run-ignored all` also tests the recordings in the folder
//! that the environment variable `RECORDINGS` names (one event per line, in folders named by provider),
//! and takes minutes.

mod answer;
mod change;

use crate::parallel::ParallelExpander;
use crate::testing::{decode, sse_events};
use crate::{anthropic, google, openai_chat, openai_responses};
use answer::DecodedReply;
use change::{Mutation, all_mutations, mutate};
use contract::{ModelError, ModelErrorKind, Part};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// The maximum number of mutations of a recording in the default run. If there are more, they are
/// sampled at equal distances.
const MAX_MUTATIONS: usize = 500;

/// The most changes of one kind in one recording: the same change of the same field of the same
/// type of event. Long recordings repeat one event thousands of times, and each change reads the
/// whole recording again.
const MOST_OF_A_KIND: usize = 20;

/// The parts of a reply, and its end.
type Decoded = (Vec<Part>, Result<(), ModelError>);

/// A codec, and the essential fields and events of its API.
struct CodecCase {
    name: &'static str,
    decode: fn(&str) -> Decoded,
    /// The data after the last event.
    end: &'static str,
    /// The essential fields, by the last keys of their paths: a reply may fail without them.
    essential_fields: &'static [&'static str],
    /// The fields that contain the answer, so that it may change with them; `essential_fields` do,
    /// too.
    content_fields: &'static [&'static str],
    /// The events without which a reply is incomplete.
    final_events: &'static [&'static str],
}

const ANTHROPIC: CodecCase = CodecCase {
    name: "anthropic",
    decode: |stream| decode(anthropic::stream::MessagesCodec::default(), &[stream.as_bytes()]),
    end: "",
    essential_fields: &["type", "delta", "content_block", "content"],
    content_fields: &["text", "thinking", "partial_json", "name", "id", "stop_reason", "input", "content", "citation"],
    final_events: &["content_block_start", "content_block_stop", "message_stop"],
};

const RESPONSES: CodecCase = CodecCase {
    name: "openai_responses",
    decode: |stream| {
        decode(ParallelExpander::new(openai_responses::stream::ResponsesCodec::default(), &[]), &[stream.as_bytes()])
    },
    end: "",
    essential_fields: &["type"],
    content_fields: &[
        "delta",
        "arguments",
        "name",
        "reason",
        "text",
        // For the tools that OpenAI defines: what they do, and who runs them.
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
    final_events: &["response.completed", "response.incomplete", "response.output_item.done"],
};

const CHAT: CodecCase = CodecCase {
    name: "openai_chat",
    decode: |stream| {
        decode(ParallelExpander::new(openai_chat::stream::ChatCodec::default(), &[]), &[stream.as_bytes()])
    },
    end: "data: [DONE]\n\n",
    essential_fields: &["choices", "delta", "tool_calls", "function", "finish_reason"],
    content_fields: &[
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
    final_events: &["finish_reason"],
};

const GOOGLE: CodecCase = CodecCase {
    name: "google",
    decode: |stream| decode(google::stream::GeminiCodec::default(), &[stream.as_bytes()]),
    end: "",
    essential_fields: &["candidates", "content", "parts", "functionCall", "finishReason"],
    content_fields: &["text", "thought", "name", "id", "args"],
    final_events: &["finishReason"],
};

/// Checks at most so many mutations of each of the recordings in the folder of a codec in `fixtures`. The AI Gateway
/// uses the codec of Chat Completions.
fn check_fixtures(codec: &CodecCase, most: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(codec.name);
    let mut faults = Vec::new();
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        faults.extend(check_recording(codec, &name, &std::fs::read_to_string(&file).unwrap(), most));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

// A test for each codec, so that they run at the same time.

#[test]
fn mutated_recordings_of_anthropic_are_read() {
    check_fixtures(&ANTHROPIC, MAX_MUTATIONS);
}

#[test]
fn mutated_recordings_of_openai_responses_are_read() {
    check_fixtures(&RESPONSES, MAX_MUTATIONS);
}

#[test]
fn mutated_recordings_of_openai_chat_are_read() {
    check_fixtures(&CHAT, MAX_MUTATIONS);
}

#[test]
fn mutated_recordings_of_google_are_read() {
    check_fixtures(&GOOGLE, MAX_MUTATIONS);
}

/// Recordings in a folder without a codec would not be tested.
#[test]
fn each_folder_of_recordings_has_a_codec() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders: Vec<_> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    let mut known = [&ANTHROPIC, &RESPONSES, &CHAT, &GOOGLE].map(|codec| codec.name);
    known.sort_unstable();
    assert_eq!(folders, known);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn mutated_recordings_are_read_thoroughly() {
    [&ANTHROPIC, &RESPONSES, &CHAT, &GOOGLE].into_iter().for_each(|codec| check_fixtures(codec, usize::MAX));
    let mut faults = Vec::new();
    for (codec, name, recording) in recordings_from_folder() {
        faults.extend(check_recording(codec, &name, &recording, usize::MAX));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Reads the recordings in the folder `RECORDINGS`.
fn recordings_from_folder() -> Vec<(&'static CodecCase, String, String)> {
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

/// The faults of at most so many of one recording's changes, a line each; at most some for each place.
fn check_recording(codec: &CodecCase, name: &str, recording: &str, most: usize) -> Vec<String> {
    let lines: Vec<&str> = recording.lines().filter(|line| line.trim().starts_with('{')).collect();
    let (parts, ended) = (codec.decode)(&sse_events(&lines.join("\n"), codec.end));
    let label = format!("{} {name}", codec.name);
    if let Err(error) = &ended {
        // An error that the provider reports is a valid end; a broken stream is not, except in the
        // recording of a proxy that sent two messages as one.
        let is_valid = error.kind != ModelErrorKind::BrokenStream || name.ends_with("/spliced-message-start.txt");
        return if is_valid { Vec::new() } else { vec![format!("{label}: {error}")] };
    }
    let answer = DecodedReply::from_parts(&parts).unwrap();
    let mut all = Vec::new();
    let mut of_each_kind = HashMap::new();
    let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (at, event) in events.iter().enumerate() {
        for (path, change) in all_mutations(event) {
            let kind = (event["type"].to_string(), without_indices(&path).join("."), format!("{change:?}"));
            let known: &mut usize = of_each_kind.entry(kind).or_default();
            *known += 1;
            if *known <= MOST_OF_A_KIND {
                all.push((at, path, change));
            }
        }
    }
    let stride = all.len().div_ceil(most).max(1);
    println!("{label}: {} changes, every {stride}. of them", all.len());
    let mut faults = BTreeSet::new();
    for (at, path, change) in all.into_iter().step_by(stride) {
        let (event, changed) = (&events[at], mutate(&events[at], &path, &change));
        let changed_lines: Vec<_> = lines[..at]
            .iter()
            .copied()
            .chain(changed.iter().map(String::as_str))
            .chain(lines[at + 1..].iter().copied())
            .collect();
        let (parts, ended) = (codec.decode)(&sse_events(&changed_lines.join("\n"), codec.end));
        if is_another_answer(name, &path, &change) {
            continue;
        }
        if let Err(fault) = check_mutation(codec, &answer, event, &path, &change, &parts, ended) {
            let kind = event["type"].as_str().unwrap_or_default();
            faults.insert(format!("{label} {kind} {}: {fault}", without_indices(&path).join(".")));
        }
    }
    faults.into_iter().collect()
}

/// Whether a mutation adds to the answer: where the ids of items change, the provider's copy of an
/// item cannot be told from another item.
fn is_another_answer(name: &str, path: &[String], change: &Mutation) -> bool {
    let is_output = path.last().is_some_and(|key| key == "output");
    name.ends_with("--github-copilot-id-rotation.1.txt") && is_output && matches!(change, Mutation::Duplicated)
}

/// Checks the effect of a mutation.
fn check_mutation(
    codec: &CodecCase,
    answer: &DecodedReply,
    event: &Value,
    path: &[String],
    change: &Mutation,
    parts: &[Part],
    ended: Result<(), ModelError>,
) -> Result<(), String> {
    let keys: Vec<&str> = path.iter().map(String::as_str).filter(|step| !step.starts_with('[')).collect();
    let key = keys.last().copied().unwrap_or_default();
    let is_event = keys.is_empty();
    let shown = || format!("{change:?}");
    if let Err(error) = ended {
        let is_named = |name: &str| error.cause.contains(&format!("`{name}`"));
        // An event counts as dropped if its type is unknown.
        let is_left_out = is_event || matches!(key, "type" | "item") || codec.essential_fields.contains(&key);
        let is_allowed = if is_left_out && codec.final_events.iter().any(|name| is_named(name)) {
            true
        } else {
            codec.essential_fields.contains(&key) && is_named(key)
        };
        return if is_allowed { Ok(()) } else { Err(format!("{}: {error}", shown())) };
    }
    let changed = DecodedReply::from_parts(parts).map_err(|fault| format!("{}: {fault}", shown()))?;
    let holds_answer = is_event
        || keys.iter().any(|key| codec.content_fields.contains(key) || codec.essential_fields.contains(key))
        || reports_error(event, key);
    if !holds_answer && changed != *answer {
        return Err(format!("{}: the answer is {changed:?} instead of {answer:?}", shown()));
    }
    Ok(())
}

/// Returns whether a mutation turns the field into the report of an error.
fn reports_error(event: &Value, key: &str) -> bool {
    event.is_object() && matches!(key, "error" | "message" | "x_groq")
}

/// The keys of a path.
fn without_indices(path: &[String]) -> Vec<&str> {
    path.iter().filter(|step| !step.starts_with('[')).map(String::as_str).collect()
}
