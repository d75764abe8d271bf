//! The parts of agents that depend on neither caller nor page.

use super::policy;
use super::settings::settings;
use crate::compose::models::{model_named, models_for};
use crate::compose::retained::RetainedState;
use agent::Agent;
use anyhow::{Context, anyhow};
use capability::{Capabilities, annotated};
use config::Config;
use contract::{Annotations, ApprovalTerms, Tool};
use endpoints::{EndpointTool, Endpoints};
use serde_json::Value;
use std::sync::Arc;
use tools::AskUserTool;

/// Builds the part of an agent that is the same for all callers. `None` if it has no model.
pub(super) fn build(
    config: &Config,
    agent: &config::Agent,
    capabilities: &Capabilities,
    kept: &RetainedState,
) -> anyhow::Result<Option<Arc<Agent>>> {
    let models = models_for(config, agent, &kept.models).map_err(|error| anyhow!("{}: {error}", agent.at))?;
    let Some((model, fallbacks)) = models else {
        tracing::warn!(
            agent = agent.id,
            connection = agent.connection_id,
            "this version does not support the provider of the agent's model"
        );
        return Ok(None);
    };
    let mut offered = capabilities.agent_tools(config, agent)?;
    offered.tools.extend(tools(config, agent)?);
    let named = agent.summary_model.as_ref();
    let summary_model = named.map(|named| model_named(config, named, agent.openai_api, &kept.models)).transpose();
    let summary_model = summary_model.map_err(|error| anyhow!("{}: {error}", agent.at))?.flatten();
    let agent = Agent {
        summary_model,
        id: agent.id.clone(),
        model,
        fallbacks,
        agents: Vec::new(),
        policy: offered.policies.into_iter().reduce(|first, second| policy::both(first, Some(second))),
        page_context: None,
        sources: offered.sources,
        instructions: agent.instructions.as_ref().and_then(Value::as_str).map(str::to_owned),
        tools: offered.tools,
        searches_attachments: offered.searches_attachments,
        routes: agent.routes,
        recorder: None,
        settings: settings(config, agent),
    };
    Ok(Some(Arc::new(agent)))
}

/// Returns the endpoint tools of an agent, not yet bound to a caller.
pub(super) fn endpoint_tools(
    agent: &config::Agent,
    endpoints: &Arc<Endpoints>,
) -> anyhow::Result<Vec<(EndpointTool, Annotations)>> {
    let tools = agent.tools.iter().map(|tool| {
        let approval = ApprovalTerms::new(tool.confirm, tool.visible_parameters.clone());
        let built = endpoints.tool(&tool.endpoint_id, &tool.name, tool.confirm.is_some(), approval);
        let built = built.ok_or_else(|| anyhow!("{}: the endpoint `{}` is not a tool", agent.at, tool.endpoint_id))?;
        Ok((built, tool.annotations.into()))
    });
    tools.collect()
}

/// Returns the tools that depend on neither page nor caller: files and questions to the user.
fn tools(config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if let Some(config::FileSystem { base_path, annotations: marks }) = &agent.file_system {
        let opened = tools::file_system::open(base_path, config.limits.tool);
        let opened = opened.with_context(|| format!("{}: cannot open {}", agent.at, base_path.display()))?;
        tools.extend(opened.into_iter().map(|tool| annotated(tool, (*marks).into())));
    }
    if agent.ask_user {
        tools.push(Arc::new(AskUserTool::default()));
    }
    Ok(tools)
}
