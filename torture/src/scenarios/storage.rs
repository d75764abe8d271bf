//! F3, F13, F22 to F24: the disk does not do what it should. A disk that is full or read-only is a small one in memory, mounted where only
//! the server sees it.

use crate::client::Client;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, Tier, World};
use crate::scenarios::kill::{decide, goes_on};
use crate::server::{Server, forget_log};
use anyhow::{Context, Result, ensure};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Within this time `/readyz` says what is the case.
const TRUTHFUL: Duration = Duration::from_secs(10);

/// Messages that are sent while there is no room. Some find room in the files that are there.
const TRIES: u64 = 40;

fn script(round: u64) -> Script {
    Script { tag: format!("u0-{round}"), tools: 1, deltas: 10, ..Script::default() }
}

/// Waits until `/readyz` answers with this status; how long it took, none when it never does.
async fn ready_with(client: &Client, status: u16) -> Option<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < TRUTHFUL {
        if client.status("/readyz").await == Some(status) {
            return Some(begun.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    None
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// What starts the server under the eyes of strace. The server stays the process that is started, so that a kill ends it and nobody else.
fn strace(what: &str, output: &Path) -> Vec<String> {
    let output = output.display().to_string();
    ["strace", "-D", "--follow-forks", what, "--output", &output].map(str::to_owned).to_vec()
}

/// F2, F37: killed at every so manyth write to a file, from the first one of a new database over its migrations and its recovery to a
/// turn's last.
pub(crate) async fn write_sweep(given: &Given) -> Result<Outcome> {
    if !has("strace") {
        return Ok(Outcome::skipped("strace is not installed"));
    }
    let step = if given.tier == Tier::One { 13 } else { 3 };
    let mut outcome = Outcome::default();
    // The seed decides which of each step.
    for at in (1 + given.seed as usize % step..).step_by(step) {
        let world = World::new(given, &format!("write-sweep-{at}")).await?;
        let mut setup = world.setup.clone();
        let inject = format!("--inject=pwrite64:signal=KILL:when={at}");
        setup.launcher = strace(&inject, Path::new("/dev/null"));
        let died = match setup.start(&world.history).await {
            Err(_) => true,
            Ok(mut server) => {
                let client = world.client(&server, "u0")?;
                let turn = Script { tag: "u0-0".to_owned(), tools: 1, gated: 1, deltas: 5, ..Script::default() };
                let _ = client.turn("c", &turn, None).await;
                let _ = decide(&client, "c").await;
                let died = server.ended(Duration::from_millis(300)).await.is_some();
                server.kill(&world.history).await?;
                died
            }
        };
        let server = world.setup.start(&world.history).await?;
        let client = world.client(&server, "u0")?;
        goes_on(&client, "u0", "c", 0, &mut outcome).await?;
        server.stop().await?;
        outcome.violations.extend(world.check().await?.into_iter().map(|wrong| format!("write {at}: {wrong}")));
        if !died {
            outcome.worst =
                format!("a turn on a new database makes fewer than {at} writes; one in {step} was the last");
            break;
        }
        outcome.injected += 1;
    }
    Ok(outcome)
}

/// How large the WAL may stay when nobody holds it up any more, in bytes.
const WAL_LIMIT: u64 = 64 * 1024 * 1024;

/// F25: somebody reads for long while much is written. The WAL must grow meanwhile, and come back afterwards.
pub(crate) async fn long_reader(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "long-reader").await?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    client.turn("c", &script(0), None).await?;
    let wal = || fs::metadata(world.setup.folder.join("chat.db-wal")).map_or(0, |file| file.len());
    let mut reader = SqliteConnectOptions::new().filename(world.setup.file()).connect().await?;
    reader.execute("BEGIN; SELECT count(*) FROM messages").await?;
    let large = |round| Script { tag: format!("u0-{round}"), deltas: 500, size: 16_000, ..Script::default() };
    let mut round = 1;
    while wal() <= WAL_LIMIT + WAL_LIMIT / 4 && round < 20 {
        let end = client.turn(&format!("c{round}"), &large(round), None).await?;
        outcome.expect(end.is_finished(), || format!("a turn beside the reader does not end: {end:?}"));
        round += 1;
    }
    let most = wal();
    outcome.expect(most > WAL_LIMIT, || "the reader held nothing up".to_owned());
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
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("{} MB, afterwards {} MB", most >> 20, left >> 20);
    Ok(outcome)
}

/// F3: between a message and its 200 stands a sync. A kill cannot show that, the system's own calls do.
pub(crate) async fn synced(given: &Given) -> Result<Outcome> {
    if !has("strace") {
        return Ok(Outcome::skipped("strace is not installed"));
    }
    let world = World::new(given, "synced").await?;
    let (trace, mut setup) = (world.setup.folder.join("trace"), world.setup.clone());
    setup.launcher = strace("--trace=fsync,fdatasync", &trace);
    let server = setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let syncs = || fs::read_to_string(&trace).map(|trace| trace.matches("sync(").count());
    let (mut outcome, mut fewest) = (Outcome::default(), usize::MAX);
    for round in 0..10 {
        let before = syncs()?;
        let Ok(stream) = client.send("c", &script(round)).await? else { anyhow::bail!("a message was refused") };
        let accepted = syncs()? - before;
        client.read("c", stream, None).await;
        let all = syncs()? - before;
        // Accepted, the tool begun and ended, the answer's end.
        outcome.expect(accepted >= 1 && all >= 4, || format!("I1 {accepted} syncs before the 200, {all} in the turn"));
        (outcome.injected, fewest) = (outcome.injected + 1, fewest.min(all));
    }
    drop(server);
    outcome.worst = format!("{fewest} syncs in a turn with a tool");
    Ok(outcome)
}

/// A folder on a disk of its own, which only the server sees.
struct SmallDisk {
    /// Where everybody else sees it.
    outside: PathBuf,
}

/// Starts the server with its database on a small disk; none where that is not permitted.
async fn on_small_disk(world: &World) -> Result<Option<(Server, SmallDisk)>> {
    let permitted = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !permitted.is_ok_and(|output| output.status.success()) {
        return Ok(None);
    }
    let (inside, mut setup) = (world.setup.folder.join("disk"), world.setup.clone());
    fs::create_dir_all(&inside)?;
    let mount = format!("mount -t tmpfs -o size=4m none '{}' && exec \"$@\"", inside.display());
    setup.launcher = ["unshare", "-rm", "sh", "-c", &mount, "sh"].map(str::to_owned).to_vec();
    setup.database = Some(format!("sqlite://{}/chat.db", inside.display()));
    let server = setup.start(&world.history).await?;
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

    fn empty(&self) -> Result<()> {
        Ok(fs::remove_file(self.outside.join("filler"))?)
    }

    /// The disk goes with the server, so what is to be checked is copied.
    fn copy(&self, folder: &Path) -> Result<PathBuf> {
        for name in ["chat.db", "chat.db-wal"] {
            if self.outside.join(name).exists() {
                fs::copy(self.outside.join(name), folder.join(name))?;
            }
        }
        Ok(folder.join("chat.db"))
    }
}

/// F23: the disk is full, and later it is not.
pub(crate) async fn full(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "disk-full").await?;
    let Some((server, disk)) = on_small_disk(&world).await? else {
        return Ok(Outcome::skipped("a disk of its own cannot be mounted here"));
    };
    let client = world.client(&server, "u0")?;
    let mut outcome = Outcome::default();
    let end = client.turn("c", &script(0), None).await?;
    outcome.expect(end.is_finished(), || "the first turn does not end".to_owned());
    outcome.expect(ready_with(&client, 200).await.is_some(), || "it is never ready".to_owned());
    disk.fill()?;
    without_room(&client, &mut outcome).await?;
    let noticed = ready_with(&client, 503).await;
    outcome.expect(noticed.is_some(), || "/readyz does not say that nothing can be written".to_owned());
    outcome.expect(client.status("/healthz").await == Some(200), || "it is not alive".to_owned());
    outcome.expect(client.view("c").await.is_ok_and(|view| view.is_some()), || "nothing can be read".to_owned());
    disk.empty()?;
    let recovered = ready_with(&client, 200).await;
    outcome.expect(recovered.is_some(), || "/readyz does not come back".to_owned());
    let end = client.turn("c", &script(TRIES + 1), None).await?;
    outcome.expect(end.is_finished(), || format!("it does not go on: {end:?}"));
    settled(&client, &mut outcome).await?;
    let file = disk.copy(&world.setup.folder)?;
    outcome.violations.extend(world.check_in(&file).await?);
    let millis = |time: Option<Duration>| time.map_or("never".to_owned(), |time| format!("{} ms", time.as_millis()));
    outcome.worst = format!("noticed after {}, ready again after {}", millis(noticed), millis(recovered));
    drop(server);
    Ok(outcome)
}

/// Sends messages until three were refused. The first ones find room in the files that are there.
async fn without_room(client: &Client, outcome: &mut Outcome) -> Result<()> {
    let mut refused = 0;
    for round in 1..=TRIES {
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
    outcome.violations.push("without room, nothing was ever refused".to_owned());
    Ok(())
}

/// F24: files that may not be written. It refuses to start, with a line, and makes no new database in their place.
pub(crate) async fn read_only(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "read-only").await?;
    let folder = world.setup.folder.clone();
    let server = world.setup.start(&world.history).await?;
    world.client(&server, "u0")?.turn("c", &script(0), None).await?;
    server.stop().await?;
    let mut setup = world.setup.clone();
    if rustix::process::geteuid().is_root() {
        // Whom no permission holds back.
        setup.launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"].map(str::to_owned).to_vec();
    }
    let before = fs::read(world.setup.file())?;
    let permit = |folder_mode: u32, file_mode: u32| -> Result<()> {
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        mode(&folder, folder_mode)?;
        mode(&folder.join("log"), 0o666)?;
        Ok(mode(&folder.join("chat.db"), file_mode)?)
    };
    let mut outcome = Outcome::default();
    for (what, folder_mode, file_mode) in
        [("the file", 0o777, 0o444), ("the file and its folder", 0o755, 0o444), ("what nobody may read", 0o755, 0o000)]
    {
        permit(folder_mode, file_mode)?;
        forget_log(&folder)?;
        let started = setup.start(&world.history).await;
        outcome.injected += 1;
        outcome.expect(started.is_err(), || format!("{what}: it starts"));
        let said = setup.log();
        let lines: Vec<_> = said.lines().filter(|line| line.contains("database")).collect();
        let is_told = lines.len() == 1 && lines[0].contains("cannot open the database");
        outcome.expect(is_told && !said.contains("panicked"), || format!("{what}: {lines:?}"));
        permit(0o700, 0o600)?;
        outcome.expect(fs::read(world.setup.file())? == before, || format!("{what}: the file has changed"));
    }
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let end = client.turn("c", &script(1), None).await?;
    outcome.expect(end.is_finished(), || format!("it does not go on: {end:?}"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    "refused with one line".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// Waits until no answer is being written any more: one whose end could not be stored is closed when the database takes writes again.
async fn settled(client: &Client, outcome: &mut Outcome) -> Result<()> {
    for round in 1..=TRIES {
        let conversation = format!("c{round}");
        let begun = Instant::now();
        loop {
            let Some(view) = client.view(&conversation).await? else { break };
            if view["active"].is_null() {
                break;
            }
            if begun.elapsed() > Duration::from_secs(30) {
                outcome.violations.push(format!("I5 {conversation}: its answer never ends: {}", view["active"]));
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

/// F22: another process holds the database, for a moment and for long.
pub(crate) async fn locked(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "locked").await?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let mut outcome = Outcome::default();
    client.turn("c", &script(0), None).await?;
    for (round, seconds) in [(1, 2), (2, 9)] {
        let mut other = SqliteConnectOptions::new().filename(world.setup.file()).connect().await?;
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
            (Err(503), 9) => outcome.expect(answered, || "a long lock is not told while it lasts".to_owned()),
            (answer, _) => outcome.violations.push(format!("a lock of {seconds} s: {:?}", answer.map(|_| 200))),
        }
    }
    outcome.expect(ready_with(&client, 200).await.is_some(), || "/readyz does not come back".to_owned());
    let end = client.turn("c", &script(3), None).await?;
    outcome.expect(end.is_finished(), || format!("it does not go on: {end:?}"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    "2 s unnoticed, 9 s told as 503".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// F24: a file that is damaged at its head, cut short, or damaged within. The server refuses with a line, or lives.
pub(crate) async fn corrupt(given: &Given) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (name, from, length) in [("head", 0, 100), ("schema", 100, 3_000), ("within", 40_960, 200_000)] {
        let world = World::new(given, &format!("corrupt-{name}")).await?;
        let server = world.setup.start(&world.history).await?;
        let client = world.client(&server, "u0")?;
        for round in 0..5 {
            client.turn("c", &script(round), None).await?;
        }
        server.stop().await?;
        let mut bytes = fs::read(world.setup.file())?;
        let end = bytes.len().min(from + length);
        bytes.get_mut(from..end).context("the file is shorter than that")?.fill(0xa5);
        fs::write(world.setup.file(), bytes)?;
        forget_log(&world.setup.folder)?;
        outcome.injected += 1;
        let said = match world.setup.start(&world.history).await {
            Err(_) => world.setup.log(),
            Ok(mut server) => {
                let client = world.client(&server, "u0")?;
                for path in ["/api/conversations", "/api/conversations/c", "/healthz", "/readyz"] {
                    outcome.expect(client.status(path).await.is_some(), || format!("{name}: {path} is not answered"));
                }
                let _ = client.send("c", &script(9)).await;
                outcome.expect(!server.has_ended(), || format!("{name}: the server ends"));
                world.setup.log()
            }
        };
        outcome.expect(!said.contains("panicked"), || format!("I13 {name}: {said}"));
        outcome.expect(said.contains("damaged") || said.contains("malformed"), || {
            format!("{name}: nobody is told why: {said}")
        });
    }
    "refused with a line, or answered with an error".clone_into(&mut outcome.worst);
    Ok(outcome)
}
