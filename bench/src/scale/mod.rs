//! Measures one, two and three servers on one PostgreSQL, and simulates more of them.
//!
//! Everything runs on one machine, so servers, database and client compete for its cores. Only the CPU time of a turn
//! at each part carries over to separate machines; from it the simulation computes their capacity.

mod database;
mod distance;
mod fit;
mod fleet;
mod forecast;
mod loads;
mod parameters;
mod simulation;

use crate::results::{Figure, Table, figure};
use crate::upstream;
use anyhow::{Context, Result};
use database::Database;
use distance::Distance;
use fleet::{Fleet, Usage};
use loads::{Done, STREAM_SECONDS, Users, percentile};
use std::path::Path;
use std::time::Duration;

/// The databases of one, two and three servers, and of the one that is further away.
const DATABASES: [&str; 3] = ["one", "two", "three"];
const FAR: &str = "far";
/// By how much it is further away.
const FURTHER: Duration = Duration::from_millis(2);

/// How much is measured.
struct Amounts {
    /// The users of the turns, of whom each asks again at once.
    users: usize,
    /// How long each load lasts.
    time: Duration,
    streams: usize,
    /// The number of users who search and list.
    readers: usize,
}

const FULL: Amounts = Amounts { users: 24, time: Duration::from_secs(20), streams: 200, readers: 8 };
const SMALL: Amounts = Amounts { users: 8, time: Duration::from_secs(3), streams: 10, readers: 2 };

/// The measurements with a number of servers.
struct Stage {
    servers: usize,
    connections: f64,
    idle: Usage,
    /// Turns of one user; measured with one server.
    one_user: Option<Usage>,
    turns: Usage,
    streams: Usage,
    searches: Usage,
    lists: Usage,
    jobs: Usage,
}

/// Measures, checks the simulation, and predicts.
pub(crate) async fn measure(binary: &Path, is_small: bool) -> Result<Vec<Table>> {
    let amounts = if is_small { SMALL } else { FULL };
    let mut database = Database::start().await?.context("PostgreSQL is not installed")?;
    let upstream = upstream::start().await?;
    let mut stages = Vec::new();
    for (servers, name) in (1..).zip(DATABASES) {
        let url = database.create(name).await?;
        let fleet = Fleet::start(binary, &upstream, &url, servers).await?;
        stages.push(measure_stage(&fleet, &mut database, &amounts).await?);
        fleet.stop().await?;
    }
    let disk = database.disk()?;
    let url = database.create(FAR).await?;
    let distance = Distance::start(database.folder(), FURTHER)?;
    let fleet = Fleet::start(binary, &upstream, &distance.url(&url)?, 1).await?;
    let (far, trips) = measure_far(&fleet, &mut database, &distance, &amounts).await?;
    fleet.stop().await?;
    let mut tables = vec![turns(&stages), shares(&stages), writes(&stages), others(&stages)];
    tables.push(further(&stages[0].turns, &far, trips, disk));
    let one_user = stages[0].one_user.as_ref().context("one user was measured")?;
    let costs = fit::costs(&fit::Measured { one_user, many_users: &stages[0].turns, disk, trips });
    let here = forecast::Here::fit(&costs, cores(), amounts.users, &stages[0].turns);
    tables.push(forecast::costs_table(&costs, &here));
    tables.extend(stages[1..].iter().map(|stage| here.check(&costs, stage.servers, &stage.turns)));
    tables.push(forecast::forecast(&costs));
    Ok(tables)
}

async fn measure_stage(fleet: &Fleet, database: &mut Database, amounts: &Amounts) -> Result<Stage> {
    let Amounts { users, time, streams, readers } = *amounts;
    let count = fleet.count();
    let say = |what: &str| eprintln!("{count} servers: {what}");
    let all = Users::new(fleet, "user")?;
    // First-time effects are not measured.
    all.turns(users, Duration::from_secs(3)).await?;
    database.all_counters().await?;
    database.find_writers().await?;
    say("idle");
    let idle = fleet.measure(database, idle(time)).await?;
    let connections = database.connections().await?;
    let mut one_user = None;
    if count == 1 {
        say("turns of one user");
        one_user = Some(fleet.measure(database, Users::new(fleet, "alone")?.turns(1, time)).await?);
    }
    say("turns");
    let turns = fleet.measure(database, all.turns(users, time)).await?;
    say("streams");
    let streams = fleet.measure(database, Users::new(fleet, "stream")?.streams(streams)).await?;
    say("searches");
    let searches = fleet.measure(database, all.searches(readers, time / 2)).await?;
    say("lists");
    let lists = fleet.measure(database, all.lists(readers, time / 2)).await?;
    say("jobs");
    let jobs = fleet.measure(database, Users::new(fleet, "job")?.jobs(readers, time / 2)).await?;
    Ok(Stage { servers: count, connections, idle, one_user, turns, streams, searches, lists, jobs })
}

/// Returns the cost of turns with a database that is further away, and the round trips of the writer for each.
async fn measure_far(
    fleet: &Fleet,
    database: &mut Database,
    distance: &Distance,
    amounts: &Amounts,
) -> Result<(Usage, f64)> {
    eprintln!("1 server, its database further away: turns");
    let all = Users::new(fleet, "user")?;
    all.turns(amounts.users, Duration::from_secs(3)).await?;
    database.all_counters().await?;
    database.find_writers().await?;
    let mut trips = 0.0;
    let load = async {
        let before = distance.trips();
        let done = all.turns(amounts.users, amounts.time).await?;
        trips = distance.trips() - before;
        Ok(done)
    };
    let usage = fleet.measure(database, load).await?;
    let each = usage.each(trips);
    Ok((usage, each))
}

/// A load without requests.
async fn idle(time: Duration) -> Result<Done> {
    tokio::time::sleep(time).await;
    Ok(Done { count: 1, seconds: time.as_secs_f64(), ..Done::default() })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn ms(seconds: f64) -> Option<Figure> {
    figure(seconds * 1e3, "ms")
}

fn turns(stages: &[Stage]) -> Table {
    let columns = [
        "turns per second",
        "first text, p50",
        "p99",
        "whole turn, p50",
        "p99",
        "CPU of servers",
        "CPU of database",
        "CPU of client",
    ];
    let mut table = Table::new("Turns of 40 deltas", &columns);
    for Stage { servers, turns, .. } in stages {
        let Done { firsts, ends, .. } = &turns.done;
        table.add(
            &counted(*servers),
            [
                figure(turns.done.per_second(), ""),
                figure(percentile(firsts, 50), "ms"),
                figure(percentile(firsts, 99), "ms"),
                figure(percentile(ends, 50), "ms"),
                figure(percentile(ends, 99), "ms"),
                ms(turns.each(turns.servers)),
                ms(turns.each(turns.database_cpu())),
                ms(turns.each(turns.client)),
            ],
        );
    }
    table
}

fn counted(servers: usize) -> String {
    if servers == 1 { "1 server".to_owned() } else { format!("{servers} servers") }
}

/// How much of each resource the turns used. The name of a row says which was used most.
fn shares(stages: &[Stage]) -> Table {
    let columns =
        ["all cores", "of this, servers", "database", "client", "a writer in transactions, or waiting for its turn"];
    let mut table = Table::new("In use during the turns", &columns);
    for Stage { servers, turns, .. } in stages {
        let share = |cpu: f64| turns.cores(cpu) / cores() as f64;
        let all = share(turns.servers + turns.database_cpu() + turns.client);
        let writer = turns.writing / turns.seconds / *servers as f64;
        let busiest = if all >= writer { "the cores" } else { "the writers' lock" };
        let percent = |share: f64| figure(share * 1e2, "%");
        table.add(
            &format!("{}; busiest: {busiest}", counted(*servers)),
            [all, share(turns.servers), share(turns.database_cpu()), share(turns.client), writer].map(percent),
        );
    }
    table
}

fn writes(stages: &[Stage]) -> Table {
    let columns = [
        "writes",
        "transactions for them",
        "transactions, with reads",
        "rows written",
        "WAL",
        "growth of the database",
    ];
    let mut table = Table::new("A turn at the database", &columns);
    for Stage { servers, turns, .. } in stages {
        let counters = &turns.counters;
        table.add(
            &counted(*servers),
            [
                figure(turns.each(turns.writes), ""),
                figure(turns.each(turns.groups), ""),
                figure(turns.each(counters.transactions), ""),
                figure(turns.each(counters.rows), ""),
                figure(turns.each(counters.wal_bytes) / 1e3, "KB"),
                figure(turns.each(counters.bytes) / 1e3, "KB"),
            ],
        );
    }
    table
}

fn others(stages: &[Stage]) -> Table {
    let columns = ["per second", "p50", "p99", "CPU of servers", "CPU of database"];
    let mut table = Table::new("Other loads", &columns);
    for stage in stages {
        let servers = counted(stage.servers);
        for (name, usage) in [("searches", &stage.searches), ("lists of conversations", &stage.lists)] {
            let Done { ends, .. } = &usage.done;
            let times = [figure(percentile(ends, 50), "ms"), figure(percentile(ends, 99), "ms")];
            let [p50, p99] = times;
            let cpu = [ms(usage.each(usage.servers)), ms(usage.each(usage.database_cpu()))];
            let [server, database] = cpu;
            table.add(&format!("{servers}: {name}"), [figure(usage.done.per_second(), ""), p50, p99, server, database]);
        }
        let jobs = &stage.jobs;
        let cpu = [ms(jobs.each(jobs.servers)), ms(jobs.each(jobs.database_cpu()))];
        let [server, database] = cpu;
        table.add(
            &format!("{servers}: jobs (workflow runs of one step)"),
            [figure(jobs.done.per_second(), ""), None, None, server, database],
        );
        let streams = &stage.streams;
        let each = |cpu: f64| ms(streams.each(cpu) / STREAM_SECONDS);
        table.add(
            &format!("{servers}: a second of an open stream, of {}", streams.done.count),
            [None, None, None, each(streams.servers), each(streams.database_cpu())],
        );
        let idle = &stage.idle;
        table.add(
            &format!("{servers}: a second without load, with {} connections to the database", stage.connections),
            [None, None, None, ms(idle.servers / idle.seconds), ms(idle.database_cpu() / idle.seconds)],
        );
    }
    table
}

fn further(near: &Usage, far: &Usage, trips: f64, disk: f64) -> Table {
    let mut table = Table::new("One server, its database further away", &["measured"]);
    table.add("turns per second", [figure(near.done.per_second(), "")]);
    let name = format!("turns per second with round trips of {} ms more", FURTHER.as_millis());
    table.add(&name, [figure(far.done.per_second(), "")]);
    table.add("round trips of the writing connection for a turn", [figure(trips, "")]);
    let size = |usage: &Usage| figure(usage.writes / usage.groups, "");
    table.add("writes in a transaction", [size(near)]);
    table.add("writes in a transaction further away", [size(far)]);
    table.add("the disk stores a page in", [ms(disk)]);
    table
}
