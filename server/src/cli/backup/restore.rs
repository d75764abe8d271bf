//! `chatwright restore`

use super::super::{ConfigArgument, DatabaseArgument, fail};
use super::{PARTS, archive, file, folder_of};
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Store;

/// From where.
#[derive(clap::Args)]
pub(crate) struct RestoreArguments {
    /// What `chatwright backup` wrote.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Replace what is there.
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
    let database = file(&arguments.database.with(&arguments.config)?)?;
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
    if database.exists() {
        Store::claim(&database).await?;
    }
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
