//! The properties of an `AgentChat` block.

use super::ClientTool;
use super::define::{choices, properties};
use super::display::{Display, Drawer};
use super::messages::{MessageActions, MessageDisplay, Roles};
use super::property::{Property, as_text};
#[cfg(feature = "schema")]
use super::schema::{self, ClientToolEntry, Dynamic, Id, LocaleEntry, Or, Text};
use super::sender::SenderProperties;
use super::shared::ReadOnlyKeys;
use super::welcome::{Prompt, Welcome};
use crate::locale::Locale;
use crate::read::Read;
use serde_json::{Map, Value};
#[cfg(feature = "schema")]
use std::collections::BTreeMap;

properties! {
    /// The properties of an `AgentChat` block.
    #[then(unify_editing)]
    pub struct AgentChatProperties {
        /// The id of the agent.
        #[schemars(with = "Id")]
        pub agent_id: String,
        /// The values of the page that the agent sees. It may also write those of the form `{ _state:
        /// path }`. `{ _state: true }` shares every input of the page and every key that its actions
        /// set; any other operator in the place of the keys yields the object that is shared.
        #[serde(skip_serializing_if = "Map::is_empty")]
        pub shared_state: Map<String, Value> = Map::new(),
        /// The agent sees the shared state but cannot write it; or the list of the keys that it cannot
        /// write.
        #[schemars(with = "Or<bool, Vec<Text>>", extend("default" = false))]
        #[serde(skip_serializing_if = "ReadOnlyKeys::is_none")]
        #[read(ReadOnlyKeys::from_property)]
        pub shared_state_read_only: ReadOnlyKeys = ReadOnlyKeys::All(false),
        /// The shared inputs belong to the conversation: each conversation has its own values, which
        /// are restored with it, also in another tab. Otherwise values that the agent wrote are
        /// dropped with the conversation, and values that the user entered stay.
        #[schemars(extend("default" = false))]
        #[serde(skip_serializing_if = "is_false")]
        pub shared_state_per_conversation: bool = false,
        /// The conversation to show, if the page determines it instead of its address; usually `{
        /// _state: conversation }`. If no such conversation exists, the next one gets this id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub conversation_id: Option<Value>,
        /// Messages that the page puts into the chat; usually an operator. A list of messages starts a
        /// new conversation with them, `null` an empty one. Only changes have an effect, and the first
        /// value if the chat is empty then.
        #[schemars(with = "Dynamic<Vec<Value>>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub messages: Option<Value>,
        /// The query parameters that the agent sees instead of those of the page's address.
        #[schemars(with = "Dynamic<Map<String, Value>>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub url_query: Option<Value>,
        /// The user's feedback, if the page stores it: `like` or `dislike` by message id, or an
        /// operator. It is shown instead of the feedback that the server stores.
        #[schemars(with = "Dynamic<BTreeMap<String, Dynamic<FeedbackValue>>>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub feedback_values: Option<Value>,
        /// Tools that the page runs in the user's browser for the agent.
        #[schemars(with = "Vec<ClientToolEntry>", extend("x-checked-apart" = true))]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[read(client_tools)]
        pub client_tools: Vec<ClientTool> = Vec::new(),
        /// The welcome screen of an empty chat.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub welcome: Option<Welcome>,
        /// The placeholder of the composer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub placeholder: Option<String>,
        /// The actions on messages that the chat offers.
        pub actions: MessageActions = MessageActions::default(),
        /// How messages are shown.
        pub message_display: MessageDisplay = MessageDisplay::default(),
        /// How the participants are shown.
        pub roles: Roles = Roles::default(),
        /// The composer.
        pub sender: SenderProperties = SenderProperties::default(),
        /// Prompts to click below the latest reply; each is sent unchanged. `data-suggestions` of a
        /// hook replace them.
        #[schemars(with = "Vec<Or<Text, Prompt>>")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub suggestions: Vec<Prompt> = Vec::new(),
        /// The height of an inline chat: pixels, or a CSS length such as `calc(100dvh - 12rem)`.
        /// Default: the height of its container.
        #[schemars(with = "schema::Length")]
        #[serde(skip_serializing_if = "Option::is_none")]
        #[read(length)]
        pub height: Option<String>,
        /// The maximum width of messages and the composer: pixels, or a CSS length. Default: 47 rem.
        #[schemars(with = "schema::Length")]
        #[serde(skip_serializing_if = "Option::is_none")]
        #[read(length)]
        pub max_width: Option<String>,
        /// How the chat is placed on the page.
        #[schemars(extend("default" = Display::Inline))]
        #[serde(skip_serializing_if = "Display::is_default")]
        pub display: Display = Display::Inline,
        /// Settings for `display: drawer`.
        #[serde(skip_serializing_if = "Drawer::is_default")]
        pub drawer: Drawer = Drawer::default(),
        /// The language and the texts of this chat, if they differ from those of the page.
        #[schemars(with = "LocaleEntry", extend("x-checked-apart" = true))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub locale: Option<Locale>,
    }
}

choices! {
    /// The user's feedback on a reply.
    #[schemars(extend("x-names" = "feedback"))]
    pub enum FeedbackValue {
        /// Positive.
        Like,
        /// Negative.
        Dislike,
        /// No feedback, whatever the server stores.
        Default,
        /// The same as `like`; `onFeedback` reports this value.
        Up,
        /// The same as `dislike`; `onFeedback` reports this value.
        Down,
    }
}

/// Applies `messageDisplay.editableMessages`, which is another way to disable editing.
fn unify_editing(mut properties: AgentChatProperties) -> AgentChatProperties {
    properties.actions.edit &= properties.message_display.editable_messages;
    properties
}

fn client_tools(tools: &Value) -> Option<Vec<ClientTool>> {
    Vec::read(tools.clone()).ok()
}

/// Reads a CSS length: a number means pixels, a text is used unchanged.
fn length(own: &Value) -> Option<String> {
    match own {
        Value::Number(pixels) => Some(format!("{pixels}px")),
        own => as_text(own),
    }
}

impl Property for Locale {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_object().map(Self::read)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(flag: &bool) -> bool {
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
