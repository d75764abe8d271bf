//! Uploads to a library: a few at a time, each with its progress.

use super::api::{self, error_of, library_path};
use crate::address::encode_component;
use crate::prelude::*;
use crate::texts::{Text, error_text, fill_count, t};
use crate::ui::browser;
use leptos::task::spawn_local;
use leptos::web_sys::{File, FormData, XmlHttpRequest};
use std::cell::RefCell;
use std::collections::HashMap;
use wasm_bindgen::JsValue;
use wire::library::{AddedDocuments, DocumentList};

/// The most files that are added at once.
pub(super) const MAX_FILES: usize = 2_000;
/// How many are uploaded at the same time.
const PARALLEL: usize = 3;

thread_local! {
    /// The files that are not uploaded yet, with their requests. Browser objects cannot be stored in
    /// signals.
    static FILES: RefCell<HashMap<String, (File, Option<XmlHttpRequest>)>> = RefCell::new(HashMap::new());
}

/// The decision about a file whose name is in the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Replace,
    Keep,
    Skip,
}

/// The state of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UploadState {
    Waiting,
    /// In percent.
    Sending(u8),
    /// A document has its name, and the user is asked.
    Same,
    Done,
    /// The library has its content, under this name.
    Known(Option<String>),
    Failed(String),
}

/// A file that is uploaded.
#[derive(Clone)]
pub(super) struct Upload {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) state: ArcRwSignal<UploadState>,
    decision: ArcRwSignal<Option<Decision>>,
}

/// The uploads of a library; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Uploads {
    library: StoredValue<String>,
    pub(super) items: RwSignal<Vec<Upload>>,
    /// The decision for all files whose names are in the library.
    for_all: RwSignal<Option<Decision>>,
    pub(super) note: RwSignal<Option<String>>,
}

impl Uploads {
    /// The uploads of a library. They end with the view.
    pub(super) fn new(library: String) -> Self {
        let items = RwSignal::new(Vec::<Upload>::new());
        on_cleanup(move || {
            for upload in items.try_get_untracked().unwrap_or_default() {
                abort(&upload.key);
            }
        });
        Self { library: StoredValue::new(library), items, for_all: RwSignal::new(None), note: RwSignal::new(None) }
    }

    /// Adds files.
    pub(super) fn add(self, mut files: Vec<File>) {
        if self.is_idle() {
            self.clear();
        }
        self.note.set((files.len() > MAX_FILES).then(|| fill_count(Text::UploadTooMany, MAX_FILES)));
        files.truncate(MAX_FILES);
        let new = files.into_iter().map(|file| {
            let key = browser::random_id();
            let name = file.name();
            FILES.with_borrow_mut(|all| all.insert(key.clone(), (file, None)));
            Upload { key, name, state: ArcRwSignal::new(UploadState::Waiting), decision: ArcRwSignal::new(None) }
        });
        let new: Vec<_> = new.collect();
        self.items.update(|items| items.extend(new));
        self.start_next();
    }

    /// Whether nothing waits, is sent or asks.
    pub(super) fn is_idle(self) -> bool {
        let is_over = |upload: &Upload| {
            upload.state.with_untracked(|state| {
                matches!(state, UploadState::Done | UploadState::Known(_) | UploadState::Failed(_))
            })
        };
        self.items.with_untracked(|items| items.iter().all(is_over))
    }

    /// Removes all from the list, and ends what runs.
    pub(super) fn clear(self) {
        self.items.with_untracked(|items| items.iter().for_each(|upload| abort(&upload.key)));
        self.items.set(Vec::new());
        self.for_all.set(None);
        self.note.set(None);
    }

    /// Removes an upload, and ends it.
    pub(super) fn remove(self, key: &str) {
        abort(key);
        self.items.update(|items| items.retain(|upload| upload.key != key));
        self.start_next();
    }

    /// Tries a failed upload again.
    pub(super) fn retry(self, upload: &Upload) {
        upload.state.set(UploadState::Waiting);
        self.start_next();
    }

    /// Decides about a file whose name is known, or about all of them.
    pub(super) fn decide(self, upload: &Upload, decision: Decision, for_all: bool) {
        if for_all {
            self.for_all.set(Some(decision));
        }
        let decided: Vec<Upload> = if for_all {
            self.items.with_untracked(|items| {
                let asks = |upload: &&Upload| upload.state.with_untracked(|state| *state == UploadState::Same);
                items.iter().filter(asks).cloned().collect()
            })
        } else {
            vec![upload.clone()]
        };
        for upload in decided {
            if decision == Decision::Skip {
                abort(&upload.key);
                self.items.update(|items| items.retain(|other| other.key != upload.key));
            } else {
                upload.decision.set(Some(decision));
                upload.state.set(UploadState::Waiting);
            }
        }
        self.start_next();
    }

    fn start_next(self) {
        let Some(items) = self.items.try_get_untracked() else { return };
        let is = |upload: &Upload, wanted: fn(&UploadState) -> bool| upload.state.with_untracked(wanted);
        let running =
            items.iter().filter(|upload| is(upload, |state| matches!(state, UploadState::Sending(_)))).count();
        let waiting = items.iter().filter(|upload| is(upload, |state| *state == UploadState::Waiting));
        for upload in waiting.take(PARALLEL.saturating_sub(running)) {
            upload.state.set(UploadState::Sending(0));
            let upload = upload.clone();
            spawn_local(async move {
                let outcome = self.upload(&upload).await;
                // Removed uploads have no file any more.
                if FILES.with_borrow(|all| all.contains_key(&upload.key)) {
                    if matches!(outcome, UploadState::Done | UploadState::Known(_)) {
                        FILES.with_borrow_mut(|all| all.remove(&upload.key));
                    }
                    upload.state.set(outcome);
                }
                self.start_next();
            });
        }
    }

    async fn upload(self, upload: &Upload) -> UploadState {
        let away = || UploadState::Failed(t(Text::FileNotSent).to_owned());
        let (Some(library), Some(for_all)) = (self.library.try_get_value(), self.for_all.try_get_untracked()) else {
            return away();
        };
        let mut decision = upload.decision.get_untracked();
        if decision.is_none() {
            let query = ["/documents?name=", &encode_component(&upload.name)].concat();
            match api::get::<DocumentList>(&library_path(&library, &query)).await {
                Ok(list) if list.items.is_empty() => {}
                Ok(_) => match for_all {
                    None => return UploadState::Same,
                    // A file that is skipped by the decision for all files is not listed.
                    Some(Decision::Skip) => return UploadState::Known(None),
                    decided => decision = decided,
                },
                Err(error) => return UploadState::Failed(error_text(&error.0)),
            }
        }
        let rest = if decision == Some(Decision::Replace) { "/documents?replace=true" } else { "/documents" };
        let Ok((status, answer)) = send(upload, &library_path(&library, rest)).await else { return away() };
        let answer = serde_json::from_str::<serde_json::Value>(&answer).unwrap_or_default();
        match status {
            202 => match serde_json::from_value::<AddedDocuments>(answer) {
                Ok(added) => match added.documents.into_iter().find_map(|one| one.already_as) {
                    Some(name) => UploadState::Known(Some(name)),
                    None => UploadState::Done,
                },
                Err(_) => UploadState::Done,
            },
            0 => away(),
            _ => {
                let error = error_of(&answer).0;
                let own = Some(error.message.clone()).filter(|message| !message.is_empty());
                UploadState::Failed(own.unwrap_or_else(|| error_text(&error)))
            }
        }
    }
}

/// Sends a file; returns the status and the answer.
async fn send(upload: &Upload, path: &str) -> Result<(u16, String), JsValue> {
    let file = FILES.with_borrow(|all| all.get(&upload.key).map(|(file, _)| file.clone())).ok_or(JsValue::NULL)?;
    let form = FormData::new()?;
    form.append_with_blob_and_filename("file", &file, &upload.name)?;
    let state = upload.state.clone();
    let started = |request: &XmlHttpRequest| {
        FILES.with_borrow_mut(|all| {
            if let Some((_, running)) = all.get_mut(&upload.key) {
                *running = Some(request.clone());
            }
        });
        Ok(())
    };
    let progress = move |percent| state.set(UploadState::Sending(percent));
    browser::post_with_progress(path, progress, started, |request| request.send_with_opt_form_data(Some(&form))).await
}

/// Ends an upload and forgets its file.
fn abort(key: &str) {
    let running = FILES.with_borrow_mut(|all| all.remove(key)).and_then(|(_, request)| request);
    if let Some(request) = running {
        // Aborting a finished request has no effect.
        let _ = request.abort();
    }
}
