//! The account page.

use crate::forms::Field;
use crate::keep_view::{SCRIPT, keep_view};
use crate::navigation::navigation;
use crate::openid_connect::{Confirmation, identities_view};
use crate::two_step::two_step_view;
use crate::usage::usage_view;
use auth::password::{Accounts, now_millis};
use axum::http::StatusCode;
use axum::response::Response;
use chat::{Caller, QuotaUsage};
use leptos::prelude::*;
use std::sync::Arc;
use store::{ApiKeyRow, Identity, SecondFactor, SessionRow};
use web::html::{AccountPage, account_part, browser_name, error_message, row_button, select_box, success_message};
use web::times::{day, minute};

/// The lifetimes that a key can have: days, and their label.
const KEY_LIFETIMES: [(u32, &str); 4] = [(7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "a year")];

/// The content of the account page.
pub(crate) struct AccountView {
    pub(crate) caller: Caller,
    /// The user's sessions; none for users of an external identity provider.
    pub(crate) signed_in: Option<UserSessions>,
    /// The user's usage of their quotas.
    pub(crate) usage: Vec<QuotaUsage>,
    pub(crate) keys: Vec<ApiKeyRow>,
    pub(crate) notice: FormNotice,
    /// Further pages about the user.
    pub(crate) links: Vec<AccountPage>,
}

/// The sessions of a user.
pub(crate) struct UserSessions {
    /// The session of this browser.
    pub(crate) session_id: String,
    pub(crate) sessions: Vec<SessionRow>,
    pub(crate) accounts: Arc<Accounts>,
    /// The user's identities at providers.
    pub(crate) identities: Vec<Identity>,
    /// The confirmation that is needed before a company account is linked.
    pub(crate) confirmation: Confirmation,
    /// Whether the user can sign in with a password.
    pub(crate) has_password: bool,
    /// The user's authenticator app.
    pub(crate) second_factor: Option<SecondFactor>,
}

/// The result of a form, shown next to it.
pub(crate) enum FormNotice {
    None,
    /// A change was made; a message for the user.
    Done(&'static str),
    /// An identity could not be removed.
    Identity(String),
    /// The password could not be changed.
    Password(String),
    /// Two-step sign-in could not be changed.
    SecondFactor(String),
    /// The key could not be made.
    Key(String),
    /// A new key, which is shown only once.
    NewKey(String),
}

/// The messages about a submitted form, each for one part of the page.
#[derive(Default)]
struct Messages {
    done: Option<&'static str>,
    identity: Option<String>,
    password: Option<String>,
    second_factor: Option<String>,
    key: Option<String>,
    new_key: Option<String>,
}

impl From<FormNotice> for Messages {
    fn from(notice: FormNotice) -> Self {
        let none = Self::default();
        match notice {
            FormNotice::None => none,
            FormNotice::Done(text) => Self { done: Some(text), ..none },
            FormNotice::Identity(text) => Self { identity: Some(text), ..none },
            FormNotice::Password(text) => Self { password: Some(text), ..none },
            FormNotice::SecondFactor(text) => Self { second_factor: Some(text), ..none },
            FormNotice::Key(text) => Self { key: Some(text), ..none },
            FormNotice::NewKey(key) => Self { new_key: Some(key), ..none },
        }
    }
}

pub(crate) fn show(status: StatusCode, shown: AccountView) -> Response {
    let AccountView { caller, signed_in, usage, keys, notice, links } = shown;
    let roles = match caller.roles() {
        [] => "No roles".to_owned(),
        roles => format!("Roles: {}", roles.join(", ")),
    };
    let Messages { done, identity, password, second_factor: code, key, new_key } = Messages::from(notice);
    let is_admin = web::admin::is_admin(&caller);
    let has_account = signed_in.is_some();
    let has_password = signed_in.as_ref().is_some_and(|signed_in| signed_in.has_password);
    let (sessions, identities, two_step) = match signed_in {
        Some(UserSessions { session_id, sessions, accounts, identities, confirmation, second_factor, .. }) => {
            let identities = identities_view(&accounts, identities, identity, confirmation);
            let two_step = has_password.then(|| two_step_view(&accounts, second_factor, code, is_admin)).flatten();
            (Some(sessions_view(sessions, &session_id)), identities, two_step)
        }
        None => (None, None, None),
    };
    let content = view! {
        <div class="cw-account">
            <header class="cw-account-head">
                <div>
                    <h1>{caller.name.clone().unwrap_or_else(|| caller.user_id.clone())}</h1>
                    <p class="cw-account-note">{roles}</p>
                </div>
                <a class="cw-button" href="/">"Back"</a>
                {has_account.then(|| view! {
                    <form method="post" action="/auth/sign-out">
                        <button class="cw-button">"Sign out"</button>
                    </form>
                })}
            </header>
            {success_message(done)}
            {navigation(links, is_admin)}
            {usage_view(&usage)}
            {sessions}
            {has_account.then(keep_view)}
            {identities}
            {keys_view(keys, new_key, key, is_admin)}
            {has_password.then(|| password_view(&caller, password))}
            {two_step}
        </div>
    };
    // Elsewhere nothing tells the browser that the user has signed out.
    if has_account {
        web::html::page_with_script(status, "Account", SCRIPT, content)
    } else {
        web::html::page(status, "Account", content)
    }
}

fn password_view(caller: &Caller, wrong: Option<String>) -> AnyView {
    let name = caller.name.clone().unwrap_or_default();
    let content = view! {
        <p class="cw-account-note">
            "Changing your password signs you out everywhere else. Linked company accounts stay linked: unlink those that you do not use."
        </p>
        {error_message(wrong)}
        <form class="cw-account-form" method="post" action="/auth/password">
            <input class="cw-visually-hidden" name="username" value=name autocomplete="username" tabindex="-1" aria-hidden="true" readonly />
            {Field::password("current", "Current password", false).view()}
            {Field::new_password("New password").view()}
            <button class="cw-button">"Change password"</button>
        </form>
    };
    account_part("password", "Password", content)
}

fn sessions_view(sessions: Vec<SessionRow>, own: &str) -> AnyView {
    let line = |session: SessionRow| {
        let is_own = session.id == own;
        let browser = browser_name(&session.agent);
        let end = (!is_own).then(|| {
            row_button(format!("/auth/sessions/{}/end", session.id), "Sign out", format!("Sign out {browser}"))
        });
        view! {
            <li class="cw-account-line">
                <div>
                    <strong>{browser}</strong>
                    {is_own.then(|| view! { <span class="cw-account-tag">"this browser"</span> })}
                    <p class="cw-account-note">{format!("Signed in on {}, last used {} UTC", day(session.created_at), minute(session.seen_at))}</p>
                </div>
                {end}
            </li>
        }
    };
    let lines = sessions.into_iter().map(line).collect_view();
    account_part("sessions", "Where you are signed in", view! { <ul class="cw-account-list">{lines}</ul> })
}

fn keys_view(keys: Vec<ApiKeyRow>, new: Option<String>, wrong: Option<String>, is_admin: bool) -> AnyView {
    let line = |key: ApiKeyRow| {
        let ends = if key.expires_at <= now_millis() { "expired on" } else { "valid until" };
        let used = key.used_at.map_or_else(|| "never used".to_owned(), |at| format!("last used {} UTC", minute(at)));
        let about = format!("Scopes: {}; {ends} {}, {used}", key.scopes.join(", "), day(key.expires_at));
        let delete =
            row_button(format!("/auth/keys/{}/delete", key.id), "Delete", format!("Delete the key {}", key.name));
        view! {
            <li class="cw-account-line">
                <div>
                    <strong>{key.name}</strong>
                    <p class="cw-account-note">{about}</p>
                </div>
                {delete}
            </li>
        }
    };
    let new = new.map(|key| {
        view! {
            {success_message(Some("The key was created. Copy it now: it will not be shown again."))}
            <input class="cw-account-key" readonly aria-label="New key" value=key />
        }
    });
    let lifetimes = KEY_LIFETIMES.map(|(days, name)| view! { <option value=days selected=days == 30>{name}</option> });
    let content = view! {
        <p class="cw-account-note">"A program sends its key as " <code>"Authorization: Bearer …"</code> " and can then do what you can do, within the scopes of the key."</p>
        {new}
        <ul class="cw-account-list">{keys.into_iter().map(line).collect_view()}</ul>
        {error_message(wrong)}
        <form class="cw-account-form" method="post" action="/auth/keys">
            <label class="cw-account-field">
                <span>"Key name"</span>
                <input name="name" required maxlength="100" autocomplete="off" />
            </label>
            <fieldset class="cw-account-scopes">
                <legend>"Scopes"</legend>
                <label><input type="checkbox" name="agents" checked />"Chat with agents"</label>
                <label><input type="checkbox" name="conversations" />"Manage conversations"</label>
                <label><input type="checkbox" name="endpoints" />"Call endpoints"</label>
                {is_admin.then(|| view! { <label><input type="checkbox" name="admin" />"Admin console"</label> })}
            </fieldset>
            <label class="cw-account-field">
                <span>"Valid for"</span>
                {select_box("days", lifetimes)}
            </label>
            <button class="cw-button">"Create key"</button>
        </form>
    };
    account_part("keys", "API keys", content)
}
