//! The numbers of imported entries.

use crate::convert::Notes;
use crate::tree::Tree;
use std::fmt;

/// The numbers of entries that were taken over, and of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSummary {
    /// The connections.
    pub connections: usize,
    /// The agents.
    pub agents: usize,
    /// The endpoints, including those that replace requests of pages.
    pub endpoints: usize,
    /// The pages.
    pub pages: usize,
    /// How many things were left out.
    pub left_out: usize,
    /// How many things have another form or meaning.
    pub changed: usize,
}

impl ImportSummary {
    pub(crate) fn new(root: &Tree, notes: &Notes<'_>) -> Self {
        let count = |section: &str| root.get(section).map_or(0, |section| section.items().len());
        let (left_out, changed) = notes.counts();
        Self {
            connections: count("connections"),
            agents: count("agents"),
            endpoints: count("api"),
            pages: count("pages"),
            left_out,
            changed,
        }
    }
}

/// `taken over: 2 connections, 1 agent; left out: 3; changed: 1`
impl fmt::Display for ImportSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.connections, "connection"),
            (self.agents, "agent"),
            (self.endpoints, "endpoint"),
            (self.pages, "page"),
        ];
        let named = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| match count {
            1 => format!("1 {name}"),
            count => format!("{count} {name}s"),
        });
        let named: Vec<String> = named.collect();
        let named = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
        write!(f, "taken over: {named}; left out: {}; changed: {}", self.left_out, self.changed)
    }
}
