//! The figures of the benches as data: what the files `bench/results/SUBJECT.json` contain.

use anyhow::{Context, Result};
use clap::ValueEnum;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The subject of a measurement; each has a file of results and a part of `docs/performance.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    Server,
    Conversation,
    Workflows,
    Queue,
    Retrieval,
    Rankings,
    Shell,
    Evaluation,
    Browser,
    Admin,
    Scale,
    Screens,
    ScreensBrowser,
}

impl Subject {
    /// Returns the name, which is also that of the file and of the place in the page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Conversation => "conversation",
            Self::Workflows => "workflows",
            Self::Queue => "queue",
            Self::Retrieval => "retrieval",
            Self::Rankings => "rankings",
            Self::Shell => "shell",
            Self::Evaluation => "evaluation",
            Self::Browser => "browser",
            Self::Admin => "admin",
            Self::Scale => "scale",
            Self::Screens => "screens",
            Self::ScreensBrowser => "screens-browser",
        }
    }

    /// Returns the command that measures it.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Server => "cargo xtask bench",
            Self::Conversation => "cargo xtask bench conversation",
            Self::Workflows | Self::Queue => "cargo xtask bench workflows",
            Self::Retrieval | Self::Rankings => "cargo xtask bench retrieval",
            Self::Shell => "cargo xtask bench shell",
            Self::Evaluation => "cargo xtask bench evaluation",
            Self::Browser => "cargo xtask bench ui",
            Self::Admin => "cargo xtask bench admin",
            Self::Scale => "cargo xtask bench scale",
            Self::Screens | Self::ScreensBrowser => "cargo xtask bench screens",
        }
    }
}

/// The figures of one run of a bench.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Results {
    pub(crate) measured: Date,
    pub(crate) build: Build,
    pub(crate) machine: Machine,
    pub(crate) tables: Vec<Table>,
}

/// How the measured program was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Build {
    Debug,
    Release,
}

/// Where it was measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    /// The name of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu: Option<String>,
    /// The processes that ran or waited for a core in the minute before the end, those of the bench included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<f64>,
}

/// A table of figures.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// The heading of the column with the names of the rows.
    pub(crate) title: String,
    /// The headings of the columns with figures.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// A figure for each column, or none where there is none.
    pub(crate) cells: Vec<Option<Figure>>,
    /// The goal of each figure in the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<Goal>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    /// The unit; empty for a number of things.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) unit: String,
}

/// A bound, in the unit of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    pub(crate) fn is_met(self, figure: &Figure) -> bool {
        match self {
            Self::AtMost(bound) => figure.value <= bound,
            Self::AtLeast(bound) => figure.value >= bound,
        }
    }
}

/// Creates a figure.
pub(crate) fn figure(value: f64, unit: &str) -> Option<Figure> {
    Some(Figure { value, unit: unit.to_owned() })
}

/// Rounds to four digits: more are noise.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    match digits {
        0.. => (value * 10_f64.powi(digits)).round() / 10_f64.powi(digits),
        _ => value.round(),
    }
}

impl Table {
    pub(crate) fn new(title: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { title: title.to_owned(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, name: &str, cells: impl Into<Vec<Option<Figure>>>) {
        self.rows.push(Row { name: name.to_owned(), cells: cells.into(), goal: None });
    }

    /// Adds a row whose figures have a goal.
    pub(crate) fn add_with_goal(&mut self, name: &str, cells: impl Into<Vec<Option<Figure>>>, goal: Goal) {
        self.rows.push(Row { name: name.to_owned(), cells: cells.into(), goal: Some(goal) });
    }
}

impl Results {
    /// Creates the results of a measurement that ends now, on this machine.
    pub(crate) fn new(mut tables: Vec<Table>, binary: &Path) -> Self {
        let cells = tables.iter_mut().flat_map(|table| &mut table.rows).flat_map(|row| &mut row.cells);
        cells.flatten().for_each(|figure| figure.value = rounded(figure.value));
        Self { measured: jiff::Zoned::now().date(), build: Build::of(binary), machine: Machine::this(), tables }
    }

    /// Reads the results of a subject; none if it was not measured yet.
    pub(crate) fn load(folder: &Path, subject: Subject) -> Result<Option<Self>> {
        let file = file(folder, subject);
        if !file.exists() {
            return Ok(None);
        }
        let read = || anyhow::Ok(serde_json::from_slice(&std::fs::read(&file)?)?);
        read().map(Some).with_context(|| file.display().to_string())
    }

    /// Replaces the results of a subject.
    pub(crate) fn save(&self, folder: &Path, subject: Subject) -> Result<()> {
        Ok(std::fs::write(file(folder, subject), serde_json::to_string_pretty(self)? + "\n")?)
    }

    /// Returns all figures with a goal: the row, the column if there are several, the figure and the goal.
    pub(crate) fn goals(&self) -> Vec<(String, &Figure, Goal)> {
        let mut found = Vec::new();
        for table in &self.tables {
            for row in &table.rows {
                let Some(goal) = row.goal else { continue };
                for (figure, column) in row.cells.iter().zip(&table.columns) {
                    let Some(figure) = figure else { continue };
                    let is_alone = table.columns.len() == 1;
                    let name = if is_alone { row.name.clone() } else { format!("{}, {column}", row.name) };
                    found.push((name, figure, goal));
                }
            }
        }
        found
    }
}

impl Build {
    /// Returns the kind of build of a program in a folder of Cargo.
    fn of(binary: &Path) -> Self {
        if binary.components().any(|part| part.as_os_str() == "release") { Self::Release } else { Self::Debug }
    }
}

impl Machine {
    fn this() -> Self {
        let line = |file: &str, before: &str| {
            let text = std::fs::read_to_string(file).ok()?;
            text.lines().find_map(|line| Some(line.strip_prefix(before)?.trim().to_owned()))
        };
        let cpu = line("/proc/cpuinfo", "model name").map(|name| name.trim_start_matches([':', ' ']).to_owned());
        let load = line("/proc/loadavg", "").and_then(|text| text.split(' ').next()?.parse().ok());
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { cores, cpu, load }
    }
}

fn file(folder: &Path, subject: Subject) -> PathBuf {
    folder.join(format!("{}.json", subject.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_to_four_digits() {
        assert_eq!(rounded(0.0), 0.0);
        assert_eq!(rounded(5.912_345), 5.912);
        assert_eq!(rounded(0.039_712_3), 0.039_71);
        assert_eq!(rounded(18_399.4), 18_399.0);
        assert_eq!(rounded(-2.345_67), -2.346);
    }

    #[test]
    fn stored_results_are_read_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Results::load(folder.path(), Subject::Queue).unwrap(), None);
        let mut table = Table::new("Jobs", &["p50", "p99"]);
        table.add_with_goal("start", [figure(4.0, "ms"), None], Goal::AtMost(50.0));
        table.add("end", [figure(5.912_345, "ms"), None]);
        let results = Results::new(vec![table], Path::new("target/release/chatwright"));
        assert_eq!(results.build, Build::Release);
        assert_eq!(results.tables[0].rows[1].cells[0], figure(5.912, "ms"));
        results.save(folder.path(), Subject::Queue).unwrap();
        assert_eq!(Results::load(folder.path(), Subject::Queue).unwrap(), Some(results));
    }

    #[test]
    fn a_file_with_an_unknown_field_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("queue.json"), r#"{"measured":"2026-01-01","bild":"debug"}"#).unwrap();
        let error = Results::load(folder.path(), Subject::Queue).unwrap_err();
        assert!(error.to_string().contains("queue.json"), "{error:#}");
    }
}
