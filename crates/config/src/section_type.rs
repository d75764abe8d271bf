//! Sections that capabilities bring: parts of the config that this crate reads without knowing
//! their keys.

use crate::agent::Agent;
use crate::config::Config;
use crate::connection_type::ConnectionProperties;
use crate::rule::AccessRule;
use crate::section::{Context, cost_limits, operator, rule_entry, type_of};
use crate::shape::{Shape, decode, suggest};
use crate::source::{Location, Node, NodeKind};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

pub use crate::source::PathStep;

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
}

/// Reports problems of a section, or of the properties of a connection, at their positions in the
/// file. Paths start at the section or the properties.
pub struct SectionProblems<'a, 'n, 'r> {
    node: &'a Node,
    context: &'a mut Context<'n, 'r>,
}

impl<'a, 'n, 'r> SectionProblems<'a, 'n, 'r> {
    pub(crate) fn new(node: &'a Node, context: &'a mut Context<'n, 'r>) -> Self {
        Self { node, context }
    }
}

impl SectionProblems<'_, '_, '_> {
    /// Reports an error. `help` tells the author what to write instead.
    pub fn error(&mut self, path: &[PathStep<'_>], message: impl Into<String>, help: Option<String>) {
        self.context.report.error(self.node.span_at(path), message, help);
    }

    /// Reports a warning. `help` tells the author what to write instead.
    pub fn warning(&mut self, path: &[PathStep<'_>], message: impl Into<String>, help: Option<String>) {
        self.context.report.warning(self.node.span_at(path), message, help);
    }

    /// Checks that the config declares this connection, with the type of these properties.
    pub fn check_connection<P: ConnectionProperties>(&mut self, path: &[PathStep<'_>], id: &str) {
        let at = self.node.span_at(path);
        let found = self.context.connection(id, at).and_then(type_of);
        if let Some(found) = found.filter(|found| *found != P::TYPE) {
            let message = format!("this needs a connection of the type {}; `{id}` is of the type {found}", P::TYPE);
            self.context.report.error(at, message, None);
        }
    }

    /// Checks that the config declares this connection, with one of these types.
    pub fn check_connection_type(&mut self, path: &[PathStep<'_>], id: &str, types: &[&str]) {
        let at = self.node.span_at(path);
        let found = self.context.connection(id, at).and_then(type_of);
        if let Some(found) = found.filter(|found| !types.contains(found)) {
            let message = format!("`{id}` is a connection of the type {found}, which cannot be used here");
            self.context.report.error(at, message, Some(format!("use one of the type {}", types.join(", "))));
        }
    }

    /// Checks that the section `S`, a list in the root, has an entry with this id. `what` is the noun.
    pub fn check_entry<S: Section>(&mut self, path: &[PathStep<'_>], what: &str, id: &str) {
        self.context.entry(S::KEY, what, id, self.node.span_at(path));
    }

    /// Checks that the config declares this agent.
    pub fn check_agent(&mut self, path: &[PathStep<'_>], id: &str) {
        self.context.agent(id, self.node.span_at(path));
    }

    /// Checks that the config declares this endpoint.
    pub fn check_endpoint(&mut self, path: &[PathStep<'_>], id: &str) {
        self.context.endpoint(id, self.node.span_at(path));
    }

    /// Checks the operators in a value that is evaluated later, on the server. `values` are those
    /// that read a value there.
    pub fn check_operators(&mut self, path: &[PathStep<'_>], values: &[&'static str]) {
        let Some(node) = self.node.node_at(path) else { return };
        operator::check(node, self.context.language.operators(), values, self.context.report);
    }

    /// Checks that the price of every model is known that these agents and endpoints use, so that
    /// `limit`, in words, can be kept.
    pub fn check_prices(&mut self, config: &Config, limit: &str, agents: &[&str], endpoints: &[&str]) {
        cost_limits::check_use(config, self.context, limit, agents, endpoints);
    }

    /// Returns the most similar of the known names, if one is similar enough.
    pub fn nearest_name<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        suggest::nearest(wrong, known)
    }

    /// Returns the help line for an unknown name: the most similar of the known ones, or all of them
    /// if they are few.
    pub fn name_help<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
        suggest::help(wrong, known)
    }
}

/// The sections of capabilities that a config or an agent has.
#[derive(Clone, Default)]
pub struct Sections(Vec<(&'static str, Arc<dyn ReadValue>)>);

impl Sections {
    /// Reads the sections of the root. Those with errors are left out.
    pub(crate) fn of_root(root: &Node, context: &mut Context<'_, '_>) -> Self {
        let shape = Shape::root(&context.language.schema);
        Self(Self::read(SectionPlace::Root, root, shape, context).into_iter().flatten().collect())
    }

    /// Reads the sections of an agent, and returns them with the rest of its entry; `None` instead of
    /// the sections if one of them has the wrong form. `shape` is the shape of the entry.
    pub(crate) fn of_agent(node: &Node, shape: Shape<'_>, context: &mut Context<'_, '_>) -> (Option<Self>, Node) {
        let sections = Self::read(SectionPlace::Agent, node, shape, context);
        let mut rest = node.clone();
        if let NodeKind::Map(entries) = &mut rest.kind {
            let types = &context.language.sections;
            entries.retain(|entry| {
                !types.iter().any(|section| section.place == SectionPlace::Agent && section.key == entry.key)
            });
        }
        let sections = sections.into_iter().collect::<Option<Vec<_>>>().map(Self);
        if let Some(sections) = &sections {
            for (key, section) in &sections.0 {
                let Some(entry) = node.get(key) else { continue };
                section.check_with_agent(sections, &mut SectionProblems::new(&entry.value, context));
            }
        }
        (sections, rest)
    }

    /// Reads the sections of this place that stand in a node; `None` for one with the wrong form.
    fn read(
        place: SectionPlace,
        node: &Node,
        shape: Shape<'_>,
        context: &mut Context<'_, '_>,
    ) -> Vec<Option<(&'static str, Arc<dyn ReadValue>)>> {
        let types = context.language.sections.iter().filter(|section| section.place == place);
        let read = types.filter_map(|section| {
            let entry = node.get(section.key).filter(|entry| !matches!(entry.value.kind, NodeKind::Null))?;
            let value = (section.read)(&entry.value, shape.property(section.key)?, context);
            Some(value.map(|value| (section.key, value)))
        });
        read.collect()
    }

    /// Returns whether the user has this switch.
    pub fn has_switch(&self, option: SwitchOption) -> bool {
        self.0.iter().any(|(_, section)| section.user_switch() == Some(option))
    }

    /// Returns whether a section with this key is written.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(written, _)| *written == key)
    }

    /// Returns a section. `None` if it is not written.
    pub fn get<S: Section>(&self) -> Option<&S> {
        let (_, section) = self.0.iter().find(|(key, _)| *key == S::KEY)?;
        let section: &dyn Any = &**section;
        section.downcast_ref()
    }

    /// Returns what a custom agent may have of these sections of its base agent: `KEY` for a section as a
    /// whole, or `KEY:PART` for each part of it. With the `roles` of a user, what this user may use.
    pub fn choices(&self, config: &Config, roles: Option<&[String]>) -> Vec<String> {
        let offered = self.0.iter().filter(|(_, section)| section.is_choice());
        let choices = offered.flat_map(|(key, section)| match section.parts(config, None).is_empty() {
            true => vec![(*key).to_owned()],
            false => section.parts(config, roles).iter().map(|part| format!("{key}:{part}")).collect(),
        });
        choices.collect()
    }

    /// Removes what was not chosen among [`choices`](Self::choices). A section may also be chosen as a
    /// whole if it has parts. What only restricts sections stays with them.
    pub fn retain_chosen(&mut self, chosen: &[String]) {
        let narrowed = self.0.iter().filter_map(|(key, section)| {
            if chosen.iter().any(|choice| choice == key) || !section.is_choice() {
                return Some((*key, section.clone()));
            }
            let parts = chosen.iter().filter_map(|choice| choice.strip_prefix(key)?.strip_prefix(':'));
            Some((*key, section.with_parts(&parts.collect::<Vec<_>>())?))
        });
        let narrowed: Vec<_> = narrowed.collect();
        let has = |wanted: &&str| narrowed.iter().any(|(key, _)| key == wanted);
        let has_use = |it: &dyn ReadValue| it.is_choice() || it.always_stays() || it.restricts().iter().any(has);
        self.0 = narrowed.iter().filter(|(_, it)| has_use(&**it)).cloned().collect();
    }

    /// Checks the sections of the root and of the agents when the whole config is known.
    pub(crate) fn check_with_config(config: &Config, root: &Node, context: &mut Context<'_, '_>) {
        if context.report.has_errors() {
            return;
        }
        for (key, section) in &config.sections.0 {
            let Some(entry) = root.get(key) else { continue };
            section.check_with_config(config, &mut SectionProblems::new(&entry.value, context));
        }
        for (id, entry) in context.agents.clone() {
            let sections = config.agents.get(id).map(|agent| &agent.sections.0);
            for (key, section) in sections.into_iter().flatten() {
                let Some(value) = entry.get(key).map(|entry| &entry.value) else { continue };
                section.check_with_config(config, &mut SectionProblems::new(value, context));
            }
        }
    }

    /// Returns the roles that the sections name outside of access rules.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|(_, section)| section.roles())
    }

    pub(crate) fn access_rules(&self) -> impl Iterator<Item = &AccessRule> {
        self.0.iter().flat_map(|(_, section)| section.access_rules())
    }

    /// Returns the names of the tools that the sections of an agent give to it.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.0.iter().flat_map(|(_, section)| section.tool_names()).collect()
    }
}

/// Formats the keys: a section may hold secrets.
impl fmt::Debug for Sections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

impl Config {
    /// Replaces a section that a capability brings, or adds it.
    pub fn set_section<S: Section>(&mut self, section: S) {
        self.sections.0.retain(|(key, _)| *key != S::KEY);
        self.sections.0.push((S::KEY, Arc::new(section)));
    }

    /// Returns a section that a capability brings. `None` if the config does not have it.
    pub fn section<S: Section>(&self) -> Option<&S> {
        self.sections.get()
    }
}

impl Agent {
    /// Returns a section that a capability brings. `None` if the agent does not have it.
    pub fn section<S: Section>(&self) -> Option<&S> {
        self.sections.get()
    }
}
