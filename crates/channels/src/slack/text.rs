//! The text of a message of a person: Slack marks links, mentions and special characters in it.

/// Returns the text without the mentions of the bot, and whether there are any. Links and mentions become what their
/// reader sees.
pub(super) fn read_text(text: &str, bot_id: &str) -> (String, bool) {
    let (mut read, mut is_mentioned, mut rest) = (String::with_capacity(text.len()), false, text);
    while let Some(at) = rest.find('<') {
        read.push_str(&unescape(&rest[..at]));
        let Some(length) = rest[at..].find('>') else {
            // Slack escapes the sign, so this is no mark.
            rest = &rest[at..];
            break;
        };
        let mark = &rest[at + 1..at + length];
        match mark.strip_prefix('@') {
            Some(person) if person.split('|').next() == Some(bot_id) => is_mentioned = true,
            _ => read.push_str(&shown(mark)),
        }
        rest = &rest[at + length + 1..];
    }
    read.push_str(&unescape(rest));
    (read.trim().to_owned(), is_mentioned)
}

/// Returns the visible text of markup: `#C1|general` is `#general`, `https://a.test|here` is `here (https://a.test)`.
fn shown(mark: &str) -> String {
    let (target, label) = mark.split_once('|').unwrap_or((mark, ""));
    let (target, label) = (unescape(target), unescape(label));
    match target.chars().next() {
        Some(sign @ ('@' | '#')) if !label.is_empty() => format!("{sign}{label}"),
        Some('@' | '#') => target,
        Some('!') => format!("@{}", if label.is_empty() { &target[1..] } else { label.trim_start_matches('@') }),
        _ if label.is_empty() || target.strip_prefix("mailto:") == Some(&label) || target.ends_with(&label) => target,
        _ => format!("{label} ({target})"),
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns a text without markup, which mentions no user, for any text of a model.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_converted_to_visible_text() {
        let check = |text: &str, expected: &str, is_mentioned: bool| {
            assert_eq!(read_text(text, "U1"), (expected.to_owned(), is_mentioned), "{text:?}");
        };
        check("<@U1> hello", "hello", true);
        check("hello <@U1|helper>", "hello", true);
        check("ask <@U2> or <@U3|eve>", "ask @U2 or @eve", false);
        check("in <#C1|general>, <!here>, <!subteam^S1|@team>", "in #general, @here, @team", false);
        check("see <https://a.test/?a=1&amp;b=2>", "see https://a.test/?a=1&b=2", false);
        check(
            "<https://a.test|here> <mailto:a@b.test|a@b.test> <http://b.test|b.test>",
            "here (https://a.test) mailto:a@b.test http://b.test",
            false,
        );
        check("1 &lt; 2 &amp;amp; 3", "1 < 2 &amp; 3", false);
        check("open <", "open <", false);
        check("<>", "", false);
    }

    #[test]
    fn escaped_text_contains_no_markup() {
        let check = |text: &str| {
            let escaped = escape(text);
            assert!(!escaped.contains(['<', '>']), "{escaped}");
            assert_eq!(read_text(&escaped, "U1"), (text.to_owned(), false));
        };
        check("<!channel> & <@U1> &lt;!here&gt;");
        check("a < b > c && d");
    }
}
