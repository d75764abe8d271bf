//! The metadata of the protected resource (RFC 9728), by which a client finds out where to get a token.

use crate::route::PATH;
use crate::section::McpApi;
use axum::Json;
use axum::extract::{FromRequest, Request, State};
use capability::Context;
use config::{AuthMode, Config};
use schemars::JsonSchema;
use serde::Serialize;
use std::convert::Infallible;
use url::Url;
use web::openapi::{Access, ApiRouter, RouteInput, Tag};
use web::{HttpError, Origin};
use wire::UserError;

/// The path of the metadata, without that of the resource.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// The group in the OpenAPI document.
const METADATA: Tag = Tag {
    name: "MCP: metadata",
    description: "Where clients of `/mcp` get tokens, in the auth mode `jwt` with an `issuer`.",
    access: Access::Anyone,
};

/// Returns the routes. The metadata of a resource with a path is found with that path behind the well-known
/// one; some clients look without it.
pub(crate) fn routes(context: Context) -> ApiRouter {
    let of_path = format!("{METADATA_PATH}{PATH}");
    ApiRouter::new(&METADATA)
        .get(METADATA_PATH, show, "Get the metadata of the MCP server as a protected resource (RFC 9728)")
        .get(of_path, show, "Get the same, at the path that RFC 9728 derives from `/mcp`")
        .map(|router| router.with_state(context))
}

/// The metadata of a protected resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ProtectedResourceMetadata")]
struct Metadata {
    /// The URL of the resource.
    resource: String,
    /// The issuers of tokens that are accepted.
    authorization_servers: Vec<String>,
    /// How a token is sent.
    bearer_methods_supported: [&'static str; 1],
}

/// The origin under which a client reaches this server, if it is known.
struct ReachedOrigin(Option<Origin>);

impl<S: Sync> FromRequest<S> for ReachedOrigin {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(request.extensions().get().cloned()))
    }
}

impl RouteInput for ReachedOrigin {}

/// `GET /.well-known/oauth-protected-resource`
async fn show(
    State(context): State<Context>,
    ReachedOrigin(origin): ReachedOrigin,
) -> Result<Json<Metadata>, HttpError> {
    let config = context.current.config();
    let found = origin.and_then(|Origin(origin)| metadata(&config, &origin));
    Ok(Json(found.ok_or_else(UserError::not_found)?))
}

/// Returns the metadata; `None` if there is no MCP server, or no issuer from which a client could get a token.
fn metadata(config: &Config, origin: &str) -> Option<Metadata> {
    config.section::<McpApi>()?;
    let issuer = issuer(config)?.to_owned();
    let resource = format!("{origin}{PATH}");
    Some(Metadata { resource, authorization_servers: vec![issuer], bearer_methods_supported: ["header"] })
}

/// Returns the issuer of tokens, if it is a URL, as clients need it.
fn issuer(config: &Config) -> Option<&str> {
    let AuthMode::Jwt(jwt) = &config.auth.mode else { return None };
    jwt.issuer.as_deref().filter(|issuer| Url::parse(issuer).is_ok_and(|url| matches!(url.scheme(), "https" | "http")))
}

/// Returns the value of `WWW-Authenticate`, which leads a client to the metadata if there is any.
pub(crate) fn challenge(config: &Config, origin: Option<&str>) -> String {
    match origin.filter(|origin| metadata(config, origin).is_some()) {
        Some(origin) => format!("Bearer resource_metadata=\"{origin}{METADATA_PATH}{PATH}\""),
        None => "Bearer".to_owned(),
    }
}
