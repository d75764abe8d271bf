#![doc = include_str!("../README.md")]

/// Defines an enum whose variants have names for environment variables.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind { $($(#[$doc])* $variant,)* }

        impl $kind {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name in the environment variable.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the variant's name in the code.
            pub const fn variant(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant),)* }
            }
        }
    };
}

named! {
    /// A point in a turn at which the server may die. What was acknowledged before it must still be
    /// stored afterwards.
    Point {
        /// A submission was received; nothing of it is stored.
        SendReceived = "send.received",
        /// The submission was accepted and is about to be stored.
        SendChecked = "send.checked",
        /// The submission is stored but not acknowledged.
        SendStored = "send.stored",
        /// A transaction is about to be committed.
        CommitBefore = "commit.before",
        /// The transaction is committed but not acknowledged.
        CommitAfter = "commit.after",
        /// The run's task has started.
        RunStarted = "run.started",
        /// A part of the model's reply was received.
        PartReceived = "part.received",
        /// A call is in the ledger; its tool has not started.
        ToolEntered = "tool.entered",
        /// A tool has had its effect; the ledger does not know it yet.
        ToolReturned = "tool.returned",
        /// The ledger knows the outcome; it is not acknowledged.
        ToolFinished = "tool.finished",
        /// The user is about to be asked for an approval.
        ApprovalAsked = "approval.asked",
        /// An event that acknowledges something is stored.
        EventStored = "event.stored",
        /// A step has ended.
        StepFinished = "step.finished",
        /// The end of the run is about to be stored.
        RunEnding = "run.ending",
        /// The end of the run is stored but not acknowledged.
        RunEnded = "run.ended",
        /// Recovery has rebuilt a run that a dead server left; its end is not stored.
        RecoveryRebuilt = "recovery.rebuilt",
    }
}

named! {
    /// A defect that the torture test must detect: a check that never fails proves nothing.
    Break {
        /// Events that acknowledge something are sent before they are stored.
        EmitBeforePersist = "emit-before-persist",
        /// One query returns the rows of all owners.
        OwnerClause = "owner-clause",
        /// A watcher that lags behind continues with the events in memory.
        LaggedWatcher = "lagged-watcher",
        /// A failed tool call is repeated.
        BlindRetry = "blind-retry",
        /// A commit does not wait for the disk.
        SynchronousOff = "synchronous-off",
        /// A path counts as inside the base folder if it has the same prefix.
        PathPrefix = "path-prefix",
        /// The HTTP client for providers follows redirects.
        Redirects = "redirects",
        /// An approval stays valid after the tool has changed.
        ApprovalWithoutHash = "approval-without-hash",
    }
}

#[cfg(feature = "on")]
mod on;
#[cfg(feature = "on")]
pub use on::{is_broken, point};

/// Injects the fault that is configured for this point; without the feature `on`, none.
#[cfg(not(feature = "on"))]
#[inline(always)]
pub const fn point(_: Point) {}

/// Returns whether this defect is active; without the feature `on`, never.
#[cfg(not(feature = "on"))]
#[inline(always)]
pub const fn is_broken(_: Break) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn sources(folder: &Path, found: &mut String) {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }

    /// The sweep would skip a point that is used nowhere, and an unused defect could not be
    /// detected.
    #[test]
    fn every_point_and_defect_is_used() {
        let mut code = String::new();
        for name in ["store", "chat", "agent", "providers", "tools"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"), &mut code);
        }
        let points = Point::ALL.iter().map(|point| format!("Point::{}", point.variant()));
        let breaks = Break::ALL.iter().map(|defect| format!("is_broken(Break::{})", defect.variant()));
        let missing: Vec<_> = points.chain(breaks).filter(|text| !code.contains(text)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn names_are_unique() {
        let names: Vec<_> =
            Point::ALL.iter().map(|point| point.name()).chain(Break::ALL.iter().map(|defect| defect.name())).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
    }
}
