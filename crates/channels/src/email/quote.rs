//! Finds the text of a mail that its sender has written: without the quoted mail and without the signature.

/// Beginnings and ends of the line before a quoted mail, as mail programs write it in some languages.
const ATTRIBUTIONS: [(&str, &str); 8] = [
    ("On ", "wrote:"),
    ("Am ", ":"),
    ("Le ", "a écrit :"),
    ("El ", "escribió:"),
    ("Il ", "ha scritto:"),
    ("Op ", "schreef:"),
    ("Den ", "skrev:"),
    ("W dniu ", "pisze:"),
];
/// Lines from which on a mail is quoted without marks.
const DIVIDERS: [&str; 3] =
    ["-----Original Message-----", "-----Ursprüngliche Nachricht-----", "________________________________"];
/// The first two lines of the head of a mail that Outlook quotes.
const HEADS: [(&str, &str); 4] = [("From:", "Sent:"), ("From:", "Date:"), ("Von:", "Gesendet:"), ("De :", "Envoyé :")];
/// Lines that phones and Outlook add.
const ADDED: [&str; 4] = ["Sent from my ", "Von meinem ", "Get Outlook for ", "Envoyé de mon "];
/// The beginnings of a quoted mail in the HTML of mail programs.
const HTML_QUOTES: [&str; 6] = [
    "<blockquote",
    "class=\"gmail_quote",
    "id=\"divrplyfwdmsg\"",
    "id=\"appendonsend\"",
    "class=\"moz-cite-prefix\"",
    "class=\"yahoo_quoted\"",
];
/// The maximum number of lines of the text that introduces a quoted mail.
const MAX_ATTRIBUTION: usize = 3;

/// Returns a plain text without its quotations.
pub(super) fn own_text(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let mut own: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if is_end(line, lines.get(at + 1).copied().unwrap_or_default()) {
            break;
        }
        if line.starts_with('>') {
            if at == 0 || !lines[at - 1].starts_with('>') {
                remove_attribution(&mut own);
            }
            continue;
        }
        if !ADDED.iter().any(|added| line.starts_with(added)) {
            own.push(line);
        }
    }
    own.join("\n").trim().to_owned()
}

/// Returns the beginning of a mail in HTML, before what it quotes.
pub(super) fn own_html(html: &str) -> &str {
    let lower = html.to_ascii_lowercase();
    let quote = HTML_QUOTES.iter().filter_map(|mark| lower.find(mark)).min();
    let Some(at) = quote else { return html };
    // The mark may be within a tag.
    let begin = html[..at].rfind('<').filter(|open| !html[*open..at].contains('>')).unwrap_or(at);
    &html[..begin]
}

/// Returns whether a line ends what the person has written.
fn is_end(line: &str, next: &str) -> bool {
    let trimmed = line.trim();
    let is_head = HEADS.iter().any(|(first, second)| {
        trimmed.trim_start_matches('*').starts_with(first) && next.trim().trim_start_matches('*').starts_with(second)
    });
    line == "-- " || trimmed == "--" || DIVIDERS.contains(&trimmed) || is_head || is_attribution(trimmed)
}

fn is_attribution(line: &str) -> bool {
    let is_one = |(begin, end): &(&str, &str)| line.starts_with(begin) && line.ends_with(end);
    // A sentence that ends with a colon has no address.
    ATTRIBUTIONS.iter().any(is_one) && line.contains('@')
}

/// Removes the lines before a quoted part that say whose it is: the last one ends with a colon.
fn remove_attribution(own: &mut Vec<&str>) {
    while own.last().is_some_and(|line| line.trim().is_empty()) {
        own.pop();
    }
    if !own.last().is_some_and(|line| line.trim_end().ends_with(':')) {
        return;
    }
    let length = own.iter().rev().take_while(|line| !line.trim().is_empty()).count();
    let joined: String = own[own.len() - length..].concat();
    let says_who = joined.contains('@') || joined.bytes().any(|sign| sign.is_ascii_digit());
    if length <= MAX_ATTRIBUTION && says_who {
        own.truncate(own.len() - length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_mails_and_signatures_are_cut_off() {
        let check = |text: &str, expected: &str| assert_eq!(own_text(text), expected, "{text:?}");
        check("Hi,\n\nyes.\n\n-- \nAda\nCorp", "Hi,\n\nyes.");
        check("Yes.\n\nOn Mon, 1 Jan 2026 at 10:00, Bot <bot@a.test> wrote:\n> Sure?\n> \n> Bot", "Yes.");
        check("Yes.\r\n\r\nOn Mon, 1 Jan 2026 at 10:00, Bot\r\n<bot@a.test> wrote:\r\n> Sure?\r\n", "Yes.");
        check("Ja.\n\nAm 01.01.2026 um 10:00 schrieb Bot <bot@a.test>:\n\nSicher?", "Ja.");
        check("> One?\nYes.\n> Two?\nNo.", "Yes.\nNo.");
        check("Look:\n> a quote of mine", "Look:");
        check("Yes.\n\n-----Original Message-----\nFrom: Bot\n", "Yes.");
        check("Yes.\n\nFrom: Bot <bot@a.test>\nSent: Monday\nSubject: x\n\nSure?", "Yes.");
        check("Yes.\n\nSent from my iPhone", "Yes.");
        check("On the other hand, I wrote:\nnothing", "On the other hand, I wrote:\nnothing");
        check("On Monday:\nnothing", "On Monday:\nnothing");
        check("", "");
    }

    #[test]
    fn quoted_mails_are_cut_off_in_html() {
        let check = |html: &str, expected: &str| assert_eq!(own_html(html), expected);
        check("<p>Yes</p><div class=\"gmail_quote\"><p>Sure?</p></div>", "<p>Yes</p>");
        check("<p>Yes</p><BLOCKQUOTE type=cite>Sure?</BLOCKQUOTE>", "<p>Yes</p>");
        check("<p>Yes</p><hr><div dir=\"ltr\" id=\"divRplyFwdMsg\">", "<p>Yes</p><hr>");
        check("<p>Yes</p>", "<p>Yes</p>");
    }
}
