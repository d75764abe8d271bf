//! A35, F36, L0: sockets that bring nothing, no more sockets to be had, and nobody at all.

use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use crate::server::Server;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Who dawdles over a request's head, and who over its body.
const SLOW_HEADS: usize = 300;
const SLOW_BODIES: usize = 50;

/// Heads have 10 s, bodies 30 s; a busy machine has a little more.
const HEADS: Duration = Duration::from_secs(14);
const BODIES: Duration = Duration::from_secs(36);

/// What somebody in a hurry waits at most meanwhile.
const BYSTANDER: Duration = Duration::from_millis(500);

async fn connect(server: &Server, begin: &str) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?;
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(begin.as_bytes()).await?;
    Ok(stream)
}

/// A letter now and then, until the server has enough of it; how long that took.
async fn dawdle(mut stream: TcpStream, most: Duration) -> Option<Duration> {
    let (begun, mut answer) = (Instant::now(), [0; 512]);
    while begun.elapsed() < most {
        match tokio::time::timeout(Duration::from_secs(1), stream.read(&mut answer)).await {
            // Closed, or told why and closed.
            Ok(Ok(0) | Err(_)) => return Some(begun.elapsed()),
            Ok(Ok(_)) => {}
            Err(_) => drop(stream.write_all(b"x").await),
        }
    }
    None
}

/// Many sockets that bring heads and bodies letter by letter. They are closed in time, and nobody else waits.
pub(crate) async fn slow_heads(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "slow-heads").await?;
    let server = world.setup.start(&world.history).await?;
    let bystander = world.client(&server, "u0")?;
    let head = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ";
    let body = "POST /api/agent/page/worker HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-user: u1\r\n\
                content-type: application/json\r\ncontent-length: 100000\r\n\r\n{";
    let mut sockets = Vec::new();
    for number in 0..SLOW_HEADS + SLOW_BODIES {
        let (begin, most) = if number < SLOW_HEADS { (head, HEADS) } else { (body, BODIES) };
        let stream = connect(&server, begin).await?;
        sockets.push(tokio::spawn(dawdle(stream, most)));
    }
    let (mut outcome, mut longest) = (Outcome { injected: sockets.len() as u64, ..Outcome::default() }, Duration::ZERO);
    while sockets.iter().any(|socket| !socket.is_finished()) {
        let asked = Instant::now();
        outcome.expect(bystander.status("/healthz").await == Some(200), || "a bystander is not answered".to_owned());
        longest = longest.max(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut open = 0;
    for socket in sockets {
        open += usize::from(socket.await?.is_none());
    }
    outcome.expect(open == 0, || format!("{open} sockets are open after their time"));
    outcome.expect(longest < BYSTANDER, || format!("I11 a bystander waited {longest:?}"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("a bystander waited {} ms", longest.as_millis());
    Ok(outcome)
}

/// Files that the server may open, and sockets that want more.
const FILES: &str = "--nofile=96";
const SOCKETS: usize = 200;

/// The server has no more sockets to give. What runs goes on, and with sockets free again everybody is answered.
pub(crate) async fn few_files(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "few-files").await?;
    let mut setup = world.setup.clone();
    setup.launcher = vec!["prlimit".to_owned(), FILES.to_owned()];
    let mut server = setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
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
    outcome.expect(busy < 150, || format!("it turns in circles: {busy} ticks in 3 s"));
    outcome.expect(running.await?.is_finished(), || "the answer that was running did not end".to_owned());
    let begun = Instant::now();
    let later = world.client(&server, "u1")?;
    while later.status("/healthz").await != Some(200) && begun.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    outcome.expect(begun.elapsed() < Duration::from_secs(10), || "nobody is answered afterwards".to_owned());
    super::kill::goes_on(&later, "u1", "later", 0, &mut outcome).await?;
    outcome.expect(!server.has_ended(), || "the server ended".to_owned());
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("{} ms of CPU in 3 s without sockets", busy * 10);
    Ok(outcome)
}

/// How long nobody asks.
const QUIET: Duration = Duration::from_secs(20);

/// L0: the server does nothing when there is nothing to do.
pub(crate) async fn idle(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "idle").await?;
    let server = world.setup.start(&world.history).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let ticks = server.cpu_ticks()?;
    tokio::time::sleep(QUIET).await;
    let (busy, memory) = (server.cpu_ticks()? - ticks, server.memory_mb()?);
    // A tick is 10 ms.
    let share = busy as f64 / QUIET.as_secs_f64();
    let slack = if given.is_debug() { 2.0 } else { 1.0 };
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    outcome.expect(share <= 0.5 * slack, || format!("{share:.2} % of a CPU"));
    outcome.expect(memory <= 60.0 * slack, || format!("I9 {memory:.0} MB"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("{share:.2} % of a CPU, {memory:.0} MB");
    Ok(outcome)
}
