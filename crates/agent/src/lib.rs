#![doc = include_str!("../README.md")]

mod calls;
mod event;
mod invoke;
mod reply;
mod retry;
mod run;
mod settings;
mod stop;
mod tools;

pub use event::{Event, EventSink, SinkClosed};
pub use invoke::{Answer, InvokeError, Question, invoke};
pub use run::{Decision, Ending, Limit, Outcome, PendingCall, Turn, run};
pub use settings::{Agent, Settings, Timeouts};
