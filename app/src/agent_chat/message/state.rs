//! The state of a displayed message: a signal for each part, so that a delta redraws only the end
//! of one part.

use crate::markdown::{Document, citation_mark, footnoted, strip_citations};
use crate::prelude::*;
use wire::api::{ConversationView, MessageMetadata};
use wire::change::Feedback;
use wire::citations::{CitedSource, cited_sources, footnotes, text_with_marks};
use wire::message::TextState;
use wire::{Role, TextPart, ToolPart, UiMessage, UiPart};

/// The kind of data parts with suggestions for the next message: `{items: […]}`.
pub(in crate::agent_chat) const SUGGESTIONS: &str = "data-suggestions";

/// A displayed message; a cheap handle.
#[derive(Clone)]
pub(in crate::agent_chat) struct MessageState {
    pub(in crate::agent_chat) id: String,
    pub(in crate::agent_chat) role: Role,
    pub(in crate::agent_chat) parts: ArcRwSignal<Vec<PartState>>,
    pub(in crate::agent_chat) metadata: ArcRwSignal<MessageMetadata>,
    /// The ids of all versions of the message, including itself, oldest first; empty if there is
    /// only one.
    pub(in crate::agent_chat) versions: ArcRwSignal<Vec<String>>,
    pub(in crate::agent_chat) feedback: ArcRwSignal<Option<Feedback>>,
    /// The sources that the message refers to.
    pub(in crate::agent_chat) cited_sources: ArcRwSignal<Vec<CitedSource>>,
}

/// A part of a message.
#[derive(Clone)]
pub(in crate::agent_chat) struct PartState {
    pub(in crate::agent_chat) number: usize,
    pub(in crate::agent_chat) kind: PartKind,
}

/// The number of kinds of parts, see [`PartKind`].
const KINDS: usize = 4;

/// The kind of a part, with the data that its view shows.
#[derive(Clone)]
pub(in crate::agent_chat) enum PartKind {
    Text(Document),
    Reasoning {
        document: Document,
        open: ArcRwSignal<bool>,
    },
    Tool(ArcRwSignal<ToolPart>),
    /// Parts that arrive complete, such as files and sources, and parts without a view.
    Fixed(ArcRwSignal<UiPart>),
}

/// The relation of an update of a part to the shown text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UpdateKind {
    /// The text starts with the text that is shown.
    Grown,
    /// The part may have changed in any way.
    Other,
    /// The part may have changed in any way, and is complete.
    Complete,
}

impl PartState {
    fn new(number: usize, part: &UiPart, cited: &[CitedSource]) -> Self {
        let kind = match part {
            UiPart::Text(text) => {
                PartKind::Text(Document::new(&text_with_marks(text, cited, citation_mark), !is_streaming(text.state)))
            }
            UiPart::Reasoning(text) => PartKind::Reasoning {
                document: Document::new(&text.text, !is_streaming(text.state)),
                open: ArcRwSignal::new(is_streaming(text.state)),
            },
            UiPart::Tool(tool) => PartKind::Tool(ArcRwSignal::new((**tool).clone())),
            part => PartKind::Fixed(ArcRwSignal::new(part.clone())),
        };
        Self { number, kind }
    }

    /// Combines number and kind: a part whose kind changes is a new part.
    pub(in crate::agent_chat) fn key(&self) -> usize {
        let kind = match &self.kind {
            PartKind::Text(_) => 0,
            PartKind::Reasoning { .. } => 1,
            PartKind::Tool(_) => 2,
            PartKind::Fixed(_) => 3,
        };
        self.number * KINDS + kind
    }

    /// Updates the view of the part; false if its kind has changed.
    fn show(&self, part: &UiPart, how: UpdateKind, cited: &[CitedSource]) -> bool {
        let open = |text: &TextPart| how != UpdateKind::Complete && is_streaming(text.state);
        let document = |document: &Document, text: &TextPart| match how {
            UpdateKind::Grown if text.citations.is_empty() => document.grow(&text.text, !open(text)),
            UpdateKind::Grown | UpdateKind::Other | UpdateKind::Complete => {
                document.replace(&text_with_marks(text, cited, citation_mark), !open(text))
            }
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
    pub(in crate::agent_chat) fn new(message: &UiMessage) -> Self {
        let cited = cited_sources(message);
        let new = |(number, part): (usize, &UiPart)| match part {
            // The user's text is shown as it was typed.
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
            cited_sources: ArcRwSignal::new(cited),
        }
    }

    /// Whether the message has a tool call that has not ended.
    pub(in crate::agent_chat) fn has_open_call(&self) -> bool {
        let is_open = |part: &PartState| match &part.kind {
            PartKind::Tool(tool) => tool.with_untracked(|tool| !tool.is_final()),
            PartKind::Text(_) | PartKind::Reasoning { .. } | PartKind::Fixed(_) => false,
        };
        self.parts.with_untracked(|parts| parts.iter().any(is_open))
    }

    /// Creates the state of a message of a loaded conversation.
    pub(in crate::agent_chat) fn from_view(view: &ConversationView, message: &UiMessage) -> Self {
        let new = Self::new(message);
        new.show_versions_and_feedback(view);
        new
    }

    /// Updates the versions and the feedback of the message.
    pub(in crate::agent_chat) fn show_versions_and_feedback(&self, view: &ConversationView) {
        set_if_changed(&self.versions, view.forks.get(&self.id).cloned().unwrap_or_default());
        set_if_changed(&self.feedback, view.feedback.get(&self.id).cloned());
    }

    /// Updates the parts that changed. Their texts start with the shown texts.
    pub(in crate::agent_chat) fn show_parts(&self, message: &UiMessage, changed: &[usize]) {
        set_if_changed(&self.cited_sources, cited_sources(message));
        let known = self.parts.with_untracked(Vec::len);
        for number in changed.iter().copied().filter(|number| *number < known) {
            self.show_part(message, number, UpdateKind::Grown);
        }
        self.add_parts(message, known);
    }

    /// Shows another state of the message; unchanged parts are not redrawn. `complete` states that
    /// nothing more arrives, even for parts that are marked as streaming, such as a text that was
    /// interrupted.
    pub(in crate::agent_chat) fn show_all(&self, message: &UiMessage, complete: bool) {
        let how = if complete { UpdateKind::Complete } else { UpdateKind::Other };
        set_if_changed(&self.cited_sources, cited_sources(message));
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

    pub(in crate::agent_chat) fn show_metadata(&self, message: &UiMessage) {
        set_if_changed(&self.metadata, metadata(message));
    }

    /// The tool calls in their newest state. Not tracked.
    pub(in crate::agent_chat) fn tools(&self) -> Vec<ArcRwSignal<ToolPart>> {
        self.parts.with_untracked(|parts| {
            let tools = parts.iter().filter_map(|part| match &part.kind {
                PartKind::Tool(tool) => Some(tool.clone()),
                _ => None,
            });
            tools.collect()
        })
    }

    /// The message as it is shown, with all parts at their positions. Not tracked.
    pub(in crate::agent_chat) fn to_message(&self) -> UiMessage {
        let text = |document: &Document| TextPart {
            text: strip_citations(&document.text()).into_owned(),
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

    /// Whether the message has a data part of this kind. Tracked.
    pub(in crate::agent_chat) fn has_data(&self, kind: &str) -> bool {
        let is_one = |part: &UiPart| matches!(part, UiPart::Data(data) if data.kind == kind);
        self.parts
            .with(|parts| parts.iter().any(|part| matches!(&part.kind, PartKind::Fixed(part) if part.with(is_one))))
    }

    /// The text of the message, as it was written. Not tracked.
    pub(in crate::agent_chat) fn text(&self) -> String {
        let texts = self.parts.with_untracked(|parts| parts.iter().filter_map(PartState::text).collect::<Vec<_>>());
        texts.join("\n\n")
    }

    /// The text of the message with its citations as footnotes. Not tracked.
    pub(in crate::agent_chat) fn text_with_footnotes(&self) -> String {
        let text = |part: &PartState| match &part.kind {
            PartKind::Text(document) => Some(footnoted(&document.text()).into_owned()),
            _ => None,
        };
        let texts = self.parts.with_untracked(|parts| parts.iter().filter_map(text).collect::<Vec<_>>());
        let text = texts.join("\n\n");
        let notes = self.cited_sources.with_untracked(|cited| footnotes(cited, 0));
        if notes.is_empty() { text } else { format!("{}\n\n{}", text.trim_end(), notes.trim_end()) }
    }

    /// The ids of all versions of the message. Not tracked.
    pub(in crate::agent_chat) fn version_ids(&self) -> Vec<String> {
        let versions = self.versions.get_untracked();
        if versions.is_empty() { vec![self.id.clone()] } else { versions }
    }

    /// The files of the message. Not tracked.
    pub(in crate::agent_chat) fn files(&self) -> Vec<UiPart> {
        let file = |part: &PartState| match &part.kind {
            PartKind::Fixed(part) => Some(part.get_untracked()).filter(|part| matches!(part, UiPart::File(_))),
            _ => None,
        };
        self.parts.with_untracked(|parts| parts.iter().filter_map(file).collect())
    }

    /// The length of the shown content; see [`content_length`]. Not tracked.
    pub(in crate::agent_chat) fn content_length(&self) -> usize {
        let of = |part: &PartState| match &part.kind {
            PartKind::Text(document) | PartKind::Reasoning { document, .. } => 1 + document.len(),
            PartKind::Tool(_) | PartKind::Fixed(_) => 1,
        };
        self.parts.with_untracked(|parts| parts.iter().map(of).sum())
    }

    /// Whether the message shows nothing. Tracked.
    pub(in crate::agent_chat) fn is_blank(&self) -> bool {
        self.parts.with(|parts| parts.iter().all(PartState::is_blank))
    }

    /// Whether the model is writing reasoning of which nothing can be shown yet. Tracked.
    pub(in crate::agent_chat) fn is_silently_reasoning(&self) -> bool {
        let last = self.parts.with(|parts| parts.last().cloned());
        last.is_some_and(|last| match last.kind {
            PartKind::Reasoning { document, open } => open.get() && document.is_empty(),
            _ => false,
        })
    }

    fn show_part(&self, message: &UiMessage, number: usize, how: UpdateKind) {
        let part = &message.parts[number];
        let shown = self
            .parts
            .with_untracked(|parts| self.cited_sources.with_untracked(|cited| parts[number].show(part, how, cited)));
        if !shown {
            let new = self.cited_sources.with_untracked(|cited| PartState::new(number, part, cited));
            self.parts.update(|parts| parts[number] = new);
        }
    }

    fn add_parts(&self, message: &UiMessage, known: usize) {
        if known < message.parts.len() {
            let added = message.parts.iter().enumerate().skip(known);
            let cited = self.cited_sources.get_untracked();
            self.parts.update(|parts| parts.extend(added.map(|(number, part)| PartState::new(number, part, &cited))));
        }
    }
}

impl PartState {
    fn text(&self) -> Option<String> {
        match &self.kind {
            PartKind::Text(document) => Some(strip_citations(&document.text()).into_owned()),
            _ => None,
        }
    }

    /// Whether the part shows nothing. Tracked.
    pub(in crate::agent_chat) fn is_blank(&self) -> bool {
        match &self.kind {
            PartKind::Text(document) | PartKind::Reasoning { document, .. } => document.is_empty(),
            PartKind::Tool(_) => false,
            PartKind::Fixed(part) => {
                part.with(|part| matches!(part, UiPart::StepStart | UiPart::Data(_) | UiPart::Other(_)))
            }
        }
    }
}

/// A measure of a message's length, used to avoid replacing a longer state by a shorter one.
pub(in crate::agent_chat) fn content_length(message: &UiMessage) -> usize {
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

fn is_streaming(state: Option<TextState>) -> bool {
    state == Some(TextState::Streaming)
}

fn set_if_changed<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, value: T) {
    if signal.with_untracked(|now| *now != value) {
        signal.set(value);
    }
}
