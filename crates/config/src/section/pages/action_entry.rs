//! The schema of an action. As with blocks, the types only provide the schema.

use super::block_entry::Status;
use crate::section::dynamic::Dynamic;
use crate::section::value::{EndpointId, Id, Text};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::Value;

/// An action that runs when an event occurs.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["messages", "try", "catch", "debounce"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ActionEntry {
    /// The action's id, unique in its list. Later actions read its result with `{ _step: id }`.
    id: Option<Id>,
    #[serde(flatten)]
    kind: ActionTypeEntry,
    /// Skips the action if true. Usually an operator.
    skip: Option<Dynamic<bool>>,
}

/// The type of an action, with its parameters.
#[derive(JsonSchema)]
#[serde(tag = "type", content = "params")]
#[schemars(extend("x-names" = "action type", "x-not-yet" = ["Request", "Throw", "Wait", "ScrollTo", "CopyToClipboard"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ActionTypeEntry {
    /// Sets keys of the page state.
    SetState(IndexMap<String, Value>),
    /// Resets inputs to their initial values.
    Reset(InputsEntry),
    /// Validates inputs. The list of actions ends if one of them is invalid.
    Validate(InputsEntry),
    /// Calls an endpoint. The action's result is that of the endpoint.
    CallEndpoint(CallEndpointEntry),
    /// Calls a method of a chat.
    CallMethod(CallMethodEntry),
    /// Opens another page or address.
    Link(LinkEntry),
    /// Shows a short notification.
    Message(MessageEntry),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct InputsEntry {
    /// The ids of the inputs. Default: all inputs of the page.
    ids: Option<Vec<Id>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CallEndpointEntry {
    /// The id of the endpoint.
    endpoint_id: EndpointId,
    /// The payload. Operators are allowed.
    payload: Option<Value>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CallMethodEntry {
    /// The id of the chat block.
    block_id: Id,
    /// The name of the method.
    method: Text,
    /// The arguments of the method. Operators are allowed.
    args: Option<Vec<Value>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct LinkEntry {
    /// The id of a page of this config.
    page_id: Option<Id>,
    /// An address: `https:`, `http:`, `mailto:`, or a path of this server.
    url: Option<Dynamic<Text>>,
    /// Query parameters to add to the address. Operators are allowed.
    url_query: Option<IndexMap<String, Value>>,
    /// Opens the address in a new tab.
    new_tab: Option<bool>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MessageEntry {
    /// The text of the notification.
    content: Dynamic<Text>,
    /// The kind of notification.
    status: Option<Dynamic<Status>>,
    /// How long the notification is shown, in seconds. Default: depends on the length of the text.
    #[schemars(range(min = 1, max = 60))]
    duration: Option<f64>,
}
