//! New accounts: the first one, and those that users make themselves where the config lets them.

use super::forms::{Field, problem, wait};
use super::{Door, Trouble, layout, own_path, see_other};
use crate::auth::password::{Accounts, Subject, now, words};
use crate::auth::{AccountAction, Asker, client_network};
use axum::extract::Query;
use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;
use store::{Added, NewUser};
use uuid::Uuid;

/// What the throttle counts new accounts under: no user has such a name.
const NEW: &str = " sign up";

/// The form.
#[derive(Default, Deserialize)]
pub(crate) struct NewAccount {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    token: String,
    next: Option<String>,
}

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    FirstAdmin,
    SignUp,
}

/// `GET /auth/first-admin`
pub(crate) async fn first_admin_form(Door(accounts): Door) -> Result<Response, Trouble> {
    if accounts.store.has_users().await? {
        return Ok(layout::nothing());
    }
    Ok(form(Kind::FirstAdmin, StatusCode::OK, &NewAccount::default(), None))
}

/// `GET /auth/sign-up`
pub(crate) async fn sign_up_form(Door(accounts): Door, Query(sent): Query<NewAccount>) -> Result<Response, Trouble> {
    if !accounts.settings.open_sign_up {
        return Ok(layout::nothing());
    }
    let sent = NewAccount { next: sent.next, ..NewAccount::default() };
    Ok(form(Kind::SignUp, StatusCode::OK, &sent, None))
}

/// `POST /auth/first-admin`
pub(crate) async fn first_admin(
    Door(accounts): Door,
    Extension(asker): Extension<Asker>,
    sent: Result<Form<NewAccount>, FormRejection>,
) -> Result<Response, Trouble> {
    if accounts.store.has_users().await? {
        return Ok(layout::nothing());
    }
    make(&accounts, &asker, Kind::FirstAdmin, sent).await
}

/// `POST /auth/sign-up`
pub(crate) async fn sign_up(
    Door(accounts): Door,
    Extension(asker): Extension<Asker>,
    sent: Result<Form<NewAccount>, FormRejection>,
) -> Result<Response, Trouble> {
    // The first one is the operator's: nobody signs up before there is somebody to turn to.
    if !accounts.settings.open_sign_up || !accounts.store.has_users().await? {
        return Ok(layout::nothing());
    }
    make(&accounts, &asker, Kind::SignUp, sent).await
}

async fn make(
    accounts: &Accounts,
    asker: &Asker,
    kind: Kind,
    sent: Result<Form<NewAccount>, FormRejection>,
) -> Result<Response, Trouble> {
    let Ok(Form(sent)) = sent else {
        let text = Some("The form could not be read. Try again.".to_owned());
        return Ok(form(kind, StatusCode::BAD_REQUEST, &NewAccount::default(), text));
    };
    let refuse = |status, text: String| Ok(form(kind, status, &sent, Some(text)));
    let name = sent.name.trim();
    let wrong = words::problem_of_name(name).or_else(|| words::problem_of_password(&sent.password, name));
    if let Some(wrong) = wrong {
        return refuse(StatusCode::UNPROCESSABLE_ENTITY, wrong.to_owned());
    }
    if let Some(seconds) = too_often(accounts, asker, kind) {
        let subject = Subject::Client(asker.recorded.clone());
        accounts.record_limited(AccountAction::SignUp, ("address", subject), asker.recorded.as_deref());
        let text = Some(wait(seconds));
        return Ok(super::retry_after(form(kind, StatusCode::TOO_MANY_REQUESTS, &sent, text), seconds));
    }
    if kind == Kind::FirstAdmin && !accounts.desk.setup.accepts(&sent.token) {
        let text =
            "This is not the token that the server printed when it started. It prints a new one each time it starts.";
        return refuse(StatusCode::FORBIDDEN, text.to_owned());
    }
    if accounts.has_lookalike(name).await? {
        return refuse(StatusCode::CONFLICT, words::TAKEN.to_owned());
    }
    let user = NewUser {
        id: Uuid::now_v7().to_string(),
        name: name.to_owned(),
        name_key: words::key(name),
        password: accounts.desk.hasher.hash(sent.password.clone()).await??,
        roles: match kind {
            Kind::FirstAdmin => config::OWNER_ROLES.map(str::to_owned).to_vec(),
            Kind::SignUp => accounts.settings.sign_up_roles.clone(),
        },
        now: now(),
    };
    let id = user.id.clone();
    let action = if kind == Kind::FirstAdmin { AccountAction::FirstAccount } else { AccountAction::SignUp };
    let about = Map::from_iter([("roles".to_owned(), user.roles.clone().into())]);
    let entry = action.done(&id, asker.recorded.as_deref(), about);
    match accounts.store.add_user(user, kind == Kind::FirstAdmin, Some(entry)).await? {
        Added::NotTheFirst => return Ok(layout::nothing()),
        Added::NameTaken => return refuse(StatusCode::CONFLICT, words::TAKEN.to_owned()),
        Added::Done => accounts.desk.setup.close(),
    }
    let cookie = accounts.begin_session(&id, &asker.sent, asker.is_https, None).await?;
    Ok(see_other(own_path(sent.next.as_deref()), cookie))
}

/// After how many seconds to try again. Sign-ups are counted by client, whether they succeed or not, so that nobody
/// can block them for others; a proxy on this machine is not one client. The token of the first account cannot be
/// guessed, and checking it is cheap.
fn too_often(accounts: &Accounts, asker: &Asker, kind: Kind) -> Option<u64> {
    let client = asker.address.filter(|_| kind == Kind::SignUp).and_then(client_network)?;
    let refused = accounts.desk.throttle.begin(&format!("{NEW} {client}"), Some(client)).err();
    refused.map(|refused| refused.seconds)
}

fn form(kind: Kind, status: StatusCode, sent: &NewAccount, text: Option<String>) -> Response {
    let (title, action, note) = match kind {
        Kind::FirstAdmin => (
            "Create the first account",
            "/auth/first-admin",
            "This account is an administrator. The server prints the token on its console when it starts.",
        ),
        Kind::SignUp => ("Sign up", "/auth/sign-up", "Choose a name and a password."),
    };
    let token = (kind == Kind::FirstAdmin).then(|| {
        let field = Field {
            name: "token",
            label: "Token",
            autocomplete: "off",
            takes_focus: sent.token.is_empty(),
            ..Field::name(&sent.token, false)
        };
        field.view()
    });
    let next = own_path(sent.next.as_deref()).to_owned();
    let sign_in = (kind == Kind::SignUp).then(|| {
        view! {
            <p class="cw-account-note">
                "Already have an account? " <a href=format!("/auth/sign-in?next={}", super::encoded(&next))>"Sign in"</a>
            </p>
        }
    });
    let content = view! {
        <p class="cw-account-note">{note}</p>
        {problem(text)}
        <form class="cw-account-form" method="post" action=action>
            <input type="hidden" name="next" value=next.clone() />
            {token}
            {Field::name(&sent.name, kind == Kind::SignUp).view()}
            {Field::new_password("Password").view()}
            <button class="cw-button cw-primary">"Create the account"</button>
        </form>
        {sign_in}
    };
    layout::sheet(status, title, content)
}
