//! Tool annotations: `readsPrivate`, `returnsUntrusted` and `egress` say what a tool does with
//! data, `idempotent` whether a call may be repeated. An agent that has read both private data and
//! untrusted text may be made to send the data away by instructions in the text, so the user must
//! approve what it sends from then on.
//!
//! `readsPrivate` and `returnsUntrusted` have defaults that depend on the tool, because alone they
//! require no approval. `egress` is never a default, so that no existing tool suddenly requires
//! approval; a warning suggests it where it seems to be missing.

use super::value::{Text, patterns};
use super::{Context, routine};
use crate::agent::{Agent, Marked, Marks, SourceMarks};
use crate::config::{Config, McpTransport};
use crate::source::{Node, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashSet;

/// Annotations of one tool.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MarksEntry {
    /// The results may hold private data. Default: `true` for an endpoint with a SQL request.
    pub(super) reads_private: Option<bool>,
    /// The results may hold text by anybody, with instructions in it. Default: `true` for an
    /// endpoint with an `Http` request.
    pub(super) returns_untrusted: Option<bool>,
    /// The tool can send data to others. Calls need the user's approval once the agent has read
    /// both private data and untrusted text.
    pub(super) egress: Option<bool>,
    /// Repeating a call has no further effect. A call that a crash of the server cut off is then
    /// repeated when the run continues; otherwise the user decides. Default: `false`.
    pub(super) idempotent: Option<bool>,
}

/// Annotations of the tools of an MCP server or a remote agent.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceMarksEntry {
    /// The tools whose results may hold private data: `true`, `false`, or patterns. Default: `true`
    /// for a program that the server starts.
    reads_private: Option<MarkEntry>,
    /// The tools whose results may hold text by anybody, with instructions in it. Default: `true`.
    returns_untrusted: Option<MarkEntry>,
    /// The tools that can send data to others. Calls need the user's approval once the agent has
    /// read both private data and untrusted text.
    egress: Option<MarkEntry>,
    /// The tools whose calls have no further effect when they are repeated. A call that a crash of
    /// the server cut off is then repeated when the run continues; otherwise the user decides.
    /// Default: `false`.
    idempotent: Option<MarkEntry>,
}

/// A selection of the tools of a server.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum MarkEntry {
    /// All tools, or none.
    All(bool),
    /// The tools whose original names match one of these patterns, such as `send_*`.
    These(Vec<Text>),
}

impl MarksEntry {
    /// Converts the annotations of a tool without defaults of its own.
    pub(super) fn plain(self) -> Marks {
        Marks {
            reads_private: self.reads_private.unwrap_or_default(),
            returns_untrusted: self.returns_untrusted.unwrap_or_default(),
            egress: self.egress,
            idempotent: self.idempotent.unwrap_or_default(),
        }
    }

    /// Converts the annotations of an endpoint. Defaults depend on its steps.
    pub(super) fn of_endpoint(self, id: &str, context: &Context<'_, '_>) -> Marks {
        let types = step_types(id, context);
        Marks {
            reads_private: self.reads_private.unwrap_or_else(|| DATABASE.iter().any(|name| types.contains(name))),
            returns_untrusted: self.returns_untrusted.unwrap_or_else(|| types.contains("Http")),
            egress: self.egress,
            idempotent: self.idempotent.unwrap_or_default(),
        }
    }
}

/// Steps that return rows. An `SqlExecute` does so with `RETURNING`.
const DATABASE: [&str; 2] = ["SqlQuery", "SqlExecute"];

impl SourceMarksEntry {
    /// Converts the annotations of the server at `node`. `is_private` is the default of
    /// `readsPrivate`.
    pub(super) fn read(self, is_private: bool, node: &Node, context: &mut Context<'_, '_>) -> SourceMarks {
        let mut read = |entry: Option<MarkEntry>, key| {
            Some(match entry? {
                MarkEntry::All(all) => Marked::All(all),
                MarkEntry::These(texts) => Marked::These(patterns(texts, node.at(&[Step::Key(key)]), context)),
            })
        };
        SourceMarks {
            reads_private: read(self.reads_private, "readsPrivate").unwrap_or(Marked::All(is_private)),
            returns_untrusted: read(self.returns_untrusted, "returnsUntrusted").unwrap_or(Marked::All(true)),
            egress: read(self.egress, "egress"),
            idempotent: read(self.idempotent, "idempotent").unwrap_or(Marked::All(false)),
        }
    }
}

/// Returns the types of an endpoint's steps, including those of endpoints that it calls.
fn step_types<'n>(id: &str, context: &Context<'n, '_>) -> HashSet<&'n str> {
    let (mut types, mut seen, mut open) = (HashSet::new(), HashSet::new(), vec![id]);
    while let Some(id) = open.pop() {
        let Some((id, node)) = context.endpoints.get_key_value(id) else { continue };
        if seen.insert(*id) {
            types.extend(routine::types(node));
            open.extend(routine::calls(node).into_iter().map(|(called, _)| called));
        }
    }
    types
}

/// The names of an agent's tools and those of its sub-agents, by what they do with data.
#[derive(Default)]
struct Holds {
    private: Vec<String>,
    untrusted: Vec<String>,
    /// Tools that can probably send data, but have no `egress` and need no approval.
    unsaid: Vec<String>,
}

/// Warns of agents that can be made to disclose private data by tools without an `egress`
/// annotation.
pub(super) fn check(config: &Config, context: &mut Context<'_, '_>) {
    for (id, agent) in &config.agents {
        let (mut holds, mut seen) = (Holds::default(), HashSet::new());
        gather(agent, config, context, &mut seen, &mut holds);
        let Holds { private, untrusted, unsaid } = holds;
        if private.is_empty() || untrusted.is_empty() || unsaid.is_empty() {
            continue;
        }
        let Some(at) = context.agents.get(id.as_str()).map(|node| node.at(&[Step::Key("id")])) else { continue };
        let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let message = format!(
            "the agent `{id}` reads private data ({}) and text from outside ({}), which may talk it into sending the data away with {}",
            list(&private),
            list(&untrusted),
            list(&unsaid)
        );
        let help = "say there `egress: true`, so that the user is asked once it has read both, or `egress: false`";
        context.report.warning(at, message, Some(help.to_owned()));
    }
}

fn gather<'c>(
    agent: &'c Agent,
    config: &'c Config,
    context: &Context<'_, '_>,
    seen: &mut HashSet<&'c str>,
    holds: &mut Holds,
) {
    if !seen.insert(&agent.id) {
        return;
    }
    for tool in &agent.tools {
        let sends = step_types(&tool.endpoint_id, context).contains("Http") && tool.confirm.is_none();
        holds.take(&tool.name, &SourceMarks::from(tool.marks), sends);
    }
    for server in &agent.mcp {
        let sends = !matches!(server.server.transport, McpTransport::Stdio(_)) && server.confirm.is_none();
        holds.take(&server.name, &server.marks, sends);
    }
    for remote in &agent.remote_agents {
        holds.take(&remote.connection_id, &remote.marks, remote.confirm.is_none());
    }
    if let Some(files) = &agent.file_system {
        holds.take("fileSystem", &SourceMarks::from(files.marks), false);
    }
    let of_pages = config.pages.iter().flat_map(|page| &page.client_tools);
    for tool in of_pages.filter(|tool| tool.agent_id == agent.id) {
        holds.take(&tool.name, &SourceMarks::from(tool.marks), false);
    }
    for below in agent.agents.iter().filter_map(|below| config.agents.get(&below.agent_id)) {
        gather(below, config, context, seen, holds);
    }
}

impl Holds {
    fn take(&mut self, name: &str, marks: &SourceMarks, sends: bool) {
        let may = [marks.reads_private.may_hold(), marks.returns_untrusted.may_hold(), sends && marks.egress.is_none()];
        for (names, is_one) in [&mut self.private, &mut self.untrusted, &mut self.unsaid].into_iter().zip(may) {
            if is_one && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
}
