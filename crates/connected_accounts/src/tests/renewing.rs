//! Renewing and refusing tokens.

use super::*;
use ::capability::{AfterRefusal, TokenRefusal};

#[tokio::test]
async fn two_servers_renew_tokens_once() {
    on_each_database(&[TABLES], async |store| {
        let idp = Idp::start().await;
        let (one, other) = (accounts(store), accounts(store));
        let service = idp.service();
        idp.state.lock().life = 1;
        connect(&one, &idp, &service, "ada").await.unwrap();
        (idp.state.lock().life, idp.state.lock().delay) = (3600, Duration::from_millis(400));
        let all = futures::future::join_all((0..8).map(|number| {
            let accounts = if number % 2 == 0 { &one } else { &other };
            token(accounts, &service, "ada")
        }));
        let all: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
        assert_eq!(all, ["access-canary-2"; 8]);
        let asked = idp.state.lock().asked.clone();
        assert_eq!((asked.len(), asked[1]["refresh_token"].as_str()), (2, "refresh-canary-1"));
        assert_eq!(asked[1]["resource"], service.url.as_str());
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_stopped_loses_no_rotated_token() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let service = idp.service();
    idp.state.lock().life = 1;
    connect(&accounts, &idp, &service, "ada").await.unwrap();
    (idp.state.lock().life, idp.state.lock().delay) = (3600, Duration::from_millis(300));
    let stopped = tokio::time::timeout(Duration::from_millis(100), token(&accounts, &service, "ada")).await;
    assert!(stopped.is_err());
    assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-2");
    assert_eq!(idp.state.lock().asked.len(), 2);
}

#[tokio::test]
async fn failures_to_renew_keep_the_account_unless_it_was_revoked() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let service = idp.service();
    idp.state.lock().life = 1;
    connect(&accounts, &idp, &service, "ada").await.unwrap();
    for refusal in [(503, "down"), (400, "invalid_client"), (400, "temporarily_unavailable")] {
        idp.state.lock().refusal = Some(refusal);
        let Err(TokenProblem::Failed(message)) = token(&accounts, &service, "ada").await else { panic!("{refusal:?}") };
        assert!(message.contains("could not be renewed") && !message.contains("canary"), "{message}");
    }
    (idp.state.lock().refusal, idp.state.lock().life) = (None, 3600);
    assert!(token(&accounts, &service, "ada").await.is_ok());

    // Another key, or another client in the config.
    let env = HashMap::from([("KEY".to_owned(), "x".repeat(32))]);
    let foreign = Accounts::new(store.clone(), Keys::read(&[Variable("KEY".to_owned())], &env));
    assert_eq!(token(&foreign, &service, "ada").await, not_connected());
    let moved = Service { url: "https://elsewhere.test/mcp".parse().unwrap(), ..service.clone() };
    assert_eq!(token(&accounts, &moved, "ada").await, not_connected());

    idp.state.lock().life = 1;
    connect(&accounts, &idp, &service, "ada").await.unwrap();
    idp.state.lock().refusal = Some((400, "invalid_grant"));
    assert_eq!(token(&accounts, &service, "ada").await, not_connected());
    let asked = idp.state.lock().asked.len();
    assert_eq!(token(&accounts, &service, "ada").await, not_connected());
    assert_eq!(idp.state.lock().asked.len(), asked, "it is not asked again");
}

#[tokio::test]
async fn refused_tokens_are_renewed_or_the_user_connects_again() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let (idp, accounts) = (Idp::start().await, accounts(&store));
    let service = idp.service();
    connect(&accounts, &idp, &service, "ada").await.unwrap();
    let refused = async |token: &str, challenge: &str| {
        let token = Bearer::new(token);
        let refusal = TokenRefusal { token: &token, challenge };
        ProvideTokens::refused(&accounts, &service, &scope("ada"), refusal).await
    };
    let connect_page = || AfterRefusal::Connect { page: "/account/connections?connect=files".to_owned() };
    assert_eq!(refused("access-canary-1", r#"Bearer error="invalid_token""#).await, AfterRefusal::Retry);
    assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-2");
    // Another request has renewed it already.
    assert_eq!(refused("access-canary-1", "").await, AfterRefusal::Retry);
    assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-2");

    let more = r#"Bearer error="insufficient_scope", scope="read write""#;
    assert_eq!(refused("access-canary-2", more).await, connect_page());
    assert_eq!(token(&accounts, &service, "ada").await.unwrap(), "access-canary-2", "other tools can be used");
    let begun = accounts.begin(&service, "ada", ORIGIN).await.unwrap();
    let asked: Fields = begun.url.query_pairs().into_owned().collect();
    assert_eq!(asked["scope"], "offline_access read write");
    idp.state.lock().scope = Some("read write");
    accounts.finish(&service, "ada", &begun.pending, &callback(&idp.agree(&begun.url))).await.unwrap();
    let row = crate::store::account(&store, "ada", "files").await.unwrap().unwrap();
    assert_eq!((row.scopes.as_str(), row.needed_scopes.as_str()), ("read write", ""));
    assert_eq!(refused("whatever", "").await, AfterRefusal::Retry);
    assert_eq!(ProvideTokens::connected_at(&accounts, &service, &scope("ada")).await, Some(row.connected_at));
    assert_eq!(ProvideTokens::connected_at(&accounts, &service, &scope("bob")).await, None);
}
