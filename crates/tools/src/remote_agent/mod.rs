//! Tools of another server, by the contract of remote agents: `GET /tools` lists them, `POST
//! /tools/{name}` calls one, and `POST /resource` returns context about the user or the
//! environment.
//!
//! The server is not trusted: every text is limited in size, invisible characters are removed, and
//! a secret that the server echoes is replaced.

mod agent;
mod answer;
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
mod versions;

pub use agent::{Discovery, RemoteAgent};
pub use examine::{Examination, ExaminedTool, Finding, Verdict, examine};
pub use schema::RESERVED_PARAMETERS;
pub use settings::{RemoteAgentSettings, UserToken};
pub use source::{RemoteSelection, RemoteSource};
pub use tool::RemoteTool;
pub use versions::ToolVersions;
