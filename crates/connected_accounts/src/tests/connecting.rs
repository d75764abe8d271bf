//! Connecting and disconnecting accounts.

use super::*;
use crate::pending::PendingConnection;
use ::store::sql::query_scalar;
use serde_json::{Value, json};
use settings::user_auth::{AccountAuth, AuthorizationServer, OauthClient, UserAuth};
use web::times::now_millis;

#[tokio::test]
async fn an_account_is_connected_used_and_disconnected() {
    on_each_database(&[TABLES], async |store| {
        let (idp, accounts) = (Idp::start().await, accounts(store));
        let service = idp.service();
        assert_eq!(token(&accounts, &service, "ada").await, not_connected());
        let begun = accounts.begin(&service, "ada", ORIGIN).await.unwrap();
        let asked: Fields = begun.url.query_pairs().into_owned().collect();
        let check = |name: &str, expected: &str| assert_eq!(asked[name], expected, "{name}");
        check("response_type", "code");
        check("client_id", "registered");
        check("redirect_uri", "http://chat.test/auth/connected-accounts/callback");
        check("code_challenge_method", "S256");
        check("resource", service.url.as_str());
        check("scope", "offline_access read");
        accounts.finish(&service, "ada", &begun.pending, &callback(&idp.agree(&begun.url))).await.unwrap();
        assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-1");
        assert_eq!(token(&accounts, &service, "bob").await, not_connected());
        let visitor = ProvideTokens::token(&accounts, &service, &RunScope::default()).await;
        assert!(matches!(visitor, Err(TokenProblem::Failed(_))), "{visitor:?}");
        let exchange = idp.state.lock().asked[0].clone();
        assert_eq!(exchange["resource"], service.url.as_str());
        assert_eq!(exchange["authorization"], "Basic cmVnaXN0ZXJlZDpzZWNyZXQtY2FuYXJ5");

        // The database contains no secret in plain text.
        for column in ["connected_accounts", "connected_account_clients"] {
            let text: &'static str = match column {
                "connected_accounts" => "SELECT sealed FROM connected_accounts",
                _ => "SELECT sealed FROM connected_account_clients",
            };
            let find = query_scalar::<String>(text);
            let sealed =
                store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await.unwrap();
            assert!(sealed.is_some_and(|sealed| sealed.len() > 40 && !sealed.contains("canary")), "{column}");
        }

        // The client is registered once for all users.
        connect(&accounts, &idp, &service, "bob").await.unwrap();
        assert_eq!(idp.state.lock().registered.len(), 1);
        assert!(accounts.disconnect("ada", "files").await.unwrap());
        assert!(!accounts.disconnect("ada", "files").await.unwrap());
        assert_eq!(token(&accounts, &service, "ada").await, not_connected());
        assert_eq!(token(&accounts, &service, "bob").await.unwrap(), "access-canary-2");
        while idp.state.lock().revoked.len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let revoked: Vec<_> = idp.state.lock().revoked.iter().map(|fields| fields["token"].clone()).collect();
        assert_eq!(revoked, ["refresh-canary-1", "access-canary-1"]);
    })
    .await;
}

#[tokio::test]
async fn only_the_user_and_the_server_that_began_finish() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let service = idp.service();
    let moved = Service { url: format!("{}/other", idp.origin).parse().unwrap(), ..service.clone() };
    let expired = "it was not begun in this browser, or took too long";
    let check = async |user: &str, service: &Service, change: (&str, Option<&str>), age: i64, expected: &str| {
        let begun = accounts.begin(&idp.service(), "ada", ORIGIN).await.unwrap();
        let mut answer = idp.agree(&begun.url);
        match change {
            (name, Some(value)) => drop(answer.insert(name.to_owned(), value.to_owned())),
            (name, None) => drop(answer.remove(name)),
        }
        let pending = PendingConnection { begun_at: begun.pending.begun_at - age, ..begun.pending };
        let outcome = accounts.finish(service, user, &pending, &callback(&answer)).await;
        assert_eq!(outcome.unwrap_err().to_string(), expected, "{user} {change:?}");
    };
    check("bob", &service, ("x", None), 0, expired).await;
    check("ada", &moved, ("x", None), 0, expired).await;
    check("ada", &service, ("x", None), 16 * 60_000, expired).await;
    check("ada", &service, ("state", Some("other")), 0, expired).await;
    check("ada", &service, ("state", None), 0, expired).await;
    check("ada", &service, ("iss", Some("https://evil.test")), 0, "another authorization server has answered").await;
    check("ada", &service, ("iss", None), 0, "the answer does not name its issuer").await;
    check("ada", &service, ("error", Some("access_denied")), 0, "access was declined").await;
    assert!(idp.state.lock().asked.is_empty(), "no code was sent");
    idp.state.lock().refusal = Some((400, "invalid_grant"));
    check("ada", &service, ("x", None), 0, "the authorization server refuses it: invalid_grant").await;
    assert_eq!(token(&accounts, &service, "ada").await, not_connected());
}

#[tokio::test]
async fn metadata_of_others_are_refused() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let accounts = accounts(&store);
    let check = async |resource: Value, metadata: Value, expected: &str| {
        let idp = Idp::start().await;
        (idp.state.lock().resource, idp.state.lock().metadata) = (resource.clone(), metadata.clone());
        let problem = accounts.begin(&idp.service(), "ada", ORIGIN).await.err().map(|problem| problem.to_string());
        assert_eq!(problem.as_deref(), Some(expected), "{resource} {metadata}");
    };
    let none = || json!({});
    check(json!({ "resource": "https://evil.test/mcp" }), none(), "the metadata are those of another service").await;
    let other = "the metadata are those of another authorization server";
    check(none(), json!({ "issuer": "https://evil.test" }), other).await;
    let plain = json!({ "code_challenge_methods_supported": ["plain"] });
    check(none(), plain, "the authorization server does not support PKCE").await;
    let unsaid = "the authorization server's metadata do not say that it supports PKCE; if it does, write \
                  `assumePkce: true` in `auth` of the connection";
    check(none(), json!({ "code_challenge_methods_supported": null }), unsaid).await;
    let scheme = "a server names an address that must not be used";
    check(none(), json!({ "authorization_endpoint": "javascript:alert(1)" }), scheme).await;
    check(none(), json!({ "token_endpoint": "https://user:name@evil.test/token" }), scheme).await;
    check(json!({ "authorization_servers": ["file:///etc/passwd"] }), none(), scheme).await;
    let unregistered = "the authorization server registers no clients: the config has to name one";
    check(none(), json!({ "registration_endpoint": null }), unregistered).await;
}

/// If a host has several services, none of them may get a token for all of them by naming the host as its resource.
#[tokio::test]
async fn a_token_is_for_more_than_the_service_only_if_the_host_says_so() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let check = async |resource: &str, host: Value, expected: Result<&str, &str>| {
        (idp.state.lock().resource, idp.state.lock().host) = (json!({ "resource": resource }), host.clone());
        let begun = accounts.begin(&idp.service(), "ada", ORIGIN).await;
        let asked = begun.map(|begun| begun.url.query_pairs().into_owned().collect::<Fields>()["resource"].clone());
        let asked = asked.map_err(|problem| problem.to_string());
        assert_eq!(asked.as_deref().map_err(String::as_str), expected, "{resource} {host}");
    };
    let origin = idp.origin.as_str();
    let of_host = |resource: &str| json!({ "resource": resource, "authorization_servers": [origin] });
    let (service, with_slash) = (format!("{origin}/mcp"), format!("{origin}/"));
    let unconfirmed = "the service's metadata name more than the service as the resource of its tokens, and the metadata of \
                       that resource do not confirm it";
    check(&service, Value::Null, Ok(&service)).await;
    check(origin, Value::Null, Err(unconfirmed)).await;
    check(origin, of_host(&service), Err(unconfirmed)).await;
    check(origin, of_host("https://evil.test"), Err(unconfirmed)).await;
    check(origin, json!({ "authorization_servers": [origin] }), Err(unconfirmed)).await;
    check(origin, of_host(origin), Ok(origin)).await;
    check(origin, of_host(&with_slash), Ok(&with_slash)).await;
}

#[tokio::test]
async fn pkce_is_assumed_only_where_the_config_says_so_or_the_service_is_not_mcp() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let issuer = AuthorizationServer::Issuer(format!("{}/", idp.origin).parse().unwrap());
    let check = async |methods: Value, is_mcp: bool, assume_pkce: bool, is_accepted: bool| {
        idp.state.lock().metadata = json!({ "code_challenge_methods_supported": methods });
        for server in [None, Some(issuer.clone())].into_iter().filter(|server| is_mcp || server.is_some()) {
            let account = AccountAuth { server, assume_pkce, ..AccountAuth::default() };
            let service = Service { is_mcp, auth: UserAuth::Account(account), ..idp.service() };
            let begun = accounts.begin(&service, "ada", ORIGIN).await;
            assert_eq!(begun.is_ok(), is_accepted, "{methods} {is_mcp} {assume_pkce}");
        }
    };
    check(Value::Null, true, false, false).await;
    check(Value::Null, true, true, true).await;
    check(Value::Null, false, false, true).await;
    check(json!(["S256"]), true, false, true).await;
    check(json!(["plain"]), true, true, false).await;
    check(json!([]), false, false, false).await;
}

#[tokio::test]
async fn the_config_names_the_client_and_the_authorization_server() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let at = |path: &str| format!("{}{path}", idp.origin).parse().unwrap();
    let account = |server: Option<AuthorizationServer>, secret: Option<&str>| AccountAuth {
        client: Some(OauthClient { id: "mine".to_owned(), secret: secret.map(Into::into) }),
        scopes: vec!["repo".to_owned()],
        server,
        ..AccountAuth::default()
    };
    let check = async |account: AccountAuth, is_mcp: bool, proof: (&str, &str)| {
        let service = Service { is_mcp, auth: UserAuth::Account(account), ..idp.service() };
        let begun = accounts.begin(&service, "ada", ORIGIN).await.unwrap();
        let asked: Fields = begun.url.query_pairs().into_owned().collect();
        assert_eq!((asked["client_id"].as_str(), asked["scope"].as_str()), ("mine", "repo"));
        accounts.finish(&service, "ada", &begun.pending, &callback(&idp.agree(&begun.url))).await.unwrap();
        let sent = idp.state.lock().asked.pop().unwrap();
        let seen = (sent["authorization"].as_str(), sent.get("client_id").map(String::as_str).unwrap_or_default());
        assert_eq!(seen, proof);
    };
    let basic = ("Basic bWluZTpzM2NyZXQ=", "");
    check(account(None, Some("s3cret")), true, basic).await;
    check(account(Some(AuthorizationServer::Issuer(at("/"))), Some("s3cret")), false, basic).await;
    let endpoints =
        AuthorizationServer::Endpoints { authorization: at("/authorize"), token: at("/token"), revocation: None };
    check(account(Some(endpoints.clone()), Some("s3cret")), false, basic).await;
    check(account(Some(endpoints), None), false, ("", "mine")).await;
    idp.state.lock().metadata = json!({ "token_endpoint_auth_methods_supported": ["client_secret_post"] });
    check(account(None, Some("s3cret")), true, ("", "mine")).await;
    assert!(idp.state.lock().registered.is_empty());
}

#[tokio::test]
async fn a_client_that_was_forgotten_is_registered_again() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    idp.state.lock().refusal = Some((401, "invalid_client"));
    connect(&accounts, &idp, &idp.service(), "ada").await.unwrap_err();
    idp.state.lock().refusal = None;
    connect(&accounts, &idp, &idp.service(), "ada").await.unwrap();
    assert_eq!(idp.state.lock().registered.len(), 2);
}

#[tokio::test]
async fn a_client_is_registered_again_when_its_secret_expires() {
    let check = async |expires_at: i64, registrations: usize| {
        let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
        let (idp, accounts) = (Idp::start().await, accounts(&store));
        idp.state.lock().secret_expires_at = expires_at;
        for user in ["ada", "bob"] {
            accounts.begin(&idp.service(), user, ORIGIN).await.unwrap();
        }
        assert_eq!(idp.state.lock().registered.len(), registrations, "{expires_at}");
    };
    let now = now_millis() / 1_000;
    check(0, 1).await;
    check(now + 86_400, 1).await;
    check(now + 60, 2).await;
    check(i64::MAX, 1).await;
}
