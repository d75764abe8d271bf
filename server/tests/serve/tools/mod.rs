//! Tools of MCP servers and remote agents, and uploads.

mod files;
mod mcp;
mod remote_agent;
