//! Signatures of webhooks: without the secret, no headers make a request valid.
#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use webhooks::{Scheme, Verifier, sign};

const NOW: i64 = 1_800_000_000;
const SCHEMES: [(Scheme, &str); 4] = [
    (Scheme::Standard, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    (Scheme::GitHub, "a secret of some length"),
    (Scheme::Stripe, "a secret of some length"),
    (Scheme::Bearer, "a secret of some length"),
];

static VERIFIERS: LazyLock<Vec<Verifier>> = LazyLock::new(|| {
    SCHEMES.iter().map(|(scheme, secret)| Verifier::new(*scheme, [*secret]).expect("the secret has the form")).collect()
});

fuzz_target!(|given: (u8, &[u8], &[u8], &[u8])| {
    let (which, header, id, body) = given;
    let which = usize::from(which) % SCHEMES.len();
    let (scheme, secret) = SCHEMES[which];
    let (Ok(value), Ok(id_value)) = (HeaderValue::from_bytes(header), HeaderValue::from_bytes(id)) else { return };
    let mut headers = HeaderMap::new();
    for name in ["webhook-signature", "x-hub-signature-256", "stripe-signature", "authorization", "webhook-timestamp"] {
        headers.append(name, value.clone());
    }
    headers.append("webhook-id", id_value);
    let knows_key = String::from_utf8_lossy(header).contains(secret);
    assert!(knows_key || VERIFIERS[which].verify(&headers, body, NOW).is_err());
    // A request that the sender has signed is accepted, with any body.
    let sent = sign(scheme, secret, "msg_1", body, NOW).expect("the secret has the form");
    let headers = sent.into_iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
    let headers: HeaderMap = headers.map(|(name, value): (http::HeaderName, HeaderValue)| (name, value)).collect();
    assert!(VERIFIERS[which].verify(&headers, body, NOW).is_ok());
});
