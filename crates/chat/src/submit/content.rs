//! The parts of a submitted message that are kept: the user's own text and files.

use wire::api::MessageMetadata;
use wire::{Role, TextPart, UiMessage, UiPart};

/// The maximum length of a title in characters.
const MAX_TITLE: usize = 60;

fn plain_text(part: &UiPart) -> Option<UiPart> {
    match part {
        UiPart::Text(text) if !text.text.is_empty() => {
            Some(UiPart::Text(TextPart { text: text.text.clone(), ..TextPart::default() }))
        }
        _ => None,
    }
}

/// Keeps only the text and the files of a user's message.
pub(crate) fn sanitized(message: &UiMessage) -> UiMessage {
    let part = |part: &UiPart| match part {
        UiPart::File(file) => Some(UiPart::File(file.clone())),
        part => plain_text(part),
    };
    UiMessage {
        parts: message.parts.iter().filter_map(part).collect(),
        ..UiMessage::new(message.id.clone(), Role::User)
    }
}

/// Returns the metadata of a message that is created now.
pub(crate) fn created_now() -> Option<serde_json::Value> {
    serde_json::to_value(MessageMetadata { created_at: Some(crate::now()), ..MessageMetadata::default() }).ok()
}

/// Returns the first words of a message.
pub(crate) fn title_from(message: &UiMessage) -> String {
    let text = message.text();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "New conversation".to_owned();
    }
    shortened(&line, MAX_TITLE)
}

/// Shortens a line to this number of characters, at the end of a word if there is one.
pub(crate) fn shortened(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let cut: String = line.chars().take(most).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{words}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_shortened_at_words() {
        let check = |text: &str, expected: &str| assert_eq!(title_from(&UiMessage::user("m", text)), expected);
        check("Hello", "Hello");
        check("  two\n\nlines  ", "two lines");
        check("", "New conversation");
        let long = "The quick brown fox jumps over the lazy dog and then runs away into the woods";
        check(long, "The quick brown fox jumps over the lazy dog and then runs…");
        check(&"x".repeat(80), &format!("{}…", "x".repeat(60)));
    }
}
