//! Adversarial texts that must be rendered in linear and not in quadratic time. The time is not
//! measured: in quadratic time, texts of this length would keep the test busy for minutes.

use super::citation::CitationStyle;
use super::document::References;
use super::footnote;
use super::options::MarkdownOptions;
use super::render::render;
use leptos::prelude::Owner;
use markdown_stream::link::split_bare_urls;
use markdown_stream::mask::mask_formulas;
use markdown_stream::split::Splitter;

/// The approximate length of each text in bytes.
const LENGTH: usize = 100_000;

fn draw(text: &str) {
    Owner::new().with(|| {
        let extras =
            MarkdownOptions { highlighting: true, diagrams: true, math: true, citations: CitationStyle::Listed };
        let nodes = render(text, &References::none(), &extras, false);
        // Link reference definitions render nothing.
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
fn repeated_delimiters_render_in_linear_time() {
    for piece in [
        "[", "]", "![", "[](", "[a](<b", "(", "*", "**a", "*a_", "_ ", "~~", "`", "` ", "``a`", "<", "<a ", "<!--",
        "<?", "&", "&a;", "\\", "$", "$x", "$$", "\\(", "\\[", "\u{2}", "\u{e}", "^", "[^", "[^a", "|", "a|",
    ] {
        check(piece);
    }
}

#[test]
fn repeated_lines_render_in_linear_time() {
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

/// Far more delimiters of code and formulas than in the other tests: only the masking of formulas
/// is tested.
#[test]
fn repeated_code_and_formulas_are_masked_in_linear_time() {
    let check = |piece: &str| {
        let text = format!("$ {}", piece.repeat(10 * LENGTH / piece.len()));
        let masked = mask_formulas(&text);
        assert!(masked.text.len() == text.len());
    };
    for piece in ["`a` ", "`a`\n", "``a` ", "` ``\n", "\\(", "\\[", "\\(1 2 ", "$$ a", "$$\n", "$x ", "a ` b\n> "] {
        check(piece);
    }
    let mut ticks = String::from("$ ");
    for length in 1..3_000 {
        ticks.extend(std::iter::repeat_n('`', length).chain([' ']));
    }
    assert_eq!(mask_formulas(&ticks).formulas, []);
}

#[test]
fn repeated_urls_render_in_linear_time() {
    for piece in ["http://a", "http://", "xhttp://a", "https://a) ", "http:///", "https://[", "http://a,"] {
        check(piece);
    }
    draw(&format!("https://a{}", ")".repeat(LENGTH)));
    draw(&format!("https://a{}", "](".repeat(LENGTH / 2)));
}

/// Ten times as long as the other texts: only the search for URLs and labels is tested.
#[test]
fn repeated_urls_and_labels_are_found_in_linear_time() {
    for piece in ["http://", "http:///", "https://[", "http://a,", "https://a)", "https://.", "http://a", "https://a "]
    {
        let text = piece.repeat(10 * LENGTH / piece.len());
        assert!(!split_bare_urls(&text).is_empty());
    }
    let notes: String = (0..50_000).map(|number| format!("[^{number}] [^{number}]: ")).collect();
    assert_eq!((footnote::reference_labels(&notes).len(), footnote::defined_labels(&notes).len()), (50_000, 50_000));
}

#[test]
fn many_labels_render_in_linear_time() {
    draw(&(0..15_000).map(|number| format!("[^{number}]")).collect::<String>());
    draw(&(0..10_000).map(|number| format!("[a{number}]: /b\n")).collect::<String>());
    draw(&(0..10_000).map(|number| format!("[a{number}] ")).collect::<String>());
    let ticks: String = (1..900).map(|length| format!("{} ", "`".repeat(length))).collect();
    draw(&format!("$ {ticks}"));
    draw(&format!("${}$ ", "\\frac{a}{b}".repeat(350)).repeat(100));
}
