//! Token exchange.

use super::*;
use ::capability::TokenRefusal;
use settings::user_auth::{ExchangeAuth, ExchangeWay, OauthClient, UserAuth};

pub(super) fn service(idp: &Idp, audience: Option<&str>, scopes: &[&str]) -> Service {
    let auth = UserAuth::Exchange(ExchangeAuth {
        way: ExchangeWay::Token {
            endpoint: format!("{}/token", idp.origin).parse().unwrap(),
            audience: audience.map(str::to_owned),
        },
        client: OauthClient { id: "agents".to_owned(), secret: Some("s3cret".into()) },
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        provider: None,
    });
    Service { auth, is_mcp: false, ..idp.service() }
}

fn signed_in(user: &str, token: &str) -> RunScope {
    RunScope { token: Some(Bearer::new(token)), ..scope(user) }
}

#[tokio::test]
async fn tokens_are_exchanged_for_each_user_and_service() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let check = async |service: &Service, scope: &RunScope, expected: &str| {
        let token = ProvideTokens::token(&accounts, service, scope).await.unwrap();
        assert_eq!(exposed(&token), expected);
        token
    };
    let search = service(&idp, Some("search-api"), &["search.read"]);
    let data = service(&idp, None, &[]);
    check(&search, &signed_in("ada", "ada-1"), "access-canary-1").await;
    check(&search, &signed_in("ada", "ada-1"), "access-canary-1").await;
    check(&search, &signed_in("bob", "bob-1"), "access-canary-2").await;
    check(&search, &signed_in("bob", "ada-1"), "access-canary-3").await;
    let first = check(&data, &signed_in("ada", "ada-1"), "access-canary-4").await;
    check(&search, &signed_in("ada", "ada-2"), "access-canary-5").await;
    let asked = idp.state.lock().asked.clone();
    let field = |at: usize, name: &str| asked[at].get(name).map(String::as_str).unwrap_or_default().to_owned();
    assert_eq!(field(0, "grant_type"), "urn:ietf:params:oauth:grant-type:token-exchange");
    assert_eq!(field(0, "subject_token"), "ada-1");
    assert_eq!(field(0, "subject_token_type"), "urn:ietf:params:oauth:token-type:access_token");
    assert_eq!(
        (field(0, "audience"), field(0, "resource"), field(0, "scope")),
        ("search-api".into(), "".into(), "search.read".into())
    );
    assert_eq!(
        (field(3, "audience"), field(3, "resource"), field(3, "scope")),
        ("".into(), data.url.to_string(), "".into())
    );
    assert!(!asked[3].contains_key("audience") && !asked[3].contains_key("scope"), "{:?}", asked[3]);
    assert_eq!(field(0, "authorization"), "Basic YWdlbnRzOnMzY3JldA==");

    // A refused token is forgotten, and one that has expired is not used.
    let refusal = TokenRefusal { token: &first, challenge: "" };
    ProvideTokens::refused(&accounts, &data, &signed_in("ada", "ada-1"), refusal).await;
    idp.state.lock().life = 0;
    check(&data, &signed_in("ada", "ada-1"), "access-canary-6").await;
    check(&data, &signed_in("ada", "ada-1"), "access-canary-7").await;
}

#[tokio::test]
async fn exchanges_that_fail_say_why() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let check = async |scope: &RunScope, expected: &str| {
        let service = service(&idp, Some("search-api"), &["search.read"]);
        let Err(TokenProblem::Failed(message)) = ProvideTokens::token(&accounts, &service, scope).await else {
            panic!("{expected}");
        };
        assert_eq!(message, expected);
    };
    let none = "Not run: it is called with the token with which the user is signed in, and this user has none.";
    check(&scope("ada"), none).await;
    idp.state.lock().scope = Some("search.read admin");
    check(&signed_in("ada", "t"), "Not run: the exchanged token has scopes that were not asked for.").await;
    idp.state.lock().refusal = Some((400, "invalid_target"));
    check(&signed_in("ada", "t"), "Not run: the authorization server refuses it: invalid_target.").await;
    for (status, expected) in [
        (403, "Not run: the authorization server refuses it: an unknown error."),
        (404, "Not run: the token endpoint cannot be reached: HTTP 404."),
        (429, "Not run: the token endpoint cannot be reached: HTTP 429."),
        (503, "Not run: the token endpoint cannot be reached: HTTP 503."),
    ] {
        idp.state.lock().refusal = Some((status, "echo-canary"));
        check(&signed_in("ada", "t"), expected).await;
    }
    idp.state.lock().refusal = Some((400, "invalid_grant"));
    check(&signed_in("ada", "t"), "Not run: the user's sign-in is no longer valid. Tell them to sign in again.").await;
}
