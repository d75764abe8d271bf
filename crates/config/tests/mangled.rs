//! Property tests: every text is loaded or rejected, without a panic and in bounded time.

use config::{load_embedded, render};
use proptest::prelude::*;
use std::collections::HashMap;
use std::time::{Duration, Instant};

const DEMO: &str = include_str!("../../../examples/demo/chatwright.yaml");

/// Loads and renders a text. The time limit is generous, because a debug build on a busy machine is
/// slow.
fn check(text: &str) {
    let start = Instant::now();
    let env: HashMap<String, String> = HashMap::new();
    let files = [("chatwright.yaml", text), ("knowledge.sql", "select 1"), ("again.yaml", text)];
    if let Err(errors) = load_embedded(&files, &env) {
        assert!(!errors.is_empty());
        assert!(render(&errors).len() < 1_000_000);
    }
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
}

/// Generates pieces that have a meaning in YAML or in a config.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ":",
            ": ",
            "- ",
            "\n",
            "\n  ",
            "? ",
            "&a ",
            "*a ",
            "!!str ",
            "!x ",
            "| \n",
            "> \n",
            "'",
            "\"",
            "#",
            "---\n",
            "...\n",
            "%TAG ! x\n",
            "\t",
            "\r",
            "<<: *a",
            "_ref: again.yaml",
            "_ref: chatwright.yaml",
            "_state",
            "__proto__",
            "agents:",
            "connections:",
            "pages:",
            "api:",
            "blocks:",
            "properties:",
            "type: Agent",
            "type: Sql",
            "id: a",
            "~",
            "1e999",
            "0x",
            "\u{feff}",
            "\u{0}",
            "é",
            "𝄞",
            "\u{2028}",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,6}",
        any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #[test]
    fn arbitrary_text_is_loaded_or_rejected(text in prop::collection::vec(piece(), 0..60)) {
        check(&text.concat());
    }

    #[test]
    fn config_with_replaced_text_is_loaded_or_rejected(at in 0..DEMO.len(), cut in 0..40_usize, put in piece()) {
        let from = DEMO.floor_char_boundary(at);
        let to = DEMO.floor_char_boundary((from + cut).min(DEMO.len()));
        check(&format!("{}{put}{}", &DEMO[..from], &DEMO[to.max(from)..]));
    }

    #[test]
    fn config_with_moved_lines_is_loaded_or_rejected(from in 0..150_usize, to in 0..150_usize) {
        let mut lines: Vec<&str> = DEMO.lines().collect();
        let line = lines.remove(from % lines.len());
        lines.insert(to % lines.len(), line);
        check(&lines.join("\n"));
    }
}

/// Repeats each piece up to the size limit of a file.
#[test]
fn large_texts_are_handled_in_bounded_time() {
    let pieces = [
        "[",
        "{",
        "- ",
        "? ",
        "a: ",
        "a:\n ",
        "[a, ",
        "{a: ",
        "\"",
        "'",
        "&a ",
        "*a ",
        "!a ",
        "#",
        " ",
        "\t",
        "\n",
        "- a\n",
        "%A\n",
        "---\n",
        "a\n",
        "| ",
        "a: [\n",
        "\"\\u0041\" ",
        "é",
    ];
    for piece in pieces {
        check(&piece.repeat(100_000 / piece.len()));
    }
    let keys: String = (0..20_000).map(|number| format!("k{number}: {number}\n")).collect();
    check(&keys);
    let agents: String =
        (0..2_000).map(|number| format!("- {{ id: a{number}, type: Agnt, tools: [t{number}] }}\n")).collect();
    check(&format!("agents:\n{agents}"));
}
