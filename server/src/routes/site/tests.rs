use super::{accepts, file, has_content_hash};
use crate::{EmbeddedFile, Site};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::Metadata;
use sha2::{Digest, Sha256};
use std::io::Write;

/// A release's site: of a script only the compressed copies, and a picture as it is.
const SITE: Site = Site { files: stored, pages: &[], blocks: &[], capabilities: &[] };
const SCRIPT: &str = "console.log(1);";

fn stored(path: &str) -> Option<EmbeddedFile> {
    let data = match path {
        "app.js.br" => b"(brotli)".to_vec(),
        "app.js.gz" => compressed(SCRIPT),
        "icon.png" => b"(picture)".to_vec(),
        "assets/lazy/offline-worker.js" => b"(worker)".to_vec(),
        "damaged.js.gz" => b"(not gzip)".to_vec(),
        _ => return None,
    };
    let metadata = Metadata::__rust_embed_new(Sha256::digest(&data).into(), None, None);
    Some(EmbeddedFile { data: data.into(), metadata })
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn get(path: &str, headers: &[(HeaderName, &str)]) -> Option<Response> {
    let headers = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
    file(SITE, path, &HeaderMap::from_iter(headers))
}

fn header_of(response: &Response, name: HeaderName) -> &str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

async fn body(response: Response) -> Vec<u8> {
    axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()
}

#[tokio::test]
async fn files_are_served_in_an_encoding_that_the_client_accepts() {
    async fn check(path: &str, accepted: &str, expected: (&str, &[u8])) {
        let response = get(path, &[(header::ACCEPT_ENCODING, accepted)]).unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path} {accepted}");
        assert_eq!(header_of(&response, header::VARY), "accept-encoding");
        let coding = header_of(&response, header::CONTENT_ENCODING).to_owned();
        assert_eq!((coding.as_str(), body(response).await.as_slice()), expected, "{path} {accepted}");
    }
    let gzip = compressed(SCRIPT);
    check("/app.js", "gzip, deflate, br", ("br", b"(brotli)")).await;
    check("/app.js", "GZIP", ("gzip", &gzip)).await;
    check("/app.js", "br;q=0, gzip;q=0.5", ("gzip", &gzip)).await;
    check("/app.js", "identity", ("", SCRIPT.as_bytes())).await;
    // Once more, from the kept copy.
    check("/app.js", "", ("", SCRIPT.as_bytes())).await;
    check("/icon.png", "br", ("", b"(picture)")).await;
}

#[test]
fn each_encoding_has_an_entity_tag_of_its_own() {
    let etag = |accepted: &str| {
        let response = get("/app.js", &[(header::ACCEPT_ENCODING, accepted)]).unwrap();
        header_of(&response, header::ETAG).to_owned()
    };
    let etags = ["br", "gzip", ""].map(etag);
    assert!(etags[0] != etags[1] && etags[1] != etags[2] && etags[0] != etags[2], "{etags:?}");
    for (accepted, expected) in [("", StatusCode::NOT_MODIFIED), ("gzip", StatusCode::OK)] {
        let headers = [(header::ACCEPT_ENCODING, accepted), (header::IF_NONE_MATCH, &etags[2])];
        assert_eq!(get("/app.js", &headers).unwrap().status(), expected, "{accepted}");
    }
}

#[test]
fn only_the_offline_worker_may_answer_for_all_pages() {
    let allowed = |path: &str| get(path, &[]).unwrap().headers().get("service-worker-allowed").cloned();
    assert_eq!(allowed("/assets/lazy/offline-worker.js"), Some(HeaderValue::from_static("/")));
    assert_eq!(allowed("/icon.png"), None);
}

#[test]
fn missing_and_damaged_files_are_no_success() {
    assert!(get("/missing.js", &[]).is_none());
    assert!(get("/../app.js", &[]).is_none());
    assert_eq!(get("/damaged.js", &[]).unwrap().status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[test]
fn codings_of_weight_zero_are_not_accepted() {
    for (accepted, expected) in [("br", true), ("gzip , br;q=1.0", true), ("br; q=0", false), ("br;q=0.000", false)] {
        assert_eq!(accepts(accepted, "br"), expected, "{accepted}");
    }
}

#[test]
fn only_hashed_files_are_immutable() {
    for (path, expected) in [
        ("pkg/conversation-0123456789abcdef.wasm", true),
        ("pkg/conversation-0123456789abcdef.bin", true),
        ("pkg/chatwright.wasm", false),
        ("pkg/chatwright-chunks.js", false),
        ("pkg/a-0123456789abcdeg.wasm", false),
        ("pkg/0123456789abcdef.wasm", false),
    ] {
        assert_eq!(has_content_hash(path), expected, "{path}");
    }
}
