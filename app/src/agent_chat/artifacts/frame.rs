//! A page that an agent wrote, in a frame that can neither read nor reach anything; see the route `/api/artifacts/frame`. The frame is
//! the same for all pages: it says when it is ready, and is sent the page.

use super::kind::name;
use super::viewer::Viewer;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::side_panel::focus_element;
use js_sys::{Object, Reflect};
use leptos::ev::Custom;
use leptos::html;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::{self, MessageEvent, Window};

/// The document of the frame.
const FRAME: &str = "/api/artifacts/frame";

/// The messages of the frame: `{artifactFrame: "ready" | "unsupported" | "escape"}`.
const MESSAGE: &str = "artifactFrame";

/// The frame with the shown version.
pub(super) fn page_frame(viewer: Viewer) -> AnyView {
    // Where a whole chat is in the frame of another site, browsers refuse the frame in it.
    let is_framed = window().parent().ok().flatten().is_none_or(|parent| parent != window());
    let frame = NodeRef::<html::Iframe>::new();
    let (is_ready, is_unsafe) = (RwSignal::new(false), RwSignal::new(is_framed));
    let heard = window_event_listener(Custom::<MessageEvent>::new("message"), move |event: MessageEvent| {
        let Some(frame) = frame.get_untracked() else { return };
        let Some(own) = content_window(&frame) else { return };
        if event.source().is_none_or(|source| JsValue::from(source) != JsValue::from(own)) {
            return;
        }
        match property(&event.data(), MESSAGE).and_then(|said| said.as_string()).as_deref() {
            Some("ready") => is_ready.set(true),
            Some("unsupported") => is_unsafe.set(true),
            Some("escape") if has_focus(&frame) => focus_element(viewer.state.close()),
            _ => {}
        }
    });
    on_cleanup(move || heard.remove());
    let title = move || viewer.shown.with(|shown| shown.as_ref().map(|shown| name(&shown.path).to_owned()));
    let title = Memo::new(move |_| fill(Text::ArtifactFrame, &[&title().unwrap_or_default()]));
    Effect::new(move |_| {
        if let (true, Some(frame), Some((_, html))) = (is_ready.get(), frame.get(), viewer.text.get()) {
            send(&frame, &html, &title.get());
        }
    });
    let content = move || {
        if is_unsafe.get() {
            view! { <p class="cw-artifact-note" role="status">{t(Text::ArtifactUnsafe)}</p> }.into_any()
        } else {
            // The sandbox is set before the address.
            view! {
                <iframe
                    node_ref=frame
                    class="cw-artifact-frame"
                    sandbox="allow-scripts"
                    referrerpolicy="no-referrer"
                    title=move || title.get()
                    src=FRAME
                ></iframe>
            }
            .into_any()
        }
    };
    content.into_any()
}

/// Sends the page. The frame has an opaque origin, for which there is no other address than `*`; only its own document is ever in it.
fn send(frame: &web_sys::Element, html: &str, title: &str) {
    let message = Object::new();
    let set = |name: &str, value: &str| Reflect::set(&message, &name.into(), &value.into());
    if set("html", html).is_ok()
        && set("title", title).is_ok()
        && let Some(window) = content_window(frame)
    {
        // Fails only if the frame is gone.
        let _ = window.post_message(&message, "*");
    }
}

/// Whether the user is in the frame. Its page says when they press Escape, and may say so without it.
fn has_focus(frame: &web_sys::Element) -> bool {
    document().active_element().is_some_and(|focused| focused == *frame)
}

fn content_window(frame: &web_sys::Element) -> Option<Window> {
    property(frame, "contentWindow").map(JsValue::unchecked_into)
}

fn property(of: &JsValue, name: &str) -> Option<JsValue> {
    let value = if of.is_object() { Reflect::get(of, &name.into()).ok()? } else { return None };
    (!value.is_undefined() && !value.is_null()).then_some(value)
}
