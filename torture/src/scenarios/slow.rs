//! Row F26: clients that do not read do not delay others, memory stays bounded, and they still
//! receive every event later.

use crate::client::StreamReader;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::server::Server;
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// 600 deltas of 16 KB: far more than the sockets and the server's memory for a run can hold.
const PIECES: usize = 600;
const PIECE: usize = 16_000;

/// The maximum additional memory for these clients in MB. The kernel holds what is in their
/// sockets.
const MAX_MEMORY_MB: f64 = 40.0;

/// The number of clients that do not read.
const READERS: usize = 4;

/// Streams a long reply to clients that read only after it has ended.
pub(crate) async fn slow_reader(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "slow-reader").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let script = |tag: &str| Script { tag: tag.to_owned(), deltas: PIECES, size: PIECE, pause: 2, ..Script::default() };
    // The memory for a reply of this length alone, measured twice to exclude first-time effects.
    let mut alone: f64 = 0.0;
    for round in 0..2 {
        let (client, script) = (client.clone(), script(&format!("u0-{round}")));
        let turn = tokio::spawn(async move { client.turn("alone", &script, None).await });
        alone = alone.max(peak_memory(&server, &turn).await?);
        turn.await??;
    }
    let begun = Instant::now();
    let Ok(response) = client.send("c", &script("u0-2")).await? else { anyhow::bail!("the message was refused") };
    let mut sleepers = Vec::new();
    for _ in 0..READERS {
        sleepers.push(join_without_reading(&server, "c").await?);
    }
    let quick = {
        let client = client.clone();
        tokio::spawn(async move { client.read("c", response, None).await })
    };
    let most = peak_memory(&server, &quick).await?;
    let (end, took) = (quick.await?, begun.elapsed());
    let mut outcome = Outcome { injected: READERS as u64, ..Outcome::default() };
    outcome.expect(end.is_finished(), || "the fast client did not receive everything".to_owned());
    for (number, mut sleeper) in sleepers.into_iter().enumerate() {
        let kinds = read_to_end(&testbed, &mut sleeper).await?;
        outcome.expect(kinds.iter().any(|kind| kind == "finish"), || {
            format!("the slow client {number} did not receive everything")
        });
    }
    client.view("c").await?;
    outcome.expect(most - alone < MAX_MEMORY_MB, || format!("I9 memory grew from {alone:.0} to {most:.0} MB"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    let more = (most - alone).max(0.0);
    outcome.worst = format!(
        "{more:.0} MB for four slow clients, {alone:.0} MB for 10 MB of text alone; received within {:.1} s",
        took.as_secs_f64()
    );
    Ok(outcome)
}

/// Returns the maximum memory of the server in MB while a task runs.
async fn peak_memory<T>(server: &Server, running: &JoinHandle<T>) -> Result<f64> {
    let mut most = server.memory_mb()?;
    while !running.is_finished() {
        most = most.max(server.memory_mb()?);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(most)
}

/// Joins with the smallest receive buffer.
async fn join_without_reading(server: &Server, conversation: &str) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?.parse()?;
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut stream = socket.connect(address).await?;
    // HTTP/1.0, so that the body is not chunked.
    let request = format!(
        "GET /api/agent/page/worker/{conversation}/stream HTTP/1.0\r\nhost: {address}\r\nx-forwarded-user: u0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Reads all remaining data.
async fn read_to_end(testbed: &Testbed, stream: &mut TcpStream) -> Result<Vec<String>> {
    let (mut reader, mut buffer, mut head) = (StreamReader::new(&testbed.history, "c"), vec![0; 64 * 1024], Vec::new());
    let mut in_body = false;
    loop {
        let read = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut buffer)).await??;
        if read == 0 {
            return Ok(std::mem::take(&mut reader.chunk_types));
        }
        let mut piece = &buffer[..read];
        if !in_body {
            head.extend_from_slice(piece);
            let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            ensure!(head.starts_with(b"HTTP/1.") && head[8..].starts_with(b" 200"), "the stream was refused");
            in_body = true;
            piece = &head[end + 4..];
        }
        if let Some(kinds) = reader.feed(piece) {
            return Ok(kinds);
        }
    }
}
