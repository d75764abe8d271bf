//! The tokens of sign-ins, which are exchanged where requests come without one.

use super::exchanging::service;
use super::*;
use crate::sign_in::{SignInProviders, sign_in_path};
use crate::testing::{add_user, provider};
use config::OpenIdProvider;
use settings::user_auth::SignInTokens;

pub(super) const ISSUER: &str = "https://id.test";

pub(super) fn issued(idp: &Idp, access: &str, expires_in: Option<i64>) -> SignInTokens {
    SignInTokens {
        provider: "company".to_owned(),
        token_endpoint: format!("{}/token", idp.origin).parse().unwrap(),
        revocation_endpoint: Some(format!("{}/revoke", idp.origin).parse().unwrap()),
        secret_in_body: false,
        access_token: access.into(),
        refresh_token: Some("refresh-canary-0".into()),
        id_token: "id-canary".into(),
        expires_in,
        scopes: Some("openid profile".to_owned()),
    }
}

/// Adds a user with an identity at the provider.
pub(super) async fn sign_up(store: &Store, id: &str) {
    add_user(store, id, ISSUER).await.unwrap();
}

/// Returns accounts on a server whose users sign in at the provider.
pub(super) fn accounts_with_sign_in(store: &Store) -> Accounts {
    let accounts = accounts(store);
    let client_secret = Some("s3cret".into());
    // A `Url` would end with a slash.
    let issuer = ISSUER.to_owned();
    let company = OpenIdProvider { issuer, client_secret, ..provider(ISSUER.parse().unwrap(), "chat") };
    accounts.set_providers(SignInProviders::from_iter([company]));
    accounts
}

pub(super) fn sign_in_again() -> Result<String, TokenProblem> {
    Err(TokenProblem::SignInAgain { page: "/account/connections?connect=sign-in%3Acompany".to_owned() })
}

#[tokio::test]
async fn tokens_of_sign_ins_are_exchanged_and_renewed() {
    on_each_database(&[TABLES], async |store| {
        let idp = Idp::start().await;
        let accounts = accounts_with_sign_in(store);
        let search = service(&idp, Some("search-api"), &["search.read"]);
        sign_up(store, "ada").await;
        sign_up(store, "bob").await;
        assert_eq!(token(&accounts, &search, "ada").await, sign_in_again());
        assert_eq!(ProvideTokens::connected_at(&accounts, &search, &scope("ada")).await, None);

        ProvideTokens::keep_sign_in(&accounts, "ada", issued(&idp, "subject-canary-1", Some(3_600))).await;
        assert!(ProvideTokens::connected_at(&accounts, &search, &scope("ada")).await.is_some());
        assert_eq!(token(&accounts, &search, "ada").await.unwrap(), "access-canary-1");
        assert_eq!(token(&accounts, &search, "ada").await.unwrap(), "access-canary-1");
        assert_eq!(token(&accounts, &search, "bob").await, sign_in_again(), "it is the token of another user");
        let asked = idp.state.lock().asked.clone();
        assert_eq!((asked.len(), asked[0]["subject_token"].as_str()), (1, "subject-canary-1"));
        let row = crate::store::account(store, "ada", "sign-in:company").await.unwrap().unwrap();
        assert!(!row.sealed.contains("canary") && row.scopes == "openid profile", "{row:?}");

        // A token that expires soon is renewed before it is exchanged, as the client of the sign-in.
        ProvideTokens::keep_sign_in(&accounts, "ada", issued(&idp, "subject-canary-2", Some(10))).await;
        assert_eq!(token(&accounts, &search, "ada").await.unwrap(), "access-canary-3");
        let asked = idp.state.lock().asked.clone();
        assert_eq!((asked[1]["grant_type"].as_str(), asked[1].get("resource")), ("refresh_token", None));
        assert_eq!(asked[1]["authorization"], "Basic Y2hhdDpzM2NyZXQ=");
        assert_eq!(asked[2]["subject_token"], "access-canary-2");
    })
    .await;
}

#[tokio::test]
async fn users_sign_in_again_where_nothing_else_helps() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts_with_sign_in(&store));
    let search = service(&idp, Some("search-api"), &[]);
    sign_up(&store, "ada").await;
    ProvideTokens::keep_sign_in(&accounts, "ada", issued(&idp, "subject-canary", Some(3_600))).await;

    // The provider has revoked everything: it neither exchanges the token nor renews it.
    idp.state.lock().refusal = Some((400, "invalid_grant"));
    assert_eq!(token(&accounts, &search, "ada").await, sign_in_again());
    let kinds = |idp: &Idp| idp.state.lock().asked.iter().map(|asked| asked["grant_type"].clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&idp), ["urn:ietf:params:oauth:grant-type:token-exchange", "refresh_token"]);
    assert_eq!(token(&accounts, &search, "ada").await, sign_in_again());
    assert_eq!(kinds(&idp).len(), 2, "it is not asked again");

    // Another sign-in brings new tokens; an identity that was unlinked does not count.
    idp.state.lock().refusal = None;
    ProvideTokens::keep_sign_in(&accounts, "ada", issued(&idp, "subject-canary-2", None)).await;
    assert!(token(&accounts, &search, "ada").await.is_ok());
    let entry = crate::audit("ada", "test", serde_json::Value::Null);
    store.unlink_identity("ada", "ada-1", None, Some(entry)).await.unwrap();
    assert_eq!(token(&accounts, &search, "ada").await, sign_in_again());

    // A problem of the config is none of the sign-in.
    sign_up(&store, "eve").await;
    ProvideTokens::keep_sign_in(&accounts, "eve", issued(&idp, "subject-canary-3", None)).await;
    idp.state.lock().refusal = Some((400, "invalid_target"));
    let Err(TokenProblem::Failed(message)) = token(&accounts, &search, "eve").await else { panic!("eve") };
    assert_eq!(message, "Not run: the authorization server refuses it: invalid_target.");
}

#[tokio::test]
async fn only_needed_tokens_are_kept_and_only_of_signed_in_users() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts_with_sign_in(&store));
    sign_up(&store, "ada").await;
    let other = SignInTokens { provider: "other".to_owned(), ..issued(&idp, "subject-canary", None) };
    accounts.keep_tokens("ada", other).await.unwrap();
    assert_eq!(crate::store::accounts(&store, "ada").await.unwrap(), []);
    let unusable = accounts.keep_tokens("ada", issued(&idp, "a\r\nb", None)).await;
    assert_eq!(unusable, Err("the provider has issued none that can be used".to_owned()));

    accounts.keep_tokens("ada", issued(&idp, "subject-canary", None)).await.unwrap();
    let visitor = RunScope { user_id: "ada".to_owned(), ..RunScope::default() };
    let search = service(&idp, None, &[]);
    let refused = ProvideTokens::token(&accounts, &search, &visitor).await;
    assert!(matches!(refused, Err(TokenProblem::Failed(_))), "{refused:?}");

    // Disconnected on the account page: deleted here and revoked there.
    assert!(accounts.disconnect("ada", "sign-in:company").await.unwrap());
    assert_eq!(token(&accounts, &search, "ada").await, sign_in_again());
    assert_eq!(
        sign_in_path("sign-in:company", "/a?b=c").as_deref(),
        Some("/auth/openid-connect/company?again=true&next=%2Fa%3Fb%3Dc")
    );
    assert_eq!(sign_in_path("files", "/"), None);
}
