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
    /// A point in a turn at which the server may die. Data that was acknowledged before it must still be stored
    /// afterwards.
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
        /// Jobs were claimed; their handlers have not begun.
        JobClaimed = "job.claimed",
        /// The handler of a job has returned; its end is not stored.
        JobReturned = "job.returned",
        /// The end of a job's attempt is stored.
        JobEnded = "job.ended",
        /// A job of a dead server is about to be taken over.
        JobTakenOver = "job.taken_over",
    }
}

#[cfg(feature = "on")]
mod on;
#[cfg(feature = "on")]
pub use on::point;

/// Injects the fault that is configured for this point; without the feature `on`, none.
#[cfg(not(feature = "on"))]
#[inline(always)]
pub const fn point(_: Point) {}

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

    /// The sweep would skip a point that is used nowhere.
    #[test]
    fn every_point_is_used() {
        let mut code = String::new();
        for name in ["store", "chat", "jobs"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"), &mut code);
        }
        let points = Point::ALL.iter().map(|point| format!("Point::{}", point.variant()));
        let missing: Vec<_> = points.filter(|text| !code.contains(text)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn names_are_unique() {
        let names: Vec<_> = Point::ALL.iter().map(|point| point.name()).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
    }
}
