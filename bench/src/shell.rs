//! Measures how long a script takes to start at each level of the shell: a turn whose tool call lists a folder with
//! `bash`, compared with one that lists it with the tool `ls`. Then how long other chats wait for their first text while many
//! conversations run scripts.

use crate::load;
use crate::process;
use crate::results::{Goal, Table, figure};
use anyhow::{Result, ensure};
use std::path::Path;
use std::time::{Duration, Instant};

/// The turns of which the median is taken.
const TURNS: usize = 31;
/// The levels, and the milliseconds that a script may take there.
const LEVELS: [(&str, f64); 2] = [("virtual", 5.0), ("process", 50.0)];
/// The conversations that run a script at once, and the script.
const CONVERSATIONS: usize = 100;
const WORK: &str = "start bash: for i in 1 2 3 4 5; do seq 2000 | sort | tail -n 1; done";
/// The milliseconds until the first text of another chat meanwhile, and the time between two of them.
const FIRST_TEXT: f64 = 100.0;
const BETWEEN: Duration = Duration::from_millis(20);

/// Runs the turns. A level that this machine cannot run has no row.
pub(crate) async fn measure(binary: &Path) -> Result<Vec<Table>> {
    let client = reqwest::Client::builder().build()?;
    let columns = ["a turn with `bash`", "a turn with the tool `ls`", "so the script takes"];
    let mut table = Table::new("Level of the shell", &columns);
    let mut goals = Table::new("A shell", &["measured"]);
    for (level, most) in LEVELS {
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
        let script = ms(with.saturating_sub(without));
        table.add(&format!("`{level}`"), [ms(with), ms(without), script.clone()]);
        goals.add_with_goal(&format!("`ls` at `{level}`"), [script], Goal::AtMost(most));
        let first = first_text_beside_scripts(&client, &url).await?;
        let name =
            format!("first text of other chats (p99) while {CONVERSATIONS} conversations run scripts at `{level}`");
        goals.add_with_goal(&name, [ms(first)], Goal::AtMost(FIRST_TEXT));
        server.stop().await?;
    }
    Ok(vec![table, goals])
}

/// Runs a script in many conversations at once, and asks in others meanwhile, one after the other. Returns the 99th percentile of their
/// times to first text.
async fn first_text_beside_scripts(client: &reqwest::Client, url: &str) -> Result<Duration> {
    let scripts: Vec<_> = (0..CONVERSATIONS)
        .map(|number| {
            let (client, url) = (client.clone(), url.to_owned());
            tokio::spawn(async move { load::ask(&client, &url, &format!("script-{number}"), WORK).await })
        })
        .collect();
    let mut firsts = Vec::new();
    while !scripts.iter().all(|script| script.is_finished()) {
        let answer = load::ask(client, url, &format!("beside-{}", firsts.len()), "hello").await?;
        ensure!(answer.finished, "the stream of a chat beside scripts is incomplete");
        firsts.push(answer.first);
        tokio::time::sleep(BETWEEN).await;
    }
    for script in scripts {
        ensure!(script.await??.finished, "the stream of a script is incomplete");
    }
    firsts.sort_unstable();
    ensure!(!firsts.is_empty(), "the scripts ended before a chat began");
    Ok(firsts[(firsts.len() - 1) * 99 / 100])
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
        "connections:\n  - {{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}\n\
         agents:\n  - id: helper\n    type: Agent\n    connectionId: demo\n    properties: {{ model: demo }}\n    \
         workspace: {{ shell: {level} }}\n\
         pages:\n  - id: bench\n    blocks: []\n"
    )
}
