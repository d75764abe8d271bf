//! Measures the cost of the journal: RUNS concurrent runs, each with EVENTS events in every flush,
//! for SECONDS.
//!
//! `cargo run --release -p store --example journal_bench -- [RUNS 500] [SECONDS 10] [EVENTS 2]
//! [FLUSH_MS 100]`
//!
//! With `DATABASE_URL=postgres://…` it uses that database, which must be empty, instead of a new
//! file.
//!
//! Prints the CPU time of the whole process per row (one run's batch), the time of a flush and the
//! size of the files. Reads /proc, so it runs on Linux only.

use bytes::Bytes;
use std::time::{Duration, Instant};
use store::{BeginRun, JournalBatch, NewMessage, Store, StoreError};
use wire::{Role, UiMessage};

/// Kernel ticks per second in /proc/PID/stat; fixed on Linux.
const TICKS: f64 = 100.0;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let mut next = |default: u64| arguments.next().transpose().map(|number| number.unwrap_or(default));
    let (runs, seconds, events, flush_ms) = (next(500)?, next(10)?, next(2)?, next(100)?);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.db");
    let url = std::env::var("DATABASE_URL").unwrap_or_else(|_| format!("sqlite://{}", path.display()));
    let store = Store::open(&url).await?;
    for run in 0..runs {
        begin(&store, run).await?;
    }

    let flushes = seconds * 1000 / flush_ms.max(1);
    let mut times = Vec::new();
    let mut tick = tokio::time::interval(Duration::from_millis(flush_ms.max(1)));
    let idle = cpu_seconds()?;
    for flush in 0..flushes {
        tick.tick().await;
        let batches = (0..runs).map(|run| batch(run, flush * events + 1, events)).collect();
        let begun = Instant::now();
        let fenced = store.append_events(batches).await?;
        times.push(begun.elapsed());
        assert!(fenced.is_empty(), "no run is over");
    }
    let busy = cpu_seconds()?;
    let (user, system) = (busy.0 - idle.0, busy.1 - idle.1);
    let used = user + system;

    times.sort_unstable();
    let rows = (runs * flushes) as f64;
    let percentile = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!("{runs} runs, {events} events a flush, a flush each {flush_ms} ms, {flushes} flushes, {rows} rows");
    let share = used * 100.0 / seconds as f64;
    println!(
        "CPU        {:.2} µs a row ({:.2} user, {:.2} system), {share:.1} % of one core",
        used * 1e6 / rows,
        user * 1e6 / rows,
        system * 1e6 / rows
    );
    println!("a flush    p50 {:?}, p99 {:?}, longest {:?}", percentile(0.5), percentile(0.99), percentile(1.0));
    println!("files      database {} KB, WAL {} KB", size(&path) / 1024, size(&path.with_extension("db-wal")) / 1024);
    Ok(())
}

async fn begin(store: &Store, run: u64) -> Result<(), StoreError> {
    let answer = UiMessage::new("answer", Role::Assistant);
    let question = UiMessage::user("question", "How are you?");
    let begin = BeginRun {
        conversation_id: format!("conversation-{run}"),
        page_id: "page".to_owned(),
        agent_id: "agent".to_owned(),
        title: "How are you?".to_owned(),
        submission_key: "question".to_owned(),
        insert: vec![
            NewMessage { parent_id: None, message: question },
            NewMessage { parent_id: Some("question".to_owned()), message: answer },
        ],
        update: Vec::new(),
        message_id: "answer".to_owned(),
        run_id: run_id(run),
        now: 0,
        lease_until: i64::MAX,
        audit: Vec::new(),
        grants: Vec::new(),
    };
    store.begin_run("owner", begin).await.map(|_| ())
}

/// A run id that is as long as a UUID.
fn run_id(run: u64) -> String {
    format!("0199f0a0-0000-7000-8000-{run:012}")
}

fn batch(run: u64, first_seq: u64, events: u64) -> JournalBatch {
    let frame =
        |seq: u64| format!("id: 1.{seq}\ndata: {{\"type\":\"text-delta\",\"id\":\"0\",\"delta\":\" seventeen\"}}\n\n");
    let frames: String = (first_seq..first_seq + events).map(frame).collect();
    JournalBatch {
        run_id: run_id(run),
        epoch: 1,
        first_seq,
        last_seq: first_seq + events - 1,
        frames: Bytes::from(frames),
    }
}

/// Returns the user and system CPU time that this process has used, in seconds.
fn cpu_seconds() -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The command's name is in brackets and may contain anything; user and system time are the 12th
    // and 13th field after it.
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    Ok((fields[11].parse::<f64>()? / TICKS, fields[12].parse::<f64>()? / TICKS))
}

fn size(path: &std::path::Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
