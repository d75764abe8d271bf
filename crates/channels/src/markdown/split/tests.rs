use super::valid::assert_valid;
use super::*;
use crate::markdown::render::render;
use crate::messenger::Messenger;
use insta::assert_snapshot;
use proptest::prelude::*;

const LIMITS: Limits = Messenger::Telegram.limits();

fn messages(markdown: &str) -> Vec<Rendered> {
    crate::markdown::messages(markdown, LIMITS)
}

/// Shows the messages of a Markdown text, with the parts that have a style.
fn check(markdown: &str) -> String {
    let show = |message: &Rendered| {
        let units: Vec<u16> = message.text.encode_utf16().collect();
        let styles = message.entities.iter().map(|entity| {
            let part = String::from_utf16(&units[entity.offset..entity.offset + entity.length]).unwrap();
            let more = entity.url.as_deref().or(entity.language.as_deref()).unwrap_or_default();
            format!("{} {part:?} {more}", entity.kind).trim_end().to_owned()
        });
        std::iter::once(message.text.clone()).chain(styles).collect::<Vec<_>>().join("\n")
    };
    messages(markdown).iter().map(show).collect::<Vec<_>>().join("\n----\n")
}

#[test]
fn markdown_becomes_text_with_styles() {
    assert_snapshot!(check("# Refunds\n\nWithin **30 *days***, see [the `rules`](https://a.test/r) or `§ 3`.\n\n> So it is.\n"), @r#"
    Refunds

    Within 30 days, see the rules or § 3.

    So it is.
    bold "Refunds"
    bold "30 days"
    italic "days"
    text_link "the rules" https://a.test/r
    code "§ 3"
    blockquote "So it is."
    "#);
    assert_snapshot!(check("1. one\n2. two\n   - [x] 👋 deep\n\n```rust\nfn f() {}\n```\nEnd [here](/relative) <b>\n"), @r#"
    1. one
    2. two
      • ☑ 👋 deep

    fn f() {}

    End here <b>
    pre "fn f() {}\n" rust
    "#);
    assert_snapshot!(check("| a | **b** |\n|---|---|\n| 1 | 2 |\n"), @r#"
    a | b
    1 | 2
    pre "a | b\n1 | 2"
    "#);
    assert_snapshot!(check(" \n\n"), @"");
}

#[test]
fn a_long_text_is_split_between_paragraphs_and_a_block_of_code_between_lines() {
    let paragraph = "word ".repeat(500);
    let sent = messages(&format!("{paragraph}\n\n{paragraph}\n\n{paragraph}"));
    assert_eq!(sent.iter().map(|message| units(&message.text)).collect::<Vec<_>>(), [2_499, 2_499, 2_499]);
    let code: String = (0..900).map(|line| format!("line {line}\n")).collect();
    let sent = messages(&format!("```\n{code}```"));
    assert_eq!(sent.len(), 2);
    for message in &sent {
        assert!(message.text.starts_with("line "), "{:?}", &message.text[..20]);
        assert_eq!(message.entities.iter().map(|entity| entity.kind).collect::<Vec<_>>(), ["pre"]);
    }
    let lines: Vec<_> = sent.iter().flat_map(|message| message.text.lines()).collect();
    assert_eq!(lines.join("\n"), code.trim_end());
}

#[test]
fn a_link_is_not_split() {
    let text = format!("{}[{}](https://a.test/)", "x".repeat(4_000), "y".repeat(200));
    let sent = messages(&text);
    assert_eq!(sent.len(), 2);
    assert_eq!(
        sent[1].entities.iter().map(|entity| (entity.kind, entity.length)).collect::<Vec<_>>(),
        [("text_link", 200)]
    );
}

#[test]
fn a_message_has_a_hundred_styles() {
    let check = |words: usize, expected: &[usize]| {
        let sent = messages(&"**a** b ".repeat(words));
        assert_eq!(sent.iter().map(|message| message.entities.len()).collect::<Vec<_>>(), expected, "{words}");
    };
    check(90, &[90]);
    check(150, &[100, 50]);
}

proptest! {
    /// Every Markdown text becomes valid messages, with everything that is to be seen.
    #[test]
    fn messages_are_valid_and_complete(
        pieces in prop::collection::vec(
            prop_oneof![
                "[a-z ]{1,12}", "[*_~`>#|\\-\\[\\]()!\n 👋é\u{5d0}]{1,8}",
                Just("\n\n".to_owned()), Just("```rust\n".to_owned()), Just("\n```\n".to_owned()), Just("**".to_owned()),
                Just("[link](https://a.test/x)".to_owned()), Just("\n- item\n".to_owned()), Just("| a | b |\n|---|---|\n| c | d |\n".to_owned()),
                "[a-z👋]{2000,5000}",
            ],
            0..60,
        ),
    ) {
        let markdown = pieces.concat();
        let sent = messages(&markdown);
        sent.iter().for_each(|message| assert_valid(message, LIMITS));
        // Where the marks of styles count as well.
        let limits = Messenger::Feishu.limits();
        crate::markdown::messages(&markdown, limits).iter().for_each(|message| assert_valid(message, limits));
        let visible = |text: &str| text.chars().filter(|sign| !sign.is_whitespace()).collect::<String>();
        let all: String = render(&markdown).iter().map(|run| run.text.as_str()).collect();
        let shown: String = sent.iter().map(|message| message.text.as_str()).collect();
        prop_assert_eq!(visible(&shown), visible(&all));
    }
}
