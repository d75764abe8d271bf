//! The report for a terminal, 80 columns wide.

use super::words::{Piece, pieces};
use super::{Comparison, Finding, StepPair, Totals};
use std::fmt::Write;

/// The width of the report in columns.
const WIDTH: usize = 80;
/// The indentation of the text of a difference.
const INDENT: &str = "      ";
/// The most lines of one difference.
const MAX_LINES: usize = 40;

/// The style of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text, with `[-removed-]` and `{+added+}`.
    Plain,
    /// With the colours of a terminal.
    Colour,
}

/// Returns the report about a run.
pub fn terminal(comparison: &Comparison, style: Style) -> String {
    let mut out = format!("run {}\n", printable(&comparison.run_id));
    for (at, step) in comparison.steps.iter().enumerate() {
        let is_first = comparison.first_divergence == Some(at);
        write_step(&mut out, step, is_first, style);
    }
    for finding in &comparison.run {
        write_finding(&mut out, finding, style);
    }
    let (before, after) = (comparison.before, comparison.after);
    let _ = writeln!(out, "\n              recorded     replayed");
    let mut row = |name: &str, before: String, after: String| {
        let _ = writeln!(out, "{name:<10}{before:>12} {after:>12}");
    };
    row(
        "steps",
        count(comparison, |step| step.before != Totals::default()),
        count(comparison, |step| step.after != Totals::default()),
    );
    row("tokens in", before.input_tokens.to_string(), after.input_tokens.to_string());
    row("tokens out", before.output_tokens.to_string(), after.output_tokens.to_string());
    row("cost", cost(before), cost(after));
    row("time", time(before), time(after));
    let verdict = match comparison.first_divergence.and_then(|at| comparison.steps.get(at)) {
        Some(step) => format!("the first divergence is in step {} of {}", step.number, printable(&step.agent)),
        None if comparison.findings().any(|finding| finding.kind.is_divergence() && !finding.unstable) => {
            "the steps are the same, and the end differs".to_owned()
        }
        None if comparison.findings().next().is_none() => "the replay is the same as the recording".to_owned(),
        None => "the agent does the same".to_owned(),
    };
    let _ = writeln!(out, "\n{verdict}");
    out
}

fn count(comparison: &Comparison, is_there: impl Fn(&StepPair) -> bool) -> String {
    comparison.steps.iter().filter(|step| is_there(step)).count().to_string()
}

fn cost(totals: Totals) -> String {
    totals.cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.6}"))
}

fn time(totals: Totals) -> String {
    format!("{}.{:03} s", totals.ms / 1000, totals.ms % 1000)
}

fn write_step(out: &mut String, step: &StepPair, is_first: bool, style: Style) {
    let mark = match (is_first, step.findings.is_empty()) {
        (true, _) => ">",
        (false, true) => "=",
        (false, false) => "~",
    };
    let tools = if step.tools_after.is_empty() { step.tools_before.join(" ") } else { step.tools_after.join(" ") };
    let mut line =
        format!("{mark} step {} {}  {}", step.number, printable(&step.agent), printable(&tools)).trim_end().to_owned();
    if line.chars().count() > WIDTH {
        line = line.chars().take(WIDTH - 1).chain(['…']).collect();
    }
    let _ = writeln!(out, "{line}");
    if is_first {
        let _ = writeln!(out, "    first divergence");
    }
    step.findings.iter().for_each(|finding| write_finding(out, finding, style));
}

fn write_finding(out: &mut String, finding: &Finding, style: Style) {
    let kind = serde_json::to_value(finding.kind).ok();
    let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
    let unstable = if finding.unstable { " (unstable: it also differs without the change)" } else { "" };
    wrap(out, &format!("{kind}: {}{unstable}", printable(&finding.what)), "    ");
    let text: String = pieces(&finding.before, &finding.after).into_iter().map(|piece| marked(piece, style)).collect();
    wrap(out, &text, INDENT);
}

fn marked(piece: Piece, style: Style) -> String {
    match (piece, style) {
        (Piece::Same(text), _) => printable(&text),
        (Piece::Removed(text), Style::Plain) => format!("[-{}-]", printable(&text)),
        (Piece::Added(text), Style::Plain) => format!("{{+{}+}}", printable(&text)),
        (Piece::Removed(text), Style::Colour) => coloured(&printable(&text), "31"),
        (Piece::Added(text), Style::Colour) => coloured(&printable(&text), "32"),
    }
}

/// Colours each word, so that a line break within a passage does not colour the indentation.
fn coloured(text: &str, colour: &str) -> String {
    let word =
        |word: &str| if word.trim().is_empty() { word.to_owned() } else { format!("\u{1b}[{colour}m{word}\u{1b}[0m") };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

/// Returns a text of models and tools without control characters, which a terminal would interpret.
pub(super) fn printable(text: &str) -> String {
    let is_hidden = |c: &char| c.is_control() && *c != '\n' && *c != '\t';
    text.chars().map(|c| if is_hidden(&c) { '\u{fffd}' } else { c }).collect()
}

/// Writes a text in lines of at most [`WIDTH`] columns.
pub(super) fn wrap(out: &mut String, text: &str, indent: &str) {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let (mut line, mut width) = (indent.to_owned(), indent.len());
        for word in
            paragraph.split_inclusive(char::is_whitespace).flat_map(|word| in_pieces(word, WIDTH - indent.len()))
        {
            let length = columns(word.trim_end());
            if width + length > WIDTH && width > indent.len() {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
                width = indent.len();
            }
            line.push_str(&word);
            width += columns(&word);
        }
        lines.push(line);
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    for line in lines.iter().take(MAX_LINES) {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if more > 0 {
        let _ = writeln!(out, "{indent}… {more} more lines; --json has all of them");
    }
}

/// Splits a word that is longer than a line. Coloured words stay whole.
fn in_pieces(word: &str, most: usize) -> Vec<String> {
    if columns(word) <= most || word.contains('\u{1b}') {
        return vec![word.to_owned()];
    }
    let characters: Vec<char> = word.chars().collect();
    characters.chunks(most).map(|piece| piece.iter().collect()).collect()
}

/// Returns the width of a text, without the codes of colours.
fn columns(text: &str) -> usize {
    let mut width = 0;
    let mut is_code = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => is_code = true,
            'm' if is_code => is_code = false,
            _ if is_code => {}
            _ => width += 1,
        }
    }
    width
}
