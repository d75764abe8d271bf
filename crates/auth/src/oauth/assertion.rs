//! Assertions with which a client proves who it is, instead of a secret (`private_key_jwt`; RFC 7523, 2.2).

use crate::token_parts::now_millis;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use uuid::Uuid;

/// The value of `client_assertion_type`.
pub const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How long an assertion is valid, in seconds.
const LIFE: i64 = 120;

/// A private key.
enum SigningKey {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
}

/// Returns an assertion of a client for an authorization server. `key` is an RSA key or one of the curves P-256 and P-384, in
/// PEM (PKCS #8).
///
/// # Errors
/// The key cannot be used.
pub fn client_assertion(client_id: &str, audience: &str, key: &SecretString) -> Result<SecretString, &'static str> {
    let key = SigningKey::read(key.expose_secret()).ok_or("the private key of the client cannot be used")?;
    let now = now_millis() / 1_000;
    let header = json!({ "alg": key.algorithm(), "typ": "JWT" });
    let claims = json!({
        "iss": client_id, "sub": client_id, "aud": audience,
        "iat": now, "exp": now + LIFE, "jti": Uuid::new_v4().to_string(),
    });
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let signed = format!("{}.{}", encode(header.to_string().as_bytes()), encode(claims.to_string().as_bytes()));
    let signature = key.sign(signed.as_bytes()).ok_or("the private key of the client cannot sign")?;
    Ok(format!("{signed}.{}", encode(&signature)).into())
}

/// Whether [`client_assertion`] can sign with a key.
pub fn is_signing_key(key: &SecretString) -> bool {
    SigningKey::read(key.expose_secret()).is_some()
}

impl SigningKey {
    /// Reads a key in PEM. In environment variables, line ends are often written as `\n`.
    fn read(pem: &str) -> Option<Self> {
        let (_, rest) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
        let (body, _) = rest.split_once("-----END PRIVATE KEY-----")?;
        let body = SecretString::from(body.replace("\\n", "\n").split_whitespace().collect::<String>());
        let der = STANDARD.decode(body.expose_secret()).ok()?;
        let random = SystemRandom::new();
        let of_curve = |curve| EcdsaKeyPair::from_pkcs8(curve, &der, &random).ok();
        if let Some(key) = of_curve(&ECDSA_P256_SHA256_FIXED_SIGNING) {
            return Some(Self::P256(key));
        }
        if let Some(key) = of_curve(&ECDSA_P384_SHA384_FIXED_SIGNING) {
            return Some(Self::P384(key));
        }
        RsaKeyPair::from_pkcs8(&der).ok().map(|key| Self::Rsa(Box::new(key)))
    }

    /// Returns the algorithm by its name in JSON Web Signatures.
    fn algorithm(&self) -> &'static str {
        match self {
            Self::P256(_) => "ES256",
            Self::P384(_) => "ES384",
            Self::Rsa(_) => "RS256",
        }
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Self::P256(key) | Self::P384(key) => Some(key.sign(&random, message).ok()?.as_ref().to_vec()),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
        VerificationAlgorithm,
    };
    use serde_json::Value;

    /// See `jwt::tests`.
    const RSA: &[u8] = include_bytes!("../jwt/fixtures/rsa.der");

    fn pem(der: &[u8]) -> String {
        format!("-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\n", STANDARD.encode(der))
    }

    /// Checks an assertion with a key of this kind.
    fn check(der: &[u8], name: &str, public: &[u8], algorithm: &'static dyn VerificationAlgorithm) {
        assert!(is_signing_key(&pem(der).into()), "{name}");
        let assertion = client_assertion("agents", "https://id.test", &pem(der).into()).unwrap();
        let (signed, signature) = assertion.expose_secret().rsplit_once('.').unwrap();
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let parts: Vec<Value> = signed.split('.').map(|part| serde_json::from_slice(&decode(part)).unwrap()).collect();
        assert_eq!(parts[0], json!({ "alg": name, "typ": "JWT" }));
        let claims = &parts[1];
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!("agents"), &json!("agents")));
        assert_eq!(claims["aud"], "https://id.test");
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), LIFE);
        UnparsedPublicKey::new(algorithm, public).verify(signed.as_bytes(), &decode(signature)).unwrap();
    }

    #[test]
    fn assertions_are_signed_with_the_key_of_the_client() {
        let random = SystemRandom::new();
        for (curve, name, algorithm) in [
            (&ECDSA_P256_SHA256_FIXED_SIGNING, "ES256", &ECDSA_P256_SHA256_FIXED),
            (&ECDSA_P384_SHA384_FIXED_SIGNING, "ES384", &ECDSA_P384_SHA384_FIXED),
        ] {
            let document = EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap();
            let key = EcdsaKeyPair::from_pkcs8(curve, document.as_ref(), &random).unwrap();
            check(document.as_ref(), name, key.public_key().as_ref(), algorithm);
        }
        // PKCS #8 (RFC 5208): the version, the algorithm `rsaEncryption` and the key.
        let sized = |tag: u8, content: &[u8]| {
            let length = u16::try_from(content.len()).unwrap().to_be_bytes();
            [[tag, 0x82, length[0], length[1]].as_slice(), content].concat()
        };
        let head: [u8; 18] =
            [0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 5, 0];
        let wrapped = sized(0x30, &[head.as_slice(), sized(0x04, RSA).as_slice()].concat());
        let public = RsaKeyPair::from_der(RSA).unwrap();
        check(&wrapped, "RS256", public.public().as_ref(), &RSA_PKCS1_2048_8192_SHA256);
    }

    #[test]
    fn unusable_keys_are_errors() {
        for text in ["", "a secret", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", &pem(b"no key")] {
            let refused = client_assertion("agents", "https://id.test", &text.into());
            assert_eq!(refused.err(), Some("the private key of the client cannot be used"), "{text}");
            assert!(!is_signing_key(&text.into()), "{text}");
        }
    }
}
