//! Common code of messengers that write styles as markup within the text.

use super::{Entity, Rendered, parts};
use std::borrow::Cow;

/// Has no width. It separates marks that would be read as another mark beside each other.
pub(crate) const SEPARATOR: char = '\u{200b}';

/// Writes the marks of a messenger.
pub(crate) trait MarkWriter<'m> {
    /// Begins a style.
    fn open(&mut self, style: &'m Entity);
    /// Ends the style that was begun last.
    fn close(&mut self, style: &'m Entity);
    /// Writes a text that has these styles, all of which are open.
    fn text(&mut self, text: &str, styles: &[&'m Entity]);
}

/// Writes a message: styles are ended in the opposite order in which they were begun.
pub(crate) fn write_marks<'m>(message: &'m Rendered, writer: &mut impl MarkWriter<'m>) {
    let mut open: Vec<&'m Entity> = Vec::new();
    for (text, styles) in parts(message) {
        let is_same = |(one, other): &(&&Entity, &&Entity)| std::ptr::eq(**one, **other);
        let kept = open.iter().zip(&styles).take_while(is_same).count();
        open.drain(kept..).rev().for_each(|style| writer.close(style));
        for &style in &styles[kept..] {
            writer.open(style);
            open.push(style);
        }
        writer.text(&text, &styles);
    }
    open.drain(..).rev().for_each(|style| writer.close(style));
}

/// Returns the length of the address with which a text begins; 0 if it begins with none. Messengers read it as a link, with
/// all its characters.
pub(crate) fn address_length(text: &str) -> usize {
    if !text.starts_with("https://") && !text.starts_with("http://") {
        return 0;
    }
    text.find(|sign: char| sign.is_whitespace() || matches!(sign, '<' | '>' | '`')).unwrap_or(text.len())
}

/// Returns whether an address is one of the web, and not longer than `most` bytes.
pub(crate) fn is_web_address(url: &str, most: usize) -> bool {
    url.len() <= most && (url.starts_with("https://") || url.starts_with("http://"))
}

/// Returns the mark before and after a style in Markdown, if it has one.
pub(crate) fn style_mark(kind: &str) -> Option<&'static str> {
    match kind {
        "bold" => Some("**"),
        "italic" => Some("*"),
        "strikethrough" => Some("~~"),
        _ => None,
    }
}

/// Returns a text as code within a line.
pub(crate) fn code_span(text: &str) -> String {
    if text.contains('`') { format!("`` {} ``", without_fences(text)) } else { format!("`{text}`") }
}

/// Returns a code in which no two backticks, which would end it, follow each other.
pub(crate) fn without_fences(code: &str) -> Cow<'_, str> {
    if !code.contains("``") {
        return Cow::Borrowed(code);
    }
    let separated = format!("`{SEPARATOR}");
    Cow::Owned(code.replace('`', &separated))
}
