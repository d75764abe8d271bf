//! The linked company accounts on the account page.

use super::Confirmation;
use crate::forms::Field;
use auth::password::Accounts;
use leptos::prelude::*;
use store::Identity;
use web::html::{account_part, error_message, row_button};
use web::times::day;

/// Tells users that they must sign in again before they link another account: they have no password, or their password
/// alone is not enough to sign in.
pub(crate) const SIGN_IN_AGAIN: &str = "Sign out and sign in again before you link a company account.";

/// Renders the section of the account page with the linked company accounts.
pub(crate) fn identities_view(
    accounts: &Accounts,
    identities: Vec<Identity>,
    problem: Option<String>,
    confirmation: Confirmation,
) -> Option<AnyView> {
    if accounts.providers.is_empty() && identities.is_empty() {
        return None;
    }
    let unlinked = accounts
        .providers
        .iter()
        .filter(|provider| !identities.iter().any(|identity| identity.issuer == provider.settings.issuer));
    let links: Vec<_> = unlinked
        .filter(|_| confirmation != Confirmation::SignInAgain)
        .map(|provider| {
            let password = (confirmation == Confirmation::Password)
                .then(|| Field::password("password", "Your password", false).view());
            view! {
                <form class="cw-account-form" method="post" action=format!("/auth/openid-connect/{}/link", provider.settings.id)>
                    {password}
                    <button class="cw-button">{format!("Link {}", provider.settings.label)}</button>
                </form>
            }
        })
        .collect();
    let lines: Vec<_> = identities
        .into_iter()
        .map(|identity| {
            let provider = accounts.provider_of(&identity.issuer);
            let name = provider.map_or_else(|| identity.issuer.clone(), |provider| provider.settings.label.clone());
            let unlink =
                row_button(format!("/auth/identities/{}/unlink", identity.id), "Unlink", format!("Unlink {name}"));
            let about = format!(
                "{}, linked on {}, last used on {}",
                identity.label,
                day(identity.created_at),
                day(identity.used_at)
            );
            view! {
                <li class="cw-account-line">
                    <div>
                        <strong>{name}</strong>
                        <p class="cw-account-note">{about}</p>
                    </div>
                    {unlink}
                </li>
            }
        })
        .collect();
    let again =
        (confirmation == Confirmation::SignInAgain).then(|| view! { <p class="cw-account-note">{SIGN_IN_AGAIN}</p> });
    let content = view! {
        <p class="cw-account-note">"You can sign in with these accounts. Roles that an account gives count where you signed in with it, not for API keys. Unlinking one signs you out there."</p>
        {error_message(problem)}
        <ul class="cw-account-list">{lines}</ul>
        {again}
        {links}
    };
    Some(account_part("identities", "Company accounts", content))
}
