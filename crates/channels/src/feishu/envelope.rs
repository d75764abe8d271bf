//! A request with an event: encrypted with AES-256-CBC and signed with SHA-256, both with the *Encrypt Key* of the app.

use crate::section::Feishu;
use aes::Aes256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use http::HeaderMap;
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The maximum age of a request, in seconds. Feishu sends an event for the last time seven hours after the
/// first one; the key of a stored event is kept for longer, so one that is sent again has no effect.
const MAX_AGE: i64 = 8 * 3_600;
/// The maximum time in seconds by which a request may be ahead.
const MAX_AHEAD: i64 = 5 * 60;
/// The longest text that is returned when the address is entered at Feishu, in characters.
const MAX_CHALLENGE: usize = 1_000;
/// The length of a block of AES, in bytes.
const BLOCK: usize = 16;

/// The content of a request of Feishu.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Delivered {
    /// The address was entered at Feishu: this is to be returned.
    Challenge(String),
    /// Something has happened.
    Event(Value),
}

#[derive(Deserialize)]
struct Envelope {
    encrypt: String,
}

/// Opens a request. `None` if it is not from Feishu. Only the check of an address, which has no effect, needs no
/// signature: Feishu does not sign it. Without an Encrypt Key, nothing is accepted. `now` is the Unix time in seconds.
pub(crate) fn open(headers: &HeaderMap, body: &[u8], settings: &Feishu, now: i64) -> Option<Delivered> {
    let key = settings.encrypt_key.as_ref()?.expose();
    let is_signed = is_signed(headers, body, key, now);
    let Envelope { encrypt } = serde_json::from_slice(body).ok()?;
    let content: Value = serde_json::from_slice(&decrypt(&encrypt, key)?).ok()?;
    // Of the check, it is beside the challenge; of an event, in its header.
    let token = content["token"].as_str().or_else(|| content["header"]["token"].as_str()).unwrap_or_default();
    let expected = settings.verification_token.as_ref();
    if expected.is_some_and(|expected| !is_same(key, expected.expose().as_bytes(), token.as_bytes())) {
        return None;
    }
    if content["type"] == "url_verification" {
        let challenge = content["challenge"].as_str()?;
        return Some(Delivered::Challenge(challenge.chars().take(MAX_CHALLENGE).collect()));
    }
    is_signed.then_some(Delivered::Event(content))
}

/// Returns whether a request has the signature of its time, its nonce and its body, and is not too old.
fn is_signed(headers: &HeaderMap, body: &[u8], key: &str, now: i64) -> bool {
    let single = |name| {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    };
    let (Some(time), Some(nonce), Some(signature)) =
        (single("x-lark-request-timestamp"), single("x-lark-request-nonce"), single("x-lark-signature"))
    else {
        return false;
    };
    let is_recent = time.parse::<i64>().is_ok_and(|time| (-MAX_AHEAD..=MAX_AGE).contains(&now.saturating_sub(time)));
    let Ok(signature) = hex::decode(signature) else { return false };
    let hash = Sha256::new().chain_update(time).chain_update(nonce).chain_update(key).chain_update(body).finalize();
    is_same(key, &hash, &signature) && is_recent
}

/// Compares secrets in a time that does not depend on where they differ: by authentication codes of both.
fn is_same(key: &str, one: &[u8], other: &[u8]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    hmac::verify(&key, other, hmac::sign(&key, one).as_ref()).is_ok()
}

/// Decrypts a text in Base64, which begins with the initialization vector.
fn decrypt(encrypted: &str, key: &str) -> Option<Vec<u8>> {
    let mut bytes = STANDARD.decode(encrypted).ok()?;
    let (vector, blocks) = bytes.split_at_mut_checked(BLOCK)?;
    let decryptor = Decryptor::<Aes256>::new_from_slices(&Sha256::digest(key), vector).ok()?;
    decryptor.decrypt_padded::<Pkcs7>(blocks).ok().map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cbc::Encryptor;
    use cbc::cipher::BlockModeEncrypt;
    use serde_json::json;

    const KEY: &str = "key of this test";
    const NOW: i64 = 1_700_000_000;

    fn settings(token: Option<&str>) -> Feishu {
        let properties = json!({ "appId": "cli_1", "appSecret": "s", "encryptKey": KEY, "verificationToken": token });
        serde_json::from_value(properties).unwrap()
    }

    fn encrypted(content: &str, key: &str) -> Vec<u8> {
        let encryptor = Encryptor::<Aes256>::new_from_slices(&Sha256::digest(key), &[7; BLOCK]).unwrap();
        let mut buffer = content.as_bytes().to_vec();
        buffer.resize(content.len() + BLOCK, 0);
        let blocks = encryptor.encrypt_padded::<Pkcs7>(&mut buffer, content.len()).unwrap();
        json!({ "encrypt": STANDARD.encode([&[7; BLOCK], blocks].concat()) }).to_string().into_bytes()
    }

    fn signed(time: i64, body: &[u8]) -> HeaderMap {
        let signature = Sha256::digest([time.to_string().as_bytes(), b"nonce", KEY.as_bytes(), body].concat());
        let header = |name: &'static str, value: String| (name.parse().unwrap(), value.parse().unwrap());
        HeaderMap::from_iter([
            header("x-lark-request-timestamp", time.to_string()),
            header("x-lark-request-nonce", "nonce".to_owned()),
            header("x-lark-signature", hex::encode(signature)),
        ])
    }

    #[test]
    fn the_example_of_feishu_is_decrypted() {
        let decrypted = decrypt("P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=", "test key");
        assert_eq!(decrypted.as_deref(), Some(&b"hello world"[..]));
        for wrong in ["", "P37w", "P37w+VZImNgPEO1RBhJ6Rg==", "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=x"] {
            assert_eq!(decrypt(wrong, "test key"), None, "{wrong}");
        }
    }

    #[test]
    fn only_events_with_a_valid_signature_are_accepted() {
        let (body, event) = (encrypted(r#"{"header":{"token":"v"}}"#, KEY), json!({ "header": { "token": "v" } }));
        let check = |headers: &HeaderMap, body: &[u8], now: i64, expected: bool| {
            let expected = expected.then(|| Delivered::Event(event.clone()));
            assert_eq!(open(headers, body, &settings(None), now), expected, "{headers:?} {now}");
        };
        let headers = signed(NOW, &body);
        check(&headers, &body, NOW, true);
        check(&headers, &body, NOW + MAX_AGE, true);
        check(&headers, &body, NOW + MAX_AGE + 1, false);
        check(&headers, &body, NOW - MAX_AHEAD - 1, false);
        check(&HeaderMap::new(), &body, NOW, false);
        for name in ["x-lark-request-timestamp", "x-lark-request-nonce", "x-lark-signature"] {
            let mut other = headers.clone();
            other.insert(name, "00".parse().unwrap());
            check(&other, &body, NOW, false);
            let mut twice = headers.clone();
            twice.append(name, headers[name].clone());
            check(&twice, &body, NOW, false);
        }
        // Another key, another body, and one that is not encrypted.
        let other = encrypted(r#"{"header":{"token":"v"}}"#, "another key");
        check(&signed(NOW, &other), &other, NOW, false);
        check(&headers, &encrypted("{}", KEY), NOW, false);
        let plain = br#"{"header":{"token":"v"}}"#;
        check(&signed(NOW, plain), plain, NOW, false);
        // The token, if it is configured.
        assert_eq!(open(&headers, &body, &settings(Some("v")), NOW), Some(Delivered::Event(event.clone())));
        assert_eq!(open(&headers, &body, &settings(Some("w")), NOW), None);
    }

    #[test]
    fn check_of_the_address_is_answered() {
        let body = encrypted(r#"{"challenge":"abc","token":"v","type":"url_verification"}"#, KEY);
        let opened = |token: Option<&str>| open(&HeaderMap::new(), &body, &settings(token), NOW);
        assert_eq!(opened(None), Some(Delivered::Challenge("abc".to_owned())));
        assert_eq!(opened(Some("v")), Some(Delivered::Challenge("abc".to_owned())));
        assert_eq!(opened(Some("w")), None);
        assert_eq!(
            open(&HeaderMap::new(), br#"{"challenge":"abc","type":"url_verification"}"#, &settings(None), NOW),
            None
        );
    }
}
