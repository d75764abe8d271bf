//! Tools of MCP servers and remote agents, web pages, and uploads.

mod files;
mod mcp;
mod remote_agent;
mod web;
