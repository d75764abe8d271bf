//! Lets an agent call only the tools that the skills in use allow.

use crate::catalog::CatalogSkill;
use crate::in_use::loaded;
use crate::tool::READ_SKILL;
use agent::{Policy, PolicyQuery, READ_RESULT_TOOL, Ruling, SubAgent, TOOL_SEARCH};
use futures::future::BoxFuture;
use std::sync::Arc;

/// Tools that only read what the agent has anyway: its skills, its earlier results, the list of its tools.
const ALWAYS: [&str; 3] = [READ_SKILL, READ_RESULT_TOOL, TOOL_SEARCH];

/// The policy of an agent with skills that have `allowed-tools`.
pub(crate) struct AllowedTools {
    pub(crate) agent_id: String,
    pub(crate) skills: Vec<Arc<CatalogSkill>>,
}

impl Policy for AllowedTools {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(std::future::ready(self.ruling(&asked)))
    }
}

impl AllowedTools {
    fn ruling(&self, asked: &PolicyQuery<'_>) -> Ruling {
        let tool = asked.tool.name.as_str();
        // The call of a sub-agent was allowed as a whole; it uses its own skills and tools. A copy has those of the
        // agent.
        if !SubAgent::is_agent_or_copy(asked.agent_id, &self.agent_id) || ALWAYS.contains(&tool) {
            return Ruling::Allow;
        }
        let lists = loaded(&self.skills, asked.history).into_iter();
        let mut lists = lists.filter_map(|skill| Some((&skill.skill.name, skill.skill.allowed_tools.as_ref()?)));
        match lists.find(|(_, allowed)| !allowed.iter().any(|name| name == tool)) {
            None => Ruling::Allow,
            Some((name, allowed)) => {
                let allowed = allowed.join(", ");
                Ruling::Deny(format!("the skill `{name}` is in use, which allows only these tools: {allowed}"))
            }
        }
    }
}
