//! Writes the stored results into `docs/performance.md` and `docs/scaling.md`, between markers. The text around them is
//! written by hand.

use crate::results::{Build, Figure, Goal, Results, Subject, Table};
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use std::fmt::Write;
use std::path::Path;

/// The pages, below the root of the repository. The first one also has the goals.
const PAGES: [&str; 2] = ["docs/performance.md", "docs/scaling.md"];
/// The folder of the results, below the root of the repository.
pub(crate) const RESULTS: &str = "bench/results";

/// The marker after each generated part.
const END: &str = "<!-- bench:end -->";
/// The place of the table of all goals.
const GOALS: &str = "goals";

/// The results of all subjects that were measured.
type All = Vec<(Subject, Results)>;

/// Reads the results of all subjects.
pub(crate) fn load_all(folder: &Path) -> Result<All> {
    let mut all = Vec::new();
    for &subject in Subject::value_variants() {
        all.extend(Results::load(folder, subject)?.map(|results| (subject, results)));
    }
    Ok(all)
}

/// Writes the pages again.
pub(crate) fn write(root: &Path) -> Result<()> {
    let all = load_all(&root.join(RESULTS))?;
    for name in PAGES {
        let page = std::fs::read_to_string(root.join(name)).context(name)?;
        std::fs::write(root.join(name), render(name, &page, &all).context(name)?)?;
    }
    Ok(())
}

/// Returns a page with each generated part replaced.
fn render(name: &str, page: &str, all: &All) -> Result<String> {
    let mut page = if name == PAGES[0] { replace(page, GOALS, &goals(all))? } else { page.to_owned() };
    for &subject in Subject::value_variants().iter().filter(|subject| page_of(**subject) == name) {
        let results = all.iter().find(|(of, _)| *of == subject).map(|(_, results)| results);
        page = replace(&page, subject.name(), &part(subject, results))?;
    }
    Ok(page)
}

/// Returns the page that shows a subject.
fn page_of(subject: Subject) -> &'static str {
    match subject {
        Subject::Scale => PAGES[1],
        _ => PAGES[0],
    }
}

/// Replaces what stands between the marker with this name and the next end.
fn replace(page: &str, name: &str, content: &str) -> Result<String> {
    let begin = format!("<!-- bench:{name} -->\n");
    ensure!(page.matches(&begin).count() == 1, "the page must have one line `{}`", begin.trim_end());
    let (before, rest) = page.split_once(&begin).context("the marker was found")?;
    let (old, after) = rest.split_once(END).with_context(|| format!("the page has no `{END}` after {begin}"))?;
    ensure!(!old.contains("<!-- bench:"), "the page has no `{END}` after {begin}");
    Ok(format!("{before}{begin}{content}{END}{after}"))
}

/// Returns the generated part of a subject.
fn part(subject: Subject, results: Option<&Results>) -> String {
    let Some(results) = results else {
        return format!("Not measured yet (`{}`).\n", subject.command());
    };
    let mut text = format!("{}\n", how(subject, results));
    for table in &results.tables {
        text.push('\n');
        text.push_str(&markdown(table));
    }
    text
}

/// Says when, how and where it was measured.
fn how(subject: Subject, Results { measured, build, machine, .. }: &Results) -> String {
    let build = match build {
        Build::Debug => "a **debug build**, which is several times slower than a release",
        Build::Release => "a release build",
    };
    let cpu = machine.cpu.as_ref().map(|cpu| format!(" ({cpu})")).unwrap_or_default();
    let load = machine.load.map(|load| format!(", load average {load:.1} at the end")).unwrap_or_default();
    format!("Measured on {measured} with `{}`: {build}, {} cores{cpu}{load}.", subject.command(), machine.cores)
}

/// Returns a table; the column of the goals is there if a row has one.
fn markdown(table: &Table) -> String {
    let has_goals = table.rows.iter().any(|row| row.goal.is_some());
    let goal = has_goals.then(|| "goal".to_owned());
    let heads: Vec<_> = std::iter::once(&table.title).chain(&table.columns).chain(&goal).cloned().collect();
    let mut text = line(&heads);
    text.push_str(&format!("|{}\n", "---|".repeat(heads.len())));
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| cell.as_ref().map(shown).unwrap_or_default());
        let unit = row.cells.iter().flatten().map(|figure| figure.unit.as_str()).next().unwrap_or_default();
        let goal = has_goals.then(|| row.goal.map(|goal| bound(goal, unit)).unwrap_or_default());
        text.push_str(&line(&std::iter::once(row.name.clone()).chain(cells).chain(goal).collect::<Vec<_>>()));
    }
    text
}

/// Returns the table of all figures that have a goal.
fn goals(all: &All) -> String {
    let mut text = "| | measured | goal | met |\n|---|---|---|---|\n".to_owned();
    for (subject, results) in all {
        for (name, figure, goal) in results.goals() {
            let met = match (goal.is_met(figure), results.build) {
                (true, _) => "yes",
                (false, Build::Release) => "**no**",
                (false, Build::Debug) => "not by a debug build",
            };
            let cells =
                [format!("{}: {name}", subject.name()), shown(figure), bound(goal, &figure.unit), met.to_owned()];
            text.push_str(&line(&cells));
        }
    }
    text
}

fn line(cells: &[String]) -> String {
    let mut line = "|".to_owned();
    for cell in cells {
        // Writing into a string cannot fail.
        let _ = write!(line, " {} |", cell.replace('|', "\\|"));
    }
    line.push('\n');
    line
}

/// Formats a goal.
pub(crate) fn bound(goal: Goal, unit: &str) -> String {
    let (word, value) = match goal {
        Goal::AtMost(value) => ("at most", value),
        Goal::AtLeast(value) => ("at least", value),
    };
    format!("{word} {}", shown(&Figure { value, unit: unit.to_owned() }))
}

/// Formats a figure with three digits, or all before the decimal point.
pub(crate) fn shown(Figure { value, unit }: &Figure) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |at| digits.split_at(at));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let space = if unit.is_empty() { "" } else { " " };
    format!("{sign}{grouped}{rest}{space}{unit}")
}

/// Prints the figures of all subjects as one table.
pub(crate) fn print(all: &All) {
    println!("{:<14} {:<84} {:>14}  goal", "", "", "measured");
    for (subject, results) in all {
        for table in &results.tables {
            for row in &table.rows {
                for (column, figure) in table.columns.iter().zip(&row.cells) {
                    let Some(figure) = figure else { continue };
                    let what = format!("{} | {} | {column}", table.title, row.name);
                    let goal = row.goal.map(|goal| {
                        let missed = if goal.is_met(figure) { "" } else { ": missed" };
                        format!("{}{missed}", bound(goal, &figure.unit))
                    });
                    println!("{:<14} {what:<84} {:>14}  {}", subject.name(), shown(figure), goal.unwrap_or_default());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
