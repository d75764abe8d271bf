//! What a caller may use. Every door asks here, and nobody else decides: pages, agents and endpoints, by whichever way they are
//! reached.

use chat::Caller;
use config::{Config, Rule};
use endpoints::EndpointError;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use wire::UserError;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allowed,
    /// He may be let in once he has signed in.
    Unauthenticated,
    /// It must look as if there were nothing (A8).
    Unknown,
}

/// Whether a caller satisfies a rule.
pub(crate) fn allowed(caller: &Caller, rule: &Rule) -> Decision {
    match rule {
        Rule::Public => Decision::Allowed,
        // Before any look at roles: who is not signed in has none.
        _ if !caller.is_authenticated => Decision::Unauthenticated,
        Rule::Protected => Decision::Allowed,
        Rule::Roles(roles) if roles.iter().any(|role| caller.roles.contains(role)) => Decision::Allowed,
        Rule::Roles(_) => Decision::Unknown,
    }
}

impl Decision {
    fn for_user(self) -> Result<(), UserError> {
        match self {
            Self::Allowed => Ok(()),
            Self::Unauthenticated => Err(UserError::unauthenticated()),
            Self::Unknown => Err(UserError::not_found()),
        }
    }
}

/// The config's rules, by what they are about. What is not there is unknown to everybody.
pub(crate) struct Rights {
    pages: HashMap<String, Rule>,
    agents: HashMap<String, Rule>,
    endpoints: HashMap<String, EndpointRule>,
}

struct EndpointRule {
    rule: Rule,
    is_internal: bool,
}

impl Rights {
    pub(crate) fn new(config: &Config) -> Arc<Self> {
        let pages = config.pages.iter().map(|page| (page.definition.id.clone(), page.auth.clone()));
        let agents = config.agents.values().map(|agent| (agent.id.clone(), agent.auth.clone()));
        let endpoints = config.endpoints.values().map(|endpoint| {
            let rule = EndpointRule { rule: endpoint.auth.clone(), is_internal: endpoint.is_internal };
            (endpoint.id.clone(), rule)
        });
        Arc::new(Self { pages: pages.collect(), agents: agents.collect(), endpoints: endpoints.collect() })
    }

    /// Lets a caller open a page.
    ///
    /// # Errors
    /// 403 for a token that is for another one; 401, or 404 as for a page that is not there; so for the others.
    pub(crate) fn open_page(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        caller.may_use_page(id)?;
        decide(caller, self.pages.get(id)).for_user()
    }

    /// Lets a caller ask an agent.
    pub(crate) fn ask_agent(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        decide(caller, self.agents.get(id)).for_user()
    }

    /// Lets a caller call an endpoint from outside, where internal ones do not exist.
    pub(crate) fn call_from_outside(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        let endpoint = self.endpoints.get(id).filter(|endpoint| !endpoint.is_internal);
        decide(caller, endpoint.map(|endpoint| &endpoint.rule)).for_user()
    }

    /// What may be called for this caller from inside: by a routine, a hook, an agent.
    pub(crate) fn gate(self: &Arc<Self>, caller: &Caller) -> Arc<Gate> {
        Arc::new(Gate { rights: self.clone(), caller: caller.clone() })
    }
}

fn decide(caller: &Caller, rule: Option<&Rule>) -> Decision {
    rule.map_or(Decision::Unknown, |rule| allowed(caller, rule))
}

/// The endpoints that run for one caller.
pub(crate) struct Gate {
    rights: Arc<Rights>,
    caller: Caller,
}

impl endpoints::Gate for Gate {
    fn admit(&self, endpoint_id: &str) -> Result<(), EndpointError> {
        match decide(&self.caller, self.rights.endpoints.get(endpoint_id).map(|endpoint| &endpoint.rule)) {
            Decision::Allowed => Ok(()),
            Decision::Unauthenticated => Err(EndpointError::Unauthenticated),
            Decision::Unknown => Err(EndpointError::NotFound),
        }
    }

    fn user(&self, _: &str) -> Value {
        self.caller.facts()
    }
}
