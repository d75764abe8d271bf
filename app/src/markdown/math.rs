//! Renders TeX formulas as MathML, which browsers draw and screen readers read. The code is a chunk
//! of its own, because few conversations have formulas.

use super::mathml;
use crate::chunks::{Chunk, ChunkError, ChunkFuture, ChunkTable};
use crate::ui::node::{Node, element};
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};
use wasm_split_helpers::wasm_split;

/// The chunk that renders formulas.
pub(crate) static MATH: Chunk<MathFunctions> = Chunk::new("math");

/// The functions of the chunk.
pub(crate) struct MathFunctions {
    /// Renders a formula; `None` if it cannot be parsed. `true` means a formula in a block of its
    /// own.
    node: fn(&str, bool) -> Option<Node>,
}

impl ChunkTable for MathFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { MATH.set_functions(functions().await?) })
    }
}

#[wasm_split(math, fallible)]
fn functions() -> Result<MathFunctions, ChunkError> {
    Ok(MathFunctions { node: to_mathml })
}

/// The maximum length of a formula in bytes; a longer one is shown as source.
const MAX_LENGTH: usize = 4_000;
/// The maximum nesting depth of groups.
const MAX_DEPTH: usize = 24;
/// Commands that define commands: a few of them could expand to a text without end.
const FORBIDDEN_COMMANDS: [&str; 4] = ["\\def", "\\let", "\\newcommand", "\\renewcommand"];

/// Renders a formula. While the chunk is loading, or if the formula cannot be parsed, its source is
/// shown.
pub(super) fn formula_node(source: &str, tex: &str, display: bool) -> Node {
    let drawn = MATH.get().and_then(|math| (math.node)(tex, display));
    let written = || element("code").attr("class", "cw-md-tex").attr("dir", "ltr").text(source);
    let formula = drawn.unwrap_or_else(written);
    if display {
        element("span").attr("class", "cw-md-formula").attr("tabindex", "0").children(vec![formula])
    } else {
        formula
    }
}

fn to_mathml(tex: &str, display: bool) -> Option<Node> {
    if tex.trim().is_empty()
        || tex.len() > MAX_LENGTH
        || nesting_depth(tex) > MAX_DEPTH
        || FORBIDDEN_COMMANDS.iter().any(|name| tex.contains(name))
    {
        return None;
    }
    let storage = Storage::new();
    let events = Parser::new(tex, &storage).collect::<Result<Vec<_>, _>>().ok()?;
    let display_mode = if display { DisplayMode::Block } else { DisplayMode::Inline };
    let mut markup = String::new();
    let events = events.into_iter().map(Ok::<_, std::fmt::Error>);
    push_mathml(&mut markup, events, RenderConfig { display_mode, xml: true, ..RenderConfig::default() }).ok()?;
    mathml::parse_mathml(&markup)
}

/// Returns the nesting depth of groups.
fn nesting_depth(tex: &str) -> usize {
    let (mut deepest, mut now) = (0_usize, 0_usize);
    for (at, sign) in tex.char_indices() {
        match sign {
            '{' => now += 1,
            '}' => now = now.saturating_sub(1),
            '\\' if is_command(&tex[at..], &["\\begin", "\\left"]) => now += 1,
            '\\' if is_command(&tex[at..], &["\\end", "\\right"]) => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}

fn is_command(tex: &str, names: &[&str]) -> bool {
    let rest = names.iter().find_map(|name| tex.strip_prefix(name));
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leptos::prelude::RenderHtml;

    fn html(tex: &str, display: bool) -> String {
        to_mathml(tex, display).map_or_else(|| "as written".to_owned(), RenderHtml::to_html)
    }

    fn check(tex: &str, expected: &str) {
        assert_eq!(html(tex, false), expected, "{tex}");
    }

    #[test]
    fn formulas_become_mathml() {
        check("x^2", r#"<math display="inline"><msup><mi>x</mi><mn>2</mn></msup></math>"#);
        check(
            r"\frac{a}{b} < \sqrt{2}",
            r#"<math display="inline"><mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac><mo>&lt;</mo><msqrt><mrow><mn>2</mn></mrow></msqrt></math>"#,
        );
        let row = |a: u8, b: u8| format!("<mtr><mtd><mn>{a}</mn></mtd><mtd><mn>{b}</mn></mtd></mtr>");
        let table = format!(r#"<mtable class="menv-arraylike">{}{}</mtable>"#, row(1, 2), row(3, 4));
        let bracket = |sign: char| format!(r#"<mo stretchy="true">{sign}</mo>"#);
        check(
            r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
            &format!(r#"<math display="inline"><mrow>{}{table}{}</mrow></math>"#, bracket('('), bracket(')')),
        );
    }

    #[test]
    fn unparsable_formulas_are_not_rendered() {
        for tex in [
            r"\nonsense{x}",
            r"\frac{a",
            r"\def\a{\b\b}\a",
            &"{".repeat(40),
            &r"\left(".repeat(40),
            &"x".repeat(5_000),
            "",
        ] {
            assert_eq!(html(tex, false), "as written", "{tex}");
        }
    }

    #[test]
    fn output_contains_no_html_links_or_styles() {
        let all = html(r"\text{<img src=x onerror=alert(1)>} \href{javascript:alert(1)}{x} \color{red} x", false);
        assert!(!all.contains("<img") && !all.contains("href=") && !all.contains("style="), "{all}");
    }
}
