//! The report as Markdown, which is also readable in a terminal.

use super::{ConfigReport, PairReport, Report};
use crate::agreement::Agreement;
use crate::baseline::{Change, Difference, Gate, PASSED};
use crate::case::Case;
use crate::run::results::CaseResult;
use crate::statistics::Estimate;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use wire::text::shortened;

/// How much of an answer and of an input is shown, in characters.
const SHOWN: usize = 600;
/// The most cases that are listed as changed.
const MAX_CHANGES: usize = 50;

/// Writes a report with at most `max_failures` cases that failed.
pub fn markdown(report: &Report, cases: &[Case], max_failures: usize) -> String {
    let mut text = format!("# Evaluation: {}\n\n", line(&report.evaluation, SHOWN));
    text.push_str(&figures(&report.configs));
    if let Some(pair) = &report.comparison {
        text.push_str(&compared(pair));
    }
    text.push_str(&agreement(&report.agreements));
    text.push_str(&gate(&report.gate));
    text.push_str(&failures(report, cases, max_failures));
    text
}

/// The table of the figures, with a column for each config.
fn figures(configs: &[ConfigReport]) -> String {
    let names: BTreeSet<_> = configs.iter().flat_map(|config| config.scorers.keys()).collect();
    let mut rows =
        vec![std::iter::once(String::new()).chain(configs.iter().map(|config| cell(&config.config))).collect()];
    let mut row = |title: &str, value: &dyn Fn(&ConfigReport) -> String| {
        rows.push(std::iter::once(cell(title)).chain(configs.iter().map(value)).collect::<Vec<_>>());
    };
    row(PASSED, &|config| rate(&config.passed));
    for name in names {
        row(name, &|config| config.scorers.get(name).map_or_else(String::new, mean));
    }
    row("cost", &|config| {
        let unpriced = if config.unpriced > 0 { format!(", {} unpriced", config.unpriced) } else { String::new() };
        let judges = if config.judge_cost_usd > 0.0 {
            format!(" + judges ${:.4}", config.judge_cost_usd)
        } else {
            String::new()
        };
        format!("${:.4}{judges}{unpriced}", config.cost_usd)
    });
    row("tokens", &|config| format!("{} in, {} out", config.input_tokens, config.output_tokens));
    row("time", &|config| format!("{:.2} s", config.mean_seconds));
    if configs.iter().any(|config| config.errors > 0) {
        row("without answer", &|config| config.errors.to_string());
    }
    table(&rows)
}

fn compared(pair: &PairReport) -> String {
    let mut text = format!("\n## {} compared with {}\n\n", line(&pair.second, SHOWN), line(&pair.first, SHOWN));
    text.push_str(&differences(&pair.differences));
    if let Some([first, second, neither]) = pair.preferred {
        let _ = write!(
            text,
            "\nThe judge prefers the first {first} times, the second {second} times, and neither {neither} times.\n"
        );
    }
    text.push_str(&changes(&pair.changes));
    text
}

fn agreement(all: &[Agreement]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = "\n## Judges compared with people\n\n".to_owned();
    for judge in all {
        let _ = writeln!(text, "- `{}` {}", line(&judge.scorer, SHOWN), judge.in_words());
        for other in judge.disagreements.iter().take(MAX_CHANGES) {
            let _ = writeln!(text, "  - `{}`: {}", line(&other.case, SHOWN), line(&other.in_words(), SHOWN));
        }
        if judge.disagreements.len() > MAX_CHANGES {
            let _ = writeln!(text, "  - and {} more", judge.disagreements.len() - MAX_CHANGES);
        }
    }
    text
}

fn gate(gate: &Gate) -> String {
    let mut text = String::new();
    if gate.compared > 0 {
        let _ = write!(text, "\n## Compared with the baseline ({} cases)\n\n", gate.compared);
        text.push_str(&differences(&gate.differences));
        text.push_str(&changes(&gate.changes));
    }
    if !gate.failed_must.is_empty() {
        let cases: Vec<_> = gate.failed_must.iter().map(|id| format!("`{}`", line(id, SHOWN))).collect();
        let _ = write!(text, "\nCases that must pass and have failed: {}\n", cases.join(", "));
    }
    text.push_str(&listed(
        "In the baseline, but not in the evaluation any more (`--update-baseline` accepts that)",
        &gate.missing,
    ));
    text.push_str(&listed("Changed since the baseline (`--update-baseline` accepts that)", &gate.changed));
    if gate.lacks_hashes {
        text.push_str(
            "\nThe baseline is of an earlier version and does not tell whether cases or scorers have changed since; `--update-baseline` adds that.\n",
        );
    }
    if gate.has_too_many_worse() {
        let max = gate.max_worse.unwrap_or_default();
        let _ = write!(text, "\nMore cases are worse than may be: {}, at most {max}\n", gate.worse_cases);
    }
    if !gate.worse.is_empty() {
        let worse: Vec<_> = gate.worse.iter().map(|name| format!("`{}`", line(name, SHOWN))).collect();
        let _ = write!(text, "\nWorse than the baseline, and not by chance: {}\n", worse.join(", "));
    }
    text
}

/// Returns a list below its title; nothing without items.
fn listed(title: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{title}:\n\n");
    for item in items.iter().take(MAX_CHANGES) {
        let _ = writeln!(text, "- {}", line(item, SHOWN));
    }
    if items.len() > MAX_CHANGES {
        let _ = writeln!(text, "- and {} more", items.len() - MAX_CHANGES);
    }
    text
}

fn differences(all: &[Difference]) -> String {
    let mut rows = vec![["", "difference", "95 % interval", "cases", ""].map(str::to_owned).to_vec()];
    for difference in all {
        let Estimate { count, mean, low, high } = difference.difference;
        let judged = match (difference.is_worse(), difference.is_better(), count) {
            (true, ..) => "worse",
            (_, true, _) => "better",
            (.., 1) => "one case says nothing",
            _ => "",
        };
        let interval = format!("{low:+.3} to {high:+.3}");
        rows.push(vec![
            cell(&difference.measure),
            format!("{mean:+.3}"),
            interval,
            count.to_string(),
            judged.to_owned(),
        ]);
    }
    table(&rows)
}

fn changes(all: &[Change]) -> String {
    if all.is_empty() {
        return "\nNo case has changed.\n".to_owned();
    }
    let mut text = "\n".to_owned();
    for change in all.iter().take(MAX_CHANGES) {
        let measures = change.measures.iter();
        let measures: Vec<_> =
            measures.map(|(name, before, after)| format!("{} {before:.2} → {after:.2}", line(name, SHOWN))).collect();
        let sign = if change.difference() < 0.0 { "worse" } else { "better" };
        let _ = writeln!(text, "- {sign}: `{}`: {}", line(&change.case, SHOWN), measures.join(", "));
    }
    if all.len() > MAX_CHANGES {
        let _ = writeln!(text, "- and {} more", all.len() - MAX_CHANGES);
    }
    text
}

fn failures(report: &Report, cases: &[Case], max: usize) -> String {
    if report.failures.is_empty() {
        return String::new();
    }
    let cases: HashMap<_, _> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut text = format!("\n## Failed ({})\n", report.failures.len());
    for failure in report.failures.iter().take(max) {
        text.push_str(&failed(failure, cases.get(failure.case.as_str()).copied(), report.configs.len() > 1));
    }
    if report.failures.len() > max {
        let _ = write!(text, "\nAnd {} more, which `--output` keeps.\n", report.failures.len() - max);
    }
    text
}

fn failed(failure: &CaseResult, case: Option<&Case>, names_config: bool) -> String {
    let config = if names_config { format!(" ({})", line(&failure.config, SHOWN)) } else { String::new() };
    let must = if case.is_some_and(|case| case.must) { " (must pass)" } else { "" };
    let mut text = format!("\n### {}{must}{config}\n\n", line(&failure.case, SHOWN));
    let asked = case.map(|case| case.input.join(" ⏎ ")).unwrap_or_default();
    let _ = writeln!(text, "- asked: {}", line(&asked, SHOWN));
    match &failure.error {
        Some(error) => {
            let _ = writeln!(text, "- no answer: {}", line(error, SHOWN));
        }
        None => {
            let _ = writeln!(text, "- answered: {}", line(&failure.answer, SHOWN));
        }
    }
    for score in failure.scores.iter().filter(|score| !score.passed) {
        let _ =
            writeln!(text, "- **{}** ({:.2}): {}", line(&score.scorer, SHOWN), score.score, line(&score.reason, SHOWN));
    }
    text
}

fn rate(Estimate { mean, low, high, .. }: &Estimate) -> String {
    format!("{:.1} % ({:.1} to {:.1})", mean * 100.0, low * 100.0, high * 100.0)
}

fn mean(Estimate { count, mean, low, high }: &Estimate) -> String {
    format!("{mean:.3} ({low:.3} to {high:.3}; {count} cases)")
}

/// Returns a text on one line, without control characters, so that it cannot change the terminal.
fn line(text: &str, max: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    shortened(&words.collect::<Vec<_>>().join(" "), max)
}

fn cell(text: &str) -> String {
    line(text, 60).replace('|', "\\|")
}

/// Returns a Markdown table with aligned columns. The first row is the header.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default().max(3);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if index == 0 {
            let rules: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
            let _ = writeln!(text, "| {} |", rules.join(" | "));
        }
    }
    text
}
