//! Why a run ended: one vocabulary for the message, the store, the log, the metrics, the console and the API.

use crate::api::Outcome;
use crate::read::{Read, Unreadable, deserialize_by_reading};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Makes the reasons with their names and outcomes.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $outcome:ident;)*) => {
        /// Why a run ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EndReason {
            $($(#[doc = $doc])* $variant,)*
        }

        impl EndReason {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name that is stored and shown; stable.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The reason with this name; [`EndReason::Other`] for one that a newer server knows.
            pub fn named(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Other,
                }
            }

            /// What kind of end that is.
            pub fn outcome(self) -> Outcome {
                match self {
                    $(Self::$variant => Outcome::$outcome,)*
                }
            }
        }
    };
}

reasons! {
    /// The model finished.
    Done = "done", Done;
    /// A call waits for the user or the user's browser.
    Waiting = "waiting", Waiting;
    /// As many requests to the model as `maxSteps` allows.
    MaxSteps = "maxSteps", Limit;
    /// A call that ends the turn, by `stopOnToolCall`.
    StopOnToolCall = "stopOnToolCall", Limit;
    /// The time of the turn.
    Time = "time", Limit;
    /// Requests to models, by `limits.requests`.
    Requests = "requests", Limit;
    /// Tokens, by `limits.totalTokens`.
    TotalTokens = "totalTokens", Limit;
    /// Calls of tools, by `limits.toolCalls`.
    ToolCalls = "toolCalls", Limit;
    /// Money, by `limits.costUsd`.
    CostUsd = "costUsd", Limit;
    /// The same calls were made again and again.
    Loop = "loop", Limit;
    /// The answer grew larger than the server keeps.
    TooLong = "tooLong", Failed;
    /// The user stopped it.
    StoppedByUser = "stoppedByUser", Stopped;
    /// An administrator took the user's rights away.
    StoppedByAdmin = "stoppedByAdmin", Stopped;
    /// The server ended in good order.
    Shutdown = "shutdown", Stopped;
    /// The conversation or its user was deleted.
    Deleted = "deleted", Stopped;
    /// The user sent a new message instead of answering a question.
    Replaced = "replaced", Stopped;
    /// The provider refused the credentials.
    ModelCredentials = "modelCredentials", Failed;
    /// The provider receives too many requests.
    ModelBusy = "modelBusy", Failed;
    /// The provider did not accept the request.
    ModelRefused = "modelRefused", Failed;
    /// The provider is in trouble, cannot be reached, or is not asked because it failed before.
    ModelAway = "modelAway", Failed;
    /// The provider stopped answering.
    ModelTimeout = "modelTimeout", Failed;
    /// The provider closed the stream before the end of the reply.
    StreamBroken = "streamBroken", Failed;
    /// The cost is limited, and the price of a model is not known.
    UnknownPrice = "unknownPrice", Failed;
    /// The model made a call that cannot be run, and `repairToolCall` is `false`.
    InvalidCall = "invalidCall", Failed;
    /// A program's answer does not fit its schema.
    Unfit = "unfit", Failed;
    /// The database could not be written or read.
    Storage = "storage", Failed;
    /// A panic: a bug of the server.
    Panic = "panic", Failed;
    /// A question to the user expired.
    Expired = "expired", Interrupted;
    /// The server was killed or crashed.
    ServerGone = "serverGone", Interrupted;
    /// Another server took the run over, because this one gave no sign of life.
    LeaseLost = "leaseLost", Interrupted;
    /// One that a newer server knows.
    Other = "other", Failed;
}

impl EndReason {
    /// Whether the operator should look at it.
    pub fn is_failure(self) -> bool {
        matches!(self.outcome(), Outcome::Failed | Outcome::Interrupted)
    }
}

impl Serialize for EndReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Read for EndReason {
    fn read(value: Value) -> Result<Self, Unreadable> {
        String::read(value).map(|name| Self::named(&name))
    }
}

deserialize_by_reading!(EndReason);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::HashSet;

    #[test]
    fn reasons_are_read_as_they_are_written() {
        for reason in EndReason::ALL {
            assert_eq!(serde_json::from_value::<EndReason>(json!(reason)).unwrap(), *reason);
        }
        let names: HashSet<_> = EndReason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), EndReason::ALL.len());
        assert_eq!(serde_json::from_value::<EndReason>(json!("of_tomorrow")).unwrap(), EndReason::Other);
    }
}
