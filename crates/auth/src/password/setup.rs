//! The setup token for the first account. Its user becomes an administrator, so only someone who
//! can read the server's console may create it: the token is printed there and can be used once.

use crate::token_parts::random_bytes;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

/// The setup token, while there is no user.
#[derive(Default)]
pub struct SetupToken {
    token: Mutex<Option<PendingToken>>,
}

struct PendingToken {
    text: String,
    is_shown: bool,
}

impl SetupToken {
    /// Creates a token, unless there is one.
    pub(super) fn create(&self) {
        let make = || PendingToken { text: URL_SAFE_NO_PAD.encode(random_bytes::<18>()), is_shown: false };
        self.token.lock().get_or_insert_with(make);
    }

    /// Removes the token, because there is a user.
    pub fn clear(&self) {
        *self.token.lock() = None;
    }

    /// Prints the token to the console, once.
    pub fn print_once(&self) {
        if let Some(token) = self.token.lock().as_mut().filter(|token| !token.is_shown) {
            token.is_shown = true;
            println!("no account exists yet: create the first one at /auth/first-admin with the token {}", token.text);
        }
    }

    /// Returns whether this is the token. Hashes are compared, so that the time reveals nothing
    /// about it.
    pub fn accepts(&self, text: &str) -> bool {
        let token = self.token.lock();
        token.as_ref().is_some_and(|token| Sha256::digest(&token.text) == Sha256::digest(text.trim()))
    }
}
