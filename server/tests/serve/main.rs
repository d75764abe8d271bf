//! Tests of the server binary as a process, over HTTP.

mod a2a;
mod ag_ui;
mod connections;
mod howto;
mod http;
mod mcp_server;
mod openai;
mod operation;
mod process;
mod provider;
mod runs;
mod sign_in;
mod storage;
mod tools;
mod workflows;
