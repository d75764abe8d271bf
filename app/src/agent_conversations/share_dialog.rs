//! The dialog for links to copies of a conversation: create, copy and revoke.

use super::list::{ConversationListState, use_conversations};
use super::move_dialog::open_dialog;
use crate::api::shares;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use crate::ui::browser;
use leptos::html;
use leptos::task::spawn_local;
use wire::organize::Share;

const DIALOG_ID: &str = "cw-share-conversation";

/// A native modal dialog for the conversation whose menu was opened.
#[component]
pub fn ShareDialog() -> AnyView {
    let list = use_conversations();
    let results = NodeRef::<html::Input>::new();
    let link = move |share: Share| share_link(list, share);
    let create =
        move |_| update_shares(list, Some(results.get_untracked().is_some_and(|results| results.checked())), None);
    // Once there is a link, copying it is what the user wants next.
    let emphasis = move || Some(if list.shares.with(Vec::is_empty) { "cw-button cw-primary" } else { "cw-button" });
    // Within the dialog, because the rest of the page is covered while it is open.
    let error = move || list.error.with(|error| error.as_ref().map(|error| error_text(&error.0))).unwrap_or_default();
    view! {
        <dialog id=DIALOG_ID class="cw-dialog" aria-labelledby="cw-share-title">
            <form method="dialog">
                <h2 id="cw-share-title">{t(Text::ShareTitle)}</h2>
                <p>{t(Text::ShareAbout)}</p>
                <label class="cw-share-choice">
                    <input node_ref=results type="checkbox" />
                    {t(Text::ShareResults)}
                </label>
                <ul class="cw-share-links"><For each=move || list.shares.get() key=|share| share.id.clone() children=link /></ul>
                <p class="cw-share-error" role="alert">
                    {error}
                </p>
                <div class="cw-dialog-buttons">
                    <button type="submit" class="cw-button">
                        {t(Text::Close)}
                    </button>
                    <button type="button" class=emphasis on:click=create>
                        {t(Text::ShareCreate)}
                    </button>
                </div>
            </form>
        </dialog>
    }
    .into_any()
}

/// Opens the dialog for the conversation whose menu was opened.
pub(super) fn open_share_dialog(list: ConversationListState) {
    list.shares.set(Vec::new());
    list.error.set(None);
    update_shares(list, None, None);
    open_dialog(DIALOG_ID);
}

fn update_shares(list: ConversationListState, create: Option<bool>, revoke: Option<String>) {
    let Some(subject) = list.subject.get_untracked() else { return };
    spawn_local(async move {
        match shares(subject.id, create, revoke).await {
            Ok(all) => {
                list.error.try_set(None);
                list.shares.try_set(all.items);
            }
            Err(error) => {
                list.error.try_set(Some(error));
            }
        }
    });
}

fn share_link(list: ConversationListState, share: Share) -> AnyView {
    let address = move || {
        let origin = window().location().origin().unwrap_or_default();
        format!("{origin}/shared/{}", share.id)
    };
    let (shown, id) = (address(), address().rsplit('/').next().map(str::to_owned));
    let copied = RwSignal::new(false);
    let copy = move |_| copied.set(browser::copy(&address()));
    let label = move || if copied.get() { t(Text::Copied) } else { t(Text::Copy) }.to_owned();
    view! {
        <li>
            <textarea class="cw-control" dir="ltr" rows="1" readonly=true aria-label=t(Text::ShareLink) prop:value=shown></textarea>
            <button type="button" class="cw-button" on:click=copy>
                {label}
            </button>
            <button type="button" class="cw-button" on:click=move |_| update_shares(list, None, id.clone())>
                {t(Text::ShareRevoke)}
            </button>
        </li>
    }
    .into_any()
}
