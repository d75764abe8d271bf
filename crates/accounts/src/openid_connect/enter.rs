//! Finds or creates the account of a user who has signed in at a provider.

use crate::AccountError;
use auth::AccountAction;
use auth::openid_connect::{FinishedSignIn, Provider, ProviderError, ProviderUser};
use auth::password::{Accounts, NewNames, credential_rules, now_millis};
use axum::http::HeaderValue;
use serde_json::{Map, Value, json};
use store::{ADMIN, AddUserOutcome, LinkOutcome, NewUser, ProviderClaims, User};
use uuid::Uuid;
use web::RequestContext;

/// Why a user cannot sign in with a company account, or link it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SignInProblem {
    /// The sign-in was not begun in this browser, took too long, or is finished already.
    Expired,
    /// The user or the provider has declined.
    Declined,
    /// The provider does not answer.
    Unreachable,
    /// Too many users are signing in.
    Busy,
    /// The client must wait for this many seconds.
    TooMany(u64),
    /// The provider's answer is not valid; what is wrong with it.
    Invalid(&'static str),
    /// The e-mail address is not admitted.
    OtherDomain,
    /// The user has no account, and gets none by signing in.
    NoAccount,
    /// No account exists, and this user would not be an administrator.
    NoAdministrator,
    /// The user, by id, is disabled.
    Disabled(String),
    /// The identity belongs to another user.
    OtherUser,
    /// The user has linked too many identities.
    TooManyIdentities,
    /// The provider has no way to sign out.
    NoSignOut,
}

impl From<ProviderError> for SignInProblem {
    fn from(error: ProviderError) -> Self {
        tracing::info!(%error, "a sign-in at a provider failed");
        match error {
            ProviderError::Unreachable(_) => Self::Unreachable,
            ProviderError::Busy => Self::Busy,
            ProviderError::Expired => Self::Expired,
            ProviderError::Declined => Self::Declined,
            ProviderError::Invalid(what) => Self::Invalid(what),
            ProviderError::OtherDomain => Self::OtherDomain,
        }
    }
}

impl SignInProblem {
    /// Records a refused sign-in in the audit log. Failures that need no account at the provider have no entry, because
    /// anybody could cause them.
    pub(super) fn record(&self, accounts: &Accounts, provider: &Provider, address: Option<&str>) {
        let (user_id, reason) = match self {
            Self::Invalid(what) => (None, format!("invalid {what}")),
            Self::OtherDomain => (None, "the e-mail address is not admitted".to_owned()),
            Self::NoAccount | Self::NoAdministrator => (None, "no account".to_owned()),
            Self::Disabled(id) => (Some(id.as_str()), "disabled".to_owned()),
            Self::OtherUser => (None, "the account of another user".to_owned()),
            _ => return,
        };
        accounts.record_provider_failure(user_id, (&provider.settings.id, &reason), address);
    }
}

/// Begins a session for a user who has signed in at the provider. Returns its cookie.
pub(super) async fn sign_in(
    accounts: &Accounts,
    provider: &Provider,
    FinishedSignIn { user, tokens }: FinishedSignIn,
    asker: &RequestContext,
) -> Result<Result<HeaderValue, SignInProblem>, AccountError> {
    let session_id = user.session_id.clone();
    let found = match find_or_link(accounts, provider, &user, asker).await? {
        Ok(Some(found)) => found,
        Err(problem) => return Ok(Err(problem)),
        Ok(None) => match sign_up(accounts, provider, &user, asker).await? {
            Ok(()) => match accounts.store.user_by_identity(&user.issuer, &user.subject).await? {
                Some((user, identity)) => (user.id, identity.id),
                None => return Ok(Err(SignInProblem::NoAccount)),
            },
            Err(problem) => return Ok(Err(problem)),
        },
    };
    let (user_id, identity_id) = found;
    let row = AccountAction::SignIn.success_entry(&user_id, asker.audit_address.as_deref(), about(provider));
    let row = accounts.sign_in.row_within_budget(AccountAction::SignIn, row);
    let browser = (&asker.credentials, asker.is_https);
    let cookie = accounts.begin_provider_session(&user_id, browser, (provider, identity_id, session_id), row).await?;
    if cookie.is_some() {
        accounts.sign_in.tokens.keep(&user_id, tokens).await;
    }
    Ok(cookie.ok_or(SignInProblem::Disabled(user_id)))
}

/// Returns the user with the identity, and its id. Links the account that the directory has made for the user, or the
/// one with the verified e-mail address if the config says so.
async fn find_or_link(
    accounts: &Accounts,
    provider: &Provider,
    user: &ProviderUser,
    asker: &RequestContext,
) -> Result<Result<Option<(String, String)>, SignInProblem>, AccountError> {
    let store = &accounts.store;
    if let Some((known, identity)) = store.user_by_identity(&user.issuer, &user.subject).await? {
        if known.disabled_at.is_none() {
            let entry = (identity.roles != user.roles).then(|| {
                let mut about = about(provider);
                about.insert("before".to_owned(), json!({ "roles": identity.roles }));
                about.insert("after".to_owned(), json!({ "roles": user.roles }));
                AccountAction::ChangeGroupRoles.success_entry(&known.id, asker.audit_address.as_deref(), about)
            });
            store.update_identity(claims(user.clone()), now_millis(), entry).await?;
        }
        return Ok(Ok(Some((known.id, identity.id))));
    }
    if let Some(directory_id) = &user.directory_id
        && let Some(known) = store.user_by_external_id(directory_id).await?
    {
        return link_provisioned(accounts, provider, (user, known), asker).await;
    }
    let email = user.verified_email.as_deref().filter(|_| provider.settings.link_verified_email);
    // The normalized form of other letters can be the address of somebody else.
    let Some(email) = email.filter(|email| email.is_ascii()) else { return Ok(Ok(None)) };
    let named = store.user_by_name(&credential_rules::name_key(email)).await?;
    let Some((named, _)) = named.filter(|(named, _)| named.name.eq_ignore_ascii_case(email)) else {
        return Ok(Ok(None));
    };
    // Only an account with a password, or of a directory, and without an identity: one that came from a provider has
    // the name that this provider gave it.
    let entry = AccountAction::LinkIdentity.success_entry(&named.id, asker.audit_address.as_deref(), about(provider));
    let id = Uuid::now_v7().to_string();
    let linked = store.link_identity(&named.id, &id, claims(user.clone()), now_millis(), true, Some(entry)).await?;
    Ok(Ok((linked == LinkOutcome::Done).then_some((named.id, id))))
}

/// Links the account that a directory manages, whose id in the directory the provider has confirmed.
async fn link_provisioned(
    accounts: &Accounts,
    provider: &Provider,
    (user, known): (&ProviderUser, User),
    asker: &RequestContext,
) -> Result<Result<Option<(String, String)>, SignInProblem>, AccountError> {
    // Without this, a user whom the directory has disabled would get a new account.
    if known.disabled_at.is_some() {
        return Ok(Err(SignInProblem::Disabled(known.id)));
    }
    let entry = AccountAction::LinkIdentity.success_entry(&known.id, asker.audit_address.as_deref(), about(provider));
    let id = Uuid::now_v7().to_string();
    let claims = claims(user.clone());
    let linked = accounts.store.link_identity(&known.id, &id, claims, now_millis(), false, Some(entry)).await?;
    Ok(match linked {
        LinkOutcome::Done => Ok(Some((known.id, id))),
        LinkOutcome::TooMany => Err(SignInProblem::TooManyIdentities),
        LinkOutcome::OtherUser | LinkOutcome::NotTheFirst => Err(SignInProblem::OtherUser),
        LinkOutcome::Unknown => Err(SignInProblem::Disabled(known.id)),
    })
}

/// Creates an account, if the config allows it.
async fn sign_up(
    accounts: &Accounts,
    provider: &Provider,
    user: &ProviderUser,
    asker: &RequestContext,
) -> Result<Result<(), SignInProblem>, AccountError> {
    if !provider.settings.sign_up {
        return Ok(Err(SignInProblem::NoAccount));
    }
    // Otherwise nobody could become the first administrator any more.
    let is_admin = user.roles.iter().any(|role| role == ADMIN);
    if accounts.settings.passwords && !is_admin && !accounts.store.has_users().await? {
        return Ok(Err(SignInProblem::NoAdministrator));
    }
    // Held until the account is stored.
    let mut new_names = accounts.new_names().await?;
    let name = free_name(accounts, &mut new_names, &user.names).await?;
    let new = NewUser {
        id: Uuid::now_v7().to_string(),
        name_key: credential_rules::name_key(&name),
        name,
        password: String::new(),
        must_change_password: false,
        // Roles of groups count only in sessions that begin at the provider.
        roles: Vec::new(),
        now: now_millis(),
    };
    let about = Map::from_iter([
        ("provider".to_owned(), provider.settings.id.clone().into()),
        ("roles".to_owned(), user.roles.clone().into()),
    ]);
    let entry = AccountAction::SignUp.success_entry(&new.id, asker.audit_address.as_deref(), about);
    let id = Uuid::now_v7().to_string();
    match accounts.store.add_user_with_identity(new, &id, claims(user.clone()), entry).await? {
        AddUserOutcome::Done => accounts.sign_in.setup.clear(),
        // Another request of the user was faster.
        AddUserOutcome::IdentityTaken => {}
        AddUserOutcome::NameTaken | AddUserOutcome::NotTheFirst | AddUserOutcome::NotInvited => {
            return Ok(Err(SignInProblem::Busy));
        }
    }
    Ok(Ok(()))
}

/// Returns a name for a new account that no other user has, similar to one of these.
async fn free_name(accounts: &Accounts, new: &mut NewNames<'_>, names: &[String]) -> Result<String, AccountError> {
    let wanted: Vec<_> = names.iter().filter_map(|name| credential_rules::account_name(name)).collect();
    for name in &wanted {
        if is_free(accounts, new, name).await? {
            return Ok(name.clone());
        }
    }
    let random = Uuid::new_v4().simple().to_string();
    let short: String =
        wanted.first().map_or("user", String::as_str).chars().take(credential_rules::MAX_NAME - 9).collect();
    let numbered = format!("{short}-{}", &random[..8]);
    if is_free(accounts, new, &numbered).await? { Ok(numbered) } else { Ok(format!("user-{random}")) }
}

async fn is_free(accounts: &Accounts, new: &mut NewNames<'_>, name: &str) -> Result<bool, AccountError> {
    let is_taken = accounts.store.user_by_name(&credential_rules::name_key(name)).await?.is_some();
    Ok(!is_taken && !new.has_lookalike(name).await?)
}

/// Returns the claims of a user at the provider, as they are stored.
pub(super) fn claims(user: ProviderUser) -> ProviderClaims {
    ProviderClaims { issuer: user.issuer, subject: user.subject, label: user.label, roles: user.roles }
}

/// Returns the details of a sign-in at a provider for the audit log.
pub(super) fn about(provider: &Provider) -> Map<String, Value> {
    Map::from_iter([("provider".to_owned(), provider.settings.id.clone().into())])
}
