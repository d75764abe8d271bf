//! `readsPrivate`, `returnsUntrusted` and `egress`: what a tool does with data; `idempotent`: whether a call may be made twice. An agent that has read private data and text from
//! outside may be talked into sending the one where the other wants it, so it asks the user before it sends anything.
//!
//! What is read is marked by what is known of a tool, since that alone asks nobody anything. What sends is marked by the config alone, so
//! that nothing asks all at once; where it looks as if something should be marked, there is a warning.

use super::value::{Text, patterns};
use super::{Context, routine};
use crate::agent::{Agent, Marked, Marks, SourceMarks};
use crate::config::{Config, McpTransport};
use crate::source::{Node, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashSet;

/// Marks of one tool.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MarksEntry {
    /// Whether its result may hold what not everybody should read. Without it, an endpoint that asks a database does.
    pub(super) reads_private: Option<bool>,
    /// Whether its result may be anybody's words, with instructions in them. Without it, that of an endpoint that asks a web service may.
    pub(super) returns_untrusted: Option<bool>,
    /// Whether it can send something to others: the user is asked before a call once the agent has read both.
    pub(super) egress: Option<bool>,
    /// Whether the same call, made twice, does no more than once. One that was cut off when the server died is then made once more when
    /// the answer goes on; without it the user is asked.
    pub(super) idempotent: Option<bool>,
}

/// Marks of a server's tools.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceMarksEntry {
    /// Whether results may hold what not everybody should read: of all its tools, or of those that match a pattern. Without it, those of
    /// a program that is started here may.
    reads_private: Option<MarkEntry>,
    /// Whether results may be anybody's words, with instructions in them. Without it, all may.
    returns_untrusted: Option<MarkEntry>,
    /// Which can send something to others: the user is asked before their calls once the agent has read both.
    egress: Option<MarkEntry>,
    /// Whose calls, made twice, do no more than once. One that was cut off when the server died is then made once more when the answer goes
    /// on; without it the user is asked.
    idempotent: Option<MarkEntry>,
}

/// Which of a server's tools.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum MarkEntry {
    /// All of them, or none.
    All(bool),
    /// Those whose names, as the server says them, match one of these patterns, as in `send_*`.
    These(Vec<Text>),
}

impl MarksEntry {
    /// Of a tool of which nothing else is known.
    pub(super) fn plain(self) -> Marks {
        Marks {
            reads_private: self.reads_private.unwrap_or_default(),
            returns_untrusted: self.returns_untrusted.unwrap_or_default(),
            egress: self.egress,
            idempotent: self.idempotent.unwrap_or_default(),
        }
    }

    /// Of an endpoint as a tool.
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

/// Steps that answer rows; a change does with `RETURNING`.
const DATABASE: [&str; 2] = ["SqlQuery", "SqlExecute"];

impl SourceMarksEntry {
    /// Of the server at `node`.
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

/// The types of an endpoint's steps, those of endpoints that it calls included.
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

/// What an agent and those below it have, by name.
#[derive(Default)]
struct Holds {
    private: Vec<String>,
    untrusted: Vec<String>,
    /// What can send something, and neither says so nor asks.
    unsaid: Vec<String>,
}

/// Warns of agents that can be talked into giving data away, and of which nobody has said whether that is meant.
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
