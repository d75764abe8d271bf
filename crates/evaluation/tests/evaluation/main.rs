//! Evaluations of agents that are made for tests: no model, no server.

mod exports;
mod files;
mod gates;
mod imports;
mod reports;
mod runs;
mod scorers;
mod support;
