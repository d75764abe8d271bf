//! Splits a text with styles into messages within the limits of a messenger, between paragraphs or lines where that is
//! possible, and never within a link or a character. A block of code that is longer than a message is
//! several blocks.

use super::render::{Run, Style};
use crate::{discord, feishu};
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// The length limits of a messenger's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest text, in UTF-16 code units, or as the markup counts.
    pub(crate) units: usize,
    /// The most styles.
    pub(crate) entities: usize,
    /// The form of the styles.
    pub(crate) markup: Markup,
}

/// The form of styles in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markup {
    /// Beside the text, which they do not make longer.
    Beside,
    /// Within the text, as Discord's Markdown.
    Discord,
    /// Within the text, as the Markdown of Feishu's cards. Its length is in bytes of the request that sends it.
    Feishu,
}

impl Markup {
    /// Returns how long the marks around a part with a style are at most.
    fn around(self, style: &Style) -> usize {
        match self {
            Self::Beside => 0,
            Self::Discord => discord::length_around(style),
            Self::Feishu => feishu::length_around(style),
        }
    }

    /// Returns how long a character is at most where it is shown with a style.
    pub(crate) fn length(self, sign: char, style: &Style) -> usize {
        match self {
            Self::Beside => sign.len_utf16(),
            Self::Discord => discord::escaped_length(sign, style),
            Self::Feishu => feishu::escaped_length(sign, style),
        }
    }
}

impl Limits {
    /// Returns whether a message is short enough.
    pub(crate) fn fits(self, message: &Rendered) -> bool {
        let length = match self.markup {
            Markup::Beside => units(&message.text),
            Markup::Discord => units(&discord::markup(message)),
            Markup::Feishu => feishu::sent_length(&feishu::markup(message)),
        };
        length <= self.units
    }
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// The styles, by their beginnings.
    pub(crate) entities: Vec<Entity>,
}

impl Rendered {
    /// Returns a text without styles.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), entities: Vec::new() }
    }
}

/// A style of a part of a text. Offset and length are in UTF-16 code units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entity {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) offset: usize,
    pub(crate) length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) language: Option<Arc<str>>,
}

impl Entity {
    fn end(&self) -> usize {
        self.offset + self.length
    }
}

/// Splits runs into messages. There is none if there is nothing to see.
pub(crate) fn split(runs: &[Run], limits: Limits) -> Vec<Rendered> {
    let text = Flat::new(runs);
    let mut messages = Vec::new();
    let mut from = text.skip_breaks(0);
    while from < text.all.len() {
        let to = text.cut(from, limits);
        let shown = from..from + text.all[from..to].trim_end().len();
        if !text.all[shown.clone()].trim().is_empty() {
            messages.push(text.message(shown));
        }
        from = text.skip_breaks(to);
    }
    messages
}

/// The runs as one text.
struct Flat<'r> {
    all: String,
    /// The positions of the runs, in bytes.
    runs: Vec<(Range<usize>, &'r Style)>,
}

impl<'r> Flat<'r> {
    fn new(runs: &'r [Run]) -> Self {
        let mut flat = Self { all: String::new(), runs: Vec::new() };
        for run in runs {
            let from = flat.all.len();
            flat.all.push_str(&run.text);
            flat.runs.push((from..flat.all.len(), &run.style));
        }
        flat
    }

    /// Returns the position after line breaks.
    fn skip_breaks(&self, at: usize) -> usize {
        at + (self.all[at..].len() - self.all[at..].trim_start_matches(['\n', '\r']).len())
    }

    /// Returns where the message ends that begins at `from`.
    fn cut(&self, from: usize, limits: Limits) -> usize {
        let limit = self.limit(from, limits);
        if limit == self.all.len() {
            return limit;
        }
        let window = &self.all[from..limit];
        // The last place of each kind that does not leave the message half empty, the best kind first.
        let half = from + window.len() / 2;
        let last = |text: &str, is_good: &dyn Fn(&Style) -> bool| {
            let mut places = window.rmatch_indices(text).map(|(at, found)| from + at + found.len());
            places.find(|place| *place < limit + 1 && *place > from && is_good(self.style_before(*place)))
        };
        let is_plain = |style: &Style| style.block.is_none() && style.link.is_none();
        let best = last("\n\n", &is_plain).filter(|at| *at > half);
        let best = best.or_else(|| last("\n", &is_plain).filter(|at| *at > half));
        let best = best.or_else(|| last("\n", &|style| style.link.is_none()).filter(|at| *at > half));
        let best = best.or_else(|| last(" ", &|style| is_plain(style) && !style.code));
        let best = best.or_else(|| last(" ", &|style| style.link.is_none()));
        best.unwrap_or_else(|| self.before_link(from, limit))
    }

    /// Returns how far a message reaches that begins at `from`, by its length and the number of its styles.
    fn limit(&self, from: usize, limits: Limits) -> usize {
        let end = self.end_by_length(from, limits);
        let (mut entities, mut before) = (0, Vec::new());
        for (range, style) in self.runs_from(from).take_while(|(range, _)| range.start < end) {
            let kinds = kinds(style);
            // At most as many as in `message`, where a style that continues is one unless another one ends.
            let goes_on = kinds == before && kinds.iter().all(|kind| kind.0 != "pre");
            entities += if goes_on { 0 } else { kinds.len() };
            if entities > limits.entities && range.start > from {
                return range.start;
            }
            before = kinds;
        }
        end
    }

    /// Returns how far a message reaches that begins at `from`, by its length.
    fn end_by_length(&self, from: usize, limits: Limits) -> usize {
        let mut length = 0;
        for (range, style) in self.runs_from(from) {
            length += limits.markup.around(style);
            let begin = range.start.max(from);
            for (at, sign) in self.all[begin..range.end].char_indices() {
                length += limits.markup.length(sign, style);
                // A message has at least one character.
                if length > limits.units && begin + at > from {
                    return begin + at;
                }
            }
        }
        self.all.len()
    }

    /// Returns the runs from the one at a position on.
    fn runs_from(&self, at: usize) -> impl Iterator<Item = &(Range<usize>, &'r Style)> {
        self.runs[self.runs.partition_point(|(range, _)| range.end <= at)..].iter()
    }

    /// Returns the beginning of the link that reaches over `limit`, unless the message begins with it.
    fn before_link(&self, from: usize, limit: usize) -> usize {
        let (range, style) = self.run_before(limit);
        let is_within = style.link.is_some() && range.end > limit && range.start > from;
        if is_within { range.start } else { limit }
    }

    fn run_before(&self, at: usize) -> (&Range<usize>, &Style) {
        let index = self.runs.partition_point(|(range, _)| range.end < at);
        let (range, style) = &self.runs[index.min(self.runs.len() - 1)];
        (range, style)
    }

    fn style_before(&self, at: usize) -> &Style {
        self.run_before(at).1
    }

    /// Returns the message of a part of the text.
    fn message(&self, part: Range<usize>) -> Rendered {
        let text = self.all[part.clone()].to_owned();
        let mut entities: Vec<Entity> = Vec::new();
        for (range, style) in self.runs_from(part.start).take_while(|(range, _)| range.start < part.end) {
            let (from, to) = (range.start.max(part.start), range.end.min(part.end));
            if from >= to {
                continue;
            }
            let offset = units(&self.all[part.start..from]);
            let length = units(&self.all[from..to]);
            for (kind, url, language) in kinds(style) {
                let entity = Entity { kind, offset, length, url, language };
                // A style that continues over several runs is one, unless another one ends here in which it began:
                // entities may contain each other, but not overlap.
                let goes_on = |last: &Entity| {
                    let ends_here = |other: &Entity| {
                        other.offset < last.offset && last.offset < other.end() && other.end() == offset
                    };
                    last.kind == kind
                        && last.url == entity.url
                        && last.end() == offset
                        && kind != "pre"
                        && !entities.iter().any(ends_here)
                };
                match entities.iter().rposition(goes_on) {
                    Some(last) => entities[last].length += length,
                    None => entities.push(entity),
                }
            }
        }
        // Outer styles come first.
        entities.sort_by(|one, other| (one.offset, other.length).cmp(&(other.offset, one.length)));
        Rendered { text, entities }
    }
}

type Kind = (&'static str, Option<Arc<str>>, Option<Arc<str>>);

/// Returns the kinds of entities of a style, the outer ones first.
fn kinds(style: &Style) -> Vec<Kind> {
    if let Some(language) = &style.block {
        return vec![("pre", None, Some(language.clone()).filter(|name| !name.is_empty()))];
    }
    let flags = [
        (style.quote, "blockquote"),
        (style.bold, "bold"),
        (style.italic, "italic"),
        (style.strikethrough, "strikethrough"),
        (style.code, "code"),
    ];
    let mut kinds: Vec<Kind> = flags.iter().filter(|(is_on, _)| *is_on).map(|(_, kind)| (*kind, None, None)).collect();
    kinds.extend(style.link.clone().map(|url| ("text_link", Some(url), None)));
    kinds
}

/// Returns a message with a block of code below a heading, both as they are.
pub(crate) fn code_message(heading: &str, code: &str) -> Rendered {
    let offset = units(heading) + 2;
    let entity = Entity { kind: "pre", offset, length: units(code), url: None, language: None };
    Rendered { text: format!("{heading}\n\n{code}"), entities: vec![entity] }
}

/// Returns the length of a text in UTF-16 code units.
pub(crate) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod valid;
