//! The properties of an `AgentChat` block.

use super::ClientTool;
use super::display::{Display, Drawer};
use super::messages::{MessageActions, MessageDisplay, Roles, is_on};
use super::properties::{as_text, text};
use super::sender::SenderProperties;
use super::welcome::{Prompt, Welcome, prompts};
use crate::locale::Locale;
use crate::read::Read;
use serde::Serialize;
use serde_json::{Map, Value};

/// The properties of an `AgentChat` block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentChatProperties {
    /// The agent that answers.
    pub agent_id: String,
    /// The part of the page state that the agent sees, by key; each value is `{_state: key}`,
    /// another operator, or a constant.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub shared_state: Map<String, Value>,
    /// Whether the agent can only read the shared state.
    #[serde(skip_serializing_if = "is_false")]
    pub shared_state_read_only: bool,
    /// Whether the shared inputs belong to the conversation: another conversation has its own
    /// values, and other tabs of the browser see them, too.
    #[serde(skip_serializing_if = "is_false")]
    pub shared_state_per_conversation: bool,
    /// The conversation to show, if the page and not its URL decides: usually an operator, which is
    /// evaluated again when its inputs change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<Value>,
    /// Messages that the page puts into the chat, usually by an operator. A list of messages starts
    /// a new conversation with them, `null` starts an empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Value>,
    /// What the agent sees instead of the query parameters of the page's URL: an object or an
    /// operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_query: Option<Value>,
    /// Feedback that the page itself stores, by message id: an object or an operator. It is shown
    /// instead of the feedback that the server stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback_values: Option<Value>,
    /// The tools that the page runs for the agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub client_tools: Vec<ClientTool>,
    /// The welcome content of the empty chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welcome: Option<Welcome>,
    /// The placeholder of the composer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// The actions that the user may take on messages.
    pub actions: MessageActions,
    /// How messages are shown.
    pub message_display: MessageDisplay,
    /// The display of authors.
    pub roles: Roles,
    /// The features of the composer.
    pub sender: SenderProperties,
    /// Suggestions below the newest answer; a click sends one unchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Prompt>,
    /// The height of an inline chat as a CSS length; if absent, it fills its container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<String>,
    /// The maximum width of the messages and the composer as a CSS length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_width: Option<String>,
    /// How the chat is placed on the page.
    #[serde(skip_serializing_if = "Display::is_default")]
    pub display: Display,
    /// The settings of the drawer.
    #[serde(skip_serializing_if = "Drawer::is_default")]
    pub drawer: Drawer,
    /// Texts of this chat that differ from those of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
}

impl AgentChatProperties {
    /// Reads a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        let object = |key: &str| properties.get(key).and_then(Value::as_object);
        let own = |key: &str| properties.get(key).cloned();
        let mut actions = object("actions").map(MessageActions::read).unwrap_or_default();
        // `messageDisplay.editableMessages` is another way to disable editing.
        actions.edit &= object("messageDisplay").is_none_or(|display| is_on(display, "editableMessages", true));
        Self {
            agent_id: text(properties, "agentId").unwrap_or_default(),
            shared_state: properties.get("sharedState").and_then(Value::as_object).cloned().unwrap_or_default(),
            shared_state_read_only: is_on(properties, "sharedStateReadOnly", false),
            shared_state_per_conversation: is_on(properties, "sharedStatePerConversation", false),
            conversation_id: own("conversationId"),
            messages: own("messages"),
            url_query: own("urlQuery"),
            feedback_values: own("feedbackValues"),
            client_tools: properties
                .get("clientTools")
                .and_then(|tools| Vec::read(tools.clone()).ok())
                .unwrap_or_default(),
            welcome: properties.get("welcome").and_then(Value::as_object).map(Welcome::read),
            placeholder: text(properties, "placeholder"),
            actions,
            message_display: object("messageDisplay").map(MessageDisplay::read).unwrap_or_default(),
            roles: object("roles").map(Roles::read).unwrap_or_default(),
            sender: object("sender").map(SenderProperties::read).unwrap_or_default(),
            suggestions: properties.get("suggestions").map(prompts).unwrap_or_default(),
            height: properties.get("height").and_then(length),
            max_width: properties.get("maxWidth").and_then(length),
            display: Display::read(properties),
            drawer: object("drawer").map(Drawer::read).unwrap_or_default(),
            locale: object("locale").map(Locale::read),
        }
    }
}

/// Reads a CSS length: a number means pixels, a text is used unchanged.
fn length(own: &Value) -> Option<String> {
    match own {
        Value::Number(pixels) => Some(format!("{pixels}px")),
        own => as_text(own),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn chat_properties_are_read() {
        let written = json!({"agentId": "demo", "sharedState": {"name": {"_state": "name"}},
            "conversationId": {"_state": "open"}, "messages": null, "urlQuery": {"plan": "team"}, "feedbackValues": {"m": "like"},
            "sharedStateReadOnly": true, "sharedStatePerConversation": true,
            "height": "calc(100dvh - 12rem)", "maxWidth": 640, "suggestions": ["More", {"label": "Less", "icon": "-"}],
            "welcome": {"title": "Hi", "description": ""}, "placeholder": "Ask",
            "actions": {"copy": false, "feedback": true, "regenerate": true, "edit": true, "delete": false, "branch": true, "audio": true}});
        let read = AgentChatProperties::read(written.as_object().unwrap());
        let mut expected = written;
        expected["maxWidth"] = json!("640px");
        expected["suggestions"] = json!([{ "label": "More" }, { "label": "Less", "icon": "-" }]);
        let mut read = serde_json::to_value(&read).unwrap();
        // Properties that are always present have tests of their own in `messages`.
        for key in ["messageDisplay", "roles", "sender"] {
            read.as_object_mut().unwrap().remove(key).unwrap();
        }
        assert_eq!(read, expected);
    }

    #[test]
    fn editing_can_be_disabled_in_two_places() {
        let check = |written: Value, expected: bool| {
            let read = AgentChatProperties::read(written.as_object().unwrap());
            assert_eq!(read.actions.edit, expected, "{written}");
        };
        check(json!({}), true);
        check(json!({ "actions": { "edit": false } }), false);
        check(json!({ "messageDisplay": { "editableMessages": false } }), false);
        check(json!({ "actions": { "edit": true }, "messageDisplay": { "editableMessages": true } }), true);
    }
}
