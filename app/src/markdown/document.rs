//! A Markdown document that is rendered while it grows.

use crate::prelude::*;
use markdown_stream::FindUrl;
use markdown_stream::split::{ReferenceDefinition, SplitUpdate, Splitter};
use std::collections::HashMap;

/// A Markdown text split into blocks, each with its own signal: when the text grows, only the view
/// of the last block is updated. The blocks are in groups, so that the browser does not have to lay
/// out all of them when the last one grows.
#[derive(Clone)]
pub struct Document {
    splitter: ArcStoredValue<Splitter>,
    pub(super) groups: ArcRwSignal<Vec<BlockGroup>>,
    pub(super) references: References,
}

/// The minimum number of blocks in a group, except for the last group. Measured: half or twice as
/// many make a frame about a tenth slower.
const MIN_GROUP_SIZE: usize = 16;

/// Consecutive blocks. The number of the first one is the group's key.
#[derive(Clone)]
pub(super) struct BlockGroup {
    pub(super) first: usize,
    pub(super) blocks: ArcRwSignal<Vec<MarkdownBlock>>,
}

/// A top-level block. Its number is its key.
#[derive(Clone)]
pub(super) struct MarkdownBlock {
    pub(super) number: usize,
    pub(super) source: ArcRwSignal<BlockSource>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockSource {
    pub(super) text: String,
    /// More text may follow: incomplete markup at the end is not shown yet.
    pub(super) open: bool,
}

/// The link references and the footnotes (with labels that begin with `^`) defined so far. A block
/// that refers to a label is rendered again when the label is defined later.
#[derive(Clone)]
pub(super) struct References {
    /// URLs by label. Of several definitions of a label the first one counts.
    urls: ArcRwSignal<HashMap<String, String>>,
    /// Whether more text may follow.
    growing: ArcRwSignal<bool>,
}

impl References {
    /// Creates the references of a text that is rendered as a whole, and so contains its own
    /// definitions.
    pub(super) fn none() -> Self {
        Self { urls: ArcRwSignal::new(HashMap::new()), growing: ArcRwSignal::new(false) }
    }

    /// Returns whether there is a footnote with this label. While more text may follow, numeric
    /// labels are assumed to have one, because footnotes are at the end. Tracked.
    pub(super) fn has_footnote(&self, label: &str) -> bool {
        let is_known = self.urls.with(|all| all.contains_key(&format!("^{label}")));
        is_known || (label.bytes().all(|digit| digit.is_ascii_digit()) && self.growing.get())
    }
}

impl FindUrl for References {
    /// Returns the URL of a label. Tracked.
    fn find_url(&self, label: &str) -> Option<String> {
        let label = label.to_ascii_lowercase();
        self.urls.with(|all| all.get(&label).cloned())
    }
}

fn insert_references(all: &mut HashMap<String, String>, references: Vec<ReferenceDefinition>) {
    for ReferenceDefinition { label, url } in references {
        all.entry(label).or_insert(url);
    }
}

impl Document {
    /// Creates a document from the text so far; `complete` means that nothing will follow.
    pub fn new(text: &str, complete: bool) -> Self {
        let document = Self {
            splitter: ArcStoredValue::new(Splitter::default()),
            groups: ArcRwSignal::new(Vec::new()),
            references: References::none(),
        };
        document.grow(text, complete);
        document
    }

    /// Creates a document of one block from a text that is not Markdown.
    pub fn plain(text: &str) -> Self {
        let source = BlockSource { text: text.to_owned(), open: false };
        let blocks = vec![MarkdownBlock { number: 0, source: ArcRwSignal::new(source) }];
        let group = BlockGroup { first: 0, blocks: ArcRwSignal::new(blocks) };
        Self {
            splitter: ArcStoredValue::new(Splitter::default()),
            groups: ArcRwSignal::new(if text.trim().is_empty() { Vec::new() } else { vec![group] }),
            references: References::none(),
        }
    }

    /// Updates the document to a longer text, which must begin with the previous one. The cost is
    /// proportional to the length of the last block.
    pub fn grow(&self, text: &str, complete: bool) {
        let step = self.splitter.try_update_value(|splitter| splitter.advance(text, complete));
        let Some(SplitUpdate { first, blocks, references }) = step else {
            return;
        };
        if !references.is_empty() {
            self.references.urls.update(|all| insert_references(all, references));
        }
        if self.references.growing.get_untracked() == complete {
            self.references.growing.set(!complete);
        }
        let known = self.blocks_from(first);
        let mut blocks = blocks.into_iter().zip(first..).peekable();
        let mut after = Vec::new();
        while let Some((text, number)) = blocks.next() {
            let source = BlockSource { text: text.to_owned(), open: !complete && blocks.peek().is_none() };
            let Some(block) = known.get(number - first) else {
                after.push(MarkdownBlock { number, source: ArcRwSignal::new(source) });
                continue;
            };
            if block.source.with_untracked(|now| *now != source) {
                block.source.set(source);
            }
            after.push(block.clone());
        }
        self.replace_from(first, after);
    }

    /// Replaces all blocks from `first` on.
    fn replace_from(&self, first: usize, after: Vec<MarkdownBlock>) {
        // The groups before the one that contains the first new block stay as they are.
        let stays = self.groups.with_untracked(|groups| groups.partition_point(|group| group.first < first)).max(1) - 1;
        let begun = self.groups.with_untracked(|groups| groups.get(stays).cloned());
        let mut blocks = begun.map(|group| group.blocks.get_untracked()).unwrap_or_default();
        blocks.retain(|block| block.number < first);
        blocks.extend(after);
        let known = self.groups.get_untracked();
        let mut now = known[..stays.min(known.len())].to_vec();
        for blocks in group_blocks(blocks) {
            let first = blocks[0].number;
            let Some(group) = known.iter().find(|group| group.first == first) else {
                now.push(BlockGroup { first, blocks: ArcRwSignal::new(blocks) });
                continue;
            };
            if group.blocks.with_untracked(Vec::len) != blocks.len() {
                group.blocks.set(blocks);
            }
            now.push(group.clone());
        }
        let firsts = |groups: &[BlockGroup]| groups.iter().map(|group| group.first).collect::<Vec<_>>();
        if firsts(&now) != firsts(&known) {
            self.groups.set(now);
        }
    }

    /// Returns the blocks from a number on. Not tracked.
    fn blocks_from(&self, first: usize) -> Vec<MarkdownBlock> {
        let of = |group: &BlockGroup| group.blocks.get_untracked();
        let all = |groups: &Vec<BlockGroup>| {
            let from = groups.partition_point(|group| group.first < first).saturating_sub(1);
            groups[from..].iter().flat_map(of).filter(|block| block.number >= first).collect()
        };
        self.groups.with_untracked(all)
    }

    /// Returns the whole text. Not tracked.
    pub fn text(&self) -> String {
        untrack(|| self.read())
    }

    /// Returns the whole text. Tracked.
    pub fn read(&self) -> String {
        let mut text = String::new();
        let mut push = |block: &MarkdownBlock| block.source.with(|source| text.push_str(&source.text));
        self.groups
            .with(|groups| groups.iter().for_each(|group| group.blocks.with(|all| all.iter().for_each(&mut push))));
        text
    }

    /// Returns the length in bytes. Not tracked.
    pub fn len(&self) -> usize {
        let of = |block: &MarkdownBlock| block.source.with_untracked(|source| source.text.len());
        self.blocks_from(0).iter().map(of).sum()
    }

    /// Returns whether there are no blocks. Tracked.
    pub fn is_empty(&self) -> bool {
        self.groups.with(Vec::is_empty)
    }

    /// Replaces the text. Blocks that stay the same are left alone.
    pub fn replace(&self, text: &str, complete: bool) {
        self.splitter.set_value(Splitter::default());
        if self.references.urls.with_untracked(|all| !all.is_empty()) {
            self.references.urls.set(HashMap::new());
        }
        self.grow(text, complete);
    }
}

/// Splits blocks into groups. A group ends only after a block with a paragraph's margin: the
/// browser lays out each group separately, so margins between groups do not collapse.
fn group_blocks(blocks: Vec<MarkdownBlock>) -> Vec<Vec<MarkdownBlock>> {
    let mut groups: Vec<Vec<MarkdownBlock>> = Vec::new();
    for block in blocks {
        let ends = |group: &Vec<MarkdownBlock>| {
            group.len() >= MIN_GROUP_SIZE
                && group.last().is_some_and(|last| last.source.with_untracked(|last| is_plain(&last.text)))
        };
        match groups.last_mut().filter(|group| !ends(group)) {
            Some(group) => group.push(block),
            None => groups.push(vec![block]),
        }
    }
    groups
}

/// Returns whether a block is certainly neither a heading, nor a rule, nor a footnote.
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
    fn only_the_last_block_of_a_growing_document_changes() {
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
    fn replacing_can_shorten_a_document() {
        let document = Document::new("one\n\ntwo\n\nthree", true);
        document.replace("one\n\n2", true);
        assert_eq!(sources(&document), [("one\n\n".into(), false), ("2".into(), false)] as [(String, bool); 2]);
    }

    fn groups(document: &Document) -> Vec<(usize, usize)> {
        let of = |group: &BlockGroup| (group.first, group.blocks.with_untracked(Vec::len));
        document.groups.with_untracked(|groups| groups.iter().map(of).collect())
    }

    #[test]
    fn groups_end_with_plain_blocks() {
        let paragraphs = |count: usize| "text\n\n".repeat(count);
        let check = |text: &str, expected: &[(usize, usize)]| {
            assert_eq!(groups(&Document::new(text, true)), expected, "{text}");
            // A growing text results in the same groups, and finished groups stay the same.
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
        check(&paragraphs(MIN_GROUP_SIZE), &[(0, MIN_GROUP_SIZE)]);
        check(
            &paragraphs(2 * MIN_GROUP_SIZE + 1),
            &[(0, MIN_GROUP_SIZE), (MIN_GROUP_SIZE, MIN_GROUP_SIZE), (2 * MIN_GROUP_SIZE, 1)],
        );
        for other in ["# Heading\n\n", "Heading\n---\n\n", "***\n\n", "[^1]: Note\n\n"] {
            check(
                &format!("{}{other}{}", paragraphs(MIN_GROUP_SIZE - 1), paragraphs(2)),
                &[(0, MIN_GROUP_SIZE + 1), (MIN_GROUP_SIZE + 1, 1)],
            );
        }
    }

    #[test]
    fn references_are_case_insensitive() {
        let document = Document::new("[Docs]: https://example.com\n\n[docs]", true);
        assert_eq!(document.references.find_url("DOCS").as_deref(), Some("https://example.com"));
        assert_eq!(document.references.find_url("other"), None);
    }
}
