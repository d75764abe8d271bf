//! Rejects new names that could be mistaken for those of other users, by Unicode Technical Standard
//! 39. Existing names stay valid.

use super::Accounts;
use super::credential_rules::name_key;
use store::{Lock, Store, StoreError};
use tokio::sync::{Mutex, MutexGuard};
use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

/// Held while a name is checked and stored, on this server.
static NEW_NAMES: Mutex<()> = Mutex::const_new(());
/// The name of the lock that servers with a common database hold.
const LOCK: &str = "names of accounts";

/// The number of names that are compared per query.
const PAGE_SIZE: u32 = 1_000;

/// The dot that is left of `İ` in lower case.
const DOT_ABOVE: char = '\u{307}';

/// Returns a key that is equal for names that look the same.
fn skeleton_key(name: &str) -> String {
    skeleton(&name_key(name).nfkc().filter(|sign| *sign != DOT_ABOVE).collect::<String>()).collect()
}

/// Returns the name that a name with a capital `I` looks like, since pages show names as they were
/// written.
fn read_as_l(name: &str) -> Option<String> {
    name.contains('I').then(|| name_key(&name.replace('I', "l")))
}

impl Accounts {
    /// Begins to add or rename a user, as [`NewNames::lock`] does.
    ///
    /// # Errors
    /// As there.
    pub async fn new_names(&self) -> Result<NewNames<'_>, StoreError> {
        NewNames::lock(&self.store).await
    }
}

/// The right to give a user a new name, which one request at a time has, on all servers with this
/// database. It is held from the check of the name until the name is stored: otherwise two names that
/// look alike could be checked at the same time, neither of which is stored yet.
pub struct NewNames<'s> {
    store: &'s Store,
    _here: MutexGuard<'static, ()>,
    /// The lock in the database, if several servers share it.
    _everywhere: Option<Lock>,
}

impl<'s> NewNames<'s> {
    /// Waits until no other request gives a name.
    ///
    /// # Errors
    /// The database failed, or another server held the lock for too long.
    pub async fn lock(store: &'s Store) -> Result<Self, StoreError> {
        let here = NEW_NAMES.lock().await;
        Ok(Self { store, _here: here, _everywhere: store.lock(LOCK).await? })
    }

    /// Returns whether a new name looks like another user's. Names of ASCII letters are not
    /// compared with each other: `bob1` and `bobl` are distinguishable with care, and both are
    /// common. A Latin name is compared with the names in other scripts, and a name in another
    /// script with all names. A capital `I` is read as `l`, too. For 100,000 users this takes far
    /// less time than hashing a password. Takes `&mut self`, because a reference to the lock cannot be sent to another thread.
    ///
    /// # Errors
    /// The database failed.
    pub async fn has_lookalike(&mut self, name: &str) -> Result<bool, StoreError> {
        has_lookalike(self.store, name).await
    }
}

/// See [`NewNames::has_lookalike`].
async fn has_lookalike(store: &Store, name: &str) -> Result<bool, StoreError> {
    let (new, written) = (skeleton_key(name), read_as_l(name));
    let all = !name.is_ascii() || written.is_some();
    let is_like = |known: &str| {
        let is_compared = !name.is_ascii() || !known.is_ascii();
        written.as_deref() == Some(known) || is_compared && skeleton_key(known) == new
    };
    let mut after = String::new();
    loop {
        let names = store.name_keys(all, &after, PAGE_SIZE).await?;
        if names.iter().any(|known| is_like(known)) {
            return Ok(true);
        }
        match names.into_iter().next_back() {
            Some(last) => after = last,
            None => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_have_the_same_skeleton() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(skeleton_key(one) == skeleton_key(other), expected, "{one} {other}");
        };
        check("alice", "Alice", true);
        check("alice", "ａlice", true);
        check("alice", "аlice", true);
        check("cape", "саре", true);
        check("Саре", "cape", true);
        check("alice", "ALİCE", true);
        check("alice", "alıce", true);
        check("alice", "alicia", false);
        check("иван", "ivan", false);
        check("zoe", "zoë", false);
    }

    #[test]
    fn capital_i_is_read_as_l() {
        assert_eq!(read_as_l("aIice").as_deref(), Some("alice"));
        assert_eq!(read_as_l("AIice").as_deref(), Some("alice"));
        assert_eq!(read_as_l("alice"), None);
    }
}
