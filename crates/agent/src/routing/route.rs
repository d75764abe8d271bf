//! The ways in which an agent can answer.

/// The name of the data part that shows the decision.
pub const ROUTING: &str = "routing";

/// A way in which an agent answers a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The name.
    pub name: &'static str,
    /// The questions that it is for. The model that chooses a route reads this.
    pub purpose: &'static str,
    /// Instructions for the model that answers.
    pub instructions: &'static str,
    /// The property of a turn that this route needs.
    pub needs: RouteNeed,
    /// The tools that the turn does not have.
    pub without_tools: &'static [&'static str],
    /// The sources of tools whose context the turn does not have.
    pub without_sources: &'static [&'static str],
}

/// A property of a turn that a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteNeed {
    /// Files in the user's message.
    Files,
    /// A tool that is offered.
    Tool(&'static str),
    /// Nothing: it is always possible.
    Nothing,
}
