//! Files on their way to the server. Whichever way they come (chosen, pasted, dropped), they are checked here and sent at once, so that
//! the message itself goes fast: to the server, or where the page has a storage of its own, see `elsewhere.rs`.

use super::{Session, elsewhere};
use crate::address::encoded;
use crate::agent_chat::browser;
use crate::agent_chat::outgoing::{Attached, OutgoingFile, Upload};
use crate::numbers;
use crate::prelude::*;
use crate::texts::{self, Text, fill, t};
use futures::channel::oneshot;
use leptos::web_sys::{File, ProgressEvent, Url, XmlHttpRequest};
use serde_json::Value;
use std::cell::RefCell;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wire::file::{KeptFile, is_shown_inline, kept_file_id};

/// Files of one message; the server takes no more.
const MAX_FILES: usize = 20;

/// A file that is being sent, or could be sent again.
struct Running {
    key: String,
    file: File,
    request: Option<XmlHttpRequest>,
}

thread_local! {
    /// Each as long as it stands in a composer and is not at the server. What belongs to the browser cannot be in a signal.
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

impl Session {
    /// Takes files into the next message. Those that were `pasted` have no name of their own.
    pub(in crate::agent_chat) fn attach(self, files: Vec<File>, pasted: bool) {
        let Some(rules) = self.place.with_value(|place| place.properties.sender.attachments.clone()) else { return };
        let mut refused = Vec::new();
        for file in files {
            let name = if pasted { self.pasted_name(&file) } else { file.name() };
            let most = rules.max_size.filter(|most| file.size() > *most as f64);
            let why = if self.attached.with_untracked(Vec::len) >= MAX_FILES {
                Some(texts::count(Text::FilesAtMost, MAX_FILES))
            } else if !rules.takes(&name, &file.type_()) {
                Some(fill(Text::OnlyKinds, &[&rules.accept.join(", ")]))
            } else if file.size() == 0.0 {
                Some(t(Text::FileEmpty).to_owned())
            } else {
                most.map(|most| fill(Text::SizeAtMost, &[&numbers::size(most)]))
            };
            match why {
                Some(why) => refused.push(fill(Text::NotAttached, &[&name, &why])),
                None => self.upload(name, file),
            }
        }
        self.refusal.set((!refused.is_empty()).then(|| refused.join(" ")));
        self.focus.update(|count| *count += 1);
    }

    /// Takes a file out of the next message.
    pub(in crate::agent_chat) fn detach(self, key: &str) {
        let request = take(key).and_then(|running| running.request);
        if let Some(request) = request {
            // One that has ended already is as good.
            let _ = request.abort();
        }
        let mut gone = None;
        self.attached.update(|all| {
            if let Some(at) = all.iter().position(|attached| attached.key == key) {
                gone = Some(all.remove(at));
            }
        });
        if let Some(gone) = gone {
            if let Some(part) =
                untrack(|| gone.file()).map(|file| file.part).filter(|part| kept_file_id(&part.url).is_some())
            {
                // Nobody waits for it: the server takes away what no message uses.
                leptos::task::spawn_local(async move {
                    let _ = delete(&part.url).await;
                });
            }
            forget(&gone);
        }
        self.focus.update(|count| *count += 1);
    }

    /// Sends a file again that did not arrive.
    pub(in crate::agent_chat) fn upload_again(self, key: &str) {
        let known = self.attached.with_untracked(|all| all.iter().find(|attached| attached.key == key).cloned());
        let file = take(key).map(|running| running.file);
        if let (Some(attached), Some(file)) = (known, file) {
            self.begin_upload(attached, file);
        }
    }

    /// Ends what is under way; part of the end of the session.
    pub(in crate::agent_chat) fn forget_attached(self) {
        for attached in self.attached.try_get_untracked().unwrap_or_default() {
            if let Some(request) = take(&attached.key).and_then(|running| running.request) {
                let _ = request.abort();
            }
            forget(&attached);
        }
    }

    fn upload(self, name: String, file: File) {
        let preview = is_shown_inline(&file.type_()).then(|| Url::create_object_url_with_blob(&file).ok()).flatten();
        let attached = Attached {
            key: browser::random_id(),
            name,
            size: file.size() as u64,
            preview,
            upload: ArcRwSignal::new(Upload::Running(0)),
        };
        self.attached.update(|all| all.push(attached.clone()));
        self.begin_upload(attached, file);
    }

    /// Begins to send a file.
    fn begin_upload(self, attached: Attached, file: File) {
        attached.upload.set(Upload::Running(0));
        RUNNING.with_borrow_mut(|all| {
            all.push(Running { key: attached.key.clone(), file: file.clone(), request: None });
        });
        let storage = self.place.with_value(|place| {
            let rules = place.properties.sender.attachments.as_ref();
            Some((place.page_id.clone(), rules?.storage.clone()?))
        });
        leptos::task::spawn_local(async move {
            let outcome = match storage {
                Some((page_id, storage)) => elsewhere::send(&page_id, &storage, &attached, &file).await,
                None => send(&attached, &file).await,
            };
            let is_wanted = RUNNING.with_borrow(|all| all.iter().any(|running| running.key == attached.key));
            if !is_wanted {
                return;
            }
            match outcome {
                Ok(sent) => {
                    take(&attached.key);
                    attached.upload.set(Upload::Done(sent));
                }
                Err(message) => attached.upload.set(Upload::Failed(message)),
            }
        });
    }

    /// Browsers call every pasted picture the same; here each has the time in its name, and a number if need be.
    fn pasted_name(self, file: &File) -> String {
        let given = file.name();
        if !given.is_empty() && !given.starts_with("image.") {
            return given;
        }
        let kind = file.type_();
        let ending = kind.split_once('/').map_or("bin", |(_, ending)| ending.split('+').next().unwrap_or_default());
        let time: String = js_sys::Date::new_0().to_iso_string().into();
        let time: String = time.chars().take(19).map(|char| if char == ':' { '-' } else { char }).collect();
        let is_taken = |name: &String| self.attached.with_untracked(|all| all.iter().any(|known| known.name == *name));
        let first = format!("pasted-{time}.{ending}");
        let others = (2..).map(|number| format!("pasted-{time}-{number}.{ending}"));
        std::iter::once(first).chain(others).find(|name| !is_taken(name)).unwrap_or_default()
    }
}

/// Sends a file to the server; the error is for the user.
async fn send(attached: &Attached, file: &File) -> Result<OutgoingFile, String> {
    let lost = || t(Text::FileNotSent).to_owned();
    let url = format!("/api/files?name={}", encoded(&attached.name));
    let send = |request: &XmlHttpRequest| {
        request.set_request_header("content-type", "application/octet-stream")?;
        request.send_with_opt_blob(Some(file))
    };
    let (status, answer) = post(attached, &url, send).await.map_err(|_| lost())?;
    if status == 201 {
        return serde_json::from_str::<KeptFile>(&answer).map(OutgoingFile::from).map_err(|_| lost());
    }
    let error: Value = serde_json::from_str(&answer).unwrap_or_default();
    Err(error.pointer("/error/message").and_then(Value::as_str).unwrap_or(t(Text::FileNotSent)).to_owned())
}

/// The status and the text that come of a request with a file, which ends with the file; the status 0 where nobody answers, and an error
/// once the file has been taken out. Only this kind of request says how far it has come.
pub(super) async fn post(
    attached: &Attached,
    url: &str,
    send: impl FnOnce(&XmlHttpRequest) -> Result<(), JsValue>,
) -> Result<(u16, String), JsValue> {
    let request = XmlHttpRequest::new()?;
    request.open("POST", url)?;
    let upload = attached.upload.clone();
    let progress = Closure::<dyn Fn(ProgressEvent)>::new(move |event: ProgressEvent| {
        let percent = if event.total() > 0.0 { event.loaded() / event.total() * 100.0 } else { 0.0 };
        upload.set(Upload::Running(percent as u8));
    });
    request.upload()?.set_onprogress(Some(progress.as_ref().unchecked_ref()));
    let (tell, told) = oneshot::channel::<()>();
    let end = Closure::once(move || drop(tell));
    request.set_onloadend(Some(end.as_ref().unchecked_ref()));
    RUNNING.with_borrow_mut(|all| {
        let running = all.iter_mut().find(|running| running.key == attached.key).ok_or(JsValue::NULL)?;
        running.request = Some(request.clone());
        Ok::<_, JsValue>(())
    })?;
    send(&request)?;
    // The end is that the other half is gone.
    let _ = told.await;
    request.set_onloadend(None);
    Ok((request.status().unwrap_or_default(), request.response_text().ok().flatten().unwrap_or_default()))
}

/// Tells the server that a file is not needed.
async fn delete(url: &str) -> Result<(), ()> {
    let request = XmlHttpRequest::new().map_err(drop)?;
    request.open("DELETE", url).map_err(drop)?;
    request.send().map_err(drop)
}

fn take(key: &str) -> Option<Running> {
    RUNNING.with_borrow_mut(|all| {
        let at = all.iter().position(|running| running.key == key)?;
        Some(all.remove(at))
    })
}

/// Gives back the memory of the small picture.
pub(super) fn forget(attached: &Attached) {
    if let Some(preview) = attached.preview.as_ref().filter(|preview| preview.starts_with("blob:")) {
        let _ = Url::revoke_object_url(preview);
    }
}
