//! A text that is shown while it grows.

use super::split::{Reference, Splitter, Step};
use crate::prelude::*;
use pulldown_cmark::{BrokenLink, BrokenLinkCallback, CowStr};
use std::collections::HashMap;

/// A Markdown text in blocks, each with its own signal: when the text grows, only the view of its last block is told. The blocks stand
/// in groups, so that the browser need not look at all of them when the last one grows.
#[derive(Clone)]
pub struct Document {
    splitter: ArcStoredValue<Splitter>,
    pub(super) groups: ArcRwSignal<Vec<Group>>,
    pub(super) references: References,
}

/// From this many blocks on a group may end. Measured: with half or twice as many a frame costs a tenth more.
const GROUP: usize = 16;

/// Some blocks, one after the other. The number of the first is its key.
#[derive(Clone)]
pub(super) struct Group {
    pub(super) first: usize,
    pub(super) blocks: ArcRwSignal<Vec<Block>>,
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
    /// Addresses by label. Of several definitions of a label the first counts.
    all: ArcRwSignal<HashMap<String, String>>,
    /// More may come.
    growing: ArcRwSignal<bool>,
}

impl References {
    /// Of a text that is rendered as a whole: it defines its references itself.
    pub(super) fn none() -> Self {
        Self { all: ArcRwSignal::new(HashMap::new()), growing: ArcRwSignal::new(false) }
    }

    /// Whether there is a footnote of this label. While more may come it is taken for granted where the label is a number: notes stand at
    /// the end. Tracked.
    pub(super) fn has_note(&self, label: &str) -> bool {
        let is_known = self.all.with(|all| all.contains_key(&format!("^{label}")));
        is_known || (label.bytes().all(|digit| digit.is_ascii_digit()) && self.growing.get())
    }

    /// Tracked.
    pub(super) fn url(&self, label: &str) -> Option<String> {
        let label = label.to_ascii_lowercase();
        self.all.with(|all| all.get(&label).cloned())
    }
}

fn add(all: &mut HashMap<String, String>, references: Vec<Reference>) {
    for Reference { label, url } in references {
        all.entry(label).or_insert(url);
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
            groups: ArcRwSignal::new(Vec::new()),
            references: References::none(),
        };
        document.grow(text, complete);
        document
    }

    /// A text that is not Markdown, as one block.
    pub fn plain(text: &str) -> Self {
        let source = Source { text: text.to_owned(), open: false };
        let blocks = vec![Block { number: 0, source: ArcRwSignal::new(source) }];
        let group = Group { first: 0, blocks: ArcRwSignal::new(blocks) };
        Self {
            splitter: ArcStoredValue::new(Splitter::default()),
            groups: ArcRwSignal::new(if text.trim().is_empty() { Vec::new() } else { vec![group] }),
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
            self.references.all.update(|all| add(all, references));
        }
        if self.references.growing.get_untracked() == complete {
            self.references.growing.set(!complete);
        }
        let known = self.blocks_from(first);
        let mut blocks = blocks.into_iter().zip(first..).peekable();
        let mut after = Vec::new();
        while let Some((text, number)) = blocks.next() {
            let source = Source { text: text.to_owned(), open: !complete && blocks.peek().is_none() };
            let Some(block) = known.get(number - first) else {
                after.push(Block { number, source: ArcRwSignal::new(source) });
                continue;
            };
            if block.source.with_untracked(|now| *now != source) {
                block.source.set(source);
            }
            after.push(block.clone());
        }
        self.arrange(first, after);
    }

    /// Puts these in the place of all blocks from `first` on.
    fn arrange(&self, first: usize, after: Vec<Block>) {
        // What stands before the group in which they begin stays as it is.
        let stays = self.groups.with_untracked(|groups| groups.partition_point(|group| group.first < first)).max(1) - 1;
        let begun = self.groups.with_untracked(|groups| groups.get(stays).cloned());
        let mut blocks = begun.map(|group| group.blocks.get_untracked()).unwrap_or_default();
        blocks.retain(|block| block.number < first);
        blocks.extend(after);
        let known = self.groups.get_untracked();
        let mut now = known[..stays.min(known.len())].to_vec();
        for blocks in grouped(blocks) {
            let first = blocks[0].number;
            let Some(group) = known.iter().find(|group| group.first == first) else {
                now.push(Group { first, blocks: ArcRwSignal::new(blocks) });
                continue;
            };
            if group.blocks.with_untracked(Vec::len) != blocks.len() {
                group.blocks.set(blocks);
            }
            now.push(group.clone());
        }
        let firsts = |groups: &[Group]| groups.iter().map(|group| group.first).collect::<Vec<_>>();
        if firsts(&now) != firsts(&known) {
            self.groups.set(now);
        }
    }

    /// Not tracked.
    fn blocks_from(&self, first: usize) -> Vec<Block> {
        let of = |group: &Group| group.blocks.get_untracked();
        let all = |groups: &Vec<Group>| {
            let from = groups.partition_point(|group| group.first < first).saturating_sub(1);
            groups[from..].iter().flat_map(of).filter(|block| block.number >= first).collect()
        };
        self.groups.with_untracked(all)
    }

    /// The whole text. Not tracked.
    pub fn text(&self) -> String {
        untrack(|| self.read())
    }

    /// The whole text. Tracked.
    pub fn read(&self) -> String {
        let mut text = String::new();
        let mut push = |block: &Block| block.source.with(|source| text.push_str(&source.text));
        self.groups
            .with(|groups| groups.iter().for_each(|group| group.blocks.with(|all| all.iter().for_each(&mut push))));
        text
    }

    /// Its length in bytes. Not tracked.
    pub fn len(&self) -> usize {
        let of = |block: &Block| block.source.with_untracked(|source| source.text.len());
        self.blocks_from(0).iter().map(of).sum()
    }

    /// Whether nothing is to be seen of it. Tracked.
    pub fn is_empty(&self) -> bool {
        self.groups.with(Vec::is_empty)
    }

    /// Takes another text. Blocks that are the same as before are left alone.
    pub fn replace(&self, text: &str, complete: bool) {
        self.splitter.set_value(Splitter::default());
        if self.references.all.with_untracked(|all| !all.is_empty()) {
            self.references.all.set(HashMap::new());
        }
        self.grow(text, complete);
    }
}

/// Blocks in groups. A group ends where the space between two blocks is that between paragraphs: the browser lays out each group by itself,
/// and between two of them spaces add up.
fn grouped(blocks: Vec<Block>) -> Vec<Vec<Block>> {
    let mut groups: Vec<Vec<Block>> = Vec::new();
    for block in blocks {
        let ends = |group: &Vec<Block>| {
            group.len() >= GROUP
                && group.last().is_some_and(|last| last.source.with_untracked(|last| is_plain(&last.text)))
        };
        match groups.last_mut().filter(|group| !ends(group)) {
            Some(group) => group.push(block),
            None => groups.push(vec![block]),
        }
    }
    groups
}

/// Whether a block is neither a heading, nor a rule, nor a note. Where that cannot be seen at a glance, it may be one.
fn is_plain(source: &str) -> bool {
    let is_line = |line: &str| line.chars().all(|sign| matches!(sign, '-' | '=' | '*' | '_' | ' ' | '\t'));
    let source = source.trim();
    !source.starts_with(['#', '[']) && !source.lines().next_back().is_none_or(is_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(document: &Document) -> Vec<(String, bool)> {
        let blocks = document.blocks_from(0);
        blocks.iter().map(|block| block.source.get_untracked()).map(|source| (source.text, source.open)).collect()
    }

    #[test]
    fn only_the_last_block_changes_while_it_grows() {
        let document = Document::new("one\n\ntw", false);
        let before = document.blocks_from(0);
        document.grow("one\n\ntwo\n\nthree\n", false);
        let after = document.blocks_from(0);
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

    fn groups(document: &Document) -> Vec<(usize, usize)> {
        let of = |group: &Group| (group.first, group.blocks.with_untracked(Vec::len));
        document.groups.with_untracked(|groups| groups.iter().map(of).collect())
    }

    #[test]
    fn groups_end_with_plain_blocks() {
        let paragraphs = |count: usize| "text\n\n".repeat(count);
        let check = |text: &str, expected: &[(usize, usize)]| {
            assert_eq!(groups(&Document::new(text, true)), expected, "{text}");
            // While it grows it comes to the same, and what has ended stays.
            let document = Document::new("", false);
            let mut before: Vec<(usize, usize)> = Vec::new();
            for end in 0..=text.len() {
                document.grow(&text[..end], end == text.len());
                let now = groups(&document);
                let ended = before.len().saturating_sub(1);
                assert_eq!(now[..ended], before[..ended], "{text} to {end}");
                before = now;
            }
            assert_eq!(before, expected, "{text}");
            document.replace("text\n\ntext", true);
            assert_eq!(groups(&document), [(0, 2)]);
        };
        check(&paragraphs(GROUP), &[(0, GROUP)]);
        check(&paragraphs(2 * GROUP + 1), &[(0, GROUP), (GROUP, GROUP), (2 * GROUP, 1)]);
        for other in ["# Heading\n\n", "Heading\n---\n\n", "***\n\n", "[^1]: Note\n\n"] {
            check(&format!("{}{other}{}", paragraphs(GROUP - 1), paragraphs(2)), &[(0, GROUP + 1), (GROUP + 1, 1)]);
        }
    }

    #[test]
    fn references_are_found_whatever_their_case() {
        let document = Document::new("[Docs]: https://example.com\n\n[docs]", true);
        assert_eq!(document.references.url("DOCS").as_deref(), Some("https://example.com"));
        assert_eq!(document.references.url("other"), None);
    }
}
