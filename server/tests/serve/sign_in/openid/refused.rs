//! Answers of providers that are refused, and keys and sessions that providers end.

use super::browser::{Browser, Page};
use super::hostile::{HostileProvider, now, unsigned};
use super::{auth, entry, serve};
use crate::process::Server;
use crate::sign_in::callers::status;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use ring::hmac;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use store::{AuditFilter, Store};
use url::Url;
use url::form_urlencoded::Serializer;

/// A sign-in that waits for the provider's answer.
struct Begun {
    browser: Browser,
    /// The parameters of the authorization request.
    asked: HashMap<String, String>,
}

async fn begin(server: &Server) -> Begun {
    let browser = Browser::new();
    let page = browser.send(&server.url("/auth/openid-connect/company"), None).await;
    let asked = page.location.unwrap_or_else(|| panic!("{}", page.text));
    Begun { asked: asked.query_pairs().into_owned().collect(), browser }
}

impl Begun {
    /// Sends the provider's answer; `None` leaves a parameter out.
    async fn answer(&self, parameters: &[(&str, Option<&str>)]) -> Page {
        let mut query = Serializer::new(String::new());
        let usual = [("state", Some(self.asked["state"].as_str())), ("code", Some("c"))];
        for (name, value) in
            usual.iter().filter(|(name, _)| !parameters.iter().any(|(other, _)| other == name)).chain(parameters)
        {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        let mut url = Url::parse(&self.asked["redirect_uri"]).unwrap();
        url.set_query(Some(&query.finish()));
        self.browser.send(&url, None).await
    }
}

async fn serve_with(provider: &HostileProvider) -> (Server, tempfile::TempDir) {
    serve(&auth("openidConnect", &[entry("company", &provider.issuer, ", signUp: true")]))
}

/// Returns claims with some replaced; `null` removes one.
fn with(mut claims: Value, more: Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

#[tokio::test]
async fn authorization_request_binds_the_sign_in_to_the_browser() {
    let provider = HostileProvider::start(json!({})).await;
    let (server, _folder) = serve_with(&provider).await;
    let (one, two) = (begin(&server).await.asked, begin(&server).await.asked);
    assert_eq!((one["response_type"].as_str(), one["code_challenge_method"].as_str()), ("code", "S256"));
    assert_eq!(one["scope"], "openid profile email");
    assert_eq!(one["redirect_uri"], server.url("/auth/openid-connect/company/callback").as_str());
    for name in ["state", "nonce", "code_challenge"] {
        assert!(one[name] != two[name] && one[name].len() == 43, "{name}");
    }
    // Behind a proxy that is reached under the public address.
    let auth = auth("openidConnect", &[entry("company", &provider.issuer, "")]).replacen(
        '{',
        "{ publicUrls: ['https://chat.test'],",
        1,
    );
    let (server, _folder) = serve(&auth);
    let request = server.request(Method::GET, "/auth/openid-connect/company").header("host", "chat.test");
    let answer = request.send().await.unwrap();
    let set = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("__Host-cw_sign_in=") && set.contains("; Secure"), "{set}");
    let to = answer.headers()["location"].to_str().unwrap();
    assert!(to.contains("redirect_uri=https%3A%2F%2Fchat.test%2Fauth%2Fopenid-connect%2Fcompany%2Fcallback"), "{to}");
}

#[tokio::test]
async fn invalid_id_tokens_are_refused() {
    let provider = HostileProvider::start(json!({})).await;
    let (server, _folder) = serve_with(&provider).await;
    let check = async |name: &str, token: &dyn Fn(Value) -> Value, expected: u16| {
        let begun = begin(&server).await;
        provider.answer_with(token(provider.claims(&begun.asked["nonce"])));
        let page = begun.answer(&[]).await;
        assert_eq!(page.status, expected, "{name}: {}", page.text);
        let name_after = begun.browser.me(&server).await["name"].clone();
        assert_eq!(name_after == "ada", expected == 303, "{name}");
    };
    let id_token = |header: Value, claims: Value| json!({ "token_type": "Bearer", "access_token": "a", "id_token": provider.sign(&header, &claims) });
    check("valid", &|claims| id_token(json!({}), claims), 303).await;
    check("typed", &|claims| id_token(json!({ "typ": "JWT" }), claims), 303).await;
    for (name, more) in [
        ("nonce", json!({ "nonce": "other" })),
        ("no nonce", json!({ "nonce": null })),
        ("issuer", json!({ "iss": "https://other.test" })),
        ("issuers", json!({ "iss": [provider.issuer] })),
        ("no issuer", json!({ "iss": null })),
        ("audience", json!({ "aud": "other" })),
        ("no audience", json!({ "aud": null })),
        ("other audiences", json!({ "aud": ["chat", "other"] })),
        ("other party", json!({ "azp": "other" })),
        ("expired", json!({ "exp": now() - 60 })),
        ("no expiry", json!({ "exp": null })),
        ("old", json!({ "iat": now() - 3_600 })),
        ("of the future", json!({ "iat": now() + 3_600 })),
        ("not yet valid", json!({ "nbf": now() + 3_600 })),
        ("no time", json!({ "iat": null })),
        ("no subject", json!({ "sub": null })),
        ("empty subject", json!({ "sub": "" })),
        ("subject", json!({ "sub": 7 })),
        ("hash", json!({ "at_hash": "AAAA" })),
    ] {
        check(name, &|claims| id_token(json!({}), with(claims, more.clone())), 403).await;
    }
    check(
        "clock skew",
        &|claims| id_token(json!({}), with(claims, json!({ "exp": now() - 10, "iat": now() - 70 }))),
        303,
    )
    .await;
    check("party", &|claims| id_token(json!({}), with(claims, json!({ "aud": ["chat", "o"], "azp": "chat" }))), 303)
        .await;
    check("access token", &|claims| id_token(json!({ "typ": "at+jwt" }), claims), 403).await;
    check("logout token", &|claims| id_token(json!({ "typ": "logout+jwt" }), claims), 403).await;
    check("unknown key", &|claims| id_token(json!({ "kid": "k9" }), claims), 403).await;
    let none = json!({ "alg": "none" });
    check("unsigned", &|claims| json!({ "id_token": format!("{}.", unsigned(&none, &claims)) }), 403).await;
    let by_public_key = |claims: Value| {
        let signed = unsigned(&json!({ "alg": "HS256", "kid": "k1" }), &claims);
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &provider.public_key()), signed.as_bytes());
        json!({ "id_token": format!("{signed}.{}", BASE64.encode(tag)) })
    };
    check("public key as secret", &by_public_key, 403).await;
    check(
        "other signature",
        &|claims| {
            let token = provider.sign(&json!({}), &claims);
            let other = provider.sign(&json!({}), &with(claims, json!({ "sub": "2" })));
            let signature = other.rsplit_once('.').unwrap().1;
            json!({ "id_token": format!("{}.{signature}", token.rsplit_once('.').unwrap().0) })
        },
        403,
    )
    .await;
    check("no ID token", &|_| json!({ "access_token": "a" }), 403).await;
    check("no token", &|_| json!([]), 403).await;
    // Refused sign-ins are in the audit log, and a flood of them is one entry for each reason.
    let store = Store::open_existing(&server.database).await.unwrap();
    let rows = store.audit_list(AuditFilter::default(), 100, None).await.unwrap();
    let refused = rows.iter().filter(|row| row.outcome == "refused");
    let about: Vec<Value> = refused.map(|row| serde_json::from_str(&row.arguments).unwrap()).collect();
    let reason = json!({ "attempts": 1, "provider": "company", "reason": "invalid nonce of the ID token" });
    assert_eq!(about.iter().filter(|about| **about == reason).count(), 1, "{about:?}");
    let reasons: HashSet<_> = about.iter().map(|about| about["reason"].as_str().unwrap()).collect();
    assert!(reasons.len() == about.len() && reasons.len() > 3, "{about:?}");
}

#[tokio::test]
async fn answers_for_other_sign_ins_are_refused() {
    let provider = HostileProvider::start(json!({ "authorization_response_iss_parameter_supported": true })).await;
    let (server, _folder) = serve_with(&provider).await;
    let check = async |parameters: &[(&str, Option<&str>)], expected: u16| {
        let begun = begin(&server).await;
        let claims = provider.claims(&begun.asked["nonce"]);
        provider.answer_with(json!({ "id_token": provider.sign(&json!({}), &claims) }));
        let page = begun.answer(parameters).await;
        assert_eq!(page.status, expected, "{parameters:?}: {}", page.text);
        // A second answer is refused in any case.
        let again = begun.answer(&[("iss", Some(&provider.issuer))]).await;
        assert_eq!((again.status, again.location.is_some()), if expected == 303 { (303, true) } else { (400, false) });
    };
    let issuer = Some(provider.issuer.as_str());
    check(&[("iss", issuer)], 303).await;
    check(&[("iss", issuer), ("state", Some("other"))], 400).await;
    check(&[("iss", issuer), ("state", None)], 400).await;
    check(&[("iss", Some("https://other.test"))], 403).await;
    check(&[], 403).await;
    check(&[("iss", issuer), ("code", None)], 403).await;
    check(&[("iss", issuer), ("error", Some("access_denied"))], 403).await;
    check(&[("iss", issuer), ("error", Some("server_error"))], 503).await;
    // The state of one browser means nothing in another one.
    let (one, two) = (begin(&server).await, begin(&server).await);
    let page = two.answer(&[("iss", issuer), ("state", Some(one.asked["state"].as_str()))]).await;
    assert_eq!(page.status, 400);
    // After the sign-in only pages of this server are opened.
    for next in ["https://evil.test", "//evil.test", "/%5cevil.test", "/auth/sign-out"] {
        let browser = Browser::new();
        let page = browser.send(&server.url(&format!("/auth/openid-connect/company?next={next}")), None).await;
        let begun = Begun { asked: page.location.unwrap().query_pairs().into_owned().collect(), browser };
        let claims = provider.claims(&begun.asked["nonce"]);
        provider.answer_with(json!({ "id_token": provider.sign(&json!({}), &claims) }));
        let page = begun.answer(&[("iss", issuer)]).await;
        assert_eq!(page.location.unwrap(), server.url("/"), "{next}");
    }
}

/// Returns the output of `chatwright doctor` about the provider.
async fn doctor(server: &Server, folder: &tempfile::TempDir) -> (String, String) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_chatwright"));
    command.args(["doctor", "--json", "--addr", "127.0.0.1:0", "--database", &server.database, "--config"]);
    let command = command.arg(folder.path()).env("OPENID_SECRET", "secret of the tests");
    let report: Value = serde_json::from_slice(&command.output().await.unwrap().stdout).unwrap();
    let found = report["checks"].as_array().unwrap().iter().find(|check| check["check"] == "sign-in with company");
    let found = found.unwrap_or_else(|| panic!("{report:#}"));
    (found["verdict"].as_str().unwrap().to_owned(), found["text"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn metadata_of_other_issuers_is_refused() {
    let check = async |more: Value, expected: &str| {
        let provider = HostileProvider::start(more.clone()).await;
        let (server, folder) = serve_with(&provider).await;
        let page = Browser::new().send(&server.url("/auth/openid-connect/company"), None).await;
        let (verdict, text) = doctor(&server, &folder).await;
        assert!(text.contains(expected), "{more}: {text}");
        match verdict.as_str() {
            "ok" => assert_eq!(page.status, 303),
            _ => assert!(page.status == 503 && page.text.contains("cannot be reached right now"), "{more}: {page:?}"),
        }
    };
    check(json!({}), "responds, but ends no sessions of its own").await;
    check(json!({ "issuer": "https://other.test" }), "another `issuer` than the config").await;
    check(json!({ "token_endpoint": "ftp://other.test/token" }), "not reached over `https`").await;
    check(json!({ "jwks_uri": null }), "is not the metadata of a provider").await;
}

#[tokio::test]
async fn new_keys_are_loaded_and_old_ones_end() {
    let provider = HostileProvider::start(json!({})).await;
    let (server, _folder) = serve_with(&provider).await;
    let sign_in = async |token: &dyn Fn(&Value) -> String| {
        let begun = begin(&server).await;
        provider.answer_with(json!({ "id_token": token(&provider.claims(&begun.asked["nonce"])) }));
        begun.answer(&[]).await.status
    };
    let signed = |claims: &Value| provider.sign(&json!({}), claims);
    assert_eq!(sign_in(&signed).await, 303);
    provider.rotate_key("k2");
    // Unknown keys are looked up at most once in five seconds.
    while sign_in(&signed).await != 303 {
        tokio::task::yield_now().await;
    }
    assert_eq!(sign_in(&|claims| provider.sign(&json!({ "kid": "k1" }), claims)).await, 403);
}

#[tokio::test]
async fn provider_ends_sessions() {
    let provider = HostileProvider::start(json!({})).await;
    let (server, _folder) = serve_with(&provider).await;
    let sign_in = async |sid: &str| {
        let begun = begin(&server).await;
        let claims = with(provider.claims(&begun.asked["nonce"]), json!({ "sid": sid }));
        provider.answer_with(json!({ "id_token": provider.sign(&json!({}), &claims) }));
        assert_eq!(begun.answer(&[]).await.status, 303);
        begun.browser
    };
    let (one, two) = (sign_in("s1").await, sign_in("s2").await);
    let is_in = async |browser: &Browser| browser.me(&server).await["name"] == "ada";
    let events = json!({ "http://schemas.openid.net/event/backchannel-logout": {} });
    let logout =
        json!({ "iss": provider.issuer, "aud": "chat", "iat": now(), "exp": now() + 60, "jti": "1", "events": events });
    let send = async |token: &str| {
        let body = Serializer::new(String::new()).append_pair("logout_token", token).finish();
        let request = server.request(Method::POST, "/auth/openid-connect/company/back-channel-logout");
        status(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await
    };
    let header = json!({ "typ": "logout+jwt" });
    let token = |more: Value| provider.sign(&header, &with(logout.clone(), more));
    for wrong in [
        token(json!({})),
        token(json!({ "sid": "s1", "nonce": "n" })),
        token(json!({ "sid": "s1", "events": {} })),
        token(json!({ "sid": "s1", "aud": "other" })),
        token(json!({ "sid": "s1", "iss": "https://other.test" })),
        token(json!({ "sid": "s1", "exp": now() - 60 })),
        provider.sign(&json!({ "typ": "at+jwt" }), &with(logout.clone(), json!({ "sid": "s1" }))),
        format!("{}.", unsigned(&json!({ "alg": "none" }), &with(logout.clone(), json!({ "sid": "s1" })))),
        "nonsense".to_owned(),
    ] {
        assert_eq!(send(&wrong).await, 400, "{wrong}");
    }
    assert!(is_in(&one).await && is_in(&two).await);
    assert_eq!(send(&token(json!({ "sid": "s1" }))).await, 200);
    assert!(!is_in(&one).await && is_in(&two).await);
    assert_eq!(send(&token(json!({ "sub": "1" }))).await, 200);
    assert!(!is_in(&two).await);
}
