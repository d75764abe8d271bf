//! Passwords as hashes (Argon2id). Hashing is made to be slow, so it runs on a pool of few threads of low priority: a hundred sign-ins at
//! the same time must not stall the streams of others.

use anyhow::anyhow;
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use offload::{Busy, Pool};
use std::sync::LazyLock;

/// Passwords that wait or are hashed; more are turned away.
const MAX_WAITING: usize = 64;
/// The stack of a thread that hashes, in bytes.
const STACK: usize = 1 << 20;

/// What the password of an unknown user is compared with, so that it takes as long.
static NOBODY: LazyLock<String> = LazyLock::new(|| hash("nobody").unwrap_or_default());

/// Hashes and compares passwords; a cheap handle. Its threads end with the last one.
#[derive(Clone)]
pub(crate) struct Hasher(Pool);

/// Too many wait already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Crowded;

impl From<Busy> for Crowded {
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
    /// The hash of a password, to be kept.
    pub(crate) async fn hash(&self, password: String) -> Result<anyhow::Result<String>, Crowded> {
        Ok(self.0.run(move |_| hash(&password)).await?)
    }

    /// Whether this is the password of that hash. Without a hash it is not, and takes as long.
    pub(crate) async fn is_right(&self, password: String, kept: Option<String>) -> Result<bool, Crowded> {
        Ok(self.0.run(move |_| is_right(&password, kept.as_deref(), verify)).await?)
    }
}

fn hash(password: &str) -> anyhow::Result<String> {
    let hash = Argon2::default().hash_password(password.as_bytes()).map_err(|error| anyhow!("{error}"))?;
    Ok(hash.to_string())
}

/// Verifies the password once, for an unknown user with a hash of the same cost.
fn is_right(password: &str, kept: Option<&str>, verify: impl FnOnce(&str, &str) -> bool) -> bool {
    let nobody = &*NOBODY;
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
    async fn passwords() {
        let hasher = Hasher::default();
        let kept = hasher.hash("correct horse".to_owned()).await.unwrap().unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert_ne!(hasher.hash("correct horse".to_owned()).await.unwrap().unwrap(), kept);
        let check = async |password: &str, kept: Option<&str>, expected: bool| {
            let is_right = hasher.is_right(password.to_owned(), kept.map(str::to_owned)).await;
            assert_eq!(is_right, Ok(expected), "{password}");
        };
        check("correct horse", Some(&kept), true).await;
        check("correct horsf", Some(&kept), false).await;
        check("", Some(&kept), false).await;
        check("nobody", None, false).await;
        check("x", Some("no hash"), false).await;
    }

    /// What a verification costs: the algorithm, its version and parameters, and the lengths of salt and hash.
    fn cost(hash: &str) -> (Vec<&str>, Vec<usize>) {
        let parts: Vec<_> = hash.split('$').collect();
        (parts[..4].to_vec(), parts[4..].iter().map(|part| part.len()).collect())
    }

    /// Nobody learns from the time whether there is a user, because the same work is done for both.
    #[test]
    fn unknown_and_known_users_cost_the_same_hashing() {
        let kept = hash("correct horse").unwrap();
        let check = |password: &str, kept: Option<&str>, expected: bool| {
            let mut verified = Vec::new();
            let seen = is_right(password, kept, |password, kept| {
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
        // The hash of the unknown user can be met, so that all of the comparison runs, and does not let anyone in.
        assert!(verify("nobody", &NOBODY));
        check("nobody", None, false);
    }

    #[tokio::test]
    async fn a_crowd_is_turned_away() {
        let hasher = Hasher::default();
        let all = (0..100).map(|_| hasher.is_right("x".to_owned(), None));
        let answers = futures::future::join_all(all).await;
        let turned = answers.iter().filter(|answer| **answer == Err(Crowded)).count();
        assert_eq!(turned, 100 - MAX_WAITING);
    }
}
