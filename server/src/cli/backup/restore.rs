//! `chatwright restore`: restores a backup.

use super::super::{ConfigArgument, DatabaseArgument, report};
use super::{PARTS, archive, database_file, parent_folder};
use crate::capabilities::database_schema;
use anyhow::{Context, ensure};
use auth::COOKIE_KEY;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Store;

/// The arguments of `chatwright restore`.
#[derive(clap::Args)]
pub(crate) struct RestoreArguments {
    /// File that `chatwright backup` wrote.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Replace existing data.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigArgument,
    #[command(flatten)]
    database: DatabaseArgument,
}

/// Verifies the whole backup, then moves its files into place. Nothing is changed before the
/// verification is complete.
pub(crate) async fn run(arguments: RestoreArguments) -> ExitCode {
    report(restore(&arguments).await)
}

async fn restore(arguments: &RestoreArguments) -> anyhow::Result<String> {
    let url = arguments.database.resolve(&arguments.config)?;
    if Store::is_on_server(&url) {
        return restore_on_server(arguments, &url).await;
    }
    let database = database_file(&url)?;
    let folder = parent_folder(&database);
    let there: Vec<_> = PARTS.iter().map(|name| folder.join(name)).chain([database.clone()]).collect();
    if let Some(there) = there.iter().find(|path| path.exists()).filter(|_| !arguments.force) {
        anyhow::bail!("{} already exists; restore into another folder, or replace it with --force", there.display());
    }
    create_private_folder(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    // On the same file system, so that each part is moved into place atomically.
    let work = tempfile::Builder::new().prefix(".chatwright-restore-").tempdir_in(folder);
    let work = work.with_context(|| format!("cannot write into the folder {}", folder.display()))?;
    let (unpacked, schema) = unpack(&arguments.from, work.path()).await?;
    // The claim keeps servers from starting on the database until all parts are in place.
    let _claimed = if database.exists() { Some(Store::claim(&database).await?) } else { None };
    for part in PARTS {
        replace(&work.path().join(part), &folder.join(part), work.path())?;
    }
    for log in ["-wal", "-shm"] {
        // Leftover logs of the old database would be read as part of the new one.
        let mut path = database.clone().into_os_string();
        path.push(log);
        let _ = fs::remove_file(path);
    }
    fs::rename(&unpacked, &database).with_context(|| format!("cannot write {}", database.display()))?;
    archive::sync_folder(folder)?;
    Ok(format!("{}: schema {schema}, restored from {}", database.display(), arguments.from.display()))
}

/// Restores a backup into a database on a server, with the cookie key. It restores either
/// everything or nothing.
async fn restore_on_server(arguments: &RestoreArguments, url: &str) -> anyhow::Result<String> {
    let work = tempfile::Builder::new().prefix("chatwright-restore-").tempdir()?;
    let (unpacked, schema) = unpack(&arguments.from, work.path()).await?;
    let moved = database_schema().restore(&unpacked, url, arguments.force).await;
    let hint = if arguments.force { "" } else { "; --force replaces existing data" };
    let moved = moved.map_err(|error| anyhow::anyhow!("cannot restore into the database: {error}{hint}"))?;
    keep_cookie_key(&work.path().join(COOKIE_KEY), url).await?;
    let rows: u64 = moved.iter().map(|moved| moved.rows).sum();
    Ok(format!("schema {schema}, {rows} row(s), restored from {}", arguments.from.display()))
}

/// Unpacks a backup into a folder. Returns the path of the database and its schema version.
async fn unpack(from: &Path, folder: &Path) -> anyhow::Result<(PathBuf, i64)> {
    let manifest = archive::unpack(from, folder)?;
    let unpacked = folder.join(archive::DATABASE);
    let schema = Store::inspect(&unpacked).await?.schema;
    ensure!(schema == manifest.schema, "{}: its database has another schema than its manifest says", from.display());
    Ok((unpacked, schema))
}

/// Stores the cookie key in the database if there is such a file, so that visitors are still
/// recognized by their cookies.
pub(in crate::cli) async fn keep_cookie_key(file: &Path, url: &str) -> anyhow::Result<()> {
    if let Ok(key) = fs::read(file) {
        let store = database_schema().open_existing(url).await?;
        store.get_or_create_secret(COOKIE_KEY, key).await?;
        store.close().await;
    }
    Ok(())
}

/// Replaces a file or folder; the old one is moved into the folder `work`, which is deleted later.
fn replace(new: &Path, there: &Path, work: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot replace {}", there.display());
    if there.exists() {
        let name = there.file_name().unwrap_or_default().to_string_lossy();
        fs::rename(there, work.join(format!("replaced-{name}"))).with_context(failed)?;
    }
    if new.exists() {
        fs::rename(new, there).with_context(failed)?;
    }
    Ok(())
}

fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
