//! The scorecard: what holds each row of faults, bad inputs, attacks and loads, and what the last torture found.
//!
//! `rows.txt` has a line for each row: `ID | RANK | what | what holds it`. What holds it are scenarios, by their names, and tests,
//! as `path::name`; more than one are separated by `;`. A word behind `open:` says what is missing.

use crate::record::{Line, Record};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Where the page is, below the root.
pub(crate) const PAGE: &str = "docs/scorecard.md";

const ROWS: &str = "torture/rows.txt";

/// A row.
pub(crate) struct Row {
    id: String,
    rank: Rank,
    what: String,
    /// Names of scenarios.
    scenarios: Vec<String>,
    /// `path::name`.
    tests: Vec<String>,
    /// What is missing, if something is.
    open: Option<String>,
}

/// How much a row counts.
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
    fn read(line: &str) -> Result<Self> {
        let cells: Vec<_> = line.split(" | ").map(str::trim).collect();
        let [id, rank, what, holds] = cells[..] else { anyhow::bail!("{ROWS}: not four cells: {line}") };
        let rank = match rank {
            "P0" => Rank::P0,
            "P1" => Rank::P1,
            "P2" => Rank::P2,
            _ => anyhow::bail!("{ROWS}: no such rank: {line}"),
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
            "{ROWS}: nothing holds {id}, and it is not open"
        );
        Ok(Self { id: id.to_owned(), rank, what: what.to_owned(), scenarios, tests, open })
    }

    /// Whether everything that the row asks for is held.
    fn holds(&self, record: &Record) -> bool {
        let held = |name: &String| record.scenarios.get(name).is_some_and(Line::holds);
        self.open.is_none() && self.scenarios.iter().all(held)
    }
}

/// All rows.
pub(crate) fn rows(root: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(root.join(ROWS)).with_context(|| format!("{ROWS} cannot be read"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(Row::read).collect()
}

/// Points reached and points in all.
fn score<'a>(rows: impl Iterator<Item = &'a Row>, record: &Record) -> (u32, u32) {
    rows.fold((0, 0), |(reached, all), row| {
        let weight = row.rank.weight();
        (reached + if row.holds(record) { weight } else { 0 }, all + weight)
    })
}

/// The sections of the page by the first letter of their rows.
const SECTIONS: &[(char, &str)] = &[('F', "Faults"), ('B', "Bad inputs"), ('A', "Attacks"), ('L', "Load")];

const HEADINGS: &str = "| | held | points |\n|---|---|---|\n";

/// A few lines for the console and the README.
pub(crate) fn summary(rows: &[Row], record: &Record) -> String {
    let mut told = String::from(HEADINGS);
    let mut line = |name: &str, of: Vec<&Row>| {
        let held = of.iter().filter(|row| row.holds(record)).count();
        let (reached, all) = score(of.iter().copied(), record);
        // Writing into a text cannot fail.
        let _ = writeln!(told, "| {name} | {held} of {} | {reached} of {all} |", of.len());
    };
    for (letter, name) in SECTIONS {
        line(name, rows.iter().filter(|row| row.id.starts_with(*letter)).collect());
    }
    let all: Vec<_> = rows.iter().collect();
    line("all", all.clone());
    line("of these the ones that must hold (P0)", all.into_iter().filter(|row| row.rank == Rank::P0).collect());
    told
}

/// The README with this summary in place of the one that it has.
pub(crate) fn with_summary(readme: &str, rows: &[Row], record: &Record) -> Result<String> {
    let begin = readme.find(HEADINGS).context("README.md has no summary of the scorecard")?;
    let length = readme[begin..].find("\n\n").context("the summary in README.md does not end")? + 1;
    Ok([&readme[..begin], &summary(rows, record), &readme[begin + length..]].concat())
}

/// The page.
pub(crate) fn page(rows: &[Row], record: &Record) -> String {
    let mut page = String::from(
        "# Scorecard\n\nMade by `cargo xtask torture` out of `torture/rows.txt` and `torture/record.json`; a test fails when it is not, or when a test that it \
         names is not there. A row counts 5 (P0), 3 (P1) or 1 (P2) when everything that is asked of it is held: tests run with `cargo xtask test`, \
         scenarios with `cargo xtask torture`. What is missing is said.\n\n",
    );
    page.push_str(&summary(rows, record));
    page.push_str("\n## The last run of each scenario\n| scenario | tier | seed | injected | violations | worst | seconds |\n|---|---|---|---|---|---|---|\n");
    for (name, line) in &record.scenarios {
        let Line { seed, tier, seconds, outcome, .. } = line;
        let worst = outcome.skipped.as_ref().map_or_else(|| outcome.worst.clone(), |why| format!("not run: {why}"));
        let _ = writeln!(
            page,
            "| `{name}` | {tier} | {seed} | {} | {} | {worst} | {seconds} |",
            outcome.injected,
            outcome.violations.len()
        );
    }
    wrong(&mut page, &record.scenarios);
    page.push_str(
        "\n## Broken builds\nA check that finds nothing proves nothing: each of these defects was built in, and the scenario beside it must find it.\n\n\
         | defect | scenario | found |\n|---|---|---|\n",
    );
    for (name, found) in &record.broken {
        let by = found.by.as_ref().map_or_else(|| "**no**".to_owned(), |by| escaped(by));
        let _ = writeln!(page, "| `{name}` | `{}` | {by} |", found.scenario);
    }
    if !record.fuzz.is_empty() {
        page.push_str(
            "\n## Any bytes\nWhat reads bytes of strangers was given any bytes (`cargo xtask torture --fuzz SECONDS`):\n\n\
             | target | seconds | inputs | fell over |\n|---|---|---|---|\n",
        );
    }
    for (target, fuzzed) in &record.fuzz {
        let fell = fuzzed.fell.as_ref().map_or_else(|| "no".to_owned(), |how| format!("**{}**", escaped(how)));
        let _ = writeln!(page, "| `{target}` | {} | {} | {fell} |", fuzzed.seconds, fuzzed.runs);
    }
    for (letter, title) in SECTIONS {
        let of: Vec<_> = rows.iter().filter(|row| row.id.starts_with(*letter)).collect();
        let _ = write!(page, "\n## {title}\n| row | rank | what | held | by |\n|---|---|---|---|---|\n");
        for row in of {
            let held = if row.holds(record) { "yes" } else { "**no**" };
            let scenarios = row.scenarios.iter().map(|name| format!("`{name}`"));
            let tests = row.tests.iter().map(|test| shown(test));
            let open = row.open.iter().map(|open| format!("missing: {open}"));
            let by = scenarios.chain(tests).chain(open).collect::<Vec<_>>().join("; ");
            let _ = writeln!(page, "| {} | {:?} | {} | {held} | {by} |", row.id, row.rank, row.what);
        }
    }
    page
}

fn wrong(page: &mut String, scenarios: &BTreeMap<String, Line>) {
    let wrong: Vec<_> = scenarios.iter().filter(|(_, line)| !line.outcome.violations.is_empty()).collect();
    if wrong.is_empty() {
        return;
    }
    page.push_str("\nWhat was wrong:\n");
    for (name, line) in wrong {
        let _ = writeln!(page, "- `{name}`: {}", escaped(&line.outcome.violations[0]));
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A test as a link to its file.
fn shown(test: &str) -> String {
    match test.split_once("::") {
        Some((path, name)) => format!("[{}](../{path})", escaped(name)),
        None => test.to_owned(),
    }
}

#[cfg(test)]
mod tests;
