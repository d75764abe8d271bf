//! Uploads of attached files. Selected, pasted and dropped files are validated and uploaded at
//! once, so that sending the message is fast: to the server, or to the page's own storage (see
//! `external_storage.rs`).

use super::{Session, external_storage};
use crate::address::encode_component;
use crate::agent_chat::composer::outgoing::{Attachment, OutgoingFile, Upload};
use crate::prelude::*;
use crate::texts::{self, Text, fill, t};
use crate::ui::browser;
use crate::ui::numbers;
use leptos::web_sys::{File, Url, XmlHttpRequest};
use serde_json::Value;
use std::cell::RefCell;
use wasm_bindgen::JsValue;
use wire::file::{StoredFile, is_shown_inline, stored_file_id};

/// The maximum number of files of a message, which the server enforces as well.
const MAX_FILES: usize = 20;

/// A file that is being uploaded, or whose upload failed and can be retried.
struct RunningUpload {
    key: String,
    file: File,
    request: Option<XmlHttpRequest>,
}

thread_local! {
    /// The files attached in composers that are not uploaded yet. Browser objects cannot be stored
    /// in signals.
    static RUNNING_UPLOADS: RefCell<Vec<RunningUpload>> = const { RefCell::new(Vec::new()) };
}

impl Session {
    /// Attaches files to the next message. `pasted` files have no name of their own.
    pub(in crate::agent_chat) fn attach(self, files: Vec<File>, pasted: bool) {
        let Some(rules) = self.block.with_value(|place| place.properties.sender.attachments.clone()) else { return };
        let mut refused = Vec::new();
        for file in files {
            let name = if pasted { self.pasted_name(&file) } else { file.name() };
            let most = rules.max_size.filter(|most| file.size() > *most as f64);
            let why = if self.attachments.with_untracked(Vec::len) >= MAX_FILES {
                Some(texts::fill_count(Text::FilesAtMost, MAX_FILES))
            } else if !rules.accepts(&name, &file.type_()) {
                Some(fill(Text::OnlyKinds, &[&rules.accept.join(", ")]))
            } else if file.size() == 0.0 {
                Some(t(Text::FileEmpty).to_owned())
            } else {
                most.map(|most| fill(Text::SizeAtMost, &[&numbers::byte_size(most)]))
            };
            match why {
                Some(why) => refused.push(fill(Text::NotAttached, &[&name, &why])),
                None => self.upload(name, file),
            }
        }
        self.composer_error.set((!refused.is_empty()).then(|| refused.join(" ")));
        self.focus_requests.update(|count| *count += 1);
    }

    /// Removes a file from the next message.
    pub(in crate::agent_chat) fn detach(self, key: &str) {
        self.sends_when_uploaded.set(false);
        let request = remove_upload(key).and_then(|running| running.request);
        if let Some(request) = request {
            // Aborting a finished request has no effect.
            let _ = request.abort();
        }
        let mut gone = None;
        self.attachments.update(|all| {
            if let Some(at) = all.iter().position(|attached| attached.key == key) {
                gone = Some(all.remove(at));
            }
        });
        if let Some(gone) = gone {
            if let Some(part) =
                untrack(|| gone.file()).map(|file| file.part).filter(|part| stored_file_id(&part.url).is_some())
            {
                // The result is not needed: the server deletes files that no message uses.
                leptos::task::spawn_local(async move {
                    let _ = delete_file(&part.url).await;
                });
            }
            release_preview(&gone);
        }
        self.focus_requests.update(|count| *count += 1);
    }

    /// Retries a failed upload.
    pub(in crate::agent_chat) fn upload_again(self, key: &str) {
        let known = self.attachments.with_untracked(|all| all.iter().find(|attached| attached.key == key).cloned());
        let file = remove_upload(key).map(|running| running.file);
        if let (Some(attached), Some(file)) = (known, file) {
            self.begin_upload(attached, file);
        }
    }

    /// Cancels the uploads when the session ends.
    pub(in crate::agent_chat) fn cancel_uploads(self) {
        for attached in self.attachments.try_get_untracked().unwrap_or_default() {
            if let Some(request) = remove_upload(&attached.key).and_then(|running| running.request) {
                let _ = request.abort();
            }
            release_preview(&attached);
        }
    }

    fn upload(self, name: String, file: File) {
        let preview = is_shown_inline(&file.type_()).then(|| Url::create_object_url_with_blob(&file).ok()).flatten();
        let attached = Attachment {
            key: browser::random_id(),
            name,
            size: file.size() as u64,
            preview,
            upload: ArcRwSignal::new(Upload::Running(0)),
        };
        self.attachments.update(|all| all.push(attached.clone()));
        self.begin_upload(attached, file);
    }

    /// Starts an upload.
    fn begin_upload(self, attached: Attachment, file: File) {
        attached.upload.set(Upload::Running(0));
        RUNNING_UPLOADS.with_borrow_mut(|all| {
            all.push(RunningUpload { key: attached.key.clone(), file: file.clone(), request: None });
        });
        let storage = self.block.with_value(|place| {
            let rules = place.properties.sender.attachments.as_ref();
            Some((place.page_id.clone(), rules?.storage()?))
        });
        leptos::task::spawn_local(async move {
            let outcome = match storage {
                Some((page_id, storage)) => external_storage::upload(&page_id, &storage, &attached, &file).await,
                None => send_file(&attached, &file).await,
            };
            let is_wanted = RUNNING_UPLOADS.with_borrow(|all| all.iter().any(|running| running.key == attached.key));
            if !is_wanted {
                return;
            }
            match outcome {
                Ok(sent) => {
                    remove_upload(&attached.key);
                    attached.upload.set(Upload::Done(sent));
                }
                Err(message) => attached.upload.set(Upload::Failed(message)),
            }
            if !self.is_disposed() && self.sends_when_uploaded.get_untracked() {
                // Waits on if other files are still being uploaded, and says which one has failed.
                self.send_draft();
            }
        });
    }

    /// Browsers give all pasted pictures the same name; this name contains the time, and a number
    /// if needed.
    fn pasted_name(self, file: &File) -> String {
        let given = file.name();
        if !given.is_empty() && !given.starts_with("image.") {
            return given;
        }
        let kind = file.type_();
        let ending = kind.split_once('/').map_or("bin", |(_, ending)| ending.split('+').next().unwrap_or_default());
        let time: String = js_sys::Date::new_0().to_iso_string().into();
        let time: String = time.chars().take(19).map(|char| if char == ':' { '-' } else { char }).collect();
        let is_taken =
            |name: &String| self.attachments.with_untracked(|all| all.iter().any(|known| known.name == *name));
        let first = format!("pasted-{time}.{ending}");
        let others = (2..).map(|number| format!("pasted-{time}-{number}.{ending}"));
        std::iter::once(first).chain(others).find(|name| !is_taken(name)).unwrap_or_default()
    }
}

/// Uploads a file to the server; the error is for the user.
async fn send_file(attached: &Attachment, file: &File) -> Result<OutgoingFile, String> {
    let lost = || t(Text::FileNotSent).to_owned();
    let url = format!("/api/files?name={}", encode_component(&attached.name));
    let send = |request: &XmlHttpRequest| {
        request.set_request_header("content-type", "application/octet-stream")?;
        request.send_with_opt_blob(Some(file))
    };
    let (status, answer) = post_file(attached, &url, send).await.map_err(|_| lost())?;
    if status == 201 {
        return serde_json::from_str::<StoredFile>(&answer).map(OutgoingFile::from).map_err(|_| lost());
    }
    let error: Value = serde_json::from_str(&answer).unwrap_or_default();
    Err(error.pointer("/error/message").and_then(Value::as_str).unwrap_or(t(Text::FileNotSent)).to_owned())
}

/// Sends a request with a file and returns its status and response text; the status is 0 if the
/// server cannot be reached. Returns an error if the file was removed.
pub(super) async fn post_file(
    attached: &Attachment,
    url: &str,
    send: impl FnOnce(&XmlHttpRequest) -> Result<(), JsValue>,
) -> Result<(u16, String), JsValue> {
    let upload = attached.upload.clone();
    let started = |request: &XmlHttpRequest| {
        RUNNING_UPLOADS.with_borrow_mut(|all| {
            let running = all.iter_mut().find(|running| running.key == attached.key).ok_or(JsValue::NULL)?;
            running.request = Some(request.clone());
            Ok(())
        })
    };
    browser::post_with_progress(url, move |percent| upload.set(Upload::Running(percent)), started, send).await
}

/// Deletes a file on the server that is not needed.
async fn delete_file(url: &str) -> Result<(), ()> {
    let request = XmlHttpRequest::new().map_err(drop)?;
    request.open("DELETE", url).map_err(drop)?;
    request.send().map_err(drop)
}

fn remove_upload(key: &str) -> Option<RunningUpload> {
    RUNNING_UPLOADS.with_borrow_mut(|all| {
        let at = all.iter().position(|running| running.key == key)?;
        Some(all.remove(at))
    })
}

/// Releases the memory of the preview picture.
pub(super) fn release_preview(attached: &Attachment) {
    if let Some(preview) = attached.preview.as_ref().filter(|preview| preview.starts_with("blob:")) {
        let _ = Url::revoke_object_url(preview);
    }
}
