//! The PostgreSQL server of the measurement, and what it counts.

use crate::process::ProcessTimes;
use anyhow::{Context, Result};
use sqlx::{Connection, PgConnection, Row};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};
use test_postgres::Cluster;

/// Acknowledged writes are on the disk, and the write-ahead log is that of a server with replicas.
const SETTINGS: &[&str] =
    &["fsync=on", "full_page_writes=on", "wal_level=replica", "autovacuum=on", "shared_buffers=256MB"];

/// How long a backend may keep its counters to itself after its last statement.
const COUNTERS_LATE: Duration = Duration::from_secs(11);

/// The writes of which the median is the time of the disk.
const DISK_SAMPLES: usize = 51;

pub(crate) struct Database {
    cluster: Cluster,
    /// Reads the counters.
    connection: PgConnection,
    /// The processes of the servers' writing connections.
    writers: BTreeSet<u32>,
}

/// The counters of PostgreSQL since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counters {
    pub(crate) transactions: f64,
    /// Rows that were inserted, updated or deleted.
    pub(crate) rows: f64,
    pub(crate) wal_bytes: f64,
    /// The size of the database.
    pub(crate) bytes: f64,
}

/// CPU seconds so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DatabaseCpu {
    /// CPU seconds of the writing connections.
    pub(crate) writers: f64,
    /// CPU seconds of all other processes.
    pub(crate) others: f64,
}

impl Database {
    /// Starts the server; `None` if PostgreSQL is not installed.
    pub(crate) async fn start() -> Result<Option<Self>> {
        let Some(cluster) = Cluster::start_with(SETTINGS) else { return Ok(None) };
        let connection = PgConnection::connect(&cluster.url("postgres")).await?;
        Ok(Some(Self { cluster, connection, writers: BTreeSet::new() }))
    }

    /// Creates an empty database and returns its URL.
    pub(crate) async fn create(&mut self, name: &'static str) -> Result<String> {
        let statement = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::raw_sql(statement).execute(&mut self.connection).await?;
        self.connection = PgConnection::connect(&self.cluster.url(name)).await?;
        Ok(self.cluster.url(name))
    }

    /// Returns the folder with the socket.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.cluster.folder()
    }

    /// Finds the writing connections, while nothing happens: the last thing that they did was to commit.
    pub(crate) async fn find_writers(&mut self) -> Result<()> {
        let query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%COMMIT'";
        let rows = sqlx::query(query).fetch_all(&mut self.connection).await?;
        let ids = rows.iter().map(|row| anyhow::Ok(row.try_get::<i32, _>(0)?.cast_unsigned()));
        self.writers = ids.collect::<Result<_>>()?;
        Ok(())
    }

    /// Returns how many connections the servers have.
    pub(crate) async fn connections(&mut self) -> Result<f64> {
        let query = "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()";
        Ok(sqlx::query(query).fetch_one(&mut self.connection).await?.try_get::<i64, _>(0)? as f64)
    }

    /// Waits until all backends have reported, and returns the counters.
    pub(crate) async fn all_counters(&mut self) -> Result<Counters> {
        tokio::time::sleep(COUNTERS_LATE).await;
        self.counters().await
    }

    /// Returns the counters that were reported so far.
    pub(crate) async fn counters(&mut self) -> Result<Counters> {
        let query = "SELECT xact_commit::float8, (tup_inserted + tup_updated + tup_deleted)::float8,
                (pg_current_wal_lsn() - '0/0')::float8, pg_database_size(datname)::float8
            FROM pg_stat_database WHERE datname = current_database()";
        let row = sqlx::query(query).fetch_one(&mut self.connection).await?;
        Ok(Counters {
            transactions: row.try_get(0)?,
            rows: row.try_get(1)?,
            wal_bytes: row.try_get(2)?,
            bytes: row.try_get(3)?,
        })
    }

    /// Returns the CPU time of all processes of the server, those that have ended included.
    pub(crate) fn cpu(&self) -> Result<DatabaseCpu> {
        let first = self.cluster.process().context("the database server has ended")?;
        let own = ProcessTimes::of(&first.to_string())?;
        let mut cpu = DatabaseCpu { writers: 0.0, others: own.own + own.ended_children };
        for entry in std::fs::read_dir("/proc")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let Ok(id) = name.parse::<u32>() else { continue };
            // A process may have ended since it was listed.
            let Ok(times) = ProcessTimes::of(&name) else { continue };
            if times.parent == first {
                let sum = if self.writers.contains(&id) { &mut cpu.writers } else { &mut cpu.others };
                *sum += times.own;
            }
        }
        Ok(cpu)
    }

    /// Returns how long the disk of the database takes to store a page, in seconds.
    pub(crate) fn disk(&self) -> Result<f64> {
        let mut file = tempfile::tempfile_in(self.folder())?;
        let mut times: Vec<_> = (0..DISK_SAMPLES).map(|_| store_page(&mut file)).collect::<Result<_>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times[DISK_SAMPLES / 2])
    }
}

fn store_page(file: &mut File) -> Result<f64> {
    let begun = Instant::now();
    file.write_all(&[7; 8192])?;
    file.sync_data()?;
    Ok(begun.elapsed().as_secs_f64())
}
