#![doc = include_str!("../README.md")]

mod attributes;
mod directory;
mod discovery;
mod error;
mod filter;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod group;
mod groups;
mod patch;
mod queries;
mod reply;
mod request;
mod user;
mod users;

use axum::Router;
use axum::routing::get;
use capability::{Capability, Context, Definition};
use directory::{Limits, Scim};
use error::ScimError;
use std::sync::Arc;
use web::ApiFormat;
use web::openapi::{Access, ApiRouter, Tag};

/// The prefix of all paths.
const PREFIX: &str = "/scim/v2/";

/// The capability.
pub const DEFINITION: Definition =
    Definition { start: Some(|_| Ok(Arc::new(ScimCapability::default()))), ..Definition::new("scim") };

/// The group in the OpenAPI document.
const TAG: Tag = Tag {
    name: "SCIM",
    description: "Users and groups, as a directory manages them over SCIM 2.0 (RFC 7644). It sends one of the tokens in \
                  `auth.scim.tokens`; API keys have no scope for it.",
    access: Access::Senders,
};

/// The capability of a running server.
#[derive(Default)]
struct ScimCapability {
    limits: Arc<Limits>,
}

impl Capability for ScimCapability {
    fn sender_routes(&self, context: &Context) -> Option<ApiRouter> {
        let scim = Arc::new(Scim { context: context.clone(), limits: self.limits.clone() });
        Some(routes().map(|router| router.with_state(scim)))
    }

    fn api_format(&self) -> Option<ApiFormat> {
        Some(ApiFormat { prefix: PREFIX, error: error::from_gate })
    }
}

fn routes() -> ApiRouter<Arc<Scim>> {
    // Without it, the pages of the site would be asked for other paths, with the token as a user's credential.
    let others = get(unknown).post(unknown).put(unknown).patch(unknown).delete(unknown);
    ApiRouter::new(&TAG)
        .get("/scim/v2/ServiceProviderConfig", discovery::service, "Get the supported features of SCIM")
        .get("/scim/v2/ResourceTypes", discovery::types, "List the types of resources")
        .get("/scim/v2/ResourceTypes/{id}", discovery::one_type, "Get a type of resources")
        .get("/scim/v2/Schemas", discovery::schemas, "List the schemas of users and groups")
        .get("/scim/v2/Schemas/{id}", discovery::schema, "Get a schema")
        .get("/scim/v2/Users", users::list, "Find users of the directory")
        .post("/scim/v2/Users", users::add, "Add a user of the directory")
        .get("/scim/v2/Users/{id}", users::show, "Get a user of the directory")
        .put("/scim/v2/Users/{id}", users::replace, "Replace a user of the directory")
        .patch("/scim/v2/Users/{id}", users::change, "Change or disable a user of the directory")
        .delete("/scim/v2/Users/{id}", users::remove, "Delete a user of the directory and everything they own")
        .get("/scim/v2/Groups", groups::list, "Find groups of the directory")
        .post("/scim/v2/Groups", groups::add, "Add a group of the directory")
        .get("/scim/v2/Groups/{id}", groups::show, "Get a group of the directory")
        .put("/scim/v2/Groups/{id}", groups::replace, "Replace the name and the members of a group")
        .patch("/scim/v2/Groups/{id}", groups::change, "Change the name or the members of a group")
        .delete("/scim/v2/Groups/{id}", groups::remove, "Delete a group of the directory")
        .with_pages(Router::new().route("/scim/v2/{*rest}", others))
}

async fn unknown() -> ScimError {
    ScimError::not_found("There is nothing at this path.")
}
