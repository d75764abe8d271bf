//! The schema of how a chat shows messages and what users can do with them. The types only provide
//! the schema.

use crate::section::value::Text;
use indexmap::IndexMap;
use schemars::JsonSchema;

/// What the user can do with messages.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ActionsEntry {
    /// Copy messages. Default: `true`.
    copy: Option<bool>,
    /// Rate replies and give a reason. Default: `true`.
    feedback: Option<bool>,
    /// Regenerate replies; the earlier reply is kept. Default: `true`.
    regenerate: Option<bool>,
    /// Edit sent messages and get a new reply; the earlier version is kept. Default: `true`.
    edit: Option<bool>,
    /// Delete a message with everything after it. Default: `true`.
    delete: Option<bool>,
    /// Continue from a message in a new conversation. Default: `true`.
    branch: Option<bool>,
    /// Have the browser read replies aloud. Default: `false`.
    audio: Option<bool>,
}

/// How messages are shown.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MessageDisplayEntry {
    /// Render replies as Markdown instead of plain text. Default: `true`.
    markdown_rendering: Option<bool>,
    /// Draw code blocks in the language `mermaid` as diagrams. Default: `true`.
    render_mermaid: Option<bool>,
    /// Highlight the syntax of code blocks. Default: `true`.
    code_highlighter: Option<bool>,
    /// Render TeX formulas between `$`, `$$`, `\(` and `\)` or `\[` and `\]`. Default: `false`.
    render_latex: Option<bool>,
    /// Show the model's reasoning. Default: `true`.
    show_reasoning: Option<bool>,
    /// Where the reasoning is shown. Default: `interleaved`.
    reasoning_display: Option<ReasoningEntry>,
    /// The same as `actions: { edit: … }`. If either is `false`, messages cannot be edited.
    editable_messages: Option<bool>,
    /// Show tool calls. Default: `true`. With `false` only those are shown that need the user.
    show_thought_chain: Option<bool>,
    /// Show a numbered list of sources below a reply. Default: `false`.
    show_sources: Option<bool>,
    /// How sources are shown.
    sources_display: Option<SourcesEntry>,
    /// Show the agent's progress, from data parts of the type `data-status`. Default: `true`.
    show_status_updates: Option<bool>,
    /// Show a line between the steps of a reply. Default: `false`.
    show_step_separators: Option<bool>,
    /// Show tool calls while their arguments are streamed. Default: `true`.
    show_tool_input_streaming: Option<bool>,
    /// Show when a message was written. Default: `true`.
    show_timestamps: Option<bool>,
    /// Show the tokens and the cost of a reply. Default: `true`.
    show_usage: Option<bool>,
    /// Texts to show in turn while the user waits for a reply.
    thinking_messages: Option<ThinkingEntry>,
    /// When the first of these texts is shown, in milliseconds. Default: 3000.
    #[schemars(range(min = 500, max = 600_000))]
    thinking_message_delay: Option<u32>,
    /// How long each of these texts is shown, in milliseconds. Default: 8000.
    #[schemars(range(min = 500, max = 600_000))]
    thinking_message_rotation_interval: Option<u32>,
    /// How results of tools are shown: one way for all, or by tool, with `default` for all others.
    tool_result_display: Option<ResultsEntry>,
}

/// How sources are shown.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SourcesEntry {
    /// Show a source when its number in the text is clicked, without a list below the reply.
    /// Default: `false`.
    inline: Option<bool>,
    /// The position of the arrow that expands the list. Default: `end`.
    expand_icon_position: Option<ArrowEntry>,
}

/// A position in a line.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "position"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ArrowEntry {
    /// Before the text.
    Start,
    /// After the text.
    End,
}

/// Where the model's reasoning is shown.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "reasoning display"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ReasoningEntry {
    /// In its place between the parts of the reply.
    Interleaved,
    /// All of it above the reply.
    Grouped,
}

/// One text or several.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ThinkingEntry {
    /// One text.
    One(Text),
    /// Several texts.
    Several(Vec<Text>),
}

/// How results of tools are shown.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ResultsEntry {
    /// The same for all tools.
    All(ResultEntry),
    /// By the name of the tool, with `default` for all others.
    Each(IndexMap<String, ResultEntry>),
}

/// How a result is shown.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "result display"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ResultEntry {
    /// A line that can be expanded.
    Summary,
    /// Expanded, as JSON.
    Full,
    /// Expanded, formatted for people.
    Readable,
    /// Not shown; only the call is.
    None,
}

/// How the participants of a chat are shown.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct RolesEntry {
    /// The agent.
    assistant: Option<SpeakerEntry>,
    /// The user.
    user: Option<SpeakerEntry>,
}

/// How a participant is shown.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SpeakerEntry {
    /// The name above the messages.
    name: Option<Text>,
    /// The avatar: the address of an image (`/…` or `https://…`), or one or two letters.
    avatar: Option<Text>,
    /// The style of the messages. Default: `filled` for the user and `borderless` for the agent.
    variant: Option<VariantEntry>,
    /// The corners of messages with a border or a background.
    shape: Option<ShapeEntry>,
}

/// The style of messages.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "variant"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum VariantEntry {
    /// With a background.
    Filled,
    /// With a border.
    Outlined,
    /// With a border and a shadow.
    Shadow,
    /// Without a border and a background.
    Borderless,
}

/// The corners of a message.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "shape"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ShapeEntry {
    /// Round, except for the corner that points to the participant.
    Default,
    /// All corners are round.
    Round,
    /// All corners are slightly rounded.
    Corner,
}
