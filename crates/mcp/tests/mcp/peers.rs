//! Starts servers, and shows them as an agent sees them.

use contract::{Tool, ToolContext, ToolError, ToolSource};
use mcp::{
    AskUser, HttpServerSettings, McpFeatures, McpSelection, McpServer, McpSettings, McpSource, McpTransport,
    StdioSettings,
};
use secrecy::SecretString;
use serde_json::Value;
use settings::ToolSelection;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Returns a path in the repository.
pub(crate) fn repository(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    root.join(path).display().to_string()
}

/// Returns a path in an npm package of the journeys, which `cargo xtask test` installs first.
pub(crate) fn npm(package: &str) -> String {
    let path = repository(&format!("end2end/node_modules/@modelcontextprotocol/{package}/dist/index.js"));
    assert!(std::path::Path::new(&path).exists(), "`npm ci` has not been run in end2end; `cargo xtask test` does");
    path
}

/// Returns the settings of a Node program.
pub(crate) fn node(args: &[&str]) -> McpSettings {
    program("node", args)
}

pub(crate) fn program(command: &str, args: &[&str]) -> McpSettings {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    let env = vec![("GREETING".to_owned(), SecretString::from("hello"))];
    let transport = McpTransport::Stdio(StdioSettings { command: command.to_owned(), args, env, folder: None });
    McpSettings { name: "peer".to_owned(), transport, shared: false, features: McpFeatures::default() }
}

pub(crate) fn address(url: &str) -> HttpServerSettings {
    HttpServerSettings {
        url: url.parse().unwrap(),
        headers: Vec::new(),
        allow_private: true,
        oauth: None,
        user_auth: None,
    }
}

pub(crate) fn everything() -> McpSelection {
    let (prefix, timeout) = (String::new(), Duration::from_secs(20));
    let approval = contract::ApprovalTerms::default();
    McpSelection { tools: ToolSelection::default(), prefix, confirm: false, approval, timeout, idempotent_hint: false }
}

/// An agent's view of a server.
pub(crate) struct Peer {
    pub(crate) source: McpSource,
}

impl Peer {
    pub(crate) fn new(settings: McpSettings) -> Self {
        Self::selecting(settings, everything())
    }

    pub(crate) fn selecting(settings: McpSettings, selection: McpSelection) -> Self {
        let server = Arc::new(McpServer::new(settings));
        Self { source: McpSource::new(server, selection).unwrap() }
    }

    /// A server that may ask users something.
    pub(crate) fn asking(settings: McpSettings, ask: Arc<dyn AskUser>) -> Self {
        let server = Arc::new(McpServer::new(settings).asking(ask));
        Self { source: McpSource::new(server, everything()).unwrap() }
    }

    pub(crate) async fn tools(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(self.source.tools(&scope_of("ada")).await?.tools)
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        self.tools().await.unwrap().iter().map(|tool| tool.spec().name.clone()).collect()
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Result<Value, String> {
        self.call_as("ada", tool, input, context()).await
    }

    pub(crate) async fn call_as(
        &self,
        user: &str,
        tool: &str,
        input: Value,
        context: ToolContext,
    ) -> Result<Value, String> {
        let tools = self.source.tools(&scope_of(user)).await.map_err(|error| error.message)?.tools;
        let tool = tools.iter().find(|known| known.spec().name == tool).expect("the server has the tool");
        tool.call(input, context).await.map_err(|error| error.message)
    }
}

pub(crate) fn context() -> ToolContext {
    ToolContext {
        call_id: "call".to_owned(),
        scope: Arc::new(contract::RunScope {
            user_id: "ada".to_owned(),
            conversation_id: "conversation".to_owned(),
            ..contract::RunScope::default()
        }),
        cancel: CancellationToken::new(),
        reports: contract::CallReports::default(),
        may_repeat: false,
        models: contract::ModelUse::default(),
    }
}

/// The scope of a run for a user.
pub(crate) fn scope_of(user: &str) -> contract::RunScope {
    contract::RunScope { user_id: user.to_owned(), ..contract::RunScope::default() }
}
