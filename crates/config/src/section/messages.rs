//! How the messages of a chat are shown and what can be done with them, as it is written. Only the schema of these types is used.

use super::value::Text;
use indexmap::IndexMap;
use schemars::JsonSchema;

/// What the user can do with messages.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ActionsEntry {
    /// Copy them. On unless switched off.
    copy: Option<bool>,
    /// Say whether an answer was good, and why. On unless switched off.
    feedback: Option<bool>,
    /// Have something answered again; the earlier answer stays. On unless switched off.
    regenerate: Option<bool>,
    /// Change what the user wrote and have that answered; the earlier version stays. On unless switched off.
    edit: Option<bool>,
    /// Delete messages with what follows them. On unless switched off.
    delete: Option<bool>,
    /// Go on from a message in a new conversation. On unless switched off.
    branch: Option<bool>,
    /// Have an answer read aloud by the browser. Off unless switched on.
    audio: Option<bool>,
}

/// How messages are shown.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MessageDisplayEntry {
    /// Answers are Markdown. On unless switched off: then they are shown as they were written.
    markdown_rendering: Option<bool>,
    /// Code blocks in the language `mermaid` are drawn as diagrams. On unless switched off.
    render_mermaid: Option<bool>,
    /// Code blocks are coloured. On unless switched off.
    code_highlighter: Option<bool>,
    /// Formulas in TeX, between `$`, `$$`, `\(` and `\)` or `\[` and `\]`, are drawn. Off unless switched on.
    render_latex: Option<bool>,
    /// What the model thought. On unless switched off.
    show_reasoning: Option<bool>,
    /// Where that stands.
    reasoning_display: Option<ReasoningEntry>,
    /// Another way to say `actions: { edit: … }`; off in one place is off.
    editable_messages: Option<bool>,
    /// The calls of tools. On unless switched off: then only those are there that ask the user something.
    show_thought_chain: Option<bool>,
    /// What an answer refers to, numbered, below it. Off unless switched on.
    show_sources: Option<bool>,
    /// How that is shown.
    sources_display: Option<SourcesEntry>,
    /// What the agent says it is doing, by data parts of the type `data-status`. On unless switched off.
    show_status_updates: Option<bool>,
    /// A line between the steps of an answer. Off unless switched on.
    show_step_separators: Option<bool>,
    /// Calls while their arguments arrive. On unless switched off.
    show_tool_input_streaming: Option<bool>,
    /// When a message was written. On unless switched off.
    show_timestamps: Option<bool>,
    /// What an answer took: tokens and money. On unless switched off.
    show_usage: Option<bool>,
    /// What is said in turn while an answer is waited for.
    thinking_messages: Option<ThinkingEntry>,
    /// When the first of them is said, in milliseconds; 3000 without it.
    #[schemars(range(min = 500, max = 600_000))]
    thinking_message_delay: Option<u32>,
    /// How long each is said, in milliseconds; 8000 without it.
    #[schemars(range(min = 500, max = 600_000))]
    thinking_message_rotation_interval: Option<u32>,
    /// How results of tools are shown: one way for all, or by tool with `default` for the others.
    tool_result_display: Option<ResultsEntry>,
}

/// How it is shown what an answer refers to.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SourcesEntry {
    /// Without a list below the answer: each number in the text opens what it stands for. Off unless switched on.
    inline: Option<bool>,
    /// Where the arrow of the folded list stands; `end` without it.
    expand_icon_position: Option<ArrowEntry>,
}

/// A side of a line.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "position"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ArrowEntry {
    /// Before the words.
    Start,
    /// After them.
    End,
}

/// Where the model's thoughts stand.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "reasoning display"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ReasoningEntry {
    /// Where they were thought.
    Interleaved,
    /// All of them above the answer.
    Grouped,
}

/// One text or several.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ThinkingEntry {
    /// One.
    One(Text),
    /// Several.
    Several(Vec<Text>),
}

/// How results of tools are shown.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ResultsEntry {
    /// All in one way.
    All(ResultEntry),
    /// By tool; `default` for the others.
    Each(IndexMap<String, ResultEntry>),
}

/// How a result is shown.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "result display"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ResultEntry {
    /// A line that can be unfolded.
    Summary,
    /// Unfolded, as JSON.
    Full,
    /// Unfolded, for people.
    Readable,
    /// Not at all; that there was a call is shown.
    None,
}

/// Who speaks.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct RolesEntry {
    /// The agent.
    assistant: Option<SpeakerEntry>,
    /// The user.
    user: Option<SpeakerEntry>,
}

/// How one of them is shown.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SpeakerEntry {
    /// The name above the messages.
    name: Option<Text>,
    /// A picture's address (`/…` or `https://…`), or a letter or two.
    avatar: Option<Text>,
    /// How the messages look; without it the user's are `filled` and the agent's `borderless`.
    variant: Option<VariantEntry>,
    /// The corners of messages that have a frame or a ground.
    shape: Option<ShapeEntry>,
}

/// How messages look.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "variant"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum VariantEntry {
    /// On a ground of their own.
    Filled,
    /// In a frame.
    Outlined,
    /// In a frame with a shadow.
    Shadow,
    /// As the page's own text.
    Borderless,
}

/// Corners.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "shape"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ShapeEntry {
    /// Round, but for the one that points to who speaks.
    Default,
    /// Round, all of them.
    Round,
    /// Slightly rounded.
    Corner,
}
