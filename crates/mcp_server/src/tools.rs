//! The tools that a caller is offered. They follow the rights of the caller and the config in use.

use crate::agents;
use crate::call::Client;
use crate::section::{DOCUMENT_TOOLS, McpApi, OfferedAgent, OfferedEndpoint};
use auth::rights::{AccessDecision, check_rule};
use capability::Context;
use config::{Config, Endpoint};
use contract::Tool as ServerTool;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// A tool that a caller is offered.
pub(crate) enum Offered<'c> {
    /// An agent.
    Agent(&'c OfferedAgent),
    /// An endpoint.
    Endpoint(&'c OfferedEndpoint, &'c Endpoint),
    /// A tool for documents.
    Documents(Arc<dyn ServerTool>),
}

/// Returns the tools of a caller, in the order of the config.
pub(crate) fn offered<'c>(context: &Context, config: &'c Config, client: &Client) -> Vec<Offered<'c>> {
    let Some(section) = config.section::<McpApi>() else { return Vec::new() };
    let caller = &client.caller;
    let usable = context.current.usable_agents(caller);
    // A conversation is shown on a page.
    let is_usable = |agent: &&OfferedAgent| {
        usable.contains(&agent.agent_id) && context.current.page_for_agent(caller, &agent.agent_id).is_some()
    };
    let mut tools: Vec<_> = section.agents.iter().filter(is_usable).map(Offered::Agent).collect();
    let endpoints = section.endpoints.iter().filter(|_| client.may_call_endpoints());
    for entry in endpoints {
        let endpoint = config.endpoints.get(&entry.endpoint_id);
        let may_call = |endpoint: &&Endpoint| check_rule(caller, &endpoint.auth) == AccessDecision::Allowed;
        tools.extend(endpoint.filter(may_call).map(|endpoint| Offered::Endpoint(entry, endpoint)));
    }
    if section.documents && client.may_read_documents() {
        let all = context.current.user_tools().into_iter();
        let for_documents = all.filter(|tool| DOCUMENT_TOOLS.contains(&tool.spec().name.as_str()));
        tools.extend(for_documents.map(Offered::Documents));
    }
    tools
}

impl Offered<'_> {
    /// Returns the name.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Agent(agent) => agent.name().into(),
            Self::Endpoint(entry, _) => entry.name().into(),
            Self::Documents(tool) => tool.spec().name.as_str().into(),
        }
    }

    /// Returns the tool as clients see it.
    pub(crate) fn tool(&self) -> Tool {
        match self {
            Self::Agent(agent) => {
                let tool = tool(agent.name().to_owned(), agent.description(), &agents::input_schema());
                let tool = tool.with_raw_output_schema(object(&agents::output_schema()));
                // Whatever its tools may do, it adds to the conversation.
                tool.with_annotations(ToolAnnotations::new().read_only(false))
            }
            Self::Endpoint(entry, endpoint) => {
                let (name, about) = (entry.name(), endpoint.description.clone().unwrap_or_default());
                let schema = endpoint.payload_schema.clone().unwrap_or_default();
                let hints = ToolAnnotations::from_raw(None, entry.read_only, entry.destructive, entry.idempotent, None);
                let tool = tool(name, about, &schema);
                if hints == ToolAnnotations::default() { tool } else { tool.with_annotations(hints) }
            }
            Self::Documents(documents) => {
                let spec = documents.spec();
                let annotations =
                    ToolAnnotations::from_raw(None, Some(true), None, Some(spec.annotations.idempotent), Some(false));
                tool(spec.name.clone(), spec.description.clone(), &spec.input_schema).with_annotations(annotations)
            }
        }
    }
}

fn tool(name: String, description: String, schema: &Value) -> Tool {
    Tool::new(name, description, object(schema))
}

/// Returns the fields of a schema, which is an object.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
