//! The agents of the config: their settings without secrets, their usage, and questions that an
//! administrator asks them.

mod api;
mod list;
mod pages;

use crate::state::ConsoleState;
use ::agent::{PolicySettings, RuleAction};
use ::custom_agents::{OWN_PREFIX, PREFIX as CUSTOM_PREFIX};
use auth::password::now_millis;
use chat::TextOrigin;
use config::{Agent, Config};
use contract::{Execution, RunScope, Tool};
use futures::StreamExt;
use futures::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use store::{RecentRun, UsageFilter, UsageTotals};
use web::admin::filters::DAY_MS;
use web::admin::{Admin, from_store_error};
use web::openapi::ApiRouter;
use wire::api::{RunOptions, SendRequest, Submission};
use wire::organize::ConversationChange;
use wire::{UiMessage, UserError};

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    web::admin::list::routes::<list::AgentList>().merge(api::routes()).with_pages(pages::routes())
}

/// The number of days whose usage is shown.
const USAGE_DAYS: i64 = 7;
/// The timeout for listing the tools of an agent's servers.
const TOOL_LIST_TIMEOUT: Duration = Duration::from_secs(15);
/// The time to wait for an answer before the page shows the conversation.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum length of a test conversation's title, in characters.
const MAX_TITLE: usize = 60;
/// The prefix of a test conversation's title.
const TEST_PREFIX: &str = "Test: ";

/// An agent in the list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentRow {
    /// The agent.
    pub(crate) id: String,
    /// The name of a custom agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Its model.
    pub(crate) model: String,
    /// The type of its connection.
    pub(crate) provider: &'static str,
    /// The users who may chat with it, as the end of a sentence.
    pub(crate) auth: String,
    /// The usage of the last seven days, including today.
    pub(crate) used: UsageTotals,
}

fn agent_row(config: &Config, agent: &Agent, used: &[(String, UsageTotals)]) -> AgentRow {
    let of = used.iter().find(|(id, _)| *id == agent.id);
    AgentRow {
        id: agent.id.clone(),
        name: custom_name(config, &agent.id),
        model: if agent.model.is_empty() { "dynamic".to_owned() } else { agent.model.clone() },
        provider: config.connections.get(&agent.connection_id).map_or("", |connection| connection.kind.name()),
        auth: agent.auth.to_string(),
        used: of.map(|(_, used)| *used).unwrap_or_default(),
    }
}

/// Returns the name of an agent that was made at run time: the title of its page, with a mark.
fn custom_name(config: &Config, id: &str) -> Option<String> {
    let marks = [(CUSTOM_PREFIX, "custom"), (OWN_PREFIX, "created by a user")];
    let (_, mark) = marks.into_iter().find(|(prefix, _)| id.starts_with(prefix))?;
    let page = config.pages.iter().find(|page| page.definition.id == id)?;
    page.definition.title.as_ref().map(|title| format!("{title} ({mark})"))
}

async fn usage_by_agent(state: &ConsoleState) -> Result<Vec<(String, UsageTotals)>, UserError> {
    let today = now_millis().div_euclid(DAY_MS);
    let used = state
        .store
        .usage_by_agent(&UsageFilter::days(today - USAGE_DAYS + 1, today))
        .await
        .map_err(from_store_error)?;
    Ok(used.into_iter().map(|used| (used.agent_id, used.totals)).collect())
}

/// An agent with its settings and last runs.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentDetail {
    #[serde(flatten)]
    pub(crate) line: AgentRow,
    /// The instructions: a text, or an operator that is evaluated for each turn.
    pub(crate) instructions: Option<Value>,
    /// The other settings of the config, by name.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// The last runs in conversations, newest first.
    pub(crate) runs: Vec<RecentRun>,
}

pub(crate) async fn agent_detail(state: &ConsoleState, id: &str) -> Result<AgentDetail, UserError> {
    let config = state.host.config();
    let agent = config.agents.get(id).ok_or_else(UserError::not_found)?;
    let shell = state.host.shell_level(id).map(|level| ("Commands run", level.to_owned()));
    Ok(AgentDetail {
        line: agent_row(&config, agent, &usage_by_agent(state).await?),
        instructions: agent.instructions.clone(),
        settings: settings(agent, &config).into_iter().chain(shell).collect(),
        runs: state.store.recent_runs(id).await.map_err(from_store_error)?,
    })
}

/// Returns the settings to show. Of a connection only the name and of provider options only the
/// provider's name, since both may contain secrets.
fn settings(agent: &Agent, config: &Config) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    let mut add = |name, value: Option<String>| {
        settings.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)))
    };
    let list = |texts: &[String]| texts.join(", ");
    let (own, limits) = (&agent.settings, &agent.settings.limits);
    let later = agent.dynamic_properties.iter().flat_map(|later| &later.properties);
    add("Dynamic properties", Some(later.map(|property| property.name.clone()).collect::<Vec<_>>().join(", ")));
    add("Declared at", Some(config_location(&agent.at.to_string(), config)));
    add("Models", agent.models.as_ref().map(|allowed| list(&allowed.ids)));
    add("Connection", Some(agent.connection_id.clone()));
    let fallbacks =
        agent.fallback_models.iter().map(|fallback| format!("{} ({})", fallback.model, fallback.connection_id));
    add("Fallback models", Some(fallbacks.collect::<Vec<_>>().join(", ")));
    add("Model requests per turn", Some(own.max_steps.to_string()));
    add("Retries", Some(own.max_retries.to_string()));
    add("Maximum requests", limits.requests.map(|most| most.to_string()));
    add("Maximum tokens", limits.total_tokens.map(|most| most.to_string()));
    add("Maximum tool calls", limits.tool_calls.map(|most| most.to_string()));
    add("Maximum cost (US dollars)", limits.cost_usd.map(|most| most.to_string()));
    add("Maximum turn time", limits.time.or(own.timeouts.total).map(|time| format!("{} s", time.as_secs())));
    add("Maximum reply length", own.sampling.max_output_tokens.map(|tokens| format!("{tokens} tokens")));
    add("Temperature", own.sampling.temperature.map(|value| value.to_string()));
    add("Active tools", own.active_tools.as_deref().map(list));
    add("Endpoints", Some(agent.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>().join(", ")));
    add("MCP servers", Some(agent.mcp.iter().map(|server| server.name.clone()).collect::<Vec<_>>().join(", ")));
    let remote = agent.remote_agents.iter().map(|remote| remote.connection_id.clone());
    add("Remote agents", Some(remote.collect::<Vec<_>>().join(", ")));
    add("Sub-agents", Some(agent.agents.iter().map(|below| below.agent_id.clone()).collect::<Vec<_>>().join(", ")));
    add("Policy", agent.policy.as_ref().map(policy_text));
    add("File access", agent.file_system.is_some().then(|| "yes".to_owned()));
    add("Can ask the user", agent.ask_user.then(|| "yes".to_owned()));
    add("Page context", agent.page_context.then(|| "yes".to_owned()));
    let options = own.provider_options.keys().cloned().collect::<Vec<_>>();
    add("Provider options for", Some(options.join(", ")));
    settings
}

/// Returns a location in the config, relative to the config's folder.
fn config_location(at: &str, config: &Config) -> String {
    let folder = config.folder.as_ref().map(|folder| folder.join("").display().to_string());
    folder.and_then(|folder| at.strip_prefix(&folder).map(str::to_owned)).unwrap_or_else(|| at.to_owned())
}

fn policy_text(policy: &PolicySettings) -> String {
    let action = |action| match action {
        RuleAction::Allow => "allow",
        RuleAction::Ask => "ask",
        RuleAction::Deny => "deny",
    };
    let endpoint =
        policy.endpoint_id.as_ref().map(|id| format!(", then the endpoint {id} decides")).unwrap_or_default();
    format!("{} rules, else {}{endpoint}", policy.rules.len(), action(policy.default))
}

/// A tool that an agent has now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LiveTool {
    /// The name.
    pub(crate) name: String,
    /// The description for the model.
    pub(crate) description: String,
    /// The MCP server or remote agent that offers it; absent for tools of the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    /// Whether the tool asks for approval before each call.
    pub(crate) asks: bool,
    /// Whether it runs in the user's browser.
    pub(crate) in_browser: bool,
    /// The arguments as a JSON Schema.
    pub(crate) input_schema: Value,
}

/// Returns the tools that an agent has for an administrator now, and the errors of servers that did
/// not list their tools. Requests the lists from the servers.
pub(crate) async fn tools(
    state: &ConsoleState,
    admin: &Admin,
    id: &str,
) -> Result<(Vec<LiveTool>, Vec<String>), UserError> {
    let agent = state.host.by_id(&admin.caller, id).await?;
    let mut tools: Vec<_> = agent.tools.iter().map(|tool| live_tool(tool, None)).collect();
    let scope = RunScope { agent_id: agent.id.clone(), ..admin.caller.scope() };
    let asked = join_all(agent.sources.iter().map(|source| async {
        (source.name().to_owned(), tokio::time::timeout(TOOL_LIST_TIMEOUT, source.tools(&scope)).await)
    }));
    let mut problems = Vec::new();
    for (name, answer) in asked.await {
        match answer {
            Ok(Ok(sourced)) => tools.extend(sourced.tools.iter().map(|tool| live_tool(tool, Some(&name)))),
            Ok(Err(error)) => problems.push(error.message),
            Err(_) => problems.push(format!("`{name}` did not list its tools in time.")),
        }
    }
    Ok((tools, problems))
}

fn live_tool(tool: &Arc<dyn Tool>, source: Option<&str>) -> LiveTool {
    let spec = tool.spec();
    LiveTool {
        name: spec.name.clone(),
        description: spec.description.clone(),
        source: source.map(str::to_owned),
        asks: spec.needs_approval,
        in_browser: spec.execution != Execution::Server,
        input_schema: spec.input_schema.clone(),
    }
}

/// Asks an agent as the administrator, in a temporary conversation that is marked as a test, and
/// returns its id. Waits until the answer has ended, or for [`ANSWER_TIMEOUT`] at most.
pub(crate) async fn ask(state: &ConsoleState, admin: &Admin, id: &str, question: &str) -> Result<String, UserError> {
    let current = &state.host;
    if !current.config().agents.contains_key(id) {
        return Err(UserError::not_found());
    }
    let question = question.trim();
    if question.is_empty() {
        return Err(UserError::invalid("/text", "The question is empty."));
    }
    let page_id = current.page_for_agent(&admin.caller, id).ok_or_else(|| {
        UserError::invalid(
            "/id",
            "You cannot chat with this agent: no page has it, or your roles do not allow the page or the agent. See `auth` in the config.",
        )
    })?;
    let chat = &state.chat;
    let conversation_id = uuid::Uuid::now_v7().simple().to_string();
    admin.record(&state.store, "ask_agent", &conversation_id, json!({ "agentId": id })).await?;
    // A test says nothing about the administrator.
    let message = UiMessage::user(uuid::Uuid::now_v7().simple().to_string(), question);
    let message = TextOrigin::Program.mark(message);
    let request = SendRequest {
        page_id,
        block_id: None,
        agent_id: id.to_owned(),
        conversation_id: conversation_id.clone(),
        submission: Submission::Message { message, replaces: None, history: Vec::new() },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: RunOptions::default(),
    };
    let sent = chat.send(&admin.caller, request).await?;
    let title =
        Some(question.chars().take(MAX_TITLE).fold(TEST_PREFIX.to_owned(), |title, sign| format!("{title}{sign}")));
    let change = ConversationChange { title, temporary: Some(true), ..ConversationChange::default() };
    chat.change(&admin.caller, vec![conversation_id.clone()], change).await?;
    // A longer answer continues, and is on the page when it is reloaded.
    let _ = tokio::time::timeout(ANSWER_TIMEOUT, sent.frames.for_each(|_| std::future::ready(()))).await;
    Ok(conversation_id)
}
