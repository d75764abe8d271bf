//! Where the words of a quote stand in a text.

use std::ops::Range;

/// A character of a text without what does not count, and the bytes that it stands for.
type PlainChar = (char, Range<usize>);

/// Returns the range of bytes of a text where a quote stands. White space, case, the form of quotation marks and an
/// ellipsis at the end of the quote do not count.
pub(in crate::libraries) fn quote_range(text: &str, quote: &str) -> Option<Range<usize>> {
    let wanted: Vec<char> =
        plain(quote.trim().trim_end_matches('…').trim_end()).into_iter().map(|(char, _)| char).collect();
    let text = plain(text);
    if wanted.is_empty() {
        return None;
    }
    let is_here = |window: &[PlainChar]| window.iter().map(|(char, _)| char).eq(&wanted);
    let at = text.windows(wanted.len()).position(is_here)?;
    Some(text[at].1.start..text[at + wanted.len() - 1].1.end)
}

/// Returns the ranges of a quote in the parts of a text. Small parts are found as one passage, so that its
/// paragraphs may stand in several parts: then these are looked for from the part `first` on.
pub(in crate::libraries) fn quote_ranges(parts: &[&str], first: Option<usize>, quote: &str) -> Vec<Vec<Range<usize>>> {
    let mut found = vec![Vec::new(); parts.len()];
    let from = first.unwrap_or_default().min(parts.len());
    let order = (from..parts.len()).chain(0..from);
    for at in order {
        if let Some(range) = quote_range(parts[at], quote) {
            found[at].push(range);
            return found;
        }
    }
    let (Some(_), paragraphs) = (first, quote.split("\n\n").collect::<Vec<_>>()) else { return found };
    let mut at = from;
    for paragraph in paragraphs {
        let next = (at..parts.len()).find_map(|part| {
            // Paragraphs follow each other.
            let behind = found[part].last().map_or(0, |last: &Range<usize>| last.end);
            let range = quote_range(&parts[part][behind..], paragraph)?;
            Some((part, range.start + behind..range.end + behind))
        });
        let Some((part, range)) = next else { break };
        found[part].push(range);
        at = part;
    }
    found
}

fn plain(text: &str) -> Vec<PlainChar> {
    let mut plain: Vec<PlainChar> = Vec::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        let range = at..at + char.len_utf8();
        if char.is_whitespace() {
            match plain.last_mut() {
                Some((' ', space)) => space.end = range.end,
                _ => plain.push((' ', range)),
            }
            continue;
        }
        let char = match char {
            '“' | '”' | '„' => '"',
            '’' | '‘' => '\'',
            char => char,
        };
        plain.extend(char.to_lowercase().map(|char| (char, range.clone())));
    }
    plain
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_are_found_without_regard_to_white_space_and_case() {
        let check = |text: &str, quote: &str, expected: Option<&str>| {
            assert_eq!(quote_range(text, quote).map(|range| &text[range]), expected, "{quote}");
        };
        check("The pumps run\nat  night.", "PUMPS run at", Some("pumps run\nat"));
        check("He says “no”.", "says \"no\"", Some("says “no”"));
        check("The pumps run at night.", " The pumps run…", Some("The pumps run"));
        check("İstanbul", "istanbul", None);
        check("The pumps run.", "valves", None);
        check("The pumps run.", " … ", None);
        check("", "pumps", None);
    }

    #[test]
    fn paragraphs_of_a_quote_may_stand_in_several_parts() {
        let check = |first: Option<usize>, quote: &str, expected: &[&[&str]]| {
            let parts = ["Day", "# Pumps\n\nNight", "Day\n\nDay"];
            let found = quote_ranges(&parts, first, quote);
            let texts = found
                .into_iter()
                .zip(parts)
                .map(|(ranges, text)| ranges.into_iter().map(|range| &text[range]).collect::<Vec<_>>());
            assert_eq!(texts.collect::<Vec<_>>(), expected, "{quote}");
        };
        check(Some(1), "Night\n\nDay", &[&[], &["Night"], &["Day"]]);
        check(Some(1), "Night\n\nDay\n\nDay…", &[&[], &["Night"], &["Day", "Day"]]);
        check(Some(2), "Night", &[&[], &["Night"], &[]]);
        check(None, "Night\n\nDay", &[&[], &[], &[]]);
        check(Some(0), "Nothing", &[&[], &[], &[]]);
    }

    proptest! {
        #[test]
        fn quotes_of_a_text_are_found(text in "[a-zA-ZİßΣ “’\n.]{0,60}", from in 0_usize..60, length in 1_usize..20) {
            let quote: String = text.chars().skip(from).take(length).collect();
            let range = quote_range(&text, &quote);
            prop_assert!(quote.trim().is_empty() || range.is_some_and(|range| text.get(range).is_some()));
        }
    }
}
