//! The offline checker. It compares the history of what clients sent and received with the
//! database, the ledger and the log. Each function checks an invariant of the README and names it
//! in its violations.

mod outside;

use crate::history::Op;
use crate::provider::Script;
use crate::stored::{DatabaseContents, Message, TitleJob};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

/// The collected evidence of one scenario.
pub(crate) struct Facts<'a> {
    pub(crate) ops: &'a [Op],
    /// The number of times that each effect happened.
    pub(crate) effects: &'a HashMap<String, u64>,
    pub(crate) stored: &'a DatabaseContents,
    /// The log of all starts of the server.
    pub(crate) log: &'a str,
    /// A secret that must not appear anywhere.
    pub(crate) secret: &'a str,
    /// The addresses to which the server may have connections.
    pub(crate) allowed: &'a [SocketAddr],
    /// The number of requests that followed the provider's redirect.
    pub(crate) sinkhole_requests: u64,
}

/// The maximum time in ms between the start time of a run and its insertion.
const MAX_QUEUE_MS: i64 = 1_000;

/// Returns a line for each violation.
pub(crate) fn check(facts: &Facts<'_>) -> Vec<String> {
    let received = Events::collect(facts.ops);
    let mut wrong = Vec::new();
    check_accepted_messages(facts, &mut wrong);
    check_origins(facts, &mut wrong);
    check_acknowledged_events(facts, &received, &mut wrong);
    check_texts(facts, &received, &mut wrong);
    check_effects(facts, &mut wrong);
    check_approvals(facts, &mut wrong);
    check_runs(facts, &mut wrong);
    check_jobs(facts, &mut wrong);
    outside::check_readers(facts, &mut wrong);
    outside::check_logs(facts, &mut wrong);
    outside::check_connections(facts, &mut wrong);
    wrong.extend(received.wrong);
    wrong
}

/// All received events by conversation, epoch and sequence number.
struct Events<'a> {
    events: BTreeMap<(&'a str, u64), BTreeMap<u64, &'a Value>>,
    wrong: Vec<String>,
}

impl<'a> Events<'a> {
    /// I4: within a stream, sequence numbers increase by one unless a gap was reported, and a
    /// number identifies the same event in every stream.
    fn collect(ops: &'a [Op]) -> Self {
        let mut received = Self { events: BTreeMap::new(), wrong: Vec::new() };
        let mut last: HashMap<u64, (u64, u64)> = HashMap::new();
        for op in ops {
            match op {
                Op::Told { conversation, stream, epoch, seq, chunk } => {
                    let before = last.insert(*stream, (*epoch, *seq));
                    if before.is_some_and(|(e, s)| e == *epoch && s + 1 != *seq) {
                        received.wrong.push(format!("I4 {conversation}: {epoch}.{seq} came after {before:?}"));
                    }
                    let known = received.events.entry((conversation, *epoch)).or_default().insert(*seq, chunk);
                    if known.is_some_and(|known| known != chunk) {
                        received
                            .wrong
                            .push(format!("I4 {conversation}: {epoch}.{seq} is two events: {known:?} and {chunk}"));
                    }
                }
                Op::Gap { stream, .. } => drop(last.remove(stream)),
                _ => {}
            }
        }
        received
    }
}

fn find_message<'a>(stored: &'a DatabaseContents, conversation: &str, id: &str) -> Option<&'a Message> {
    stored.messages.iter().find(|message| message.conversation == conversation && message.id == id)
}

/// I1: each accepted message is stored as it was sent.
fn check_accepted_messages(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let sent: HashMap<_, _> = sent_messages(facts).map(|(_, _, message, text)| (message, text)).collect();
    for op in facts.ops {
        let Op::Accepted { conversation, message } = op else { continue };
        let stored = find_message(facts.stored, conversation, message).map(Message::text);
        if stored.as_deref() != sent.get(message.as_str()).copied() {
            wrong.push(format!("I1 {conversation}: the accepted message {message} is stored as {stored:?}"));
        }
    }
}

fn sent_messages<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = (&'a str, &'a str, &'a str, &'a str)> {
    facts.ops.iter().filter_map(|op| match op {
        Op::Sent { user, conversation, message, text } => Some((&**user, &**conversation, &**message, &**text)),
        _ => None,
    })
}

/// I15: a job is enqueued once, the end of a job and what it wrote are stored together, and none is left
/// running when the server has stopped.
fn check_jobs(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let mut conversations = BTreeSet::new();
    for TitleJob { conversation, state, title } in &facts.stored.title_jobs {
        if !conversations.insert(conversation) {
            wrong.push(format!("I15 {conversation}: two jobs name it"));
        }
        let is_named = title.ends_with(Script::NAMED);
        if state == "running" || is_named != (state == "done") {
            wrong.push(format!("I15 {conversation}: the job that names it is {state}, and its title is {title}"));
        }
    }
}

/// I2: each stored message was submitted by its owner, once.
fn check_origins(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let sent: BTreeSet<_> = sent_messages(facts).collect();
    let answers: BTreeSet<_> = facts.stored.runs.iter().map(|run| (&*run.conversation, &*run.message)).collect();
    let imported = imported_conversations(facts);
    for message in &facts.stored.messages {
        let (conversation, id, text) = (&*message.conversation, &*message.id, message.text());
        if imported.contains(conversation) && text.starts_with(Op::IMPORT_PREFIX) {
            continue;
        }
        let known = match message.role.as_str() {
            "user" => sent.contains(&(&*message.owner, conversation, id, &*text)),
            _ => answers.contains(&(conversation, id)),
        };
        if !known {
            wrong.push(format!("I2 {conversation}: nobody submitted {id}: {text}"));
        }
    }
}

fn imported_conversations<'a>(facts: &'a Facts<'_>) -> BTreeSet<&'a str> {
    let conversations = facts.ops.iter().filter_map(|op| match op {
        Op::Imported { conversation } => Some(&**conversation),
        _ => None,
    });
    conversations.collect()
}

/// I1: each event that acknowledges something is part of the stored message.
fn check_acknowledged_events(facts: &Facts<'_>, received: &Events<'_>, wrong: &mut Vec<String>) {
    for run in &facts.stored.runs {
        let Some(events) = received.events.get(&(&*run.conversation, run.epoch)) else { continue };
        let Some(message) = find_message(facts.stored, &run.conversation, &run.message) else { continue };
        let call = |chunk: &Value| message.calls().find(|part| part["toolCallId"] == chunk["toolCallId"]);
        for chunk in events.values() {
            let holds = match chunk["type"].as_str().unwrap_or_default() {
                "tool-output-available" => call(chunk)
                    .is_some_and(|part| part["state"] == "output-available" && part["output"] == chunk["output"]),
                "tool-output-error" => call(chunk).is_some_and(|part| part["state"] == "output-error"),
                "tool-approval-request" => call(chunk).is_some(),
                "finish" => run.status != "running" && run.status != "interrupted",
                _ => true,
            };
            if !holds {
                wrong.push(format!("I1 {}: received but not stored: {chunk}", run.conversation));
            }
        }
    }
    // Events of runs that are not stored.
    let known: BTreeSet<_> = facts.stored.runs.iter().map(|run| (&*run.conversation, run.epoch)).collect();
    for (conversation, epoch) in received.events.keys().filter(|key| !known.contains(*key)) {
        wrong.push(format!("I1 {conversation}: events of the run {epoch} were received, but it is not stored"));
    }
}

/// I4: the received text and the stored text are prefixes of the model's text, and a completed
/// reply has all of it. I1: text before an acknowledgement is stored.
fn check_texts(facts: &Facts<'_>, received: &Events<'_>, wrong: &mut Vec<String>) {
    let imported = imported_conversations(facts);
    for (at, message) in facts.stored.messages.iter().enumerate().filter(|(_, message)| message.role == "assistant") {
        let before = facts.stored.messages[..at].iter().rev();
        let asked = before.clone().find(|known| known.conversation == message.conversation && known.role == "user");
        let Some(script) = asked.map(|asked| Script::from_message(&asked.text())) else { continue };
        if script.timed || script.redirect {
            continue;
        }
        let (expected, stored) = (script.text(), message.text());
        if imported.contains(&*message.conversation) && stored.starts_with(Op::IMPORT_PREFIX) {
            continue;
        }
        let runs = facts.stored.runs.iter();
        let runs: Vec<_> =
            runs.filter(|run| run.conversation == message.conversation && run.message == message.id).collect();
        let is_done = runs.last().is_some_and(|run| run.status == "done");
        if !expected.starts_with(&stored) || (is_done && stored != expected) {
            wrong.push(format!(
                "I4 {}: stored is {}, the model wrote {}",
                message.conversation,
                excerpt(&stored),
                excerpt(&expected)
            ));
        }
        for (index, run) in runs.iter().enumerate() {
            let Some(events) = received.events.get(&(&*run.conversation, run.epoch)) else { continue };
            let (text, acknowledged) = contiguous_text(events);
            let fits = if index == 0 { expected.starts_with(&text) } else { expected.contains(&text) };
            if !fits {
                wrong.push(format!(
                    "I4 {}: received was {}, the model wrote {}",
                    message.conversation,
                    excerpt(&text),
                    excerpt(&expected)
                ));
            }
            if !stored.contains(&text[..acknowledged]) {
                wrong.push(format!(
                    "I1 {}: stored is {}, acknowledged was {}",
                    message.conversation,
                    excerpt(&stored),
                    excerpt(&text)
                ));
            }
        }
    }
}

/// Returns the text of the events up to the first gap, and the length of the part before the last
/// acknowledgement.
fn contiguous_text(events: &BTreeMap<u64, &Value>) -> (String, usize) {
    let (mut text, mut acknowledged) = (String::new(), 0);
    for (expected, (seq, chunk)) in (1..).zip(events) {
        if expected != *seq {
            break;
        }
        match chunk["type"].as_str().unwrap_or_default() {
            "text-delta" => text.push_str(chunk["delta"].as_str().unwrap_or_default()),
            "tool-output-available" | "tool-output-error" | "finish" => acknowledged = text.len(),
            _ => {}
        }
    }
    (text, acknowledged)
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("`{}…` ({} bytes)", &text[..at], text.len()),
        None => format!("`{text}`"),
    }
}

/// I3: each effect happened at most once, for a call that is stored in a message and in the
/// server's own ledger. Each call that is stored as completed had its effect.
fn check_effects(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let parts = facts.stored.messages.iter().flat_map(Message::calls);
    let of_key: HashMap<_, _> = parts.filter_map(|part| Some((part["input"]["key"].as_str()?, part))).collect();
    let entered: BTreeSet<_> = facts.stored.calls.iter().filter_map(|input| input["key"].as_str()).collect();
    for (key, count) in facts.effects {
        if *count > 1 {
            wrong.push(format!("I3 the effect {key} happened {count} times"));
        }
        if !of_key.contains_key(key.as_str()) || !entered.contains(key.as_str()) {
            wrong.push(format!("I3 the effect {key} happened without a stored call"));
        }
    }
    for (key, part) in &of_key {
        if part["state"] == "output-available" && !facts.effects.contains_key(*key) {
            wrong.push(format!("I3 {key} is stored as completed, but its effect did not happen"));
        }
        if part["state"] == "input-available" || part["state"] == "input-streaming" {
            wrong.push(format!("I5 the call {key} never ends"));
        }
    }
}

/// I10: a tool that needs approval ran only after this call was approved.
fn check_approvals(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let approved = facts.ops.iter().filter_map(|op| match op {
        Op::Approved { conversation, call } => Some((&**conversation, &**call)),
        _ => None,
    });
    let approved: BTreeSet<_> = approved.collect();
    for message in &facts.stored.messages {
        for part in message.calls().filter(|part| part["type"] == "tool-gated_effect") {
            let key = part["input"]["key"].as_str().unwrap_or_default();
            let call = part["toolCallId"].as_str().unwrap_or_default();
            if facts.effects.contains_key(key) && !approved.contains(&(&*message.conversation, call)) {
                wrong.push(format!("I10 {}: {key} happened without an approval", message.conversation));
            }
        }
    }
}

/// I5 and I6: every run has ended, and the runs of a conversation do not overlap.
fn check_runs(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let (mut epochs, mut last) = (BTreeSet::new(), HashMap::new());
    for run in &facts.stored.runs {
        if run.status == "running" {
            wrong.push(format!("I5 {}: the run {} never ends", run.conversation, run.epoch));
        }
        if !epochs.insert((&run.conversation, run.epoch)) {
            wrong.push(format!("I6 {}: there are two runs {}", run.conversation, run.epoch));
        }
        let before = last.insert(&run.conversation, run.ended_at);
        if before.is_some_and(|before| before.is_none_or(|ended| ended > run.started_at + MAX_QUEUE_MS)) {
            wrong.push(format!(
                "I6 {}: the run {} started before the previous one had ended",
                run.conversation, run.epoch
            ));
        }
    }
    if facts.stored.integrity != "ok" {
        wrong.push(format!("the database is damaged: {}", facts.stored.integrity));
    }
}
