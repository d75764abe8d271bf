//! Measures an evaluation of 1,000 cases with the demo model.

use crate::results::{Goal, Table, figure};
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The number of cases.
const CASES: usize = 1_000;
/// How long all of them may take.
const LONGEST: Duration = Duration::from_secs(60);

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, tools: [search_articles], properties: { model: demo } }]
api:
  - id: search_articles
    description: Search the articles.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ ':return': { articles: [{ title: Refunds, body: Within 30 days. }] } }]
";

const EVALUATION: &str = "
name: bench
config: chatwright.yaml
agentId: helper
dataset: cases.jsonl
parallel: 16
scorers:
  - { id: says, contains: { all: { _case: expected } } }
  - { id: quick, time: { maxSeconds: 30 } }
";

/// Runs the evaluation, with its results in a file, and measures how long it takes.
pub(crate) fn measure(binary: &Path) -> Result<Vec<Table>> {
    let folder = tempfile::tempdir()?;
    let mut cases = String::new();
    for at in 0..CASES {
        let (input, expected) = match at % 2 {
            0 => ("What do you know about refunds?".to_owned(), "30 days".to_owned()),
            _ => (format!("count to {}", at % 20 + 3), "3".to_owned()),
        };
        writeln!(cases, r#"{{"id":"case-{at}","input":"{input}","expected":"{expected}"}}"#)?;
    }
    for (name, text) in [("chatwright.yaml", CONFIG), ("evaluation.yaml", EVALUATION), ("cases.jsonl", &cases)] {
        std::fs::write(folder.path().join(name), text)?;
    }
    let begun = Instant::now();
    let mut command = Command::new(binary.canonicalize()?);
    let command = command.args(["eval", "evaluation.yaml", "--output", "results.jsonl"]).current_dir(folder.path());
    let output = command.output()?;
    let took = begun.elapsed();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let mut table = Table::new("An evaluation", &["measured"]);
    let name = format!("{CASES} cases");
    table.add_with_goal(&name, [figure(took.as_secs_f64(), "s")], Goal::AtMost(LONGEST.as_secs_f64()));
    table.add("each of them", [figure(took.as_secs_f64() * 1e3 / CASES as f64, "ms")]);
    Ok(vec![table])
}
