//! The way to the user's account, at the end of the bar: a menu for who is signed in, a link for who is not.

use crate::prelude::*;
use crate::texts::{Text, fill, t};

/// The id of the menu.
const MENU: &str = "cw-account-menu";

/// The way to the caller's account. By context on the server; the browser reads it in the document's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountLink {
    /// The caller is signed in.
    Account {
        /// The address of the account page.
        href: String,
        /// The user's name.
        name: String,
        /// Where a form signs the user out; none where they are signed in elsewhere.
        sign_out: Option<String>,
    },
    /// The caller is not signed in.
    SignIn {
        /// The address of the sign-in page.
        href: String,
    },
}

/// Shows the way to the account, where there are accounts.
#[component]
pub fn AccountMenu() -> AnyView {
    match known() {
        None => ().into_any(),
        Some(AccountLink::SignIn { href }) => view! {
            <a class="cw-account-link cw-account-sign-in" href=href rel="external">
                {t(Text::SignIn)}
            </a>
        }
        .into_any(),
        Some(AccountLink::Account { href, name, sign_out }) => menu(href, &name, sign_out),
    }
}

fn menu(href: String, name: &str, sign_out: Option<String>) -> AnyView {
    let initial = name.chars().next().map(|sign| sign.to_uppercase().to_string()).unwrap_or_default();
    let label = fill(Text::AccountOf, &[name]);
    let sign_out = sign_out.map(|action| {
        view! {
            <form method="post" action=action>
                <button>{t(Text::SignOut)}</button>
            </form>
        }
        .into_any()
    });
    view! {
        <button type="button" class="cw-account-link" popovertarget=MENU title=label.clone() aria-label=label>
            {initial}
        </button>
        <div id=MENU class="cw-menu cw-account-menu" popover="auto">
            <strong>{name.to_owned()}</strong>
            <a href=href rel="external">
                {t(Text::YourAccount)}
            </a>
            {sign_out}
        </div>
    }
    .into_any()
}

#[cfg(feature = "ssr")]
fn known() -> Option<AccountLink> {
    use_context::<AccountLink>()
}

/// It stands in the document's head, see `shell.rs`.
#[cfg(not(feature = "ssr"))]
fn known() -> Option<AccountLink> {
    let meta = document().query_selector("meta[name=account]").ok().flatten()?;
    let href = meta.get_attribute("data-href")?;
    Some(match meta.get_attribute("content") {
        Some(name) => AccountLink::Account { href, name, sign_out: meta.get_attribute("data-sign-out") },
        None => AccountLink::SignIn { href },
    })
}

/// What the browser's half reads of it.
#[cfg(feature = "ssr")]
pub(crate) fn meta() -> Option<impl IntoView> {
    let (href, name, sign_out) = match known()? {
        AccountLink::Account { href, name, sign_out } => (href, Some(name), sign_out),
        AccountLink::SignIn { href } => (href, None, None),
    };
    Some(view! { <meta name="account" content=name data-href=href data-sign-out=sign_out /> })
}
