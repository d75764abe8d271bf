//! Finds the authorization server of a service: by the service's metadata (RFC 9728), and by the metadata of the
//! authorization server (RFC 8414, OpenID Connect Discovery 1.0).

use crate::{Challenge, OauthError, OauthHttp};
use serde::Deserialize;
use settings::user_auth::{AccountAuth, AuthorizationServer, Service};
use url::Url;

const SERVICE: &str = "the service's metadata";
const SERVER: &str = "the authorization server's metadata";
const NO_PKCE: &str = "the authorization server's metadata do not say that it supports PKCE; if it does, write \
    `assumePkce: true` in `auth` of the connection";
const OTHER_SERVICE: &str = "the metadata are those of another service";
const UNCONFIRMED: &str = "the service's metadata name more than the service as the resource of its tokens, and the metadata of \
    that resource do not confirm it";
/// The path of the metadata. The path of the resource follows it (RFC 9728, 3.1).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// The most scopes that are taken from metadata.
pub(crate) const MAX_SCOPES: usize = 50;

/// The authorization server of a service, as its metadata or the config states it.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// The authorization server.
    pub server: ServerMetadata,
    /// The name of the service for its authorization server (RFC 8707).
    pub resource: String,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
}

/// The endpoints of an authorization server, and what it supports.
#[derive(Clone, Debug)]
pub struct ServerMetadata {
    /// The name of the authorization server, if it has metadata.
    pub issuer: Option<String>,
    /// Where users agree.
    pub authorization_endpoint: Url,
    /// Where tokens are issued.
    pub token_endpoint: Url,
    /// Where clients are registered.
    pub registration_endpoint: Option<Url>,
    /// Where tokens are revoked.
    pub revocation_endpoint: Option<Url>,
    /// How clients can prove who they are at the token endpoint, with the names of metadata; `None` if that is not known.
    pub auth_methods: Option<Vec<String>>,
    /// Whether answers have the parameter `iss` (RFC 9207).
    pub names_issuer: bool,
    /// Whether a client's id may be the address of its metadata.
    pub reads_client_documents: bool,
    /// The scopes that the authorization server names.
    pub scopes: Vec<String>,
}

/// The metadata of a service.
#[derive(Deserialize)]
pub(crate) struct ResourceDocument {
    pub(crate) resource: Option<String>,
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    #[serde(default)]
    pub(crate) scopes_supported: Vec<String>,
}

/// The metadata of an authorization server.
#[derive(Deserialize)]
pub(crate) struct ServerDocument {
    pub(crate) issuer: Option<String>,
    /// Absent at a server that issues tokens without a user only.
    authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: String,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// Whether an authorization server is used whose metadata do not say if it supports PKCE. MCP (2025-11-25) demands that
/// clients refuse it; some servers of identity providers, which are not made for MCP, leave it out.
#[derive(Clone, Copy)]
enum SilentServer {
    Accepted,
    Refused,
}

/// Finds the authorization server of a service. `challenge` is what the service says to a request without a token.
///
/// # Errors
/// There is none that can be used.
pub async fn discover(
    http: &OauthHttp,
    service: &Service,
    account: &AccountAuth,
    challenge: &Challenge,
) -> Result<Discovery, OauthError> {
    let silent = if service.is_mcp && !account.assume_pkce { SilentServer::Refused } else { SilentServer::Accepted };
    // Endpoints and issuers of the config are not discovered.
    let known = match &account.server {
        Some(AuthorizationServer::Endpoints { authorization, token, revocation }) => {
            Some(configured(authorization, token, revocation.as_ref()))
        }
        Some(AuthorizationServer::Issuer(issuer)) => Some(server_of_issuer(http, issuer.as_str(), silent).await?),
        None => None,
    };
    let document = if known.is_some() && !service.is_mcp {
        None
    } else {
        resource_document(http, &service.url, challenge).await?
    };
    let resource = document.as_ref().and_then(|document| document.resource.clone());
    let named = document.as_ref().and_then(|document| document.authorization_servers.first().cloned());
    let server = match (known, named) {
        (Some(server), _) => server,
        (None, Some(issuer)) => server_of_issuer(http, &issuer, silent).await?,
        (None, None) if service.is_mcp => server_of_origin(http, &service.url, silent).await?,
        (None, None) => return Err(OauthError::Invalid("the service does not name its authorization server")),
    };
    let offered = document.map(|document| document.scopes_supported).unwrap_or_default();
    let scopes = [&account.scopes, &challenge.scopes, &offered].into_iter().find(|scopes| !scopes.is_empty());
    let mut scopes: Vec<_> = scopes.into_iter().flatten().take(MAX_SCOPES).cloned().collect();
    // Without it, some servers issue no token that lives longer than the user's session there.
    const OFFLINE: &str = "offline_access";
    if account.scopes.is_empty() && !scopes.is_empty() && server.scopes.iter().any(|scope| scope == OFFLINE) {
        scopes.push(OFFLINE.to_owned());
    }
    scopes.sort_unstable();
    scopes.dedup();
    let resource = resource.unwrap_or_else(|| service.url.to_string());
    Ok(Discovery { server, resource, scopes })
}

fn configured(authorization: &Url, token: &Url, revocation: Option<&Url>) -> ServerMetadata {
    ServerMetadata {
        issuer: None,
        authorization_endpoint: authorization.clone(),
        token_endpoint: token.clone(),
        registration_endpoint: None,
        revocation_endpoint: revocation.cloned(),
        auth_methods: None,
        names_issuer: false,
        reads_client_documents: false,
        scopes: Vec::new(),
    }
}

/// Returns the metadata of a service, if it has some.
pub(crate) async fn resource_document(
    http: &OauthHttp,
    service: &Url,
    challenge: &Challenge,
) -> Result<Option<ResourceDocument>, OauthError> {
    let mut urls = match &challenge.resource_metadata {
        Some(text) => vec![http.address(text)?],
        None => Vec::new(),
    };
    let path = service.path().trim_end_matches('/');
    urls.extend((!path.is_empty()).then(|| metadata_address(service)));
    // MCP also uses this address for services with a path.
    urls.push(with_path(service, WELL_KNOWN));
    for url in urls {
        let Some(document) = http.document::<ResourceDocument>(SERVICE, url.clone()).await? else { continue };
        return match document.resource.as_deref().map_or(Named::Service, |resource| Named::parse(service, resource)) {
            Named::Service => Ok(Some(document)),
            Named::Above(resource) if metadata_address(&resource) == url => Ok(Some(document)),
            Named::Above(resource) => confirmed(http, service, resource).await.map(Some),
            Named::Other => Err(OauthError::Invalid(OTHER_SERVICE)),
        };
    }
    Ok(None)
}

/// Returns the metadata of a resource that contains a service. They are loaded from the address that only the operators of the
/// host control (RFC 9728, 3.3). Otherwise one of several services of a host could get a token for the others.
async fn confirmed(http: &OauthHttp, service: &Url, resource: Url) -> Result<ResourceDocument, OauthError> {
    let document = http.document::<ResourceDocument>(SERVICE, metadata_address(&resource)).await?;
    let names = |document: &ResourceDocument| document.resource.as_deref().map(|named| Named::parse(service, named));
    document.filter(|found| names(found) == Some(Named::Above(resource))).ok_or(OauthError::Invalid(UNCONFIRMED))
}

/// Returns the address of the metadata of a resource (RFC 9728, 3.1).
fn metadata_address(resource: &Url) -> Url {
    with_path(resource, &format!("{WELL_KNOWN}{}", resource.path().trim_end_matches('/')))
}

/// The resource that the metadata of a service name.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    /// The service.
    Service,
    /// A part of the service's host that contains more than the service, up to the whole host. Its path does not end with a
    /// slash.
    Above(Url),
    /// Another resource, or none.
    Other,
}

impl Named {
    fn parse(service: &Url, resource: &str) -> Self {
        let Ok(mut resource) = Url::parse(resource) else { return Self::Other };
        let is_same_host = service.origin() == resource.origin()
            && resource.username().is_empty()
            && resource.password().is_none()
            && (resource.query().is_none() || resource.query() == service.query());
        let base = resource.path().trim_end_matches('/').to_owned();
        match service.path().trim_end_matches('/').strip_prefix(&base).filter(|_| is_same_host) {
            Some("") => Self::Service,
            Some(rest) if rest.starts_with('/') => {
                resource.set_path(&base);
                Self::Above(resource)
            }
            _ => Self::Other,
        }
    }
}

/// Returns an authorization server at which users agree.
async fn server_of_issuer(http: &OauthHttp, issuer: &str, silent: SilentServer) -> Result<ServerMetadata, OauthError> {
    server_metadata(http, document_of_issuer(http, issuer).await?, silent)
}

/// Returns the metadata of an authorization server.
pub(crate) async fn document_of_issuer(http: &OauthHttp, issuer: &str) -> Result<ServerDocument, OauthError> {
    let url = http.address(issuer)?;
    let found = find_document(http, &url).await?;
    let document = found.ok_or(OauthError::Invalid("the authorization server has no metadata"))?;
    // Only then are they those of this server (RFC 8414, 3.3).
    let same = |said: &String| said.trim_end_matches('/') == issuer.trim_end_matches('/');
    if !document.issuer.as_ref().is_some_and(same) {
        return Err(OauthError::Invalid("the metadata are those of another authorization server"));
    }
    Ok(document)
}

/// Returns the authorization server at the origin of a service without metadata, as MCP had it at first. If it has no
/// metadata either, its endpoints have fixed paths.
async fn server_of_origin(http: &OauthHttp, service: &Url, silent: SilentServer) -> Result<ServerMetadata, OauthError> {
    let root = with_path(service, "/");
    if let Some(document) = find_document(http, &root).await? {
        let same = |said: &String| Url::parse(said).is_ok_and(|said| said.origin() == root.origin());
        if !document.issuer.as_ref().is_some_and(same) {
            return Err(OauthError::Invalid("the metadata are those of another authorization server"));
        }
        return server_metadata(http, document, silent);
    }
    let mut server = configured(&with_path(service, "/authorize"), &with_path(service, "/token"), None);
    server.registration_endpoint = Some(with_path(service, "/register"));
    Ok(server)
}

async fn find_document(http: &OauthHttp, issuer: &Url) -> Result<Option<ServerDocument>, OauthError> {
    let path = issuer.path().trim_end_matches('/');
    let mut urls = vec![
        with_path(issuer, &format!("/.well-known/oauth-authorization-server{path}")),
        with_path(issuer, &format!("/.well-known/openid-configuration{path}")),
    ];
    urls.extend((!path.is_empty()).then(|| with_path(issuer, &format!("{path}/.well-known/openid-configuration"))));
    for url in urls {
        if let Some(document) = http.document(SERVER, url).await? {
            return Ok(Some(document));
        }
    }
    Ok(None)
}

fn server_metadata(
    http: &OauthHttp,
    document: ServerDocument,
    silent: SilentServer,
) -> Result<ServerMetadata, OauthError> {
    // Without PKCE a stolen code could be used.
    match (&document.code_challenge_methods_supported, silent) {
        (Some(methods), _) if !methods.iter().any(|method| method == "S256") => {
            return Err(OauthError::Invalid("the authorization server does not support PKCE"));
        }
        (None, SilentServer::Refused) => return Err(OauthError::Invalid(NO_PKCE)),
        _ => {}
    }
    let authorization_endpoint =
        document.authorization_endpoint.ok_or(OauthError::Invalid("users cannot agree at the authorization server"))?;
    let optional = |text: Option<String>| text.map(|text| http.address(&text)).transpose();
    Ok(ServerMetadata {
        issuer: document.issuer,
        authorization_endpoint: http.address(&authorization_endpoint)?,
        token_endpoint: http.address(&document.token_endpoint)?,
        registration_endpoint: optional(document.registration_endpoint)?,
        revocation_endpoint: optional(document.revocation_endpoint)?,
        auth_methods: document.token_endpoint_auth_methods_supported,
        names_issuer: document.authorization_response_iss_parameter_supported,
        reads_client_documents: document.client_id_metadata_document_supported,
        scopes: document.scopes_supported,
    })
}

/// Returns the address of a path on the same server.
fn with_path(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_name_the_service_or_a_part_of_its_host() {
        let check = |service: &str, resource: &str, expected: Named| {
            assert_eq!(Named::parse(&service.parse().unwrap(), resource), expected, "{service} {resource}");
        };
        let above = |resource: &str| Named::Above(resource.parse().unwrap());
        check("https://m.test/mcp", "https://m.test/mcp", Named::Service);
        check("https://m.test/mcp/", "https://m.test/mcp", Named::Service);
        check("https://m.test/mcp", "https://m.test/mcp/", Named::Service);
        check("https://m.test/", "https://m.test", Named::Service);
        check("https://m.test/mcp?a=1", "https://m.test/mcp", Named::Service);
        check("https://m.test/mcp?a=1", "https://m.test/mcp?a=1", Named::Service);
        check("https://m.test/mcp", "https://m.test", above("https://m.test"));
        check("https://m.test/a/mcp", "https://m.test/a/", above("https://m.test/a"));
        check("https://m.test/mcp", "https://m.test/mcp?a=1", Named::Other);
        check("https://m.test/mcp-2", "https://m.test/mcp", Named::Other);
        check("https://m.test/", "https://m.test/mcp", Named::Other);
        check("https://m.test/mcp", "https://evil.test/mcp", Named::Other);
        check("https://m.test/mcp", "https://eve@m.test/mcp", Named::Other);
        check("https://m.test/mcp", "http://m.test/mcp", Named::Other);
        check("https://m.test/mcp", "mcp", Named::Other);
    }

    #[test]
    fn the_address_of_metadata_has_the_path_of_the_resource() {
        let check = |resource: &str, expected: &str| {
            assert_eq!(metadata_address(&resource.parse().unwrap()).as_str(), expected, "{resource}");
        };
        check("https://m.test", "https://m.test/.well-known/oauth-protected-resource");
        check("https://m.test/a/mcp/", "https://m.test/.well-known/oauth-protected-resource/a/mcp");
    }
}
