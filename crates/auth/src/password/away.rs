//! Users for whom the server acts without a request of theirs, for example to send a message that has waited for the end of an
//! answer.

use super::{KeyScope, now_millis, session_lifetime, sign_in_ways};
use config::AccountAuth;
use std::sync::Arc;
use store::{ApiKeyRow, Store, StoreError, User};

/// The reason why the server does not act for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwayRefusal {
    /// There is no such user.
    Unknown,
    /// The user is disabled.
    Disabled,
    /// An administrator has set the password, and the user has not replaced it.
    MustChangePassword,
    /// The user has no session, and no API key with the scope.
    SignedOut,
}

/// Returns a user for whom the server may act now: one with a session, or with an API key that has this scope. A user without
/// a session who must replace the password is refused even with an API key, although a request with that key would be accepted:
/// the administrator may have set the password because somebody else knew it.
///
/// # Errors
/// The database failed.
pub async fn user_away(
    store: &Store,
    settings: &AccountAuth,
    user_id: &str,
    scope: KeyScope,
) -> Result<Result<User, AwayRefusal>, StoreError> {
    let Some((user, password)) = store.user_by_id(user_id).await? else { return Ok(Err(AwayRefusal::Unknown)) };
    if user.disabled_at.is_some() {
        return Ok(Err(AwayRefusal::Disabled));
    }
    let (now, ways) = (now_millis(), Arc::new(sign_in_ways(settings)));
    if !store.sessions(user_id, now, session_lifetime(settings), &ways).await?.is_empty() {
        return Ok(Ok(user));
    }
    if password.must_change {
        return Ok(Err(AwayRefusal::MustChangePassword));
    }
    let is_valid = |key: &ApiKeyRow| key.expires_at > now && key.scopes.iter().any(|name| name == scope.name());
    let has_key = store.api_keys(user_id).await?.iter().any(is_valid);
    Ok(if has_key { Ok(user) } else { Err(AwayRefusal::SignedOut) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::SecondFactorMode;
    use std::time::Duration;
    use store::{AddUserOutcome, NewApiKey, NewSession, NewUser, Schema, SecondFactorProof, SignInProof, sql};

    fn settings() -> AccountAuth {
        AccountAuth {
            passwords: true,
            providers: Vec::new(),
            open_sign_up: false,
            sign_up_roles: Vec::new(),
            session_idle: Duration::from_secs(60),
            session_max: Duration::from_secs(60),
            second_factor: SecondFactorMode::Off,
            second_factor_keys: Vec::new(),
            scim_tokens: Vec::new(),
        }
    }

    async fn execute(store: &Store, statement: &'static str) {
        let change = sql::query(statement);
        store.write(move |db| Box::pin(async move { Ok(change.execute(db).await.map(drop)?) })).await.unwrap();
    }

    async fn add_key(store: &Store, id: u8, scope: KeyScope, lifetime: i64) {
        let now = now_millis();
        let key = NewApiKey {
            id: format!("key-{id}"),
            user_id: "ada".to_owned(),
            name: "key".to_owned(),
            key_hash: [id; 32],
            scopes: vec![scope.name().to_owned()],
            now,
            expires_at: now + lifetime,
        };
        assert!(store.add_api_key(key, None).await.unwrap());
    }

    #[tokio::test]
    async fn the_server_acts_as_users_whose_requests_it_would_accept() {
        let store = Schema::default().open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
        let check = async |settings: &AccountAuth, expected: Option<AwayRefusal>| {
            let found = user_away(&store, settings, "ada", KeyScope::Agents).await.unwrap();
            assert_eq!(found.err(), expected);
        };
        let with_passwords = settings();
        check(&with_passwords, Some(AwayRefusal::Unknown)).await;
        let user = NewUser {
            id: "ada".to_owned(),
            name: "ada".to_owned(),
            name_key: "ada".to_owned(),
            password: "hash".to_owned(),
            must_change_password: false,
            roles: Vec::new(),
            now: 0,
        };
        assert_eq!(store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
        check(&with_passwords, Some(AwayRefusal::SignedOut)).await;

        let session = NewSession {
            id: "session".to_owned(),
            user_id: "ada".to_owned(),
            token_hash: [1; 32],
            agent: String::new(),
            now: now_millis(),
            proof: SignInProof::Password("hash".to_owned(), SecondFactorProof::None),
        };
        let lifetime = session_lifetime(&with_passwords);
        assert!(store.begin_session(session, None, lifetime, Vec::new()).await.unwrap());
        check(&with_passwords, None).await;
        check(&AccountAuth { passwords: false, ..settings() }, Some(AwayRefusal::SignedOut)).await;
        execute(&store, "DELETE FROM sessions").await;
        check(&with_passwords, Some(AwayRefusal::SignedOut)).await;

        add_key(&store, 1, KeyScope::Endpoints, 60_000).await;
        add_key(&store, 2, KeyScope::Agents, -1).await;
        check(&with_passwords, Some(AwayRefusal::SignedOut)).await;
        add_key(&store, 3, KeyScope::Agents, 60_000).await;
        check(&with_passwords, None).await;
        execute(&store, "UPDATE users SET must_change_password = 1").await;
        check(&with_passwords, Some(AwayRefusal::MustChangePassword)).await;
        execute(&store, "UPDATE users SET disabled_at = 1").await;
        check(&with_passwords, Some(AwayRefusal::Disabled)).await;
    }
}
