//! A client of OAuth 2.1: registration, the authorization code flow, and requests for tokens. It keeps
//! nothing between the requests, so that any server of a database can go on with what another one has begun.

mod authorization;
mod client;
mod registration;
mod tokens;

pub(crate) use authorization::{Authorization, Callback, NewAuthorization, authorize};
pub(crate) use client::{AuthMethod, ClientIdentity};
pub(crate) use oauth_discovery::{
    Challenge, Discovery, OauthError, OauthHttp, ServerMetadata, discover, find_token_endpoint, find_token_endpoint_of,
    probe,
};
pub(crate) use registration::register;
pub(crate) use tokens::{AssertionRequest, ExchangeRequest, IssuedTokens, TokenClient, is_usable};
