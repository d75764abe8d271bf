//! Thoughts that a model writes into its text: `<think>…</think>` at its very beginning (DeepSeek R1, Qwen and others behind a
//! gateway that does not take them out). Tags further on are text that speaks of tags.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
/// White space before the tag, at most, in bytes.
const MAX_HELD: usize = 64;

/// A piece of the text.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Thought(String),
}

/// Tells thoughts from text, wherever the stream cuts the tags.
#[derive(Default)]
pub(crate) struct Thoughts {
    state: State,
    /// What may be a piece of a tag.
    held: String,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Start,
    Thought,
    /// Behind the thoughts: white space in front of the answer is left out.
    Gap,
    Text,
}

impl Thoughts {
    /// Appends what a delta brings.
    pub(crate) fn push(&mut self, delta: String, pieces: &mut Vec<Piece>) {
        if self.state == State::Text {
            return pieces.push(Piece::Text(delta));
        }
        self.held.push_str(&delta);
        if self.state == State::Start {
            self.start(pieces);
        }
        if self.state == State::Thought {
            self.thought(pieces);
        }
        if self.state == State::Gap {
            self.gap(pieces);
        }
    }

    /// Appends what was held back.
    pub(crate) fn end(&mut self, pieces: &mut Vec<Piece>) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            _ if held.is_empty() => {}
            State::Thought => pieces.push(Piece::Thought(held)),
            State::Start | State::Text => pieces.push(Piece::Text(held)),
            State::Gap => {}
        }
    }

    fn start(&mut self, pieces: &mut Vec<Piece>) {
        let said = self.held.trim_start();
        if let Some(thought) = said.strip_prefix(OPEN) {
            self.held = thought.trim_start().to_owned();
            self.state = State::Thought;
        } else if !OPEN.starts_with(said) || self.held.len() > MAX_HELD {
            self.state = State::Text;
            pieces.push(Piece::Text(std::mem::take(&mut self.held)));
        }
    }

    fn thought(&mut self, pieces: &mut Vec<Piece>) {
        let (end, next) = match self.held.find(CLOSE) {
            Some(end) => (end, end + CLOSE.len()),
            None => {
                // What may be the beginning of the end is held back.
                let tag = (1..CLOSE.len()).rev().find(|length| self.held.ends_with(&CLOSE[..*length]));
                let end = self.held.len() - tag.unwrap_or_default();
                (end, end)
            }
        };
        let is_closed = next > end;
        let rest = self.held.split_off(next);
        self.held.truncate(end);
        let thought = std::mem::replace(&mut self.held, rest);
        if !thought.is_empty() {
            pieces.push(Piece::Thought(thought));
        }
        if is_closed {
            self.state = State::Gap;
        }
    }

    fn gap(&mut self, pieces: &mut Vec<Piece>) {
        let text = std::mem::take(&mut self.held);
        let text = text.trim_start();
        if !text.is_empty() {
            self.state = State::Text;
            pieces.push(Piece::Text(text.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The thoughts and the text of a whole stream.
    fn read<'a>(deltas: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let (mut thoughts, mut pieces) = (Thoughts::default(), Vec::new());
        deltas.into_iter().for_each(|delta| thoughts.push(delta.to_owned(), &mut pieces));
        thoughts.end(&mut pieces);
        pieces.into_iter().fold(<(String, String)>::default(), |(thought, text), piece| match piece {
            Piece::Text(more) => (thought, text + &more),
            Piece::Thought(more) => (thought + &more, text),
        })
    }

    #[test]
    fn thoughts_and_text() {
        let check = |said: &str, thought: &str, text: &str| {
            assert_eq!(read([said]), (thought.to_owned(), text.to_owned()), "{said:?}");
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
        fn cuts_do_not_matter(
            said in r"[ \n]{0,3}(<think>)?[a-z<>/ü ]{0,12}(</think>)?[a-z<>/ \n]{0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut places: Vec<_> = cuts.iter().map(|cut| said.floor_char_boundary(cut.index(said.len() + 1))).collect();
            places.extend([0, said.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|pair| &said[pair[0]..pair[1]]);
            let whole = read([said.as_str()]);
            let (thought, text) = read(pieces);
            // White space at a thought's beginning is left out only where it comes with the tag.
            prop_assert_eq!((thought.trim_start(), text), (whole.0.trim_start(), whole.1));
        }
    }
}
