use super::*;
use proptest::prelude::*;

fn found(text: &str) -> Vec<(&str, bool)> {
    mask_formulas(text).formulas.into_iter().map(|formula| (formula.tex, formula.display)).collect()
}

fn check(text: &str, expected: &[(&str, bool)]) {
    assert_eq!(found(text), expected, "{text}");
}

#[test]
fn formulas_are_found() {
    check("so $x$ and $a_1 * b_2$.", &[("x", false), ("a_1 * b_2", false)]);
    check(r"so \(x\) and \[y\]", &[("x", false), ("y", true)]);
    check("$$\na\n- b\n$$", &[("\na\n- b\n", true)]);
    check("$5 + 5 = 10$, ($n$)", &[("5 + 5 = 10", false), ("n", false)]);
    check(r"$\text{if } x > 0$", &[(r"\text{if } x > 0", false)]);
    check("é$x$é $x$", &[("x", false)]);
}

#[test]
fn control_characters_are_not_lost() {
    for text in ["($\u{1d}$\u{1d}]]", "$x$\u{10}", "$x$\u{1f}b", "a\u{1}$x$", "$x$\u{2}"] {
        let masked = mask_formulas(text);
        assert_eq!(unmask_formulas(&masked.text, &masked.formulas), text, "{text:?}");
    }
}

#[test]
fn prices_stay_text() {
    for text in [
        "$5 and $6",
        "from $5-$10",
        "$5/$6",
        "US$5 or US$6",
        "It is $100, she said; I pay $90, he said$",
        "$20, not more than $30",
        "costs $5M. Then $x",
        "$HOME and $PATH, $ and $",
        "$$ and many more $$",
        r"\$x$ and $5 are$",
        "it cost $1,000 last year and $2",
    ] {
        check(text, &[]);
    }
}

#[test]
fn code_has_no_formulas() {
    check("`$x$` $y$", &[("y", false)]);
    check("```\n$x$\n```\n$y$", &[("y", false)]);
    check("- ```sh\n  $x$\n  ```\n", &[]);
    check("``a ` $x$`` $y$", &[("y", false)]);
    check("a ` $y$", &[("y", false)]);
    check("<div>\n```\n\n$y$", &[("y", false)]);
    check("<https://a.example>\n```\n$y$\n```\n", &[]);
}

#[test]
fn code_ends_with_its_paragraph() {
    for end in ["\n", " \n", "# a\n", "> a\n", "- a\n", "12. a\n", "---\n", "<p>\n", "```\n```\n"] {
        check(&format!("a ` b\n{end}$y$ `"), &[("y", false)]);
    }
    for line in ["a", "(a)", "é", "`` `` a"] {
        check(&format!("a ` b\n{line}\n$y$ `"), &[]);
    }
    let open = |text: &str| mask_formulas(text).open_code;
    assert_eq!(open("$\na ` b\nc"), Some(4));
    assert_eq!(open("$\na ` b\n\nc"), None);
}

#[test]
fn unfinished_formulas_are_reported() {
    let open = |text: &str| mask_formulas(text).open;
    assert_eq!(open(r"so \(x + "), Some(3));
    assert_eq!(open("$$\nx\n"), Some(0));
    assert_eq!(open("so $x_"), Some(3));
    assert_eq!(open("a $$"), Some(2));
    for text in ["$5 a", "a $", "$x and then", "\\[x\n\ny", "$x$"] {
        assert_eq!(open(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn unmasking_restores_the_text(text in "[-a1 \n$`~\\[\\]()\\\\é]{0,40}") {
        let Masked { text: hidden, formulas, .. } = mask_formulas(&text);
        prop_assert_eq!(hidden.len(), text.len());
        prop_assert_eq!(unmask_formulas(&hidden, &formulas), text.as_str());
    }
}
