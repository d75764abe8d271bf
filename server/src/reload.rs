//! Reads the config again when its files change (D-22, F31), and the agents that administrators made when another server has changed them.
//! Files are looked at instead of listened to: that also sees a file on a
//! network, one that is mounted into a container, and a link that leads elsewhere now, and it costs a few calls a second.

use crate::compose::{self, Current, Read};
use config::{Diagnostic, Reading, Severity};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use store::{Listener, News, Store};
use tokio_util::sync::CancellationToken;

/// How often the files are looked at. A change counts once it has not changed again for as long: an editor may empty a file and
/// then fill it.
const EVERY: Duration = Duration::from_millis(250);

/// How often is looked for agents that were made at other servers, without news of them.
const LOOK: Duration = Duration::from_secs(5);

/// The files of a config, and what they looked like when it had just been read.
pub(crate) struct Seen {
    files: Vec<PathBuf>,
    looks: Vec<Look>,
}

impl Seen {
    /// At once after the config was read: what changes before this is not noticed.
    pub(crate) async fn now(files: Vec<PathBuf>) -> Self {
        Self { looks: look(&files).await, files }
    }
}

/// Keeps `current` at what stands in the config at `path`, until told to stop. `seen` are the files of the config as it is now.
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
            // From before they are read: what changes meanwhile shows as a change next time.
            seen = now;
            pending = None;
            let read = apply(&path, &current).await;
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

/// What a file looks like without reading it; `None`: it is not there.
type Look = Option<(SystemTime, u64)>;

async fn look(files: &[PathBuf]) -> Vec<Look> {
    let files = files.to_vec();
    let look = move || files.iter().map(|file| look_at(file)).collect();
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn look_at(file: &Path) -> Look {
    let data = file.metadata().ok()?;
    Some((data.modified().ok()?, data.len()))
}

/// Reads the config and takes it over if it is good. Answers with the files to look at from now on.
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
