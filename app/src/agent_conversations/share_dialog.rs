//! The dialog for links to copies of a conversation: create, copy and revoke. Links to files of the conversation are made in
//! the panel of the file, and listed here as well.

use super::list::{ConversationListState, use_conversations};
use super::move_dialog::open_dialog;
use crate::api::file_links::file_links;
use crate::api::shares;
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::dates::local_time;
use crate::ui::share_link::share_link;
use leptos::html;
use leptos::task::spawn_local;
use wire::file::FileLink;
use wire::organize::Share;

const DIALOG_ID: &str = "cw-share-conversation";

/// A native modal dialog for the conversation whose menu was opened.
#[component]
pub fn ShareDialog() -> AnyView {
    let list = use_conversations();
    let results = NodeRef::<html::Input>::new();
    let link = move |share: Share| {
        let id = share.id.clone();
        let revoke = Callback::new(move |()| update_shares(list, None, Some(id.clone())));
        share_link(None, ["/shared/", &share.id].concat(), revoke)
    };
    let create =
        move |_| update_shares(list, Some(results.get_untracked().is_some_and(|results| results.checked())), None);
    // After a link is made, the user usually copies it.
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
                {links_to_files(list)}
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

/// The links to files of the conversation, if there are any.
fn links_to_files(list: ConversationListState) -> AnyView {
    let links = RwSignal::new(Vec::<FileLink>::new());
    let load = move |revoke: Option<String>| {
        let Some(subject) = list.subject.get_untracked() else { return };
        spawn_local(async move {
            let files = ["/api/conversations/", &subject.id, "/files"].concat();
            let loaded = file_links(&files, revoke.as_deref()).await;
            // The dialog may be open for another conversation by now.
            let is_current = list.subject.try_get_untracked().flatten().is_some_and(|now| now.id == subject.id);
            match loaded {
                Ok(all) if is_current => drop(links.try_set(all)),
                Err(error) if is_current => drop(list.error.try_set(Some(error))),
                _ => {}
            }
        });
    };
    // The list of the other links is emptied when the dialog opens, and filled.
    Effect::new(move |_| {
        if list.shares.with(Vec::is_empty) {
            links.set(Vec::new());
        }
        load(None);
    });
    let link = move |link: FileLink| {
        let about = [
            &*link.path,
            ", ",
            &*fill(Text::ArtifactVersionAt, &[&link.version.to_string(), &local_time(link.created_at)]),
        ]
        .concat();
        let id = link.id.clone();
        share_link(Some(about), link.url, Callback::new(move |()| load(Some(id.clone()))))
    };
    view! {
        <h3 class="cw-share-files" hidden=move || links.with(Vec::is_empty)>{t(Text::ArtifactLinks)}</h3>
        <ul class="cw-share-links"><For each=move || links.get() key=|link| link.id.clone() children=link /></ul>
    }
    .into_any()
}
