//! `chatwright migrate`: copies all data of one database to another.

use super::backup::keep_cookie_key;
use super::report;
use crate::capabilities::database_schema;
use auth::COOKIE_KEY;
use std::process::ExitCode;
use store::Store;

/// The source and the target of a migration.
#[derive(clap::Args)]
pub(crate) struct MigrateArguments {
    /// Source database. It is not changed; no server should use it during the migration.
    #[arg(long, value_name = "URL")]
    from: String,
    /// Target database. It must be empty, and is created if it does not exist.
    #[arg(long, value_name = "URL")]
    to: String,
}

/// Copies all rows and prints how many there were.
pub(crate) async fn run(arguments: MigrateArguments) -> ExitCode {
    report(migrate(&arguments).await)
}

async fn migrate(arguments: &MigrateArguments) -> anyhow::Result<String> {
    let moved = database_schema().transfer(&arguments.from, &arguments.to, false).await?;
    if let Some(folder) = Store::folder(&arguments.from)? {
        keep_cookie_key(&folder.join(COOKIE_KEY), &arguments.to).await?;
    }
    let tables = moved.iter().filter(|moved| moved.rows > 0);
    let lines: Vec<_> =
        tables.map(|moved| format!("{:>9} {} ({})", moved.rows, moved.table, &moved.sha256[..16])).collect();
    let rows: u64 = moved.iter().map(|moved| moved.rows).sum();
    Ok(format!("{}\n{rows} row(s) copied; counts and hashes match", lines.join("\n")))
}
