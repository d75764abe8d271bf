//! Tools of MCP servers and remote agents, web pages, uploads, and attached documents.

mod documents;
mod files;
mod mcp;
mod remote_agent;
mod web;
