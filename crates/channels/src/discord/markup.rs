//! Messages as Discord's Markdown. Everything that Discord would read as a mark is escaped, so that a text shows as it
//! was meant, whatever a model has written.

use crate::markdown::{
    Entity, MarkWriter, Rendered, SEPARATOR, Style, address_length, code_span, is_web_address, style_mark,
    without_fences, write_marks,
};

/// The longest address that becomes a link, in bytes. A text with a longer one is shown without.
const MAX_URL: usize = 512;
/// The characters that Discord reads as markup anywhere.
const MARKS: [char; 9] = ['\\', '*', '_', '~', '`', '|', '<', '[', ']'];
/// The characters that it reads as markup at the beginning of a line.
const LINE_MARKS: [char; 4] = ['#', '-', '>', '+'];

/// Returns how long the marks around a part with a style are at most.
pub(crate) fn length_around(style: &Style) -> usize {
    // Each mark with a separator, before and after.
    let marks = [(style.bold, 6), (style.italic, 4), (style.strikethrough, 6), (style.code, 8), (style.quote, 3)];
    let marks: usize = marks.iter().filter(|(is_on, _)| *is_on).map(|(_, length)| length).sum();
    let block = style.block.as_ref().map_or(0, |language| language.len() + 8);
    let link = style.link.as_deref().filter(|url| is_shown(url)).map_or(0, |url| url.len() + 2 * parentheses(url) + 6);
    marks + block + link
}

/// Returns how long a character with a style is at most.
pub(crate) fn escaped_length(sign: char, style: &Style) -> usize {
    match sign {
        '`' => 2,
        '\n' if style.quote => 3,
        sign if style.block.is_none() && !style.code && (MARKS.contains(&sign) || LINE_MARKS.contains(&sign)) => 2,
        sign => sign.len_utf16(),
    }
}

/// Returns a message as Discord's Markdown.
pub(crate) fn markup(message: &Rendered) -> String {
    let mut writer = Writer::default();
    write_marks(message, &mut writer);
    writer.out
}

#[derive(Default)]
struct Writer {
    out: String,
}

impl<'m> MarkWriter<'m> for Writer {
    fn open(&mut self, style: &'m Entity) {
        if let Some(mark) = style_mark(style.kind) {
            self.separate(mark);
            self.out.push_str(mark);
        } else if target(style).is_some() {
            self.out.push('[');
        }
    }

    fn close(&mut self, style: &'m Entity) {
        if let Some(mark) = style_mark(style.kind) {
            self.separate(mark);
            self.out.push_str(mark);
        } else if let Some(url) = target(style) {
            self.out.push_str("](<");
            self.out.push_str(&url.replace('(', "%28").replace(')', "%29"));
            self.out.push_str(">)");
        }
    }

    fn text(&mut self, text: &str, styles: &[&'m Entity]) {
        let has = |kind: &str| styles.iter().find(|style| style.kind == kind);
        if let Some(block) = has("pre") {
            self.block(text, block.language.as_deref().unwrap_or_default());
        } else if has("code").is_some() {
            self.separate("`");
            self.out.push_str(&code_span(text));
        } else {
            self.plain(text, has("blockquote").is_some(), styles.iter().any(|style| target(style).is_some()));
        }
    }
}

impl Writer {
    fn separate(&mut self, mark: &str) {
        if mark.chars().next().is_some_and(|first| self.out.ends_with(first)) {
            self.out.push(SEPARATOR);
        }
    }

    fn block(&mut self, text: &str, language: &str) {
        self.separate("`");
        self.out.push_str("```");
        self.out.push_str(language);
        self.out.push('\n');
        self.out.push_str(&without_fences(text));
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str("```");
    }

    fn plain(&mut self, text: &str, is_quote: bool, is_link: bool) {
        let mut rest = text;
        while let Some(sign) = rest.chars().next() {
            let is_line_start = self.out.is_empty() || self.out.ends_with('\n');
            if is_quote && is_line_start {
                self.out.push_str("> ");
            }
            // Discord reads an address as a link, with all its characters.
            let address = if is_link { 0 } else { address_length(rest) };
            if address > 0 {
                self.out.push_str(&rest[..address]);
                rest = &rest[address..];
                continue;
            }
            match sign {
                '[' if is_link => self.out.push('('),
                ']' if is_link => self.out.push(')'),
                sign if MARKS.contains(&sign) || is_line_start && LINE_MARKS.contains(&sign) => {
                    self.out.push('\\');
                    self.out.push(sign);
                }
                sign => self.out.push(sign),
            }
            rest = &rest[sign.len_utf8()..];
        }
    }
}

/// Returns the address of a link that Discord opens.
fn target(style: &Entity) -> Option<&str> {
    style.url.as_deref().filter(|url| is_shown(url))
}

fn is_shown(url: &str) -> bool {
    is_web_address(url, MAX_URL)
}

fn parentheses(url: &str) -> usize {
    url.matches(['(', ')']).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::messages;
    use crate::messenger::Messenger;
    use insta::assert_snapshot;

    fn check(markdown: &str) -> String {
        let sent = messages(markdown, Messenger::Discord.limits());
        let shown: Vec<_> = sent.iter().map(|message| markup(message).replace(SEPARATOR, "¦")).collect();
        shown.join("\n----\n")
    }

    #[test]
    fn styles_become_marks_and_everything_else_is_escaped() {
        assert_snapshot!(check("# Refunds\n\nWithin **30 *days***, see [the `rules`](https://a.test/r_(1)) or `§ 3`.\n\n> So it\n> is.\n\n```rust\nfn f() {}\n```\n~~End~~"), @r"
        **Refunds**

        Within **30 *days*¦**, see [the rules](<https://a.test/r_%281%29>) or `§ 3`.

        > So it
        > is.

        ```rust
        fn f() {}
        ```
        ~~End~~
        ");
        assert_snapshot!(check("2 \\* 3 \\_a\\_ snake_case ||x|| `` a`b `` <@1> @everyone [a\\]b](https://a.test/)"), @r"2 \* 3 \_a\_ snake\_case \|\|x\|\| `` a`b `` \<@1> @everyone [a)b](<https://a.test/>)");
        assert_snapshot!(check("\\# one\n\n\\- two\n\n\\> three\n\nSee https://a.test/a_b_c?x=*1* and *a***b**"), @r"
        \# one

        \- two

        \> three

        See https://a.test/a_b_c?x=*1* and *a*¦**b**
        ");
        assert_snapshot!(check("````\na ```` b\n````\n[mail](mailto:a@b.test)"), @r"
        ```
        a `¦`¦`¦`¦ b
        ```
        mail
        ");
    }

    #[test]
    fn a_message_has_at_most_two_thousand_characters() {
        let check = |markdown: &str, expected: usize| {
            let sent = messages(markdown, Messenger::Discord.limits());
            assert_eq!(sent.len(), expected, "{}", &markdown[..20]);
            for message in &sent {
                assert!(markup(message).chars().count() <= 2_000);
            }
        };
        check(&"word ".repeat(399), 1);
        check(&"word ".repeat(500), 2);
        check(&"a\\*b ".repeat(390), 1);
        check(&"a\\*b ".repeat(450), 2);
        check(&format!("```rust\n{}```", "let a = 1;\n".repeat(300)), 2);
        check(&format!("{} [{}](https://a.test/{})", "word ".repeat(380), "link ".repeat(10), "x".repeat(100)), 2);
    }
}
