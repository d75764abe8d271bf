#![doc = include_str!("../README.md")]

pub mod form;

use app::agent_chat::AgentChat;
use app::pages::{PageRegions, RegionView, RustPage, RustTool, ToolAnnotations};
use form::{Customers, Form, tools};
use leptos::prelude::*;
use serde_json::json;
use wire::page::{AgentChatProperties, FieldType, SharedField, Welcome};

/// The pages of this crate, by the id that the config gives them.
pub const PAGES: &[RustPage] = &[RustPage { id: "intake", content: intake, client_tools: &[PLANS] }];

/// A tool that the agent may call on the page: its definition for the server. [`form::tools`] has its effect.
const PLANS: RustTool = RustTool {
    agent_id: "clerk",
    name: "offer_plan",
    description: "Shows the customer a plan in the form: chooses it, sets its seats and checks the form. Answers with what is wrong.",
    input_schema: || {
        json!({
            "type": "object",
            "properties": { "plan": { "enum": ["starter", "team", "enterprise"] }, "seats": { "type": "integer", "minimum": 1 } },
            "required": ["plan", "seats"],
        })
    },
    confirm: false,
    annotations: ToolAnnotations::NONE,
};

/// Called by the page's script once the WASM is there.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    app::hydration::when_loaded(|| {
        hydrate_body(|| view! { <app::App pages=PAGES /> });
        app::hydration::mark_alive();
    });
}

/// A form that an agent can fill in, and the chat with it.
fn intake() -> PageRegions {
    let content = view! {
        <Form />
        <Customers />
    };
    PageRegions {
        content: Some(RegionView { share: Some(5000), ..RegionView::new(content) }),
        chat: Some(RegionView { share: Some(5000), ..RegionView::new(view! { <Assistant /> }) }),
        ..PageRegions::default()
    }
}

/// The chat. It shares the fields of the form that the agent reads and may write.
#[component]
fn Assistant() -> impl IntoView {
    let plans = ["starter", "team", "enterprise"].map(str::to_owned).to_vec();
    let fields = [
        ("legal_name", FieldType::Text),
        ("company", FieldType::Text),
        ("email", FieldType::Text),
        ("plan", FieldType::Choice { options: plans }),
        ("seats", FieldType::Number),
        ("notes", FieldType::Text),
    ];
    let shared_state = fields.iter().map(|(key, _)| ((*key).to_owned(), json!({ "_state": key }))).collect();
    let field = |(key, field_type): (&str, FieldType)| SharedField {
        key: key.to_owned(),
        target: Some(key.to_owned()),
        field_type,
    };
    let properties = AgentChatProperties {
        agent_id: "clerk".to_owned(),
        shared_state,
        placeholder: Some("Tell me about the customer".to_owned()),
        welcome: Some(Welcome { title: "Who is the customer?".to_owned(), ..Welcome::default() }),
        ..AgentChatProperties::default()
    };
    view! { <AgentChat id="chat" page_id="intake" properties fields=fields.map(field).to_vec() tools=tools() /> }
}
