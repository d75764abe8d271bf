//! How often an agent goes on by itself (`executionMode`), and in which way it uses its tools
//! (`toolStrategy`).

use contract::{AssistantPart, Message, ToolChoice, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

/// The instruction that goes with [`ToolStrategy::Parallel`].
pub(crate) const PARALLEL: &str =
    "When several tool calls do not depend on each other's results, make all of them in the same reply.";

/// The instruction that goes with [`ToolStrategy::Sequential`].
pub(crate) const SEQUENTIAL: &str = "Make one tool call at a time, and read its result before the next one.";

/// How many steps with tool calls a turn has. After the last of them the model is asked once more,
/// without tools, so that the turn ends with an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "ExecutionModeForm")]
pub enum ExecutionMode {
    /// Until the model makes no further call, or a limit is reached.
    #[default]
    UntilDone,
    /// At most this many.
    AtMost(u32),
}

/// How an execution mode is written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum ExecutionModeForm {
    /// A mode.
    Word(ExecutionModeWord),
    /// A number of steps.
    AtMost(AtMost),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "execution mode"))]
enum ExecutionModeWord {
    /// The model may call tools in one step; then it answers.
    Once,
    /// The model calls tools until it is done, or until a limit such as `maxSteps` is reached.
    UntilDone,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AtMost {
    /// The most steps in which the model may call tools; then it answers.
    #[schemars(range(min = 1, max = 999))]
    at_most: u32,
}

impl From<ExecutionModeForm> for ExecutionMode {
    fn from(form: ExecutionModeForm) -> Self {
        match form {
            ExecutionModeForm::Word(ExecutionModeWord::Once) => Self::AtMost(1),
            ExecutionModeForm::Word(ExecutionModeWord::UntilDone) => Self::UntilDone,
            ExecutionModeForm::AtMost(AtMost { at_most }) => Self::AtMost(at_most),
        }
    }
}

impl ExecutionMode {
    /// Returns whether the request after this many steps is for the answer only.
    pub(crate) fn is_for_the_answer(self, steps_before: u32) -> bool {
        matches!(self, Self::AtMost(most) if steps_before >= most)
    }

    /// Returns the most steps of a turn, given `maxSteps`.
    pub(crate) fn max_steps(self, configured: u32) -> u32 {
        match self {
            Self::UntilDone => configured,
            Self::AtMost(most) => configured.min(most.saturating_add(1)),
        }
    }
}

/// In which way an agent uses its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "ToolStrategyForm")]
pub enum ToolStrategy {
    /// The model chooses: which tools, in which order, and how many in one reply.
    #[default]
    Model,
    /// One call after the other, in the order of the reply. After a call that fails, the later calls of
    /// the reply are not run.
    Sequential,
    /// The model is told to make independent calls in one reply; they run at the same time.
    Parallel,
    /// These tools, each once and in this order; then the model answers. The model writes the
    /// arguments.
    Pipeline(Vec<String>),
}

/// How a tool strategy is written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum ToolStrategyForm {
    /// A strategy.
    Word(ToolStrategyWord),
    /// A fixed order of tools.
    Pipeline(Pipeline),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "tool strategy"))]
enum ToolStrategyWord {
    /// The model chooses which tools it calls, in which order, and how many in one reply.
    Model,
    /// The calls of a reply run one after the other, in their order. After a call that fails, the later
    /// ones are not run. The model is told to make one call at a time.
    Sequential,
    /// The model is told to make calls that do not depend on each other in one reply. They run at the
    /// same time.
    Parallel,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Pipeline {
    /// The names of tools. The model must call each of them once, in this order, and then answers. A
    /// call that fails is made again; one that the user denies ends the pipeline.
    #[schemars(length(min = 1), inner(regex(pattern = settings::pattern::TOOL_NAME)))]
    pipeline: Vec<String>,
}

impl From<ToolStrategyForm> for ToolStrategy {
    fn from(form: ToolStrategyForm) -> Self {
        match form {
            ToolStrategyForm::Word(ToolStrategyWord::Model) => Self::Model,
            ToolStrategyForm::Word(ToolStrategyWord::Sequential) => Self::Sequential,
            ToolStrategyForm::Word(ToolStrategyWord::Parallel) => Self::Parallel,
            ToolStrategyForm::Pipeline(Pipeline { pipeline }) => Self::Pipeline(pipeline),
        }
    }
}

impl ToolStrategy {
    /// Returns whether the calls of a reply run one after the other, up to the first that fails.
    pub(crate) fn is_sequential(&self) -> bool {
        matches!(self, Self::Sequential | Self::Pipeline(_))
    }

    /// Returns the instruction for the model, if any.
    pub(crate) fn instruction(&self) -> Option<&'static str> {
        match self {
            Self::Sequential => Some(SEQUENTIAL),
            Self::Parallel => Some(PARALLEL),
            Self::Model | Self::Pipeline(_) => None,
        }
    }

    /// Returns the next choice of a pipeline, given the messages of the turn: the tool that is called
    /// next, or none after the last one. `None` for the other strategies.
    pub(crate) fn next_choice(&self, turn: &[Arc<Message>]) -> Option<ToolChoice> {
        let Self::Pipeline(names) = self else { return None };
        let mut rest = names.iter();
        let mut next = rest.next();
        let mut called = HashMap::new();
        for message in turn {
            match &**message {
                Message::Assistant(parts) => called.extend(parts.iter().filter_map(|part| match part {
                    AssistantPart::ToolCall(call) => Some((call.id.as_str(), call.name.as_str())),
                    _ => None,
                })),
                Message::Tool(results) => {
                    for result in results {
                        let is_next = next.is_some_and(|next| called.get(result.call_id.as_str()) == Some(&&**next));
                        match &result.output {
                            ToolOutput::Denied(_) if is_next => return Some(ToolChoice::None),
                            ToolOutput::ErrorText(_) => {}
                            _ if is_next => next = rest.next(),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Some(next.map_or(ToolChoice::None, |name| ToolChoice::Tool(name.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{ToolCall, ToolResult};
    use serde_json::{Value, json};

    #[test]
    fn modes_and_strategies_are_read() {
        let mode = |value: Value, expected| {
            assert_eq!(serde_json::from_value::<ExecutionMode>(value.clone()).ok(), expected, "{value}");
        };
        mode(json!("untilDone"), Some(ExecutionMode::UntilDone));
        mode(json!("once"), Some(ExecutionMode::AtMost(1)));
        mode(json!({ "atMost": 4 }), Some(ExecutionMode::AtMost(4)));
        mode(json!("twice"), None);
        let strategy = |value: Value, expected| {
            assert_eq!(serde_json::from_value::<ToolStrategy>(value.clone()).ok(), expected, "{value}");
        };
        strategy(json!("model"), Some(ToolStrategy::Model));
        strategy(json!("sequential"), Some(ToolStrategy::Sequential));
        strategy(json!("parallel"), Some(ToolStrategy::Parallel));
        strategy(
            json!({ "pipeline": ["find", "post"] }),
            Some(ToolStrategy::Pipeline(vec!["find".into(), "post".into()])),
        );
        strategy(json!("random"), None);
    }

    #[test]
    fn a_pipeline_goes_on_after_each_result() {
        let pipeline = ToolStrategy::Pipeline(vec!["find".to_owned(), "post".to_owned()]);
        let check = |calls: &[(&str, ToolOutput)], expected: ToolChoice| {
            let mut turn = Vec::new();
            for (index, (name, output)) in calls.iter().enumerate() {
                let (id, name) = (format!("c{index}"), (*name).to_owned());
                let call = ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    input: json!({}),
                    provider_executed: false,
                    metadata: None,
                };
                turn.push(Arc::new(Message::Assistant(vec![AssistantPart::ToolCall(call)])));
                let result = ToolResult { call_id: id, name, output: output.clone(), metadata: None };
                turn.push(Arc::new(Message::Tool(vec![result])));
            }
            assert_eq!(pipeline.next_choice(&turn), Some(expected), "{calls:?}");
        };
        let tool = |name: &str| ToolChoice::Tool(name.to_owned());
        let (ok, failed) = (|| ToolOutput::Json(json!(1)), || ToolOutput::ErrorText("no".to_owned()));
        check(&[], tool("find"));
        check(&[("find", ok())], tool("post"));
        check(&[("find", failed())], tool("find"));
        check(&[("find", failed()), ("find", ok())], tool("post"));
        check(&[("find", ToolOutput::Denied(None))], ToolChoice::None);
        check(&[("other", ok()), ("find", ok()), ("post", ok())], ToolChoice::None);
        assert_eq!(ToolStrategy::Model.next_choice(&[]), None);
    }
}
