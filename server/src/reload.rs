//! Reloads the config when its files change, and the custom agents when another server has changed
//! them.
//!
//! Files are polled: this also notices changes on network file systems, in container mounts and
//! behind symbolic links, and costs a few system calls per second.

use crate::capabilities::definitions;
use crate::compose::{self, CurrentConfig, LoadSummary};
use capability::StoredAdditions;
use config::{Diagnostic, LoadAttempt, Severity};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use store::{Listener, ReplicaEvent, Store};
use tokio_util::sync::CancellationToken;

/// The interval at which files are polled. A change is applied once the files have stayed the same
/// for one more interval, since an editor may truncate a file before it writes it.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The interval at which additions to the config are read again without a notification.
const ADDITIONS_POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The files of a config, and their state before the config was read.
pub(crate) struct WatchedFiles {
    files: Vec<PathBuf>,
    states: Vec<FileState>,
}

impl WatchedFiles {
    /// Captures the state of the config at `path` and of the files that it was read from. Later
    /// changes count as changes.
    pub(crate) async fn capture(path: Option<&Path>, files: Vec<PathBuf>) -> Self {
        let files = files_to_watch(path, files);
        Self { states: file_states(&files).await, files }
    }
}

/// Returns the files to poll: `files` are those of the last read. If `path` is a folder, it is not
/// among them, but it may become a file.
fn files_to_watch(path: Option<&Path>, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    if let Some(path) = path
        && !files.iter().any(|file| file == path)
    {
        files.push(path.to_owned());
    }
    files
}

/// Keeps `current` at the config at `path` until `stop` is cancelled. `seen` is the state of the
/// files of the config in use.
pub(crate) async fn watch_config(
    path: PathBuf,
    seen: WatchedFiles,
    current: Arc<CurrentConfig>,
    stop: CancellationToken,
) {
    let WatchedFiles { mut files, states: mut seen } = seen;
    let mut pending = None;
    while stop.run_until_cancelled(tokio::time::sleep(POLL_INTERVAL)).await.is_some() {
        let now = file_states(&files).await;
        if now == seen {
            pending = None;
        } else if pending.as_ref() != Some(&now) {
            pending = Some(now);
        } else {
            // This is the state before the read, so a change during the read is noticed in the next
            // round.
            seen = now;
            pending = None;
            let read = files_to_watch(Some(&path), reload(&path, &current).await);
            if read != files {
                seen = file_states(&read).await;
                files = read;
            }
        }
    }
}

/// Keeps `current` at the additions to the config that are changed at other servers of the
/// database, until `stop` is cancelled. Returns at once if the database cannot have other servers.
pub(crate) async fn watch_additions(store: Store, current: Arc<CurrentConfig>, stop: CancellationToken) {
    let Some(mut news) = store.listen() else { return };
    loop {
        match StoredAdditions::read(definitions(), &store).await {
            Ok(additions) if current.has_additions(&additions) => {}
            Ok(_) => {
                if let Err(error) = current.refresh_additions().await {
                    tracing::error!(%error, "additions to the config that were changed at another server cannot be loaded");
                }
            }
            Err(error) => tracing::warn!(%error, "additions to the config that other servers change cannot be read"),
        }
        // Notifications can be lost, so the state is also checked without one.
        let heard = tokio::time::timeout(ADDITIONS_POLL_INTERVAL, wait_for_config_change(&mut news));
        if stop.run_until_cancelled(heard).await.is_none() {
            return;
        }
    }
}

/// Waits until additions may have changed.
async fn wait_for_config_change(news: &mut Listener) {
    while !matches!(news.next().await, ReplicaEvent::Config | ReplicaEvent::Missed) {}
}

/// The state of a file, found without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileState {
    Missing,
    /// A folder. Its content is not compared, since other files may change there.
    Folder,
    File(SystemTime, u64),
}

async fn file_states(files: &[PathBuf]) -> Vec<FileState> {
    let files = files.to_vec();
    let look = move || files.iter().map(|file| file_state(file)).collect();
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn file_state(file: &Path) -> FileState {
    match file.metadata() {
        Ok(data) if data.is_dir() => FileState::Folder,
        Ok(data) => data.modified().map_or(FileState::Missing, |modified| FileState::File(modified, data.len())),
        Err(_) => FileState::Missing,
    }
}

/// Reads the config and applies it if it is valid. Returns the files that it was read from.
async fn reload(path: &Path, current: &CurrentConfig) -> Vec<PathBuf> {
    let owned = path.to_owned();
    let Ok(reading) = tokio::task::spawn_blocking(move || compose::load_config(Some(&owned))).await else {
        reject(current, &LoadSummary::default(), "the config could not be read");
        return vec![path.to_owned()];
    };
    let read = LoadSummary::from_attempt(&reading);
    let LoadAttempt { outcome, files, .. } = reading;
    match outcome {
        Ok((config, warnings)) => match current.replace(config, read.clone()).await {
            Ok(()) => {
                warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
                tracing::info!("the config was reloaded");
                current.announce_setup();
            }
            Err(error) => reject(current, &read, &format!("the config cannot be used: {error}")),
        },
        Err(problems) => reject(current, &read, &error_text(&problems, path)),
    }
    files
}

fn reject(current: &CurrentConfig, read: &LoadSummary, problems: &str) {
    tracing::error!("the changed config has errors; the previous one stays in use\n{problems}");
    current.record_rejected(read, problems);
}

/// Formats the errors; warnings are reported with a config that is applied. File names are relative
/// to the config's folder, because a page shows them as well and the folder's location concerns
/// only the server.
fn error_text(problems: &[Diagnostic], path: &Path) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let text = errors.map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    match folder.map(|folder| folder.join("").display().to_string()) {
        Some(folder) if !folder.is_empty() => text.replace(&folder, ""),
        _ => text,
    }
}
