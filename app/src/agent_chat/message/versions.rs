//! The version of a message that is shown, and buttons to the other versions: `◀ 2/3 ▶`.

use super::state::MessageState;
use crate::agent_chat::chunk_tables::EXTRAS;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::icons::{Icon, Shape};
use leptos::web_sys::{Element, FocusOptions, HtmlElement};
use wasm_bindgen::JsCast;

/// The buttons, if the message has several versions.
#[component]
pub(in crate::agent_chat) fn Versions(
    /// The message.
    message: MessageState,
) -> AnyView {
    let versions = message.versions.clone();
    let several = Memo::new(move |_| versions.with(|versions| versions.len() > 1));
    (move || {
        let message = message.clone();
        several.get().then(|| EXTRAS.view(move |code| (code.versions)(message.clone())))
    })
    .into_any()
}

/// The two buttons with the version number between them.
pub(in crate::agent_chat) fn version_buttons(message: MessageState) -> AnyView {
    let session = expect_context::<Session>();
    let (id, versions) = (message.id, message.versions);
    let place = move || {
        let at = versions.with(|versions| versions.iter().position(|version| *version == id));
        (at.unwrap_or_default(), versions.get())
    };
    let (count, label) = (place.clone(), place.clone());
    let count = move || {
        let (at, versions) = count();
        format!("{}/{}", at + 1, versions.len())
    };
    let label = move || {
        let (at, versions) = label();
        Some(fill(Text::VersionOf, &[&(at + 1).to_string(), &versions.len().to_string()]))
    };
    view! {
        <span class="cw-versions" role="group" aria-label=label>
            {version_button(session, place.clone(), -1)}
            <span class="cw-versions-count" aria-hidden="true">{count}</span>
            {version_button(session, place, 1)}
        </span>
    }
    .into_any()
}

/// A button to the previous or next version. It stays when there is none, so that it keeps the
/// focus.
fn version_button(
    session: Session,
    place: impl Fn() -> (usize, Vec<String>) + Clone + Send + 'static,
    by: isize,
) -> AnyView {
    let other = move || {
        let (at, versions) = place();
        versions.get(at.checked_add_signed(by)?).cloned()
    };
    let is_off = {
        let other = other.clone();
        move || (other().is_none() || session.is_busy()).then(|| "true".to_owned())
    };
    let (class, label) = match by {
        -1 => ("cw-icon-button cw-versions-back", t(Text::PreviousVersion)),
        _ => ("cw-icon-button cw-versions-on", t(Text::NextVersion)),
    };
    let go = move |event: leptos::ev::MouseEvent| {
        let Some(id) = untrack(&other) else { return };
        let row = event.current_target().and_then(|target| target.dyn_into::<Element>().ok());
        let top = row.as_ref().map(top_of);
        let to = id.clone();
        session.switch_version(id, Box::new(move || restore_focus_and_scroll(&to, class, top)));
    };
    view! {
        <button type="button" class=class aria-label=label title=label aria-disabled=is_off on:click=go>
            <Icon of=Shape::CHEVRON />
        </button>
    }
    .into_any()
}

fn top_of(element: &Element) -> f64 {
    element.get_bounding_client_rect().top()
}

/// Focuses the same button of the version now shown, and scrolls so that it is where the other
/// button was.
fn restore_focus_and_scroll(id: &str, class: &'static str, top: Option<f64>) {
    let selector = format!("[data-message=\"{id}\"] .{}", class.rsplit(' ').next().unwrap_or_default());
    // In the next frame, because the message is not in the document before.
    request_animation_frame(move || {
        let Some(button) = document().query_selector(&selector).ok().flatten() else { return };
        if let (Some(top), Some(log)) = (top, button.closest(".cw-log").ok().flatten()) {
            log.set_scroll_top(log.scroll_top() + (top_of(&button) - top) as i32);
        }
        if let Ok(button) = button.dyn_into::<HtmlElement>() {
            let options = FocusOptions::new();
            options.set_prevent_scroll(true);
            // It is in the document, so it can be focused.
            let _ = button.focus_with_options(&options);
        }
    });
}
