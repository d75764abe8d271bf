#![doc = include_str!("../README.md")]

mod agent;
mod answer;
mod capability;
mod client;
mod compliance;
mod examine;
mod listing;
mod resource;
mod schema;
mod secrets;
mod settings;
mod source;
mod tool;
mod user;
mod versions;

pub use self::capability::DEFINITION;
pub use agent::{Discovery, RemoteAgent};
pub use config::RESERVED_PARAMETERS;
pub use examine::{Examination, ExaminedTool, Finding, Verdict, examine};
pub use settings::{RemoteAgentSettings, UserToken};
pub use source::{RemoteSelection, RemoteSource};
pub use tool::RemoteTool;
pub use user::{EnteredVariables, UserService};
pub use versions::ToolVersions;
