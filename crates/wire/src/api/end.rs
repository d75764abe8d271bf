//! The reasons why a run ended: the same names in messages, the store, logs, metrics, the admin
//! console and the API.

use crate::api::Outcome;
use crate::locale::Text;
use crate::read::{Read, Unreadable, deserialize_by_reading};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Generates the enum with the names and outcomes of its variants.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $outcome:ident;)*) => {
        /// Why a run ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EndReason {
            $($(#[doc = $doc])* $variant,)*
        }

        impl EndReason {
            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name in storage and in the UI.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the reason with this name; [`EndReason::Other`] for a name that only a newer
            /// server knows.
            pub fn named(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Other,
                }
            }

            /// Returns the outcome that belongs to this reason.
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
    /// The limit of steps, `maxSteps`, was reached.
    MaxSteps = "maxSteps", Limit;
    /// A call of a tool in `stopOnToolCall` ended the turn.
    StopOnToolCall = "stopOnToolCall", Limit;
    /// The time limit of the turn was reached.
    Time = "time", Limit;
    /// The limit of model requests, `limits.requests`, was reached.
    Requests = "requests", Limit;
    /// The token limit, `limits.totalTokens`, was reached.
    TotalTokens = "totalTokens", Limit;
    /// The limit of tool calls, `limits.toolCalls`, was reached.
    ToolCalls = "toolCalls", Limit;
    /// The cost limit, `limits.costUsd`, was reached.
    CostUsd = "costUsd", Limit;
    /// The model repeated the same calls.
    Loop = "loop", Limit;
    /// The provider cut off the model's answer at its length limit: `maxOutputTokens`, or that of
    /// the model.
    MaxOutputTokens = "maxOutputTokens", Limit;
    /// The model or its provider's filter refused the answer, or cut it off.
    ContentFilter = "contentFilter", Limit;
    /// The answer exceeded the size that the server stores.
    TooLong = "tooLong", Failed;
    /// The user stopped it.
    StoppedByUser = "stoppedByUser", Stopped;
    /// An administrator revoked the user's access.
    StoppedByAdmin = "stoppedByAdmin", Stopped;
    /// The server shut down gracefully.
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
    /// The provider has an outage, is unreachable, or is skipped because it failed before.
    ModelAway = "modelAway", Failed;
    /// The provider stopped answering.
    ModelTimeout = "modelTimeout", Failed;
    /// The provider closed the stream before the end of the reply.
    StreamBroken = "streamBroken", Failed;
    /// The cost is limited, and the price of a model is unknown.
    UnknownPrice = "unknownPrice", Failed;
    /// The model made a call that cannot be run, and `repairToolCall` is `false`.
    InvalidCall = "invalidCall", Failed;
    /// The answer to an invocation does not match its schema.
    Unfit = "unfit", Failed;
    /// The database could not be written or read.
    Storage = "storage", Failed;
    /// Memory was short, and the server ended this answer to protect the others.
    Memory = "memory", Failed;
    /// A panic, which is a bug in the server.
    Panic = "panic", Failed;
    /// An approval request or a question to the user expired.
    Expired = "expired", Interrupted;
    /// The server was killed or crashed.
    ServerGone = "serverGone", Interrupted;
    /// Another server took over the run because this one did not renew its lease.
    LeaseLost = "leaseLost", Interrupted;
    /// A reason that only a newer server knows.
    Other = "other", Failed;
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EndReason {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EndReason".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<_> = Self::ALL.iter().map(|reason| reason.name()).collect();
        let description = "Why a run ended. More values may be added.";
        schemars::json_schema!({ "description": description, "type": "string", "enum": names })
    }
}

impl EndReason {
    /// Returns whether an operator should investigate it.
    pub fn is_failure(self) -> bool {
        matches!(self.outcome(), Outcome::Failed | Outcome::Interrupted)
    }

    /// Returns whether the provider ended the model's answer before its end, so that what there is of
    /// it is a part.
    pub fn is_cut(self) -> bool {
        matches!(self, Self::MaxOutputTokens | Self::ContentFilter)
    }

    /// Returns an English sentence that says why an answer is not complete, for exports, prompts and other
    /// programs; `None` if the outcome or the error of the answer is enough.
    pub fn explanation(self) -> Option<&'static str> {
        match self {
            Self::MaxSteps => Some(Text::LimitSteps.english()),
            Self::StopOnToolCall => Some("The agent ended with its last call, as configured."),
            Self::Time => Some(Text::LimitTime.english()),
            Self::Requests => Some(Text::LimitRequests.english()),
            Self::TotalTokens => Some(Text::LimitTokens.english()),
            Self::ToolCalls => Some(Text::LimitToolCalls.english()),
            Self::CostUsd => Some(Text::LimitCost.english()),
            Self::Loop => Some("The agent kept repeating the same calls."),
            Self::MaxOutputTokens => Some(Text::LimitOutput.english()),
            Self::ContentFilter => Some(Text::LimitFilter.english()),
            Self::StoppedByAdmin => Some("An administrator stopped the answer."),
            Self::Shutdown => Some("The server was restarted."),
            Self::Replaced => Some("The user went on without answering a question."),
            Self::Expired => Some("A request to the user expired."),
            Self::ServerGone | Self::LeaseLost => Some("The server stopped while the answer was being written."),
            _ => None,
        }
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
    fn end_reasons_round_trip() {
        for reason in EndReason::ALL {
            assert_eq!(serde_json::from_value::<EndReason>(json!(reason)).unwrap(), *reason);
        }
        let names: HashSet<_> = EndReason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), EndReason::ALL.len());
        assert_eq!(serde_json::from_value::<EndReason>(json!("of_tomorrow")).unwrap(), EndReason::Other);
    }

    #[test]
    fn every_limit_and_interruption_is_explained() {
        for reason in EndReason::ALL {
            let is_explained = reason.explanation().is_some();
            match reason.outcome() {
                Outcome::Limit | Outcome::Interrupted => assert!(is_explained, "{reason:?}"),
                Outcome::Done | Outcome::Waiting => assert!(!is_explained, "{reason:?}"),
                Outcome::Stopped | Outcome::Failed => {}
            }
        }
    }
}
