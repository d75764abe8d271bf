//! Evaluations of agents that are made for tests: no model, no server.

mod files;
mod gates;
mod imports;
mod reports;
mod runs;
mod scorers;
mod support;
