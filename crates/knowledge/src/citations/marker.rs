//! Finds markers such as `[S1]`, `[S1, S2]` and `[S1 "quoted words"]` in a text that arrives in pieces.

/// The longest marker in bytes.
const MAX_MARKER: usize = 600;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text for the reader.
    Text(String),
    /// A citation.
    Marker(Marker),
}

/// A citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// The number of the source.
    pub(super) number: u32,
    /// The words that it is cited for.
    pub(super) quote: Option<String>,
}

/// Reads a text. What may become a marker is held back until it is known.
#[derive(Debug, Default)]
pub(super) struct MarkerReader {
    held: String,
}

/// What the beginning of a text is.
enum Beginning {
    /// Markers, of this many bytes.
    Markers(Vec<Marker>, usize),
    /// It may become a marker.
    Open,
    Text,
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
        let mut pieces = Vec::new();
        let mut text = String::new();
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while let Some(at) = rest.find(['[', '【']) {
            let (before, from) = rest.split_at(at);
            match beginning(from) {
                Beginning::Markers(markers, length) => {
                    // The mark is put in the place of the space before it.
                    text.push_str(before.strip_suffix(' ').unwrap_or(before));
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.extend(markers.into_iter().map(Piece::Marker));
                    rest = &from[length..];
                }
                Beginning::Open if !is_end => {
                    let kept = before.len() - usize::from(before.ends_with(' '));
                    text.push_str(&rest[..kept]);
                    rest = &rest[kept..];
                    self.held = rest.to_owned();
                    rest = "";
                    break;
                }
                Beginning::Open | Beginning::Text => {
                    let length = from.chars().next().map_or(0, char::len_utf8);
                    text.push_str(before);
                    text.push_str(&from[..length]);
                    rest = &from[length..];
                }
            }
        }
        // A space may be followed by a marker.
        let kept = if is_end { rest.len() } else { rest.len() - usize::from(rest.ends_with(' ')) };
        text.push_str(&rest[..kept]);
        if self.held.is_empty() {
            self.held = rest[kept..].to_owned();
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        pieces
    }
}

/// Reads a text that begins with a bracket.
fn beginning(text: &str) -> Beginning {
    let mut scan = Scan { rest: text };
    let closing = if scan.take("[") { ']' } else { '】' };
    if closing == '】' && !scan.take("【") {
        return Beginning::Text;
    }
    let mut markers = Vec::new();
    loop {
        scan.spaces();
        if scan.rest.is_empty() {
            return open(text);
        }
        if !scan.take("S") && !scan.take("s") {
            return Beginning::Text;
        }
        let digits = scan.rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = scan.rest[..digits].to_owned();
        scan.rest = &scan.rest[digits..];
        if scan.rest.is_empty() && digits <= 9 {
            return open(text);
        }
        let Ok(number) = number.parse() else { return Beginning::Text };
        scan.spaces();
        let quote = match scan.quote() {
            Quote::None => None,
            Quote::Whole(quote) => Some(quote),
            Quote::Open => return open(text),
        };
        markers.push(Marker { number, quote });
        scan.spaces();
        if scan.rest.is_empty() {
            return open(text);
        }
        if scan.take(closing.encode_utf8(&mut [0; 4])) {
            let length = text.len() - scan.rest.len();
            // However it arrives, the same is a marker: what is held back is never longer.
            return if length <= MAX_MARKER { Beginning::Markers(markers, length) } else { Beginning::Text };
        }
        if !scan.take(",") && !scan.take(";") {
            return Beginning::Text;
        }
    }
}

/// What is too long is no marker.
fn open(text: &str) -> Beginning {
    if text.len() <= MAX_MARKER { Beginning::Open } else { Beginning::Text }
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
        assert!(in_pieces.held.len() <= MAX_MARKER + 1, "{} bytes are held back", in_pieces.held.len());
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

struct Scan<'t> {
    rest: &'t str,
}

enum Quote {
    None,
    Whole(String),
    Open,
}

impl Scan<'_> {
    fn take(&mut self, begin: &str) -> bool {
        let rest = self.rest.strip_prefix(begin);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', ':']);
    }

    /// Reads words in quotation marks.
    fn quote(&mut self) -> Quote {
        let Some(begin) = self.rest.chars().next().filter(|char| ['"', '“', '„', '\''].contains(char)) else {
            return Quote::None;
        };
        let ends: &[char] = match begin {
            '\'' => &['\''],
            _ => &['"', '”', '“'],
        };
        let inner = &self.rest[begin.len_utf8()..];
        let Some(end) = inner.find(ends) else { return Quote::Open };
        let quote = inner[..end].to_owned();
        let mark = inner[end..].chars().next().map_or(0, char::len_utf8);
        self.rest = &self.rest[begin.len_utf8() + end + mark..];
        Quote::Whole(quote)
    }
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
        let shown = |piece: Piece| match piece {
            Piece::Text(text) => text,
            Piece::Marker(Marker { number, quote: None }) => format!("<{number}>"),
            Piece::Marker(Marker { number, quote: Some(quote) }) => format!("<{number} {quote}>"),
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
        check("a  b ", "a  b ");
        check("[S99999999999]", "[S99999999999]");
        for end in ["", "\"]"] {
            let long = format!("[S1 \"{}{end}", "x".repeat(700));
            check(&long, &long);
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "([\\[\\]S1\", a]|【|】|“x{0,650}”){0,40}", size in 1_usize..20) {
            fuzz_markers(&text, size);
        }
    }
}
