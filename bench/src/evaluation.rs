//! Measures an evaluation of 1,000 cases with the demo model.

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

/// Runs the evaluation, with its results in a file, and prints how long it took.
///
/// # Errors
/// It failed, or took longer than it may.
pub(crate) fn measure(binary: &Path) -> Result<()> {
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
    println!("{CASES} cases in {:.1} s, {:.1} ms each", took.as_secs_f64(), took.as_secs_f64() * 1e3 / CASES as f64);
    ensure!(took <= LONGEST, "they may take {} s", LONGEST.as_secs());
    Ok(())
}
