//! Tools of MCP servers and remote agents, web pages, uploads, attached documents, and skills.

mod documents;
mod files;
mod mcp;
mod remote_agent;
mod skills;
mod web;
