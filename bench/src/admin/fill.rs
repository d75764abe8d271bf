//! Fills a database as after months of use by many users.

use anyhow::{Result, ensure};
use rusqlite::Connection;
use std::path::Path;
use std::time::Instant;

const FILL: &str = include_str!("fill.sql");
/// The session cookie of the user `u0`, who is an administrator.
pub(super) const COOKIE: &str = "cw_session=bench";
/// The stored SHA-256 of the session's token.
const TOKEN_HASH: &str = "1b32c28cb38c05480eccc1bd60ff97029b57a05c96718b96dad7e9d84894f549";
/// The number of users: with fewer conversations, some users would have none.
const FEWEST: u32 = 1_000;

/// Fills a database that a server has created and that no server has open, and prints the amounts.
///
/// # Errors
/// As [`insert`].
pub(crate) fn fill(database: &Path, conversations: u32) -> Result<()> {
    ensure!(conversations >= FEWEST, "at least {FEWEST} conversations, one for each user");
    let begun = Instant::now();
    let rows = FILL.replace(":token_hash", &format!("x'{TOKEN_HASH}'"));
    insert(database, &rows.replace(":conversations", &conversations.to_string()))?;
    println!(
        "1,000 users, {conversations} conversations, {} messages: {:.0} MB, created in {:.0} s; the cookie {COOKIE} opens it as the \
         administrator u0",
        u64::from(conversations) * 20,
        database.metadata()?.len() as f64 / 1e6,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Inserts rows into a database that a server has created and that no server has open. It uses one transaction without
/// durability, since the database is disposable.
///
/// # Errors
/// The database does not exist or is in use: sessions are inserted whose tokens anybody can guess.
pub(crate) fn insert(database: &Path, rows: &str) -> Result<()> {
    ensure!(
        database.is_file(),
        "{} does not exist: start a server with it first, which creates the tables",
        database.display()
    );
    let connection = Connection::open(database)?;
    let in_use = "SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM conversations)";
    let is_used: bool = connection.query_row(in_use, (), |row| row.get(0))?;
    ensure!(!is_used, "{} has users or conversations already", database.display());
    connection.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY;",
    )?;
    connection.execute_batch(&format!("BEGIN; {rows} COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"))?;
    Ok(())
}
