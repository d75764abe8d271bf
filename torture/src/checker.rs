//! The offline checker: the history of what clients sent and were told, beside what is stored and what happened outside. Each
//! function looks for one thing that must never be, and names the invariant.

mod outside;

use crate::history::Op;
use crate::provider::Script;
use crate::stored::{Message, Stored};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

/// What is checked.
pub(crate) struct Facts<'a> {
    pub(crate) ops: &'a [Op],
    /// How often each effect was had.
    pub(crate) effects: &'a HashMap<String, u64>,
    pub(crate) stored: &'a Stored,
    /// Of all the server's lives.
    pub(crate) log: &'a str,
    /// What must be nowhere.
    pub(crate) secret: &'a str,
    /// Where the server may have connections to.
    pub(crate) allowed: &'a [SocketAddr],
    /// Requests where none may come.
    pub(crate) sunk: u64,
}

/// A run's beginning is stamped before it waits for its turn to be stored; ms.
const QUEUED: i64 = 1_000;

/// Everything that is wrong, a line each.
pub(crate) fn check(facts: &Facts<'_>) -> Vec<String> {
    let told = Told::of(facts.ops);
    let mut wrong = Vec::new();
    accepted(facts, &mut wrong);
    submitted(facts, &mut wrong);
    acknowledged(facts, &told, &mut wrong);
    texts(facts, &told, &mut wrong);
    effects(facts, &mut wrong);
    approvals(facts, &mut wrong);
    runs(facts, &mut wrong);
    outside::owners(facts, &mut wrong);
    outside::quiet(facts, &mut wrong);
    outside::reached(facts, &mut wrong);
    wrong.extend(told.wrong);
    wrong
}

/// All events by conversation, epoch and number.
struct Told<'a> {
    events: BTreeMap<(&'a str, u64), BTreeMap<u64, &'a Value>>,
    wrong: Vec<String>,
}

impl<'a> Told<'a> {
    /// I4: within a stream numbers go up by one unless a gap was told, and a number is one event for everybody and for ever.
    fn of(ops: &'a [Op]) -> Self {
        let mut told = Self { events: BTreeMap::new(), wrong: Vec::new() };
        let mut last: HashMap<u64, (u64, u64)> = HashMap::new();
        for op in ops {
            match op {
                Op::Told { conversation, stream, epoch, seq, chunk } => {
                    let before = last.insert(*stream, (*epoch, *seq));
                    if before.is_some_and(|(e, s)| e == *epoch && s + 1 != *seq) {
                        told.wrong.push(format!("I4 {conversation}: {epoch}.{seq} came after {before:?}"));
                    }
                    let known = told.events.entry((conversation, *epoch)).or_default().insert(*seq, chunk);
                    if known.is_some_and(|known| known != chunk) {
                        told.wrong
                            .push(format!("I4 {conversation}: {epoch}.{seq} is two events: {known:?} and {chunk}"));
                    }
                }
                Op::Gap { stream, .. } => drop(last.remove(stream)),
                _ => {}
            }
        }
        told
    }
}

fn find<'a>(stored: &'a Stored, conversation: &str, id: &str) -> Option<&'a Message> {
    stored.messages.iter().find(|message| message.conversation == conversation && message.id == id)
}

/// I1: what was accepted is stored as it was sent.
fn accepted(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let sent: HashMap<_, _> = sent(facts).map(|(_, _, message, text)| (message, text)).collect();
    for op in facts.ops {
        let Op::Accepted { conversation, message } = op else { continue };
        let stored = find(facts.stored, conversation, message).map(Message::text);
        if stored.as_deref() != sent.get(message.as_str()).copied() {
            wrong.push(format!("I1 {conversation}: the accepted message {message} is stored as {stored:?}"));
        }
    }
}

fn sent<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = (&'a str, &'a str, &'a str, &'a str)> {
    facts.ops.iter().filter_map(|op| match op {
        Op::Sent { user, conversation, message, text } => Some((&**user, &**conversation, &**message, &**text)),
        _ => None,
    })
}

/// I2: what is stored was submitted, by its owner, and once.
fn submitted(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let sent: BTreeSet<_> = sent(facts).collect();
    let answers: BTreeSet<_> = facts.stored.runs.iter().map(|run| (&*run.conversation, &*run.message)).collect();
    let imported = imported(facts);
    for message in &facts.stored.messages {
        let (conversation, id, text) = (&*message.conversation, &*message.id, message.text());
        if imported.contains(conversation) && text.starts_with(Op::OF_IMPORT) {
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

fn imported<'a>(facts: &'a Facts<'_>) -> BTreeSet<&'a str> {
    let conversations = facts.ops.iter().filter_map(|op| match op {
        Op::Imported { conversation } => Some(&**conversation),
        _ => None,
    });
    conversations.collect()
}

/// I1: each event that acknowledges something is part of the stored message.
fn acknowledged(facts: &Facts<'_>, told: &Told<'_>, wrong: &mut Vec<String>) {
    for run in &facts.stored.runs {
        let Some(events) = told.events.get(&(&*run.conversation, run.epoch)) else { continue };
        let Some(message) = find(facts.stored, &run.conversation, &run.message) else { continue };
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
                wrong.push(format!("I1 {}: told and not stored: {chunk}", run.conversation));
            }
        }
    }
    // What was told of a run that is not there at all.
    let known: BTreeSet<_> = facts.stored.runs.iter().map(|run| (&*run.conversation, run.epoch)).collect();
    for (conversation, epoch) in told.events.keys().filter(|key| !known.contains(*key)) {
        wrong.push(format!("I1 {conversation}: the run {epoch} was told of and is not stored"));
    }
}

/// I4: what was told and what is stored are both the beginning of what the model said; of an answer that is done, all of it; and what
/// stood before an acknowledgement is stored.
fn texts(facts: &Facts<'_>, told: &Told<'_>, wrong: &mut Vec<String>) {
    let imported = imported(facts);
    for (at, message) in facts.stored.messages.iter().enumerate().filter(|(_, message)| message.role == "assistant") {
        let before = facts.stored.messages[..at].iter().rev();
        let asked = before.clone().find(|known| known.conversation == message.conversation && known.role == "user");
        let Some(script) = asked.map(|asked| Script::of(&asked.text())) else { continue };
        if script.timed || script.redirect {
            continue;
        }
        let (expected, stored) = (script.text(), message.text());
        if imported.contains(&*message.conversation) && stored.starts_with(Op::OF_IMPORT) {
            continue;
        }
        let runs = facts.stored.runs.iter();
        let runs: Vec<_> =
            runs.filter(|run| run.conversation == message.conversation && run.message == message.id).collect();
        let is_done = runs.last().is_some_and(|run| run.status == "done");
        if !expected.starts_with(&stored) || (is_done && stored != expected) {
            wrong.push(format!("I4 {}: stored is {}, said was {}", message.conversation, cut(&stored), cut(&expected)));
        }
        for (place, run) in runs.iter().enumerate() {
            let Some(events) = told.events.get(&(&*run.conversation, run.epoch)) else { continue };
            let (text, acknowledged) = assembled(events);
            let fits = if place == 0 { expected.starts_with(&text) } else { expected.contains(&text) };
            if !fits {
                wrong.push(format!(
                    "I4 {}: told was {}, said was {}",
                    message.conversation,
                    cut(&text),
                    cut(&expected)
                ));
            }
            if !stored.contains(&text[..acknowledged]) {
                wrong.push(format!(
                    "I1 {}: stored is {}, acknowledged was {}",
                    message.conversation,
                    cut(&stored),
                    cut(&text)
                ));
            }
        }
    }
}

/// The text from the first event on without a hole, and how much of it stands before the last acknowledgement.
fn assembled(events: &BTreeMap<u64, &Value>) -> (String, usize) {
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

fn cut(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("`{}…` ({} bytes)", &text[..at], text.len()),
        None => format!("`{text}`"),
    }
}

/// I3: an effect was had once at most, for a call that is stored and in the server's ledger; and what is stored as done was had.
fn effects(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let parts = facts.stored.messages.iter().flat_map(Message::calls);
    let of_key: HashMap<_, _> = parts.filter_map(|part| Some((part["input"]["key"].as_str()?, part))).collect();
    let entered: BTreeSet<_> = facts.stored.calls.iter().filter_map(|input| input["key"].as_str()).collect();
    for (key, count) in facts.effects {
        if *count > 1 {
            wrong.push(format!("I3 the effect {key} was had {count} times"));
        }
        if !of_key.contains_key(key.as_str()) || !entered.contains(key.as_str()) {
            wrong.push(format!("I3 the effect {key} was had, and no stored call says so"));
        }
    }
    for (key, part) in &of_key {
        if part["state"] == "output-available" && !facts.effects.contains_key(*key) {
            wrong.push(format!("I3 {key} is stored as done, and nothing happened"));
        }
        if part["state"] == "input-available" || part["state"] == "input-streaming" {
            wrong.push(format!("I5 the call {key} never ends"));
        }
    }
}

/// I10: what asks first was had only after a yes to this very call.
fn approvals(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let said = facts.ops.iter().filter_map(|op| match op {
        Op::Approved { conversation, call } => Some((&**conversation, &**call)),
        _ => None,
    });
    let said: BTreeSet<_> = said.collect();
    for message in &facts.stored.messages {
        for part in message.calls().filter(|part| part["type"] == "tool-gated_effect") {
            let key = part["input"]["key"].as_str().unwrap_or_default();
            let call = part["toolCallId"].as_str().unwrap_or_default();
            if facts.effects.contains_key(key) && !said.contains(&(&*message.conversation, call)) {
                wrong.push(format!("I10 {}: {key} happened without a yes", message.conversation));
            }
        }
    }
}

/// I5 and I6: every run has ended, and a conversation's runs follow each other.
fn runs(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let (mut epochs, mut last) = (BTreeSet::new(), HashMap::new());
    for run in &facts.stored.runs {
        if run.status == "running" {
            wrong.push(format!("I5 {}: the run {} never ends", run.conversation, run.epoch));
        }
        if !epochs.insert((&run.conversation, run.epoch)) {
            wrong.push(format!("I6 {}: there are two runs {}", run.conversation, run.epoch));
        }
        let before = last.insert(&run.conversation, run.ended_at);
        if before.is_some_and(|before| before.is_none_or(|ended| ended > run.started_at + QUEUED)) {
            wrong.push(format!(
                "I6 {}: the run {} began before the one before it had ended",
                run.conversation, run.epoch
            ));
        }
    }
    if facts.stored.integrity != "ok" {
        wrong.push(format!("the database is damaged: {}", facts.stored.integrity));
    }
}
