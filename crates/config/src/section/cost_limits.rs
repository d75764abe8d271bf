//! Checks cost limits: the price of every model that a limit covers must be known.

use super::{Context, type_of};
use crate::config::Config;
use crate::section_type::{Paid, PaidUse, SectionProblems, Sections};
use config_source::{Node, Span};
use std::collections::HashSet;

/// Reports each model without a price that a cost limit covers. The limit of an agent covers its
/// models, what its sections use, those of its sub-agents, and those of the routines that they call as
/// tools. A quota covers all agents and routines, and what the sections of the root use. A model that an
/// operator determines is checked when it is used.
pub(super) fn check(config: &Config, root: &Node, context: &mut Context<'_, '_>) {
    // Other errors come first: a section `prices` with errors has no prices.
    if context.report.has_errors() {
        return;
    }
    let mut models =
        PriceCheck { config, context, agents: HashSet::new(), endpoints: HashSet::new(), found: Vec::new() };
    let limited = models.context.agents.iter().filter(|(_, node)| has_cost_limit(node)).map(|(id, _)| (*id).to_owned());
    let limited: Vec<_> = limited.collect();
    for id in &limited {
        models.visit_agent(id, &format!("the cost limit of the agent `{id}`"));
    }
    if has_cost_quota(root) {
        let (agents, endpoints) = (&models.context.agents, &models.context.endpoints);
        let ids: Vec<_> = agents.keys().map(|id| (*id).to_owned()).collect();
        let routines: Vec<_> = endpoints.keys().map(|id| (*id).to_owned()).collect();
        let limit = "the cost limit in `quotas`";
        ids.iter().for_each(|id| models.visit_agent(id, limit));
        routines.iter().for_each(|id| models.visit_endpoint(id, limit));
        models.visit_sections(&config.sections, root, limit);
    }
    models.report();
}

impl SectionProblems<'_, '_, '_> {
    /// Checks that the price of every model is known that these agents and endpoints use, so that
    /// `limit`, in words, can be kept.
    pub fn check_prices(&mut self, config: &Config, limit: &str, agents: &[&str], endpoints: &[&str]) {
        let context = &mut *self.context;
        let mut models =
            PriceCheck { config, context, agents: HashSet::new(), endpoints: HashSet::new(), found: Vec::new() };
        agents.iter().for_each(|id| models.visit_agent(id, limit));
        endpoints.iter().for_each(|id| models.visit_endpoint(id, limit));
        models.report();
    }
}

/// Whether an agent has a cost limit, possibly one with an operator.
fn has_cost_limit(agent: &Node) -> bool {
    let limits = agent.get("properties").and_then(|entry| entry.value.get("limits"));
    limits.is_some_and(|limits| limits.value.get("costUsd").is_some())
}

fn has_cost_quota(root: &Node) -> bool {
    let quotas = root.get("limits").and_then(|entry| entry.value.get("quotas"));
    quotas.is_some_and(|quotas| quotas.value.items().iter().any(|quota| quota.get("costUsd").is_some()))
}

/// A model or a connection without a known price.
struct Unpriced {
    what: Paid,
    at: Span,
    /// The cost limit that cannot be enforced, in words.
    limit: String,
}

/// Visits the models that cost limits cover. Each agent and each endpoint is visited once.
struct PriceCheck<'c, 'n, 'r> {
    config: &'c Config,
    context: &'c mut Context<'n, 'r>,
    agents: HashSet<String>,
    endpoints: HashSet<String>,
    found: Vec<Unpriced>,
}

impl PriceCheck<'_, '_, '_> {
    fn report(self) {
        for Unpriced { what, at, limit } in self.found {
            let (subject, help) = match what {
                Paid::Model(model) => (
                    format!("model `{model}`"),
                    format!(
                        "add it to the section `prices`, in US dollars for a million tokens: `{model}: {{ input: 1, output: 2 }}`"
                    ),
                ),
                Paid::UnpricedConnection { id, property } => (
                    format!("connection `{id}`"),
                    format!("set `{property}` in the properties of `{id}`, to `0` if it costs nothing"),
                ),
            };
            let message = format!("the price of the {subject} is not known, so {limit} cannot be kept");
            self.context.report.error(at, message, Some(help));
        }
    }

    fn visit_agent(&mut self, id: &str, limit: &str) {
        if !self.agents.insert(id.to_owned()) {
            return;
        }
        let (node, known) = (self.context.agents.get(id).copied(), self.config.agents.get(id));
        let (Some(node), Some(agent)) = (node, known) else { return };
        if let Some(properties) = node.get("properties").map(|entry| &entry.value) {
            // With `models`, the key is the id or the name of one of them.
            if agent.models.is_none() {
                self.visit_model(properties.get("model").map(|entry| &entry.value), limit);
            }
            let fallbacks = properties.get("fallbackModels").map(|entry| entry.value.items()).unwrap_or_default();
            for fallback in fallbacks {
                self.visit_model(fallback.get("model").map_or(Some(fallback), |entry| Some(&entry.value)), limit);
            }
            let summary = properties.get("summaryModel").and_then(|entry| entry.value.get("model"));
            self.visit_model(summary.map(|entry| &entry.value), limit);
        }
        if agent.titles.is_some() {
            let own = node.get("properties").and_then(|properties| properties.value.get("generateTitle"));
            let titles = own.or_else(|| self.context.root.get("generateTitle"));
            self.visit_model(titles.and_then(|titles| titles.value.get("model")).map(|entry| &entry.value), limit);
        }
        for id in agent.models.iter().flat_map(|allowed| &allowed.ids) {
            let model = self.context.models.get(id.as_str()).and_then(|node| node.get("model"));
            self.visit_model(model.map(|entry| &entry.value), limit);
        }
        self.visit_sections(&agent.sections, node, limit);
        agent.tools.iter().for_each(|tool| self.visit_endpoint(&tool.endpoint_id, limit));
        agent.agents.iter().for_each(|below| self.visit_agent(&below.agent_id, limit));
    }

    /// Visits what the sections use that stand in a node.
    fn visit_sections(&mut self, sections: &Sections, node: &Node, limit: &str) {
        for (key, PaidUse { path, what }) in sections.paid_uses(self.config) {
            let is_priced = matches!(&what, Paid::Model(model) if self.config.price_of(model).is_some());
            if let Some(section) = node.get(key).filter(|_| !is_priced) {
                let at = section.value.span_at(&path);
                self.found.push(Unpriced { what, at, limit: limit.to_owned() });
            }
        }
    }

    fn visit_endpoint(&mut self, id: &str, limit: &str) {
        if !self.endpoints.insert(id.to_owned()) {
            return;
        }
        if let Some(routine) = self.context.endpoints.get(id).copied().and_then(|node| node.get("routine")) {
            self.visit_steps(&routine.value, limit);
        }
    }

    /// Visits the requests in a routine, also those nested in controls.
    fn visit_steps(&mut self, node: &Node, limit: &str) {
        let property =
            |name: &str| node.get("properties").and_then(|entry| entry.value.get(name)).map(|entry| &entry.value);
        match type_of(node) {
            Some("GenerateText" | "GenerateObject") => self.visit_model(property("model"), limit),
            Some("CallEndpoint") => {
                if let Some(id) = property("endpointId").and_then(Node::text) {
                    self.visit_endpoint(id, limit);
                }
            }
            _ => {
                node.items().iter().for_each(|item| self.visit_steps(item, limit));
                node.entries().iter().for_each(|entry| self.visit_steps(&entry.value, limit));
            }
        }
    }

    /// Checks a model's price. A model that an operator determines has no name yet.
    fn visit_model(&mut self, node: Option<&Node>, limit: &str) {
        let Some((model, at)) = node.and_then(|node| Some((node.text()?, node.at))) else { return };
        if self.config.price_of(model).is_none() {
            self.found.push(Unpriced { what: Paid::Model(model.to_owned()), at, limit: limit.to_owned() });
        }
    }
}
