//! The dialog for links to copies of the open file: create, copy and revoke.

use super::viewer::Viewer;
use crate::api::ApiError;
use crate::api::file_links::file_links;
use crate::api::transport::http::{self, Method};
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::dates::local_time;
use crate::ui::icons::{Icon, Shape};
use crate::ui::share_link::share_link;
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::task::spawn_local;
use serde_json::Value;
use wire::file::FileLink;

/// The links to the open file.
#[derive(Clone, Copy)]
pub(super) struct FileSharing {
    viewer: Viewer,
    dialog: NodeRef<html::Dialog>,
    links: RwSignal<Vec<FileLink>>,
    error: RwSignal<Option<ApiError>>,
}

/// The action of a request on the file's links.
enum LinkAction {
    /// Shows them.
    List,
    /// Makes one to the shown version.
    Create,
    /// Revokes the one with this id.
    Revoke(String),
}

impl FileSharing {
    pub(super) fn new(viewer: Viewer) -> Self {
        let (links, error) = (RwSignal::new(Vec::new()), RwSignal::new(None));
        Self { viewer, dialog: NodeRef::new(), links, error }
    }

    fn open(self) {
        self.links.set(Vec::new());
        self.perform(LinkAction::List);
        if let Some(dialog) = self.dialog.get_untracked() {
            // Fails only if the dialog is open.
            let _ = dialog.show_modal();
        }
    }

    fn perform(self, action: LinkAction) {
        let (Some(open), Some(shown)) = (self.viewer.state.open.get_untracked(), self.viewer.shown.get_untracked())
        else {
            return;
        };
        spawn_local(async move {
            let done = update(&open.files, &shown.url, action).await;
            // Another file may be open by now.
            if self.viewer.state.open.try_get_untracked().flatten().as_ref() != Some(&open) {
                return;
            }
            match done {
                Ok(mut all) => {
                    all.retain(|link| link.path == open.path);
                    self.links.set(all);
                    self.error.set(None);
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    /// The button that opens the dialog.
    pub(super) fn button(self) -> AnyView {
        view! {
            <button
                type="button"
                class="cw-icon-button"
                hidden=move || self.viewer.shown.with(Option::is_none)
                aria-haspopup="dialog"
                aria-label=t(Text::ShareMenu)
                title=t(Text::ShareMenu)
                on:click=move |_| self.open()
            >
                <Icon of=Shape::LINK />
            </button>
        }
        .into_any()
    }

    /// The dialog. It must not be within the panel, which closes with Escape.
    pub(super) fn dialog(self) -> AnyView {
        let heading = self.viewer.state.element_id("share");
        let heading_id = heading.clone();
        let link = move |link: FileLink| {
            let about = fill(Text::ArtifactVersionAt, &[&link.version.to_string(), &local_time(link.created_at)]);
            let id = link.id.clone();
            let revoke = Callback::new(move |()| self.perform(LinkAction::Revoke(id.clone())));
            share_link(Some(about), link.url, revoke)
        };
        // After a link is made, the user usually copies it.
        let emphasis = move || Some(if self.links.with(Vec::is_empty) { "cw-button cw-primary" } else { "cw-button" });
        let error =
            move || self.error.with(|error| error.as_ref().map(|error| error_text(&error.0))).unwrap_or_default();
        // Escape must not stop an answer, too.
        let key = move |event: KeyboardEvent| {
            if event.key() == "Escape" {
                event.stop_propagation();
            }
        };
        view! {
            <dialog node_ref=self.dialog class="cw-dialog" aria-labelledby=heading on:keydown=key>
                <form method="dialog">
                    <h2 id=heading_id>{t(Text::ShareTitle)}</h2>
                    <p>{t(Text::ArtifactShareAbout)}</p>
                    <ul class="cw-share-links"><For each=move || self.links.get() key=|link| link.id.clone() children=link /></ul>
                    <p class="cw-share-error" role="alert">
                        {error}
                    </p>
                    <div class="cw-dialog-buttons">
                        <button type="submit" class="cw-button">
                            {t(Text::Close)}
                        </button>
                        <button type="button" class=emphasis on:click=move |_| self.perform(LinkAction::Create)>
                            {t(Text::ShareCreate)}
                        </button>
                    </div>
                </form>
            </dialog>
        }
        .into_any()
    }
}

/// Changes the links, and returns those of the conversation.
async fn update(files: &str, version_url: &str, action: LinkAction) -> Result<Vec<FileLink>, ApiError> {
    match action {
        LinkAction::List => file_links(files, None).await,
        LinkAction::Revoke(id) => file_links(files, Some(&id)).await,
        LinkAction::Create => {
            let _: Value = http::send(Method::Post, &[version_url, "/shares"].concat(), &Value::Null).await?;
            file_links(files, None).await
        }
    }
}
