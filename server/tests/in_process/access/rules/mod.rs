//! Tests of the rights of users: access rules, roles and approvals.

mod admin;
mod console_config;
mod exposure;
mod grants;
mod headers;
mod home;
mod inside;
mod jobs;
mod modes;
mod revoked;
mod routes;
