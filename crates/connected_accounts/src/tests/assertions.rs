//! Assertions of the provider of a sign-in, for which another authorization server issues tokens.

use super::sign_ins::{ISSUER, accounts_with_sign_in, issued, sign_in_again, sign_up};
use super::*;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use settings::user_auth::{ExchangeAuth, ExchangeWay, OauthClient, SignInTokens, UserAuth};
use web::times::now_millis;

/// The MCP server as a service whose authorization server takes assertions.
fn service(files: &Idp) -> Service {
    let auth = UserAuth::Exchange(ExchangeAuth {
        way: ExchangeWay::Assertion { issuer: None },
        client: OauthClient { id: "agents".to_owned(), secret: Some("s3cret".into()) },
        scopes: Vec::new(),
        provider: None,
    });
    Service { auth, ..files.service() }
}

/// Returns an ID token of a user that expires after some seconds.
fn id_token(subject: &str, life: i64) -> String {
    let claims = json!({ "iss": ISSUER, "sub": subject, "exp": now_millis() / 1_000 + life });
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

/// Signs a user in with an ID token.
async fn sign_in(accounts: &Accounts, company: &Idp, user: &str, id_token: &str) {
    let tokens = SignInTokens { id_token: id_token.into(), ..issued(company, "subject-canary", None) };
    accounts.keep_tokens(user, tokens).await.unwrap();
}

#[tokio::test]
async fn the_authorization_server_of_the_service_issues_tokens_for_assertions() {
    on_each_database(&[TABLES], async |store| {
        let (company, files) = (Idp::start().await, Idp::start().await);
        let accounts = accounts_with_sign_in(store);
        let service = service(&files);
        sign_up(store, "ada").await;
        sign_up(store, "bob").await;
        assert_eq!(token(&accounts, &service, "ada").await, sign_in_again());

        let first = id_token("ada", 3_600);
        sign_in(&accounts, &company, "ada", &first).await;
        assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-1");
        assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-1");
        assert_eq!(token(&accounts, &service, "bob").await, sign_in_again(), "it is the token of another user");
        let asked = company.state.lock().asked.clone();
        let field = |name: &str| asked[0].get(name).map(String::as_str).unwrap_or_default();
        assert_eq!((asked.len(), field("grant_type")), (1, "urn:ietf:params:oauth:grant-type:token-exchange"));
        assert_eq!(field("subject_token"), first);
        assert_eq!(field("subject_token_type"), "urn:ietf:params:oauth:token-type:id_token");
        assert_eq!(field("requested_token_type"), "urn:ietf:params:oauth:token-type:id-jag");
        assert_eq!((field("audience"), field("resource")), (files.origin.as_str(), service.url.as_str()));
        assert_eq!((field("scope"), field("authorization")), ("read", "Basic Y2hhdDpzM2NyZXQ="));
        let asked = files.state.lock().asked.clone();
        let field = |name: &str| asked[0].get(name).map(String::as_str).unwrap_or_default();
        assert_eq!((asked.len(), field("grant_type")), (1, "urn:ietf:params:oauth:grant-type:jwt-bearer"));
        assert_eq!((field("assertion"), field("authorization")), ("access-canary-1", "Basic YWdlbnRzOnMzY3JldA=="));
        let row = crate::store::account(store, "ada", "sign-in:company").await.unwrap().unwrap();
        assert!(!row.sealed.contains(&first), "{row:?}");

        // An ID token that expires soon is renewed before it is exchanged.
        let renewed = id_token("ada", 7_200);
        company.state.lock().id_token = Some(renewed.clone());
        sign_in(&accounts, &company, "ada", &id_token("ada", 10)).await;
        assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-2");
        let asked = company.state.lock().asked.clone();
        assert_eq!((asked.len(), asked[1]["grant_type"].as_str()), (3, "refresh_token"));
        assert_eq!(asked[2]["subject_token"], renewed);
        assert_eq!(files.state.lock().asked[1]["assertion"], "access-canary-3");
    })
    .await;
}

#[tokio::test]
async fn users_sign_in_again_when_their_id_token_cannot_be_renewed() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (company, files) = (Idp::start().await, Idp::start().await);
    let accounts = accounts_with_sign_in(&store);
    let service = service(&files);
    sign_up(&store, "ada").await;
    let check = async |renewed: Option<String>, refusal: Option<(u16, &'static str)>| {
        company.state.lock().id_token = renewed.clone();
        company.state.lock().refusal = refusal;
        sign_in(&accounts, &company, "ada", &id_token("ada", 10)).await;
        let asked = || company.state.lock().asked.len();
        let before = asked();
        assert_eq!(token(&accounts, &service, "ada").await, sign_in_again(), "{renewed:?}");
        assert_eq!(token(&accounts, &service, "ada").await, sign_in_again(), "{renewed:?}");
        assert_eq!(asked(), before + 1, "it is asked once: {renewed:?}");
    };
    check(None, None).await;
    check(Some(id_token("eve", 3_600)), None).await;
    check(Some("opaque".to_owned()), None).await;
    check(None, Some((400, "invalid_grant"))).await;
    assert_eq!(files.state.lock().asked.len(), 0);

    // An ID token that the provider refuses before its time is renewed once.
    sign_in(&accounts, &company, "ada", &id_token("ada", 3_600)).await;
    let before = company.state.lock().asked.len();
    assert_eq!(token(&accounts, &service, "ada").await, sign_in_again());
    assert_eq!(company.state.lock().asked[before + 1]["grant_type"], "refresh_token");
}

#[tokio::test]
async fn problems_say_which_server_has_them() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (company, files) = (Idp::start().await, Idp::start().await);
    let accounts = accounts_with_sign_in(&store);
    let service = service(&files);
    sign_up(&store, "ada").await;
    sign_in(&accounts, &company, "ada", &id_token("ada", 3_600)).await;
    let check = async |service: &Service, expected: &str| {
        let Err(TokenProblem::Failed(message)) = token(&accounts, service, "ada").await else { panic!("{expected}") };
        assert_eq!(message, format!("Not run: {expected}."));
    };
    // The provider is not asked for an assertion that nobody can use.
    files.state.lock().metadata = json!({ "issuer": "https://evil.test" });
    check(&service, "the metadata are those of another authorization server").await;
    files.state.lock().metadata = json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] });
    check(&service, "the authorization server does not accept the secret of a client").await;
    files.state.lock().resource = json!({ "resource": "https://other.test/mcp" });
    check(&service, "the metadata are those of another service").await;
    assert_eq!(company.state.lock().asked.len(), 0);

    (files.state.lock().metadata, files.state.lock().resource) = (Value::Null, Value::Null);
    files.state.lock().refusal = Some((400, "invalid_grant"));
    check(&service, "the authorization server of the service refuses it: invalid_grant").await;
    company.state.lock().refusal = Some((400, "invalid_target"));
    check(&service, "the provider of the sign-in refuses it: invalid_target").await;
    company.state.lock().refusal = Some((503, "down"));
    check(&service, "the provider of the sign-in cannot be reached: HTTP 503").await;
}
