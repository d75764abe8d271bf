//! The account menu at the end of the bar: a menu for a signed-in user, otherwise a sign-in link.

use crate::prelude::*;
use crate::texts::{Text, fill, t};

/// The id of the menu.
const MENU: &str = "cw-account-menu";

/// The link to the caller's account. The server provides it as a context; the browser reads it from
/// a `meta` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountLink {
    /// The caller is signed in.
    Account {
        /// The address of the account page.
        href: String,
        /// The user's name.
        name: String,
        /// The address of the admin console; `None` if the user is no administrator.
        console: Option<String>,
        /// The URL that a form posts to in order to sign out; `None` if the user is signed in by
        /// something else than Chatwright.
        sign_out: Option<String>,
    },
    /// The caller is not signed in.
    SignIn {
        /// The address of the sign-in page.
        href: String,
    },
}

/// Shows the account menu or the sign-in link; nothing if the server has no accounts.
#[component]
pub fn AccountMenu() -> AnyView {
    match account_link() {
        None => ().into_any(),
        Some(AccountLink::SignIn { href }) => view! {
            <a class="cw-account-link cw-account-sign-in" href=href rel="external">
                {t(Text::SignIn)}
            </a>
        }
        .into_any(),
        Some(AccountLink::Account { href, name, console, sign_out }) => menu(href, &name, console, sign_out),
    }
}

fn menu(href: String, name: &str, console: Option<String>, sign_out: Option<String>) -> AnyView {
    let initial: String = name.chars().take(1).collect();
    let label = fill(Text::AccountOf, &[name]);
    let console = console.map(|href| view! { <a href=href rel="external">{t(Text::AdminConsole)}</a> }.into_any());
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
            {console}
            {sign_out}
        </div>
    }
    .into_any()
}

#[cfg(feature = "ssr")]
pub(crate) fn account_link() -> Option<AccountLink> {
    use_context::<AccountLink>()
}

/// Read from the document's head, where `shell.rs` writes it.
#[cfg(not(feature = "ssr"))]
pub(crate) fn account_link() -> Option<AccountLink> {
    let meta = document().query_selector("meta[name=account]").ok().flatten()?;
    let href = meta.get_attribute("data-href")?;
    Some(match meta.get_attribute("content") {
        Some(name) => AccountLink::Account {
            href,
            name,
            console: meta.get_attribute("data-console"),
            sign_out: meta.get_attribute("data-sign-out"),
        },
        None => AccountLink::SignIn { href },
    })
}

/// The `meta` element from which the browser reads the link.
#[cfg(feature = "ssr")]
pub(crate) fn meta() -> Option<impl IntoView> {
    let (href, name, console, sign_out) = match account_link()? {
        AccountLink::Account { href, name, console, sign_out } => (href, Some(name), console, sign_out),
        AccountLink::SignIn { href } => (href, None, None, None),
    };
    Some(view! { <meta name="account" content=name data-href=href data-console=console data-sign-out=sign_out /> })
}
