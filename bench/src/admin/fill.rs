//! A database as it is after months with many users.

use anyhow::{Result, ensure};
use rusqlite::Connection;
use std::path::Path;
use std::time::Instant;

const FILL: &str = include_str!("fill.sql");
/// Opens the session of the user `u0`, who is an administrator.
pub(super) const COOKIE: &str = "cw_session=bench";
/// What is kept of its token: the SHA-256.
const TOKEN_HASH: &str = "1b32c28cb38c05480eccc1bd60ff97029b57a05c96718b96dad7e9d84894f549";
/// As many as there are users: fewer would leave some without any.
const FEWEST: u32 = 1_000;

/// Fills a database that a server has made and that no server has open, and says with what. In one transaction, and as fast as it goes:
/// nobody needs it after a power failure.
///
/// # Errors
/// There is no such database, or somebody uses it: what is filled in has a session that anybody can guess.
pub(crate) fn fill(database: &Path, conversations: u32) -> Result<()> {
    ensure!(conversations >= FEWEST, "at least {FEWEST} conversations, one for each user");
    ensure!(
        database.is_file(),
        "{} is not there: start a server with it first, which makes its tables",
        database.display()
    );
    let begun = Instant::now();
    let connection = Connection::open(database)?;
    let in_use = "SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM conversations)";
    let is_used: bool = connection.query_row(in_use, (), |row| row.get(0))?;
    ensure!(!is_used, "{} has users or conversations already", database.display());
    connection.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY;",
    )?;
    let rows = FILL.replace(":token_hash", &format!("x'{TOKEN_HASH}'"));
    let rows = rows.replace(":conversations", &conversations.to_string());
    connection.execute_batch(&format!("BEGIN; {rows} COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"))?;
    drop(connection);
    println!(
        "1,000 users, {conversations} conversations, {} messages: {:.0} MB, made in {:.0} s; the cookie {COOKIE} opens it as the \
         administrator u0",
        u64::from(conversations) * 20,
        database.metadata()?.len() as f64 / 1e6,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
