//! New accounts: the first administrator, invited users, and sign-ups where the config allows them.

use crate::forms::{Field, too_many_attempts_text};
use crate::second_step::{SigningIn, continue_sign_in};
use crate::{AccountError, AccountState, PasswordAccounts, local_path};
use auth::password::{Accounts, INVITATION_PATH, SignInAttempt, Subject, Throttled, credential_rules, now_millis};
use auth::{AccountAction, client_network};
use axum::extract::rejection::FormRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;
use store::{AddUserOutcome, NewUser, User};
use uuid::Uuid;
use web::html::error_message;
use web::{RequestContext, SIGN_IN_PATH, see_other};

const OTHER_ADDRESS: &str =
    "The name can only be an e-mail address if you were invited with this address. Choose a name without @.";

/// The throttle's keys for sign-ups and for invitations; no user has such a name.
const SIGN_UP_THROTTLE_KEY: &str = " sign up";
const INVITATION_THROTTLE_KEY: &str = " invitation";

/// The form for a new account.
#[derive(Default, Deserialize)]
pub(crate) struct NewAccountForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    token: String,
    next: Option<String>,
}

/// Which kind of account is created.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccountKind {
    FirstAdmin,
    Invitation,
    SignUp,
}

impl AccountKind {
    /// The title of the page, the path that the form is sent to, and what the user reads above the form.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::FirstAdmin => (
                "Create the first account",
                "/auth/first-admin",
                "This account is the administrator's. The server prints the token when it starts: look at its terminal or log.",
            ),
            Self::Invitation => {
                ("You are invited", INVITATION_PATH, "Choose a name and a password to create your account.")
            }
            Self::SignUp => ("Sign up", "/auth/sign-up", "Choose a name and a password."),
        }
    }

    fn action(self) -> AccountAction {
        match self {
            Self::FirstAdmin => AccountAction::FirstAccount,
            Self::Invitation => AccountAction::AcceptInvitation,
            Self::SignUp => AccountAction::SignUp,
        }
    }
}

/// `GET /auth/first-admin`
pub(crate) async fn first_admin_form(PasswordAccounts(accounts): PasswordAccounts) -> Result<Response, AccountError> {
    if accounts.store.has_users().await? {
        return Ok(web::html::not_found_page());
    }
    Ok(form(AccountKind::FirstAdmin, StatusCode::OK, &NewAccountForm::default(), None))
}

/// `GET /auth/sign-up`
pub(crate) async fn sign_up_form(
    PasswordAccounts(accounts): PasswordAccounts,
    Query(sent): Query<NewAccountForm>,
) -> Result<Response, AccountError> {
    if !accounts.settings.open_sign_up {
        return Ok(web::html::not_found_page());
    }
    let sent = NewAccountForm { next: sent.next, ..NewAccountForm::default() };
    Ok(form(AccountKind::SignUp, StatusCode::OK, &sent, None))
}

/// `GET /auth/invitation?token=…`. Only the form accepts the invitation, so that a program that looks at links in
/// messages does not use it up.
pub(crate) async fn invitation_form(
    PasswordAccounts(accounts): PasswordAccounts,
    Query(sent): Query<NewAccountForm>,
) -> Result<Response, AccountError> {
    if accounts.invitation(&sent.token).await?.is_none() {
        return Ok(invalid_invitation_page());
    }
    let sent = NewAccountForm { token: sent.token, ..NewAccountForm::default() };
    Ok(form(AccountKind::Invitation, StatusCode::OK, &sent, None))
}

/// `POST /auth/invitation`
pub(crate) async fn accept_invitation(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<NewAccountForm>, FormRejection>,
) -> Result<Response, AccountError> {
    create_account(&accounts, &asker, AccountKind::Invitation, sent).await
}

/// `POST /auth/first-admin`
pub(crate) async fn first_admin(
    PasswordAccounts(accounts): PasswordAccounts,
    State(state): State<AccountState>,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<NewAccountForm>, FormRejection>,
) -> Result<Response, AccountError> {
    if accounts.store.has_users().await? {
        return Ok(web::html::not_found_page());
    }
    let sent = sent.map(|Form(sent)| {
        let first_page = (state.first_page)().filter(|_| local_path(sent.next.as_deref()) == "/");
        Form(NewAccountForm { next: first_page.map(str::to_owned).or(sent.next), ..sent })
    });
    create_account(&accounts, &asker, AccountKind::FirstAdmin, sent).await
}

/// `POST /auth/sign-up`
pub(crate) async fn sign_up(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<NewAccountForm>, FormRejection>,
) -> Result<Response, AccountError> {
    // The operator creates the first account, so nobody can sign up before an administrator exists.
    if !accounts.settings.open_sign_up || !accounts.store.has_users().await? {
        return Ok(web::html::not_found_page());
    }
    create_account(&accounts, &asker, AccountKind::SignUp, sent).await
}

async fn create_account(
    accounts: &Accounts,
    asker: &RequestContext,
    kind: AccountKind,
    sent: Result<Form<NewAccountForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else {
        let text = Some("The form could not be read. Try again.".to_owned());
        return Ok(form(kind, StatusCode::BAD_REQUEST, &NewAccountForm::default(), text));
    };
    let refuse = |status, text: String| Ok(form(kind, status, &sent, Some(text)));
    let name = sent.name.trim();
    let wrong =
        credential_rules::name_problem(name).or_else(|| credential_rules::password_problem(&sent.password, name));
    if let Some(wrong) = wrong {
        return refuse(StatusCode::UNPROCESSABLE_ENTITY, wrong.to_owned());
    }
    let attempt = match begin_attempt(accounts, asker, kind) {
        Ok(attempt) => attempt,
        Err(Throttled { seconds, .. }) => {
            let subject = Subject::Client(asker.audit_address.clone());
            accounts.record_limited(kind.action(), ("address", subject), asker.audit_address.as_deref());
            let text = Some(too_many_attempts_text(seconds));
            return Ok(web::with_retry_after(form(kind, StatusCode::TOO_MANY_REQUESTS, &sent, text), seconds));
        }
    };
    if kind == AccountKind::FirstAdmin && !accounts.sign_in.setup.accepts(&sent.token) {
        let text = "This is not the token that the server printed when it started. Each start prints a new token.";
        return refuse(StatusCode::FORBIDDEN, text.to_owned());
    }
    let (roles, invitation_id) = match kind {
        AccountKind::FirstAdmin => (config::OWNER_ROLES.map(str::to_owned).to_vec(), None),
        AccountKind::SignUp => (accounts.settings.sign_up_roles.clone(), None),
        AccountKind::Invitation => match accounts.invitation(&sent.token).await? {
            Some(invitation) if is_name_of_somebody_else(name, &invitation.label) => {
                return refuse(StatusCode::UNPROCESSABLE_ENTITY, OTHER_ADDRESS.to_owned());
            }
            Some(invitation) => (invitation.roles, Some(invitation.id)),
            None => return Ok(invalid_invitation_page()),
        },
    };
    let password = accounts.sign_in.hasher.hash(sent.password.clone()).await??;
    let mut names = accounts.new_names().await?;
    if names.has_lookalike(name).await? {
        return refuse(StatusCode::CONFLICT, credential_rules::NAME_TAKEN.to_owned());
    }
    let user = NewUser {
        id: Uuid::now_v7().to_string(),
        name: name.to_owned(),
        name_key: credential_rules::name_key(name),
        password,
        must_change_password: false,
        roles,
        now: now_millis(),
    };
    let (id, hash) = (user.id.clone(), user.password.clone());
    let added_user = User { id: id.clone(), name: user.name.clone(), roles: Vec::new(), disabled_at: None };
    let mut about = Map::from_iter([("roles".to_owned(), user.roles.clone().into())]);
    about.extend(invitation_id.map(|id| ("invitationId".to_owned(), id.into())));
    let entry = kind.action().success_entry(&id, asker.audit_address.as_deref(), about);
    let added = match kind {
        AccountKind::Invitation => accounts.accept_invitation(&sent.token, user, entry).await?,
        AccountKind::FirstAdmin => accounts.store.add_user(user, true, Some(entry)).await?,
        AccountKind::SignUp => accounts.store.add_user(user, false, Some(entry)).await?,
    };
    drop(names);
    match added {
        AddUserOutcome::NotTheFirst | AddUserOutcome::IdentityTaken => return Ok(web::html::not_found_page()),
        AddUserOutcome::NameTaken => return refuse(StatusCode::CONFLICT, credential_rules::NAME_TAKEN.to_owned()),
        AddUserOutcome::NotInvited => return Ok(invalid_invitation_page()),
        AddUserOutcome::Done => accounts.sign_in.setup.clear(),
    }
    if let (AccountKind::Invitation, Some(attempt)) = (kind, attempt) {
        // The invitation proves that the caller is not guessing.
        accounts.sign_in.throttle.succeeded(&attempt);
    }
    let signing_in = SigningIn { user: &added_user, hash: &hash, next: sent.next.as_deref(), entry: None };
    let response = continue_sign_in(accounts, asker, signing_in).await?;
    Ok(response.unwrap_or_else(|| see_other(SIGN_IN_PATH, None)))
}

/// Returns whether a name is an e-mail address, and not that for which the administrator has made the invitation.
/// A name that is an address can count as proof of it, for example in a channel with `users: verifiedEmail`.
fn is_name_of_somebody_else(name: &str, label: &str) -> bool {
    name.contains('@') && !name.eq_ignore_ascii_case(label)
}

fn invalid_invitation_page() -> Response {
    web::html::message_page(
        StatusCode::NOT_FOUND,
        "This invitation is not valid",
        "It was accepted or revoked, or it has expired. Ask the person who invited you for a new one.",
    )
}

/// Counts an attempt to make an account. Sign-ups are counted per client, whether they succeed or not, so that nobody
/// can block them for others; a proxy on this machine is not one client. Invitations have counts of their own: sign-ups
/// do not block them. The token of the first account cannot be guessed, and checking it is cheap.
fn begin_attempt(
    accounts: &Accounts,
    asker: &RequestContext,
    kind: AccountKind,
) -> Result<Option<SignInAttempt>, Throttled> {
    let key = match kind {
        AccountKind::FirstAdmin => return Ok(None),
        AccountKind::Invitation => INVITATION_THROTTLE_KEY,
        AccountKind::SignUp => SIGN_UP_THROTTLE_KEY,
    };
    let Some(client) = asker.address.and_then(client_network) else { return Ok(None) };
    accounts.sign_in.throttle.begin(&format!("{key} {client}"), Some(client)).map(Some)
}

fn form(kind: AccountKind, status: StatusCode, sent: &NewAccountForm, text: Option<String>) -> Response {
    let (title, action, note) = kind.texts();
    let token = (kind == AccountKind::FirstAdmin).then(|| {
        let field = Field {
            name: "token",
            label: "Token",
            autocomplete: "off",
            autofocus: sent.token.is_empty(),
            ..Field::name(&sent.token, false)
        };
        field.view()
    });
    let invitation = (kind == AccountKind::Invitation)
        .then(|| view! { <input type="hidden" name="token" value=sent.token.clone() /> });
    let next = local_path(sent.next.as_deref()).to_owned();
    let sign_in = (kind == AccountKind::SignUp).then(|| {
        view! {
            <p class="cw-account-note">
                "Already have an account? " <a href=format!("/auth/sign-in?next={}", web::query_encoded(&next))>"Sign in"</a>
            </p>
        }
    });
    let content = view! {
        <p class="cw-account-note">{note}</p>
        {error_message(text)}
        <form class="cw-account-form" method="post" action=action>
            <input type="hidden" name="next" value=next.clone() />
            {invitation}
            {token}
            {Field::name(&sent.name, kind != AccountKind::FirstAdmin).view()}
            {Field::new_password("Password").view()}
            <button class="cw-button cw-primary">"Create the account"</button>
        </form>
        {sign_in}
    };
    web::html::form_page(status, title, content)
}
