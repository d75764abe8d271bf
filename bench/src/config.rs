//! Measures the cost of a large config: checking it, and starting the server with it.

use crate::process;
use crate::results::{Table, figure};
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::process::Command;

const AGENTS: usize = 200;
const ENDPOINTS: usize = 500;
const PAGES: usize = 100;
/// The number of attempts, of which the best counts, since the machine runs other processes, too.
const TIMES: usize = 5;

/// Adds how long the binary takes for a config of 200 agents, 500 endpoints and 100 pages.
pub(crate) async fn measure(binary: &Path, table: &mut Table) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("chatwright.yaml");
    std::fs::write(&config, text())?;
    let checked = best(async || check(binary, &config).await).await?;
    let started = best(async || {
        let folder = tempfile::tempdir()?;
        process::serve(binary, &config, folder.path()).await.map(drop)
    });
    let what = format!("a config of {AGENTS} agents, {ENDPOINTS} endpoints and {PAGES} pages");
    table.add(&format!("{what} is checked"), [figure(checked.as_secs_f64() * 1e3, "ms")]);
    table.add(&format!("{what} is served"), [figure(started.await?.as_secs_f64() * 1e3, "ms")]);
    Ok(())
}

async fn check(binary: &Path, config: &Path) -> Result<()> {
    let checked = Command::new(binary).arg("check").arg("--config").arg(config).output().await?;
    ensure!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    Ok(())
}

async fn best(work: impl AsyncFn() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..TIMES {
        let begun = Instant::now();
        work().await?;
        best = best.min(begun.elapsed());
    }
    Ok(best)
}

/// Each agent has three tools, each endpoint a schema and a few steps, each page a form that it
/// shares with its chat.
fn text() -> String {
    let mut text = "connections:\n  - { id: model, type: Demo }\n  - { id: kb, type: Sql, properties: { url: 'sqlite::memory:' } }\n".to_owned();
    let mut line = |line: std::fmt::Arguments<'_>| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    line(format_args!("agents:"));
    for n in 0..AGENTS {
        line(format_args!("  - id: agent_{n}\n    type: Agent\n    connectionId: model"));
        line(format_args!(
            "    properties: {{ model: demo, maxSteps: 5, instructions: You are helpful agent number {n}. }}"
        ));
        line(format_args!(
            "    tools: [endpoint_{n}, endpoint_{}, {{ endpointId: endpoint_{}, confirm: true }}]",
            n + 100,
            n + 300
        ));
    }
    line(format_args!("api:"));
    for n in 0..ENDPOINTS {
        line(format_args!("  - id: endpoint_{n}\n    type: Api\n    description: Looks things up, number {n}."));
        line(format_args!(
            "    payloadSchema: {{ type: object, properties: {{ q: {{ type: string, maxLength: 99 }} }}, required: [q] }}"
        ));
        line(format_args!("    routine:\n      - id: hits\n        type: SqlQuery\n        connectionId: kb"));
        line(format_args!(
            "        properties: {{ query: \"select :q as q\", parameters: {{ q: {{ _payload: q }} }} }}"
        ));
        line(format_args!(
            "      - {{ ':if': {{ _eq: [{{ _payload: q }}, none] }}, ':then': {{ ':reject': Ask for something. }} }}"
        ));
        line(format_args!("      - ':return': {{ hits: {{ _step: hits }}, by: {{ _user: id }} }}"));
    }
    line(format_args!("pages:"));
    for n in 0..PAGES {
        line(format_args!("  - id: page_{n}\n    blocks:"));
        for field in 0..8 {
            line(format_args!(
                "      - {{ id: field_{field}, type: TextInput, properties: {{ label: Field {field} }} }}"
            ));
        }
        line(format_args!(
            "      - id: chat\n        type: AgentChat\n        properties:\n          agentId: agent_{n}"
        ));
        line(format_args!("          sharedState: {{ one: {{ _state: field_1 }}, two: {{ _state: field_2 }} }}"));
    }
    text
}
