#![doc = include_str!("../README.md")]

mod agent_section;
mod bounds;
mod check;
mod human;
mod path;
mod references;
mod sender;
mod step;
mod trigger;
mod workflow;

pub use agent_section::{AgentWorkflows, ConfirmForm, WhenDone, WorkflowEntry, WorkflowTool};
pub use bounds::WorkflowBytes;
pub use human::{Ask, HumanStep, OnLapse};
pub use path::{ValuePath, is_path};
pub use references::{OPERATORS, Place, Reference, Target, reads_by_name, references};
pub use sender::WebhookSender;
pub use step::{
    AgentStep, Case, EndpointStep, FailStep, IfStep, ListKey, LoopStep, ParallelStep, Retry, ReturnStep, Step,
    StepKind, StepList, SwitchStep, ToolStep, WaitStep, WorkflowStep,
};
pub use trigger::{
    CronTrigger, EventTrigger, MAX_EVENT_NAME, Trigger, TriggerKind, TriggerQuota, TriggerRights, WebhookTrigger,
    is_event_name,
};
pub use workflow::{RunAs, RunLimits, Workflow, Workflows};
