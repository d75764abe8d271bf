//! Tests with a real HTTP server that publishes keys and changes them.

use super::*;
use axum::Router;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use config::{ClaimNames, JwtKeys};
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// A private key for these tests only, made with `openssl genpkey -algorithm RSA -pkeyopt
/// rsa_keygen_bits:2048` and converted with `-traditional -outform DER`.
const RSA: &[u8] = include_bytes!("fixtures/rsa.der");
/// The public key in PEM.
const RSA_PUBLIC: &str = include_str!("fixtures/rsa.pem");

/// A private key that signs tokens.
enum Signer {
    Rsa(Box<RsaKeyPair>),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Signer {
    fn rsa() -> Self {
        Self::Rsa(Box::new(RsaKeyPair::from_der(RSA).unwrap()))
    }

    fn ec() -> Self {
        let (kind, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(kind, key.as_ref(), &random).unwrap())
    }

    fn ed() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
        }
    }

    /// Returns the public key as a JSON Web Key with this id.
    fn jwk(&self, id: &str) -> Value {
        let encode = |bytes: &[u8]| BASE64.encode(bytes);
        match self {
            Self::Rsa(key) => {
                let public = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "kid": id, "n": encode(&public.n), "e": encode(&public.e) })
            }
            Self::Ec(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "x": encode(x), "y": encode(y) })
            }
            Self::Ed(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": encode(key.public_key().as_ref()) })
            }
        }
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
        let random = SystemRandom::new();
        let signature = match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&ring::signature::RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
                signature
            }
            Self::Ec(key) => key.sign(&random, signed.as_bytes()).unwrap().as_ref().to_vec(),
            Self::Ed(key) => key.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", BASE64.encode(signature))
    }

    /// Returns a valid token with changed claims; null removes a claim.
    fn token(&self, id: &str, changes: Value) -> String {
        self.sign(&json!({ "alg": self.algorithm(), "kid": id, "typ": "JWT" }), &claims(changes))
    }
}

fn claims(changes: Value) -> Value {
    let mut claims =
        json!({ "sub": "ada", "iss": "host", "aud": "chat", "exp": now() + 60, "name": "Ada", "roles": ["editor"] });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    claims
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn jwt(keys: JwtKeys) -> Jwt {
    let names = |name: &str| name.to_owned();
    let claims = ClaimNames { user_id: names("sub"), name: names("name"), roles: names("roles") };
    let (audience, leeway) = (vec!["chat".to_owned(), "other".to_owned()], Duration::from_secs(30));
    Jwt::new(&JwtAuth { keys, issuer: Some("host".to_owned()), audience, cookie: None, leeway, claims }).unwrap()
}

/// A server that publishes keys and counts the requests.
struct Issuer {
    keys: Arc<Mutex<Value>>,
    asked: Arc<AtomicUsize>,
    url: url::Url,
}

impl Issuer {
    async fn start(keys: Value) -> Self {
        let (keys, asked) = (Arc::new(Mutex::new(keys)), Arc::new(AtomicUsize::new(0)));
        let (served, counted) = (keys.clone(), asked.clone());
        let answer = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let body = json!({ "keys": *served.lock() }).to_string();
            async move { body }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/keys", get(answer))).await });
        Self { keys, asked, url }
    }

    fn jwt(&self) -> Jwt {
        jwt(JwtKeys::Url { url: self.url.clone(), allow_private: true })
    }
}

#[tokio::test]
async fn tokens_of_every_key_type_are_accepted() {
    let signers = [Signer::rsa(), Signer::ec(), Signer::ed()];
    let keys: Vec<_> = signers.iter().zip(["a", "b", "c"]).map(|(signer, id)| signer.jwk(id)).collect();
    let issuer = Issuer::start(keys.into()).await;
    let jwt = issuer.jwt();
    for (signer, id) in signers.iter().zip(["a", "b", "c"]) {
        let user = jwt.user(&signer.token(id, json!({}))).await.unwrap();
        assert_eq!((user.user_id.as_str(), user.name.as_deref(), user.is_authenticated), ("ada", Some("Ada"), true));
        assert_eq!(user.roles(), ["editor"]);
        let given = self::jwt(JwtKeys::Jwk(signer.jwk("x")));
        assert!(given.user(&signer.token("x", json!({}))).await.is_ok());
        assert_eq!(given.user(&signer.token("y", json!({}))).await, Err(TokenError::Signature));
    }
    assert_eq!(issuer.asked.load(Ordering::Relaxed), 1);
    let of_pem = self::jwt(JwtKeys::Pem(RSA_PUBLIC.to_owned()));
    assert!(of_pem.user(&signers[0].token("any", json!({}))).await.is_ok());
}

#[tokio::test]
async fn claims_are_validated() {
    let signer = Signer::ed();
    let jwt = jwt(JwtKeys::Jwk(signer.jwk("k")));
    let check = async |changes: Value, expected: Result<(), TokenError>| {
        let seen = jwt.user(&signer.token("k", changes.clone())).await.map(|_| ());
        assert_eq!(seen, expected, "{changes}");
    };
    check(json!({}), Ok(())).await;
    check(json!({ "exp": now() - 10 }), Ok(())).await;
    check(json!({ "exp": now() - 40 }), Err(TokenError::Expired)).await;
    check(json!({ "nbf": now() + 10 }), Ok(())).await;
    check(json!({ "nbf": now() + 60 }), Err(TokenError::NotYetValid)).await;
    check(json!({ "aud": ["x", "other"] }), Ok(())).await;
    check(json!({ "aud": "x" }), Err(TokenError::Audience)).await;
    check(json!({ "iss": "x" }), Err(TokenError::Issuer)).await;
    for claim in ["exp", "aud", "iss"] {
        check(json!({ claim: null }), Err(TokenError::MissingClaim)).await;
    }
    check(json!({ "sub": null }), Err(TokenError::NoUser)).await;
    check(json!({ "sub": "local" }), Err(TokenError::NoUser)).await;
    check(json!({ "sub": "visitor:x" }), Err(TokenError::NoUser)).await;
    check(json!({ "iss": ["host"] }), Err(TokenError::Malformed)).await;
    check(json!({ "iss": ["host", "evil"] }), Err(TokenError::Malformed)).await;
    check(json!({ "iss": ["evil"] }), Err(TokenError::Issuer)).await;
    check(json!({ "iss": { "host": true } }), Err(TokenError::MissingClaim)).await;
    check(json!({ "aud": ["other", 7] }), Err(TokenError::MissingClaim)).await;
    check(json!({ "exp": (now() + 60).to_string() }), Err(TokenError::MissingClaim)).await;
    check(json!({ "nbf": "0" }), Err(TokenError::Malformed)).await;
    check(json!({ "iat": "0" }), Err(TokenError::Malformed)).await;
    check(json!({ "sub": ["ada"] }), Err(TokenError::Malformed)).await;
    check(json!({ "sub": 7 }), Err(TokenError::Malformed)).await;
    check(json!({ "sub": "7" }), Ok(())).await;
    check(json!({ "sub": "ada\u{202e}" }), Err(TokenError::NoUser)).await;
    assert_eq!(jwt.user(&Signer::ed().token("k", json!({}))).await, Err(TokenError::Signature));
}

/// The issuer may sign tokens for other purposes with the same key (RFC 8725, 3.11).
#[tokio::test]
async fn tokens_of_other_types_are_rejected() {
    let signer = Signer::rsa();
    let jwt = jwt(JwtKeys::Pem(RSA_PUBLIC.to_owned()));
    let check = async |header: Value, expected: Result<(), TokenError>| {
        let seen = jwt.user(&signer.sign(&header, &claims(json!({})))).await.map(|_| ());
        assert_eq!(seen, expected, "{header}");
    };
    check(json!({ "alg": "RS256" }), Ok(())).await;
    for usual in ["JWT", "jwt", "at+jwt", "application/at+jwt"] {
        check(json!({ "alg": "RS256", "typ": usual }), Ok(())).await;
    }
    for other in ["logout+jwt", "secevent+jwt", "application/logout+jwt", "dpop+jwt", ""] {
        check(json!({ "alg": "RS256", "typ": other }), Err(TokenError::Malformed)).await;
    }
}

/// The algorithm in the token must not matter (RFC 8725, 3.1).
#[tokio::test]
async fn forged_tokens_and_other_algorithms_are_rejected() {
    let (rsa, ec) = (Signer::rsa(), Signer::ec());
    let jwt = jwt(JwtKeys::Pem(RSA_PUBLIC.to_owned()));
    let unsigned = |header: Value| {
        format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims(json!({})).to_string()))
    };
    let none = format!("{}.", unsigned(json!({ "alg": "none" })));
    // The public key used as a shared secret.
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, RSA_PUBLIC.as_bytes());
    let signed = unsigned(json!({ "alg": "HS256" }));
    let shared = format!("{signed}.{}", BASE64.encode(ring::hmac::sign(&secret, signed.as_bytes())));
    let good = rsa.token("k", json!({}));
    let [header, claims, signature] = good.split('.').collect::<Vec<_>>()[..] else { panic!("{good}") };
    for forged in [
        none,
        shared,
        rsa.sign(&json!({ "alg": "RS512" }), &self::claims(json!({}))),
        rsa.sign(&json!({ "alg": "RS256", "crit": ["exp"] }), &self::claims(json!({}))),
        ec.token("k", json!({})),
        ec.sign(&json!({ "alg": "RS256" }), &self::claims(json!({}))),
        format!("{header}.{claims}."),
        format!("{header}.{}.{signature}", BASE64.encode(self::claims(json!({ "sub": "eve" })).to_string())),
        format!("{good}.x"),
        "x".repeat(20_000),
        String::new(),
    ] {
        let refused = jwt.user(&forged).await.unwrap_err();
        assert!(matches!(refused, TokenError::Malformed | TokenError::Signature), "{forged}: {refused:?}");
    }
    assert!(jwt.user(&good).await.is_ok());
}

#[tokio::test]
async fn changed_keys_are_loaded_and_unknown_key_ids_cause_no_requests() {
    let (old, new) = (Signer::ed(), Signer::ec());
    let issuer = Issuer::start(json!([old.jwk("old"), { "kty": "new kind" }])).await;
    let jwt = issuer.jwt();
    assert!(jwt.user(&old.token("old", json!({}))).await.is_ok());
    *issuer.keys.lock() = json!([new.jwk("new")]);
    for number in 0..50 {
        let forged = new.token(&format!("made up {number}"), json!({}));
        assert_eq!(jwt.user(&forged).await, Err(TokenError::Signature));
    }
    assert_eq!(issuer.asked.load(Ordering::Relaxed), 1);
    tokio::time::sleep(pace::MIN_INTERVAL).await;
    assert!(jwt.user(&new.token("new", json!({}))).await.is_ok());
    assert_eq!(jwt.user(&old.token("old", json!({}))).await, Err(TokenError::Signature));
    assert_eq!(issuer.asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn unreachable_key_set_is_reported() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/keys").parse().unwrap();
    let jwt = jwt(JwtKeys::Url { url, allow_private: true });
    assert_eq!(jwt.user(&Signer::ed().token("k", json!({}))).await, Err(TokenError::NoKeys));
}

#[tokio::test]
async fn key_server_without_an_answer_is_asked_once_for_all_who_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap()).parse().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    tokio::spawn(async move {
        let mut connections = Vec::new();
        while let Ok((connection, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            connections.push(connection);
        }
    });
    let jwt = jwt(JwtKeys::Url { url, allow_private: true });
    let token = Signer::ed().token("k", json!({}));
    let refused = futures::future::join_all((0..3).map(|_| jwt.user(&token))).await;
    assert!(refused.iter().all(|refused| *refused == Err(TokenError::NoKeys)), "{refused:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
