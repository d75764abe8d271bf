//! Measures how cost grows with the length of a reply, the length of a tool's input, and the number
//! of earlier messages.

use crate::load;
use crate::process::MeasuredServer;
use crate::results::{Table, figure};
use anyhow::Result;
use std::time::Duration;

/// The numbers of deltas in a reply, doubling from row to row.
const LENGTHS: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
/// The number of turns per row.
const TURNS: usize = 5;
/// The number of earlier turns in the conversation, two messages each.
const HISTORY: usize = 1_000;
/// The number of turns whose time to first text is measured.
const MEASURED: usize = 21;

/// Returns the models that the scripted provider must offer.
pub(crate) fn models() -> impl Iterator<Item = String> {
    let replies = LENGTHS.iter().flat_map(|length| [format!("bench-{length}x0"), format!("input-{length}x0")]);
    replies.chain(["bench-1x0".to_owned()])
}

/// Returns the cost per delta of replies that double in length, for text and for a tool's input. It
/// stays constant if no delta causes earlier ones to be processed again.
pub(crate) async fn doubling(server: &MeasuredServer) -> Result<Table> {
    let client = reqwest::Client::builder().build()?;
    let mut table = Table::new("CPU per delta of replies that double in length", &["text", "tool input"]);
    for length in LENGTHS {
        let mut row = Vec::new();
        for kind in ["bench", "input"] {
            let model = format!("{kind}-{length}x0");
            load::run_turn(&client, server, &model, "warm-up").await?;
            let before = server.cpu_s()?;
            for turn in 0..TURNS {
                load::run_turn(&client, server, &model, &format!("{model}-{turn}")).await?;
            }
            row.push(figure((server.cpu_s()? - before) * 1e6 / (TURNS * length) as f64, "µs"));
        }
        table.add(&format!("{length} deltas"), row);
    }
    Ok(table)
}

/// Adds the time to first text in a conversation of 2,000 messages and in a new one.
pub(crate) async fn history(server: &MeasuredServer, table: &mut Table) -> Result<()> {
    let client = reqwest::Client::builder().build()?;
    for _ in 0..HISTORY {
        load::run_turn(&client, server, "bench-1x0", "long").await?;
    }
    let long = median(&client, server, |_| "long".to_owned()).await?;
    let new = median(&client, server, |turn| format!("new-{turn}")).await?;
    let what = format!("first text in a conversation of {} messages", 2 * HISTORY);
    table.add(&what, [figure(long.as_secs_f64() * 1e3, "ms")]);
    table.add("first text in a new conversation", [figure(new.as_secs_f64() * 1e3, "ms")]);
    Ok(())
}

async fn median(
    client: &reqwest::Client,
    server: &MeasuredServer,
    conversation: impl Fn(usize) -> String,
) -> Result<Duration> {
    let mut times = Vec::new();
    for turn in 0..MEASURED {
        times.push(load::run_turn(client, server, "bench-1x0", &conversation(turn)).await?);
    }
    times.sort_unstable();
    Ok(times[MEASURED / 2])
}
