//! F26: a reader who does not read. Nobody waits for him, memory stays bounded, and he still gets every event.

use crate::client::Reader;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use crate::server::Server;
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// Far more than sockets and the server's memory for a run hold: 600 pieces of 16 KB.
const PIECES: usize = 600;
const PIECE: usize = 16_000;

/// What those who do not read may take besides, in MB. The system keeps what is in their sockets.
const MOST_MEMORY: f64 = 40.0;

/// How many do not read.
const READERS: usize = 4;

/// A long answer with readers who sleep until it is over.
pub(crate) async fn reader(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "slow-reader").await?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let script = |tag: &str| Script { tag: tag.to_owned(), deltas: PIECES, size: PIECE, pause: 2, ..Script::default() };
    // What an answer of this length takes by itself, twice, so that nothing is for the first time.
    let mut alone: f64 = 0.0;
    for round in 0..2 {
        let (client, script) = (client.clone(), script(&format!("u0-{round}")));
        let turn = tokio::spawn(async move { client.turn("alone", &script, None).await });
        alone = alone.max(peak(&server, &turn).await?);
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
    let most = peak(&server, &quick).await?;
    let (end, took) = (quick.await?, begun.elapsed());
    let mut outcome = Outcome { injected: READERS as u64, ..Outcome::default() };
    outcome.expect(end.is_finished(), || "the quick reader did not come to the end".to_owned());
    for (number, mut sleeper) in sleepers.into_iter().enumerate() {
        let kinds = read_on(&world, &mut sleeper).await?;
        outcome.expect(kinds.iter().any(|kind| kind == "finish"), || {
            format!("the slow reader {number} did not come to the end")
        });
    }
    client.view("c").await?;
    outcome.expect(most - alone < MOST_MEMORY, || format!("I9 memory went from {alone:.0} to {most:.0} MB"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    let more = (most - alone).max(0.0);
    outcome.worst =
        format!("{more:.0} MB for four, {alone:.0} MB for 10 MB of text; told within {:.1} s", took.as_secs_f64());
    Ok(outcome)
}

/// The most memory while something runs, in MB.
async fn peak<T>(server: &Server, running: &JoinHandle<T>) -> Result<f64> {
    let mut most = server.memory_mb()?;
    while !running.is_finished() {
        most = most.max(server.memory_mb()?);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(most)
}

/// Joins with the smallest buffer that the system gives.
async fn join_without_reading(server: &Server, conversation: &str) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?.parse()?;
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut stream = socket.connect(address).await?;
    // Of the old HTTP, so that the body is not cut into chunks.
    let request = format!(
        "GET /api/agent/page/worker/{conversation}/stream HTTP/1.0\r\nhost: {address}\r\nx-forwarded-user: u0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Wakes up and reads all that there is.
async fn read_on(world: &World, stream: &mut TcpStream) -> Result<Vec<String>> {
    let (mut reader, mut buffer, mut head) = (Reader::new(&world.history, "c"), vec![0; 64 * 1024], Vec::new());
    let mut in_body = false;
    loop {
        let read = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut buffer)).await??;
        if read == 0 {
            return Ok(std::mem::take(&mut reader.kinds));
        }
        let mut piece = &buffer[..read];
        if !in_body {
            head.extend_from_slice(piece);
            let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            ensure!(head.starts_with(b"HTTP/1.") && head[8..].starts_with(b" 200"), "the stream was refused");
            in_body = true;
            piece = &head[end + 4..];
        }
        if let Some(kinds) = reader.take(piece) {
            return Ok(kinds);
        }
    }
}
