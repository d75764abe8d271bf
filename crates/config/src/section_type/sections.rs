//! The sections that a config or an agent has.

use super::{PaidUse, ReadValue, Section, SectionPlace, SectionProblems, SectionType, SwitchOption};
use crate::agent::Agent;
use crate::config::Config;
use crate::rule::AccessRule;
use crate::section::Context;
use crate::shape::Shape;
use config_source::{Node, NodeKind};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The sections of capabilities that a config or an agent has.
#[derive(Clone, Default)]
pub struct Sections(Vec<(&'static str, Arc<dyn ReadValue>)>);

impl Sections {
    /// Reads the sections of these types in the root. Those with errors are left out.
    pub(crate) fn of_root(root: &Node, types: &[SectionType], context: &mut Context<'_, '_>) -> Self {
        let shape = Shape::root(&context.vocabulary.schema);
        Self(Self::read(SectionPlace::Root, root, types, shape, context).into_iter().flatten().collect())
    }

    /// Reads the sections of these types in an agent, and returns them with the rest of its entry; `None` instead of
    /// the sections if one of them has the wrong form. `shape` is the shape of the entry.
    pub(crate) fn of_agent(
        node: &Node,
        types: &[SectionType],
        shape: Shape<'_>,
        context: &mut Context<'_, '_>,
    ) -> (Option<Self>, Node) {
        let sections = Self::read(SectionPlace::Agent, node, types, shape, context);
        let mut rest = node.clone();
        if let NodeKind::Map(entries) = &mut rest.kind {
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
        types: &[SectionType],
        shape: Shape<'_>,
        context: &mut Context<'_, '_>,
    ) -> Vec<Option<(&'static str, Arc<dyn ReadValue>)>> {
        let types = types.iter().filter(|section| section.place == place);
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
        let choices = offered.flat_map(|(key, section)| {
            if section.parts(config, None).is_empty() {
                vec![(*key).to_owned()]
            } else {
                section.parts(config, roles).iter().map(|part| format!("{key}:{part}")).collect()
            }
        });
        choices.collect()
    }

    /// Removes what was not chosen among [`choices`](Self::choices). A section may also be chosen as a
    /// whole if it has parts. Sections that only restrict others stay with them.
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

    /// Returns what is paid for because of the sections, each with the section's key.
    pub(crate) fn paid_uses(&self, config: &Config) -> Vec<(&'static str, PaidUse)> {
        let uses = |(key, section): &(&'static str, Arc<dyn ReadValue>)| {
            section.paid_uses(config).into_iter().map(|used| (*key, used)).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(uses).collect()
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
