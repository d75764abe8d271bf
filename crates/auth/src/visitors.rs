//! Visitors: callers who are not signed in. Each browser is a separate user, identified by a signed
//! cookie; nothing is stored on the server.

use super::AuthState;
use super::cookies;
use super::token_parts::random_bytes;
use super::user::VISITOR_PREFIX;
use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use std::io::Write;
use std::path::Path;

/// The cookie name without its prefix.
pub(super) const COOKIE: &str = "cw_visitor";
/// The header with the same value, sent by a frame on another site's page.
pub const HEADER: &str = "x-chatwright-visitor";
/// The lifetime of the cookie, the maximum that browsers allow (RFC 6265bis).
const MAX_AGE_SECONDS: i64 = 400 * 86_400;
/// An older cookie is replaced, so that it does not expire for visitors who return.
const RENEW_AFTER_SECONDS: i64 = 30 * 86_400;
/// The name of the server's signing key, in the database and as a file beside it.
pub const COOKIE_KEY: &str = "cookie.key";
/// Binds signatures to this purpose.
const PURPOSE: &str = "chatwright visitor ";

/// Signs and verifies visitors' cookies.
pub(crate) struct Visitors {
    /// The first key signs, all of them verify. There is at least one.
    keys: Vec<hmac::Key>,
}

/// A visitor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Visitor {
    /// The user id.
    pub(super) user_id: String,
    /// The cookie value to set, unless the visitor has a current one.
    pub(super) new_cookie: Option<String>,
}

impl Visitors {
    /// Creates the keys from these secrets; there must be at least one.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self { keys: secrets.into_iter().map(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret)).collect() }
    }

    /// Returns the visitor of a cookie; a new visitor if the cookie is missing or invalid. `now` is
    /// the Unix time in seconds.
    pub(super) fn identify(&self, cookie: Option<&str>, now: i64) -> Visitor {
        let Some((id, made, key)) = cookie.and_then(|cookie| self.parse_cookie(cookie)) else {
            let id = random_id();
            return Visitor { user_id: format!("{VISITOR_PREFIX}{id}"), new_cookie: Some(self.sign_cookie(&id, now)) };
        };
        let is_fresh = key == 0 && (0..RENEW_AFTER_SECONDS).contains(&(now - made));
        Visitor { user_id: format!("{VISITOR_PREFIX}{id}"), new_cookie: (!is_fresh).then(|| self.sign_cookie(id, now)) }
    }

    /// Returns the header that sets the cookie.
    pub(super) fn set_cookie(value: &str, is_https: bool) -> Option<HeaderValue> {
        cookies::set(COOKIE, value, MAX_AGE_SECONDS, is_https)
    }

    fn sign_cookie(&self, id: &str, now: i64) -> String {
        let signed = format!("{id}.{now}");
        let signature = self.keys.first().map(|key| hmac::sign(key, format!("{PURPOSE}{signed}").as_bytes()));
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref().map_or(&[][..], AsRef::as_ref)))
    }

    /// Returns the visitor's id, when the cookie was made, and the index of the key that signed it.
    fn parse_cookie<'a>(&self, cookie: &'a str) -> Option<(&'a str, i64, usize)> {
        let (signed, signature) = cookie.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let text = format!("{PURPOSE}{signed}");
        let key = self.keys.iter().position(|key| hmac::verify(key, text.as_bytes(), &signature).is_ok())?;
        let (id, made) = signed.split_once('.')?;
        Some((id, made.parse().ok()?, key))
    }
}

/// Returns a random id of 128 bits.
fn random_id() -> String {
    URL_SAFE_NO_PAD.encode(random_bytes::<16>())
}

/// Returns the server's signing key, created once. It is kept in a database that several servers
/// can share, else in a file that only its owner can read. With an in-memory database it is lost
/// when the process ends.
///
/// # Errors
/// The file or the database cannot be used.
pub(super) async fn server_key(state: &AuthState) -> anyhow::Result<Vec<u8>> {
    let store = &state.store;
    match &state.folder {
        _ if store.is_shared() => Ok(store.get_or_create_secret(COOKIE_KEY, random_bytes::<32>().to_vec()).await?),
        // A migrated database contains the key of the old one.
        Some(folder) => key_from_file(folder, store.find_secret(COOKIE_KEY).await?),
        None => Ok(random_bytes::<32>().to_vec()),
    }
}

/// Returns the key in a file; if there is none, creates it from `known` or with a new key.
fn key_from_file(folder: &Path, known: Option<Vec<u8>>) -> anyhow::Result<Vec<u8>> {
    let path = folder.join(COOKIE_KEY);
    let refused = |error: std::io::Error| anyhow::anyhow!("cannot use the cookie key {}: {error}", path.display());
    if !path.exists() {
        // Created atomically, so that two servers that start together use the same key.
        let mut file = tempfile_in(folder).map_err(refused)?;
        file.0
            .write_all(&known.unwrap_or_else(|| random_bytes::<32>().to_vec()))
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
        "the cookie key {} is too short; delete the file, and the next start creates a new key",
        path.display()
    );
    Ok(key)
}

/// Creates a file that only its owner can read.
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
    fn forged_visitor_cookies_are_rejected() {
        let ours = visitors(&["a"]);
        let (first, second) = (ours.identify(None, NOW), ours.identify(None, NOW));
        assert_ne!(first.user_id, second.user_id);
        let cookie = first.new_cookie.unwrap();
        assert_eq!(ours.identify(Some(&cookie), NOW), Visitor { user_id: first.user_id.clone(), new_cookie: None });
        for forged in [
            cookie.replacen(&first.user_id[VISITOR_PREFIX.len()..], &second.user_id[VISITOR_PREFIX.len()..], 1),
            cookie.replacen(&NOW.to_string(), &(NOW + 1).to_string(), 1),
            format!("{cookie}x"),
            cookie.rsplit_once('.').unwrap().0.to_owned(),
            visitors(&["b"]).identify(None, NOW).new_cookie.unwrap(),
            String::new(),
            "..".to_owned(),
        ] {
            let seen = ours.identify(Some(&forged), NOW);
            assert!(seen.new_cookie.is_some() && seen.user_id != first.user_id, "{forged}");
        }
    }

    #[test]
    fn visitors_survive_key_rotation() {
        let first = visitors(&["old"]).identify(None, NOW);
        let both = visitors(&["new", "old"]);
        let again = both.identify(first.new_cookie.as_deref(), NOW);
        assert_eq!(again.user_id, first.user_id);
        let new = again.new_cookie.unwrap();
        assert_eq!(
            visitors(&["new"]).identify(Some(&new), NOW),
            Visitor { user_id: first.user_id.clone(), new_cookie: None }
        );
        assert_ne!(visitors(&["new"]).identify(first.new_cookie.as_deref(), NOW).user_id, first.user_id);
        assert!(both.identify(Some(&new), NOW + RENEW_AFTER_SECONDS).new_cookie.is_some());
    }

    #[test]
    fn server_key_is_created_once() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let key = key_from_file(folder.path(), None).unwrap();
        assert_eq!(key_from_file(folder.path(), Some(vec![7; 32])).unwrap(), key, "a file that is there counts");
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(folder.path().join("cookie.key"), "short").unwrap();
        assert!(key_from_file(folder.path(), None).is_err());
    }
}
