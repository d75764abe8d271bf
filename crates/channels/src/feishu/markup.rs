//! Messages as the Markdown of Feishu's cards (CommonMark with some tags). Everything that would be read as a mark, a tag
//! or an emoji is escaped, so that a text shows as it was meant and notifies nobody, whatever a model has written.

use crate::markdown::{
    Entity, MarkWriter, Rendered, SEPARATOR, Style, address_length, code_span, is_web_address, style_mark,
    without_fences, write_marks,
};

/// The longest address that becomes a link, in bytes. A text with a longer one is shown without.
const MAX_URL: usize = 2_000;
/// A line break. One in the text may be ignored.
const BREAK: &str = "<br>";
/// Stands for two spaces at the beginning of a line, which would be ignored, or make the line code.
const INDENT: char = '\u{2003}';

/// Returns how long the marks around a part with a style are at most, in bytes of the request.
pub(crate) fn length_around(style: &Style) -> usize {
    // Each mark with a separator before and after, of three bytes.
    let marks = [(style.bold, 16), (style.italic, 14), (style.strikethrough, 16), (style.code, 9), (style.quote, 8)];
    let marks: usize = marks.iter().filter(|(is_on, _)| *is_on).map(|(_, length)| length).sum();
    let block = style.block.as_ref().map_or(0, |language| language.len() + 21);
    let link = style.link.as_deref().filter(|url| is_shown(url)).map_or(0, |url| sent_length(&destination(url)) + 4);
    marks + block + link
}

/// Returns how long a character with a style is at most, in bytes of the request.
pub(crate) fn escaped_length(sign: char, style: &Style) -> usize {
    if style.block.is_some() || style.code {
        return if sign == '`' { 4 } else { sent(sign) };
    }
    match sign {
        '\n' => BREAK.len(),
        // As an indent.
        ' ' => 2,
        '\t' => 6,
        sign => escaped(sign).or_else(|| escaped_in_place(sign)).map_or_else(|| sent(sign), str::len),
    }
}

/// Returns the length of a text in bytes of the request that sends it: a card is JSON within JSON.
pub(crate) fn sent_length(text: &str) -> usize {
    text.chars().map(sent).sum()
}

fn sent(sign: char) -> usize {
    match sign {
        '"' | '\\' => 4,
        '\n' | '\t' | '\r' | '\u{8}' | '\u{c}' => 3,
        sign if sign < ' ' => 7,
        sign => sign.len_utf8(),
    }
}

/// Returns a message as the Markdown of a card.
pub(crate) fn markup(message: &Rendered) -> String {
    let mut writer = Writer::default();
    write_marks(message, &mut writer);
    writer.out.truncate(writer.out.trim_end_matches('\n').len());
    writer.out
}

/// Returns how a character is written that would be a mark anywhere.
fn escaped(sign: char) -> Option<&'static str> {
    Some(match sign {
        '&' => "&#38;",
        '<' => "&#60;",
        '>' => "&#62;",
        '*' => "&#42;",
        '_' => "&#95;",
        '~' => "&#126;",
        '`' => "&#96;",
        '[' => "&#91;",
        ']' => "&#93;",
        '\\' => "&#92;",
        '|' => "&#124;",
        '$' => "&#36;",
        _ => return None,
    })
}

/// Returns how a character is written where it would be a mark: at the beginning of a line, after the number with which a
/// line begins, or around the name of an emoji.
fn escaped_in_place(sign: char) -> Option<&'static str> {
    Some(match sign {
        '#' => "&#35;",
        '-' => "&#45;",
        '+' => "&#43;",
        '=' => "&#61;",
        '.' => "&#46;",
        ')' => "&#41;",
        ':' => "&#58;",
        _ => return None,
    })
}

#[derive(Default)]
struct Writer {
    out: String,
    /// Whether a style has just begun.
    is_begun: bool,
    /// Whether the line is a quote.
    is_quote: bool,
}

impl<'m> MarkWriter<'m> for Writer {
    fn open(&mut self, style: &'m Entity) {
        if style.kind == "blockquote" {
            self.begin_quote();
        } else if let Some(mark) = style_mark(style.kind) {
            self.separate_from(mark);
            self.out.push_str(mark);
            self.is_begun = true;
        } else if target(style).is_some() {
            self.out.push('[');
        }
    }

    fn close(&mut self, style: &'m Entity) {
        if let Some(mark) = style_mark(style.kind) {
            // A mark behind a space or a punctuation does not end a style.
            if !self.out.ends_with(char::is_alphanumeric) {
                self.out.push(SEPARATOR);
            }
            self.out.push_str(mark);
        } else if let Some(url) = target(style) {
            self.out.push_str("](");
            self.out.push_str(&destination(url));
            self.out.push(')');
        }
        self.is_begun = false;
    }

    fn text(&mut self, text: &str, styles: &[&'m Entity]) {
        let has = |kind: &str| styles.iter().find(|style| style.kind == kind);
        // A mark before a space or a punctuation does not begin a style.
        if std::mem::take(&mut self.is_begun) && !text.starts_with(char::is_alphanumeric) {
            self.out.push(SEPARATOR);
        }
        if let Some(block) = has("pre") {
            self.block(text, block.language.as_deref().unwrap_or_default());
        } else if has("code").is_some() {
            self.separate_from("`");
            self.out.push_str(&code_span(text));
        } else {
            self.plain(text, styles.iter().any(|style| target(style).is_some()));
        }
    }
}

impl Writer {
    /// Separates a mark from the same one before it.
    fn separate_from(&mut self, mark: &str) {
        if mark.chars().next().is_some_and(|first| self.out.ends_with(first)) {
            self.out.push(SEPARATOR);
        }
    }

    /// Begins a paragraph, unless one has just begun.
    fn begin_paragraph(&mut self) {
        while self.out.ends_with(BREAK) {
            self.out.truncate(self.out.len() - BREAK.len());
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push_str("\n\n");
        }
        self.is_quote = false;
    }

    fn begin_quote(&mut self) {
        // Behind the mark of an item, there is none.
        if !self.is_quote && self.is_line_start() {
            self.begin_paragraph();
            self.out.push_str("> ");
            self.is_quote = true;
        }
    }

    fn block(&mut self, text: &str, language: &str) {
        self.begin_paragraph();
        self.out.push_str("```");
        self.out.push_str(language);
        self.out.push('\n');
        self.out.push_str(&without_fences(text));
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str("```\n");
    }

    fn plain(&mut self, text: &str, is_link: bool) {
        let mut rest = text;
        while let Some(sign) = rest.chars().next() {
            let address = if is_link { 0 } else { address_length(rest) };
            let length = match sign {
                _ if address > 0 => self.address(&rest[..address]),
                '\n' => self.breaks(rest),
                ' ' | '\t' if self.is_line_start() => self.indent(rest),
                sign if sign.is_ascii_digit() && self.is_line_start() => self.number(rest),
                sign => self.sign(sign, rest),
            };
            rest = &rest[length..];
        }
    }

    fn is_line_start(&self) -> bool {
        self.out.is_empty() || [BREAK, "\n", "> "].iter().any(|before| self.out.ends_with(before))
    }

    /// Writes an address, which is read as a link with all its characters. Returns its length.
    fn address(&mut self, address: &str) -> usize {
        for sign in address.chars() {
            match escaped(sign).filter(|_| !matches!(sign, '_' | '&' | '$')) {
                Some(escaped) => self.out.push_str(escaped),
                None => self.out.push(sign),
            }
        }
        address.len()
    }

    /// Writes the line breaks with which a text begins. Returns their number.
    fn breaks(&mut self, text: &str) -> usize {
        let count = text.len() - text.trim_start_matches('\n').len();
        match count {
            _ if self.out.is_empty() || self.out.ends_with('\n') => {}
            1 => self.out.push_str(BREAK),
            _ => self.begin_paragraph(),
        }
        count
    }

    /// Writes the white space with which a line begins. Returns its length.
    fn indent(&mut self, text: &str) -> usize {
        let rest = text.trim_start_matches([' ', '\t']);
        let indent = &text[..text.len() - rest.len()];
        let width: usize = indent.chars().map(|sign| if sign == '\t' { 4 } else { 1 }).sum();
        self.out.extend(std::iter::repeat_n(INDENT, width / 2));
        if width % 2 == 1 && width > 1 {
            self.out.push(' ');
        }
        indent.len()
    }

    /// Writes the number with which a line begins, so that it does not begin a list. Returns the length of what was written.
    fn number(&mut self, text: &str) -> usize {
        let digits = text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        self.out.push_str(&text[..digits]);
        match text[digits..].chars().next().filter(|after| matches!(after, '.' | ')')).and_then(escaped_in_place) {
            Some(escaped) => {
                self.out.push_str(escaped);
                digits + 1
            }
            None => digits,
        }
    }

    /// Writes the character with which a text begins. Returns its length.
    fn sign(&mut self, sign: char, text: &str) -> usize {
        let is_mark = match sign {
            '#' | '-' | '+' | '=' => self.is_line_start(),
            ':' => text[1..].starts_with(|after: char| after.is_ascii_alphanumeric()),
            _ => false,
        };
        match escaped(sign).or_else(|| escaped_in_place(sign).filter(|_| is_mark)) {
            Some(escaped) => self.out.push_str(escaped),
            None if sign.is_control() => self.out.push(' '),
            None => self.out.push(sign),
        }
        sign.len_utf8()
    }
}

/// Returns the address of a link that Feishu opens.
fn target(style: &Entity) -> Option<&str> {
    style.url.as_deref().filter(|url| is_shown(url))
}

fn is_shown(url: &str) -> bool {
    is_web_address(url, MAX_URL)
}

/// Returns an address as the destination of a link.
fn destination(url: &str) -> String {
    let mut destination = String::with_capacity(url.len());
    for sign in url.chars() {
        match sign {
            '(' => destination.push_str("%28"),
            ')' => destination.push_str("%29"),
            '\\' => destination.push_str("%5C"),
            '<' => destination.push_str("%3C"),
            '>' => destination.push_str("%3E"),
            sign if sign.is_whitespace() || sign.is_control() => destination.push_str("%20"),
            sign => destination.push(sign),
        }
    }
    destination
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::messages;
    use crate::messenger::Messenger;
    use insta::assert_snapshot;

    fn check(markdown: &str) -> String {
        let sent = messages(markdown, Messenger::Feishu.limits());
        let shown: Vec<_> = sent.iter().map(|message| markup(message).replace(SEPARATOR, "¦")).collect();
        shown.join("\n----\n")
    }

    #[test]
    fn styles_become_marks_and_everything_else_is_escaped() {
        assert_snapshot!(check("# Refunds\n\nWithin **30 *days***, see [the `rules`](https://a.test/r_(1)) or `§ 3`.\n\n> So it\n> is.\n\n```rust\nfn f() {}\n```\n~~End~~"), @r"
        **Refunds**

        Within **30 *days*¦**, see [the rules](https://a.test/r_%281%29) or `§ 3`.

        > So it<br>is.

        ```rust
        fn f() {}
        ```
        ~~End~~
        ");
        assert_snapshot!(check("2 \\* 3 \\_a\\_ snake_case ||x|| `` a`b `` <at id=all></at> :DONE: a: b [a\\]b](https://a.test/)"), @"2 &#42; 3 &#95;a&#95; snake&#95;case &#124;&#124;x&#124;&#124; `` a`b `` &#60;at id=all&#62;&#60;/at&#62; &#58;DONE: a: b [a&#93;b](https://a.test/)");
        assert_snapshot!(check("\\# one\n\n\\- two\n\n1\\. three\n\nSee https://a.test/a_b?x=*1*&y=2 and *a***b**"), @r"
        &#35; one

        &#45; two

        1&#46; three

        See https://a.test/a_b?x=*1*&#38;y=2 and *a*¦**b**
        ");
        assert_snapshot!(check("````\na ```` b\n````\n[mail](mailto:a@b.test)"), @r"
        ```
        a `¦`¦`¦`¦ b
        ```
        mail
        ");
        assert_snapshot!(check("**“Hi”**there **Note:** x"), @"&#42;&#42;“Hi”&#42;&#42;there **Note:¦** x");
    }

    #[test]
    fn lines_and_lists_stay_lines() {
        assert_snapshot!(check("one\ntwo\n\n- a\n- b\n  - c\n\n1. d\n2. e\n\n> f\n>\n> - g\n> - h\n\nend"), @r"
        one<br>two

        • a<br>• b<br> • c

        1&#46; d<br>2&#46; e

        > f

        • g<br>• h

        end
        ");
        assert_snapshot!(check("- a\n\n  ```\n  code\n  ```\n- b"), @r"
        • a

        ```
        code
        ```
        • b
        ");
    }

    #[test]
    fn a_card_is_not_larger_than_feishu_takes() {
        let check = |markdown: &str, expected: usize| {
            let sent = messages(markdown, Messenger::Feishu.limits());
            assert_eq!(sent.len(), expected, "{}", &markdown[..20]);
            for message in &sent {
                let request = serde_json::json!(serde_json::json!({ "content": markup(message) }).to_string());
                assert!(request.to_string().len() < 25_000);
            }
        };
        check(&"word ".repeat(3_900), 1);
        check(&"word ".repeat(4_500), 2);
        check(&"\\\"\\* ".repeat(2_000), 1);
        check(&"\\\"\\* ".repeat(2_500), 2);
        check(&"字".repeat(7_900), 1);
        check(&"字".repeat(8_100), 2);
        check(&format!("```rust\n{}```", "let a = \"\";\n".repeat(1_500)), 2);
    }
}
