#![doc = include_str!("../README.md")]

/// An enum whose variants have names that people write.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind { $($(#[$doc])* $variant,)* }

        impl $kind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As the environment variable names it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Its name in the code.
            pub const fn variant(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant),)* }
            }
        }
    };
}

named! {
    /// A point of a turn's way at which the server may die. What was acknowledged before it must be there afterwards.
    Point {
        /// A submission has come, and nothing of it is stored.
        SendReceived = "send.received",
        /// It may be stored.
        SendChecked = "send.checked",
        /// It is stored, and nobody was told.
        SendStored = "send.stored",
        /// A transaction is about to be committed.
        CommitBefore = "commit.before",
        /// It is committed, and nobody was told.
        CommitAfter = "commit.after",
        /// The run's task has begun.
        RunStarted = "run.started",
        /// A piece of the model's answer has come.
        PartReceived = "part.received",
        /// A call is in the ledger, and its tool has not begun.
        ToolEntered = "tool.entered",
        /// A tool has had its effect, and the ledger does not know.
        ToolReturned = "tool.returned",
        /// The ledger knows, and nobody was told.
        ToolFinished = "tool.finished",
        /// The user is to be asked.
        ApprovalAsked = "approval.asked",
        /// What acknowledges something is stored.
        EventStored = "event.stored",
        /// A step is over.
        StepFinished = "step.finished",
        /// The run's end is to be stored.
        RunEnding = "run.ending",
        /// It is stored, and nobody was told.
        RunEnded = "run.ended",
        /// A run that a dead server left is put together, and its end is not stored.
        RecoveryRebuilt = "recovery.rebuilt",
    }
}

named! {
    /// A defect that the torture must find: a check that finds nothing proves nothing.
    Break {
        /// What acknowledges something is told before it is stored.
        EmitBeforePersist = "emit-before-persist",
        /// One query finds the rows of all owners.
        OwnerClause = "owner-clause",
        /// A watcher who was too slow goes on with what is in memory.
        LaggedWatcher = "lagged-watcher",
        /// A tool that failed is run again.
        BlindRetry = "blind-retry",
        /// A commit does not wait for the disk.
        SynchronousOff = "synchronous-off",
        /// A path is inside the base folder when it begins like it.
        PathPrefix = "path-prefix",
        /// The providers' client follows redirects.
        Redirects = "redirects",
        /// An approval holds whatever has become of the tool.
        ApprovalWithoutHash = "approval-without-hash",
    }
}

#[cfg(feature = "on")]
mod on;
#[cfg(feature = "on")]
pub use on::{is_broken, point};

/// Does what is to happen at this point: nothing.
#[cfg(not(feature = "on"))]
#[inline(always)]
pub const fn point(_: Point) {}

/// Whether this defect is built in: never.
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

    /// A point that stands nowhere would be swept without a kill, and a defect that stands nowhere could not be found.
    #[test]
    fn every_name_stands_in_the_code() {
        let mut code = String::new();
        for room in ["store", "chat", "agent", "providers", "tools"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(room).join("src"), &mut code);
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
