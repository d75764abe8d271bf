//! The caller, the agent and the protocol version of a request, which are known before its method is called.

use crate::error::{Refusal, RestError, RpcError};
use crate::section::A2a;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use capability::Context;
use chat::Caller;
use std::time::Duration;
use url::form_urlencoded;
use web::Origin;
use web::openapi::RouteInput;
use wire::UserError;

/// The header and the query parameter with the version of the protocol.
const VERSION: &str = a2a_types::SVC_PARAM_VERSION;

/// The caller of a method, the agent that they call, and where it runs.
#[derive(Clone)]
pub(crate) struct CallContext {
    pub(crate) context: Context,
    pub(crate) caller: Caller,
    pub(crate) agent_id: String,
    /// The page on which the conversations are shown.
    pub(crate) page_id: String,
    /// The origin of this server; empty if it is not known.
    pub(crate) origin: String,
}

/// The caller and the origin, as the middleware has found them, with the version of the protocol that the request
/// names.
pub(crate) struct RequestInfo {
    pub(crate) caller: Caller,
    pub(crate) origin: Option<String>,
    version: String,
    /// The query of the path.
    pub(crate) query: String,
}

impl<S: Sync> FromRequestParts<S> for RequestInfo {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(UserError::unauthenticated)?;
        let origin = parts.extensions.get::<Origin>().map(|Origin(origin)| origin.clone());
        let header = parts.headers.get(VERSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let version = header.or_else(|| {
            let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
            let mut found = query.filter(|(name, _)| name.eq_ignore_ascii_case(VERSION));
            found.next().map(|(_, value)| value.into_owned())
        });
        let query = parts.uri.query().unwrap_or_default().to_owned();
        Ok(Self { caller, origin, version: version.unwrap_or_default(), query })
    }
}

impl RequestInfo {
    /// Checks that the request is of this version. Its patch number does not matter.
    pub(crate) fn check_version(&self) -> Result<(), RpcError> {
        let version = self.version.trim();
        let is_ours =
            version.strip_prefix(a2a_types::VERSION).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        // Without a version, it is that of the time before there was a header for it.
        if is_ours {
            Ok(())
        } else {
            Err(RpcError::unsupported_version(if version.is_empty() { "0.3" } else { version }))
        }
    }
}

impl RouteInput for RequestInfo {}

/// Returns who asks which agent, and how often a silent stream shows that it is alive.
pub(crate) fn find_agent(
    context: Context,
    facts: RequestInfo,
    agent_id: String,
) -> Result<(CallContext, Duration), UserError> {
    let RequestInfo { caller, origin, .. } = facts;
    let config = context.current.config();
    if !A2a::of(&config)?.offers(&agent_id) {
        return Err(UserError::not_found());
    }
    // A conversation is shown on a page.
    let page_id = context.page_of_agent(&caller, &agent_id)?;
    let asked = CallContext { context, caller, agent_id, page_id, origin: origin.unwrap_or_default() };
    Ok((asked, config.limits.heartbeat))
}

/// Returns what [`find_agent`] does, for a request of this version.
///
/// # Errors
/// The version is another one, or the caller cannot use the agent.
pub(crate) fn open(
    context: Context,
    facts: RequestInfo,
    agent_id: String,
) -> Result<(CallContext, Duration), RestError> {
    let version = facts.check_version();
    let found = find_agent(context, facts, agent_id)?;
    version?;
    Ok(found)
}
