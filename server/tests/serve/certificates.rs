//! Certificates that do not hold (F43): nobody is spoken to, and no key leaves.

use crate::http::chunks;
use crate::process::Server;
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use reqwest::Method;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use std::fs;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const SECRET: &str = "sk-canary-4712";

/// Whom the server trusts.
type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for a name, until a year; by nobody but itself without an authority.
fn certificate(name: &str, until: i32, by: Option<&Authority>) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(until, 1, 1));
    let made = match by {
        Some(authority) => params.signed_by(&key, authority).unwrap(),
        None => params.self_signed(&key).unwrap(),
    };
    (made, key)
}

/// What was said behind the handshake, by whoever believed the certificate.
type Said = Arc<Mutex<Vec<String>>>;

async fn peer((certificate, key): (Certificate, KeyPair)) -> (u16, Said) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key);
    let (acceptor, said) = (TlsAcceptor::from(Arc::new(config.unwrap())), Said::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, heard) = (listener.local_addr().unwrap().port(), said.clone());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = vec![0; 8_192];
            let Ok(read @ 1..) = stream.read(&mut request).await else { continue };
            heard.lock().unwrap().push(String::from_utf8_lossy(&request[..read]).into_owned());
            let answer =
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (port, said)
}

/// What a peer with this certificate is told by a model's connection and by an endpoint's, and what their callers are.
async fn told(authority: &Authority, certificate: (Certificate, KeyPair)) -> (Vec<String>, String) {
    let (folder, (port, said)) = (tempfile::tempdir().unwrap(), peer(certificate).await);
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("authority.pem"), authority.pem()).unwrap();
    let config = format!(
        "
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: 'https://localhost:{port}/v1', apiKey: {{ _secret: KEY }} }} }}
  - {{ id: web, type: Http, properties: {{ baseURL: 'https://localhost:{port}/', allowPrivate: true, headers: {{ x-key: {{ _secret: KEY }} }} }} }}
api: [{{ id: ask, routine: [{{ id: a, type: Http, connectionId: web, properties: {{ path: x }} }}, {{ ':return': {{ _step: a.body }} }}] }}]
agents: [{{ id: a, type: Agent, connectionId: model, properties: {{ model: m, maxRetries: 0 }} }}]
pages: [{{ id: p }}]
"
    );
    fs::write(at("chatwright.yaml"), config).unwrap();
    let variables = [("SSL_CERT_FILE", at("authority.pem")), ("KEY", SECRET.to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = Server::start_in(&variables, &["--config", folder.path().to_str().unwrap()]);
    let answer = chunks(server.message_to("p/a", "c", "Hello").send().await.unwrap()).await;
    assert!(answer.iter().any(|chunk| chunk["type"] == "error"), "{answer:?}");
    let called = server.ask(Method::POST, "/api/endpoints/p/ask").json(&json!({})).send().await.unwrap();
    let shown = format!("{answer:?} {}", called.text().await.unwrap());
    // With its colon: the digits alone may occur in an id or a time.
    assert!(!shown.contains(SECRET) && !shown.contains(&format!(":{port}")), "{shown}");
    let said = said.lock().unwrap().clone();
    (said, shown)
}

#[tokio::test]
async fn who_is_not_who_he_says_hears_nothing() {
    let authority = authority();
    for (what, certificate) in [
        ("by nobody", certificate("localhost", 4000, None)),
        ("for another name", certificate("evil.test", 4000, Some(&authority))),
        ("of old", certificate("localhost", 2021, Some(&authority))),
    ] {
        let (said, shown) = told(&authority, certificate).await;
        assert_eq!(said, Vec::<String>::new(), "{what}: {shown}");
    }
    // One that holds is believed, with the key.
    let (said, shown) = told(&authority, certificate("localhost", 4000, Some(&authority))).await;
    assert!(said.len() == 2 && said.iter().all(|said| said.contains(SECRET)), "{said:?} {shown}");
    assert!(shown.ends_with("\"hi\""), "{shown}");
}
