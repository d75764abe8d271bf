//! The same doors in the modes that tell callers apart, with what a request really brings along: sessions, keys, a proxy's headers.

use super::routes::{DOORS, answered};
use super::*;
use crate::auth::password::Scope;
use crate::router::router;
use axum::extract::ConnectInfo;
use std::net::SocketAddr;
use store::{Added, NewUser};

type Headers = Vec<(&'static str, String)>;

/// The answer at a door of the whole server, asked from this machine.
async fn knock_with(routes: &Router, headers: &Headers, knock: Knock) -> (u16, Option<String>) {
    let mut request = Request::builder().method(knock.method).uri(knock.path).header(header::HOST, "127.0.0.1");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    if knock.body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT, "application/json");
    }
    let body = knock.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let from = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1)));
    let response = routes.clone().oneshot(request.extension(from).body(body).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let cookie = response.headers().get(header::SET_COOKIE).map(|set| set.to_str().unwrap().to_owned());
    to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, cookie.and_then(|set| set.split(';').next().map(str::to_owned)))
}

/// Walks along all doors. `of_door` says what a door answers instead of what it answers by the rules.
async fn walk(
    routes: &Router,
    (name, mut headers): (&str, Headers),
    expected: [u16; 3],
    of_door: impl Fn(&Knock, u16) -> u16,
) {
    let own = format!("own-{name}");
    let (status, cookie) = knock_with(routes, &headers, send("p_open", "a_open", &own, "Hello")).await;
    assert_eq!(status, of_door(&send("p_open", "a_open", &own, "Hello"), 200), "{name}");
    headers.extend(cookie.map(|cookie| ("cookie", cookie)));
    for (number, (door, at)) in DOORS.iter().enumerate() {
        for ((kind, _), expected) in RULES.iter().zip(expected) {
            let make = || at(kind, &format!("{name}-{number}-{kind}"), &own);
            let expected = of_door(&make(), answered(door, kind, expected));
            let (status, _) = knock_with(routes, &headers, make()).await;
            let seen = if status == 204 { 200 } else { status };
            assert_eq!(seen, expected, "{door}, {kind}, {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_a_proxy_names() {
    let auth = "auth: { mode: proxy, publicUrls: ['https://a.test'], trustedProxies: ['127.0.0.1'] }\n";
    let routes = router(state(&format!("{}{auth}", config())).await);
    for (name, is_authenticated, roles, expected) in CALLERS {
        let mut headers = vec![("x-forwarded-groups", roles.join(","))];
        if is_authenticated {
            headers.push(("x-forwarded-user", name.to_owned()));
        }
        walk(&routes, (name, headers), expected, |_, expected| expected).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_and_their_keys() {
    let auth = "auth: { mode: password, publicUrls: ['https://a.test'] }\n";
    let state = state(&format!("{}{auth}", config())).await;
    let accounts = state.composition.current.authentication().accounts().unwrap();
    let routes = router(state);
    let is_page = |knock: &Knock| knock.method == Method::GET && !knock.path.starts_with("/api/");
    for (name, is_authenticated, roles, expected) in CALLERS {
        if !is_authenticated {
            let to_sign_in = |knock: &Knock, expected| if expected == 401 && is_page(knock) { 303 } else { expected };
            walk(&routes, (name, Vec::new()), expected, to_sign_in).await;
            continue;
        }
        let user = NewUser {
            id: name.to_owned(),
            name: name.to_owned(),
            name_key: name.to_owned(),
            password: String::new(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            now: 0,
        };
        assert_eq!(accounts.store.add_user(user, false, None).await.unwrap(), Added::Done);
        let browser = Request::builder().body(Body::empty()).unwrap();
        let sent = crate::auth::Credentials::of(&browser);
        let cookie = accounts.begin_session(name, &sent, false, None).await.unwrap().unwrap();
        let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
        walk(&routes, (name, vec![("cookie", cookie.clone())]), expected, |_, expected| expected).await;
        for scopes in [&Scope::ALL[..], &Scope::ALL[..1], &Scope::ALL[2..]] {
            let key = accounts.make_key(name, "key", scopes, 1, None).await.unwrap().unwrap().key;
            let of_key = |knock: &Knock, expected| {
                let scope = Scope::of_path(knock.path.split('?').next().unwrap_or_default());
                if scope.is_some_and(|scope| scopes.contains(&scope)) { expected } else { 403 }
            };
            let headers = vec![("authorization", format!("Bearer {key}"))];
            walk(&routes, (&format!("{name}-{}", scopes.len()), headers), expected, of_key).await;
        }
        // What a browser's account can do, a key cannot.
        let key = accounts.make_key(name, "key", &Scope::ALL, 1, None).await.unwrap().unwrap().key;
        for knock in
            [get("/auth/account".to_owned()), get("/api/keys".to_owned()), post("/auth/sign-out".to_owned(), json!({}))]
        {
            let path = knock.path.clone();
            let headers = vec![("authorization", format!("Bearer {key}"))];
            assert_eq!(knock_with(&routes, &headers, knock).await.0, 403, "{path}");
        }
    }
}
