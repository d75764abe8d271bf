//! A text that is shown while it grows.

use super::split::{Reference, Splitter, Step};
use crate::reactive::ArcRwSignal;
use leptos::prelude::*;
use pulldown_cmark::{BrokenLink, BrokenLinkCallback, CowStr};

/// A Markdown text in blocks, each with its own signal: when the text grows, only the view of its last block is told.
#[derive(Clone)]
pub struct Document {
    splitter: ArcStoredValue<Splitter>,
    pub(super) blocks: ArcRwSignal<Vec<Block>>,
    pub(super) references: References,
}

/// A top-level block. Its number is its key.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) number: usize,
    pub(super) source: ArcRwSignal<Source>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) text: String,
    /// More may come: half-written markup at the end is not shown yet.
    pub(super) open: bool,
}

/// What is defined so far: link references, and footnotes, whose labels begin with `^`. A block that names one is rendered again when it
/// is defined later.
#[derive(Clone)]
pub(super) struct References {
    all: ArcRwSignal<Vec<Reference>>,
    /// More may come.
    growing: ArcRwSignal<bool>,
}

impl References {
    /// Of a text that is rendered as a whole: it defines its references itself.
    pub(super) fn none() -> Self {
        Self { all: ArcRwSignal::new(Vec::new()), growing: ArcRwSignal::new(false) }
    }

    /// Whether there is a footnote of this label. While more may come it is taken for granted where the label is a number: notes stand at
    /// the end. Tracked.
    pub(super) fn has_note(&self, label: &str) -> bool {
        let is_known = |all: &Vec<Reference>| all.iter().any(|known| known.label.strip_prefix('^') == Some(label));
        self.all.with(is_known) || (label.bytes().all(|digit| digit.is_ascii_digit()) && self.growing.get())
    }

    /// Tracked.
    pub(super) fn url(&self, label: &str) -> Option<String> {
        let label = label.to_ascii_lowercase();
        self.all
            .with(|all| all.iter().find(|reference| reference.label == label).map(|reference| reference.url.clone()))
    }
}

/// Where a link leads that names its target. One type for every use of the parser, which would else be there once for each.
pub(super) struct Lookup<'r>(pub(super) Option<&'r References>);

impl<'input> BrokenLinkCallback<'input> for Lookup<'_> {
    fn handle_broken_link(&mut self, link: BrokenLink<'input>) -> Option<(CowStr<'input>, CowStr<'input>)> {
        self.0?.url(&link.reference).map(|url| (CowStr::from(url), CowStr::from("")))
    }
}

impl Document {
    /// A text as far as it has come; `complete` says that it will not grow.
    pub fn new(text: &str, complete: bool) -> Self {
        let document = Self {
            splitter: ArcStoredValue::new(Splitter::default()),
            blocks: ArcRwSignal::new(Vec::new()),
            references: References::none(),
        };
        document.grow(text, complete);
        document
    }

    /// A text that is not Markdown, as one block.
    pub fn plain(text: &str) -> Self {
        let source = Source { text: text.to_owned(), open: false };
        let block = Block { number: 0, source: ArcRwSignal::new(source) };
        Self {
            splitter: ArcStoredValue::new(Splitter::default()),
            blocks: ArcRwSignal::new(if text.trim().is_empty() { Vec::new() } else { vec![block] }),
            references: References::none(),
        }
    }

    /// Takes the whole text, which begins with what it was before. Costs as much as its last block is long.
    pub fn grow(&self, text: &str, complete: bool) {
        let step = self.splitter.try_update_value(|splitter| splitter.advance(text, complete));
        let Some(Step { first, blocks, references }) = step else {
            return;
        };
        if !references.is_empty() {
            self.references.all.update(|all| all.extend(references));
        }
        if self.references.growing.get_untracked() == complete {
            self.references.growing.set(!complete);
        }
        let known = self.blocks.with_untracked(Vec::len);
        let length = first + blocks.len();
        let mut added = Vec::new();
        for (offset, text) in blocks.into_iter().enumerate() {
            let number = first + offset;
            let source = Source { text: text.to_owned(), open: !complete && number + 1 == length };
            if number >= known {
                added.push(Block { number, source: ArcRwSignal::new(source) });
                continue;
            }
            let signal = self.blocks.with_untracked(|blocks| blocks[number].source.clone());
            if signal.with_untracked(|now| *now != source) {
                signal.set(source);
            }
        }
        if !added.is_empty() || length < known {
            self.blocks.update(|blocks| {
                blocks.truncate(length);
                blocks.extend(added);
            });
        }
    }

    /// The whole text. Not tracked.
    pub fn text(&self) -> String {
        self.blocks.with_untracked(|blocks| {
            blocks.iter().fold(String::new(), |mut text, block| {
                block.source.with_untracked(|source| text.push_str(&source.text));
                text
            })
        })
    }

    /// The whole text. Tracked.
    pub fn read(&self) -> String {
        self.blocks.with(|blocks| {
            blocks.iter().fold(String::new(), |mut text, block| {
                block.source.with(|source| text.push_str(&source.text));
                text
            })
        })
    }

    /// Its length in bytes. Not tracked.
    pub fn len(&self) -> usize {
        let of = |block: &Block| block.source.with_untracked(|source| source.text.len());
        self.blocks.with_untracked(|blocks| blocks.iter().map(of).sum())
    }

    /// Whether nothing is to be seen of it. Tracked.
    pub fn is_empty(&self) -> bool {
        self.blocks.with(Vec::is_empty)
    }

    /// Takes another text. Blocks that are the same as before are left alone.
    pub fn replace(&self, text: &str, complete: bool) {
        self.splitter.set_value(Splitter::default());
        if self.references.all.with_untracked(|all| !all.is_empty()) {
            self.references.all.set(Vec::new());
        }
        self.grow(text, complete);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(document: &Document) -> Vec<(String, bool)> {
        let blocks = document.blocks.get_untracked();
        blocks.iter().map(|block| block.source.get_untracked()).map(|source| (source.text, source.open)).collect()
    }

    #[test]
    fn only_the_last_block_changes_while_it_grows() {
        let document = Document::new("one\n\ntw", false);
        let before = document.blocks.get_untracked();
        document.grow("one\n\ntwo\n\nthree\n", false);
        let after = document.blocks.get_untracked();
        assert_eq!(
            sources(&document),
            [("one\n\n".into(), false), ("two\n\n".into(), false), ("three\n".into(), true)] as [(String, bool); 3]
        );
        assert_eq!(before.len(), 1, "a line that is not complete decides nothing");
        assert_eq!(after[0].number, 0);
        document.grow("one\n\ntwo\n\nthree\n", true);
        assert!(sources(&document).iter().all(|(_, open)| !open));
    }

    #[test]
    fn replacing_shrinks_too() {
        let document = Document::new("one\n\ntwo\n\nthree", true);
        document.replace("one\n\n2", true);
        assert_eq!(sources(&document), [("one\n\n".into(), false), ("2".into(), false)] as [(String, bool); 2]);
    }

    #[test]
    fn references_are_found_whatever_their_case() {
        let document = Document::new("[Docs]: https://example.com\n\n[docs]", true);
        assert_eq!(document.references.url("DOCS").as_deref(), Some("https://example.com"));
        assert_eq!(document.references.url("other"), None);
    }
}
