//! The agents of the config: what each is made of, without secrets, and how it does. And one of them asked by an administrator.

use super::lists::{DAY, filled, numbered};
use super::{Admin, of_store};
use crate::auth::password::now;
use crate::compose::CUSTOM_PREFIX;
use crate::router::AppState;
use chat::Agents;
use config::{Agent, Config, PolicyAction};
use contract::{Execution, Tool};
use futures::StreamExt;
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use store::{Place, RecentRun, Used};
use wire::api::{SendRequest, Submission};
use wire::order::ConversationChange;
use wire::{UiMessage, UserError};

/// Days whose use is shown.
const DAYS: i64 = 7;
/// For the servers behind an agent's tools.
const LOOK: Duration = Duration::from_secs(15);
/// For an answer, before the administrator is shown how far it has come.
const PATIENCE: Duration = Duration::from_secs(60);
/// Characters of a test's title.
const MAX_TITLE: usize = 60;
/// What a test's title begins with.
const TEST: &str = "Test: ";

/// Which agents, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct AgentQuery {
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) sort: SortQuery,
    pub(super) after: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SortQuery {
    /// As in the config.
    #[default]
    Config,
    Name,
    Requests,
    Errors,
    Slowest,
    Cost,
}

impl SortQuery {
    /// Each with its name, in an address and on a page.
    pub(super) const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Config, "config", "Config order"),
        (Self::Name, "name", "By name"),
        (Self::Requests, "requests", "Most requests first"),
        (Self::Errors, "errors", "Most errors first"),
        (Self::Slowest, "slowest", "Slowest first"),
        (Self::Cost, "cost", "Most expensive first"),
    ];

    /// What is the same stays as in the config.
    fn sort(self, lines: &mut [AgentLine]) {
        let most = |of: fn(&Used) -> f64| move |a: &AgentLine, b: &AgentLine| of(&b.used).total_cmp(&of(&a.used));
        match self {
            Self::Config => {}
            Self::Name => lines.sort_by_cached_key(|line| line.name.as_ref().unwrap_or(&line.id).to_lowercase()),
            Self::Requests => lines.sort_by(most(|used| used.steps as f64)),
            Self::Errors => lines.sort_by(most(|used| used.failures as f64)),
            Self::Slowest => lines.sort_by(most(|used| used.whole_ms / used.steps.max(1) as f64)),
            Self::Cost => lines.sort_by(most(|used| used.cost_usd)),
        }
    }
}

/// A line of the list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentLine {
    pub(super) id: String,
    /// What an administrator called it who made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) model: String,
    /// The type of its connection.
    pub(super) provider: &'static str,
    /// Who may ask it, as the end of a sentence.
    pub(super) auth: String,
    /// What was used in the last seven days, today included.
    pub(super) used: Used,
}

/// A page of the list, each line with the place after it: its number.
pub(super) async fn found(state: &AppState, query: &AgentQuery) -> Result<Vec<(AgentLine, Place)>, UserError> {
    let (config, text) = (state.composition.current.config(), filled(query.text.as_deref()));
    let used = used(state).await?;
    let fits = |agent: &&Agent| text.as_ref().is_none_or(|text| agent.id.contains(text) || agent.model.contains(text));
    let mut lines: Vec<_> = config.agents.values().filter(fits).map(|agent| line(&config, agent, &used)).collect();
    query.sort.sort(&mut lines);
    numbered(lines, query.after.as_deref())
}

fn line(config: &Config, agent: &Agent, used: &[(String, Used)]) -> AgentLine {
    let of = used.iter().find(|(id, _)| *id == agent.id);
    AgentLine {
        id: agent.id.clone(),
        name: custom_name(config, &agent.id),
        model: if agent.model.is_empty() { "by operator".to_owned() } else { agent.model.clone() },
        provider: config.connections.get(&agent.connection_id).map_or("", |connection| connection.kind.name()),
        auth: agent.auth.to_string(),
        used: of.map(|(_, used)| *used).unwrap_or_default(),
    }
}

/// A custom agent is called like its page, and marked.
fn custom_name(config: &Config, id: &str) -> Option<String> {
    let page = config.pages.iter().find(|page| id.starts_with(CUSTOM_PREFIX) && page.definition.id == id)?;
    page.definition.title.as_ref().map(|title| format!("{title} (custom)"))
}

async fn used(state: &AppState) -> Result<Vec<(String, Used)>, UserError> {
    let today = now().div_euclid(DAY);
    let used = state.composition.store.used_by_agent(today - DAYS + 1, today).await.map_err(of_store)?;
    Ok(used.into_iter().map(|used| (used.agent_id, used.used)).collect())
}

/// An agent with its last runs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentDetail {
    #[serde(flatten)]
    pub(super) line: AgentLine,
    /// What it is told first: a text, or an operator that is evaluated for each turn.
    pub(super) instructions: Option<Value>,
    /// What else the config says of it, by name.
    pub(super) settings: Vec<(&'static str, String)>,
    pub(super) runs: Vec<RecentRun>,
}

pub(super) async fn one(state: &AppState, id: &str) -> Result<AgentDetail, UserError> {
    let config = state.composition.current.config();
    let agent = config.agents.get(id).ok_or_else(UserError::not_found)?;
    Ok(AgentDetail {
        line: line(&config, agent, &used(state).await?),
        instructions: agent.instructions.clone(),
        settings: settings(agent, &config),
        runs: state.composition.store.recent_runs(id).await.map_err(of_store)?,
    })
}

/// Nothing of a connection but its name, and of options for providers only for whom they are: both may hold secrets.
fn settings(agent: &Agent, config: &Config) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    let mut add = |name, value: Option<String>| {
        settings.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)))
    };
    let list = |texts: &[String]| texts.join(", ");
    let limits = &agent.limits;
    let later = agent.later.iter().flat_map(|later| &later.properties);
    add("Set for each turn", Some(later.map(|property| property.name.clone()).collect::<Vec<_>>().join(", ")));
    add("Declared at", Some(place(&agent.at.to_string(), config)));
    add("Connection", Some(agent.connection_id.clone()));
    let fallbacks =
        agent.fallback_models.iter().map(|fallback| format!("{} ({})", fallback.model, fallback.connection_id));
    add("Fallback models", Some(fallbacks.collect::<Vec<_>>().join(", ")));
    add("Model requests per turn", Some(agent.max_steps.to_string()));
    add("Retries", Some(agent.max_retries.to_string()));
    add("Maximum requests", limits.requests.map(|most| most.to_string()));
    add("Maximum tokens", limits.total_tokens.map(|most| most.to_string()));
    add("Maximum tool calls", limits.tool_calls.map(|most| most.to_string()));
    add("Maximum cost (US dollars)", limits.cost_usd.map(|most| most.to_string()));
    add("Maximum turn time", limits.time.or(agent.timeouts.total).map(|time| format!("{} s", time.as_secs())));
    add("Maximum reply length", agent.sampling.max_output_tokens.map(|tokens| format!("{tokens} tokens")));
    add("Temperature", agent.sampling.temperature.map(|value| value.to_string()));
    add("Active tools", agent.active_tools.as_deref().map(list));
    add("Endpoints", Some(agent.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>().join(", ")));
    add("MCP servers", Some(agent.mcp.iter().map(|server| server.name.clone()).collect::<Vec<_>>().join(", ")));
    let remote = agent.remote_agents.iter().map(|remote| remote.connection_id.clone());
    add("Remote agents", Some(remote.collect::<Vec<_>>().join(", ")));
    add("Sub-agents", Some(agent.agents.iter().map(|below| below.agent_id.clone()).collect::<Vec<_>>().join(", ")));
    add("Policy", agent.policy.as_ref().map(policy));
    add("File access", agent.file_system.is_some().then(|| "yes".to_owned()));
    add("Can ask the user", agent.ask_user.then(|| "yes".to_owned()));
    add("Page context", agent.page_context.then(|| "yes".to_owned()));
    let options = agent.provider_options.keys().cloned().collect::<Vec<_>>();
    add("Provider options for", Some(options.join(", ")));
    settings
}

/// A place in the config, as it stands in the config's folder.
fn place(at: &str, config: &Config) -> String {
    let folder = config.folder.as_ref().map(|folder| folder.join("").display().to_string());
    folder.and_then(|folder| at.strip_prefix(&folder).map(str::to_owned)).unwrap_or_else(|| at.to_owned())
}

fn policy(policy: &config::Policy) -> String {
    let action = |action| match action {
        PolicyAction::Allow => "allow",
        PolicyAction::Ask => "ask",
        PolicyAction::Deny => "deny",
    };
    let endpoint =
        policy.endpoint_id.as_ref().map(|id| format!(", then the endpoint {id} decides")).unwrap_or_default();
    format!("{} rules, else {}{endpoint}", policy.rules.len(), action(policy.default))
}

/// A tool as it is offered now.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveTool {
    pub(super) name: String,
    pub(super) description: String,
    /// The server that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    /// Whether the user is asked before each call, as far as the tool says so.
    pub(super) asks: bool,
    /// Whether it runs in the user's browser.
    pub(super) in_browser: bool,
    pub(super) input_schema: Value,
}

/// The tools that an agent has for an administrator at this moment, and what is wrong with the servers that have none. The servers are
/// asked.
pub(super) async fn tools(
    state: &AppState,
    admin: &Admin,
    id: &str,
) -> Result<(Vec<LiveTool>, Vec<String>), UserError> {
    let agent = state.composition.current.by_id(&admin.0, id).await?;
    let mut tools: Vec<_> = agent.tools.iter().map(|tool| live(tool, None)).collect();
    let asked = join_all(agent.sources.iter().map(|source| async {
        (source.name().to_owned(), tokio::time::timeout(LOOK, source.tools(&admin.0.user_id)).await)
    }));
    let mut problems = Vec::new();
    for (name, answer) in asked.await {
        match answer {
            Ok(Ok(sourced)) => tools.extend(sourced.tools.iter().map(|tool| live(tool, Some(&name)))),
            Ok(Err(error)) => problems.push(error.message),
            Err(_) => problems.push(format!("`{name}` did not list its tools in time.")),
        }
    }
    Ok((tools, problems))
}

fn live(tool: &Arc<dyn Tool>, source: Option<&str>) -> LiveTool {
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

/// Asks an agent as the administrator, in a conversation of his own that says so and goes after a while; its id. Answers when the
/// answer has ended, or takes long.
pub(super) async fn ask(state: &AppState, admin: &Admin, id: &str, question: &str) -> Result<String, UserError> {
    let current = &state.composition.current;
    if !current.config().agents.contains_key(id) {
        return Err(UserError::not_found());
    }
    let question = question.trim();
    if question.is_empty() {
        return Err(UserError::invalid("/text", "The question is empty."));
    }
    let page_id = current.page_for(&admin.0, id).ok_or_else(|| {
        UserError::invalid(
            "/id",
            "You cannot chat with this agent: no page has it, or your roles do not allow the page or the agent. See `auth` in the config.",
        )
    })?;
    let (store, chat) = (&state.composition.store, &state.composition.chat);
    let conversation_id = uuid::Uuid::now_v7().simple().to_string();
    let entry = admin.entry("ask_agent", &conversation_id, json!({ "agentId": id }));
    store.enter_audit(entry).await.map_err(of_store)?;
    let message = UiMessage::user(uuid::Uuid::now_v7().simple().to_string(), question);
    let request = SendRequest {
        page_id,
        block_id: None,
        agent_id: id.to_owned(),
        conversation_id: conversation_id.clone(),
        submission: Submission::Message { message, replaces: None, history: Vec::new() },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
    };
    let sent = chat.send(&admin.0, request).await?;
    let title = Some(question.chars().take(MAX_TITLE).fold(TEST.to_owned(), |title, sign| format!("{title}{sign}")));
    let change = ConversationChange { title, temporary: Some(true), ..ConversationChange::default() };
    chat.change(&admin.0, vec![conversation_id.clone()], change).await?;
    // An answer that takes longer goes on, and is there when the page is loaded again.
    let _ = tokio::time::timeout(PATIENCE, sent.frames.for_each(|_| std::future::ready(()))).await;
    Ok(conversation_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders() {
        let line = |id: &str, steps: i64, failures: i64, whole_ms: f64, cost_usd: f64| AgentLine {
            id: id.to_owned(),
            name: (id == "c").then(|| "Assistant".to_owned()),
            model: String::new(),
            provider: "",
            auth: String::new(),
            used: Used { steps, failures, whole_ms, cost_usd, ..Used::default() },
        };
        let check = |sort: SortQuery, expected: &str| {
            let mut lines = vec![
                line("b", 2, 0, 200.0, 0.5),
                line("c", 9, 0, 300.0, 0.1),
                line("a", 0, 0, 0.0, 0.0),
                line("D", 1, 4, 90.0, 0.1),
            ];
            sort.sort(&mut lines);
            assert_eq!(lines.iter().map(|line| line.id.as_str()).collect::<String>(), expected);
        };
        check(SortQuery::Config, "bcaD");
        check(SortQuery::Name, "acbD");
        check(SortQuery::Requests, "cbDa");
        check(SortQuery::Errors, "Dbca");
        check(SortQuery::Slowest, "bDca");
        check(SortQuery::Cost, "bcDa");
    }
}
