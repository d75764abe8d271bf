//! The same routes in the auth modes with users, called with real credentials: sessions, API keys,
//! a proxy's headers.

use super::routes::{ROUTES, expected_status};
use crate::access::*;
use auth::password::KeyScope;
use store::{AddUserOutcome, NewUser, SecondFactorProof};

type Headers = Vec<(&'static str, String)>;

/// Sends a request from this machine to the whole server; returns the status and the cookie that
/// was set.
async fn call_with_headers(routes: &Router, headers: &Headers, spec: TestRequest) -> (u16, Option<String>) {
    let mut request = local_request(spec.method, &spec.path);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    if spec.body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT, "application/json");
    }
    let body = spec.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let response = routes.clone().oneshot(request.body(body).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let cookie = response.headers().get(header::SET_COOKIE).map(|set| set.to_str().unwrap().to_owned());
    to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, cookie.and_then(|set| set.split(';').next().map(str::to_owned)))
}

/// Checks all routes. `adjust` maps the status that follows from the access rules to the expected
/// one.
async fn check_routes(
    routes: &Router,
    (name, mut headers): (&str, Headers),
    expected: [u16; 3],
    adjust: impl Fn(&TestRequest, u16) -> u16,
) {
    let own = format!("own-{name}");
    let (status, cookie) = call_with_headers(routes, &headers, send("p_open", "a_open", &own, "Hello")).await;
    assert_eq!(status, adjust(&send("p_open", "a_open", &own, "Hello"), 200), "{name}");
    headers.extend(cookie.map(|cookie| ("cookie", cookie)));
    for (number, (case, at)) in ROUTES.iter().enumerate() {
        for ((kind, _), expected) in RULES.iter().zip(expected) {
            let make = || at(kind, &format!("{name}-{number}-{kind}"), &own);
            let expected = adjust(&make(), expected_status(case, kind, expected));
            let (status, _) = call_with_headers(routes, &headers, make()).await;
            let seen = if status == 204 { 200 } else { status };
            assert_eq!(seen, expected, "{case}, {kind}, {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proxy_users_follow_access_rules() {
    let auth = "auth: { mode: proxy, publicUrls: ['https://a.test'], trustedProxies: ['127.0.0.1'] }\n";
    let routes = open(&format!("{}{auth}", config())).await.routes();
    for (name, is_authenticated, roles, expected) in CALLERS {
        let mut headers = vec![("x-forwarded-groups", roles.join(","))];
        if is_authenticated {
            headers.push(("x-forwarded-user", name.to_owned()));
        }
        check_routes(&routes, (name, headers), expected, |_, expected| expected).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_and_api_keys_follow_access_rules() {
    let auth = "auth: { mode: password, publicUrls: ['https://a.test'] }\n";
    let server = open(&format!("{}{auth}", config())).await;
    let (accounts, routes) = (server.accounts().unwrap(), server.routes());
    let is_page = |spec: &TestRequest| spec.method == Method::GET && !spec.path.starts_with("/api/");
    for (name, is_authenticated, roles, expected) in CALLERS {
        if !is_authenticated {
            let to_sign_in =
                |spec: &TestRequest, expected| if expected == 401 && is_page(spec) { 303 } else { expected };
            check_routes(&routes, (name, Vec::new()), expected, to_sign_in).await;
            continue;
        }
        let user = NewUser {
            id: name.to_owned(),
            name: name.to_owned(),
            name_key: name.to_owned(),
            password: String::new(),
            must_change_password: false,
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            now: 0,
        };
        assert_eq!(accounts.store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
        let browser = Request::builder().body(Body::empty()).unwrap();
        let sent = auth::Credentials::from_request(&browser);
        let cookie =
            accounts.begin_session((name, "", SecondFactorProof::None), &sent, false, None).await.unwrap().unwrap();
        let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
        check_routes(&routes, (name, vec![("cookie", cookie.clone())]), expected, |_, expected| expected).await;
        for scopes in [&KeyScope::ALL[..], &KeyScope::ALL[..1], &KeyScope::ALL[2..]] {
            let key = accounts.create_key(name, "key", scopes, 1, None).await.unwrap().unwrap().key;
            let of_key = |spec: &TestRequest, expected| {
                let scope = expected_scope(spec.method.as_str(), spec.path.split('?').next().unwrap_or_default());
                if scope.is_some_and(|scope| scopes.contains(&scope)) { expected } else { 403 }
            };
            let headers = vec![("authorization", format!("Bearer {key}"))];
            check_routes(&routes, (&format!("{name}-{}", scopes.len()), headers), expected, of_key).await;
        }
        // API keys cannot be used for the account itself.
        let key = accounts.create_key(name, "key", &KeyScope::ALL, 1, None).await.unwrap().unwrap().key;
        for spec in
            [get("/auth/account".to_owned()), get("/api/keys".to_owned()), post("/auth/sign-out".to_owned(), json!({}))]
        {
            let path = spec.path.clone();
            let headers = vec![("authorization", format!("Bearer {key}"))];
            assert_eq!(call_with_headers(&routes, &headers, spec).await.0, 403, "{path}");
        }
    }
}
