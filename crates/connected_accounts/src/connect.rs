//! Connects an account: begins the authorization code flow and finishes it.

use crate::accounts::Accounts;
use crate::audit;
use crate::oauth::{
    Callback, Challenge, ClientIdentity, Discovery, NewAuthorization, OauthError, OauthHttp, TokenClient, authorize,
    discover, probe, register,
};
use crate::pending::PendingConnection;
use crate::store::{self, NewTokens};
use crate::tokens::{AccountTokens, TokenSource};
use ::store::StoreError;
use serde_json::json;
use settings::user_auth::{AccountAuth, Service, UserAuth};
use sha2::{Digest, Sha256};
use url::Url;
use web::times::now_millis;

/// The path to which authorization servers redirect.
pub(crate) const CALLBACK_PATH: &str = "/auth/connected-accounts/callback";
/// The path of the document about this client.
pub(crate) const CLIENT_PATH: &str = "/auth/connected-accounts/client.json";
/// How long a registered client is used at most, in milliseconds: an authorization server may delete it without notice.
const CLIENT_TIME: i64 = 30 * 86_400_000;
/// How long before its secret expires a client is registered anew, in milliseconds.
const CLIENT_MARGIN: i64 = 3_600_000;

/// Why an account cannot be connected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectProblem {
    /// The server cannot encrypt the tokens.
    #[error("{0}")]
    Keys(String),
    #[error(transparent)]
    Oauth(#[from] OauthError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user has too many accounts.
    #[error("the user has too many connected accounts")]
    TooMany,
}

/// An authorization that has begun.
pub(crate) struct Begun {
    /// Where the user agrees.
    pub(crate) url: Url,
    pub(crate) pending: PendingConnection,
}

/// Returns the document about this client, whose address is its id (OAuth Client ID Metadata Document).
pub(crate) fn client_document(origin: &str) -> serde_json::Value {
    json!({
        "client_id": format!("{origin}{CLIENT_PATH}"),
        "client_name": "Chatwright",
        "client_uri": origin,
        "redirect_uris": [format!("{origin}{CALLBACK_PATH}")],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    })
}

impl Accounts {
    /// Begins to connect a user's account. `origin` is that under which their browser reaches this server.
    ///
    /// # Errors
    /// See [`ConnectProblem`].
    pub(crate) async fn begin(&self, service: &Service, user_id: &str, origin: &str) -> Result<Begun, ConnectProblem> {
        let UserAuth::Account(account) = &service.auth else {
            return Err(OauthError::Invalid("this service needs no account").into());
        };
        if let Some(problem) = self.keys().problem() {
            return Err(ConnectProblem::Keys(problem.to_owned()));
        }
        let http = OauthHttp::new(service.allow_private)?;
        let challenge = if service.is_mcp { probe(&http, &service.url).await } else { Challenge::default() };
        let Discovery { server, resource, mut scopes } = discover(&http, service, account, &challenge).await?;
        if let Some(row) =
            store::account(self.store(), user_id, &service.name).await?.filter(|row| !row.needed_scopes.is_empty())
        {
            let known = [row.scopes.as_str(), row.needed_scopes.as_str()].join(" ");
            scopes.extend(known.split_whitespace().map(str::to_owned));
            scopes.sort_unstable();
            scopes.dedup();
        }
        let redirect_uri = format!("{origin}{CALLBACK_PATH}");
        let registering = Registering { http: &http, account, server: &server, redirect_uri: &redirect_uri, origin };
        let (client, registration) = self.client(registering).await?;
        let new = NewAuthorization {
            server: &server,
            client: &client,
            redirect_uri: &redirect_uri,
            scopes: &scopes,
            resource: &resource,
        };
        let (url, authorization) = authorize(&new);
        let (token_endpoint, revocation_endpoint) = (server.token_endpoint, server.revocation_endpoint);
        let allow_private = service.allow_private;
        let source = TokenSource { token_endpoint, revocation_endpoint, client, resource, allow_private };
        let pending = PendingConnection {
            user_id: user_id.to_owned(),
            service: service.name.clone(),
            identity: service.identity(),
            authorization,
            source,
            redirect_uri,
            scopes,
            registration,
            begun_at: now_millis(),
        };
        Ok(Begun { url, pending })
    }

    /// Finishes what the user has begun in this browser: exchanges the code and stores the tokens. A code can be used
    /// once, so if this server ends in between, the user connects the account again.
    ///
    /// # Errors
    /// See [`ConnectProblem`].
    pub(crate) async fn finish(
        &self,
        service: &Service,
        user_id: &str,
        pending: &PendingConnection,
        answer: &Callback,
    ) -> Result<(), ConnectProblem> {
        let is_theirs = pending.user_id == user_id && pending.identity == service.identity();
        if !is_theirs || pending.is_expired() {
            return Err(OauthError::Expired.into());
        }
        let code = pending.authorization.code(answer)?;
        let source = &pending.source;
        let http = OauthHttp::new(service.allow_private)?;
        let client = TokenClient { http: &http, endpoint: &source.token_endpoint, client: &source.client };
        let proof = (code.as_str(), pending.authorization.verifier.as_str());
        let issued = client.with_code(proof, &pending.redirect_uri, &source.resource).await;
        if let (Err(OauthError::Refused("invalid_client" | "unauthorized_client")), Some(id)) =
            (&issued, &pending.registration)
        {
            store::delete_client(self.store(), id).await?;
        }
        let issued = issued?;
        let scopes = issued.scopes.as_ref().unwrap_or(&pending.scopes).join(" ");
        let tokens = AccountTokens::new(service, &issued, source.clone());
        let sealed = self.seal(user_id, &service.name, &tokens).map_err(ConnectProblem::Keys)?;
        let about = json!({ "service": service.name, "scopes": scopes });
        let account = (user_id, service.name.as_str());
        let new = NewTokens { sealed, scopes };
        let is_stored =
            store::connect(self.store(), account, new, now_millis(), audit(user_id, "connect", about)).await?;
        if is_stored { Ok(()) } else { Err(ConnectProblem::TooMany) }
    }

    /// Returns the identity of this server for an authorization server: a client of the config, the address of a
    /// document, or a registered client with the id of its registration.
    async fn client(&self, registering: Registering<'_>) -> Result<(ClientIdentity, Option<String>), ConnectProblem> {
        let Registering { http, account, server, redirect_uri, origin } = registering;
        if let Some(client) = &account.client {
            return Ok((ClientIdentity::from_config(client, server.auth_methods.as_deref()), None));
        }
        // The authorization server reads the document, so it must be able to reach it.
        if server.reads_client_documents && origin.starts_with("https://") {
            let id = format!("{origin}{CLIENT_PATH}");
            return Ok((ClientIdentity::new(id, None, crate::oauth::AuthMethod::None), None));
        }
        let place = server.registration_endpoint.as_ref().map(Url::as_str).unwrap_or_default();
        let id = hex::encode(Sha256::digest(format!("{place}\n{redirect_uri}\n{}", server.token_endpoint)));
        let context = ["client", id.as_str()];
        if let Some(sealed) = store::client(self.store(), &id, now_millis()).await?
            && let Some(client) = self.keys().open(&context, &sealed)
        {
            return Ok((client, Some(id)));
        }
        let (client, expires_at) = register(http, server, redirect_uri).await?;
        let until = now_millis() + CLIENT_TIME;
        let until = if expires_at > 0 { until.min(expires_at.saturating_mul(1_000) - CLIENT_MARGIN) } else { until };
        let sealed = self.keys().seal(&context, &client).map_err(ConnectProblem::Keys)?;
        store::save_client(self.store(), &id, sealed, until).await?;
        Ok((client, Some(id)))
    }
}

/// For which authorization server a client is needed.
struct Registering<'a> {
    http: &'a OauthHttp,
    account: &'a AccountAuth,
    server: &'a crate::oauth::ServerMetadata,
    redirect_uri: &'a str,
    origin: &'a str,
}
