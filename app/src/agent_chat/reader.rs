//! Bytes of a stream into a message: decoding and folding, without a browser.

use sse::{Decoder, Limits};
use wire::reduce::{Change, Reducer};
use wire::{Chunk, Role, UiMessage};

/// The longest line and event that are taken; the server's own limits are lower.
const LIMITS: Limits = Limits { line: 8 * 1024 * 1024, event: 8 * 1024 * 1024 };
const DONE: &str = "[DONE]";
const GAP: &str = "data-gap";

/// Reads the stream of one assistant message.
pub(super) struct Reader {
    decoder: Decoder,
    reducer: Reducer,
    /// The `id` of the newest event, from which a broken stream goes on.
    pub(super) cursor: Option<String>,
    pub(super) news: News,
    pub(super) state: State,
    /// What the run said of its failure.
    pub(super) error: Option<String>,
}

/// What a stream has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing yet.
    #[default]
    Empty,
    /// The message is being told.
    Telling,
    /// The message has been told to its end.
    Told,
    /// The stream is over, and so is the message.
    Done,
    /// The stream is over without a message, or with a hole: the conversation has to be loaded.
    Gap,
}

/// What has changed since it was last shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// The parts, by number.
    pub(super) parts: Vec<usize>,
    pub(super) metadata: bool,
}

impl News {
    fn part(&mut self, number: usize) {
        // Nearly always the newest part, and few parts change in one frame.
        if !self.parts.contains(&number) {
            self.parts.push(number);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && !self.metadata
    }
}

/// The stream cannot be read; it may be asked for again.
#[derive(Debug)]
pub(super) struct Broken;

impl Reader {
    /// A reader at the start of a stream, which tells its message whole.
    pub(super) fn new() -> Self {
        Self {
            decoder: Decoder::new(LIMITS),
            reducer: Reducer::new(UiMessage::new("", Role::Assistant)),
            cursor: None,
            news: News::default(),
            state: State::default(),
            error: None,
        }
    }

    /// Goes on with another connection, which begins after [`Reader::cursor`].
    pub(super) fn reconnect(&mut self) {
        self.decoder = Decoder::new(LIMITS);
        if self.cursor.is_none() {
            self.reducer = Reducer::new(UiMessage::new("", Role::Assistant));
            self.state = State::Empty;
        }
    }

    /// Takes the next bytes. What they brought is in [`Reader::news`] and [`Reader::state`].
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.decoder.push(bytes).map_err(|_| Broken)?;
        while let Some(event) = self.decoder.next() {
            if self.is_over() {
                break;
            }
            if event.data == DONE {
                self.state = if self.state == State::Told { State::Done } else { State::Gap };
                break;
            }
            let chunk: Chunk = serde_json::from_str(&event.data).map_err(|_| Broken)?;
            self.fold(&chunk)?;
            if event.id.is_some() {
                self.cursor = event.id;
            }
        }
        Ok(())
    }

    /// Whether nothing more is to be read.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Done | State::Gap)
    }

    /// Parses the arguments that have arrived of calls; for the message as it is shown.
    pub(super) fn settle(&mut self) {
        self.reducer.settle();
    }

    /// The message as far as it has been told.
    pub(super) fn message(&self) -> &UiMessage {
        self.reducer.message()
    }

    fn fold(&mut self, chunk: &Chunk) -> Result<(), Broken> {
        match chunk {
            Chunk::Data(data) if data.kind == GAP => {
                self.state = State::Gap;
                return Ok(());
            }
            Chunk::Finish { .. } | Chunk::Abort { .. } => self.state = State::Told,
            Chunk::Error { error_text } => {
                self.state = State::Told;
                self.error = Some(error_text.clone());
            }
            _ if self.state == State::Empty => self.state = State::Telling,
            _ => {}
        }
        match self.reducer.apply(chunk).map_err(|_| Broken)? {
            Change::Part(number) | Change::Added(number) => self.news.part(number),
            Change::None => {}
            _ => self.news.metadata = true,
        }
        Ok(())
    }
}
