//! The binary from outside.

mod accounts;
mod agents;
mod audit;
mod backup;
mod callers;
mod client;
mod database_down;
mod deploy;
mod doctor;
mod drain;
mod embed;
mod files;
mod hooks;
mod http;
mod limits;
mod mcp;
mod operations;
mod process;
mod provider;
mod question;
mod rates;
mod reload;
mod remote_agent;
mod replicas;
mod traces;
mod turn_operators;
