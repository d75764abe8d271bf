//! Generates the scorecard: the faults, bad inputs, attacks and loads of `rows.txt`, with the tests
//! and scenarios that cover them and the results of the last runs.
//!
//! `rows.txt` has a line for each row: `ID | RANK | what | what covers it`. The last cell has names
//! of scenarios, tests as `path::name`, and `open: …` for what is missing, separated by `;`.

use crate::record::{Record, ScenarioResult};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The path of the page below the repository's root.
pub(crate) const PAGE: &str = "docs/scorecard.md";

const ROWS: &str = "torture/rows.txt";

/// A row of the scorecard.
pub(crate) struct Row {
    id: String,
    rank: Rank,
    what: String,
    /// The names of scenarios.
    scenarios: Vec<String>,
    /// Tests as `path::name`.
    tests: Vec<String>,
    /// The missing part, if there is one.
    open: Option<String>,
}

/// The priority of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    P0,
    P1,
    P2,
}

impl Rank {
    fn weight(self) -> u32 {
        match self {
            Self::P0 => 5,
            Self::P1 => 3,
            Self::P2 => 1,
        }
    }
}

impl Row {
    fn parse(line: &str) -> Result<Self> {
        let cells: Vec<_> = line.split(" | ").map(str::trim).collect();
        let [id, rank, what, holds] = cells[..] else {
            anyhow::bail!("{ROWS}: the line does not have four cells: {line}")
        };
        let rank = match rank {
            "P0" => Rank::P0,
            "P1" => Rank::P1,
            "P2" => Rank::P2,
            _ => anyhow::bail!("{ROWS}: unknown rank: {line}"),
        };
        let (mut scenarios, mut tests, mut open) = (Vec::new(), Vec::new(), None);
        for word in holds.split(';').map(str::trim).filter(|word| !word.is_empty()) {
            match word.strip_prefix("open:") {
                Some(missing) => open = Some(missing.trim().to_owned()),
                None if word.contains("::") => tests.push(word.to_owned()),
                None => scenarios.push(word.to_owned()),
            }
        }
        ensure!(
            open.is_some() || !scenarios.is_empty() || !tests.is_empty(),
            "{ROWS}: {id} has no scenario, no test and no `open:`"
        );
        Ok(Self { id: id.to_owned(), rank, what: what.to_owned(), scenarios, tests, open })
    }

    /// Returns whether everything that the row lists passed and nothing is missing.
    fn is_held(&self, record: &Record) -> bool {
        let held = |name: &String| record.scenarios.get(name).is_some_and(ScenarioResult::passed);
        self.open.is_none() && self.scenarios.iter().all(held)
    }
}

/// Reads all rows.
pub(crate) fn read_rows(root: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(root.join(ROWS)).with_context(|| format!("{ROWS} cannot be read"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(Row::parse).collect()
}

/// Returns the points that are reached and the maximum.
fn score<'a>(rows: impl Iterator<Item = &'a Row>, record: &Record) -> (u32, u32) {
    rows.fold((0, 0), |(reached, all), row| {
        let weight = row.rank.weight();
        (reached + if row.is_held(record) { weight } else { 0 }, all + weight)
    })
}

/// The sections of the page by the first letter of the row ids.
const SECTIONS: &[(char, &str)] = &[('F', "Faults"), ('B', "Bad inputs"), ('A', "Attacks"), ('L', "Load")];

const HEADINGS: &str = "| | covered | points |\n|---|---|---|\n";

/// Returns the summary table for the console and the README.
pub(crate) fn render_summary(rows: &[Row], record: &Record) -> String {
    let mut table = String::from(HEADINGS);
    let mut line = |name: &str, section: Vec<&Row>| {
        let held = section.iter().filter(|row| row.is_held(record)).count();
        let (reached, all) = score(section.iter().copied(), record);
        // Writing into a string cannot fail.
        let _ = writeln!(table, "| {name} | {held} of {} | {reached} of {all} |", section.len());
    };
    for (letter, name) in SECTIONS {
        line(name, rows.iter().filter(|row| row.id.starts_with(*letter)).collect());
    }
    let all: Vec<_> = rows.iter().collect();
    line("all", all.clone());
    line("of these, P0 (required)", all.into_iter().filter(|row| row.rank == Rank::P0).collect());
    table
}

/// Replaces the summary table in the README.
pub(crate) fn replace_summary(readme: &str, rows: &[Row], record: &Record) -> Result<String> {
    let begin = readme.find(HEADINGS).context("README.md has no summary table of the scorecard")?;
    let length = readme[begin..].find("\n\n").context("the summary in README.md does not end")? + 1;
    Ok([&readme[..begin], &render_summary(rows, record), &readme[begin + length..]].concat())
}

/// Returns the page.
pub(crate) fn render_page(rows: &[Row], record: &Record) -> String {
    let mut page = String::from(
        "# Scorecard\n\nGenerated by `cargo xtask torture` from `torture/rows.txt` and `torture/record.json`; a test fails if the page is outdated or names \
         a test that does not exist. A row counts 5 (P0), 3 (P1) or 1 (P2) points if all its scenarios passed and nothing is missing: tests run with \
         `cargo xtask test`, scenarios with `cargo xtask torture`.\n\n",
    );
    page.push_str(&render_summary(rows, record));
    page.push_str("\n## Last run of each scenario\n| scenario | tier | seed | injected | violations | worst values | seconds |\n|---|---|---|---|---|---|---|\n");
    for (name, line) in &record.scenarios {
        let ScenarioResult { seed, tier, seconds, outcome, .. } = line;
        let worst = outcome.skipped.as_ref().map_or_else(|| outcome.worst.clone(), |why| format!("not run: {why}"));
        let _ = writeln!(
            page,
            "| `{name}` | {tier} | {seed} | {} | {} | {worst} | {seconds} |",
            outcome.injected,
            outcome.violations.len()
        );
    }
    write_violations(&mut page, &record.scenarios);
    page.push_str(
        "\n## Builds with a defect\nEach of these builds has a deliberate defect, and the scenario must find it. This tests the checks themselves.\n\n\
         | defect | scenario | found |\n|---|---|---|\n",
    );
    for (name, found) in &record.broken {
        let by = found.by.as_ref().map_or_else(|| "**no**".to_owned(), |by| escaped(by));
        let _ = writeln!(page, "| `{name}` | `{}` | {by} |", found.scenario);
    }
    if !record.fuzz.is_empty() {
        page.push_str(
            "\n## Fuzzing\nParsers of untrusted input are fuzzed with `cargo xtask torture --fuzz SECONDS`.\n\n\
             | target | seconds | inputs | failure |\n|---|---|---|---|\n",
        );
    }
    for (target, fuzzed) in &record.fuzz {
        let fell = fuzzed.fell.as_ref().map_or_else(|| "no".to_owned(), |how| format!("**{}**", escaped(how)));
        let _ = writeln!(page, "| `{target}` | {} | {} | {fell} |", fuzzed.seconds, fuzzed.runs);
    }
    for (letter, title) in SECTIONS {
        let section: Vec<_> = rows.iter().filter(|row| row.id.starts_with(*letter)).collect();
        let _ = write!(page, "\n## {title}\n| row | rank | case | covered | by |\n|---|---|---|---|---|\n");
        for row in section {
            let held = if row.is_held(record) { "yes" } else { "**no**" };
            let scenarios = row.scenarios.iter().map(|name| format!("`{name}`"));
            let tests = row.tests.iter().map(|test| test_link(test));
            let open = row.open.iter().map(|open| format!("missing: {open}"));
            let by = scenarios.chain(tests).chain(open).collect::<Vec<_>>().join("; ");
            let _ = writeln!(page, "| {} | {:?} | {} | {held} | {by} |", row.id, row.rank, row.what);
        }
    }
    page
}

fn write_violations(page: &mut String, scenarios: &BTreeMap<String, ScenarioResult>) {
    let wrong: Vec<_> = scenarios.iter().filter(|(_, line)| !line.outcome.violations.is_empty()).collect();
    if wrong.is_empty() {
        return;
    }
    page.push_str("\nViolations:\n");
    for (name, line) in wrong {
        let _ = writeln!(page, "- `{name}`: {}", escaped(&line.outcome.violations[0]));
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Returns a link to the file of a test.
fn test_link(test: &str) -> String {
    match test.split_once("::") {
        Some((path, name)) => format!("[{}](../{path})", escaped(name)),
        None => test.to_owned(),
    }
}

#[cfg(test)]
mod tests;
