//! Texts that were made to cost: each is drawn in time that grows with its length, not with the square of it. Nothing here measures that; a
//! text that is as long as these would keep the test busy for minutes.

use super::document::References;
use super::footnote;
use super::link::bare_urls;
use super::mask::mask;
use super::render::render;
use super::split::Splitter;
use super::{Extras, Marks};
use leptos::prelude::Owner;

/// About so many bytes each.
const LENGTH: usize = 100_000;

fn draw(text: &str) {
    Owner::new().with(|| {
        let extras = Extras { colours: true, diagrams: true, math: true, sources: Marks::Listed };
        let nodes = render(text, &References::none(), &extras, false);
        // Nothing is shown of definitions.
        let is_definition = text.starts_with('[') && !text.starts_with("[^") && text.contains("]: ");
        let is_shown = !text.trim().is_empty() && !is_definition;
        assert_eq!(is_shown, !nodes.is_empty(), "{:?}", text.get(..40));
        let blocks = Splitter::default().advance(text, true).blocks.len();
        assert!(text.trim().is_empty() || blocks > 0);
    });
}

fn check(piece: &str) {
    draw(&piece.repeat(LENGTH / piece.len()));
}

#[test]
fn marks_that_are_repeated() {
    for piece in [
        "[", "]", "![", "[](", "[a](<b", "(", "*", "**a", "*a_", "_ ", "~~", "`", "` ", "``a`", "<", "<a ", "<!--",
        "<?", "&", "&a;", "\\", "$", "$x", "$$", "\\(", "\\[", "\u{2}", "\u{e}", "^", "[^", "[^a", "|", "a|",
    ] {
        check(piece);
    }
}

#[test]
fn lines_that_are_repeated() {
    for piece in [
        "# a\n",
        "a\n",
        "- a\n",
        "-\n",
        "1. a\n",
        "> a\n",
        ">",
        "    a\n",
        "```\n",
        "~~~\n\n",
        "|a|\n|-|\n",
        "|a\n",
        "---\n",
        "===\n",
        "[a]: b\n",
        "[a]\n",
        "<div>\n",
        "\n",
        "\t\n",
        "  - a\n",
        "* * *\n",
        "[^1]: a\n",
        "- [ ] a\n",
    ] {
        check(piece);
    }
    let nested: String = (0..800).map(|level| format!("{}- a\n", "  ".repeat(level))).collect();
    draw(&nested);
    draw(&format!("|{}\n|{}\n", "a|".repeat(12_000), "-|".repeat(12_000)));
    draw(&format!("|a|\n|-|\n{}", "|b|\n".repeat(12_000)));
}

/// Signs of code and of formulas, far more of them than elsewhere here: only what hides formulas is tested.
#[test]
fn code_and_formulas_that_are_repeated_are_read_once() {
    let check = |piece: &str| {
        let text = format!("$ {}", piece.repeat(10 * LENGTH / piece.len()));
        let masked = mask(&text);
        assert!(masked.text.len() == text.len());
    };
    for piece in ["`a` ", "`a`\n", "``a` ", "` ``\n", "\\(", "\\[", "\\(1 2 ", "$$ a", "$$\n", "$x ", "a ` b\n> "] {
        check(piece);
    }
    let mut ticks = String::from("$ ");
    for length in 1..3_000 {
        ticks.extend(std::iter::repeat_n('`', length).chain([' ']));
    }
    assert_eq!(mask(&ticks).formulas, []);
}

#[test]
fn addresses_that_are_repeated() {
    for piece in ["http://a", "http://", "xhttp://a", "https://a) ", "http:///", "https://[", "http://a,"] {
        check(piece);
    }
    draw(&format!("https://a{}", ")".repeat(LENGTH)));
    draw(&format!("https://a{}", "](".repeat(LENGTH / 2)));
}

/// Ten times as much as elsewhere here: only what finds addresses and labels is tested.
#[test]
fn addresses_and_labels_that_are_repeated_are_found_once() {
    for piece in ["http://", "http:///", "https://[", "http://a,", "https://a)", "https://.", "http://a", "https://a "]
    {
        let text = piece.repeat(10 * LENGTH / piece.len());
        assert!(!bare_urls(&text).is_empty());
    }
    let notes: String = (0..50_000).map(|number| format!("[^{number}] [^{number}]: ")).collect();
    assert_eq!((footnote::labels(&notes).len(), footnote::defined(&notes).len()), (50_000, 50_000));
}

#[test]
fn labels_that_are_many() {
    draw(&(0..15_000).map(|number| format!("[^{number}]")).collect::<String>());
    draw(&(0..10_000).map(|number| format!("[a{number}]: /b\n")).collect::<String>());
    draw(&(0..10_000).map(|number| format!("[a{number}] ")).collect::<String>());
    let ticks: String = (1..900).map(|length| format!("{} ", "`".repeat(length))).collect();
    draw(&format!("$ {ticks}"));
    draw(&format!("${}$ ", "\\frac{a}{b}".repeat(350)).repeat(100));
}
