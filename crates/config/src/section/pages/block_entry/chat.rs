//! The schema of the block `AgentChat`.

use crate::section::dynamic::Dynamic;
use crate::section::pages::messages::{ActionsEntry, MessageDisplayEntry, RolesEntry};
use crate::section::pages::sender::SenderEntry;
use crate::section::value::{Id, Text};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::Value;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AgentChatEntry {
    /// The id of the agent.
    agent_id: Id,
    /// The values of the page that the agent sees. It may also write those of the form `{ _state:
    /// id }`. `{ _state: true }` shares every input of the page.
    shared_state: Option<IndexMap<String, Value>>,
    /// The agent sees the shared state but cannot write it. Default: `false`.
    shared_state_read_only: Option<bool>,
    /// The shared inputs belong to the conversation: each conversation has its own values, which
    /// are restored with it, also in another tab. Default: `false`: values that the agent wrote are
    /// dropped with the conversation, values that the user entered stay.
    shared_state_per_conversation: Option<bool>,
    /// The conversation to show, if the page determines it instead of its address; usually `{
    /// _state: conversation }`. If no such conversation exists, the next one gets this id.
    conversation_id: Option<Dynamic<Text>>,
    /// Messages that the page puts into the chat; usually an operator. A list of messages starts a
    /// new conversation with them, `null` an empty one. Only changes have an effect, and the first
    /// value if the chat is empty then.
    messages: Option<Dynamic<Vec<Value>>>,
    /// The query parameters that the agent sees instead of those of the page's address.
    url_query: Option<Dynamic<IndexMap<String, Value>>>,
    /// The user's feedback, if the page stores it: `like` or `dislike` by message id, or an
    /// operator. It is shown instead of the feedback that the server stores.
    feedback_values: Option<Dynamic<IndexMap<String, Dynamic<FeedbackEntry>>>>,
    /// Tools that the page runs in the user's browser for the agent.
    #[schemars(with = "Vec<crate::section::pages::client_tools::ClientToolEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    client_tools: Value,
    /// The welcome screen of an empty chat.
    welcome: Option<WelcomeEntry>,
    /// The placeholder of the composer.
    placeholder: Option<String>,
    /// What the user can do with messages.
    actions: Option<ActionsEntry>,
    /// How messages are shown.
    message_display: Option<MessageDisplayEntry>,
    /// How the participants are shown.
    roles: Option<RolesEntry>,
    /// The composer.
    sender: Option<SenderEntry>,
    /// Prompts to click below the latest reply; each is sent unchanged. `data-suggestions` of a
    /// hook replace them.
    suggestions: Option<Vec<PromptEntry>>,
    /// The height of an inline chat: pixels, or a CSS length such as `calc(100dvh - 12rem)`.
    /// Default: the height of its container.
    height: Option<LengthEntry>,
    /// The maximum width of messages and the composer: pixels, or a CSS length. Default: 47 rem.
    max_width: Option<LengthEntry>,
    /// How the chat is placed on the page. Default: `inline`.
    display: Option<DisplayEntry>,
    /// Settings for `display: drawer`.
    drawer: Option<DrawerEntry>,
    /// The language and the texts of this chat, if they differ from those of the page.
    #[schemars(with = "Option<crate::section::locale::LocaleEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    locale: Value,
}

/// The user's feedback on a reply.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "feedback"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum FeedbackEntry {
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

/// A length.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum LengthEntry {
    /// In pixels.
    Pixels(#[schemars(range(min = 100, max = 10_000))] f64),
    /// As a CSS length.
    Css(Text),
}

/// How a chat is placed on its page.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "display"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum DisplayEntry {
    /// In the layout of the page.
    Inline,
    /// In a drawer over the page, which a floating button opens.
    Drawer,
    /// On the whole page. Other blocks open from the top bar.
    Page,
}

/// Settings of a chat in a drawer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct DrawerEntry {
    /// The side of the page. Default: `right`.
    placement: Option<PlacementEntry>,
    /// The width in pixels. Default: 400. On a narrow screen the drawer takes the whole width.
    #[schemars(range(min = 240, max = 2000))]
    width: Option<u32>,
    /// The title, which is also the label of the button. Default: `Chat`.
    title: Option<Text>,
}

/// A side of the page.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "placement"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum PlacementEntry {
    /// The left side.
    Left,
    /// The right side.
    Right,
}

/// The welcome screen of an empty chat.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct WelcomeEntry {
    /// The icon above the heading: the address of an image (`/…` or `https://…`), or one or two
    /// characters.
    icon: Option<Text>,
    /// The heading.
    title: Option<String>,
    /// The text below the heading.
    description: Option<String>,
    /// The style. Default: `borderless`.
    variant: Option<WelcomeVariantEntry>,
    /// Prompts to click; each is sent unchanged.
    prompts: Option<Vec<PromptEntry>>,
    /// Groups of prompts, of which one is open at a time. A click puts the prompt into the
    /// composer, where it can be edited.
    tracks: Option<Vec<TrackEntry>>,
}

/// The style of a welcome screen.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "variant"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum WelcomeVariantEntry {
    /// With a background of its own.
    Filled,
    /// On the background of the chat.
    Borderless,
}

/// A group of prompts.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TrackEntry {
    /// The label of the group.
    label: Text,
    /// The prompts.
    prompts: Vec<PromptEntry>,
}

/// A prompt to click.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum PromptEntry {
    /// The text that is shown and sent.
    Short(Text),
    /// A prompt with settings.
    Long(PromptProperties),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PromptProperties {
    /// The prompt's key in events. Default: events contain only the label.
    key: Option<Text>,
    /// What is shown and sent.
    label: Text,
    /// A line below the label, which is not sent.
    description: Option<Text>,
    /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
    /// characters.
    icon: Option<Text>,
}
