//! The tools of an invocation. There is no browser, and nobody waits for a question: calls that need an
//! approval are denied or wait for an answer over the API, unless the program approved the tool in
//! advance.

use crate::{Agent, Checkpoint, Event, Grant, GrantLookup, GrantQuery, RunSettings, SinkClosed, ToolStrategy};
use contract::{Execution, Tool, ToolChoice};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;

/// The id of the approval that the program gave, for the record.
const GIVEN: &str = "given with the request";

/// The tools that an invocation may use.
#[derive(Clone)]
pub struct InvocationTools {
    /// The names of the tools. All of the agent's tools that run on the server if absent.
    pub only: Option<Vec<String>>,
    /// The tools whose calls the program approves in advance. As with a standing approval, a policy
    /// that asks, a tool that must be approved each time, and the exposure to both private data and
    /// untrusted text still need a person.
    pub approved: Vec<String>,
    /// Tools of the program itself, which run in the [client](Execution::Client). A call of one ends the
    /// request; the program sends the result with its next one. Their names are not those of the agent's
    /// tools.
    pub program: Vec<Arc<dyn Tool>>,
}

/// Records the events of an invocation.
pub trait InvocationObserver: Send + Sync + 'static {
    /// Records an event. The invocation goes on when the future ends.
    ///
    /// # Errors
    /// The event could not be recorded, which ends the invocation.
    fn observe<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkClosed>>;

    /// Returns whether the state is stored, so that another process can continue the request.
    fn wants_checkpoints(&self) -> bool {
        false
    }

    /// Stores the state after a reply with tool calls, before any of them runs. The request goes on
    /// when the future ends.
    ///
    /// # Errors
    /// The state could not be stored, which ends the request.
    fn checkpoint(&self, _state: Checkpoint) -> BoxFuture<'_, Result<(), SinkClosed>> {
        async { Ok(()) }.boxed()
    }
}

impl InvocationTools {
    /// Leaves the agent with the tools that the invocation may use.
    pub(super) fn restrict(&self, agent: &mut Agent) {
        // The browser's tools need a page.
        agent.tools.retain(|tool| tool.spec().execution == Execution::Server);
        if let Some(only) = &self.only {
            restrict_to(only, &mut agent.settings);
        }
        self.offer_program_tools(agent);
    }

    /// Offers the tools of the program beside those that the agent has in a step.
    fn offer_program_tools(&self, agent: &mut Agent) {
        agent.tools.extend(self.program.iter().cloned());
        let names = || self.program.iter().map(|tool| tool.spec().name.clone());
        let settings = &mut agent.settings;
        let active = settings.prepare_step.iter_mut().filter_map(|rule| rule.active_tools.as_mut());
        active.chain(&mut settings.active_tools).for_each(|active| active.extend(names()));
    }
}

/// Leaves the agent with these tools.
fn restrict_to(only: &[String], settings: &mut RunSettings) {
    let is_named = |name: &String| only.contains(name);
    let own = settings.active_tools.take().unwrap_or_else(|| only.to_vec());
    settings.active_tools = Some(own.into_iter().filter(is_named).collect());
    for rule in &mut settings.prepare_step {
        if let Some(names) = &mut rule.active_tools {
            names.retain(is_named);
        }
        rule.tool_choice.take_if(|choice| names_another(choice, only));
    }
    if let ToolStrategy::Pipeline(names) = &mut settings.tool_strategy {
        names.retain(is_named);
    }
    if names_another(&settings.tool_choice, only) {
        settings.tool_choice = ToolChoice::Auto;
    }
}

/// Returns whether the model would have to call a tool that is not among these.
fn names_another(choice: &ToolChoice, only: &[String]) -> bool {
    matches!(choice, ToolChoice::Tool(name) if !only.contains(name))
}

/// The approvals of a program.
pub(super) struct GivenApprovals {
    /// The tools that are approved in advance.
    pub(super) tools: Vec<String>,
    /// Whether other calls may wait for a decision.
    pub(super) can_ask: bool,
}

impl GrantLookup for GivenApprovals {
    fn find<'a>(&'a self, wanted: GrantQuery<'a>) -> BoxFuture<'a, Option<Grant>> {
        let covers = !wanted.is_exposed() && self.tools.iter().any(|name| name == wanted.tool);
        async move { covers.then(|| Grant { id: GIVEN.to_owned(), is_for_conversation: false }) }.boxed()
    }

    fn can_ask(&self) -> bool {
        self.can_ask
    }
}
