//! `chatwright restore`

use super::super::{ConfigArgument, DatabaseArgument, fail};
use super::{PARTS, archive, file, folder_of};
use crate::auth::COOKIE_KEY;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Store;

/// From where.
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

/// Checks the file, then puts what is in it in place. Nothing is touched before all of it has been checked.
pub(crate) async fn run(arguments: RestoreArguments) -> ExitCode {
    match restore(&arguments).await {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("{error:#}")),
    }
}

async fn restore(arguments: &RestoreArguments) -> anyhow::Result<String> {
    let url = arguments.database.with(&arguments.config)?;
    if Store::is_on_server(&url) {
        return restore_on_server(arguments, &url).await;
    }
    let database = file(&url)?;
    let folder = folder_of(&database);
    let there: Vec<_> = PARTS.iter().map(|name| folder.join(name)).chain([database.clone()]).collect();
    if let Some(there) = there.iter().find(|path| path.exists()).filter(|_| !arguments.force) {
        anyhow::bail!("{} is there already; restore into another folder, or replace it with --force", there.display());
    }
    make_private(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    // On the same disk, so that each part is put in place in one step.
    let work = tempfile::Builder::new().prefix(".chatwright-restore-").tempdir_in(folder);
    let work = work.with_context(|| format!("cannot write into the folder {}", folder.display()))?;
    let manifest = archive::unpack(&arguments.from, work.path())?;
    let unpacked = work.path().join(archive::DATABASE);
    let schema = Store::inspect(&unpacked).await?.schema;
    ensure!(schema == manifest.schema, "{}: its database is not the one that it names", arguments.from.display());
    // Until all is in place, no server starts on what is replaced.
    let _claimed = if database.exists() { Some(Store::claim(&database).await?) } else { None };
    for part in PARTS {
        replace(&work.path().join(part), &folder.join(part), work.path())?;
    }
    for log in ["-wal", "-shm"] {
        // What is left of another database would be taken for a part of this one.
        let mut path = database.clone().into_os_string();
        path.push(log);
        let _ = fs::remove_file(path);
    }
    fs::rename(&unpacked, &database).with_context(|| format!("cannot write {}", database.display()))?;
    archive::sync(folder)?;
    Ok(format!("{}: schema {schema}, restored from {}", database.display(), arguments.from.display()))
}

/// Puts the database into one on a server, and the key of the cookies with it. Either all of it is there afterwards, or nothing.
async fn restore_on_server(arguments: &RestoreArguments, url: &str) -> anyhow::Result<String> {
    let work = tempfile::Builder::new().prefix("chatwright-restore-").tempdir()?;
    let manifest = archive::unpack(&arguments.from, work.path())?;
    let unpacked = work.path().join(archive::DATABASE);
    let schema = Store::inspect(&unpacked).await?.schema;
    ensure!(schema == manifest.schema, "{}: its database is not the one that it names", arguments.from.display());
    let moved = Store::put_back(&unpacked, url, arguments.force).await;
    let hint = if arguments.force { "" } else { "; --force replaces what is there" };
    let moved = moved.map_err(|error| anyhow::anyhow!("cannot restore into the database: {error}{hint}"))?;
    keep_cookie_key(&work.path().join(COOKIE_KEY), url).await?;
    let rows: u64 = moved.iter().map(|moved| moved.rows).sum();
    Ok(format!("schema {schema}, {rows} row(s), restored from {}", arguments.from.display()))
}

/// Keeps the key of the cookies in the database, if there is such a file: who had a cookie is still known.
pub(in crate::cli) async fn keep_cookie_key(file: &Path, url: &str) -> anyhow::Result<()> {
    if let Ok(key) = fs::read(file) {
        let store = Store::open_existing(url).await?;
        store.secret(COOKIE_KEY, key).await?;
        store.close().await;
    }
    Ok(())
}

/// What was there goes with the folder `work`.
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

fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
