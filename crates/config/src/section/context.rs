//! The state that sections share while they are checked.

use super::value::type_of;
use crate::env::Env;
use crate::shape::{Shape, decode};
use crate::vocabulary::Vocabulary;
use config_source::{Node, PathStep, Report, Span, suggest};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::path::Path;

/// The state that sections share while they are checked.
pub(crate) struct Context<'n, 'r> {
    pub(crate) report: &'r mut Report,
    /// The names that a config may use.
    pub(crate) vocabulary: &'r Vocabulary,
    pub(crate) env: &'r dyn Env,
    /// The whole config.
    pub(crate) root: &'n Node,
    /// The folder of the main file, if the config is on disk.
    pub(crate) folder: Option<&'r Path>,
    /// The declared ids, also of entries with other errors, so that references to them cause no
    /// further errors.
    pub(crate) connections: DeclaredIds<'n>,
    pub(crate) models: DeclaredIds<'n>,
    pub(crate) agents: DeclaredIds<'n>,
    pub(crate) endpoints: DeclaredIds<'n>,
    pub(crate) pages: DeclaredIds<'n>,
    /// The names of the client tools that pages offer to each agent, by its id.
    pub(crate) client_tools: HashMap<&'n str, Vec<&'n str>>,
    /// Whether other sites may embed chats. The page state that they set is not declared in the
    /// config.
    pub(crate) is_embedded: bool,
    /// Whether embedding sites identify their users.
    pub(crate) has_site_users: bool,
}

/// The declared ids with their entries.
pub(crate) type DeclaredIds<'n> = IndexMap<&'n str, &'n Node>;

impl<'r> Context<'_, 'r> {
    /// Returns the shape of a type of this crate for entries; `None` if no config can contain the type.
    pub(crate) fn shape<T: JsonSchema>(&self) -> Option<Shape<'r>> {
        Shape::of_entry::<T>(&self.vocabulary.schema)
    }
}

impl<'n> Context<'n, '_> {
    /// Checks an entry whose type is one of this crate, and deserializes it. `None` if it has errors, which have been
    /// reported.
    pub(crate) fn decode<T: DeserializeOwned + JsonSchema>(&mut self, node: &Node) -> Option<T> {
        decode(node, self.shape::<T>()?, self.report)
    }

    /// Returns the connection with an id, or reports that it does not exist.
    pub(crate) fn connection(&mut self, id: &str, at: Span) -> Option<&'n Node> {
        find(&self.connections, id, ("connection", "connections"), at, self.report)
    }

    /// Returns the endpoint with an id, or reports that it does not exist.
    pub(crate) fn endpoint(&mut self, id: &str, at: Span) -> Option<&'n Node> {
        find(&self.endpoints, id, ("endpoint", "api"), at, self.report)
    }

    /// Reports an endpoint that does not exist or that pages cannot call.
    pub(crate) fn page_endpoint(&mut self, id: &str, at: Span) {
        if self.endpoint(id, at).and_then(type_of) == Some("InternalApi") {
            let help = "only routines, hooks and agents may call it".to_owned();
            let message = format!("the endpoint `{id}` is internal, so no page can call it");
            self.report.error(at, message, Some(help));
        }
    }

    /// Reports an entry of a capability's section, a list, that does not exist. `what` is the noun.
    pub(crate) fn entry(&mut self, section: &str, what: &str, id: &str, at: Span) {
        let items = self.root.get(section).map_or(&[][..], |entry| entry.value.items());
        let ids = items.iter().filter_map(|item| Some((item.get("id")?.value.text()?, item))).collect();
        find(&ids, id, (what, section), at, self.report);
    }

    /// Returns the model with an id, or reports that it does not exist.
    pub(crate) fn model(&mut self, id: &str, at: Span) -> Option<&'n Node> {
        find(&self.models, id, ("model", "models"), at, self.report)
    }

    /// Returns the agent with an id, or reports that it does not exist.
    pub(crate) fn agent(&mut self, id: &str, at: Span) -> Option<&'n Node> {
        find(&self.agents, id, ("agent", "agents"), at, self.report)
    }
}

/// Returns the entry with an id, or reports that it does not exist. `what` is the noun and the name
/// of the section.
fn find<'n>(ids: &DeclaredIds<'n>, id: &str, what: (&str, &str), at: Span, report: &mut Report) -> Option<&'n Node> {
    let found = ids.get(id).copied();
    if found.is_none() {
        let (what, section) = what;
        let help = suggest::help(id, ids.keys().copied());
        let help = help.or_else(|| Some(format!("declare it in the section `{section}`")));
        report.error(at, format!("there is no {what} `{id}`"), help);
    }
    found
}

/// Checks that the connection of a step exists and has a suitable type, which `needed` describes:
/// "the type Http".
pub(crate) fn step_connection<'n>(
    id: &str,
    request_type: &str,
    needed: &str,
    fits: impl FnOnce(&str) -> bool,
    step: &Node,
    context: &mut Context<'n, '_>,
) -> Option<&'n Node> {
    let at = step.span_at(&[PathStep::Key("connectionId")]);
    let connection = context.connection(id, at)?;
    let found = type_of(connection)?;
    if !fits(found) {
        let message = format!("{request_type} needs a connection of {needed}; `{id}` is of the type {found}");
        context.report.error(at, message, None);
        return None;
    }
    Some(connection)
}
