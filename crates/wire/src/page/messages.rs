//! How a chat shows its messages and what users can do with them.

use super::define::{choices, properties};
use super::property::Property;
#[cfg(feature = "schema")]
use super::schema::{Or, Text};
use litemap::LiteMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
#[cfg(feature = "schema")]
use std::collections::BTreeMap;

/// The minimum delay and duration of a thinking message in milliseconds.
pub const THINKING_FLOOR_MS: u64 = 500;

properties! {
    /// The actions on messages that a chat offers.
    #[derive(Copy, Eq)]
    pub struct MessageActions {
        /// Copy messages.
        pub copy: bool = true,
        /// Rate replies and give a reason.
        pub feedback: bool = true,
        /// Regenerate replies; the earlier reply is kept.
        pub regenerate: bool = true,
        /// Edit sent messages and get a new reply; the earlier version is kept.
        pub edit: bool = true,
        /// Delete a message with everything after it.
        pub delete: bool = true,
        /// Continue from a message in a new conversation.
        pub branch: bool = true,
        /// Have the browser read replies aloud.
        pub audio: bool = false,
    }

    /// How messages are shown.
    #[derive(Eq)]
    pub struct MessageDisplay {
        /// Render replies as Markdown instead of plain text.
        pub markdown_rendering: bool = true,
        /// Draw code blocks in the language `mermaid` as diagrams.
        pub render_mermaid: bool = true,
        /// Highlight the syntax of code blocks.
        pub code_highlighter: bool = true,
        /// Render TeX formulas between `$`, `$$`, `\(` and `\)` or `\[` and `\]`.
        pub render_latex: bool = false,
        /// Show the model's reasoning.
        pub show_reasoning: bool = true,
        /// Where the reasoning is shown.
        pub reasoning_display: ReasoningDisplay = ReasoningDisplay::Interleaved,
        /// The same as `actions: { edit: … }`. If either is `false`, messages cannot be edited.
        pub editable_messages: bool = true,
        /// Show tool calls. With `false` only those are shown that need the user.
        pub show_thought_chain: bool = true,
        /// Show a numbered list of sources below a reply.
        pub show_sources: bool = false,
        /// How sources are shown.
        pub sources_display: SourcesDisplay = SourcesDisplay::default(),
        /// Show the agent's progress, from data parts of the type `data-status`.
        pub show_status_updates: bool = true,
        /// Show a line between the steps of a reply.
        pub show_step_separators: bool = false,
        /// Show tool calls while their arguments are streamed.
        pub show_tool_input_streaming: bool = true,
        /// Show when a message was written.
        pub show_timestamps: bool = true,
        /// Show the tokens and the cost of a reply.
        pub show_usage: bool = true,
        /// Texts to show in turn while the user waits for a reply.
        #[schemars(with = "Or<Text, Vec<Text>>")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[read(texts)]
        pub thinking_messages: Vec<String> = Vec::new(),
        /// When the first of these texts is shown, in milliseconds.
        #[schemars(with = "u32", range(min = 500, max = 600_000))]
        #[read(thinking_time)]
        pub thinking_message_delay: u64 = 3_000,
        /// How long each of these texts is shown, in milliseconds.
        #[schemars(with = "u32", range(min = 500, max = 600_000))]
        #[read(thinking_time)]
        pub thinking_message_rotation_interval: u64 = 8_000,
        /// How results of tools are shown: one way for all, or by tool, with `default` for all others.
        #[schemars(with = "Or<ResultDisplay, BTreeMap<String, ResultDisplay>>")]
        pub tool_result_display: ToolResultDisplay = ToolResultDisplay::default(),
    }

    /// How sources are shown.
    #[derive(Copy, Eq)]
    pub struct SourcesDisplay {
        /// Show a source when its number in the text is clicked, without a list below the reply.
        pub inline: bool = false,
        /// The position of the arrow that expands the list.
        pub expand_icon_position: LinePosition = LinePosition::End,
    }

    /// How the participants of a chat are shown.
    #[derive(Eq)]
    pub struct Roles {
        /// The agent.
        pub assistant: Speaker = Speaker::default(),
        /// The user.
        pub user: Speaker = Speaker::default(),
    }

    /// How a participant is shown.
    #[derive(Eq)]
    pub struct Speaker {
        /// The name above the messages.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// The avatar: the address of an image (`/…` or `https://…`), or one or two letters.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub avatar: Option<String>,
        /// The style of the messages. Default: `filled` for the user and `borderless` for the agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub variant: Option<MessageVariant>,
        /// The corners of messages with a border or a background.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shape: Option<MessageShape>,
    }
}

choices! {
    /// Where the model's reasoning is shown.
    #[schemars(extend("x-names" = "reasoning display"))]
    pub enum ReasoningDisplay {
        /// In its place between the parts of the reply.
        Interleaved,
        /// All of it above the reply.
        Grouped,
    }

    /// A position in a line.
    #[schemars(extend("x-names" = "position"))]
    pub enum LinePosition {
        /// Before the text.
        Start,
        /// After the text.
        End,
    }

    /// How the result of a tool is shown.
    #[derive(Default)]
    #[schemars(extend("x-names" = "result display"))]
    pub enum ResultDisplay {
        /// A line that can be expanded.
        #[default]
        Summary,
        /// Expanded, as JSON.
        Full,
        /// Expanded, formatted for people.
        Readable,
        /// Not shown; only the call is.
        None,
    }

    /// The style of messages.
    #[schemars(extend("x-names" = "variant"))]
    pub enum MessageVariant {
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
    #[schemars(extend("x-names" = "shape"))]
    pub enum MessageShape {
        /// Round, except for the corner that points to the participant.
        Default,
        /// All corners are round.
        Round,
        /// All corners are slightly rounded.
        Corner,
    }
}

impl MessageDisplay {
    /// Returns how results of a tool are shown.
    pub fn results_of(&self, tool: &str) -> ResultDisplay {
        let display = &self.tool_result_display;
        display.by_tool.get(tool).copied().unwrap_or(display.others)
    }
}

/// How results of tools are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolResultDisplay {
    /// The results of tools without an entry of their own.
    pub others: ResultDisplay,
    /// The results of single tools, by tool name.
    pub by_tool: LiteMap<String, ResultDisplay>,
}

/// Reads one setting for all tools, or settings by tool with `default` for the others.
impl Property for ToolResultDisplay {
    fn from_value(own: &Value) -> Option<Self> {
        let Value::Object(own) = own else {
            return Some(Self { others: ResultDisplay::from_value(own)?, by_tool: LiteMap::new() });
        };
        let others = own.get("default").and_then(ResultDisplay::from_value).unwrap_or_default();
        let tools = own.iter().filter(|(tool, _)| *tool != "default");
        // Inserts one by one: `collect` would add a sort function to the download.
        let mut by_tool = LiteMap::new();
        for (tool, display) in tools {
            if let Some(display) = ResultDisplay::from_value(display) {
                by_tool.insert(tool.clone(), display);
            }
        }
        Some(Self { others, by_tool })
    }
}

/// Serializes it as the config writes it.
impl Serialize for ToolResultDisplay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.by_tool.is_empty() {
            return self.others.serialize(serializer);
        }
        let others = ("default", self.others);
        serializer.collect_map(self.by_tool.iter().map(|(tool, display)| (tool.as_str(), *display)).chain([others]))
    }
}

fn thinking_time(own: &Value) -> Option<u64> {
    own.as_u64().map(|time| time.max(THINKING_FLOOR_MS))
}

/// Reads one text or a list of texts.
fn texts(own: &Value) -> Option<Vec<String>> {
    match own {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(texts) => Some(texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(own: Value) -> MessageDisplay {
        MessageDisplay::read(own.as_object().unwrap())
    }

    #[test]
    fn absent_settings_keep_their_defaults() {
        assert_eq!(read(json!({})), MessageDisplay::default());
        assert_eq!(MessageActions::read(&serde_json::Map::new()), MessageActions::default());
        assert_eq!(Roles::read(&serde_json::Map::new()), Roles::default());
    }

    #[test]
    fn result_display_can_be_set_by_tool() {
        let check = |own: Value, tool: &str, expected: ResultDisplay| {
            assert_eq!(read(json!({ "toolResultDisplay": own })).results_of(tool), expected, "{own} {tool}");
        };
        check(json!("readable"), "search", ResultDisplay::Readable);
        check(json!({ "search": "full" }), "search", ResultDisplay::Full);
        check(json!({ "search": "full" }), "other", ResultDisplay::Summary);
        check(json!({ "search": "full", "default": "none" }), "other", ResultDisplay::None);
    }

    #[test]
    fn sources_display_is_read() {
        let check = |own: Value, expected: (bool, LinePosition)| {
            let read = read(json!({ "sourcesDisplay": own })).sources_display;
            assert_eq!((read.inline, read.expand_icon_position), expected, "{own}");
        };
        check(json!({}), (false, LinePosition::End));
        check(json!({ "inline": true }), (true, LinePosition::End));
        check(json!({ "expandIconPosition": "start" }), (false, LinePosition::Start));
        check(json!({ "inline": false, "expandIconPosition": "end" }), (false, LinePosition::End));
    }

    #[test]
    fn thinking_message_times_have_a_minimum() {
        let check = |own: Value, expected: (&[&str], u64, u64)| {
            let read = read(own.clone());
            let times = (read.thinking_message_delay, read.thinking_message_rotation_interval);
            assert_eq!(
                (read.thinking_messages, times),
                (expected.0.iter().map(|text| (*text).to_owned()).collect(), (expected.1, expected.2)),
                "{own}"
            );
        };
        check(json!({ "thinkingMessages": "Hm" }), (&["Hm"], 3_000, 8_000));
        check(
            json!({ "thinkingMessages": ["A", "B"], "thinkingMessageDelay": 10, "thinkingMessageRotationInterval": 900 }),
            (&["A", "B"], 500, 900),
        );
    }
}
