//! Sections that capabilities bring: parts of the config that this crate reads without knowing
//! their keys.

mod problems;
mod sections;

pub use problems::SectionProblems;
pub use sections::Sections;

use crate::config::Config;
use crate::rule::AccessRule;
use crate::section::{Context, rule_entry};
use crate::shape::{Shape, decode};
use config_source::{Location, Node, PathStep};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Where a section stands in a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPlace {
    /// In the root.
    Root,
    /// In each agent, beside `properties` and `tools`.
    Agent,
}

/// A section of the config, defined by the crate that uses it.
///
/// The type's JSON Schema describes the section: its keys, their defaults and bounds, and, as the
/// description, what the section is for. The section is read by the schema and then deserialized,
/// so both must agree.
pub trait Section: JsonSchema + DeserializeOwned + Send + Sync + 'static {
    /// The key of the section.
    const KEY: &'static str;
    /// Where the section stands.
    const PLACE: SectionPlace = SectionPlace::Root;

    /// Tells the section where its values stand, for sections that keep it. It is not called for a
    /// section that is stored.
    fn locate(&mut self, _location: &dyn Fn(&[PathStep<'_>]) -> Location) {}

    /// Reports what the schema cannot express, such as references to entries that do not exist.
    fn check(&self, _problems: &mut SectionProblems<'_, '_, '_>) {}

    /// Reports what the section does not fit to in the same agent. For sections of an agent.
    fn check_with_agent(&self, _agent: &Sections, _problems: &mut SectionProblems<'_, '_, '_>) {}

    /// Reports what is known only when the whole config was read without errors, such as prices of
    /// models.
    fn check_with_config(&self, _config: &Config, _problems: &mut SectionProblems<'_, '_, '_>) {}

    /// Returns roles that the section names outside of access rules.
    fn roles(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Returns the access rules of the section; their roles count as roles that the config names.
    fn access_rules(&self) -> Vec<&AccessRule> {
        Vec::new()
    }

    /// For a section of an agent: returns the names of the tools that it gives to the agent, which
    /// other keys of the agent may name.
    fn tool_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// For a section of an agent of which a custom agent may have a part: returns the names of the parts.
    /// With the `roles` of a user, those that this user may use.
    fn parts(&self, _config: &Config, _roles: Option<&[String]>) -> Vec<String> {
        Vec::new()
    }

    /// Returns the section with only those of these parts that it has; `None` if it has none of them.
    fn with_parts(&self, _parts: &[&str]) -> Option<Self> {
        None
    }

    /// For a section of an agent that only restricts others: the keys of these. A custom agent that has
    /// any of them has this one as well.
    const RESTRICTS: &'static [&'static str] = &[];

    /// For a section of an agent: whether it restricts the agent as a whole, so that every custom agent
    /// has it, whatever was chosen.
    fn always_stays(&self) -> bool {
        false
    }

    /// For a section of an agent: the option of a message with which the user switches it on and off, if
    /// they can.
    fn user_switch(&self) -> Option<SwitchOption> {
        None
    }

    /// Returns what is paid for because of the section, beside the models of the agent. A cost limit can
    /// only be kept if all prices are known.
    fn paid_uses(&self, _config: &Config) -> Vec<PaidUse> {
        Vec::new()
    }
}

impl SectionProblems<'_, '_, '_> {
    /// Checks that the section `S`, a list in the root, has an entry with this id. `what` is the noun.
    pub fn check_entry<S: Section>(&mut self, path: &[PathStep<'_>], what: &str, id: &str) {
        self.context.entry(S::KEY, what, id, self.node.span_at(path));
    }
}

/// Something that a section uses and that is paid for.
#[derive(Clone, Debug)]
pub struct PaidUse {
    /// Where the section names it.
    pub path: Vec<PathStep<'static>>,
    /// The kind of use.
    pub what: Paid,
}

/// The thing that is paid for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paid {
    /// A model, with its price in the section `prices`.
    Model(String),
    /// A connection whose properties lack its price.
    UnpricedConnection {
        /// The id.
        id: String,
        /// The property that would be the price.
        property: &'static str,
    },
}

/// An option of a message with which the user switches a part of the agent on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchOption {
    /// `documents`.
    Documents,
    /// `web`.
    Web,
}

/// The type of a section.
#[derive(Clone, Copy)]
pub struct SectionType {
    pub(crate) key: &'static str,
    pub(crate) place: SectionPlace,
    schema: fn(&mut SchemaGenerator) -> schemars::Schema,
    read: ReadSection,
}

type ReadSection = fn(&Node, Shape<'_>, &mut Context<'_, '_>) -> Option<Arc<dyn ReadValue>>;

impl SectionType {
    /// Returns the type of the section `S`.
    pub const fn of<S: Section>() -> Self {
        Self { key: S::KEY, place: S::PLACE, schema: |generator| generator.subschema_for::<S>(), read: read::<S> }
    }

    pub(crate) fn schema(&self, generator: &mut SchemaGenerator) -> Value {
        (self.schema)(generator).to_value()
    }
}

/// Formats the key.
impl fmt::Debug for SectionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SectionType").field(&self.key).finish()
    }
}

fn read<S: Section>(node: &Node, shape: Shape<'_>, context: &mut Context<'_, '_>) -> Option<Arc<dyn ReadValue>> {
    let mut section: S = decode(node, shape, context.report)?;
    let report = &*context.report;
    section.locate(&|path| report.location(node.span_at(path)));
    for rule in section.access_rules() {
        rule_entry::check(rule, node, context.report);
    }
    section.check(&mut SectionProblems::new(node, context));
    Some(Arc::new(section))
}

/// A section that was read, with its type forgotten.
trait ReadValue: Any + Send + Sync {
    fn access_rules(&self) -> Vec<&AccessRule>;

    fn roles(&self) -> Vec<&str>;

    fn tool_names(&self) -> Vec<String>;

    fn parts(&self, config: &Config, roles: Option<&[String]>) -> Vec<String>;

    fn with_parts(&self, parts: &[&str]) -> Option<Arc<dyn ReadValue>>;

    fn restricts(&self) -> &'static [&'static str];

    fn always_stays(&self) -> bool;

    fn user_switch(&self) -> Option<SwitchOption>;

    fn paid_uses(&self, config: &Config) -> Vec<PaidUse>;

    /// Whether a custom agent may have the section or not; otherwise that follows from the rest of it.
    fn is_choice(&self) -> bool {
        !self.always_stays() && self.restricts().is_empty()
    }

    fn check_with_agent(&self, agent: &Sections, problems: &mut SectionProblems<'_, '_, '_>);

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>);
}

impl<S: Section> ReadValue for S {
    fn access_rules(&self) -> Vec<&AccessRule> {
        Section::access_rules(self)
    }

    fn roles(&self) -> Vec<&str> {
        Section::roles(self)
    }

    fn check_with_agent(&self, agent: &Sections, problems: &mut SectionProblems<'_, '_, '_>) {
        Section::check_with_agent(self, agent, problems);
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        Section::check_with_config(self, config, problems);
    }

    fn tool_names(&self) -> Vec<String> {
        Section::tool_names(self)
    }

    fn parts(&self, config: &Config, roles: Option<&[String]>) -> Vec<String> {
        Section::parts(self, config, roles)
    }

    fn with_parts(&self, parts: &[&str]) -> Option<Arc<dyn ReadValue>> {
        Section::with_parts(self, parts).map(|section| Arc::new(section) as Arc<dyn ReadValue>)
    }

    fn restricts(&self) -> &'static [&'static str] {
        S::RESTRICTS
    }

    fn always_stays(&self) -> bool {
        Section::always_stays(self)
    }

    fn user_switch(&self) -> Option<SwitchOption> {
        Section::user_switch(self)
    }

    fn paid_uses(&self, config: &Config) -> Vec<PaidUse> {
        Section::paid_uses(self, config)
    }
}
