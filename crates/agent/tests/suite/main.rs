//! The behaviour of agents with scripted models.

mod context;
mod costly;
mod deferral;
mod execution_modes;
mod going_on;
mod grants;
mod history;
mod levels;
mod offer;
mod prune;
mod routing;
mod sub_agents;
mod support;
mod turns;
