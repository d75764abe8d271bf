//! Rows A35, F36 and L0: slow connections, a lack of file descriptors, and an idle server.

use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::server::Server;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The number of slow request heads and of slow bodies.
const SLOW_HEADS: usize = 300;
const SLOW_BODIES: usize = 50;

/// The server allows 10 s for a head and 30 s for a body; these limits allow for a busy machine.
const HEAD_LIMIT: Duration = Duration::from_secs(14);
const BODY_LIMIT: Duration = Duration::from_secs(36);

/// The maximum response time for another client.
const MAX_BYSTANDER_WAIT: Duration = Duration::from_millis(500);

async fn connect(server: &Server, begin: &str) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?;
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(begin.as_bytes()).await?;
    Ok(stream)
}

/// Sends a byte every second; returns the time until the server closes the connection.
async fn send_slowly(mut stream: TcpStream, most: Duration) -> Option<Duration> {
    let (begun, mut answer) = (Instant::now(), [0; 512]);
    while begun.elapsed() < most {
        match tokio::time::timeout(Duration::from_secs(1), stream.read(&mut answer)).await {
            // Closed, with or without a response.
            Ok(Ok(0) | Err(_)) => return Some(begun.elapsed()),
            Ok(Ok(_)) => {}
            Err(_) => drop(stream.write_all(b"x").await),
        }
    }
    None
}

/// Opens many sockets that send heads and bodies byte by byte. They are closed in time, and other
/// clients are not delayed.
pub(crate) async fn slow_heads(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "slow-heads").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let bystander = testbed.client(&server, "u0")?;
    let head = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ";
    let body = "POST /api/agent/page/worker HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-user: u1\r\n\
                content-type: application/json\r\ncontent-length: 100000\r\n\r\n{";
    let mut sockets = Vec::new();
    for number in 0..SLOW_HEADS + SLOW_BODIES {
        let (begin, most) = if number < SLOW_HEADS { (head, HEAD_LIMIT) } else { (body, BODY_LIMIT) };
        let stream = connect(&server, begin).await?;
        sockets.push(tokio::spawn(send_slowly(stream, most)));
    }
    let (mut outcome, mut longest) = (Outcome { injected: sockets.len() as u64, ..Outcome::default() }, Duration::ZERO);
    while sockets.iter().any(|socket| !socket.is_finished()) {
        let asked = Instant::now();
        outcome.expect(bystander.status("/healthz").await == Some(200), || "another client is not answered".to_owned());
        longest = longest.max(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut open = 0;
    for socket in sockets {
        open += usize::from(socket.await?.is_none());
    }
    outcome.expect(open == 0, || format!("{open} sockets are still open after the time limit"));
    outcome.expect(longest < MAX_BYSTANDER_WAIT, || format!("I11 another client waited {longest:?}"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!("another client waited {} ms", longest.as_millis());
    Ok(outcome)
}

/// The limit of open files of the server, and the number of sockets.
const FILE_LIMIT: &str = "--nofile=96";
const SOCKETS: usize = 200;

/// The server cannot open more sockets. Running replies continue, and later requests are answered.
pub(crate) async fn few_files(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "few-files").await?;
    let mut setup = testbed.setup.clone();
    setup.launcher = vec!["prlimit".to_owned(), FILE_LIMIT.to_owned()];
    let mut server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let script = Script { tag: "u0-0".to_owned(), deltas: 200, pause: 30, ..Script::default() };
    let Ok(stream) = client.send("c", &script).await? else { anyhow::bail!("the message was refused") };
    let running = {
        let client = client.clone();
        tokio::spawn(async move { client.read("c", stream, None).await })
    };
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS {
        sockets.push(connect(&server, "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n").await?);
    }
    let ticks = server.cpu_ticks()?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let busy = server.cpu_ticks()? - ticks;
    drop(sockets);
    let mut outcome = Outcome { injected: SOCKETS as u64, ..Outcome::default() };
    outcome.expect(busy < 150, || format!("the server is busy without work: {busy} ticks in 3 s"));
    outcome.expect(running.await?.is_finished(), || "the running reply did not finish".to_owned());
    let begun = Instant::now();
    let later = testbed.client(&server, "u1")?;
    while later.status("/healthz").await != Some(200) && begun.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    outcome.expect(begun.elapsed() < Duration::from_secs(10), || "no request is answered afterwards".to_owned());
    super::kill::check_conversation_continues(&later, "u1", "later", 0, &mut outcome).await?;
    outcome.expect(!server.has_ended(), || "the server ended".to_owned());
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!("{} ms of CPU time in 3 s without free sockets", busy * 10);
    Ok(outcome)
}

/// The duration without requests.
const IDLE_TIME: Duration = Duration::from_secs(20);

/// Row L0: an idle server uses almost no CPU time.
pub(crate) async fn idle(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "idle").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let ticks = server.cpu_ticks()?;
    tokio::time::sleep(IDLE_TIME).await;
    let (busy, memory) = (server.cpu_ticks()? - ticks, server.memory_mb()?);
    // A tick is 10 ms.
    let share = busy as f64 / IDLE_TIME.as_secs_f64();
    let slack = if options.is_debug() { 2.0 } else { 1.0 };
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    outcome.expect(share <= 0.5 * slack, || format!("{share:.2} % of a CPU"));
    outcome.expect(memory <= 60.0 * slack, || format!("I9 {memory:.0} MB"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!("{share:.2} % of a CPU, {memory:.0} MB");
    Ok(outcome)
}
