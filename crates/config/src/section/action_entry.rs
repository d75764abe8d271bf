//! How an action is written. As with blocks, only the schema is used.

use super::block_entry::Status;
use super::dynamic::Dynamic;
use super::value::{EndpointId, Id, Text};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::Value;

/// One step of what an event does.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["messages", "try", "catch", "debounce"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ActionEntry {
    /// Unique in its list; later actions read its result with `{ _step: id }`.
    id: Option<Id>,
    #[serde(flatten)]
    kind: ActionTypeEntry,
    /// Whether to leave it out; an operator mostly.
    skip: Option<Dynamic<bool>>,
}

/// What an action does, with its parameters.
#[derive(JsonSchema)]
#[serde(tag = "type", content = "params")]
#[schemars(extend("x-names" = "action type", "x-not-yet" = ["Request", "Throw", "Wait", "ScrollTo", "CopyToClipboard"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ActionTypeEntry {
    /// Writes keys of the page state.
    SetState(IndexMap<String, Value>),
    /// Puts inputs back to what they held at first.
    Reset(InputsEntry),
    /// Checks inputs; ends the list of actions when one is wrong.
    Validate(InputsEntry),
    /// Calls an endpoint; its result is the action's.
    CallEndpoint(CallEndpointEntry),
    /// Calls a method of a chat.
    CallMethod(CallMethodEntry),
    /// Goes to another page or address.
    Link(LinkEntry),
    /// Shows a message for a moment.
    Message(MessageEntry),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct InputsEntry {
    /// Which inputs; without it all of the page.
    ids: Option<Vec<Id>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CallEndpointEntry {
    /// The endpoint.
    endpoint_id: EndpointId,
    /// What it is called with; operators are allowed.
    payload: Option<Value>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CallMethodEntry {
    /// The block.
    block_id: Id,
    /// Its method.
    method: Text,
    /// What it is called with; operators are allowed.
    args: Option<Vec<Value>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct LinkEntry {
    /// A page of this config.
    page_id: Option<Id>,
    /// An address: `https:`, `http:`, `mailto:`, or a path of this server.
    url: Option<Dynamic<Text>>,
    /// Added to the address; operators are allowed.
    url_query: Option<IndexMap<String, Value>>,
    /// Open it in another tab.
    new_tab: Option<bool>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MessageEntry {
    /// What it says.
    content: Dynamic<Text>,
    /// What kind of message it is.
    status: Option<Dynamic<Status>>,
    /// How many seconds it is shown; without it as long as it takes to read.
    #[schemars(range(min = 1, max = 60))]
    duration: Option<f64>,
}
