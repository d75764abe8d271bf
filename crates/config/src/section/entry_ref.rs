//! References to the entries that have an access rule.

use config_source::Span;

/// The kind of an entry with an access rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EntryKind {
    Page,
    Agent,
    Endpoint,
}

impl EntryKind {
    /// Returns the noun.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Agent => "agent",
            Self::Endpoint => "endpoint",
        }
    }

    /// Returns the verb for its use.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Page => "open",
            Self::Agent => "ask",
            Self::Endpoint => "call",
        }
    }
}

/// A reference to an entry: its kind, its id and where the reference is written.
pub(super) type EntryRef<'n> = (EntryKind, &'n str, Span);
