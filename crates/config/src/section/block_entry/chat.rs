//! How an `AgentChat` is written (L-79 to L-88).

use crate::section::dynamic::Dynamic;
use crate::section::messages::{ActionsEntry, MessageDisplayEntry, RolesEntry};
use crate::section::sender::SenderEntry;
use crate::section::value::{Id, Text};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::Value;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AgentChatEntry {
    /// The agent that answers.
    agent_id: Id,
    /// What the agent sees of the page and, where a value is `{ _state: id }`, may write; `{ _state: true }` is every
    /// input of the page.
    shared_state: Option<IndexMap<String, Value>>,
    /// The agent sees the shared state and writes nothing of it. Off unless switched on.
    shared_state_read_only: Option<bool>,
    /// The inputs that the chat shares belong to the conversation: another conversation has its
    /// own, which come back with it, also in another tab of the browser. Off unless switched on:
    /// then what the agent wrote goes with the conversation, and what the user entered stays.
    shared_state_per_conversation: Option<bool>,
    /// The conversation that is shown, where the page says which and not its address: `{ _state: conversation }` mostly. One that is not
    /// there yet begins with this id.
    conversation_id: Option<Dynamic<Text>>,
    /// What the page puts into the chat, an operator mostly: a list of messages begins a new conversation with them, `null` an empty one.
    /// Only a change counts, and what is there when the chat comes up empty.
    messages: Option<Dynamic<Vec<Value>>>,
    /// What the agent is told of the page's address instead of its parameters.
    url_query: Option<Dynamic<IndexMap<String, Value>>>,
    /// What the user thinks of answers, where the page keeps that itself: `like` or `dislike` by the ids of messages, or an operator. It is
    /// shown instead of what the server keeps.
    feedback_values: Option<Dynamic<IndexMap<String, Dynamic<FeedbackEntry>>>>,
    /// What the agent may have this page do: tools that run in the user's browser.
    #[schemars(with = "Vec<crate::section::client_tools::ClientToolEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    client_tools: Value,
    /// What the empty chat says.
    welcome: Option<WelcomeEntry>,
    /// Shown in the empty composer.
    placeholder: Option<String>,
    /// What the user can do with messages.
    actions: Option<ActionsEntry>,
    /// How messages are shown.
    message_display: Option<MessageDisplayEntry>,
    /// Who speaks.
    roles: Option<RolesEntry>,
    /// What the composer can do.
    sender: Option<SenderEntry>,
    /// Offered below the newest answer, to click; each is sent as it stands. `data-suggestions` of a hook take their place.
    suggestions: Option<Vec<PromptEntry>>,
    /// How high it is where it stands inline: pixels, or a length in CSS such as `calc(100dvh - 12rem)`; as high as its place without it.
    height: Option<LengthEntry>,
    /// The greatest width of its messages and its composer: pixels, or a length in CSS; 47 rem without it.
    max_width: Option<LengthEntry>,
    /// Where it stands; `inline` without it.
    display: Option<DisplayEntry>,
    /// How it looks as a `drawer`.
    drawer: Option<DrawerEntry>,
    /// The language of this chat, or its words, where they are others than those of the page.
    #[schemars(with = "Option<crate::section::locale::LocaleEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    locale: Value,
}

/// What the user thinks of an answer.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "feedback"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum FeedbackEntry {
    /// It was good.
    Like,
    /// It was not.
    Dislike,
    /// Nothing, whatever the server keeps.
    Default,
    /// As `like`: what `onFeedback` says.
    Up,
    /// As `dislike`.
    Down,
}

/// A length.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum LengthEntry {
    /// In pixels.
    Pixels(#[schemars(range(min = 100, max = 10_000))] f64),
    /// As CSS has it.
    Css(Text),
}

/// Where a chat stands on its page.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "display"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum DisplayEntry {
    /// Beside the rest of the page.
    Inline,
    /// Over the page, opened by a button that floats on it.
    Drawer,
    /// On the whole page; what would stand beside it opens from the bar.
    Page,
}

/// The drawer of a chat.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct DrawerEntry {
    /// The side that it comes from; `right` without it.
    placement: Option<PlacementEntry>,
    /// In pixels, 400 without it; on a narrow screen it takes the whole width.
    #[schemars(range(min = 240, max = 2000))]
    width: Option<u32>,
    /// What it is called, also on the button that opens it; `Chat` without it.
    title: Option<Text>,
}

/// A side of the page.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "placement"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum PlacementEntry {
    /// The left.
    Left,
    /// The right.
    Right,
}

/// What an empty chat says.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct WelcomeEntry {
    /// A picture's address (`/…` or `https://…`), or a character or two, above the heading.
    icon: Option<Text>,
    /// Its heading.
    title: Option<String>,
    /// A sentence below it.
    description: Option<String>,
    /// How it looks; `borderless` without it.
    variant: Option<WelcomeVariantEntry>,
    /// Prompts to click; each is sent as it stands.
    prompts: Option<Vec<PromptEntry>>,
    /// Groups of prompts, of which one is open at a time; a click puts the prompt into the composer, where it can be changed.
    tracks: Option<Vec<TrackEntry>>,
}

/// How an empty chat looks.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "variant"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum WelcomeVariantEntry {
    /// On a ground of its own.
    Filled,
    /// On that of the chat.
    Borderless,
}

/// A group of prompts.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TrackEntry {
    /// What they have in common.
    label: Text,
    /// The prompts.
    prompts: Vec<PromptEntry>,
}

/// A prompt to click.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum PromptEntry {
    /// What is shown and sent.
    Short(Text),
    /// The same as a mapping.
    Long(PromptProperties),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PromptProperties {
    /// By which events name it; without it they have its label alone.
    key: Option<Text>,
    /// What is shown and sent.
    label: Text,
    /// A line below that; it is not sent.
    description: Option<Text>,
    /// A picture's address (`/…` or `https://…`), or a character or two, before it.
    icon: Option<Text>,
}
