//! Requests of each scheme: accepted, stale, changed, and with rotated secrets.

use http::{HeaderMap, HeaderName, HeaderValue};
use insta::assert_snapshot;
use proptest::prelude::*;
use std::time::Duration;
use webhooks::{Rejection, Scheme, Verified, Verifier, sign};

const STANDARD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_STANDARD: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const TEXT: &str = "whsec_text_of_a_sender";
const OTHER_TEXT: &str = "another text of a sender";
const NOW: i64 = 1_800_000_000;
const SCHEMES: [Scheme; 4] = [Scheme::Standard, Scheme::GitHub, Scheme::Stripe, Scheme::Bearer];

fn secret(scheme: Scheme) -> &'static str {
    if scheme == Scheme::Standard { STANDARD } else { TEXT }
}

fn other_secret(scheme: Scheme) -> &'static str {
    if scheme == Scheme::Standard { OTHER_STANDARD } else { OTHER_TEXT }
}

fn headers(pairs: &[(&'static str, String)]) -> HeaderMap {
    let pair =
        |(name, value): &(&'static str, String)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    pairs.iter().map(pair).collect()
}

fn signed(scheme: Scheme, secret: &str, body: &[u8]) -> HeaderMap {
    headers(&sign(scheme, secret, "msg_1", body, NOW).unwrap())
}

fn verify(scheme: Scheme, headers: &HeaderMap, body: &[u8], now: i64) -> Result<Verified, Rejection> {
    Verifier::new(scheme, [secret(scheme)]).unwrap().verify(headers, body, now)
}

/// The vector of the specification's own libraries.
#[test]
fn standard_webhooks_example_is_accepted() {
    let sent = headers(&[
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned()),
        ("webhook-timestamp", "1614265330".to_owned()),
        ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned()),
    ]);
    let verified = verify(Scheme::Standard, &sent, br#"{"test": 2432232314}"#, 1_614_265_330).unwrap();
    assert_eq!(verified.id.as_deref(), Some("msg_p5jXN8AQM9LWM0D4loKWxJek"));
}

/// The example of GitHub's documentation.
#[test]
fn github_example_is_accepted() {
    let digest = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let sent = headers(&[("x-hub-signature-256", digest.to_owned())]);
    let verifier = Verifier::new(Scheme::GitHub, ["It's a Secret to Everybody"]).unwrap();
    let id = verifier.verify(&sent, b"Hello, World!", NOW).unwrap().id;
    assert_eq!(id.as_deref(), Some("dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f"));
}

#[test]
fn ids_are_taken_from_signed_data() {
    let check = |scheme: Scheme, body: &str, expected: Option<&str>| {
        let verified = verify(scheme, &signed(scheme, secret(scheme), body.as_bytes()), body.as_bytes(), NOW).unwrap();
        assert_eq!(verified.id.as_deref(), expected, "{scheme:?} {body}");
    };
    let hash_of_list = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";
    check(Scheme::Standard, "[]", Some("msg_1"));
    check(Scheme::GitHub, "[]", Some(hash_of_list));
    check(Scheme::Stripe, r#"{"id":"evt_1","object":"event"}"#, Some("evt_1"));
    check(Scheme::Stripe, "[]", Some(hash_of_list));
    check(Scheme::Bearer, "[]", Some("msg_1"));
    let mut without_id = signed(Scheme::Bearer, TEXT, b"");
    without_id.remove("webhook-id");
    assert_eq!(verify(Scheme::Bearer, &without_id, b"", NOW).unwrap().id, None);
}

#[test]
fn signed_times_may_differ_by_five_minutes() {
    let check = |scheme: Scheme, later: i64, expected: &str| {
        let outcome = verify(scheme, &signed(scheme, secret(scheme), b"{}"), b"{}", NOW + later);
        assert_eq!(outcome.map_or_else(|rejection| rejection.to_string(), |_| "accepted".to_owned()), expected);
    };
    for scheme in [Scheme::Standard, Scheme::Stripe] {
        check(scheme, 300, "accepted");
        check(scheme, -300, "accepted");
        check(scheme, 301, "The request was signed 301 s before now; 300 s are allowed.");
        check(scheme, -301, "The request was signed 301 s after now; 300 s are allowed.");
        let short = Verifier::new(scheme, [secret(scheme)]).unwrap().with_tolerance(Duration::from_secs(10));
        assert!(short.verify(&signed(scheme, secret(scheme), b""), b"", NOW + 11).is_err());
    }
    check(Scheme::GitHub, 1_000_000, "accepted");
    check(Scheme::Bearer, 1_000_000, "accepted");
}

#[test]
fn any_of_the_secrets_is_accepted_while_they_are_rotated() {
    for scheme in SCHEMES {
        let (old, new) = (secret(scheme), other_secret(scheme));
        let both = Verifier::new(scheme, [new, old]).unwrap();
        let after = Verifier::new(scheme, [new]).unwrap();
        for (verifier, secret, expected) in
            [(&both, old, true), (&both, new, true), (&after, new, true), (&after, old, false)]
        {
            let outcome = verifier.verify(&signed(scheme, secret, b"{}"), b"{}", NOW);
            assert_eq!(outcome.is_ok(), expected, "{scheme:?}");
        }
    }
    // A sender that rotates sends a signature by each of its secrets.
    let mut sent = signed(Scheme::Standard, OTHER_STANDARD, b"{}");
    let ours = signed(Scheme::Standard, STANDARD, b"{}");
    let list = |one: &HeaderMap| one["webhook-signature"].to_str().unwrap().to_owned();
    let all = format!("v2,AAAA {} {}", list(&sent), list(&ours));
    sent.insert("webhook-signature", all.parse().unwrap());
    assert!(verify(Scheme::Standard, &sent, b"{}", NOW).is_ok());
}

#[test]
fn requests_that_cannot_be_read_are_refused_with_the_header() {
    let check = |scheme: Scheme, name: &'static str, values: &[&str]| {
        let mut sent = signed(scheme, secret(scheme), b"{}");
        sent.remove(name);
        for value in values {
            sent.append(name, value.parse().unwrap());
        }
        verify(scheme, &sent, b"{}", NOW).unwrap_err().to_string()
    };
    assert_snapshot!(check(Scheme::Standard, "webhook-id", &[]), @"The header `webhook-id` is missing.");
    assert_snapshot!(check(Scheme::Standard, "webhook-id", &["msg_1", "msg_1"]), @"The header `webhook-id` cannot be read.");
    assert_snapshot!(check(Scheme::Standard, "webhook-id", &["msg_2"]), @"No signature fits a secret.");
    assert_snapshot!(check(Scheme::Standard, "webhook-timestamp", &["1800000001"]), @"No signature fits a secret.");
    assert_snapshot!(check(Scheme::Standard, "webhook-signature", &["v1,"]), @"No signature fits a secret.");
    assert_snapshot!(check(Scheme::GitHub, "x-hub-signature-256", &["sha1=00"]), @"The header `x-hub-signature-256` cannot be read.");
    assert_snapshot!(check(Scheme::GitHub, "x-hub-signature-256", &[&format!("sha256={}", "0".repeat(64))]), @"No signature fits a secret.");
    assert_snapshot!(check(Scheme::Stripe, "stripe-signature", &["v1=00"]), @"The header `stripe-signature` cannot be read.");
    assert_snapshot!(check(Scheme::Stripe, "stripe-signature", &["t=1,t=2,v1=00"]), @"The header `stripe-signature` cannot be read.");
    assert_snapshot!(check(Scheme::Bearer, "authorization", &["Basic abc"]), @"The header `authorization` cannot be read.");
    assert_snapshot!(check(Scheme::Bearer, "authorization", &["Bearer whsec_text_of_a_sende"]), @"No signature fits a secret.");
    assert_snapshot!(check(Scheme::Bearer, "webhook-id", &[&"x".repeat(257)]), @"The header `webhook-id` cannot be read.");
}

#[test]
fn secrets_are_checked() {
    let check =
        |scheme: Scheme, secrets: &[&str]| Verifier::new(scheme, secrets.iter().copied()).unwrap_err().to_string();
    assert_snapshot!(check(Scheme::Standard, &[]), @"a secret is needed");
    assert_snapshot!(check(Scheme::Standard, &[STANDARD, "plain text that is long"]), @"the secret number 2 is not `whsec_` followed by 24 to 64 bytes in Base64");
    assert_snapshot!(check(Scheme::Standard, &["whsec_AAAA"]), @"the secret number 1 is not `whsec_` followed by 24 to 64 bytes in Base64");
    assert_snapshot!(check(Scheme::Bearer, &["short"]), @"the secret number 1 has fewer than 16 characters");
    assert_snapshot!(check(Scheme::GitHub, &[TEXT; 9]), @"there are more than 8 secrets");
    assert_eq!(format!("{:?}", Verifier::new(Scheme::GitHub, [TEXT]).unwrap()), "Verifier { scheme: GitHub, .. }");
}

proptest! {
    #[test]
    fn changed_bodies_are_refused(body in prop::collection::vec(any::<u8>(), 1..80), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let mut changed = body.clone();
        changed[at.index(body.len())] ^= 1 << bit;
        for scheme in [Scheme::Standard, Scheme::GitHub, Scheme::Stripe] {
            let sent = signed(scheme, secret(scheme), &body);
            prop_assert!(verify(scheme, &sent, &body, NOW).is_ok());
            prop_assert_eq!(verify(scheme, &sent, &changed, NOW), Err(Rejection::Mismatch));
        }
    }

    #[test]
    fn any_headers_are_refused_without_the_secret(
        id in "[ -~]{0,20}", time in "[ -~]{0,12}", signature in "[ -~]{0,120}", body in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        for scheme in SCHEMES {
            let sent = headers(&[
                ("webhook-id", id.clone()),
                ("webhook-timestamp", time.clone()),
                ("webhook-signature", format!("v1,{signature}")),
                ("x-hub-signature-256", format!("sha256={signature}")),
                ("stripe-signature", format!("t={time},v1={signature}")),
                ("authorization", format!("Bearer {signature}")),
            ]);
            prop_assert!(verify(scheme, &sent, &body, NOW).is_err());
        }
    }
}
