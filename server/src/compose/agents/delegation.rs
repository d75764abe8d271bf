//! The built-in sub-agent: a copy of an agent that works on a task by itself, for agents with the key
//! `delegate`.

use agent::{Agent, ExecutionMode, RunSettings, SubAgent, ToolStrategy};
use config::Delegation;
use contract::{Execution, ToolChoice, ToolSpec};
use serde_json::json;
use wire::UserError;
use wire::api::RunOptions;

/// The name of the tool.
const TOOL: &str = "task";
/// The kind of the copy in a call of the model.
const KIND: &str = "general-purpose";
/// The path of the option in a request.
const PATH: &str = "/delegate";

const DESCRIPTION: &str = "Hands a task to a helper that has your tools, but neither this conversation nor the user, and returns its answer. Use it \
     for work with many steps whose details you do not need, and for parts that do not depend on each other: several calls in \
     one reply are worked on at the same time. Do not use it for what takes one or two calls of a tool.";

const INSTRUCTIONS: &str = "You work on a task for another agent. You have neither its conversation nor a user who could answer: decide by yourself \
     what is not said, and say in your answer what you have assumed. Answer with the result, and with what was not possible.";

/// Returns how an agent delegates in an answer with these options; `None` if it does not.
///
/// # Errors
/// 422 if the agent does not allow the choice.
pub(super) fn chosen(agent: &config::Agent, options: &RunOptions) -> Result<Option<Delegation>, UserError> {
    let refused = |message: &str| Err(UserError::invalid(PATH, message));
    match (agent.delegation, options.delegate) {
        (None, Some(true)) => refused("This agent hands no tasks on: its config has no `delegate`."),
        (Some(Delegation { is_optional: false, .. }), Some(false)) => {
            refused("This agent always may hand tasks on; only with `delegate: optional` can it be switched off.")
        }
        (Some(Delegation { is_optional: true, .. }), None | Some(false)) | (None, _) => Ok(None),
        (delegation, _) => Ok(delegation),
    }
}

/// Returns the copy of an agent as its tool. It has all of its tools but those in the browser, its
/// sub-agents, and questions to the user.
pub(super) fn general_purpose(agent: &Agent, delegation: Delegation) -> SubAgent {
    let Delegation { max_turns, .. } = delegation;
    let mut copy = Agent {
        id: SubAgent::copy_id(&agent.id),
        agents: Vec::new(),
        page_context: None,
        // The calling agent has taken a route; a task is not a message of the user.
        routes: &[],
        // That of the calling agent applies to all calls of its sub-agents.
        policy: None,
        settings: RunSettings {
            max_steps: max_turns,
            tool_choice: ToolChoice::Auto,
            stop_on_tool_call: Vec::new(),
            execution_mode: ExecutionMode::default(),
            tool_strategy: ToolStrategy::default(),
            prepare_step: Vec::new(),
            response_format: None,
            ..agent.settings.clone()
        },
        ..agent.clone()
    };
    copy.tools.retain(|tool| tool.spec().execution == Execution::Server);
    copy.append_instructions(INSTRUCTIONS);
    let schema = json!({
        "type": "object",
        "properties": {
            "description": { "type": "string", "description": "The task in three to five words, for the user." },
            "prompt": { "type": "string", "description": "The task, with all information that is needed for it, and what the answer is to contain." },
            "subagent_type": { "type": "string", "enum": [KIND] },
            "max_turns": {
                "type": "integer", "minimum": 1, "maximum": max_turns,
                "description": "The most steps, if the task should end sooner than usual.",
            },
        },
        "required": ["prompt"],
    });
    let spec = ToolSpec { timeout: SubAgent::TIMEOUT, ..ToolSpec::new(TOOL, DESCRIPTION, schema) };
    SubAgent { spec, agent: copy, is_copy: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::testing::ScriptedModel;
    use std::sync::Arc;
    use tools::AskUserTool;

    #[test]
    fn copy_has_neither_sub_agents_nor_questions() {
        let new = || Agent::new("helper", Arc::new(ScriptedModel::new(Vec::new())));
        let mut agent = Agent { instructions: Some("Help.".to_owned()), ..new() };
        agent.tools.push(Arc::new(AskUserTool::default()));
        agent.agents.push(Arc::new(SubAgent::new(ToolSpec::new("other", "", SubAgent::default_schema()), new())));
        agent.settings.stop_on_tool_call.push("find".to_owned());
        let SubAgent { spec, agent: copy, is_copy } =
            general_purpose(&agent, Delegation { is_optional: false, max_turns: 7 });
        assert_eq!((spec.name.as_str(), spec.timeout.as_secs(), is_copy), ("task", 900, true));
        assert_eq!(
            (copy.id.as_str(), copy.tools.len(), copy.agents.len(), copy.settings.max_steps),
            ("helper/general-purpose", 0, 0, 7)
        );
        assert!(copy.settings.stop_on_tool_call.is_empty());
        assert_eq!(copy.instructions, Some(format!("Help.\n\n{INSTRUCTIONS}")));
    }
}
