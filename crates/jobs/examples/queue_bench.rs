//! Measures the queue: how long it takes until a job begins while others wait, and how many jobs are
//! done per second.
//!
//! `cargo run --release -p jobs --example queue_bench [-- DATABASE]`; without a database in a file of a
//! temporary folder. With the variable `BENCH_FIGURES`, the figures are also written into that file, as tables for the
//! program `bench`.

use jobs::{Handler, Jobs, Kind, Outcome, Workers};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use store::{Store, sql};
use tokio::sync::mpsc;

const WORK: Kind<u64> = Kind::new("bench.work").concurrency(16);

/// The numbers of jobs that wait meanwhile.
const WAITING: [u64; 4] = [0, 1_000, 10_000, 100_000];

/// The number of jobs whose start is measured, and of those that are done as fast as possible.
const STARTS: usize = 200;
const BURST: usize = 5_000;

#[tokio::main]
async fn main() {
    let folder = std::env::temp_dir().join(format!("queue-bench-{}", std::process::id()));
    let url = std::env::args().nth(1).unwrap_or_else(|| format!("sqlite://{}/jobs.db", folder.display()));
    let store = Store::open(&url).await.expect("the database can be opened");
    let (begun, mut begins) = mpsc::unbounded_channel();
    let workers = Workers::new(Jobs::new(store.clone()));
    workers.add(Handler::new(WORK, move |_, number: u64| {
        let _ = begun.send((number, Instant::now()));
        std::future::ready(Ok(Outcome::DONE))
    }));
    workers.start();
    println!("{url}");
    println!("{:>9}  {:>9}  {:>9}  {:>9}", "waiting", "p50 ms", "p99 ms", "max ms");
    let (mut waiting, mut rows) = (0, Vec::new());
    for wanted in WAITING {
        fill(&store, waiting, wanted).await;
        waiting = wanted;
        let mut latencies = Vec::new();
        for number in 0..STARTS as u64 {
            let before = Instant::now();
            workers.jobs().enqueue(WORK.job(&number)).await.expect("it is enqueued");
            let (_, at) = begins.recv().await.expect("it begins");
            latencies.push(at.duration_since(before));
        }
        latencies.sort_unstable();
        let ms = |at: usize| latencies[at.min(STARTS - 1)].as_secs_f64() * 1_000.0;
        let (p50, p99, max) = (ms(STARTS / 2), ms(STARTS * 99 / 100), ms(STARTS));
        println!("{wanted:>9}  {p50:>9.2}  {p99:>9.2}  {max:>9.2}");
        let cells = [p50, p99, max].map(|value| json!({ "value": value, "unit": "ms" }));
        rows.push(json!({ "name": format!("{wanted} waiting jobs"), "cells": cells }));
    }
    let before = Instant::now();
    let enqueues = (0..BURST as u64).map(|number| workers.jobs().enqueue(WORK.job(&number)));
    let done = async {
        for _ in 0..BURST {
            begins.recv().await.expect("it begins");
        }
    };
    tokio::join!(futures::future::join_all(enqueues), done);
    let took = before.elapsed().as_secs_f64();
    let rate = BURST as f64 / took;
    println!("{BURST} jobs enqueued and run while {waiting} wait: {rate:.0} per second");
    write_figures(&rows, waiting, rate);
    workers.shutdown(Duration::from_secs(10)).await;
    store.close().await;
    // Only there for a file.
    let _ = std::fs::remove_dir_all(folder);
}

/// Writes the tables where the program `bench` reads them.
fn write_figures(starts: &[Value], waiting: u64, rate: f64) {
    let Some(file) = std::env::var_os("BENCH_FIGURES") else { return };
    let name = format!("jobs enqueued and run per second while {waiting} wait");
    let tables = json!([
        { "title": "Time until a job begins", "columns": ["p50", "p99", "longest"], "rows": starts },
        { "title": "The queue", "columns": ["measured"], "rows": [{ "name": name, "cells": [{ "value": rate.round() }] }] },
    ]);
    std::fs::write(file, tables.to_string()).expect("the figures can be written");
}

/// Adds jobs that are not due.
async fn fill(store: &Store, from: u64, to: u64) {
    let fill = "
        WITH RECURSIVE numbers (no) AS (SELECT $1 UNION ALL SELECT no + 1 FROM numbers WHERE no < $2)
        INSERT INTO jobs (id, kind, payload, due_at, created_at)
        SELECT 'filled-' || no, 'bench.work', '0', 9000000000000000, 0 FROM numbers";
    let (from, to) = (from as i64 + 1, to as i64);
    if from > to {
        return;
    }
    let fill = sql::query(fill).bind(from).bind(to);
    store.write(move |db| Box::pin(async move { Ok(fill.execute(db).await.map(drop)?) })).await.expect("it is filled");
}
