//! Actions: the type of each, and its parameters.

use super::define::{choices, properties, types};
use super::property::truthy;
#[cfg(feature = "schema")]
use super::schema::{Dynamic, EndpointId, Id, Text};
use crate::read::read_struct;
use serde::Serialize;
use serde_json::{Map, Value};

/// An action that runs when an event occurs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("x-keys-not-yet" = ["messages", "try", "catch", "debounce"]))
)]
pub struct Action {
    /// The action's id, unique in its list. Later actions read its result with `{ _step: id }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Id>"))]
    pub id: Option<String>,
    /// The type.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub kind: ActionType,
    /// The parameters; their operators are not evaluated.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub params: Map<String, Value>,
    /// Skips the action if true. Usually an operator.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Dynamic<bool>>"))]
    pub skip: Value,
}

read_struct!(Action { id: "id", kind: "type", params: "params" or default, skip: "skip" or default });

types! {
    /// The type of an action, with its parameters.
    pub enum ActionType (
        "params",
        named "action type",
        not_yet ["Request", "Wait", "ScrollTo", "CopyToClipboard"]
    ) {
        /// Sets keys of the page state.
        SetState(Map<String, Value>),
        /// Resets inputs to their initial values.
        Reset(InputsParams),
        /// Validates inputs. The list of actions ends if one of them is invalid.
        Validate(InputsParams),
        /// Calls an endpoint. The action's result is that of the endpoint.
        CallEndpoint(CallEndpointParams),
        /// Calls a method of a chat.
        CallMethod(CallMethodParams),
        /// Opens another page or address.
        Link(LinkParams),
        /// Shows a short notification.
        Message(MessageParams),
        /// Fails with a message, so that the list of actions ends. In `onBeforeSend` the message is not
        /// sent.
        Throw(ThrowParams),
    }
}

choices! {
    /// The kind of a message on a page.
    #[derive(Default)]
    #[schemars(extend("x-names" = "status"))]
    pub enum MessageStatus {
        /// Information.
        #[default]
        Info,
        /// Success.
        Success,
        /// A warning.
        Warning,
        /// An error.
        Error,
    }
}

properties! {
    /// The parameters of `Reset` and `Validate`.
    pub struct InputsParams {
        /// The ids of the inputs. Default: all inputs of the page.
        #[schemars(with = "Option<Vec<Id>>")]
        pub ids: Option<Vec<String>>,
    }

    /// The parameters of `CallEndpoint`.
    pub struct CallEndpointParams {
        /// The id of the endpoint.
        #[schemars(with = "EndpointId")]
        pub endpoint_id: String,
        /// The payload. Operators are allowed.
        pub payload: Option<Value>,
    }

    /// The parameters of `CallMethod`.
    pub struct CallMethodParams {
        /// The id of the chat block.
        #[schemars(with = "Id")]
        pub block_id: String,
        /// The name of the method.
        #[schemars(with = "Text")]
        pub method: String,
        /// The arguments of the method. Operators are allowed.
        pub args: Vec<Value> = Vec::new(),
    }

    /// The parameters of `Link`.
    pub struct LinkParams {
        /// The id of a page of this config.
        #[schemars(with = "Option<Id>")]
        pub page_id: Option<String>,
        /// An address: `https:`, `http:`, `mailto:`, or a path of this server.
        #[schemars(with = "Option<Dynamic<Text>>")]
        pub url: Option<String>,
        /// Query parameters to add to the address. Operators are allowed.
        pub url_query: Map<String, Value> = Map::new(),
        /// Opens the address in a new tab.
        #[read(truthy)]
        pub new_tab: bool = false,
    }

    /// The parameters of `Throw`.
    pub struct ThrowParams {
        /// The text for the user; in a client tool, for the model. Default: "This could not be done."
        #[schemars(with = "Dynamic<Text>")]
        pub message: String = "This could not be done.".to_owned(),
        /// Fails only if this is true. Usually an operator.
        #[schemars(with = "Dynamic<bool>", extend("default" = true))]
        #[read(holds)]
        pub throw: bool = true,
    }

    /// The parameters of `Message`.
    pub struct MessageParams {
        /// The text of the notification.
        #[schemars(with = "Dynamic<Text>")]
        pub content: String,
        /// The kind of notification.
        #[schemars(with = "Dynamic<MessageStatus>")]
        pub status: MessageStatus = MessageStatus::Info,
        /// How long the notification is shown, in seconds. Default: depends on the length of the text.
        #[schemars(range(min = 1, max = 60))]
        pub duration: Option<f64>,
    }
}

/// Reads a condition. `null` does not hold, since it is what an operator yields for a value that is
/// not there.
fn holds(value: &Value) -> Option<bool> {
    Some(truthy(value).unwrap_or_default())
}

/// Returns whether a link may lead to a URL: it is relative, or has one of the schemes `https`,
/// `http` and `mailto`. `javascript:` and the like are not safe.
pub fn is_safe_url(url: &str) -> bool {
    let lower = url.trim_start().to_ascii_lowercase();
    ["https:", "http:", "mailto:"].iter().any(|scheme| lower.starts_with(scheme)) || lower.starts_with(['/', '?', '#'])
}

#[cfg(test)]
mod tests {
    use super::is_safe_url;

    #[test]
    fn links_lead_to_pages_sites_and_mail_addresses_only() {
        for url in ["/p", " /p", "?a=1", "#top", "https://a.example", "HTTP://a.example", "mailto:a@example.com"] {
            assert!(is_safe_url(url), "{url:?}");
        }
        for url in
            ["", "p", "javascript:alert(1)", " JavaScript:x", "\u{1}javascript:x", "data:text/html,x", "file:///x"]
        {
            assert!(!is_safe_url(url), "{url:?}");
        }
    }
}
