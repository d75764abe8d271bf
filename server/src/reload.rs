//! Reads the config again when its files change, and the agents that administrators made when another server has changed them.
//! Files are polled: that also notices a change on a network's file system, in a mount of a container and behind a symbolic link, and
//! costs a few system calls a second.

use crate::compose::{self, Current, Read};
use config::{Diagnostic, Reading, Severity};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use store::{Listener, News, Store};
use tokio_util::sync::CancellationToken;

/// How often the files are polled. A change counts when nothing has changed again for as long: an editor may empty a file and then
/// fill it.
const EVERY: Duration = Duration::from_millis(250);

/// How often agents that were made at other servers are looked for without news of them.
const LOOK: Duration = Duration::from_secs(5);

/// The files of a config, and their state when it had just been read.
pub(crate) struct Seen {
    files: Vec<PathBuf>,
    looks: Vec<Look>,
}

impl Seen {
    /// Takes the state of the config at `path` and of the files that it was read from. What changed since then is not noticed.
    pub(crate) async fn now(path: Option<&Path>, files: Vec<PathBuf>) -> Self {
        let files = watched(path, files);
        Self { looks: look(&files).await, files }
    }
}

/// What to poll: `files` were asked for by the last read. While `path` is a folder, `path` itself is not among them, but may become a
/// file.
fn watched(path: Option<&Path>, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    if let Some(path) = path
        && !files.iter().any(|file| file == path)
    {
        files.push(path.to_owned());
    }
    files
}

/// Keeps `current` at the config at `path` until it is told to stop. `seen` is the config's state as it is in use now.
pub(crate) async fn follow(path: PathBuf, seen: Seen, current: Arc<Current>, stop: CancellationToken) {
    let Seen { mut files, looks: mut seen } = seen;
    let mut pending = None;
    while stop.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_some() {
        let now = look(&files).await;
        if now == seen {
            pending = None;
        } else if pending.as_ref() != Some(&now) {
            pending = Some(now);
        } else {
            // The state from before the read: what changes meanwhile is a change the next time.
            seen = now;
            pending = None;
            let read = watched(Some(&path), apply(&path, &current).await);
            if read != files {
                seen = look(&read).await;
                files = read;
            }
        }
    }
}

/// Keeps `current` at the agents that administrators make at other servers of the database, until told to stop. Where there can be no
/// others, there is nothing to do.
pub(crate) async fn follow_agents(store: Store, current: Arc<Current>, stop: CancellationToken) {
    let Some(mut news) = store.listen() else { return };
    loop {
        match store.custom_agents_state().await {
            Ok(state) if current.has_custom_agents_of(state) => {}
            Ok(_) => {
                if let Err(error) = current.refresh().await {
                    tracing::error!(%error, "agents that were made elsewhere cannot be used");
                }
            }
            Err(error) => tracing::warn!(%error, "it is not known which agents were made elsewhere"),
        }
        // News may be missed.
        let heard = tokio::time::timeout(LOOK, agents_changed(&mut news));
        if stop.run_until_cancelled(heard).await.is_none() {
            return;
        }
    }
}

/// Until some may have changed.
async fn agents_changed(news: &mut Listener) {
    while !matches!(news.next().await, News::Agents | News::Missed) {}
}

/// The state of a file, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Missing,
    /// What is in it does not count: other files than the config's may come and go there.
    Folder,
    File(SystemTime, u64),
}

async fn look(files: &[PathBuf]) -> Vec<Look> {
    let files = files.to_vec();
    let look = move || files.iter().map(|file| look_at(file)).collect();
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn look_at(file: &Path) -> Look {
    match file.metadata() {
        Ok(data) if data.is_dir() => Look::Folder,
        Ok(data) => data.modified().map_or(Look::Missing, |modified| Look::File(modified, data.len())),
        Err(_) => Look::Missing,
    }
}

/// Reads the config and uses it if it is good. Returns the files that it was read from.
async fn apply(path: &Path, current: &Current) -> Vec<PathBuf> {
    let owned = path.to_owned();
    let Ok(reading) = tokio::task::spawn_blocking(move || compose::read(Some(&owned))).await else {
        refuse(current, &Read::default(), "the config could not be read");
        return vec![path.to_owned()];
    };
    let read = Read::of(&reading);
    let Reading { outcome, files, .. } = reading;
    match outcome {
        Ok((config, warnings)) => match current.replace(config, read.clone()).await {
            Ok(()) => {
                warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
                tracing::info!("the config was read again");
                current.announce();
            }
            Err(error) => refuse(current, &read, &format!("the config cannot be used: {error}")),
        },
        Err(problems) => refuse(current, &read, &shown(&problems, path)),
    }
    files
}

fn refuse(current: &Current, read: &Read, problems: &str) {
    tracing::error!("the config was changed and is wrong; the earlier one stays in use\n{problems}");
    current.keep(read, problems);
}

/// The errors as text; warnings come with a config that is used. Files are named as they stand in the config's folder: a page
/// shows this, too, and where that folder is concerns the server only.
fn shown(problems: &[Diagnostic], path: &Path) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let text = errors.map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    match folder.map(|folder| folder.join("").display().to_string()) {
        Some(folder) if !folder.is_empty() => text.replace(&folder, ""),
        _ => text,
    }
}
