//! Tool annotations: `readsPrivate`, `returnsUntrusted` and `egress` say what a tool does with
//! data, `idempotent` whether a call may be repeated, `readsOnly` whether it changes nothing. An
//! agent that has read both private data and untrusted text may be made to send the data away by
//! instructions in the text, so the user must approve what it sends from then on.
//!
//! `readsPrivate` and `returnsUntrusted` have defaults that depend on the tool, because alone they
//! require no approval. `egress` is never a default, so that no existing tool suddenly requires
//! approval; a warning suggests it where it seems to be missing.

use super::Context;
use super::api::steps;
use super::value::check_patterns;
use crate::agent::{Agent, AnnotatedTools, SourceAnnotations};
use crate::config::Config;
use config_source::{Node, PathStep};
use contract::DeclaredAnnotations;
use settings::mcp::McpTransport;
use std::collections::HashSet;

/// Adds the defaults of an endpoint, which depend on its steps.
pub(super) fn for_endpoint(declared: DeclaredAnnotations, id: &str, context: &Context<'_, '_>) -> DeclaredAnnotations {
    let types = step_types(id, context);
    let reads_private = || DATABASE_STEPS.iter().any(|name| types.contains(name));
    DeclaredAnnotations {
        reads_private: Some(declared.reads_private.unwrap_or_else(reads_private)),
        returns_untrusted: Some(declared.returns_untrusted.unwrap_or_else(|| types.contains("Http"))),
        ..declared
    }
}

/// Steps that return rows. An `SqlExecute` does so with `RETURNING`.
const DATABASE_STEPS: [&str; 2] = ["SqlQuery", "SqlExecute"];

/// Checks the patterns and adds the defaults of the server at `node`. `is_private` is the default of
/// `readsPrivate`.
pub(super) fn with_defaults(
    declared: SourceAnnotations,
    is_private: bool,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> SourceAnnotations {
    let SourceAnnotations { reads_private, returns_untrusted, egress, idempotent, reads_only } = &declared;
    let keys = ["readsPrivate", "returnsUntrusted", "egress", "idempotent", "readsOnly"];
    for (tools, key) in [reads_private, returns_untrusted, egress, idempotent, reads_only].into_iter().zip(keys) {
        if let Some(AnnotatedTools::These(patterns)) = tools {
            check_patterns(patterns, node.span_at(&[PathStep::Key(key)]), context);
        }
    }
    SourceAnnotations {
        reads_private: declared.reads_private.or(Some(AnnotatedTools::All(is_private))),
        returns_untrusted: declared.returns_untrusted.or(Some(AnnotatedTools::All(true))),
        idempotent: declared.idempotent.or(Some(AnnotatedTools::All(false))),
        reads_only: declared.reads_only.or(Some(AnnotatedTools::All(false))),
        ..declared
    }
}

/// Returns the types of an endpoint's steps, including those of endpoints that it calls.
fn step_types<'n>(id: &str, context: &Context<'n, '_>) -> HashSet<&'n str> {
    let (mut types, mut seen, mut open) = (HashSet::new(), HashSet::new(), vec![id]);
    while let Some(id) = open.pop() {
        let Some((id, node)) = context.endpoints.get_key_value(id) else { continue };
        if seen.insert(*id) {
            types.extend(steps::step_types(node));
            open.extend(steps::called_endpoints(node).into_iter().map(|(called, _)| called));
        }
    }
    types
}

/// The names of an agent's tools and those of its sub-agents, by what they do with data.
#[derive(Default)]
struct DataExposure {
    private: Vec<String>,
    untrusted: Vec<String>,
    /// Tools that can probably send data, but have no `egress` and need no approval.
    unmarked_egress: Vec<String>,
}

/// Warns of agents that can be made to disclose private data by tools without an `egress`
/// annotation.
pub(super) fn check(config: &Config, context: &mut Context<'_, '_>) {
    for (id, agent) in &config.agents {
        let (mut holds, mut seen) = (DataExposure::default(), HashSet::new());
        collect_exposure(agent, config, context, &mut seen, &mut holds);
        let DataExposure { private, untrusted, unmarked_egress: unsaid } = holds;
        if private.is_empty() || untrusted.is_empty() || unsaid.is_empty() {
            continue;
        }
        let Some(at) = context.agents.get(id.as_str()).map(|node| node.span_at(&[PathStep::Key("id")])) else {
            continue;
        };
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

fn collect_exposure<'c>(
    agent: &'c Agent,
    config: &'c Config,
    context: &Context<'_, '_>,
    seen: &mut HashSet<&'c str>,
    holds: &mut DataExposure,
) {
    if !seen.insert(&agent.id) {
        return;
    }
    for tool in &agent.tools {
        let sends = step_types(&tool.endpoint_id, context).contains("Http") && tool.confirm.is_none();
        holds.add_source(&tool.name, &SourceAnnotations::from(tool.annotations), sends);
    }
    for server in &agent.mcp {
        let sends = !matches!(server.server.transport, McpTransport::Stdio(_)) && server.confirm.is_none();
        holds.add_source(&server.name, &server.annotations, sends);
    }
    for remote in &agent.remote_agents {
        holds.add_source(&remote.connection_id, &remote.annotations, remote.confirm.is_none());
    }
    if let Some(files) = &agent.file_system {
        holds.add_source("fileSystem", &SourceAnnotations::from(files.annotations), false);
    }
    let of_pages = config.pages.iter().flat_map(|page| &page.client_tools);
    for tool in of_pages.filter(|tool| tool.agent_id == agent.id) {
        holds.add_source(&tool.name, &SourceAnnotations::from(tool.annotations), false);
    }
    for below in agent.agents.iter().filter_map(|below| config.agents.get(&below.agent_id)) {
        collect_exposure(below, config, context, seen, holds);
    }
}

impl DataExposure {
    fn add_source(&mut self, name: &str, marks: &SourceAnnotations, sends: bool) {
        let has = |tools: &Option<AnnotatedTools>| tools.as_ref().is_some_and(AnnotatedTools::may_apply);
        let may = [has(&marks.reads_private), has(&marks.returns_untrusted), sends && marks.egress.is_none()];
        for (names, is_one) in [&mut self.private, &mut self.untrusted, &mut self.unmarked_egress].into_iter().zip(may)
        {
            if is_one && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
}
