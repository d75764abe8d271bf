//! How a chat shows its messages and what users can do with them.

use super::properties::text;
use litemap::LiteMap;
use serde::Serialize;
use serde_json::{Map, Value};

/// The minimum delay and duration of a thinking message in milliseconds.
pub const THINKING_FLOOR_MS: u64 = 500;

/// The actions that users may take on messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the config")]
pub struct MessageActions {
    /// Copy a message.
    pub copy: bool,
    /// Rate an answer.
    pub feedback: bool,
    /// Regenerate an answer.
    pub regenerate: bool,
    /// Edit their own messages.
    pub edit: bool,
    /// Delete a message and those that follow.
    pub delete: bool,
    /// Branch off into a new conversation.
    pub branch: bool,
    /// Have an answer read aloud.
    pub audio: bool,
}

impl Default for MessageActions {
    fn default() -> Self {
        Self { copy: true, feedback: true, regenerate: true, edit: true, delete: true, branch: true, audio: false }
    }
}

impl MessageActions {
    pub(super) fn read(own: &Map<String, Value>) -> Self {
        let default = Self::default();
        Self {
            copy: is_on(own, "copy", default.copy),
            feedback: is_on(own, "feedback", default.feedback),
            regenerate: is_on(own, "regenerate", default.regenerate),
            edit: is_on(own, "edit", default.edit),
            delete: is_on(own, "delete", default.delete),
            branch: is_on(own, "branch", default.branch),
            audio: is_on(own, "audio", default.audio),
        }
    }
}

/// How messages are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the config")]
pub struct MessageDisplay {
    /// Renders answers as Markdown instead of plain text.
    pub markdown_rendering: bool,
    /// Renders code blocks in the language `mermaid` as diagrams.
    pub render_mermaid: bool,
    /// Highlights code blocks.
    pub code_highlighter: bool,
    /// Renders TeX formulas.
    pub render_latex: bool,
    /// Shows the model's reasoning.
    pub show_reasoning: bool,
    /// Groups all reasoning above the answer instead of showing it in order.
    pub reasoning_grouped: bool,
    /// Shows tool calls; those that need the user are shown in any case.
    pub show_thought_chain: bool,
    /// Shows the sources of an answer.
    pub show_sources: bool,
    /// Shows no list of sources; each number in the text opens its source.
    pub sources_inline: bool,
    /// Places the arrow of the list of sources before its title.
    pub sources_arrow_first: bool,
    /// Shows the agent's status updates.
    pub show_status_updates: bool,
    /// Shows a separator between the steps of an answer.
    pub show_step_separators: bool,
    /// Shows tool calls while their arguments arrive.
    pub show_tool_input_streaming: bool,
    /// Shows when a message was written.
    pub show_timestamps: bool,
    /// Shows the tokens and the cost of an answer.
    pub show_usage: bool,
    /// Texts that rotate while an answer is awaited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thinking_messages: Vec<String>,
    /// The delay before the first of them in milliseconds.
    pub thinking_message_delay: u64,
    /// How long each of them is shown, in milliseconds.
    pub thinking_message_rotation_interval: u64,
    /// How results are shown of tools without an entry of their own.
    pub tool_results: ResultDisplay,
    /// How results of single tools are shown, by tool name.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub tool_results_of: LiteMap<String, ResultDisplay>,
}

impl Default for MessageDisplay {
    fn default() -> Self {
        Self {
            markdown_rendering: true,
            render_mermaid: true,
            code_highlighter: true,
            render_latex: false,
            show_reasoning: true,
            reasoning_grouped: false,
            show_thought_chain: true,
            show_sources: false,
            sources_inline: false,
            sources_arrow_first: false,
            show_status_updates: true,
            show_step_separators: false,
            show_tool_input_streaming: true,
            show_timestamps: true,
            show_usage: true,
            thinking_messages: Vec::new(),
            thinking_message_delay: 3_000,
            thinking_message_rotation_interval: 8_000,
            tool_results: ResultDisplay::Summary,
            tool_results_of: LiteMap::new(),
        }
    }
}

impl MessageDisplay {
    pub(super) fn read(own: &Map<String, Value>) -> Self {
        let default = Self::default();
        let time = |key: &str, default| own.get(key).and_then(Value::as_u64).unwrap_or(default).max(THINKING_FLOOR_MS);
        let sources = own.get("sourcesDisplay").and_then(Value::as_object);
        let (tool_results, tool_results_of) = own.get("toolResultDisplay").map(read_result_display).unwrap_or_default();
        Self {
            markdown_rendering: is_on(own, "markdownRendering", default.markdown_rendering),
            render_mermaid: is_on(own, "renderMermaid", default.render_mermaid),
            code_highlighter: is_on(own, "codeHighlighter", default.code_highlighter),
            render_latex: is_on(own, "renderLatex", default.render_latex),
            show_reasoning: is_on(own, "showReasoning", default.show_reasoning),
            reasoning_grouped: text(own, "reasoningDisplay").as_deref() == Some("grouped"),
            show_thought_chain: is_on(own, "showThoughtChain", default.show_thought_chain),
            show_sources: is_on(own, "showSources", default.show_sources),
            sources_inline: sources.is_some_and(|own| is_on(own, "inline", default.sources_inline)),
            sources_arrow_first: sources.and_then(|own| text(own, "expandIconPosition")).as_deref() == Some("start"),
            show_status_updates: is_on(own, "showStatusUpdates", default.show_status_updates),
            show_step_separators: is_on(own, "showStepSeparators", default.show_step_separators),
            show_tool_input_streaming: is_on(own, "showToolInputStreaming", default.show_tool_input_streaming),
            show_timestamps: is_on(own, "showTimestamps", default.show_timestamps),
            show_usage: is_on(own, "showUsage", default.show_usage),
            thinking_messages: texts(own.get("thinkingMessages")),
            thinking_message_delay: time("thinkingMessageDelay", default.thinking_message_delay),
            thinking_message_rotation_interval: time(
                "thinkingMessageRotationInterval",
                default.thinking_message_rotation_interval,
            ),
            tool_results,
            tool_results_of,
        }
    }

    /// Returns how results of a tool are shown.
    pub fn results_of(&self, tool: &str) -> ResultDisplay {
        self.tool_results_of.get(tool).copied().unwrap_or(self.tool_results)
    }
}

/// How the result of a tool is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ResultDisplay {
    /// A line that can be expanded.
    #[default]
    Summary,
    /// Expanded, as JSON.
    Full,
    /// Expanded, formatted for people.
    Readable,
    /// Hidden; the call itself is shown.
    None,
}

impl ResultDisplay {
    fn read(name: &Value) -> Option<Self> {
        Some(match name.as_str()? {
            "summary" => Self::Summary,
            "full" => Self::Full,
            "readable" => Self::Readable,
            "none" => Self::None,
            _ => return None,
        })
    }
}

/// Reads one setting for all tools, or settings by tool with `default` for the others.
fn read_result_display(own: &Value) -> (ResultDisplay, LiteMap<String, ResultDisplay>) {
    let Value::Object(own) = own else {
        return (ResultDisplay::read(own).unwrap_or_default(), LiteMap::new());
    };
    let default = own.get("default").and_then(ResultDisplay::read).unwrap_or_default();
    let tools = own.iter().filter(|(tool, _)| *tool != "default");
    // Inserts one by one: `collect` would add a sort function to the download.
    let mut displays = LiteMap::new();
    for (tool, display) in tools {
        if let Some(display) = ResultDisplay::read(display) {
            displays.insert(tool.clone(), display);
        }
    }
    (default, displays)
}

/// How the authors of messages are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Roles {
    /// The agent.
    pub assistant: Speaker,
    /// The user.
    pub user: Speaker,
}

/// How an author is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Speaker {
    /// The name above the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The URL of a picture, or one or two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// The style of the messages: `filled`, `outlined`, `shadow` or `borderless`; if absent, the
    /// default of the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The shape of the corners: `default`, `round` or `corner`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

impl Roles {
    pub(super) fn read(own: &Map<String, Value>) -> Self {
        let speaker = |role: &str| {
            let own = own.get(role).and_then(Value::as_object);
            own.map(Speaker::read).unwrap_or_default()
        };
        Self { assistant: speaker("assistant"), user: speaker("user") }
    }
}

impl Speaker {
    fn read(own: &Map<String, Value>) -> Self {
        let own = |key: &str| text(own, key);
        Self { name: own("name"), avatar: own("avatar"), variant: own("variant"), shape: own("shape") }
    }
}

pub(super) fn is_on(own: &Map<String, Value>, key: &str, default: bool) -> bool {
    own.get(key).and_then(Value::as_bool).unwrap_or(default)
}

/// Reads one text or a list of texts.
pub(super) fn texts(own: Option<&Value>) -> Vec<String> {
    match own {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
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
        assert_eq!(MessageActions::read(&Map::new()), MessageActions::default());
        assert_eq!(Roles::read(&Map::new()), Roles::default());
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
        let check = |own: Value, expected: (bool, bool)| {
            let read = read(json!({ "sourcesDisplay": own }));
            assert_eq!((read.sources_inline, read.sources_arrow_first), expected, "{own}");
        };
        check(json!({}), (false, false));
        check(json!({ "inline": true }), (true, false));
        check(json!({ "expandIconPosition": "start" }), (false, true));
        check(json!({ "inline": false, "expandIconPosition": "end" }), (false, false));
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
