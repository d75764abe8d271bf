//! A message on the screen: a signal for each part, so that a delta redraws the tail of one part and nothing else.

use super::cited::{self, Cited};
use crate::markdown::{Document, without_marks};
use crate::prelude::*;
use wire::api::{ConversationView, MessageMetadata};
use wire::change::Feedback;
use wire::message::TextState;
use wire::{Role, TextPart, ToolPart, UiMessage, UiPart};

/// A message; a cheap handle.
#[derive(Clone)]
pub(super) struct MessageState {
    pub(super) id: String,
    pub(super) role: Role,
    pub(super) parts: ArcRwSignal<Vec<PartState>>,
    pub(super) metadata: ArcRwSignal<MessageMetadata>,
    /// All messages that stand in its place, itself included, oldest first; empty when it is the only one.
    pub(super) versions: ArcRwSignal<Vec<String>>,
    pub(super) feedback: ArcRwSignal<Option<Feedback>>,
    /// What it refers to.
    pub(super) cited: ArcRwSignal<Vec<Cited>>,
}

/// A part of it.
#[derive(Clone)]
pub(super) struct PartState {
    pub(super) number: usize,
    pub(super) kind: PartKind,
}

/// How many kinds of parts there are.
const KINDS: usize = 4;

/// What a part is, with what its view shows.
#[derive(Clone)]
pub(super) enum PartKind {
    Text(Document),
    Reasoning {
        document: Document,
        open: ArcRwSignal<bool>,
    },
    Tool(ArcRwSignal<ToolPart>),
    /// Parts that arrive whole: files, sources; and those that have no view.
    Fixed(ArcRwSignal<UiPart>),
}

/// How a part relates to what is shown of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Its text begins with what is shown.
    Grown,
    /// It may be anything.
    Other,
    /// It may be anything, and it stays like that.
    Complete,
}

impl PartState {
    fn new(number: usize, part: &UiPart, cited: &[Cited]) -> Self {
        let kind = match part {
            UiPart::Text(text) => PartKind::Text(Document::new(&cited::marked(text, cited), !is_open(text.state))),
            UiPart::Reasoning(text) => PartKind::Reasoning {
                document: Document::new(&text.text, !is_open(text.state)),
                open: ArcRwSignal::new(is_open(text.state)),
            },
            UiPart::Tool(tool) => PartKind::Tool(ArcRwSignal::new((**tool).clone())),
            part => PartKind::Fixed(ArcRwSignal::new(part.clone())),
        };
        Self { number, kind }
    }

    /// Made of number and kind: a part that becomes one of another kind is another part.
    pub(super) fn key(&self) -> usize {
        let kind = match &self.kind {
            PartKind::Text(_) => 0,
            PartKind::Reasoning { .. } => 1,
            PartKind::Tool(_) => 2,
            PartKind::Fixed(_) => 3,
        };
        self.number * KINDS + kind
    }

    /// Shows the part as it is now; false when it is of another kind.
    fn show(&self, part: &UiPart, how: How, cited: &[Cited]) -> bool {
        let open = |text: &TextPart| how != How::Complete && is_open(text.state);
        let document = |document: &Document, text: &TextPart| match how {
            How::Grown if text.citations.is_empty() => document.grow(&text.text, !open(text)),
            How::Grown | How::Other | How::Complete => document.replace(&cited::marked(text, cited), !open(text)),
        };
        match (&self.kind, part) {
            (PartKind::Text(shown), UiPart::Text(text)) => document(shown, text),
            (PartKind::Reasoning { document: shown, open: shown_open }, UiPart::Reasoning(text)) => {
                document(shown, text);
                set_if_changed(shown_open, open(text));
            }
            (PartKind::Tool(shown), UiPart::Tool(tool)) => set_if_changed(shown, (**tool).clone()),
            (PartKind::Fixed(shown), part)
                if !matches!(part, UiPart::Text(_) | UiPart::Reasoning(_) | UiPart::Tool(_)) =>
            {
                set_if_changed(shown, part.clone());
            }
            _ => return false,
        }
        true
    }
}

impl MessageState {
    pub(super) fn new(message: &UiMessage) -> Self {
        let cited = cited::all_of(message);
        let new = |(number, part): (usize, &UiPart)| match part {
            // What the user wrote is shown as it is.
            UiPart::Text(text) if message.role == Role::User => {
                PartState { number, kind: PartKind::Text(Document::plain(&text.text)) }
            }
            part => PartState::new(number, part, &cited),
        };
        let parts = message.parts.iter().enumerate().map(new).collect();
        Self {
            id: message.id.clone(),
            role: message.role,
            parts: ArcRwSignal::new(parts),
            metadata: ArcRwSignal::new(metadata(message)),
            versions: ArcRwSignal::new(Vec::new()),
            feedback: ArcRwSignal::new(None),
            cited: ArcRwSignal::new(cited),
        }
    }

    /// Whether a call in it has not ended.
    pub(super) fn has_open_call(&self) -> bool {
        let is_open = |part: &PartState| match &part.kind {
            PartKind::Tool(tool) => tool.with_untracked(|tool| !tool.is_final()),
            PartKind::Text(_) | PartKind::Reasoning { .. } | PartKind::Fixed(_) => false,
        };
        self.parts.with_untracked(|parts| parts.iter().any(is_open))
    }

    /// A message of a conversation as it was loaded.
    pub(super) fn of(view: &ConversationView, message: &UiMessage) -> Self {
        let new = Self::new(message);
        new.show_place(view);
        new
    }

    /// Shows what the conversation knows of the message beyond its content.
    pub(super) fn show_place(&self, view: &ConversationView) {
        set_if_changed(&self.versions, view.forks.get(&self.id).cloned().unwrap_or_default());
        set_if_changed(&self.feedback, view.feedback.get(&self.id).cloned());
    }

    /// Shows the parts that changed. Their texts begin with what is shown of them.
    pub(super) fn show_parts(&self, message: &UiMessage, changed: &[usize]) {
        set_if_changed(&self.cited, cited::all_of(message));
        let known = self.parts.with_untracked(Vec::len);
        for number in changed.iter().copied().filter(|number| *number < known) {
            self.show_part(message, number, How::Grown);
        }
        self.add_parts(message, known);
    }

    /// Shows another state of the message; parts that are the same as before are left alone. `complete` says that nothing more
    /// comes, whatever a part says of itself: a text that was cut off never got its end.
    pub(super) fn show_all(&self, message: &UiMessage, complete: bool) {
        let how = if complete { How::Complete } else { How::Other };
        set_if_changed(&self.cited, cited::all_of(message));
        let known = self.parts.with_untracked(Vec::len);
        if known > message.parts.len() {
            self.parts.update(|parts| parts.truncate(message.parts.len()));
        }
        for number in 0..known.min(message.parts.len()) {
            self.show_part(message, number, how);
        }
        self.add_parts(message, known);
        self.show_metadata(message);
    }

    pub(super) fn show_metadata(&self, message: &UiMessage) {
        set_if_changed(&self.metadata, metadata(message));
    }

    /// The tool parts, newest state. Not tracked.
    pub(super) fn tools(&self) -> Vec<ArcRwSignal<ToolPart>> {
        self.parts.with_untracked(|parts| {
            let tools = parts.iter().filter_map(|part| match &part.kind {
                PartKind::Tool(tool) => Some(tool.clone()),
                _ => None,
            });
            tools.collect()
        })
    }

    /// The message as it is shown, each part at its place. Not tracked.
    pub(super) fn whole(&self) -> UiMessage {
        let text = |document: &Document| TextPart {
            text: without_marks(&document.text()).into_owned(),
            ..TextPart::default()
        };
        let part = |part: &PartState| match &part.kind {
            PartKind::Tool(tool) => UiPart::Tool(Box::new(tool.get_untracked())),
            PartKind::Fixed(part) => part.get_untracked(),
            PartKind::Text(document) => UiPart::Text(text(document)),
            PartKind::Reasoning { document, .. } => UiPart::Reasoning(text(document)),
        };
        let mut whole = UiMessage::new(self.id.clone(), self.role);
        whole.metadata = serde_json::to_value(self.metadata.get_untracked()).ok();
        whole.parts = self.parts.with_untracked(|parts| parts.iter().map(part).collect());
        whole
    }

    /// Its text, as it was written. Not tracked.
    pub(super) fn text(&self) -> String {
        let texts = self.parts.with_untracked(|parts| parts.iter().filter_map(PartState::text).collect::<Vec<_>>());
        texts.join("\n\n")
    }

    /// All messages that stand in its place. Not tracked.
    pub(super) fn known_versions(&self) -> Vec<String> {
        let versions = self.versions.get_untracked();
        if versions.is_empty() { vec![self.id.clone()] } else { versions }
    }

    /// The files in it. Not tracked.
    pub(super) fn files(&self) -> Vec<UiPart> {
        let file = |part: &PartState| match &part.kind {
            PartKind::Fixed(part) => Some(part.get_untracked()).filter(|part| matches!(part, UiPart::File(_))),
            _ => None,
        };
        self.parts.with_untracked(|parts| parts.iter().filter_map(file).collect())
    }

    /// How much is shown of it; see [`weight`]. Not tracked.
    pub(super) fn weight(&self) -> usize {
        let of = |part: &PartState| match &part.kind {
            PartKind::Text(document) | PartKind::Reasoning { document, .. } => 1 + document.len(),
            PartKind::Tool(_) | PartKind::Fixed(_) => 1,
        };
        self.parts.with_untracked(|parts| parts.iter().map(of).sum())
    }

    /// Whether anything is to be seen of it. Tracked.
    pub(super) fn is_blank(&self) -> bool {
        self.parts.with(|parts| parts.iter().all(PartState::is_blank))
    }

    fn show_part(&self, message: &UiMessage, number: usize, how: How) {
        let part = &message.parts[number];
        let shown =
            self.parts.with_untracked(|parts| self.cited.with_untracked(|cited| parts[number].show(part, how, cited)));
        if !shown {
            let new = self.cited.with_untracked(|cited| PartState::new(number, part, cited));
            self.parts.update(|parts| parts[number] = new);
        }
    }

    fn add_parts(&self, message: &UiMessage, known: usize) {
        if known < message.parts.len() {
            let added = message.parts.iter().enumerate().skip(known);
            let cited = self.cited.get_untracked();
            self.parts.update(|parts| parts.extend(added.map(|(number, part)| PartState::new(number, part, &cited))));
        }
    }
}

impl PartState {
    fn text(&self) -> Option<String> {
        match &self.kind {
            PartKind::Text(document) => Some(without_marks(&document.text()).into_owned()),
            _ => None,
        }
    }

    /// Whether nothing is to be seen of it. Tracked.
    pub(super) fn is_blank(&self) -> bool {
        match &self.kind {
            PartKind::Text(document) => document.is_empty(),
            PartKind::Reasoning { .. } | PartKind::Tool(_) => false,
            PartKind::Fixed(part) => {
                part.with(|part| matches!(part, UiPart::StepStart | UiPart::Data(_) | UiPart::Other(_)))
            }
        }
    }
}

/// How much there is of a message, so that a shorter state of it is not shown in place of a longer one.
pub(super) fn weight(message: &UiMessage) -> usize {
    let of = |part: &UiPart| match part {
        UiPart::Text(text) | UiPart::Reasoning(text) => 1 + text.text.len(),
        _ => 1,
    };
    message.parts.iter().map(of).sum()
}

fn metadata(message: &UiMessage) -> MessageMetadata {
    let metadata = message.metadata.clone().and_then(|metadata| serde_json::from_value(metadata).ok());
    metadata.unwrap_or_default()
}

fn is_open(state: Option<TextState>) -> bool {
    state == Some(TextState::Streaming)
}

fn set_if_changed<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, value: T) {
    if signal.with_untracked(|now| *now != value) {
        signal.set(value);
    }
}
