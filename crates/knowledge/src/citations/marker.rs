//! Finds citations in a text that arrives in pieces: `[S1]`, `[S1, S2]` and `[S1 "quoted words"]`, which models are
//! asked to write, and other forms that they write instead ([`group`](super::group)).

use super::group::{Beginning, Brackets, beginning};

/// The longest citation in bytes, with a link that follows it.
pub(super) const MAX_MARKER: usize = 600;
/// The most signs of emphasis around a citation.
const MAX_EMPHASIS: usize = 3;
/// A tag around a citation, and its end.
const SUPERSCRIPT: (&str, &str) = ("<sup>", "</sup>");

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text for the reader.
    Text(String),
    /// Citations in one pair of brackets.
    Markers(Group),
}

/// Citations in one pair of brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The citations in their order.
    pub(super) markers: Vec<Marker>,
    /// The text of brackets that may have another meaning, such as `(S3)` or `[S3 bucket]`. The reader sees
    /// it unless all sources are known.
    pub(super) text: Option<String>,
}

/// A citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// The number of the source.
    pub(super) number: u32,
    /// The words that it is cited for.
    pub(super) quote: Option<String>,
}

/// Reads a text. Characters that may become a citation are held back until that is decided.
#[derive(Debug, Default)]
pub(super) struct MarkerReader {
    held: String,
    /// The last character that was let through.
    last: Option<char>,
}

impl MarkerReader {
    /// Reads a piece.
    pub(super) fn push(&mut self, delta: &str) -> Vec<Piece> {
        self.held.push_str(delta);
        self.read(false)
    }

    /// Reads the rest at the end of the text.
    pub(super) fn finish(&mut self) -> Vec<Piece> {
        self.read(true)
    }

    fn read(&mut self, is_end: bool) -> Vec<Piece> {
        let mut pieces = Pieces { list: Vec::new(), text: String::new(), last: self.last };
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while let Some(at) = rest.find(['[', '【', '(']) {
            let (before, from) = rest.split_at(at);
            // The mark is put in the place of the space and the emphasis before it.
            let lead = Lead::before(before, pieces.last, from.starts_with('['));
            match beginning(from, lead.end_of_emphasis(), lead.escape > 0, is_end) {
                Beginning::Markers(Brackets { markers, length, is_certain, has_emphasis }) => {
                    let begin = before.len() - if has_emphasis { lead.length() } else { lead.without_emphasis() };
                    let text = (!is_certain).then(|| rest[begin..at + length].to_owned());
                    pieces.text(&before[..begin]);
                    pieces.group(Group { markers, text });
                    rest = &from[length..];
                }
                Beginning::Open => {
                    let kept = before.len() - lead.length();
                    pieces.text(&rest[..kept]);
                    self.held = rest[kept..].to_owned();
                    rest = "";
                    break;
                }
                Beginning::Text => {
                    let length = from.chars().next().map_or(0, char::len_utf8);
                    pieces.text(before);
                    pieces.text(&from[..length]);
                    rest = &from[length..];
                }
            }
        }
        // A space or an emphasis may be followed by a citation.
        let lead = Lead::before(rest, pieces.last, true);
        let kept = if is_end { rest.len() } else { rest.len() - lead.length().max(open_tag(rest)) };
        pieces.text(&rest[..kept]);
        if self.held.is_empty() {
            self.held = rest[kept..].to_owned();
        }
        self.last = pieces.last;
        pieces.finish()
    }
}

/// Collects pieces.
struct Pieces {
    list: Vec<Piece>,
    text: String,
    last: Option<char>,
}

impl Pieces {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
        self.last = text.chars().next_back().or(self.last);
    }

    fn group(&mut self, group: Group) {
        self.end_text();
        // The text after a citation begins a word, as after a space.
        self.last = None;
        self.list.push(Piece::Markers(group));
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.list.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Vec<Piece> {
        self.end_text();
        self.list
    }
}

/// Returns the length of the beginning of a tag at the end of a text, with the space before it.
fn open_tag(text: &str) -> usize {
    let (tag, _) = SUPERSCRIPT;
    let begun = (1..tag.len()).rev().find_map(|length| text.strip_suffix(&tag[..length]));
    begun.map_or(0, |before| text.len() - before.len() + usize::from(before.ends_with(' ')))
}

/// The text before a bracket that is removed with a citation: a space, emphasis around it, and a backslash that escapes
/// the bracket.
#[derive(Clone, Copy)]
struct Lead<'t> {
    space: usize,
    emphasis: &'t str,
    escape: usize,
}

impl<'t> Lead<'t> {
    /// Looks at the end of a text, which follows a character.
    fn before(text: &'t str, previous: Option<char>, may_escape: bool) -> Self {
        let unescaped = text.strip_suffix('\\').filter(|before| {
            // Behind another one, the backslash is escaped itself.
            may_escape && before.chars().next_back().or(previous) != Some('\\')
        });
        let (escape, text) = unescaped.map_or((0, text), |before| (1, before));
        if let Some(plain) = text.strip_suffix(SUPERSCRIPT.0) {
            return Self { space: usize::from(plain.ends_with(' ')), emphasis: SUPERSCRIPT.0, escape };
        }
        let plain = text.trim_end_matches(['*', '_', '`']);
        let emphasis = &text[plain.len()..];
        let first = emphasis.chars().next();
        let is_run = emphasis.len() <= MAX_EMPHASIS && emphasis.chars().all(|sign| Some(sign) == first);
        // Behind a word, it is the end of what is emphasised.
        let is_begin = plain.chars().next_back().or(previous).is_none_or(char::is_whitespace);
        let (plain, emphasis) = if is_run && is_begin { (plain, emphasis) } else { (text, "") };
        Self { space: usize::from(plain.ends_with(' ')), emphasis, escape }
    }

    /// Returns how the emphasis ends.
    fn end_of_emphasis(self) -> &'t str {
        if self.emphasis == SUPERSCRIPT.0 { SUPERSCRIPT.1 } else { self.emphasis }
    }

    /// Returns the length in bytes.
    fn length(self) -> usize {
        self.space + self.emphasis.len() + self.escape
    }

    /// Returns the length if the emphasis stays, before which the space stays, too.
    fn without_emphasis(self) -> usize {
        self.escape + if self.emphasis.is_empty() { self.space } else { 0 }
    }
}

/// Reads a text in pieces of about `size` bytes and as a whole; for fuzzing.
#[cfg(any(test, feature = "fuzz"))]
#[cfg_attr(not(feature = "fuzz"), expect(unreachable_pub, reason = "only fuzz targets reach it"))]
pub fn fuzz_markers(text: &str, size: usize) {
    let (mut in_pieces, mut whole) = (MarkerReader::default(), MarkerReader::default());
    let (mut read, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(size.clamp(1, rest.len())));
        read.extend(in_pieces.push(piece));
        assert!(
            in_pieces.held.len() <= MAX_MARKER + 1 + 2 * MAX_EMPHASIS,
            "{} bytes are held back",
            in_pieces.held.len()
        );
        rest = after;
    }
    read.extend(in_pieces.finish());
    let mut expected = whole.push(text);
    expected.extend(whole.finish());
    assert_eq!(joined(read), joined(expected), "{text:?} in pieces of {size}");
}

/// Joins neighboring texts, whose borders depend on how the text arrives.
#[cfg(any(test, feature = "fuzz"))]
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the text with markers as `<1>` and `<1 quote>`.
    fn read(deltas: &[&str]) -> String {
        let mut reader = MarkerReader::default();
        let mut pieces: Vec<_> = deltas.iter().flat_map(|delta| reader.push(delta)).collect();
        pieces.extend(reader.finish());
        let marker = |Marker { number, quote }| match quote {
            None => format!("<{number}>"),
            Some(quote) => format!("<{number} {quote}>"),
        };
        let shown = |piece: Piece| match piece {
            Piece::Text(text) => text,
            Piece::Markers(Group { markers, text }) => {
                let uncertain = if text.is_some() { "?" } else { "" };
                markers.into_iter().map(marker).chain([uncertain.to_owned()]).collect()
            }
        };
        pieces.into_iter().map(shown).collect()
    }

    #[test]
    fn markers_are_found() {
        let check = |text: &str, expected: &str| {
            assert_eq!(read(&[text]), expected, "{text}");
            let chars: Vec<String> = text.chars().map(String::from).collect();
            let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
            assert_eq!(read(&chars), expected, "{text}, one by one");
        };
        check("At night [S1].", "At night<1>.");
        check("At night[s12][S3]", "At night<12><3>");
        check("A [S1, S2; S3] b", "A<1><2><3> b");
        check("A [S1 \"at night\"].", "A<1 at night>.");
        check("A [S1: “at night”, S2].", "A<1 at night><2>.");
        check("A 【S4】", "A<4>");
        check("[x] [S] [Sx] [S1 [link](u) [1]", "[x] [S] [Sx] [S1 [link](u) [1]");
        check("A [S1", "A [S1");
        // Several sources, and ranges of them.
        check("A [S1–S3].", "A<1><2><3>.");
        check("A [S1-S2], [S4 to S5], [S1-3]", "A<1><2>,<4><5>,<1><2><3>");
        check("A [S9–S2] [S1–S99]", "A<9><2><1><99>");
        check("A [S1 and S2] [S1 S2]", "A<1><2><1><2>");
        // Where the words stand.
        check("A [S1, page 2] b [S1 p. 3] [S1 (line 3)] [S1: lines 3-4]", "A<1> b<1><1><1>");
        check("A [S1, introduction] 【S4†L1-L3】", "A<1><4>");
        // Quotations.
        check("A [S1, \"words\"] [S1 — \"words\"] [S1 «words»]", "A<1 words><1 words><1 words>");
        check("A [S1 \"The \"refund\" window\"]", "A<1 The \"refund\" window>");
        check("A [S1 'It's the seller's duty']", "A<1 It's the seller's duty>");
        check("A [S1 \"at [3] night\", page 2, S2 \"b\"]", "A<1 at [3] night><2 b>");
        check("A [S1 \"\"]", "A<1>");
        // Other brackets, links and emphasis.
        check("A [^S1] [Source: S1] [S1](#s1) [S1](https://a.example/x).", "A<1><1><1><1>.");
        check("A (Source: S1) (S1) (S1, page 2) (s)", "A<1><1>?<1>? (s)");
        check("A [[S1]] [[S1, S2]](u) [[S1] b] [[S1]", "A<1><1><2> [<1> b] [<1>");
        check("A [**S1**] [_S1_, `S2`] [s1*s2] [s1 *2] [S1**]", "A<1><1><2> [s1*s2] [s1 *2] [S1**]");
        check("A [cite: S1, S2] [Ref S1] [document S1] [id: S1]", "A<1><2><1><1><1>");
        check("A (cite: S1) (document S1) (see S1) [cited S1]", "A<1><1>?<1>? [cited S1]");
        check("A [refS1] (see S1 for more) [see below]", "A [refS1] (see S1 for more) [see below]");
        check("A **[S1]** *[S1]* `[S1]` **[S1] b**", "A<1><1><1> **<1> b**");
        check("A **b**[S1]**c**", "A **b**<1>**c**");
        // The name of a file or quoted words before the source.
        check(
            "A [refunds.md, S1] [source.pdf: S1, page 2] [refunds.md] [refunds.md, page 2]",
            "A<1>?<1>? [refunds.md] [refunds.md, page 2]",
        );
        check("A [v1.2 S1] [e.g. S1] [S1.p3, S2] [refunds.md S1](u)", "A [v1.2 S1] [e.g. S1]<1><2> [refunds.md S1](u)");
        check(
            "A [\"60 days\" S1] [“60 days”, S1, S2] [\"a\", \"b\"] [\"\" S1]",
            "A<1 60 days>?<1 60 days><2>? [\"a\", \"b\"]<1>?",
        );
        check("A [\"a [S1]\" S2] [\"a\nb\" S1]", "A [\"a<1>\" S2] [\"a\nb\" S1]");
        // Escaped brackets, and tags.
        check("A \\[S1\\] \\[S1, S2] \\\\[S1] [S1\\] \\(S1\\)", "A<1>?<1><2>? \\\\<1> [S1\\] \\(S1\\)");
        check("A \\[ S1 + x \\] \\[S_1\\]", "A \\[ S1 + x \\] \\[S_1\\]");
        check("A<sup>[S1]</sup> <sup>[S1, S2]</sup>. <sup>2</sup> a <su", "A<1><1><2>. <sup>2</sup> a <su");
        check("A <sup>[S1] b</sup> <sup>\\[S1\\]</sup> **\\[S1\\]**", "A <sup><1> b</sup><1>?<1>?");
        // Forms that may mean something else.
        check("[S3 bucket] [S3 bucket](u) [S3-compatible](u)", "<3>? [S3 bucket](u) [S3-compatible](u)");
        check("a[s1 + 1] (S1 is faster than S2) [S1](see there)", "a[s1 + 1] (S1 is faster than S2)<1>(see there)");
        check("(Source code) [Sources] [S1's] [S1\n]", "(Source code) [Sources] [S1's] [S1\n]");
        check("a  b ", "a  b ");
        check("[S99999999999]", "[S99999999999]");
        for end in ["", "\"]"] {
            let long = format!("[S1 \"{}{end}", "x".repeat(700));
            check(&long, &long);
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "([\\[\\]()S12\"', a*_.\\\\-]|</?sup>|【|】|Source|cite|id|“x{0,650}”){0,40}", size in 1_usize..20) {
            fuzz_markers(&text, size);
        }
    }
}
