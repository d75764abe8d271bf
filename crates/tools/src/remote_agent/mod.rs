//! Tools that another server runs, by the contract of tool agents: `GET /tools` lists them, `POST /tools/{name}` calls one,
//! `POST /resource` says something about the user or the surroundings.
//!
//! What the server says is not trusted: every text is bounded, what cannot be seen is taken out, and a secret that it echoes is
//! replaced.

mod agent;
mod answer;
mod client;
mod examine;
mod listing;
mod resource;
mod schema;
mod secrets;
mod settings;
mod source;
mod strict;
mod tool;
mod versions;

pub use agent::{Discovery, RemoteAgent};
pub use examine::{Examination, ExaminedTool, Finding, Verdict, examine};
pub use schema::RESERVED_PARAMETERS;
pub use settings::{RemoteAgentSettings, UserToken};
pub use source::{RemoteSelection, RemoteSource};
pub use tool::RemoteTool;
pub use versions::Versions;
