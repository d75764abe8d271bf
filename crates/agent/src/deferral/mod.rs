//! Tools that are found by search instead of being listed. Of an agent with many tools of MCP
//! servers and remote agents, the model reads only their names. It looks up what it needs with
//! `tool_search`, and calls it through `tool_call`, so that the list of tools in the request stays
//! the same and the provider's cache is hit.
//!
//! Everything behind the model knows only the called tool: a call is replaced when it is read, and
//! marked, so that later requests contain it as the model wrote it.
//!
//! An agent can prefer the search of its provider (`deferTools: { by: provider }`). Its requests then have all
//! tools, of which the provider shows to the model those that it finds, and calls need no bridge.

mod bridge;
mod index;
mod list;
mod search;
mod settings;

pub(crate) use bridge::{as_written, mark, target};
pub use settings::DeferTools;

use crate::context::EarlierMessages;
use crate::{Agent, RunSettings, ToolStrategy};
use bridge::Bridge;
use contract::{AssistantPart, Message, ToolChoice, ToolSpec};
use index::ToolIndex;
use search::ToolSearch;
use std::collections::HashSet;
use std::sync::Arc;

/// The name of the tool that finds deferred tools.
pub const TOOL_SEARCH: &str = "tool_search";
/// The name of the tool through which deferred tools are called.
pub const TOOL_CALL: &str = "tool_call";
/// The types of items in which providers return what their search has found.
const PROVIDER_RESULTS: [&str; 2] = ["tool_search_tool_result", "tool_search_output"];

/// Returns whether a tool is one of the two with which deferred tools are used.
pub(crate) fn is_helper(name: &str) -> bool {
    [TOOL_SEARCH, TOOL_CALL].contains(&name)
}

/// The tools of an agent that are not listed.
pub(crate) struct Deferral {
    names: HashSet<String>,
    index: Arc<ToolIndex>,
    instructions: String,
}

impl Deferral {
    /// Returns the deferral of an agent's tools, `None` if all of them are listed. `was_used` says
    /// whether the conversation has calls of deferred tools: then they stay deferred, even if a
    /// server cannot be reached and there are fewer tools for now.
    pub(crate) fn new(agent: &Agent, was_used: bool) -> Option<Self> {
        let settings = &agent.settings;
        let active =
            |name: &str| settings.active_tools.as_ref().is_none_or(|list| list.iter().any(|known| known == name));
        let tools = agent.tools.iter().map(|tool| tool.spec()).chain(agent.agents.iter().map(|below| &below.spec));
        let tools: Vec<_> = tools.filter(|spec| active(&spec.name) && !is_helper(&spec.name)).collect();
        let is_deferred = |spec: &&ToolSpec| spec.deferrable && !is_required(settings, &spec.name);
        let mut deferred: Vec<_> = tools.iter().copied().filter(is_deferred).collect();
        if deferred.is_empty() || !settings.defer_tools.applies(tools.len(), was_used) {
            return None;
        }
        // Servers need not list their tools in the same order each time.
        deferred.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Some(Self {
            names: deferred.iter().map(|spec| spec.name.clone()).collect(),
            instructions: list::instructions(&deferred),
            index: Arc::new(ToolIndex::new(deferred.into_iter().cloned().collect())),
        })
    }

    /// Returns whether a tool is deferred.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns the names of the deferred tools.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Returns the list of the deferred tools for the model's instructions.
    pub(crate) fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Returns the names of the tools that are most like a name that does not exist.
    pub(crate) fn similar(&self, name: &str) -> Vec<&str> {
        self.index.search(name, 5).into_iter().map(|spec| spec.name.as_str()).collect()
    }

    /// Adds the tools with which deferred tools are found and called.
    pub(crate) fn add_helpers(&self, agent: &mut Agent) {
        agent.tools.retain(|tool| !is_helper(&tool.spec().name));
        agent.tools.push(Arc::new(ToolSearch::new(self.index.clone())));
        agent.tools.push(Arc::new(Bridge::new()));
    }
}

/// Returns whether the settings demand calls of a tool, which must therefore be listed.
fn is_required(settings: &RunSettings, name: &str) -> bool {
    let choices = settings.prepare_step.iter().filter_map(|rule| rule.tool_choice.as_ref());
    let is_it = |choice: &ToolChoice| matches!(choice, ToolChoice::Tool(chosen) if chosen == name);
    let in_pipeline =
        matches!(&settings.tool_strategy, ToolStrategy::Pipeline(names) if names.iter().any(|one| one == name));
    in_pipeline || choices.chain([&settings.tool_choice]).any(is_it)
}

/// Returns which tools of an agent are deferred, and whether its provider finds deferrable tools instead. `is_deferring`
/// says whether one of both was so earlier in the run.
pub(crate) fn decide(agent: &Agent, history: &[Arc<Message>], is_deferring: bool) -> (Option<Deferral>, bool) {
    let prefers_provider = prefers_provider(&agent.settings);
    let was_used = is_deferring || was_used(history) || (prefers_provider && was_searched(history));
    match Deferral::new(agent, was_used) {
        Some(_) if prefers_provider => (None, true),
        deferral => (deferral, false),
    }
}

/// Returns whether the provider's own search is used where tools are deferred.
fn prefers_provider(settings: &RunSettings) -> bool {
    settings.defer_tools.is_at_provider() && settings.provider_has_search
}

/// Returns false if no message before the history has a call of a deferred tool or a result of a provider's search, or
/// if that does not matter.
pub(crate) fn may_have_been_used(agent: &Agent, earlier: &EarlierMessages) -> bool {
    let mut specs = agent.tools.iter().map(|tool| tool.spec()).chain(agent.agents.iter().map(|below| &below.spec));
    let has_searched =
        || prefers_provider(&agent.settings) && PROVIDER_RESULTS.iter().any(|kind| earlier.may_contain(kind));
    specs.any(|spec| spec.deferrable) && (earlier.may_contain(&bridge::marker().to_string()) || has_searched())
}

/// Returns the declaration of a tool in a request whose provider finds deferrable tools: those of which the settings
/// demand calls are listed.
pub(crate) fn for_provider(settings: &RunSettings, spec: ToolSpec) -> ToolSpec {
    let deferrable = spec.deferrable && !is_required(settings, &spec.name);
    ToolSpec { deferrable, ..spec }
}

/// Returns whether a tool of a provider is its search for tools.
pub fn is_provider_search(name: &str) -> bool {
    name == TOOL_SEARCH || name.starts_with("tool_search_tool")
}

/// Returns whether the history has results of a provider's search for tools.
fn was_searched(messages: &[Arc<Message>]) -> bool {
    let is_result = |part: &AssistantPart| match part {
        AssistantPart::ProviderItem { item, .. } => {
            item["type"].as_str().is_some_and(|kind| PROVIDER_RESULTS.contains(&kind))
        }
        _ => false,
    };
    messages.iter().any(|message| match &**message {
        Message::Assistant(parts) => parts.iter().any(is_result),
        _ => false,
    })
}

/// Returns whether the history has calls of deferred tools.
fn was_used(messages: &[Arc<Message>]) -> bool {
    messages.iter().any(|message| match &**message {
        Message::Assistant(parts) => parts.iter().any(bridge::is_marked),
        _ => false,
    })
}
