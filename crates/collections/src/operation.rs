//! The operations of agents on records.

use crate::section::AgentData;

/// The operation of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Query,
    Aggregate,
    Facets,
    Insert,
    Update,
    Delete,
    /// As `Insert`, with the documents that values are from.
    InsertSourced,
}

pub(crate) const READS: [Operation; 3] = [Operation::Query, Operation::Aggregate, Operation::Facets];
const WRITES: [Operation; 3] = [Operation::Insert, Operation::Update, Operation::Delete];
/// Without updates, which would change values without a source.
const SOURCED_WRITES: [Operation; 2] = [Operation::InsertSourced, Operation::Delete];

/// Returns the operations of an agent.
pub(crate) fn operations(section: &AgentData) -> impl Iterator<Item = Operation> {
    let writes: &[Operation] = match section {
        AgentData { write: false, .. } => &[],
        AgentData { sources: true, .. } => &SOURCED_WRITES,
        _ => &WRITES,
    };
    READS.into_iter().chain(writes.iter().copied())
}

impl Operation {
    /// Returns the name of its tool.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Query => "query_data",
            Self::Aggregate => "aggregate_data",
            Self::Facets => "get_facets",
            Self::Insert | Self::InsertSourced => "insert_records",
            Self::Update => "update_records",
            Self::Delete => "delete_records",
        }
    }
}
