//! Where files are dropped or chosen, and how far their uploads are.

use super::dropped::{Dropped, is_hidden};
use super::upload::{Decision, MAX_FILES, Upload, UploadState, Uploads};
use crate::prelude::*;
use crate::texts::{Text, fill, group_digits, t};
use crate::ui::browser::files;
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{DragEvent, Event};
use leptos::html;
use leptos::task::spawn_local;

/// The most uploads that are listed. Others follow as these end.
const MOST_LISTED: usize = 50;

/// The area.
#[component]
pub(super) fn UploadArea(block: String, uploads: Uploads) -> AnyView {
    let is_above = RwSignal::new(false);
    let [input, folder] = [NodeRef::<html::Input>::new(), NodeRef::<html::Input>::new()];
    let over = move |event: DragEvent| {
        let kinds = event.data_transfer().map(|data| data.types());
        if kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "Files")) {
            event.prevent_default();
            if !is_above.get_untracked() {
                is_above.set(true);
            }
        }
    };
    let dropped = move |event: DragEvent| {
        is_above.set(false);
        let Some(data) = event.data_transfer() else { return };
        event.prevent_default();
        let dropped = Dropped::new(&data);
        spawn_local(async move {
            let files = dropped.files(MAX_FILES).await;
            if uploads.items.try_get_untracked().is_some() && !files.is_empty() {
                uploads.add(files);
            }
        });
    };
    let chosen = move |input: NodeRef<html::Input>| {
        move |_: Event| {
            let Some(input) = input.get_untracked() else { return };
            let mut chosen = files(input.files());
            chosen.retain(|file| !is_hidden(&file.name()));
            // So that the same file can be chosen again.
            input.set_value("");
            if !chosen.is_empty() {
                uploads.add(chosen);
            }
        }
    };
    let open = |input: NodeRef<html::Input>| {
        move |_| {
            if let Some(input) = input.get_untracked() {
                input.click();
            }
        }
    };
    let id = format!("library-{block}-drop");
    let labelled = id.clone();
    view! {
        <div
            class="cw-upload-area"
            role="group"
            aria-labelledby=labelled
            class:cw-dropping=move || is_above.get()
            on:dragover=over
            on:dragleave=move |_| is_above.set(false)
            on:drop=dropped
        >
            <span id=id>{t(Text::UploadDrop)}</span>
            <button type="button" class="cw-button" on:click=open(input)>
                <Icon of=Shape::UPLOAD />
                {t(Text::UploadFiles)}
            </button>
            <button type="button" class="cw-button cw-upload-folder" on:click=open(folder)>
                <Icon of=Shape::FOLDER />
                {t(Text::UploadFolder)}
            </button>
            <input type="file" multiple hidden aria-label=t(Text::UploadFiles) node_ref=input on:change=chosen(input) />
            <input type="file" prop:webkitdirectory=true multiple hidden aria-label=t(Text::UploadFolder) node_ref=folder on:change=chosen(folder) />
        </div>
        {upload_list(uploads)}
    }
    .into_any()
}

fn upload_list(uploads: Uploads) -> AnyView {
    let count = Memo::new(move |_| {
        let is_done =
            |upload: &&Upload| upload.state.with(|state| matches!(state, UploadState::Done | UploadState::Known(_)));
        uploads.items.with(|items| (items.iter().filter(is_done).count(), items.len()))
    });
    let is_asking = Memo::new(move |_| {
        let asks = |upload: &Upload| upload.state.with(|state| *state == UploadState::Same);
        uploads.items.with(|items| items.iter().filter(|upload| asks(upload)).count() > 1)
    });
    // Finished uploads are in the list of documents.
    let listed = move || {
        let is_listed = |upload: &Upload| upload.state.with(|state| *state != UploadState::Done);
        uploads.items.with(|items| {
            items.iter().filter(|upload| is_listed(upload)).take(MOST_LISTED).cloned().collect::<Vec<_>>()
        })
    };
    let status = move || match count.get() {
        (_, 0) => String::new(),
        (done, all) => fill(Text::UploadCount, &[&group_digits(done as u64), &group_digits(all as u64)]),
    };
    let has_any = Memo::new(move |_| count.get().1 > 0);
    let clear = move || {
        has_any.get().then(|| {
            view! {
                <button type="button" class="cw-link" on:click=move |_| uploads.clear()>{t(Text::UploadClear)}</button>
            }
            .into_any()
        })
    };
    view! {
        <div class="cw-uploads" data-any=move || has_any.get().then_some("")>
            <p class="cw-upload-status"><span role="status">{status}</span>{clear}</p>
            <p role="alert">{move || uploads.note.get()}</p>
            <ul aria-label=t(Text::UploadList) hidden=move || listed().is_empty()>
                <For
                    each=listed
                    key=|upload| upload.key.clone()
                    children=move |upload| upload_row(uploads, upload, is_asking)
                />
            </ul>
        </div>
    }
    .into_any()
}

fn upload_row(uploads: Uploads, upload: Upload, is_asking: Memo<bool>) -> AnyView {
    let (key, name) = (upload.key.clone(), upload.name.clone());
    let label = fill(Text::RemoveNamed, &[&name]);
    let known = upload.clone();
    let is_same = Memo::new(move |_| known.state.with(|state| *state == UploadState::Same));
    let state = {
        let (upload, name) = (upload.clone(), name.clone());
        move || match upload.state.get() {
            UploadState::Waiting => t(Text::UploadWaiting).into_any(),
            UploadState::Sending(percent) => {
                let percent = percent.to_string();
                view! { <progress max="100" value=percent aria-label=fill(Text::SendingNamed, &[&name])></progress> }
                    .into_any()
            }
            UploadState::Same => ().into_any(),
            UploadState::Done => t(Text::UploadDone).into_any(),
            UploadState::Known(Some(known)) if known != name => {
                [t(Text::UploadKnown), " (", known.as_str(), ")"].concat().into_any()
            }
            UploadState::Known(_) => t(Text::UploadKnown).into_any(),
            UploadState::Failed(reason) => {
                let again = upload.clone();
                view! {
                    <span class="cw-upload-problem">
                        <span role="alert">{reason}</span>
                        <button type="button" class="cw-link" on:click=move |_| uploads.retry(&again)>
                            {t(Text::TryAgain)}
                        </button>
                    </span>
                }
                .into_any()
            }
        }
    };
    let question = move || is_same.get().then(|| same_name(uploads, &upload, is_asking));
    view! {
        <li class="cw-upload">
            <span class="cw-upload-name" dir="auto">{visible_nodes(&name, TextKind::Value)}</span>
            <span class="cw-upload-state">{state}</span>
            <button type="button" class="cw-icon-button" aria-label=label.clone() title=label on:click=move |_| uploads.remove(&key)>
                <Icon of=Shape::CLOSE />
            </button>
            {question}
        </li>
    }
    .into_any()
}

/// Asks what to do with a file whose name is known.
fn same_name(uploads: Uploads, upload: &Upload, is_asking: Memo<bool>) -> AnyView {
    let for_all = RwSignal::new(false);
    let choice = |decision: Decision, label: Text| {
        let upload = upload.clone();
        view! {
            <button type="button" class="cw-button" on:click=move |_| uploads.decide(&upload, decision, for_all.get_untracked())>
                {t(label)}
            </button>
        }
        .into_any()
    };
    let choices = [
        choice(Decision::Replace, Text::UploadReplace),
        choice(Decision::Keep, Text::UploadKeep),
        choice(Decision::Skip, Text::UploadSkip),
    ];
    let choices = Vec::from(choices);
    let all = move || {
        is_asking.get().then(|| {
            view! {
                <label class="cw-library-role">
                    <input type="checkbox" on:change=move |event| for_all.set(event_target_checked(&event)) />
                    {t(Text::UploadForAll)}
                </label>
            }
            .into_any()
        })
    };
    let label = fill(Text::UploadSameNamed, &[&upload.name]);
    view! {
        <div class="cw-upload-same" role="group" aria-label=label>
            <p role="alert">{t(Text::UploadSame)}</p>
            <div class="cw-library-buttons">{choices}</div>
            {all}
        </div>
    }
    .into_any()
}
