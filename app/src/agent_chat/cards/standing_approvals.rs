//! Standing approvals: the note at a call that ran under one, and the dialog that lists and revokes
//! them.

use super::standing_state::StandingApprovalState;
use super::tool_name::tool_label;
use crate::agent_chat::session::Session;
use crate::api::{list_grants, revoke_grant};
use crate::prelude::*;
use crate::texts;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::Event;
use leptos::html;
use leptos::task::spawn_local;
use serde_json::Value;
use wire::api::StandingApproval;

/// A button that opens the dialog.
fn manage_button() -> AnyView {
    let standing = expect_context::<StandingApprovalState>();
    view! {
        <button type="button" class="cw-link-button" on:click=move |_| standing.open()>
            {t(Text::Manage)}
        </button>
    }
    .into_any()
}

/// The note below a call that ran without a question because of a standing approval.
pub(in crate::agent_chat) fn standing_approval_line(data: &Value) -> AnyView {
    let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
    let said = match text("scope") {
        "conversation" => Text::StandingAllowsHere,
        _ => Text::StandingAllows,
    };
    let said = fill(said, &[&tool_label(text("toolName"))]);
    view! {
        <p class="cw-standing">
            <Icon of=Shape::SHIELD />
            <span>{said}</span>
            {manage_button()}
        </p>
    }
    .into_any()
}

/// The content of the dialog.
#[derive(Clone)]
enum DialogContent {
    Loading,
    List(Vec<StandingApproval>),
    Failed(String),
}

/// The dialog. It is a native modal dialog: it keeps the focus, and Escape closes it.
#[component]
pub(in crate::agent_chat) fn StandingDialog() -> AnyView {
    let (standing, session) = (expect_context::<StandingApprovalState>(), expect_context::<Session>());
    let asked = standing.open_requests;
    let dialog = NodeRef::<html::Dialog>::new();
    let shown = RwSignal::new(DialogContent::Loading);
    let load = move || {
        spawn_local(async move {
            let loaded = list_grants().await;
            shown.try_set(match loaded {
                Ok(list) => DialogContent::List(list.items),
                Err(error) => DialogContent::Failed(texts::error_text(&error.0)),
            });
        });
    };
    Effect::new(move |_| {
        if asked.get() > 0
            && let Some(dialog) = dialog.get()
        {
            shown.set(DialogContent::Loading);
            load();
            // Fails only if the dialog is already open.
            let _ = dialog.show_modal();
        }
    });
    let closed = move |_: Event| {
        let is_empty = shown.with_untracked(|shown| matches!(shown, DialogContent::List(items) if items.is_empty()));
        standing.set_any(!is_empty);
        if is_empty {
            // The button that opened the dialog is removed with the last approval.
            session.focus_requests.update(|count| *count += 1);
        }
    };
    let content = move || match shown.get() {
        DialogContent::Loading => view! { <p>{t(Text::Loading)}</p> }.into_any(),
        DialogContent::Failed(error) => view! { <p role="alert">{error}</p> }.into_any(),
        DialogContent::List(items) if items.is_empty() => view! { <p>{t(Text::StandingNone)}</p> }.into_any(),
        DialogContent::List(items) => {
            let items = items.into_iter().map(|item| item_view(item, shown));
            view! { <ul class="cw-standing-list" role="list">{items.collect_view()}</ul> }.into_any()
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class="cw-dialog cw-standing-dialog"
            aria-labelledby="cw-standing-title"
            on:close=closed
        >
            <h2 id="cw-standing-title">{t(Text::StandingTitle)}</h2>
            <div aria-live="polite">{content}</div>
            <form method="dialog" class="cw-dialog-buttons">
                <button type="submit" class="cw-button" autofocus=true>
                    {t(Text::Close)}
                </button>
            </form>
        </dialog>
    }
    .into_any()
}

fn item_view(item: StandingApproval, shown: RwSignal<DialogContent>) -> AnyView {
    let busy = RwSignal::new(false);
    let id = StoredValue::new(item.id);
    let revoke = move |_| {
        busy.set(true);
        spawn_local(async move {
            let id = id.get_value();
            let revoked = revoke_grant(id.clone()).await;
            shown.try_update(|shown| match (revoked, &mut *shown) {
                // An approval that no longer exists counts as revoked.
                (Err(error), _) if error.code().status() != 404 => {
                    *shown = DialogContent::Failed(texts::error_text(&error.0))
                }
                (_, DialogContent::List(items)) => items.retain(|item| item.id != id),
                _ => {}
            });
        });
    };
    let (tool, agent) = (tool_label(&item.tool_name), tool_label(&item.agent_id));
    let place = match (item.conversation_id, item.conversation_title) {
        (Some(_), title) => fill(
            Text::StandingInConversation,
            &[&text_with_code_points(&title.unwrap_or_default(), TextKind::Prose), &agent],
        ),
        (None, _) => fill(Text::StandingEverywhere, &[&agent]),
    };
    let label = fill(Text::RevokeApproval, &[&tool]);
    view! {
        <li>
            <div>
                <strong>{tool}</strong>
                <span dir="auto">{place}</span>
            </div>
            <button type="button" class="cw-button" aria-label=label disabled=move || busy.get() on:click=revoke>
                {t(Text::Revoke)}
            </button>
        </li>
    }
    .into_any()
}
