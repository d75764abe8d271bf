//! Rows F2, F3, F22 to F25 and F37: faults of the disk and of database files. A full disk is
//! simulated with a small tmpfs that only the server sees.

use crate::client::Client;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use crate::scenarios::kill::{approve_all, check_conversation_continues};
use crate::server::{Server, clear_log};
use anyhow::{Context, Result, ensure};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The maximum time until `/readyz` reports a change.
const READYZ_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of messages to a server with a full disk. Some still fit into the existing files.
const MAX_MESSAGES: u64 = 40;

fn script(round: u64) -> Script {
    Script { tag: format!("u0-{round}"), tools: 1, deltas: 10, ..Script::default() }
}

/// Waits until `/readyz` has this status; returns the time, or none after the timeout.
async fn wait_for_readyz(client: &Client, status: u16) -> Option<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < READYZ_TIMEOUT {
        if client.status("/readyz").await == Some(status) {
            return Some(begun.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    None
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the command that runs the server under strace. The server stays the direct child
/// process, so that a kill affects only the server.
fn strace(what: &str, output: &Path) -> Vec<String> {
    let output = output.display().to_string();
    ["strace", "-D", "--follow-forks", what, "--output", &output].map(str::to_owned).to_vec()
}

/// Rows F2 and F37: the server is killed at every nth write to a file, from the creation of a
/// database over its migrations to the end of a turn.
pub(crate) async fn write_sweep(options: &RunOptions) -> Result<Outcome> {
    if !is_installed("strace") {
        return Ok(Outcome::skipped("strace is not installed"));
    }
    let step = if options.tier == Tier::One { 13 } else { 3 };
    let mut outcome = Outcome::default();
    // The seed selects the first write.
    for at in (1 + options.seed as usize % step..).step_by(step) {
        let testbed = Testbed::new(options, &format!("write-sweep-{at}")).await?;
        let mut setup = testbed.setup.clone();
        let inject = format!("--inject=pwrite64:signal=KILL:when={at}");
        setup.launcher = strace(&inject, Path::new("/dev/null"));
        let died = match setup.start(&testbed.history).await {
            Err(_) => true,
            Ok(mut server) => {
                let client = testbed.client(&server, "u0")?;
                let turn = Script { tag: "u0-0".to_owned(), tools: 1, gated: 1, deltas: 5, ..Script::default() };
                let _ = client.turn("c", &turn, None).await;
                let _ = approve_all(&client, "c").await;
                let died = server.wait_for_exit(Duration::from_millis(300)).await.is_some();
                server.kill(&testbed.history).await?;
                died
            }
        };
        let server = testbed.setup.start(&testbed.history).await?;
        let client = testbed.client(&server, "u0")?;
        check_conversation_continues(&client, "u0", "c", 0, &mut outcome).await?;
        server.stop().await?;
        outcome.violations.extend(testbed.check().await?.into_iter().map(|wrong| format!("write {at}: {wrong}")));
        if !died {
            outcome.worst = format!("a turn on a new database makes fewer than {at} writes; tested in steps of {step}");
            break;
        }
        outcome.injected += 1;
    }
    Ok(outcome)
}

/// The maximum size of the WAL in bytes when no reader holds it.
const WAL_LIMIT: u64 = 64 * 1024 * 1024;

/// Row F25: a long read transaction during many writes. The WAL grows meanwhile and shrinks
/// afterwards.
pub(crate) async fn long_reader(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "long-reader").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    client.turn("c", &script(0), None).await?;
    let wal = || fs::metadata(testbed.setup.folder.join("chat.db-wal")).map_or(0, |file| file.len());
    let mut reader = SqliteConnectOptions::new().filename(testbed.setup.database_file()).connect().await?;
    reader.execute("BEGIN; SELECT count(*) FROM messages").await?;
    let large = |round| Script { tag: format!("u0-{round}"), deltas: 500, size: 16_000, ..Script::default() };
    let mut round = 1;
    while wal() <= WAL_LIMIT + WAL_LIMIT / 4 && round < 20 {
        let end = client.turn(&format!("c{round}"), &large(round), None).await?;
        outcome.expect(end.is_finished(), || format!("a turn beside the reader does not end: {end:?}"));
        round += 1;
    }
    let most = wal();
    outcome.expect(most > WAL_LIMIT, || "the reader did not hold the WAL".to_owned());
    reader.execute("ROLLBACK").await?;
    reader.close().await?;
    for after in 0..3 {
        client
            .turn("after", &Script { tag: format!("u0-{}", 100 + after), deltas: 9, ..Script::default() }, None)
            .await?;
    }
    let left = wal();
    outcome.expect(left <= WAL_LIMIT, || format!("the WAL is {left} bytes afterwards"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!("WAL of {} MB, afterwards {} MB", most >> 20, left >> 20);
    Ok(outcome)
}

/// Row F3: a message is synced to disk before it is acknowledged with 200. Kills cannot show that,
/// so the system calls are traced.
pub(crate) async fn synced(options: &RunOptions) -> Result<Outcome> {
    if !is_installed("strace") {
        return Ok(Outcome::skipped("strace is not installed"));
    }
    let testbed = Testbed::new(options, "synced").await?;
    let (trace, mut setup) = (testbed.setup.folder.join("trace"), testbed.setup.clone());
    setup.launcher = strace("--trace=fsync,fdatasync", &trace);
    let server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let syncs = || fs::read_to_string(&trace).map(|trace| trace.matches("sync(").count());
    let (mut outcome, mut fewest) = (Outcome::default(), usize::MAX);
    for round in 0..10 {
        let before = syncs()?;
        let Ok(stream) = client.send("c", &script(round)).await? else { anyhow::bail!("a message was refused") };
        let accepted = syncs()? - before;
        client.read("c", stream, None).await;
        let all = syncs()? - before;
        // The accepted message, the start and the end of the tool call, and the end of the reply.
        outcome.expect(accepted >= 1 && all >= 4, || format!("I1 {accepted} syncs before the 200, {all} in the turn"));
        (outcome.injected, fewest) = (outcome.injected + 1, fewest.min(all));
    }
    drop(server);
    outcome.worst = format!("{fewest} syncs in a turn with a tool");
    Ok(outcome)
}

/// A folder on its own small disk, which only the server sees.
struct SmallDisk {
    /// The path through `/proc` for other processes.
    outside: PathBuf,
}

/// Starts the server with its database on a small disk; returns none if mounting is not permitted.
async fn on_small_disk(testbed: &Testbed) -> Result<Option<(Server, SmallDisk)>> {
    let permitted = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !permitted.is_ok_and(|output| output.status.success()) {
        return Ok(None);
    }
    let (inside, mut setup) = (testbed.setup.folder.join("disk"), testbed.setup.clone());
    fs::create_dir_all(&inside)?;
    let mount = format!("mount -t tmpfs -o size=4m none '{}' && exec \"$@\"", inside.display());
    setup.launcher = ["unshare", "-rm", "sh", "-c", &mount, "sh"].map(str::to_owned).to_vec();
    setup.database = Some(format!("sqlite://{}/chat.db", inside.display()));
    let server = setup.start(&testbed.history).await?;
    let outside = PathBuf::from(format!("/proc/{}/root{}", server.id()?, inside.display()));
    ensure!(outside.join("chat.db").exists(), "the database is not on the small disk");
    Ok(Some((server, SmallDisk { outside })))
}

impl SmallDisk {
    fn fill(&self) -> Result<()> {
        let mut filler = fs::File::create(self.outside.join("filler"))?;
        for size in [64 * 1024, 4096, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
        Ok(())
    }

    fn remove_filler(&self) -> Result<()> {
        Ok(fs::remove_file(self.outside.join("filler"))?)
    }

    /// Copies the database for the checker, since the disk disappears with the server.
    fn copy(&self, folder: &Path) -> Result<PathBuf> {
        for name in ["chat.db", "chat.db-wal"] {
            if self.outside.join(name).exists() {
                fs::copy(self.outside.join(name), folder.join(name))?;
            }
        }
        Ok(folder.join("chat.db"))
    }
}

/// Row F23: the disk is full, and later has space again.
pub(crate) async fn disk_full(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "disk-full").await?;
    let Some((server, disk)) = on_small_disk(&testbed).await? else {
        return Ok(Outcome::skipped("a separate disk cannot be mounted here"));
    };
    let client = testbed.client(&server, "u0")?;
    let mut outcome = Outcome::default();
    let end = client.turn("c", &script(0), None).await?;
    outcome.expect(end.is_finished(), || "the first turn does not end".to_owned());
    outcome.expect(wait_for_readyz(&client, 200).await.is_some(), || "the server never becomes ready".to_owned());
    disk.fill()?;
    send_until_refused(&client, &mut outcome).await?;
    let noticed = wait_for_readyz(&client, 503).await;
    outcome.expect(noticed.is_some(), || "/readyz does not report that nothing can be written".to_owned());
    outcome.expect(client.status("/healthz").await == Some(200), || "/healthz does not answer".to_owned());
    outcome.expect(client.view("c").await.is_ok_and(|view| view.is_some()), || "nothing can be read".to_owned());
    disk.remove_filler()?;
    let recovered = wait_for_readyz(&client, 200).await;
    outcome.expect(recovered.is_some(), || "/readyz does not recover".to_owned());
    let end = client.turn("c", &script(MAX_MESSAGES + 1), None).await?;
    outcome.expect(end.is_finished(), || format!("the conversation does not continue: {end:?}"));
    wait_until_idle(&client, &mut outcome).await?;
    let file = disk.copy(&testbed.setup.folder)?;
    outcome.violations.extend(testbed.check_file(&file).await?);
    let millis = |time: Option<Duration>| time.map_or("never".to_owned(), |time| format!("{} ms", time.as_millis()));
    outcome.worst = format!("noticed after {}, ready again after {}", millis(noticed), millis(recovered));
    drop(server);
    Ok(outcome)
}

/// Sends messages until three are refused. The first ones still fit into the existing files.
async fn send_until_refused(client: &Client, outcome: &mut Outcome) -> Result<()> {
    let mut refused = 0;
    for round in 1..=MAX_MESSAGES {
        let script = Script { size: 4_000, ..script(round) };
        outcome.injected += 1;
        match client.send(&format!("c{round}"), &script).await? {
            Ok(stream) => drop(client.read(&format!("c{round}"), stream, None).await),
            Err(status) => {
                outcome.expect(status == 503, || format!("a message is refused with {status}"));
                refused += 1;
            }
        }
        if refused == 3 {
            return Ok(());
        }
    }
    outcome.violations.push("nothing was refused on a full disk".to_owned());
    Ok(())
}

/// Row F24: files without write permission. The server refuses to start with one line of
/// explanation, and does not create a new database.
pub(crate) async fn read_only(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "read-only").await?;
    let folder = testbed.setup.folder.clone();
    let server = testbed.setup.start(&testbed.history).await?;
    testbed.client(&server, "u0")?.turn("c", &script(0), None).await?;
    server.stop().await?;
    let mut setup = testbed.setup.clone();
    if rustix::process::geteuid().is_root() {
        // Permissions do not restrict root.
        setup.launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"].map(str::to_owned).to_vec();
    }
    let before = fs::read(testbed.setup.database_file())?;
    let permit = |folder_mode: u32, file_mode: u32| -> Result<()> {
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        mode(&folder, folder_mode)?;
        mode(&folder.join("log"), 0o666)?;
        Ok(mode(&folder.join("chat.db"), file_mode)?)
    };
    let mut outcome = Outcome::default();
    for (what, folder_mode, file_mode) in
        [("the file", 0o777, 0o444), ("the file and its folder", 0o755, 0o444), ("an unreadable file", 0o755, 0o000)]
    {
        permit(folder_mode, file_mode)?;
        clear_log(&folder)?;
        let started = setup.start(&testbed.history).await;
        outcome.injected += 1;
        outcome.expect(started.is_err(), || format!("{what}: the server starts"));
        let server_log = setup.log();
        let lines: Vec<_> = server_log.lines().filter(|line| line.contains("database")).collect();
        let is_told = lines.len() == 1 && lines[0].contains("cannot open the database");
        outcome.expect(is_told && !server_log.contains("panicked"), || format!("{what}: {lines:?}"));
        permit(0o700, 0o600)?;
        outcome.expect(fs::read(testbed.setup.database_file())? == before, || format!("{what}: the file has changed"));
    }
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let end = client.turn("c", &script(1), None).await?;
    outcome.expect(end.is_finished(), || format!("the conversation does not continue: {end:?}"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    "refused to start".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// Waits until no run is active: a run whose end could not be stored is closed when the database is
/// writable again.
async fn wait_until_idle(client: &Client, outcome: &mut Outcome) -> Result<()> {
    for round in 1..=MAX_MESSAGES {
        let conversation = format!("c{round}");
        let begun = Instant::now();
        loop {
            let Some(view) = client.view(&conversation).await? else { break };
            if view["active"].is_null() {
                break;
            }
            if begun.elapsed() > Duration::from_secs(30) {
                outcome.violations.push(format!("I5 {conversation}: its run never ends: {}", view["active"]));
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

/// Row F22: another process locks the database, for a short and for a long time.
pub(crate) async fn locked(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "locked").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let mut outcome = Outcome::default();
    client.turn("c", &script(0), None).await?;
    for (round, seconds) in [(1, 2), (2, 9)] {
        let mut other = SqliteConnectOptions::new().filename(testbed.setup.database_file()).connect().await?;
        other.execute("BEGIN EXCLUSIVE").await?;
        let waits = {
            let client = client.clone();
            tokio::spawn(async move { client.send(&format!("c{round}"), &script(round)).await })
        };
        tokio::time::sleep(Duration::from_secs(1)).await;
        outcome.expect(client.view("c").await.is_ok_and(|view| view.is_some()), || "nothing can be read".to_owned());
        tokio::time::sleep(Duration::from_secs(seconds - 1)).await;
        let answered = waits.is_finished();
        other.execute("ROLLBACK").await?;
        other.close().await?;
        outcome.injected += 1;
        match (waits.await??, seconds) {
            (Ok(stream), 2) => drop(client.read("c1", stream, None).await),
            (Err(503), 9) => outcome.expect(answered, || "a long lock is not reported while it lasts".to_owned()),
            (answer, _) => outcome.violations.push(format!("a lock of {seconds} s: {:?}", answer.map(|_| 200))),
        }
    }
    outcome.expect(wait_for_readyz(&client, 200).await.is_some(), || "/readyz does not recover".to_owned());
    let end = client.turn("c", &script(3), None).await?;
    outcome.expect(end.is_finished(), || format!("the conversation does not continue: {end:?}"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    "a lock of 2 s delays, one of 9 s is answered with 503".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// Row F24: a file with a damaged header, schema or content. The server refuses to start with an
/// explanation, or keeps running.
pub(crate) async fn corrupt(options: &RunOptions) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (name, from, length) in [("head", 0, 100), ("schema", 100, 3_000), ("within", 40_960, 200_000)] {
        let testbed = Testbed::new(options, &format!("corrupt-{name}")).await?;
        let server = testbed.setup.start(&testbed.history).await?;
        let client = testbed.client(&server, "u0")?;
        for round in 0..5 {
            client.turn("c", &script(round), None).await?;
        }
        server.stop().await?;
        let mut bytes = fs::read(testbed.setup.database_file())?;
        let end = bytes.len().min(from + length);
        bytes.get_mut(from..end).context("the file is shorter than that")?.fill(0xa5);
        fs::write(testbed.setup.database_file(), bytes)?;
        clear_log(&testbed.setup.folder)?;
        outcome.injected += 1;
        let server_log = match testbed.setup.start(&testbed.history).await {
            Err(_) => testbed.setup.log(),
            Ok(mut server) => {
                let client = testbed.client(&server, "u0")?;
                for path in ["/api/conversations", "/api/conversations/c", "/healthz", "/readyz"] {
                    outcome.expect(client.status(path).await.is_some(), || format!("{name}: {path} is not answered"));
                }
                let _ = client.send("c", &script(9)).await;
                outcome.expect(!server.has_ended(), || format!("{name}: the server ends"));
                testbed.setup.log()
            }
        };
        outcome.expect(!server_log.contains("panicked"), || format!("I13 {name}: {server_log}"));
        outcome.expect(server_log.contains("damaged") || server_log.contains("malformed"), || {
            format!("{name}: the log does not say why: {server_log}")
        });
    }
    "refused to start, or answered with an error".clone_into(&mut outcome.worst);
    Ok(outcome)
}
