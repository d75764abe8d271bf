use super::*;
use proptest::prelude::*;
use regex::Regex;

/// Checks the text with hidden characters in brackets.
fn check(kind: TextKind, text: &str, expected: &str) {
    assert_eq!(text_with_code_points(text, kind), expected, "{kind:?} {text:?}");
}

#[test]
fn hidden_characters_match_the_unicode_tables() {
    let hidden =
        Regex::new(r"^[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}\u{fff9}-\u{fffb}\u{2800}]$").unwrap();
    for sign in '\0'..=char::MAX {
        let expected = hidden.is_match(sign.encode_utf8(&mut [0; 4])) && !matches!(sign, '\n' | '\t');
        assert_eq!(is_hidden(sign), expected, "U+{:04X}", u32::from(sign));
    }
}

#[test]
fn values_show_every_hidden_character() {
    let check = |text, expected| check(TextKind::Value, text, expected);
    check("plain, schön, 好, 👍", "plain, schön, 好, 👍");
    check("", "");
    check("pay \u{202e}001\u{202c} EUR", "pay [U+202E]001[U+202C] EUR");
    check("a\u{200b}\u{200b}\u{200b}b", "a[U+200B ×3]b");
    check("\u{e0068}\u{e0069}", "[U+E0068 U+E0069]");
    check("\u{1b}[31mred\0", "[U+001B][31mred[U+0000]");
    check("one\r\n\ttwo\rthree", "one\r\n\ttwo[U+000D]three");
    check("❤\u{fe0f}", "❤[U+FE0F]");
    check("שלום\u{200f}", "שלום[U+200F]");
    check("\u{2066}x\u{2069}", "[U+2066]x[U+2069]");
    check("filler\u{3164}\u{2800}", "filler[U+3164 U+2800]");
    check("\u{feff}bom", "[U+FEFF]bom");
}

#[test]
fn prose_keeps_characters_that_scripts_need() {
    let check = |text, expected| check(TextKind::Prose, text, expected);
    for text in [
        "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}",
        "می\u{200c}خواهم",
        "क्\u{200d}ष",
        "שלום\u{200f}! Rust\u{200e} \u{61c}",
        "葛\u{e0100}",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "a \u{2068}שם\u{2069} and \u{202b}עוד\u{202c} b",
        "soft\u{ad}hyphen",
    ] {
        check(text, text);
    }
    check("pay \u{202e}001\u{202c} EUR", "pay [U+202E]001[U+202C] EUR");
    check("\u{202d}x", "[U+202D]x");
    check("\u{2067}open\nnext \u{2069}", "[U+2067]open\nnext [U+2069]");
    check("\u{2066}a\u{202b}b\u{2069}", "\u{2066}a[U+202B]b\u{2069}");
    check("\u{202c}", "[U+202C]");
    check("x\u{e0068}\u{e0069}", "x[U+E0068 U+E0069]");
    check("🏴\u{e0068}\u{e0069}", "🏴[U+E0068 U+E0069]");
    check("\u{e0100}\u{e0101}", "[U+E0100 U+E0101]");
    check("a\u{1b}b", "a[U+001B]b");
}

#[test]
fn code_shows_every_bidirectional_control() {
    check(TextKind::Code, "/* \u{2066}a\u{2069} \u{202b}b\u{202c} */", "/* [U+2066]a[U+2069] [U+202B]b[U+202C] */");
    check(TextKind::Code, "\"👩\u{200d}👧\"", "\"👩\u{200d}👧\"");
}

#[test]
fn runs_over_the_limit_are_shown_escaped() {
    let text = "a\u{200b}".repeat(10_000);
    let nodes = visible_nodes(&text, TextKind::Value);
    assert_eq!(nodes.len(), 2 * MAX_BOXES + 1);
    let Some(Node::Element { tag: "code", children, .. }) = nodes.last() else { panic!("no rest") };
    let [Node::Text(rest)] = &children[..] else { panic!("not a text") };
    let rest: String = serde_json::from_str(rest).unwrap();
    assert_eq!(rest.len(), text.len() - MAX_BOXES * "a\u{200b}".len());
}

/// Generates texts with many of the relevant characters.
fn text() -> impl Strategy<Value = String> {
    let sign = prop_oneof![
        prop::sample::select(vec!['a', ' ', '\n', '\r', 'ש', '🏴', '👩', '"', '\\']),
        prop::sample::select(vec![
            '\u{202a}',
            '\u{202c}',
            '\u{202e}',
            '\u{2066}',
            '\u{2069}',
            '\u{200d}',
            '\u{e0067}',
            '\u{e007f}',
            '\0'
        ]),
        any::<char>(),
    ];
    prop::collection::vec(sign, 0..40).prop_map(|signs| signs.into_iter().collect())
}

proptest! {
    #[test]
    fn segments_add_up_to_the_text(text in text()) {
        for kind in [TextKind::Value, TextKind::Code, TextKind::Prose] {
            let runs = text_runs(&text, kind);
            let joined: String = runs.iter().map(|(TextRun::Text(part) | TextRun::Hidden(part))| *part).collect();
            prop_assert_eq!(&joined, &text);
            for run in runs {
                match run {
                    TextRun::Text(part) if kind == TextKind::Value => {
                        prop_assert!(!part.replace("\r\n", "\n").contains(is_hidden), "{part:?}");
                    }
                    TextRun::Text(part) => prop_assert!(!part.contains(['\u{202d}', '\u{202e}', '\0']), "{part:?}"),
                    TextRun::Hidden(part) => prop_assert!(part.chars().all(is_hidden), "{part:?}"),
                }
            }
        }
    }

    #[test]
    fn escaped_text_parses_to_the_same_text(text in text()) {
        let escaped = quoted_json(&text);
        prop_assert!(!escaped.contains(is_hidden));
        prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }
}
