//! The properties of a chat (L-79).

use super::ClientTool;
use super::display::{Display, Drawer};
use super::messages::{MessageActions, MessageDisplay, Roles, is_on};
use super::properties::{as_text, text};
use super::sender::Sender;
use super::welcome::{Prompt, Welcome, prompts};
use crate::locale::Locale;
use crate::read::Read;
use serde::Serialize;
use serde_json::{Map, Value};

/// The chat's properties.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentChatProperties {
    /// The agent that answers.
    pub agent_id: String,
    /// What the agent sees of the page, by key; each value is `{_state: key}`, another operator, or a constant (L-64).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub shared_state: Map<String, Value>,
    /// The agent sees the shared state and writes nothing of it.
    #[serde(skip_serializing_if = "is_false")]
    pub shared_state_read_only: bool,
    /// The inputs that the chat shares belong to the conversation: another one has its own, and
    /// they are there in other tabs of the browser, too.
    #[serde(skip_serializing_if = "is_false")]
    pub shared_state_per_conversation: bool,
    /// The conversation that is shown, where the page says which and not its address: an operator mostly, which is evaluated when what it
    /// reads has changed (L-28 to L-30).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<Value>,
    /// What the page puts into the chat: an operator mostly. A list of messages begins a new conversation with them, `null` an empty one;
    /// without it there are no such messages (L-79).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Value>,
    /// What the agent is told instead of the parameters of the page's address: an object, or an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_query: Option<Value>,
    /// What the page itself keeps of what the user thinks of answers, by the ids of messages: an object, or an operator. It is shown
    /// instead of what the server keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback_values: Option<Value>,
    /// What the agent may have the page do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub client_tools: Vec<ClientTool>,
    /// The heading of the empty chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welcome: Option<Welcome>,
    /// Shown in the empty composer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// What the user can do with messages.
    pub actions: MessageActions,
    /// How messages are shown.
    pub message_display: MessageDisplay,
    /// Who speaks.
    pub roles: Roles,
    /// What the composer can do.
    pub sender: Sender,
    /// Offered below the newest answer; each is sent as it stands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Prompt>,
    /// How high it is where it stands inline, as CSS has it; as high as its place without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<String>,
    /// The greatest width of its messages and its composer, as CSS has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_width: Option<String>,
    /// Where it stands on the page.
    #[serde(skip_serializing_if = "Display::is_default")]
    pub display: Display,
    /// How it looks as a drawer.
    #[serde(skip_serializing_if = "Drawer::is_default")]
    pub drawer: Drawer,
    /// The words of this chat, where they are others than those of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
}

impl AgentChatProperties {
    /// Out of a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        let object = |key: &str| properties.get(key).and_then(Value::as_object);
        let own = |key: &str| properties.get(key).cloned();
        let mut actions = object("actions").map(MessageActions::read).unwrap_or_default();
        // Another way to say it.
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
            sender: object("sender").map(Sender::read).unwrap_or_default(),
            suggestions: properties.get("suggestions").map(prompts).unwrap_or_default(),
            height: properties.get("height").and_then(length),
            max_width: properties.get("maxWidth").and_then(length),
            display: Display::read(properties),
            drawer: object("drawer").map(Drawer::read).unwrap_or_default(),
            locale: object("locale").map(Locale::read),
        }
    }
}

/// A length as CSS has it: pixels of a number, a text as it stands.
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
    fn a_chats_properties() {
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
        // What is always there has tests of its own, in `messages`.
        for key in ["messageDisplay", "roles", "sender"] {
            read.as_object_mut().unwrap().remove(key).unwrap();
        }
        assert_eq!(read, expected);
    }

    #[test]
    fn what_can_be_edited_is_said_in_one_of_two_places() {
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
