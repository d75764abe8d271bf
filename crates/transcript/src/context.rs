//! The context of a model in a long conversation: the summaries and cleared results that are stored in the messages of
//! the branch. They are in the message whose run made them. So they are the same after a reload and on another server,
//! and a branch that leaves the conversation before that message has none of them.

use agent::{ContextInput, ContextSize, ContextSummary, MeasuredSize, PageContext, Projection, TurnBoundary};
use serde_json::{Value, json};
use wire::api::{ContextParts, MessageMetadata};
use wire::message::DataPart;
use wire::{
    COMPACTION, CONTEXT_CLEARED, CONTEXT_SUMMARY, Chunk, DataChunk, PAGE_CONTEXT, Role, SUMMARY_FAILED, SummaryData,
    UiMessage, UiPart,
};

/// How long no summary is attempted after a failed one, in milliseconds. It doubles with each failure.
const FIRST_REST: i64 = 60_000;
/// The longest time without an attempt, in milliseconds.
const LONGEST_REST: i64 = 3_600_000;

/// The context data that is stored in the branch.
struct StoredContext {
    summary: Option<SummaryData>,
    cleared_through: Option<String>,
    shortened_through: Option<String>,
    /// The failures since the last summary, and when the last of them was.
    failures: u32,
    failed_at: i64,
}

impl StoredContext {
    fn from_branch<'a>(messages: impl IntoIterator<Item = &'a UiMessage>) -> Self {
        let mut stored =
            Self { summary: None, cleared_through: None, shortened_through: None, failures: 0, failed_at: 0 };
        // A message of the user has no such parts.
        let messages = messages.into_iter().filter(|message| message.role == Role::Assistant);
        for part in messages.flat_map(|message| &message.parts) {
            if let UiPart::Data(data) = part {
                stored.add(data);
            }
        }
        stored
    }

    fn add(&mut self, part: &DataPart) {
        match part.kind.as_str() {
            CONTEXT_SUMMARY => {
                if let Ok(summary) = serde_json::from_value(part.data.clone()) {
                    (self.summary, self.failures) = (Some(summary), 0);
                }
            }
            CONTEXT_CLEARED => {
                let id = |key: &str| part.data.get(key).and_then(Value::as_str).map(str::to_owned);
                self.cleared_through = id("throughCallId").or(self.cleared_through.take());
                self.shortened_through = id("shortenedThroughCallId").or(self.shortened_through.take());
            }
            SUMMARY_FAILED => {
                self.failures = self.failures.saturating_add(1);
                self.failed_at = part.data.get("at").and_then(Value::as_i64).unwrap_or_default();
            }
            _ => {}
        }
    }

    /// Returns whether a summary has failed so lately that none is attempted.
    fn rests(&self, now: i64) -> bool {
        let doublings = self.failures.saturating_sub(1).min(10);
        let rest = (FIRST_REST << doublings).min(LONGEST_REST);
        self.failures > 0 && now < self.failed_at.saturating_add(rest)
    }
}

/// The messages before a history, which the newest summary covers.
#[derive(Clone, Copy, Debug)]
pub struct CoveredContext<'a> {
    /// The id of the newest of them.
    pub through: &'a str,
    /// The messages among them that say which results are cleared or shortened, oldest first.
    pub cleared: &'a [UiMessage],
}

/// Returns the id of the newest message that the summary of a message covers; `None` if it has no summary.
pub fn summarized_through(message: &UiMessage) -> Option<String> {
    StoredContext::from_branch([message]).summary.map(|summary| summary.through_message_id)
}

/// Returns the context of a run. `history` are the messages before the run's own `message`, without those that are
/// `covered`, and `ends` the number of the prompt's messages up to the end of each. `page` is what the user's page
/// contains.
pub fn input(
    covered: Option<CoveredContext<'_>>,
    history: &[UiMessage],
    message: &UiMessage,
    ends: &[usize],
    page: Option<&str>,
    now: i64,
) -> ContextInput {
    let cleared = covered.iter().flat_map(|covered| covered.cleared);
    let stored = StoredContext::from_branch(cleared.chain(history).chain([message]));
    let boundaries = history.windows(2).zip(ends).filter(|(pair, _)| pair[1].role == Role::User);
    let boundaries = boundaries.map(|(pair, end)| TurnBoundary { at: *end, message_id: pair[0].id.clone() }).collect();
    let rests = stored.rests(now);
    let (mut begin, mut covers_earlier) = (0, false);
    let summary = stored.summary.as_ref().and_then(|summary| {
        if covered.is_some_and(|covered| covered.through == summary.through_message_id) {
            covers_earlier = true;
            return Some(ContextSummary { text: summary.text.clone(), covers: 0 });
        }
        let at = history.iter().position(|message| message.id == summary.through_message_id)?;
        let covers = *ends.get(at)?;
        begin = at + 1;
        Some(ContextSummary { text: summary.text.clone(), covers })
    });
    let StoredContext { cleared_through, shortened_through, .. } = stored;
    let projection = Projection { summary, cleared_through, shortened_through, covers_earlier };
    let page = page.map(|text| {
        let known = newest_page(history[begin..].iter().chain([message]));
        PageContext { text: text.to_owned(), is_known: known == Some(text) }
    });
    let measured = measured(history.iter().chain([message]));
    ContextInput { projection, earlier: None, boundaries, rests, page, measured, compaction: None }
}

/// Returns the size of the newest request whose tokens the provider has counted.
pub fn measured<'a>(messages: impl DoubleEndedIterator<Item = &'a UiMessage>) -> Option<MeasuredSize> {
    messages.rev().filter(|message| message.role == Role::Assistant).find_map(|message| {
        let metadata = MessageMetadata::from_message(message);
        let parts: ContextParts = serde_json::from_value(metadata.context_parts?).ok()?;
        let ContextParts { instructions, tools, summary, messages, results, files, reply, measured } = parts;
        let estimated = agent::ContextParts { instructions, tools, summary, messages, results, files }.total();
        // Without the tokens of the reply those of the request are not known.
        let reported = metadata.context_used?.checked_sub(reply)?;
        (measured && reply > 0).then_some(MeasuredSize { estimated, reported })
    })
}

/// Returns the last information for the model about the user's page.
fn newest_page<'a>(messages: impl DoubleEndedIterator<Item = &'a UiMessage>) -> Option<&'a str> {
    messages.rev().filter(|message| message.role == Role::Assistant).find_map(|message| {
        message.parts.iter().rev().find_map(|part| match part {
            UiPart::Data(data) if data.kind == PAGE_CONTEXT => data.data.get("text")?.as_str(),
            _ => None,
        })
    })
}

/// Converts the size of a context for the message's metadata.
pub fn parts(size: &ContextSize) -> ContextParts {
    let agent::ContextParts { instructions, tools, summary, messages, results, files } = size.parts;
    let (reply, measured) = (size.reply, size.is_measured);
    ContextParts { instructions, tools, summary, messages, results, files, reply, measured }
}

/// Builds the part that marks the answer to a demand for a summary.
pub fn compaction() -> UiPart {
    UiPart::Data(DataPart { kind: COMPACTION.to_owned(), id: None, data: json!({}) })
}

/// Returns whether the run of a message summarises the conversation.
pub fn is_compaction(message: &UiMessage) -> bool {
    message.parts.iter().any(|part| matches!(part, UiPart::Data(data) if data.kind == COMPACTION))
}

/// Builds the part of a summary.
pub(crate) fn summary(summary: &SummaryData) -> DataChunk {
    part(CONTEXT_SUMMARY, serde_json::to_value(summary).unwrap_or_default())
}

/// Builds the part of cleared results.
pub(crate) fn cleared(through: &str, (before, after): (u64, u64), now: i64) -> DataChunk {
    let data = json!({ "throughCallId": through, "tokensBefore": before, "tokensAfter": after, "at": now });
    part(CONTEXT_CLEARED, data)
}

/// Builds the part of shortened results, with the same name as that of cleared ones.
pub(crate) fn shortened(through: &str, (before, after): (u64, u64), now: i64) -> DataChunk {
    let data = json!({ "shortenedThroughCallId": through, "tokensBefore": before, "tokensAfter": after, "at": now });
    part(CONTEXT_CLEARED, data)
}

/// Builds the part of the first result that is not sent whole, also with the name of cleared ones.
pub(crate) fn reading_offered(now: i64) -> DataChunk {
    part(CONTEXT_CLEARED, json!({ "readingOffered": true, "at": now }))
}

/// Builds the part of a failed summary.
pub(crate) fn failed(now: i64) -> DataChunk {
    part(SUMMARY_FAILED, json!({ "at": now }))
}

fn part(kind: &str, data: Value) -> DataChunk {
    DataChunk { kind: kind.to_owned(), id: None, data, transient: None }
}

/// Returns whether a chunk changes what the model reads from then on.
pub(crate) fn changes_context(chunk: &Chunk) -> bool {
    matches!(chunk, Chunk::Data(data) if wire::is_context(&data.kind))
}
