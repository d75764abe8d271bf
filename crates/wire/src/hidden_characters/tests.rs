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
        Regex::new(r"^[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}\u{fff9}-\u{fffc}\u{2800}\u{13441}\u{13442}\u{16fe4}\u{1d159}]$").unwrap();
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
    check("\u{fffc}\u{1d159}\u{16fe4}\u{13441}", "[U+FFFC U+1D159 U+16FE4 U+13441]");
    check(
        "\u{e000} \u{10fffd} \u{13430} \u{600} \u{378} \u{dffff}",
        "[U+E000] [U+10FFFD] [U+13430] [U+0600] [U+0378] [U+DFFFF]",
    );
    check("a\u{3000}b\u{a0}c \u{fffd}", "a\u{3000}b\u{a0}c \u{fffd}");
}

#[test]
fn values_show_few_marks_on_a_character_and_few_blank_lines() {
    let check = |text: &str, expected: &str| check(TextKind::Value, text, expected);
    check(&format!("a{}b", "\u{301}".repeat(200)), &format!("a{}[U+0301 ×194]b", "\u{301}".repeat(6)));
    check(&format!("א{}", "\u{5b0}".repeat(7)), &format!("א{}[U+05B0]", "\u{5b0}".repeat(6)));
    for text in ["Tiếng Việt".into(), "שָּׁ֑לוֹם".into(), "คํ่า".into(), "e\u{301}".repeat(20), "क्षि".repeat(5)]
    {
        let text: String = text;
        check(&text, &text);
    }
    check("a\n\n\n\nb\n", "a\n\n\n\nb\n");
    check(&format!("a{}b", "\n".repeat(3000)), "a\n\n\n\n[U+000A ×2996]b");
    check("a\n \n\t\n\u{3000}\n\nb", "a\n \n\t\n\u{3000}\n[U+000A]b");
}

#[test]
fn prose_does_not_mark_what_only_values_mark() {
    let text = format!("a{}\u{e000}\u{13430}{}b", "\u{301}".repeat(9), "\n".repeat(9));
    check(TextKind::Prose, &text, &text);
    check(TextKind::Code, &text, &text);
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
                    TextRun::Hidden(part) if kind == TextKind::Value => prop_assert!(!part.is_empty()),
                    TextRun::Hidden(part) => prop_assert!(part.chars().all(is_hidden), "{part:?}"),
                }
            }
        }
    }

    /// Both rely on how the standard library escapes; the tables may be of different versions.
    #[test]
    fn marks_and_unprintable_characters_match_the_unicode_tables(sign in any::<char>()) {
        let is = |class: &str| Regex::new(class).unwrap().is_match(sign.encode_utf8(&mut [0; 4]));
        let expected = is(r"[\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Cn}]") && !sign.is_whitespace();
        if !is(r"\p{Cn}") && !sign.is_ascii() && !is(r"\p{Cc}") {
            prop_assert_eq!(is_unprintable(sign), expected);
            let is_combining = is(r"[\p{Mn}\p{Me}]");
            prop_assert!(!is_combining || is_mark(sign));
        }
    }

    #[test]
    fn escaped_text_parses_to_the_same_text(text in text()) {
        let escaped = quoted_json(&text);
        prop_assert!(!escaped.contains(is_hidden));
        prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }
}
