//! `chatwright backup` and `chatwright restore`: everything that a server keeps, in one file.

mod archive;
mod restore;

use super::{ConfigArgument, DatabaseArgument, fail};
use crate::auth::COOKIE_KEY;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Store;

pub(super) use restore::keep_cookie_key;
pub(crate) use restore::{RestoreArguments, run as restore};

/// What a server keeps beside its database, by name: the key of its cookies, and the files that users sent or that tools made.
/// Whatever is not named here is not the server's.
const PARTS: [&str; 4] = [COOKIE_KEY, "files", "attachments", "uploads"];

/// Where to.
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

/// Copies. The server may run meanwhile: the copy is as the database was at one moment.
pub(crate) async fn backup(arguments: BackupArguments) -> ExitCode {
    match copy(&arguments).await {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("{error:#}")),
    }
}

async fn copy(arguments: &BackupArguments) -> anyhow::Result<String> {
    let url = arguments.database.with(&arguments.config)?;
    if !Store::is_on_server(&url) {
        // One in memory has none.
        file(&url)?;
    }
    let to = &arguments.to;
    if to.exists() && !arguments.force {
        bail!("{} is there already; name another file, or overwrite it with --force", to.display());
    }
    let folder = Store::folder(&url)?;
    if let Some(database) = Store::database_file(&url)?.filter(|database| !database.is_file()) {
        bail!("there is no database at {}", database.display());
    }
    let beside = folder_of(to);
    let work = tempfile::Builder::new().prefix(".chatwright-backup-").tempdir_in(beside);
    let work = work.with_context(|| format!("cannot write into the folder {}", beside.display()))?;
    // The database first: what it names is not taken away before it is copied, but for what is deleted meanwhile.
    let copied = work.path().join(archive::DATABASE);
    Store::copy_of(&url, &copied).await?;
    let schema = Store::inspect(&copied).await?.schema;
    // Of a database on a server, nothing is kept beside it.
    let beside_it = |folder: &PathBuf| PARTS.map(|name| (name, folder.join(name)));
    let parts: Vec<_> = folder.iter().flat_map(beside_it).filter(|(_, path)| path.exists()).collect();
    let (written, files) = archive::write(work.path(), &copied, schema, &parts)?;
    let bytes = std::fs::metadata(&written).map_or(0, |file| file.len());
    std::fs::rename(&written, to).with_context(|| format!("cannot write {}", to.display()))?;
    archive::sync(beside)?;
    Ok(format!("{}: schema {schema}, {files} file(s), {bytes} bytes, checked", to.display()))
}

/// The database's file.
fn file(url: &str) -> anyhow::Result<PathBuf> {
    Store::database_file(url)?.context("a database in memory cannot be copied")
}

/// Where a file lies.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
