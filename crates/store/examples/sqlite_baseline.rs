//! Prints the baseline of a folder of migrations for SQLite: the tables as all of these leave them.
//!
//! `cargo run --package store --example sqlite_baseline -- crates/workflows/migrations/sqlite >
//! crates/workflows/migrations/sqlite_baseline.sql`
//!
//! The version in the capability's `SqliteBaseline` must then be the number of the last migration. Rows that migrations
//! insert are not printed; only the baseline of this crate has some, at its end.

use rusqlite::Connection;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The statements of tables, indexes and triggers, in the order of their creation. SQLite quotes the names of the tables
/// that it creates itself for a search index.
const OBJECTS: &str =
    "SELECT sql FROM sqlite_master WHERE sql NOT LIKE 'CREATE TABLE ''%' AND name NOT LIKE 'sqlite%' ORDER BY rowid";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = fs::canonicalize(env::args().nth(1).ok_or("name a folder of migrations")?)?;
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let database = Connection::open_in_memory()?;
    if folder != core {
        apply(&database, &core)?;
    }
    let before = objects(&database)?;
    let last = apply(&database, &folder)?;
    println!("-- The tables as the migrations up to {last} leave them, with which a new SQLite database begins.");
    println!(
        "-- `cargo run --package store --example sqlite_baseline` prints this file, and a test compares the two.\n"
    );
    for statement in objects(&database)? {
        if !before.contains(&statement) {
            println!("{statement};");
        }
    }
    Ok(())
}

/// Applies the migrations of a folder, and returns the name of the last one.
fn apply(database: &Connection, folder: &Path) -> Result<String, Box<dyn Error>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    for path in &paths {
        database.execute_batch(&fs::read_to_string(path)?)?;
    }
    let last = paths.last().and_then(|path| path.file_stem()).ok_or("the folder has no migrations")?;
    Ok(last.to_string_lossy().into_owned())
}

fn objects(database: &Connection) -> rusqlite::Result<Vec<String>> {
    database.prepare(OBJECTS)?.query_map([], |row| row.get(0))?.collect()
}
