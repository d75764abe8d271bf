//! Measures how long a script takes to start at each level of the shell: a turn whose tool call lists a folder with
//! `bash`, compared with one that lists it with the tool `ls`.

use crate::load;
use crate::process;
use crate::results::{Table, figure};
use anyhow::{Result, ensure};
use std::path::Path;
use std::time::{Duration, Instant};

/// The turns of which the median is taken.
const TURNS: usize = 31;

/// Runs the turns. A level that this machine cannot run has no row.
pub(crate) async fn measure(binary: &Path) -> Result<Vec<Table>> {
    let client = reqwest::Client::builder().build()?;
    let columns = ["a turn with `bash`", "a turn with the tool `ls`", "so the script takes"];
    let mut table = Table::new("Level of the shell", &columns);
    for level in ["virtual", "process"] {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("chatwright.yaml");
        std::fs::write(&config, config_text(level))?;
        let server = match process::serve(binary, &config, folder.path()).await {
            Ok(server) => server,
            Err(error) => {
                eprintln!("{level}: not measured: {error}");
                continue;
            }
        };
        let url = format!("{}/api/agent/bench/helper", server.origin);
        let without = median(&client, &url, "ls", "start ls: /workspace").await?;
        let with = median(&client, &url, "bash", "start bash: ls").await?;
        let ms = |time: Duration| figure(time.as_secs_f64() * 1e3, "ms");
        table.add(&format!("`{level}`"), [ms(with), ms(without), ms(with.saturating_sub(without))]);
        server.stop().await?;
    }
    Ok(vec![table])
}

/// Returns the median of turns with this message, in conversations whose ids begin with the name of the tool.
async fn median(client: &reqwest::Client, url: &str, tool: &str, text: &str) -> Result<Duration> {
    let mut times = Vec::new();
    for turn in 0..TURNS {
        let start = Instant::now();
        let answer = load::ask(client, url, &format!("{tool}-{turn}"), text).await?;
        ensure!(answer.finished, "the stream of turn {turn} is incomplete");
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[TURNS / 2])
}

fn config_text(level: &str) -> String {
    format!(
        "connections:\n  - {{ id: demo, type: Demo }}\n\
         agents:\n  - id: helper\n    type: Agent\n    connectionId: demo\n    properties: {{ model: demo }}\n    \
         workspace: {{ shell: {level} }}\n\
         pages:\n  - id: bench\n    blocks: []\n"
    )
}
