//! Password hashing (Argon2id). It is slow by design, so it runs on a small pool of low-priority
//! threads: a hundred simultaneous sign-ins must not stall the streams of other users.

use anyhow::anyhow;
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use offload::{Busy, Pool};
use std::sync::LazyLock;

/// The limit on passwords that are hashed or waiting; more are refused.
const MAX_WAITING: usize = 64;
/// The stack size of a hashing thread in bytes.
const STACK: usize = 1 << 20;

/// The hash that is verified for unknown users, so that it takes as long.
static DUMMY_HASH: LazyLock<String> = LazyLock::new(|| hash("nobody").unwrap_or_default());

/// Hashes and verifies passwords. Clones share the threads, which end with the last clone.
#[derive(Clone)]
pub struct Hasher(Pool);

/// Too many passwords are waiting already.
#[derive(Debug, PartialEq, Eq)]
pub struct HasherBusy;

impl From<Busy> for HasherBusy {
    fn from(Busy: Busy) -> Self {
        Self
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Self(Pool::new("passwords", STACK, MAX_WAITING))
    }
}

impl Hasher {
    /// Returns the hash of a password for storage.
    pub async fn hash(&self, password: String) -> Result<anyhow::Result<String>, HasherBusy> {
        Ok(self.0.run(move |_| hash(&password)).await?)
    }

    /// Returns whether a password matches a hash. Without a hash it returns false after the same
    /// time.
    pub async fn matches(&self, password: String, kept: Option<String>) -> Result<bool, HasherBusy> {
        Ok(self.0.run(move |_| verify_or_dummy(&password, kept.as_deref(), verify)).await?)
    }
}

fn hash(password: &str) -> anyhow::Result<String> {
    let hash = Argon2::default().hash_password(password.as_bytes()).map_err(|error| anyhow!("{error}"))?;
    Ok(hash.to_string())
}

/// Verifies the password once, for an unknown user against a hash of the same cost.
fn verify_or_dummy(password: &str, kept: Option<&str>, verify: impl FnOnce(&str, &str) -> bool) -> bool {
    let nobody = &*DUMMY_HASH;
    let is_right = verify(password, kept.unwrap_or(nobody));
    kept.is_some() && is_right
}

fn verify(password: &str, kept: &str) -> bool {
    let parsed = PasswordHash::new(kept);
    parsed.is_ok_and(|kept| Argon2::default().verify_password(password.as_bytes(), &kept).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn passwords_are_hashed_and_verified() {
        let hasher = Hasher::default();
        let kept = hasher.hash("correct horse".to_owned()).await.unwrap().unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert_ne!(hasher.hash("correct horse".to_owned()).await.unwrap().unwrap(), kept);
        let check = async |password: &str, kept: Option<&str>, expected: bool| {
            let is_right = hasher.matches(password.to_owned(), kept.map(str::to_owned)).await;
            assert_eq!(is_right, Ok(expected), "{password}");
        };
        check("correct horse", Some(&kept), true).await;
        check("correct horsf", Some(&kept), false).await;
        check("", Some(&kept), false).await;
        check("nobody", None, false).await;
        check("x", Some("no hash"), false).await;
    }

    /// Returns what the cost of a verification depends on: algorithm, version and parameters, and
    /// the lengths of salt and hash.
    fn cost(hash: &str) -> (Vec<&str>, Vec<usize>) {
        let parts: Vec<_> = hash.split('$').collect();
        (parts[..4].to_vec(), parts[4..].iter().map(|part| part.len()).collect())
    }

    /// The time must not reveal whether a user exists, so the same work is done in both cases.
    #[test]
    fn unknown_and_known_users_cost_the_same_hashing() {
        let kept = hash("correct horse").unwrap();
        let check = |password: &str, kept: Option<&str>, expected: bool| {
            let mut verified = Vec::new();
            let seen = verify_or_dummy(password, kept, |password, kept| {
                verified.push((password.to_owned(), kept.to_owned()));
                verify(password, kept)
            });
            assert_eq!(seen, expected, "{password}");
            verified
        };
        let known = check("wrong", Some(&kept), false);
        let unknown = check("wrong", None, false);
        let right = check("correct horse", Some(&kept), true);
        for verified in [&known, &unknown, &right] {
            let [(_, hash)] = &verified[..] else { panic!("{verified:?}") };
            assert!(PasswordHash::new(hash).is_ok(), "{hash}");
            assert_eq!(cost(hash), cost(&kept));
        }
        assert_eq!(known[0].0, unknown[0].0);
        // The dummy hash can match, so that the whole comparison runs, but does not sign anyone in.
        assert!(verify("nobody", &DUMMY_HASH));
        check("nobody", None, false);
    }

    #[tokio::test]
    async fn requests_over_the_queue_limit_are_refused() {
        let hasher = Hasher::default();
        let all = (0..100).map(|_| hasher.matches("x".to_owned(), None));
        let answers = futures::future::join_all(all).await;
        let turned = answers.iter().filter(|answer| **answer == Err(HasherBusy)).count();
        assert_eq!(turned, 100 - MAX_WAITING);
    }
}
