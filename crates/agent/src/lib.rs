#![doc = include_str!("../README.md")]

mod act;
mod calls;
mod circuit;
mod event;
mod exposure;
mod grants;
mod invoke;
mod limits;
mod loops;
mod policy;
mod prepare_step;
mod prune;
mod reply;
mod retry;
mod rules;
mod run;
mod settings;
mod sources;
mod stop;
mod sub_agent;
mod tools;
mod turn;

pub use circuit::{CircuitFacts, Circuits};
pub use event::{Event, EventSink, Repeat, Replied, SinkClosed};
pub use exposure::Seen;
pub use grants::{Grant, Grants, Wanted};
pub use invoke::{Answer, InvokeError, Question, invoke};
pub use limits::{Limits, Spent};
pub use policy::{Asked, Policy, Ruling};
pub use prepare_step::{StepRule, Steps};
pub use prune::{Prune, PruneReasoning, PruneToolCalls, prune};
pub use rules::{Action, Rule, RuleSettings, Rules};
pub use run::run;
pub use settings::{Agent, Settings, Timeouts};
pub use sub_agent::{SubAgent, Within, waiting_within};
pub use turn::{Decision, Ending, Limit, Outcome, PendingCall, Turn, WaitingCall, skipped};
