//! The metadata of the protected resource (RFC 9728), by which a client finds out where to get a token.

use crate::route::PATH;
use crate::section::McpApi;
use auth::{Authority, requested_host};
use axum::Json;
use axum::extract::{FromRequest, Request, State};
use capability::Context;
use config::{AuthMode, Config};
use schemars::JsonSchema;
use serde::Serialize;
use std::convert::Infallible;
use url::Url;
use web::HttpError;
use web::openapi::{Access, ApiRouter, RouteInput, Tag};
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

/// The host that a request names.
struct RequestedHost(Option<Authority>);

impl<S: Sync> FromRequest<S> for RequestedHost {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(requested_host(&request)))
    }
}

impl RouteInput for RequestedHost {}

/// `GET /.well-known/oauth-protected-resource`
async fn show(State(context): State<Context>, RequestedHost(host): RequestedHost) -> Result<Json<Metadata>, HttpError> {
    let config = context.current.config();
    let found = host.and_then(|host| metadata(&config, &host));
    Ok(Json(found.ok_or_else(UserError::not_found)?))
}

/// Returns the metadata; `None` if there is no MCP server, or no issuer from which a client could get a token.
fn metadata(config: &Config, host: &Authority) -> Option<Metadata> {
    config.section::<McpApi>()?;
    let issuer = issuer(config)?.to_owned();
    let resource = format!("{}{PATH}", origin(config, host));
    Some(Metadata { resource, authorization_servers: vec![issuer], bearer_methods_supported: ["header"] })
}

/// Returns the issuer of tokens, if it is a URL, as clients need it.
fn issuer(config: &Config) -> Option<&str> {
    let AuthMode::Jwt(jwt) = &config.auth.mode else { return None };
    jwt.issuer.as_deref().filter(|issuer| Url::parse(issuer).is_ok_and(|url| matches!(url.scheme(), "https" | "http")))
}

/// Returns the value of `WWW-Authenticate`, which leads a client to the metadata if there is any.
pub(crate) fn challenge(config: &Config, host: &Authority) -> String {
    match metadata(config, host) {
        Some(_) => format!("Bearer resource_metadata=\"{}{METADATA_PATH}{PATH}\"", origin(config, host)),
        None => "Bearer".to_owned(),
    }
}

/// Returns the origin under which a request has found the server, without a final slash: that of
/// `publicUrls` with the requested host, or else `http://` with the host, which is this machine.
pub(crate) fn origin(config: &Config, host: &Authority) -> String {
    let is_requested = |url: &&Url| {
        let named = url.host_str().map(|name| match url.port() {
            Some(port) => format!("{name}:{port}"),
            None => name.to_owned(),
        });
        named.and_then(|named| Authority::parse(&named)).is_some_and(|named| named.is_same(host))
    };
    match config.auth.public_urls.iter().find(is_requested) {
        Some(url) => url.origin().ascii_serialization(),
        None => format!("http://{host}"),
    }
}
