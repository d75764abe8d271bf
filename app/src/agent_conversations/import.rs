//! The button that imports an exported conversation.

use super::chunk_table::ORGANIZING;
use super::list::{ConversationListState, use_conversations};
use crate::api::import_conversation;
use crate::api::transport::codec::CreatedId;
use crate::chat_context::{ChatContext, use_chat_context};
use crate::pages::current_page::CurrentPage;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::browser::selected_file_text;
use crate::ui::icons::{Icon, Shape};
use leptos::ev::Event;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlInputElement;

/// A file input that looks like a button.
#[component]
pub fn ImportButton() -> AnyView {
    let list = use_conversations();
    let chat = use_chat_context();
    let CurrentPage(page) = expect_context();
    let chosen = move |event: Event| {
        let field = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        let Some(field) = field else { return };
        let page_id = page.with_value(|page| page.id.clone());
        spawn_local(async move {
            match ORGANIZING.load().await {
                Ok(code) => (code.import)(field, page_id, list, chat),
                Err(_) => list.report_missing_code(),
            }
        });
    };
    view! {
        <label class="cw-icon-button cw-import" title=t(Text::Import)>
            <Icon of=Shape::UPLOAD />
            <input
                class="cw-visually-hidden"
                type="file"
                accept="application/json,.json"
                aria-label=t(Text::Import)
                on:change=chosen
            />
        </label>
    }
    .into_any()
}

/// Imports the selected file and opens the conversation.
pub(super) fn import_file(field: HtmlInputElement, page_id: String, list: ConversationListState, chat: ChatContext) {
    spawn_local(async move {
        let Some(text) = selected_file_text(&field).await else { return };
        // So that the same file can be selected again.
        field.set_value("");
        match import_conversation(page_id, text).await {
            Ok(CreatedId(id)) => {
                chat.notify_changed();
                chat.select(Some(id), false);
            }
            Err(error) => {
                list.error.try_set(Some(error));
            }
        }
    });
}
