//! Sign-in with a company account: the way to a provider of OpenID Connect and back, linked accounts, and
//! sign-out there.

mod confirm;
mod enter;
mod identities;
mod views;

pub(crate) use confirm::Confirmation;
pub(crate) use identities::{SIGN_IN_AGAIN, identities_view};
pub(crate) use views::{providers_view, signed_out_view};

use crate::account::{confirm_password, unconfirmed_page};
use crate::account_page::FormNotice;
use crate::{ACCOUNT_PATH, AccountError, AccountState, KeyOwner, LocalAccounts, SignedInUser, local_path};
use auth::openid_connect::{
    Callback, FinishedSignIn, NewSignIn, PendingSignIn, PendingSignIns, Provider, ProviderLogout,
};
use auth::password::{Accounts, Subject, Throttled, now_millis};
use auth::{AccountAction, Credentials};
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Form, Router};
use enter::SignInProblem;
use serde::Deserialize;
use serde_json::Map;
use store::{EndedAtProvider, LinkOutcome, UnlinkOutcome};
use uuid::Uuid;
use views::{continue_page, problem_page};
use web::{RequestContext, SentQuery, see_other, with_cookie};

/// Returns the pages.
pub(crate) fn pages() -> Router<AccountState> {
    Router::new()
        .route("/auth/openid-connect/{provider}", get(begin))
        .route("/auth/openid-connect/{provider}/callback", get(finish))
        .route("/auth/openid-connect/{provider}/link", post(link))
        .route("/auth/openid-connect/{provider}/sign-out", get(sign_out))
        .route("/auth/openid-connect/{provider}/back-channel-logout", post(back_channel_logout))
        .route("/auth/identities/{id}/unlink", post(unlink))
}

/// The query of the way to a provider.
#[derive(Deserialize)]
struct BeginQuery {
    /// The path to open afterwards.
    next: Option<String>,
    /// Whether a user who is signed in goes to the provider as well, for new tokens.
    again: Option<String>,
}

/// `GET /auth/openid-connect/{provider}`: sends the browser to the provider.
async fn begin(
    LocalAccounts(accounts): LocalAccounts,
    member: Option<SignedInUser>,
    State(state): State<AccountState>,
    Extension(asker): Extension<RequestContext>,
    Path(id): Path<String>,
    Query(BeginQuery { next, again }): Query<BeginQuery>,
) -> Response {
    let next = local_path(next.as_deref());
    let tokens_for = match member {
        Some(_) if again.is_none() => return see_other(next, None),
        member => member.map(|member| member.caller.user_id),
    };
    let Some((provider, origin)) = find(&accounts, &id, &state, &asker.credentials) else {
        return web::html::not_found_page();
    };
    match provider.begin(NewSignIn { origin: &origin, next, link_to: None, tokens_for: tokens_for.as_deref() }).await {
        Ok((url, pending)) => see_other(url.as_str(), accounts.pending.cookie(&pending, asker.is_https)),
        Err(error) => problem_page(provider, &SignInProblem::from(error), next),
    }
}

/// The form that links a company account.
#[derive(Deserialize)]
struct LinkForm {
    #[serde(default)]
    password: String,
}

/// `POST /auth/openid-connect/{provider}/link`, with the password unless the user has signed in recently. The response is
/// a page with a link to the provider: a form may not lead to another site.
async fn link(
    LocalAccounts(accounts): LocalAccounts,
    member: SignedInUser,
    State(state): State<AccountState>,
    Extension(asker): Extension<RequestContext>,
    Path(id): Path<String>,
    sent: Result<Form<LinkForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Some((provider, origin)) = find(&accounts, &id, &state, &asker.credentials) else {
        return Ok(web::html::not_found_page());
    };
    let user_id = &member.caller.user_id;
    let sessions = accounts.sessions(user_id).await?;
    let session = sessions.iter().find(|session| session.id == member.session_id);
    match Confirmation::find(&accounts, user_id, session).await? {
        Confirmation::NotNeeded => {}
        Confirmation::SignInAgain => return Ok(see_other(&format!("{ACCOUNT_PATH}?done=sign-in-again"), None)),
        Confirmation::Password => {
            let password = sent.map(|Form(sent)| sent.password).unwrap_or_default();
            let checked = (password, AccountAction::LinkIdentity);
            if let Err(problem) = confirm_password(&accounts, &member, &asker, checked).await? {
                let holder = KeyOwner::from_session(&accounts, &member, &state);
                return unconfirmed_page(holder, problem, FormNotice::Identity).await;
            }
        }
    }
    let new = NewSignIn { origin: &origin, next: ACCOUNT_PATH, link_to: Some(user_id), tokens_for: None };
    Ok(match provider.begin(new).await {
        Ok((url, pending)) => {
            let page = continue_page(provider, url.as_str());
            with_cookie(page, accounts.pending.cookie(&pending, asker.is_https))
        }
        Err(error) => problem_page(provider, &SignInProblem::from(error), ACCOUNT_PATH),
    })
}

/// `GET /auth/openid-connect/{provider}/callback`: the redirect URI. It ends the pending sign-in, whatever its outcome.
async fn finish(
    LocalAccounts(accounts): LocalAccounts,
    member: Option<SignedInUser>,
    Extension(asker): Extension<RequestContext>,
    Path(id): Path<String>,
    answer: SentQuery<Callback>,
) -> Result<Response, AccountError> {
    let Some(provider) = accounts.provider(&id) else { return Ok(web::html::not_found_page()) };
    let Some(pending) = accounts.pending.find(&asker.credentials, asker.is_https) else {
        // Reload or the button *Back* after the sign-in.
        return Ok(match member {
            Some(_) => see_other("/", None),
            None => problem_page(provider, &SignInProblem::Expired, "/"),
        });
    };
    let next = local_path(Some(&pending.next)).to_owned();
    let attempt = match accounts.sign_in.throttle.begin_from(asker.address) {
        Ok(attempt) => attempt,
        Err(Throttled { seconds, limit }) => {
            let subject = Subject::Client(asker.audit_address.clone());
            accounts.record_limited(AccountAction::SignIn, (limit, subject), asker.audit_address.as_deref());
            return Ok(web::with_retry_after(problem_page(provider, &SignInProblem::TooMany(seconds), &next), seconds));
        }
    };
    let Query(answer) = answer.unwrap_or_default();
    let outcome = match provider.finish(&pending, &answer).await {
        Ok(finished) if pending.link_to.is_some() => {
            link_identity(&accounts, provider, &pending, finished, member, &asker).await?
        }
        Ok(finished) if pending.tokens_for.is_some() => {
            keep_tokens(&accounts, &pending, finished, member).await?.map(|()| see_other(&next, None))
        }
        Ok(finished) => {
            enter::sign_in(&accounts, provider, finished, &asker).await?.map(|cookie| see_other(&next, Some(cookie)))
        }
        Err(error) => Err(SignInProblem::from(error)),
    };
    let response = match outcome {
        Ok(response) => {
            accounts.sign_in.throttle.succeeded(&attempt);
            response
        }
        Err(problem) => {
            problem.record(&accounts, provider, asker.audit_address.as_deref());
            problem_page(provider, &problem, &next)
        }
    };
    Ok(with_cookie(response, PendingSignIns::expired_cookie(asker.is_https)))
}

/// Links the identity to the account of the user who began this, if they are still signed in.
async fn link_identity(
    accounts: &Accounts,
    provider: &Provider,
    pending: &PendingSignIn,
    FinishedSignIn { user, tokens }: FinishedSignIn,
    member: Option<SignedInUser>,
    asker: &RequestContext,
) -> Result<Result<Response, SignInProblem>, AccountError> {
    let Some(member) = member.filter(|member| pending.link_to.as_ref() == Some(&member.caller.user_id)) else {
        return Ok(Err(SignInProblem::Expired));
    };
    let user_id = &member.caller.user_id;
    let row =
        AccountAction::LinkIdentity.success_entry(user_id, asker.audit_address.as_deref(), enter::about(provider));
    let row = accounts.sign_in.row_within_budget(AccountAction::LinkIdentity, row);
    let (id, claims) = (Uuid::now_v7().to_string(), enter::claims(user));
    Ok(match accounts.store.link_identity(user_id, &id, claims, now_millis(), false, row).await? {
        LinkOutcome::Done => {
            accounts.sign_in.tokens.keep(user_id, tokens).await;
            Ok(see_other(&format!("{ACCOUNT_PATH}?done=linked"), None))
        }
        LinkOutcome::OtherUser => Err(SignInProblem::OtherUser),
        LinkOutcome::TooMany => Err(SignInProblem::TooManyIdentities),
        LinkOutcome::Unknown | LinkOutcome::NotTheFirst => Err(SignInProblem::Expired),
    })
}

/// Keeps new tokens of the user who began this, if they are still signed in, and are the same one at the provider.
/// Anybody could send a browser here, so neither the session nor the account changes.
async fn keep_tokens(
    accounts: &Accounts,
    pending: &PendingSignIn,
    FinishedSignIn { user, tokens }: FinishedSignIn,
    member: Option<SignedInUser>,
) -> Result<Result<(), SignInProblem>, AccountError> {
    let Some(member) = member.filter(|member| pending.tokens_for.as_ref() == Some(&member.caller.user_id)) else {
        return Ok(Err(SignInProblem::Expired));
    };
    let known = accounts.store.user_by_identity(&user.issuer, &user.subject).await?;
    if known.is_none_or(|(known, _)| known.id != member.caller.user_id) {
        return Ok(Err(SignInProblem::OtherUser));
    }
    accounts.sign_in.tokens.keep(&member.caller.user_id, tokens).await;
    Ok(Ok(()))
}

/// `POST /auth/identities/{id}/unlink`
async fn unlink(
    LocalAccounts(accounts): LocalAccounts,
    member: SignedInUser,
    Path(id): Path<String>,
) -> Result<Response, AccountError> {
    let user_id = &member.caller.user_id;
    let identities = accounts.store.identities(user_id).await?;
    // An unknown identity must not use up the user's share of audit rows.
    let Some(identity) = identities.into_iter().find(|identity| identity.id == id) else {
        return Ok(web::html::not_found_page());
    };
    let about = Map::from_iter([("issuer".to_owned(), identity.issuer.into())]);
    let row = AccountAction::UnlinkIdentity.success_entry(user_id, member.recorded.as_deref(), about);
    let row = accounts.sign_in.row_within_budget(AccountAction::UnlinkIdentity, row);
    Ok(match accounts.store.unlink_identity(user_id, &id, Some(accounts.ways.clone()), row).await? {
        UnlinkOutcome::Done => see_other(&format!("{ACCOUNT_PATH}?done=unlinked"), None),
        UnlinkOutcome::Unknown => web::html::not_found_page(),
        UnlinkOutcome::LastWay => see_other(&format!("{ACCOUNT_PATH}?done=last-way"), None),
    })
}

/// `GET /auth/openid-connect/{provider}/sign-out`: ends the user's session at the provider.
async fn sign_out(
    LocalAccounts(accounts): LocalAccounts,
    State(state): State<AccountState>,
    Extension(asker): Extension<RequestContext>,
    Path(id): Path<String>,
) -> Response {
    let Some((provider, origin)) = find(&accounts, &id, &state, &asker.credentials) else {
        return web::html::not_found_page();
    };
    match provider.sign_out_url(&origin).await {
        Ok(Some(url)) => see_other(url.as_str(), None),
        Ok(None) => problem_page(provider, &SignInProblem::NoSignOut, "/"),
        Err(error) => problem_page(provider, &SignInProblem::from(error), "/"),
    }
}

/// The form with which a provider ends sessions.
#[derive(Deserialize)]
struct LogoutForm {
    logout_token: String,
}

/// `POST /auth/openid-connect/{provider}/back-channel-logout`, which the provider itself sends. An address with many
/// refused tokens must wait.
async fn back_channel_logout(
    LocalAccounts(accounts): LocalAccounts,
    Extension(asker): Extension<RequestContext>,
    Path(id): Path<String>,
    sent: Result<Form<LogoutForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let status = |status: StatusCode| (status, [(header::CACHE_CONTROL, "no-store")]).into_response();
    let attempt = match accounts.sign_in.throttle.begin_from(asker.address) {
        Ok(attempt) => attempt,
        Err(Throttled { seconds, .. }) => {
            return Ok(web::with_retry_after(status(StatusCode::TOO_MANY_REQUESTS), seconds));
        }
    };
    let (Some(provider), Ok(Form(sent))) = (accounts.provider(&id), sent) else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let ended = match provider.verify_logout(&sent.logout_token).await {
        Ok(ProviderLogout::Session(id, subject)) => EndedAtProvider::Session(id, subject),
        Ok(ProviderLogout::Subject(id)) => EndedAtProvider::Subject(id),
        Err(error) => {
            tracing::warn!(provider = provider.settings.id, %error, "a sign-out of a provider is refused");
            return Ok(status(StatusCode::BAD_REQUEST));
        }
    };
    accounts.sign_in.throttle.succeeded(&attempt);
    let sessions = accounts.store.end_provider_sessions(&provider.settings.issuer, ended).await?;
    tracing::info!(provider = provider.settings.id, sessions, "a provider has ended sessions");
    Ok(status(StatusCode::OK))
}

/// Returns a provider, and the origin of this server for the browser.
fn find<'a>(
    accounts: &'a Accounts,
    id: &str,
    state: &AccountState,
    sent: &Credentials,
) -> Option<(&'a Provider, String)> {
    Some((accounts.provider(id)?, state.authentication().origin(sent)?))
}
