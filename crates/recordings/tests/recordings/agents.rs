//! Agents with scripted models and tools.

use agent::Agent;
use contract::testing::{Cue, RecordingTool, ScriptedModel, model_error, text_reply, tool_call_reply};
use contract::{FinishReason, Model, ModelError, ModelErrorKind, Part, Tool, ToolError, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// One reply of a generated model.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Calls, each with its tool and a number.
    Calls(Vec<(usize, u8)>),
    /// A failure, after which the model is asked again.
    Failure,
    /// A call with arguments that are no JSON.
    Invalid,
}

/// The tools of a generated agent.
pub(crate) const TOOLS: [&str; 4] = ["echo", "fail", "slow", "confirm"];

/// Returns the replies of a model: these steps, then a text.
pub(crate) fn script(steps: &[Step], text: &str) -> Vec<Vec<Cue>> {
    script_with_ids(steps, text, "call")
}

/// As [`script`], with ids of calls that begin so: a real model makes new ones for each reply.
pub(crate) fn script_with_ids(steps: &[Step], text: &str, prefix: &str) -> Vec<Vec<Cue>> {
    let mut replies: Vec<_> = steps.iter().enumerate().map(|(at, step)| reply(at, step, prefix)).collect();
    replies.push(text_reply(text));
    replies
}

fn reply(at: usize, step: &Step, prefix: &str) -> Vec<Cue> {
    match step {
        Step::Calls(calls) => {
            let calls: Vec<_> = calls
                .iter()
                .enumerate()
                .map(|(index, (tool, n))| {
                    (
                        format!("{prefix}-{at}-{index}"),
                        TOOLS[*tool],
                        json!({ "n": n, "password": "hunter2" }).to_string(),
                    )
                })
                .collect();
            let calls: Vec<_> = calls.iter().map(|(id, tool, input)| (id.as_str(), *tool, input.as_str())).collect();
            tool_call_reply(&calls)
        }
        Step::Failure => {
            let error = model_error(ModelErrorKind::Unavailable);
            vec![Cue::Fail(ModelError { retry_after: Some(Duration::ZERO), ..error })]
        }
        Step::Invalid => tool_call_reply(&[(&format!("{prefix}-{at}"), "echo", "{ n")]),
    }
}

/// Returns the declaration of a tool.
pub(crate) fn spec(name: &str) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer" }, "password": { "type": "string" } },
        "required": ["n"],
    });
    ToolSpec { needs_approval: name == "confirm", ..ToolSpec::new(name, format!("Does {name}."), schema) }
}

/// Returns tools that answer: one fails for odd numbers, one takes longer for small numbers.
pub(crate) fn tools() -> Vec<Arc<dyn Tool>> {
    let tool = |name: &'static str| -> Arc<dyn Tool> {
        Arc::new(RecordingTool::new(spec(name), move |input: Value, _| async move {
            let n = input["n"].as_u64().unwrap_or_default();
            match name {
                "fail" if n % 2 == 1 => Err(ToolError::new(format!("{n} is odd"))),
                "slow" => {
                    tokio::time::sleep(Duration::from_millis(u64::from(n < 128) * 3)).await;
                    Ok(json!({ "slow": n, "token": "hunter2" }))
                }
                _ => Ok(json!({ "tool": name, "got": n, "third": n as f64 / 3.0 })),
            }
        }))
    };
    TOOLS.into_iter().map(tool).collect()
}

/// Returns tools that must not run.
pub(crate) fn dead_tools() -> Vec<Arc<dyn Tool>> {
    let tool = |name: &'static str| -> Arc<dyn Tool> {
        Arc::new(RecordingTool::new(spec(name), move |_, _| async move { panic!("{name} runs in a replay") }))
    };
    TOOLS.into_iter().map(tool).collect()
}

/// Returns an agent with this model and these tools.
pub(crate) fn agent(model: Arc<dyn Model>, tools: Vec<Arc<dyn Tool>>) -> Agent {
    let mut agent = Agent::new("helper", model);
    agent.instructions = Some("Help, and be brief.".to_owned());
    agent.tools = tools;
    agent.settings.max_steps = 40;
    agent.settings.max_retries = 8;
    agent
}

/// Returns an agent whose model gives these replies.
pub(crate) fn scripted(replies: Vec<Vec<Cue>>, tools: Vec<Arc<dyn Tool>>) -> Agent {
    agent(Arc::new(ScriptedModel::new(replies)), tools)
}

/// Returns an agent that asks nobody: its model fails, and its tools panic.
pub(crate) fn dead() -> Agent {
    scripted(Vec::new(), dead_tools())
}

/// Returns the reply with another text.
pub(crate) fn with_text(mut reply: Vec<Cue>, text: &str) -> Vec<Cue> {
    let id = "extra".to_owned();
    let parts = [
        Part::TextStart { id: id.clone() },
        Part::TextDelta { id: id.clone(), delta: text.to_owned() },
        Part::TextEnd { id, metadata: None, citations: Vec::new() },
    ];
    let at = reply.iter().position(|cue| {
        matches!(cue, Cue::Part(Part::Finish { reason: FinishReason::ToolCalls | FinishReason::Stop, .. }))
    });
    let at = at.unwrap_or(reply.len());
    reply.splice(at..at, parts.map(Cue::Part));
    reply
}
