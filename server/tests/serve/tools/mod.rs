//! Tools of MCP servers and remote agents, uploads, and attached documents.

mod documents;
mod files;
mod mcp;
mod remote_agent;
