//! Evaluations of agents that are made for tests: no model, no server.

mod agreement;
mod exports;
mod files;
mod gates;
mod imports;
mod reports;
mod runs;
mod scorers;
mod support;
