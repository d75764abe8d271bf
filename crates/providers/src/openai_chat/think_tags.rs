//! Parses reasoning that a model writes into its text: `<think>…</think>` at the very beginning
//! (DeepSeek R1, Qwen and others behind a gateway that does not remove it). Later tags are ordinary
//! text.

const OPEN_TAG: &str = "<think>";
const CLOSE_TAG: &str = "</think>";
/// The maximum number of bytes that are buffered before the tag is known to be absent.
const MAX_LEADING_SPACE: usize = 64;

/// A segment of the text.
#[derive(Debug, PartialEq)]
pub(crate) enum Segment {
    Text(String),
    Thought(String),
}

/// Separates reasoning from text, wherever the stream splits the tags.
#[derive(Default)]
pub(crate) struct ThinkTagParser {
    state: TagState,
    /// Text that may be part of a tag.
    pending: String,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum TagState {
    #[default]
    Start,
    Thought,
    /// After the reasoning: white space before the answer is omitted.
    Gap,
    Text,
}

impl ThinkTagParser {
    /// Parses a delta and appends its segments.
    pub(crate) fn push(&mut self, delta: String, pieces: &mut Vec<Segment>) {
        if self.state == TagState::Text {
            return pieces.push(Segment::Text(delta));
        }
        self.pending.push_str(&delta);
        if self.state == TagState::Start {
            self.parse_start(pieces);
        }
        if self.state == TagState::Thought {
            self.parse_thought(pieces);
        }
        if self.state == TagState::Gap {
            self.skip_gap(pieces);
        }
    }

    /// Appends the buffered rest.
    pub(crate) fn end(&mut self, pieces: &mut Vec<Segment>) {
        let held = std::mem::take(&mut self.pending);
        match self.state {
            _ if held.is_empty() => {}
            TagState::Thought => pieces.push(Segment::Thought(held)),
            TagState::Start | TagState::Text => pieces.push(Segment::Text(held)),
            TagState::Gap => {}
        }
    }

    fn parse_start(&mut self, pieces: &mut Vec<Segment>) {
        let text_so_far = self.pending.trim_start();
        if let Some(thought) = text_so_far.strip_prefix(OPEN_TAG) {
            self.pending = thought.trim_start().to_owned();
            self.state = TagState::Thought;
        } else if !OPEN_TAG.starts_with(text_so_far) || self.pending.len() > MAX_LEADING_SPACE {
            self.state = TagState::Text;
            pieces.push(Segment::Text(std::mem::take(&mut self.pending)));
        }
    }

    fn parse_thought(&mut self, pieces: &mut Vec<Segment>) {
        let (end, next) = match self.pending.find(CLOSE_TAG) {
            Some(end) => (end, end + CLOSE_TAG.len()),
            None => {
                // A possible prefix of the closing tag is kept in the buffer.
                let tag = (1..CLOSE_TAG.len()).rev().find(|length| self.pending.ends_with(&CLOSE_TAG[..*length]));
                let end = self.pending.len() - tag.unwrap_or_default();
                (end, end)
            }
        };
        let is_closed = next > end;
        let rest = self.pending.split_off(next);
        self.pending.truncate(end);
        let thought = std::mem::replace(&mut self.pending, rest);
        if !thought.is_empty() {
            pieces.push(Segment::Thought(thought));
        }
        if is_closed {
            self.state = TagState::Gap;
        }
    }

    fn skip_gap(&mut self, pieces: &mut Vec<Segment>) {
        let text = std::mem::take(&mut self.pending);
        let text = text.trim_start();
        if !text.is_empty() {
            self.state = TagState::Text;
            pieces.push(Segment::Text(text.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the reasoning and the text of a whole stream.
    fn read<'a>(deltas: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let (mut thoughts, mut pieces) = (ThinkTagParser::default(), Vec::new());
        deltas.into_iter().for_each(|delta| thoughts.push(delta.to_owned(), &mut pieces));
        thoughts.end(&mut pieces);
        pieces.into_iter().fold(<(String, String)>::default(), |(thought, text), piece| match piece {
            Segment::Text(more) => (thought, text + &more),
            Segment::Thought(more) => (thought + &more, text),
        })
    }

    #[test]
    fn reasoning_is_separated_from_text() {
        let check = |source: &str, thought: &str, text: &str| {
            assert_eq!(read([source]), (thought.to_owned(), text.to_owned()), "{source:?}");
        };
        check("", "", "");
        check("Hello.", "", "Hello.");
        check(" \n", "", " \n");
        check("<think>Hm.</think>\n\nHello.", "Hm.", "Hello.");
        check("\n<think>\nHm. 1 </ 2</think>", "Hm. 1 </ 2", "");
        check("<think></think>Hello.", "", "Hello.");
        check("<think>cut </thi", "cut </thi", "");
        check("<thi", "", "<thi");
        check("<thinker>", "", "<thinker>");
        check("The tag <think>x</think> means", "", "The tag <think>x</think> means");
        check("<think>a</think>b<think>c</think>", "a", "b<think>c</think>");
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            source in r"[ \n]{0,3}(<think>)?[a-z<>/ü ]{0,12}(</think>)?[a-z<>/ \n]{0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut places: Vec<_> = cuts.iter().map(|cut| source.floor_char_boundary(cut.index(source.len() + 1))).collect();
            places.extend([0, source.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|pair| &source[pair[0]..pair[1]]);
            let whole = read([source.as_str()]);
            let (thought, text) = read(pieces);
            // White space at the beginning of the reasoning is omitted only if it arrives with the
            // tag.
            prop_assert_eq!((thought.trim_start(), text), (whole.0.trim_start(), whole.1));
        }
    }
}
