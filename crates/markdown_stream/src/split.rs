//! Splits a growing text into its top-level blocks. Parses only the part that can still change.

use crate::mask::{Masked, mask_formulas, unmask_formulas};
use crate::references::ReferenceLookup;
use pulldown_cmark::{Event, Options, Parser, Tag};
use std::ops::Range;

/// The enabled extensions.
pub const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES);

/// A link reference definition, `[label]: url`, or a footnote, `[^label]: …`, which has no URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceDefinition {
    /// The label; that of a footnote begins with `^`.
    pub label: String,
    /// The URL; empty for a footnote.
    pub url: String,
}

/// The state of splitting a growing text.
///
/// Markdown is decided line by line: once a complete line has begun another top-level block,
/// nothing that follows can change the blocks before it (except for link references, which are
/// collected separately). So those are closed for good.
#[derive(Debug, Default)]
pub struct Splitter {
    /// Bytes of the text that belong to closed blocks.
    closed_bytes: usize,
    closed_blocks: usize,
    /// Bytes of the text that were searched for closed blocks; all of them complete lines.
    scanned: usize,
}

/// The changes caused by a longer text.
#[derive(Debug)]
pub struct SplitUpdate<'t> {
    /// The number of the first block that may have changed; all before it stay the same.
    pub first: usize,
    /// The sources of that block and of all after it.
    pub blocks: Vec<&'t str>,
    /// The definitions in the blocks that were closed by this update.
    pub references: Vec<ReferenceDefinition>,
}

impl Splitter {
    /// Updates the state to a longer text, which must begin with the previous one. `complete` means
    /// that nothing will follow.
    pub fn advance<'t>(&mut self, text: &'t str, complete: bool) -> SplitUpdate<'t> {
        let first = self.closed_blocks;
        let mut cuts = vec![self.closed_bytes];
        let mut references = Vec::new();
        let stable = if complete { text.len() } else { text.rfind('\n').map_or(0, |end| end + 1) };
        if complete || stable > self.scanned {
            self.scanned = stable;
            let masked = mask_formulas(&text[self.closed_bytes..stable]);
            references = self.scan(&masked, complete, &mut cuts);
            self.closed_blocks += cuts.len() - 1;
            self.closed_bytes = cuts.last().copied().unwrap_or_default();
        }
        cuts.push(text.len());
        let blocks = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
        let blocks = blocks.filter(|block| !block.trim().is_empty()).collect();
        SplitUpdate { first, blocks, references }
    }

    /// Appends the starts of further blocks to `cuts`. Stops at an unfinished formula or code span,
    /// which may contain lines that look like other blocks.
    fn scan(&self, masked: &Masked<'_>, complete: bool, cuts: &mut Vec<usize>) -> Vec<ReferenceDefinition> {
        let begun = masked.open.into_iter().chain(masked.open_code).min().filter(|_| !complete);
        let tail = &masked.text[..begun.map_or(masked.text.len(), |at| line_start(&masked.text, at))];
        let events =
            Parser::new_with_broken_link_callback(tail, OPTIONS, Some(ReferenceLookup(None))).into_offset_iter();
        let definitions = events.reference_definitions().iter();
        let mut definitions: Vec<_> = definitions
            .map(|(label, link)| {
                let url = unmask_formulas(&link.dest, &masked.formulas).into_owned();
                (link.span.clone(), ReferenceDefinition { label: label.to_ascii_lowercase(), url })
            })
            .collect();
        let starts = top_level_starts(events, |label, at| {
            definitions.push((at..at + 1, ReferenceDefinition { label: format!("^{label}"), url: String::new() }));
        });
        definitions.sort_by_key(|(span, _)| span.start);
        // The text before the first block belongs to it.
        let starts = starts.into_iter().map(|start| line_start(tail, start)).skip(1);
        let mut before = DefinitionScan { text: tail, read: 0, may_define: false };
        cuts.extend(starts.filter(|start| !before.may_define(*start)).map(|start| self.closed_bytes + start));
        cuts.dedup();
        let closed = cuts.last().copied().unwrap_or_default() - self.closed_bytes;
        let closed = definitions.into_iter().filter(|(span, _)| complete || span.end <= closed);
        closed.map(|(_, reference)| reference).collect()
    }
}

/// The lines before the starts of blocks, read once from first to last.
struct DefinitionScan<'t> {
    text: &'t str,
    read: usize,
    may_define: bool,
}

impl DefinitionScan<'_> {
    /// Returns whether the lines just before a start, back to the last empty line, may contain a
    /// definition. A definition has no events of its own, and may turn out to be the beginning of
    /// the paragraph in the next line, which then cannot be rendered alone. The queries must be in
    /// ascending order.
    fn may_define(&mut self, start: usize) -> bool {
        for line in self.text.get(self.read..start).unwrap_or_default().lines() {
            let line = line.trim();
            self.may_define = !line.is_empty() && (self.may_define || line.starts_with('['));
        }
        self.read = start.max(self.read);
        self.may_define
    }
}

/// Returns the starts of the top-level blocks; calls `note` with the label and the start of each
/// footnote.
fn top_level_starts<'t>(
    events: impl Iterator<Item = (Event<'t>, Range<usize>)>,
    mut note: impl FnMut(&str, usize),
) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut starts = Vec::new();
    for (event, range) in events {
        if matches!(event, Event::End(_)) {
            depth -= 1;
            continue;
        }
        if let Event::Start(Tag::FootnoteDefinition(label)) = &event {
            note(label, range.start);
        }
        if depth == 0 {
            starts.push(range.start);
        }
        depth += usize::from(matches!(event, Event::Start(_)));
    }
    starts
}

/// Returns the start of a line. A block's own indentation belongs to it: it decides which later
/// lines belong to the block.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> Vec<String> {
        Splitter::default().advance(text, true).blocks.into_iter().map(str::to_owned).collect()
    }

    /// Grows the text in steps that end at `ends`, and returns what a view would show.
    fn grown(text: &str, ends: &[usize]) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut shown: Vec<String> = Vec::new();
        let mut step = |end: usize, complete: bool| {
            let step = splitter.advance(&text[..end], complete);
            shown.truncate(step.first);
            shown.extend(step.blocks.into_iter().map(str::to_owned));
        };
        let mut ends: Vec<usize> = ends.iter().map(|end| text.floor_char_boundary(*end)).collect();
        ends.sort_unstable();
        for end in ends {
            step(end, false);
        }
        step(text.len(), true);
        shown
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(whole(text), expected, "whole {text:?}");
        let everywhere: Vec<usize> = (0..text.len()).collect();
        assert_eq!(grown(text, &everywhere), expected, "grown {text:?}");
    }

    #[test]
    fn text_is_split_at_top_level_blocks() {
        check("", &[]);
        check("\n\n", &[]);
        check("one\ntwo", &["one\ntwo"]);
        check("one\n\ntwo", &["one\n\n", "two"]);
        check("# T\npara\n- a\n- b\n\npara", &["# T\n", "para\n", "- a\n- b\n\n", "para"]);
        check("Title\n---\n\n---\n", &["Title\n---\n\n", "---\n"]);
    }

    #[test]
    fn blocks_with_several_parts_are_not_split() {
        check("1. a\n\n2. b\n\n   c\n", &["1. a\n\n2. b\n\n   c\n"]);
        check("```\na\n\n# b\n```\nend", &["```\na\n\n# b\n```\n", "end"]);
        check("> a\nlazy\n\n> b", &["> a\nlazy\n\n", "> b"]);
        check("| a |\n|---|\n| 1 |\n\nend", &["| a |\n|---|\n| 1 |\n\n", "end"]);
        check("   - a\n\n     b\n\nend", &["   - a\n\n     b\n\n", "end"]);
    }

    #[test]
    fn definitions_of_closed_blocks_are_collected() {
        let mut splitter = Splitter::default();
        let text = "see [x]\n\n[X]: https://example.com/a\n\nmore\n\nend\n";
        assert_eq!(splitter.advance(&text[..20], false).references, []);
        let closed = splitter.advance(text, false).references;
        assert_eq!(closed, [ReferenceDefinition { label: "x".into(), url: "https://example.com/a".into() }]);
    }

    #[test]
    fn formulas_are_not_split() {
        check("$$\na\n- b\n=\n$$\n\nend", &["$$\na\n- b\n=\n$$\n\n", "end"]);
        check("so\n\\[\n- x\n\\]\nend", &["so\n\\[\n- x\n\\]\nend"]);
        check("$$ and\n\n- b\n", &["$$ and\n\n", "- b\n"]);
        // An open code span may continue, and contains no formulas then.
        check("`\n\\(y\n> q\n\\)\n# head\n`", &["`\n\\(y\n> q\n\\)\n", "# head\n", "`"]);
    }

    #[test]
    fn footnotes_of_closed_blocks_are_collected() {
        let mut splitter = Splitter::default();
        let labels =
            |step: SplitUpdate<'_>| step.references.into_iter().map(|reference| reference.label).collect::<Vec<_>>();
        assert_eq!(labels(splitter.advance("a[^x]\n\n[^x]: one\n", false)), [] as [&str; 0]);
        assert_eq!(labels(splitter.advance("a[^x]\n\n[^x]: one\n\n[^Y]: two\n\nend\n", false)), ["^x", "^Y"]);
    }

    /// Lines that interact in interesting ways, and arbitrary ones.
    fn markdown() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            8 => prop::sample::select(vec![
                "", "", "`", "a ` b", "text *em* `code`", "# head", "- a", "  - b", "1. one", "2", "2. two", "   para", "    code", "> q", ">",
                "```", "~~~rust", "---", "===", "| a | b |", "|---|---|", "| 1 | 2 |", "<div>", "</div>", "<!--", "-->", "[x]: /u",
                "[x]", "* * *", "*", "+", "\\", "\tt", "&amp;", "- [ ] t", "   ", "$x$ and \\(y", "\\)", "$$", "a\\[b", "\\]", "10) x", "[y]:", "/u 'title", "é 漢",
            ]).prop_map(str::to_owned),
            1 => "[ -~]{0,8}",
        ];
        prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
    }

    /// Returns the parser's events for a text with its formulas masked. The URLs of links are left
    /// out, because references are resolved separately, see [`ReferenceDefinition`].
    fn events(text: &str) -> Vec<String> {
        let resolved = |_: pulldown_cmark::BrokenLink<'_>| Some(("/u".into(), "".into()));
        let Masked { text, formulas, .. } = mask_formulas(text);
        let parser = Parser::new_with_broken_link_callback(&text, OPTIONS, Some(resolved));
        let shown = |event: Event<'_>| match event {
            Event::Start(Tag::Link { .. }) => "link".to_owned(),
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                unmask_formulas(&text, &formulas).into_owned()
            }
            event => format!("{event:?}"),
        };
        parser.map(shown).collect()
    }

    fn check_rendered(text: &str, blocks: &[String]) -> Result<(), TestCaseError> {
        let alone: Vec<String> = blocks.iter().flat_map(|block| events(block)).collect();
        prop_assert_eq!(alone, events(text), "{:?} as {:?}", text, blocks);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn single_blocks_render_like_the_whole_text(text in markdown()) {
            check_rendered(&text, &whole(&text))?;
        }

        #[test]
        fn growing_text_renders_like_the_whole_text(text in markdown(), ends in prop::collection::vec(0..200_usize, 0..12)) {
            let ends: Vec<usize> = ends.into_iter().map(|end| end.min(text.len())).collect();
            check_rendered(&text, &grown(&text, &ends))?;
        }

        #[test]
        fn growing_text_has_the_same_blocks_as_the_whole_text(text in markdown(), ends in prop::collection::vec(0..200_usize, 0..12)) {
            // The beginning of a definition may be a block of its own before the definition is
            // complete.
            let text = text.replace("]:", "]");
            let ends: Vec<usize> = ends.into_iter().map(|end| end.min(text.len())).collect();
            prop_assert_eq!(grown(&text, &ends), whole(&text));
        }
    }
}
