//! Access rights of callers to pages, agents and endpoints. All access is decided here, whichever
//! way it takes.

use chat::{Caller, RunScope};
use config::{AccessRule, Config};
use endpoints::EndpointError;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use wire::UserError;

/// The decision on an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessDecision {
    /// The caller may.
    Allowed,
    /// Signing in may help.
    Unauthenticated,
    /// The response must be the same as for something that does not exist.
    NotFound,
}

/// Checks a caller against an access rule.
pub fn check_rule(caller: &Caller, rule: &AccessRule) -> AccessDecision {
    match rule {
        AccessRule::Public => AccessDecision::Allowed,
        AccessRule::All(rules) => {
            let mut decisions = rules.iter().map(|rule| check_rule(caller, rule));
            decisions.find(|decision| *decision != AccessDecision::Allowed).unwrap_or(AccessDecision::Allowed)
        }
        AccessRule::Any(rules) if rules.iter().any(|rule| check_rule(caller, rule) == AccessDecision::Allowed) => {
            AccessDecision::Allowed
        }
        // Checked before roles, since a caller who is not signed in has none.
        _ if !caller.is_authenticated => AccessDecision::Unauthenticated,
        AccessRule::Protected => AccessDecision::Allowed,
        AccessRule::Roles(roles) if roles.iter().any(|role| caller.has_role(role)) => AccessDecision::Allowed,
        AccessRule::User(id) if *id == caller.user_id => AccessDecision::Allowed,
        AccessRule::Roles(_) | AccessRule::User(_) | AccessRule::Any(_) => AccessDecision::NotFound,
    }
}

impl AccessDecision {
    fn into_result(self) -> Result<(), UserError> {
        match self {
            Self::Allowed => Ok(()),
            Self::Unauthenticated => Err(UserError::unauthenticated()),
            Self::NotFound => Err(UserError::not_found()),
        }
    }
}

/// The access rules of the config by id. Unknown ids are not found.
pub struct Rights {
    pages: HashMap<String, AccessRule>,
    agents: HashMap<String, AccessRule>,
    endpoints: HashMap<String, EndpointRule>,
}

struct EndpointRule {
    rule: AccessRule,
    is_internal: bool,
}

impl Rights {
    /// Reads the access rules of a config.
    pub fn new(config: &Config) -> Arc<Self> {
        let pages = config.pages.iter().map(|page| (page.definition.id.clone(), page.auth.clone()));
        let agents = config.agents.values().map(|agent| (agent.id.clone(), agent.auth.clone()));
        let endpoints = config.endpoints.values().map(|endpoint| {
            let rule = EndpointRule { rule: endpoint.auth.clone(), is_internal: endpoint.is_internal };
            (endpoint.id.clone(), rule)
        });
        Arc::new(Self { pages: pages.collect(), agents: agents.collect(), endpoints: endpoints.collect() })
    }

    /// Checks that a caller may open a page.
    ///
    /// # Errors
    /// 403 for a token that is limited to another page; otherwise 401, or 404 as for a page that
    /// does not exist. The other checks return the same errors.
    pub fn check_page(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        caller.check_page(id)?;
        decide(caller, self.pages.get(id)).into_result()
    }

    /// Checks that a caller may use an agent.
    pub fn check_agent(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        decide(caller, self.agents.get(id)).into_result()
    }

    /// Checks that a caller may call an endpoint over the API, where internal endpoints do not
    /// exist.
    pub fn check_external_call(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        let endpoint = self.endpoints.get(id).filter(|endpoint| !endpoint.is_internal);
        decide(caller, endpoint.map(|endpoint| &endpoint.rule)).into_result()
    }

    /// Returns the gate for endpoints that routines, hooks and agents call for this caller.
    pub fn gate(self: &Arc<Self>, caller: &Caller) -> Arc<CallerGate> {
        Arc::new(CallerGate { rights: self.clone(), caller: caller.clone() })
    }
}

fn decide(caller: &Caller, rule: Option<&AccessRule>) -> AccessDecision {
    rule.map_or(AccessDecision::NotFound, |rule| check_rule(caller, rule))
}

/// Checks the endpoints that run for one caller.
pub struct CallerGate {
    rights: Arc<Rights>,
    caller: Caller,
}

impl endpoints::EndpointGate for CallerGate {
    fn check(&self, endpoint_id: &str) -> Result<(), EndpointError> {
        match decide(&self.caller, self.rights.endpoints.get(endpoint_id).map(|endpoint| &endpoint.rule)) {
            AccessDecision::Allowed => Ok(()),
            AccessDecision::Unauthenticated => Err(EndpointError::Unauthenticated),
            AccessDecision::NotFound => Err(EndpointError::NotFound),
        }
    }

    fn user(&self, _: &str) -> Value {
        self.caller.facts()
    }

    fn scope(&self, _: &str) -> RunScope {
        self.caller.scope()
    }
}
