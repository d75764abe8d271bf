//! The capability: the MCP servers of the config, and their tools for its agents.

use crate::content::PromptInfo;
use crate::questions::{self, ConversationQuestions};
use crate::{McpSelection, McpServer, McpSettings, McpSource, apps};
use anyhow::anyhow;
use capability::{
    AgentTools, Capability, Context, Definition, Host, Job, LifecycleEvent, ServiceTokens, ToolServerStatus,
    annotated_source,
};
use config::{Config, McpConnection, McpRef};
use contract::{ApprovalTerms, ToolSource};
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Weak};
use std::time::Duration;
use web::openapi::ApiRouter;
use web::times::now_millis;

/// The capability.
pub const DEFINITION: Definition =
    Definition { tables: Some(questions::TABLES), start: Some(start), ..Definition::new("mcp") };

fn start(host: &Host) -> anyhow::Result<Arc<dyn Capability>> {
    let ask = Arc::new(ConversationQuestions(host.store.clone()));
    host.tokens.ask_with(ask.clone());
    Ok(Arc::new(McpServers { servers: Arc::default(), ask, tokens: host.tokens.clone() }))
}

/// The MCP servers that agents use. Agents with the same settings share a server, which keeps its
/// connections across reloads of the config for as long as its settings stay the same.
#[derive(Clone)]
pub(crate) struct McpServers {
    servers: Arc<Mutex<Vec<Weak<McpServer>>>>,
    /// Asks users the questions of servers.
    ask: Arc<ConversationQuestions>,
    /// The tokens of users for servers that are called on their behalf.
    tokens: ServiceTokens,
}

/// How often idle connections are closed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);
/// How often servers are asked for their prompts until they have answered, and composers get new ones.
const PROMPTS_INTERVAL: Duration = Duration::from_secs(10);
/// How often questions are deleted that a killed server has left.
const QUESTIONS_INTERVAL: Duration = Duration::from_secs(3600);

impl McpServers {
    /// Returns the servers that agents use.
    fn all(&self) -> Vec<Arc<McpServer>> {
        self.servers.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns the server with these settings.
    fn server(&self, settings: McpSettings) -> Arc<McpServer> {
        let mut servers = self.servers.lock();
        servers.retain(|server| server.strong_count() > 0);
        let known = servers.iter().filter_map(Weak::upgrade).find(|server| server.has_settings(&settings));
        known.unwrap_or_else(|| {
            let server = Arc::new(McpServer::new(settings).asking(self.ask.clone()).with_tokens(self.tokens.clone()));
            servers.push(Arc::downgrade(&server));
            server
        })
    }

    /// Asks servers for prompts that are not known, and builds composers anew if there are new ones.
    async fn find_prompts(&self, context: &Context) -> anyhow::Result<()> {
        let servers = self.all();
        let found = join_all(servers.iter().map(|server| server.find_prompts())).await;
        if !found.contains(&true) {
            return Ok(());
        }
        let refreshed = context.current.refresh_additions().await;
        if refreshed.is_err() {
            servers.iter().zip(found).filter(|(_, is_new)| *is_new).for_each(|(server, _)| server.tell_again());
        }
        refreshed
    }

    /// Returns a server of an agent, and which of its tools the agent uses.
    pub(crate) fn used(&self, config: &Config, used: &McpRef) -> (Arc<McpServer>, McpSelection) {
        let server = self.server(settings(used));
        let selection = McpSelection {
            tools: used.tools.clone(),
            prefix: used.prefix.clone(),
            confirm: used.confirm.is_some(),
            approval: ApprovalTerms::new(used.confirm, None),
            timeout: used.timeout.unwrap_or(config.limits.tool),
            idempotent_hint: used.idempotent_hint,
        };
        (server, selection)
    }

    fn source(&self, config: &Config, used: &McpRef) -> anyhow::Result<Arc<dyn ToolSource>> {
        let (server, selection) = self.used(config, used);
        let source = McpSource::new(server, selection).map_err(|error| anyhow!(error))?;
        annotated_source(Arc::new(source), &used.prefix, &used.annotations)
    }
}

impl Capability for McpServers {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let sources = agent.mcp.iter().map(|used| self.source(config, used));
        Ok(AgentTools { sources: sources.collect::<anyhow::Result<_>>()?, ..AgentTools::default() })
    }

    fn composer(&self, _: &Config, agent: &config::Agent) -> Map<String, Value> {
        let with_prompts = agent.mcp.iter().filter(|used| used.server.features.prompts);
        let commands = with_prompts.flat_map(|used| {
            let prompts = self.server(settings(used)).known_prompts();
            let command = |prompt: &PromptInfo| {
                let name = format!("{}{}", used.prefix, prompt.name);
                json!({ "name": name, "description": prompt.about, "text": format!("/{name} ") })
            };
            prompts.iter().map(command).collect::<Vec<_>>()
        });
        let commands: Vec<_> = commands.collect();
        let commands = (!commands.is_empty()).then(|| ("commands".to_owned(), commands.into()));
        commands.into_iter().collect()
    }

    fn tool_servers(&self) -> Vec<ToolServerStatus> {
        self.all().iter().map(|server| server.status()).collect()
    }

    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::UserDeleted { user_id } = event {
            self.all().iter().for_each(|server| server.forget_user(user_id));
        }
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(questions::routes(context.store.clone()).merge(apps::routes(self.clone(), context)))
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let servers = self.clone();
        let sweep = move || {
            servers.all().iter().for_each(|server| server.close_idle());
            std::future::ready(Ok(()))
        };
        let (servers, context) = (self.clone(), context.clone());
        let store = context.store.clone();
        let find = move || {
            let (servers, context) = (servers.clone(), context.clone());
            async move { servers.find_prompts(&context).await }
        };
        let delete = move || {
            let store = store.clone();
            async move { Ok(questions::delete_expired(&store, now_millis()).await?) }
        };
        vec![
            Job::on_each_server("close idle MCP connections", SWEEP_INTERVAL, sweep),
            Job::on_each_server("find prompts of MCP servers", PROMPTS_INTERVAL, find),
            Job::recurring("mcp.delete_questions", QUESTIONS_INTERVAL, delete),
        ]
    }
}

/// Returns the settings of a server.
fn settings(used: &McpRef) -> McpSettings {
    let McpConnection { transport, shared, features } = used.server.clone();
    McpSettings { name: used.name.clone(), transport, shared, features }
}
