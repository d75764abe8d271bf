//! `chatwright backup` and `chatwright restore`: all data of a server in one file.

mod archive;
mod restore;

use super::{ConfigArgument, DatabaseArgument, report};
use crate::capabilities::database_schema;
use anyhow::{Context, bail};
use auth::COOKIE_KEY;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Store;

pub(super) use restore::keep_cookie_key;
pub(crate) use restore::{RestoreArguments, run as restore};

/// The names of the files and folders beside the database that belong to the server: the cookie
/// key, and the files that users uploaded or tools created. Everything else is left out.
const PARTS: [&str; 4] = [COOKIE_KEY, "files", "attachments", "uploads"];

/// The arguments of `chatwright backup`.
#[derive(clap::Args)]
pub(crate) struct BackupArguments {
    /// File to write; only its owner can read it.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigArgument,
    #[command(flatten)]
    database: DatabaseArgument,
}

/// Creates a backup. The server may run at the same time: the backup is a consistent snapshot of
/// the database.
pub(crate) async fn backup(arguments: BackupArguments) -> ExitCode {
    report(create_backup(&arguments).await)
}

async fn create_backup(arguments: &BackupArguments) -> anyhow::Result<String> {
    let url = arguments.database.resolve(&arguments.config)?;
    if !Store::is_on_server(&url) {
        // An in-memory database has no file and cannot be backed up.
        database_file(&url)?;
    }
    let to = &arguments.to;
    if to.exists() && !arguments.force {
        bail!("{} already exists; choose another file, or overwrite it with --force", to.display());
    }
    let folder = Store::folder(&url)?;
    if let Some(database) = Store::database_file(&url)?.filter(|database| !database.is_file()) {
        bail!("there is no database at {}", database.display());
    }
    let beside = parent_folder(to);
    let work = tempfile::Builder::new().prefix(".chatwright-backup-").tempdir_in(beside);
    let work = work.with_context(|| format!("cannot write into the folder {}", beside.display()))?;
    // The database is copied first. The files that it refers to are not removed before they are
    // copied, except for data that is deleted during the backup.
    let copied = work.path().join(archive::DATABASE);
    database_schema().copy_from_url(&url, &copied).await?;
    let schema = Store::inspect(&copied).await?.schema;
    // A database on a server has no files beside it.
    let beside_it = |folder: &PathBuf| PARTS.map(|name| (name, folder.join(name)));
    let parts: Vec<_> = folder.iter().flat_map(beside_it).filter(|(_, path)| path.exists()).collect();
    let (written, files) = archive::write(work.path(), &copied, schema, &parts)?;
    let bytes = std::fs::metadata(&written).map_or(0, |file| file.len());
    std::fs::rename(&written, to).with_context(|| format!("cannot write {}", to.display()))?;
    archive::sync_folder(beside)?;
    Ok(format!("{}: schema {schema}, {files} file(s), {bytes} bytes, checked", to.display()))
}

/// Returns the path of the database file.
fn database_file(url: &str) -> anyhow::Result<PathBuf> {
    Store::database_file(url)?.context("a database in memory has no file to back up or restore")
}

/// Returns the folder of a file.
fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
