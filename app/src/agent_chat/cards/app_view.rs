//! The user interface of a tool (an MCP App). It is in a page of its own, which answers it and asks the user; see
//! `crates/mcp/src/apps/`. That page sets the height of its frame, and says what is to be put into the composer.

use crate::address::encode_component;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use leptos::ev::Custom;
use leptos::html;
use leptos::wasm_bindgen::JsValue;
use leptos::web_sys::CustomEvent;
use serde_json::Value;
use wire::DataPart;

/// The event of the frame with a text for the composer.
const MESSAGE: &str = "app-message";

/// The frame with the page.
pub(super) fn app_view(part: &DataPart) -> AnyView {
    let session = expect_context::<Session>();
    let server = part.data.get("server").and_then(Value::as_str).unwrap_or_default();
    let title = fill(Text::AppOf, &[&text_with_code_points(server, TextKind::Value)]);
    let call_id = part.id.clone().unwrap_or_default();
    let shown = move || {
        // Before the page is hydrated, nothing would hear the message of an app.
        if !session.is_hydrated.get() {
            return None;
        }
        // Where a whole chat is in the frame of another site, browsers refuse the frame in it.
        if window().parent().ok().flatten().is_none_or(|parent| parent != window()) {
            return Some(view! { <p class="cw-value-word">{t(Text::AppUnsafe)}</p> }.into_any());
        }
        let frame = NodeRef::<html::Iframe>::new();
        let heard = window_event_listener(Custom::<CustomEvent>::new(MESSAGE), move |event: CustomEvent| {
            let own = frame.get_untracked().map(JsValue::from);
            if own.is_some() && own == event.target().map(JsValue::from) {
                session.add_to_draft(&event.detail().as_string().unwrap_or_default());
            }
        });
        on_cleanup(move || heard.remove());
        let conversation = encode_component(&session.id.get_untracked()?);
        let address = ["/mcp-apps/", &conversation, "/", &encode_component(&call_id)].concat();
        let page = view! {
            <iframe
                node_ref=frame
                class="cw-app"
                prop:loading="lazy"
                title=title.clone()
                src=address
            ></iframe>
        };
        Some(page.into_any())
    };
    shown.into_any()
}
