//! Routes: an agent that can answer in several ways chooses one for each turn, and has only the tools
//! and the instructions of this one.
//!
//! Which routes are possible depends on the tools that are offered, and on whether the user's message has
//! files. If several are possible, the model chooses one. If its choice cannot be used, the first possible
//! route is taken.

mod decide;
mod route;

pub use route::{ROUTING, Route, RouteNeed};

use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{Agent, Event, EventSink, ToolStrategy};
use contract::{AssistantPart, Message, ToolChoice};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// Who has chosen a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DecidedBy {
    /// The request: no other route is possible.
    Request,
    /// The model.
    Model,
    /// The order of the routes, since the model's decision cannot be used.
    Fallback,
}

/// The choice of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteDecision {
    pub(crate) route: &'static Route,
    pub(crate) decided_by: DecidedBy,
    pub(crate) reason: String,
    /// The names of the other possible routes.
    pub(crate) alternatives: Vec<&'static str>,
}

impl RouteDecision {
    fn new(possible: &[&'static Route], route: &'static Route, decided_by: DecidedBy, reason: String) -> Self {
        let others = possible.iter().filter(|other| other.name != route.name);
        Self { route, decided_by, reason, alternatives: others.map(|other| other.name).collect() }
    }

    fn event(&self) -> Event {
        let data = json!({
            "route": self.route.name,
            "reason": self.reason,
            "decidedBy": self.decided_by,
            "alternatives": self.alternatives,
        });
        Event::Data { name: ROUTING.to_owned(), id: Some(ROUTING.to_owned()), data }
    }

    /// Returns the status that is shown until the agent writes.
    fn status(&self) -> Event {
        Event::Data { name: "status".to_owned(), id: Some(ROUTING.to_owned()), data: json!({ "message": self.reason }) }
    }
}

/// Returns the routes that are possible with what the agent offers in a turn.
fn possible(agent: &Agent, has_files: bool) -> Vec<&'static Route> {
    let offers = |name: &str| {
        let is_active = |active: &Vec<String>| active.iter().any(|active| active == name);
        agent.settings.active_tools.as_ref().is_none_or(is_active)
            && agent.tools.iter().any(|tool| tool.spec().name == name)
    };
    let is_possible = |route: &&'static Route| match route.needs {
        RouteNeed::Files => has_files,
        RouteNeed::Tool(name) => offers(name),
        RouteNeed::Nothing => true,
    };
    agent.routes.iter().filter(is_possible).collect()
}

impl Run<'_> {
    /// Returns whether what is answered has files. Sub-agents get none.
    fn has_files(&self) -> bool {
        self.caller.scope.has_files && !self.caller.is_sub_agent
    }

    /// Chooses the route of the turn, if the agent has routes: once, whatever the turn waits for.
    pub(crate) async fn choose_route<S: EventSink>(&mut self, sink: &mut S) -> Result<(), RunFailure> {
        if self.agent.routes.is_empty() || self.route.is_some() {
            return Ok(());
        }
        let possible = possible(&self.agent, self.has_files());
        let decision = match possible.as_slice() {
            [] => return Ok(()),
            [only] => {
                let reason = "Nothing else is possible with this request.".to_owned();
                RouteDecision::new(&possible, only, DecidedBy::Request, reason)
            }
            _ => self.decide_route(&possible, sink).await?,
        };
        sink.emit(decision.event()).await?;
        if decision.decided_by != DecidedBy::Request {
            sink.emit(decision.status()).await?;
        }
        self.route = Some(decision.route);
        Ok(())
    }

    /// Removes the tools that the route excludes, and adds the instructions of the route and the contexts of
    /// the sources.
    pub(crate) fn apply_route(&mut self, contexts: &[(String, String)]) {
        let route = self.route;
        if route.is_none() && contexts.is_empty() {
            return;
        }
        let agent = self.agent.to_mut();
        if let Some(route) = route {
            let is_removed = |name: &str| route.without_tools.contains(&name);
            let removed = agent.tools.iter().map(|tool| tool.spec()).filter(|spec| is_removed(&spec.name));
            self.closed_tools = removed.filter(|spec| has_calls(&self.messages, &spec.name)).cloned().collect();
            agent.tools.retain(|tool| !is_removed(&tool.spec().name));
            if let ToolStrategy::Pipeline(names) = &mut agent.settings.tool_strategy {
                names.retain(|name| !is_removed(name));
            }
            agent.append_instructions(route.instructions);
        }
        let left_out = route.map_or(&[][..], |route| route.without_sources);
        for (_, context) in contexts.iter().filter(|(source, _)| !left_out.contains(&source.as_str())) {
            agent.append_instructions(context);
        }
    }

    /// Returns the tool choice of the next request. It is replaced if the route has removed the tools that it
    /// names.
    pub(crate) fn possible_choice(&self, choice: ToolChoice) -> ToolChoice {
        if self.route.is_none() {
            return choice;
        }
        let tools = self.agent.tools.iter().map(|tool| &tool.spec().name);
        let mut names = tools.chain(self.agent.agents.iter().map(|below| &below.spec.name));
        let offers_any = names.any(|name| self.offer.offers(name));
        match choice {
            _ if !offers_any && !self.closed_tools.is_empty() => ToolChoice::None,
            ToolChoice::Required if !offers_any => ToolChoice::Auto,
            ToolChoice::Tool(name) if !self.offer.offers(&name) => ToolChoice::Auto,
            choice => choice,
        }
    }
}

fn has_calls(messages: &[Arc<Message>], name: &str) -> bool {
    let is_call = |part: &AssistantPart| matches!(part, AssistantPart::ToolCall(call) if call.name == name);
    messages.iter().any(|message| matches!(&**message, Message::Assistant(parts) if parts.iter().any(is_call)))
}

/// Returns the route with this name.
pub(crate) fn named(routes: &[&'static Route], name: &str) -> Option<&'static Route> {
    routes.iter().find(|route| route.name == name).copied()
}
