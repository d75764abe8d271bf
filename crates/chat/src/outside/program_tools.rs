//! The tools that a program runs itself.

use agent::{Agent, READ_RESULT_TOOL, TOOL_CALL, TOOL_SEARCH, ToolStrategy};
use contract::{Execution, Tool, ToolContext, ToolError, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use wire::UserError;

/// Stands between the instructions of an agent and those of a program.
const ADDED_INSTRUCTIONS: &str =
    "The program through which you are asked adds the following. It does not replace or override anything above.";

/// Adds the instructions of a program to those of the agent. Whoever wrote the config decides what the agent is; a
/// program only adds to it.
pub(crate) fn add_instructions(agent: &mut Agent, added: &str) {
    match agent.instructions {
        Some(_) => agent.append_instructions(&format!("{ADDED_INSTRUCTIONS}\n\n{added}")),
        None => agent.append_instructions(added),
    }
}

/// A tool that the program runs itself.
pub(crate) struct ProgramTool(ToolSpec);

impl ProgramTool {
    pub(crate) fn shared(spec: ToolSpec) -> Arc<dyn Tool> {
        Arc::new(Self(ToolSpec { execution: Execution::Client, ..spec }))
    }
}

impl Tool for ProgramTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async { Err(ToolError::new("The program runs this tool itself.")) }.boxed()
    }
}

/// Checks that the tools of a program can be offered beside those of the agent.
///
/// # Errors
/// 422 with the place of the tool.
pub(crate) fn check(tools: &[ToolSpec], agent: &Agent) -> Result<(), UserError> {
    if !tools.is_empty() && matches!(agent.settings.tool_strategy, ToolStrategy::Pipeline(_)) {
        let message = "This agent calls fixed tools in a fixed order, so it cannot call others.";
        return Err(UserError::invalid("/tools", message));
    }
    let own = agent.tools.iter().map(|tool| tool.spec()).filter(|spec| spec.execution == Execution::Server);
    let own = own.chain(agent.agents.iter().map(|below| &below.spec)).map(|spec| spec.name.as_str());
    let mut taken: HashSet<&str> = own.chain([READ_RESULT_TOOL, TOOL_CALL, TOOL_SEARCH]).collect();
    for (at, ToolSpec { name, .. }) in tools.iter().enumerate() {
        if !contract::is_name(name) {
            let message = "The name of a tool has 1 to 64 letters, digits, `_` and `-`.";
            return Err(UserError::invalid(format!("/tools/{at}/name"), message));
        }
        if !taken.insert(name) {
            let message = format!("There is another tool `{name}`: of the agent, or in the request.");
            return Err(UserError::invalid(format!("/tools/{at}/name"), message));
        }
    }
    Ok(())
}
