//! Wraps everything that an agent asks: models, tools, sources and policies, also those of its
//! sub-agents.

use agent::{Agent, Policy, SubAgent};
use contract::{Model, Price, Tool, ToolSource};
use std::collections::HashMap;
use std::sync::Arc;

/// A layer around the parts of an agent. `agent` is the path of the agent, see
/// [`crate::format::Entry`].
pub(crate) trait Layer {
    /// Wraps a model.
    fn model(&self, agent: &str, model: Arc<dyn Model>, prices: &HashMap<String, Price>) -> Arc<dyn Model>;
    /// Wraps a tool.
    fn tool(&self, agent: &str, tool: Arc<dyn Tool>) -> Arc<dyn Tool>;
    /// Wraps a source.
    fn source(&self, agent: &str, source: Arc<dyn ToolSource>) -> Arc<dyn ToolSource>;
    /// Wraps a policy.
    fn policy(&self, agent: &str, policy: Arc<dyn Policy>) -> Arc<dyn Policy>;
}

/// Returns the agent with this layer around its parts.
pub(crate) fn agent(agent: &Agent, layer: &impl Layer) -> Agent {
    wrapped(agent, &agent.id, layer)
}

fn wrapped(agent: &Agent, path: &str, layer: &impl Layer) -> Agent {
    let prices = &agent.settings.prices;
    let model = |model: &Arc<dyn Model>| layer.model(path, model.clone(), prices);
    let below = |below: &Arc<SubAgent>| {
        let path = format!("{path}/{}", below.spec.name);
        let agent = wrapped(&below.agent, &path, layer);
        Arc::new(SubAgent { spec: below.spec.clone(), agent, is_copy: below.is_copy })
    };
    Agent {
        model: model(&agent.model),
        fallbacks: agent.fallbacks.iter().map(model).collect(),
        summary_model: agent.summary_model.as_ref().map(model),
        tools: agent.tools.iter().map(|tool| layer.tool(path, tool.clone())).collect(),
        sources: agent.sources.iter().map(|source| layer.source(path, source.clone())).collect(),
        policy: agent.policy.as_ref().map(|policy| layer.policy(path, policy.clone())),
        agents: agent.agents.iter().map(below).collect(),
        recorder: None,
        ..agent.clone()
    }
}
