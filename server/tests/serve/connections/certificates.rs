//! Servers with invalid certificates receive neither a request nor a key.

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

/// A certificate authority that the server trusts.
type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Creates a certificate for a name that expires in a year; self-signed without an authority.
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

/// The requests that a peer received after the TLS handshake.
type ReceivedRequests = Arc<Mutex<Vec<String>>>;

async fn start_tls_peer((certificate, key): (Certificate, KeyPair)) -> (u16, ReceivedRequests) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key);
    let (acceptor, requests) = (TlsAcceptor::from(Arc::new(config.unwrap())), ReceivedRequests::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, heard) = (listener.local_addr().unwrap().port(), requests.clone());
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
    (port, requests)
}

/// Calls a peer with this certificate over a model connection and over an endpoint. Returns the
/// requests that the peer received, and the responses to the callers.
async fn call_peer(authority: &Authority, certificate: (Certificate, KeyPair)) -> (Vec<String>, String) {
    let (folder, (port, requests)) = (tempfile::tempdir().unwrap(), start_tls_peer(certificate).await);
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
    let server = Server::start_with_env(&variables, &["--config", folder.path().to_str().unwrap()]);
    let answer = chunks(server.message_to("p/a", "c", "Hello").send().await.unwrap()).await;
    assert!(answer.iter().any(|chunk| chunk["type"] == "error"), "{answer:?}");
    let called = server.request(Method::POST, "/api/endpoints/p/ask").json(&json!({})).send().await.unwrap();
    let shown = format!("{answer:?} {}", called.text().await.unwrap());
    // With its colon, since the digits alone may occur in an id or a time.
    assert!(!shown.contains(SECRET) && !shown.contains(&format!(":{port}")), "{shown}");
    let requests = requests.lock().unwrap().clone();
    (requests, shown)
}

#[tokio::test]
async fn server_with_an_invalid_certificate_receives_no_request() {
    let authority = authority();
    for (what, certificate) in [
        ("self-signed", certificate("localhost", 4000, None)),
        ("for another name", certificate("evil.test", 4000, Some(&authority))),
        ("expired", certificate("localhost", 2021, Some(&authority))),
    ] {
        let (requests, shown) = call_peer(&authority, certificate).await;
        assert_eq!(requests, Vec::<String>::new(), "{what}: {shown}");
    }
    // A valid certificate is accepted, and the key is sent.
    let (requests, shown) = call_peer(&authority, certificate("localhost", 4000, Some(&authority))).await;
    assert!(requests.len() == 2 && requests.iter().all(|request| request.contains(SECRET)), "{requests:?} {shown}");
    assert!(shown.ends_with("\"hi\""), "{shown}");
}
