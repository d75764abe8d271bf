//! A provider that answers what a test says, for answers that no honest provider gives.

use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// The provider.
pub(super) struct HostileProvider {
    pub(super) issuer: String,
    answers: Arc<Mutex<Answers>>,
    key: Mutex<(String, Ed25519KeyPair)>,
}

struct Answers {
    metadata: Value,
    keys: Value,
    tokens: Value,
}

impl HostileProvider {
    /// Starts it with metadata that says more or other things than usual.
    pub(super) async fn start(more: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let mut metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
        });
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answers = Arc::new(Mutex::new(Answers { metadata, keys: Value::Null, tokens: Value::Null }));
        let answer = |read: fn(&Answers) -> Value| {
            let answers = answers.clone();
            move || std::future::ready(Json(read(&answers.lock().unwrap())))
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(answer(|answers| answers.metadata.clone())))
            .route("/keys", get(answer(|answers| answers.keys.clone())))
            .route("/token", post(answer(|answers| answers.tokens.clone())));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let provider = Self { issuer, answers, key: Mutex::new(("k0".to_owned(), new_key())) };
        provider.rotate_key("k1");
        provider
    }

    /// Replaces its key.
    pub(super) fn rotate_key(&self, id: &str) {
        let key = new_key();
        let x = BASE64.encode(key.public_key().as_ref());
        self.answers.lock().unwrap().keys =
            json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": id, "x": x }] });
        *self.key.lock().unwrap() = (id.to_owned(), key);
    }

    /// Returns the public key in JSON.
    pub(super) fn public_key(&self) -> Vec<u8> {
        self.key.lock().unwrap().1.public_key().as_ref().to_vec()
    }

    /// Sets the answer of the token endpoint.
    pub(super) fn answer_with(&self, tokens: Value) {
        self.answers.lock().unwrap().tokens = tokens;
    }

    /// Returns the claims of an ID token that is valid.
    pub(super) fn claims(&self, nonce: &str) -> Value {
        let now = now();
        json!({ "iss": self.issuer, "aud": "chat", "sub": "1", "iat": now, "exp": now + 60, "nonce": nonce,
                "preferred_username": "ada", "sid": "s1" })
    }

    /// Returns a signed token.
    pub(super) fn sign(&self, header: &Value, claims: &Value) -> String {
        let (id, key) = &*self.key.lock().unwrap();
        let mut whole = json!({ "alg": "EdDSA", "kid": id });
        whole.as_object_mut().unwrap().extend(header.as_object().unwrap().clone());
        let signed = unsigned(&whole, claims);
        format!("{signed}.{}", BASE64.encode(key.sign(signed.as_bytes())))
    }
}

/// Returns a token without its signature.
pub(super) fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()))
}

/// Returns the Unix time in seconds.
pub(super) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed()
}

fn new_key() -> Ed25519KeyPair {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap()
}
