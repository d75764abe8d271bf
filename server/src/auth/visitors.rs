//! Those who are not signed in: each browser is an owner of its own, by a signed cookie. Nothing is stored of them here.

use super::Ground;
use super::cookies;
use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use std::io::Write;
use std::path::Path;

/// The cookie, without its prefix.
pub(super) const COOKIE: &str = "cw_visitor";
/// The header in which a frame on another site's page sends the same.
pub(super) const HEADER: &str = "x-chatwright-visitor";
/// How a visitor's user id begins; no user of another kind has such an id.
pub(super) const PREFIX: &str = "visitor:";
/// Browsers keep no cookie for longer (RFC 6265bis).
const LIFE: i64 = 400 * 86_400;
/// A cookie that is older is written anew, so that who comes back keeps what is his.
const RENEW: i64 = 30 * 86_400;
/// The name of the server's own key, in the database and as a file beside it.
pub(crate) const COOKIE_KEY: &str = "cookie.key";
/// The signature is about this, and only this.
const PURPOSE: &str = "chatwright visitor ";

/// Makes and reads visitors' cookies.
pub(crate) struct Visitors {
    /// The first signs, all are accepted. At least one.
    keys: Vec<hmac::Key>,
}

/// A visitor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Visitor {
    /// His user id.
    pub(super) user_id: String,
    /// The value of the cookie that he must be given, unless he has a good one.
    pub(super) renewed: Option<String>,
}

impl Visitors {
    /// With these secrets; there is at least one.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self { keys: secrets.into_iter().map(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret)).collect() }
    }

    /// Who has this cookie; somebody new if it is none of ours. `now` is Unix time in seconds.
    pub(super) fn known(&self, cookie: Option<&str>, now: i64) -> Visitor {
        let Some((id, made, key)) = cookie.and_then(|cookie| self.read(cookie)) else {
            let id = random_id();
            return Visitor { user_id: format!("{PREFIX}{id}"), renewed: Some(self.write(&id, now)) };
        };
        let is_fresh = key == 0 && (0..RENEW).contains(&(now - made));
        Visitor { user_id: format!("{PREFIX}{id}"), renewed: (!is_fresh).then(|| self.write(id, now)) }
    }

    /// The header that gives a visitor his cookie.
    pub(super) fn cookie(value: &str, is_https: bool) -> Option<HeaderValue> {
        cookies::set(COOKIE, value, LIFE, is_https)
    }

    fn write(&self, id: &str, now: i64) -> String {
        let told = format!("{id}.{now}");
        let signature = self.keys.first().map(|key| hmac::sign(key, format!("{PURPOSE}{told}").as_bytes()));
        format!("{told}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref().map_or(&[][..], AsRef::as_ref)))
    }

    /// The id, when the cookie was made, and which key signed it.
    fn read<'a>(&self, cookie: &'a str) -> Option<(&'a str, i64, usize)> {
        let (told, signature) = cookie.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let text = format!("{PURPOSE}{told}");
        let key = self.keys.iter().position(|key| hmac::verify(key, text.as_bytes(), &signature).is_ok())?;
        let (id, made) = told.split_once('.')?;
        Some((id, made.parse().ok()?, key))
    }
}

/// 128 bits that nobody can guess.
fn random_id() -> String {
    URL_SAFE_NO_PAD.encode(random::<16>())
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // The system's generator fails on no system that this runs on; going on without it would let anybody in.
    #[expect(clippy::expect_used, reason = "no randomness, no secrets")]
    SystemRandom::new().fill(&mut bytes).expect("the system gives random numbers");
    bytes
}

/// The server's own key, made once. Where several servers may serve the database, it is kept there; else in a file that only its owner
/// can read. In memory it is gone with the process.
///
/// # Errors
/// One line for the operator.
pub(super) async fn own_key(ground: &Ground) -> anyhow::Result<Vec<u8>> {
    let store = &ground.store;
    match &ground.folder {
        _ if store.is_shared() => Ok(store.secret(COOKIE_KEY, random::<32>().to_vec()).await?),
        // Of a database that was moved here the key came along.
        Some(folder) => key_in(folder, store.known_secret(COOKIE_KEY).await?),
        None => Ok(random::<32>().to_vec()),
    }
}

/// The key in a file, which is made of this key or a new one.
fn key_in(folder: &Path, known: Option<Vec<u8>>) -> anyhow::Result<Vec<u8>> {
    let path = folder.join(COOKIE_KEY);
    let refused = |error: std::io::Error| anyhow::anyhow!("the key for cookies, {}: {error}", path.display());
    if !path.exists() {
        // Whole at once: of two servers that start together, both read the same one.
        let mut file = tempfile_in(folder).map_err(refused)?;
        file.0
            .write_all(&known.unwrap_or_else(|| random::<32>().to_vec()))
            .and_then(|()| file.0.sync_all())
            .map_err(refused)?;
        let linked = std::fs::hard_link(&file.1, &path);
        std::fs::remove_file(&file.1).map_err(refused)?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(refused(error)),
            _ => {}
        }
    }
    let key = std::fs::read(&path).map_err(refused)?;
    anyhow::ensure!(
        key.len() >= 32,
        "the key for cookies, {}, is too short; delete it to have a new one",
        path.display()
    );
    Ok(key)
}

/// A new file that only its owner can read.
fn tempfile_in(folder: &Path) -> std::io::Result<(std::fs::File, std::path::PathBuf)> {
    use std::os::unix::fs::OpenOptionsExt;
    let path = folder.join(format!("cookie.key.{}", random_id()));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    Ok((file, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn visitors(secrets: &[&str]) -> Visitors {
        Visitors::new(secrets.iter().map(|secret| secret.as_bytes()))
    }

    #[test]
    fn a_cookie_is_its_browsers_own() {
        let ours = visitors(&["a"]);
        let (first, second) = (ours.known(None, NOW), ours.known(None, NOW));
        assert_ne!(first.user_id, second.user_id);
        let cookie = first.renewed.unwrap();
        assert_eq!(ours.known(Some(&cookie), NOW), Visitor { user_id: first.user_id.clone(), renewed: None });
        for forged in [
            cookie.replacen(&first.user_id[PREFIX.len()..], &second.user_id[PREFIX.len()..], 1),
            cookie.replacen(&NOW.to_string(), &(NOW + 1).to_string(), 1),
            format!("{cookie}x"),
            cookie.rsplit_once('.').unwrap().0.to_owned(),
            visitors(&["b"]).known(None, NOW).renewed.unwrap(),
            String::new(),
            "..".to_owned(),
        ] {
            let seen = ours.known(Some(&forged), NOW);
            assert!(seen.renewed.is_some() && seen.user_id != first.user_id, "{forged}");
        }
    }

    #[test]
    fn keys_change_and_visitors_stay() {
        let first = visitors(&["old"]).known(None, NOW);
        let both = visitors(&["new", "old"]);
        let again = both.known(first.renewed.as_deref(), NOW);
        assert_eq!(again.user_id, first.user_id);
        let new = again.renewed.unwrap();
        assert_eq!(
            visitors(&["new"]).known(Some(&new), NOW),
            Visitor { user_id: first.user_id.clone(), renewed: None }
        );
        assert_ne!(visitors(&["new"]).known(first.renewed.as_deref(), NOW).user_id, first.user_id);
        assert!(both.known(Some(&new), NOW + RENEW).renewed.is_some());
    }

    #[test]
    fn the_servers_own_key_stays() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let key = key_in(folder.path(), None).unwrap();
        assert_eq!(key_in(folder.path(), Some(vec![7; 32])).unwrap(), key, "a file that is there counts");
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(folder.path().join("cookie.key"), "short").unwrap();
        assert!(key_in(folder.path(), None).is_err());
    }
}
