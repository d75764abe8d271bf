//! Tools of MCP servers and remote agents, web pages, uploads, attached documents, documents of libraries, skills,
//! and workspaces.

pub(crate) mod connected_accounts;
mod documents;
mod files;
mod handbook;
mod mcp;
mod mcp_apps;
mod mcp_content;
mod mcp_servers;
mod model_connections;
mod programs;
mod records;
mod remote_agent;
mod scans;
mod shared_files;
mod skills;
mod tool_questions;
mod web;
mod workspace;
