//! The first user (A11). He becomes an administrator, so only who can read the server's console can make himself one: by a token
//! that is shown there, and is good once.

use crate::auth::visitors::random;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

/// The token, while there is no user.
#[derive(Default)]
pub(crate) struct Setup {
    token: Mutex<Option<Token>>,
}

struct Token {
    text: String,
    is_shown: bool,
}

impl Setup {
    /// There is no user: a token is needed, unless there is one.
    pub(super) fn open(&self) {
        let make = || Token { text: URL_SAFE_NO_PAD.encode(random::<18>()), is_shown: false };
        self.token.lock().get_or_insert_with(make);
    }

    /// There is a user: no token is any good.
    pub(crate) fn close(&self) {
        *self.token.lock() = None;
    }

    /// Shows the token to who reads the console, once.
    pub(crate) fn announce(&self) {
        if let Some(token) = self.token.lock().as_mut().filter(|token| !token.is_shown) {
            token.is_shown = true;
            println!("no account exists yet: make the first one at /auth/first-admin, with the token {}", token.text);
        }
    }

    /// Whether this is the token. Digests are compared, so the time that it takes tells nothing about it.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let token = self.token.lock();
        token.as_ref().is_some_and(|token| Sha256::digest(&token.text) == Sha256::digest(text.trim()))
    }
}
