//! Cuts a text that grows into its top-level blocks, parsing only what is not settled yet.

use pulldown_cmark::{Event, Options, Parser};

/// The dialect.
pub(super) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// A link reference definition: `[label]: url`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) label: String,
    pub(super) url: String,
}

/// Where a growing text stands.
///
/// Markdown is decided line by line: once a complete line has begun another top-level block, nothing that follows can change
/// the blocks before it (but for link references, which are collected on the side). So these are closed for good.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// Bytes of the text that belong to closed blocks.
    closed_bytes: usize,
    closed_blocks: usize,
    /// Bytes of the text that have been looked at for closed blocks; all of them complete lines.
    scanned: usize,
}

/// What a longer text changed.
#[derive(Debug)]
pub(super) struct Step<'t> {
    /// The number of the first block that may differ from before; all before it stay.
    pub(super) first: usize,
    /// The sources of that block and of all after it.
    pub(super) blocks: Vec<&'t str>,
    /// Definitions in blocks that were closed by this step.
    pub(super) references: Vec<Reference>,
}

impl Splitter {
    /// Takes the whole text so far, which begins with what it was before. `complete` says that nothing will follow.
    pub(super) fn advance<'t>(&mut self, text: &'t str, complete: bool) -> Step<'t> {
        let first = self.closed_blocks;
        let mut cuts = vec![self.closed_bytes];
        let mut references = Vec::new();
        let stable = if complete { text.len() } else { text.rfind('\n').map_or(0, |end| end + 1) };
        if complete || stable > self.scanned {
            self.scanned = stable;
            references = self.scan(&text[self.closed_bytes..stable], complete, &mut cuts);
            self.closed_blocks += cuts.len() - 1;
            self.closed_bytes = cuts.last().copied().unwrap_or_default();
        }
        cuts.push(text.len());
        let blocks = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
        let blocks = blocks.filter(|block| !block.trim().is_empty()).collect();
        Step { first, blocks, references }
    }

    /// Appends to `cuts` where a further block begins.
    fn scan(&self, tail: &str, complete: bool, cuts: &mut Vec<usize>) -> Vec<Reference> {
        let mut depth = 0_usize;
        let mut seen_any = false;
        let mut events = Parser::new_ext(tail, OPTIONS).into_offset_iter();
        for (event, range) in events.by_ref() {
            if matches!(event, Event::End(_)) {
                depth -= 1;
                continue;
            }
            if depth == 0 {
                let cut = self.closed_bytes + line_start(tail, range.start);
                // What stands before the first block (blank lines, definitions) belongs to it.
                if seen_any && cuts.last() != Some(&cut) {
                    cuts.push(cut);
                }
                seen_any = true;
            }
            if matches!(event, Event::Start(_)) {
                depth += 1;
            }
        }
        let closed = cuts.last().copied().unwrap_or_default() - self.closed_bytes;
        let definitions = events.reference_definitions().iter();
        let mut definitions: Vec<_> = definitions
            .filter(|(_, link)| complete || link.span.end <= closed)
            .map(|(label, link)| {
                (link.span.start, Reference { label: label.to_lowercase(), url: link.dest.to_string() })
            })
            .collect();
        definitions.sort_by_key(|(start, _)| *start);
        definitions.into_iter().map(|(_, reference)| reference).collect()
    }
}

/// A block's own indentation belongs to it: it decides what later lines belong to the block.
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

    /// Grows the text by pieces that end at `ends` and keeps what a view would show.
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
    fn cuts_at_top_level_blocks() {
        check("", &[]);
        check("\n\n", &[]);
        check("one\ntwo", &["one\ntwo"]);
        check("one\n\ntwo", &["one\n\n", "two"]);
        check("# T\npara\n- a\n- b\n\npara", &["# T\n", "para\n", "- a\n- b\n\n", "para"]);
        check("Title\n---\n\n---\n", &["Title\n---\n\n", "---\n"]);
    }

    #[test]
    fn keeps_together_what_belongs_together() {
        check("1. a\n\n2. b\n\n   c\n", &["1. a\n\n2. b\n\n   c\n"]);
        check("```\na\n\n# b\n```\nend", &["```\na\n\n# b\n```\n", "end"]);
        check("> a\nlazy\n\n> b", &["> a\nlazy\n\n", "> b"]);
        check("| a |\n|---|\n| 1 |\n\nend", &["| a |\n|---|\n| 1 |\n\n", "end"]);
        check("   - a\n\n     b\n\nend", &["   - a\n\n     b\n\n", "end"]);
    }

    #[test]
    fn definitions_are_collected_when_they_are_closed() {
        let mut splitter = Splitter::default();
        let text = "see [x]\n\n[X]: https://example.com/a\n\nmore\n\nend";
        assert_eq!(splitter.advance(&text[..20], false).references, []);
        let closed = splitter.advance(text, false).references;
        assert_eq!(closed, [Reference { label: "x".into(), url: "https://example.com/a".into() }]);
    }

    /// Lines that meet each other in ways which matter, and arbitrary ones.
    fn markdown() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            8 => prop::sample::select(vec![
                "", "", "text *em* `code`", "# head", "- a", "  - b", "1. one", "2", "2. two", "   para", "    code", "> q", ">",
                "```", "~~~rust", "---", "===", "| a | b |", "|---|---|", "| 1 | 2 |", "<div>", "</div>", "<!--", "-->", "[x]: /u",
                "[x]", "* * *", "*", "+", "\\", "\tt", "&amp;", "- [ ] t", "   ", "10) x", "[y]:", "/u 'title", "é 漢",
            ]).prop_map(str::to_owned),
            1 => "[ -~]{0,8}",
        ];
        prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
    }

    /// What a parser makes of it; neighbouring texts are one.
    fn events(text: &str, into: &mut Vec<String>) {
        let broken = |_: pulldown_cmark::BrokenLink<'_>| Some(("/u".into(), "".into()));
        for event in Parser::new_with_broken_link_callback(text, OPTIONS, Some(broken)) {
            into.push(format!("{event:?}"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 512 } else { 20_000 }))]

        #[test]
        fn grown_is_the_same_as_whole(text in markdown(), ends in prop::collection::vec(0..200_usize, 0..12)) {
            let ends: Vec<usize> = ends.into_iter().map(|end| end.min(text.len())).collect();
            prop_assert_eq!(grown(&text, &ends), whole(&text));
        }

        #[test]
        fn blocks_render_alone_as_they_do_in_the_whole(text in markdown()) {
            // Link references are resolved on the side, see `Reference`.
            prop_assume!(!text.contains("]:"));
            let (mut alone, mut together) = (Vec::new(), Vec::new());
            events(&text, &mut together);
            for block in whole(&text) {
                events(&block, &mut alone);
            }
            prop_assert_eq!(alone, together);
        }
    }
}
