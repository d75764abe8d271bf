//! The check before a company account is linked. Whoever finds an open browser, or has taken a session,
//! must not get a way to sign in that stays.

use crate::{AccountError, SignedInUser};
use auth::password::{Accounts, now_millis};
use store::SessionRow;

/// How old a session may be in which an account is linked without a further check, in milliseconds.
const RECENT: i64 = 10 * 60 * 1_000;

/// What a user does before a company account is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmation {
    /// Nothing: the user has signed in recently.
    NotNeeded,
    /// Entering the password.
    Password,
    /// Signing in again, since there is no password.
    SignInAgain,
}

impl Confirmation {
    /// Returns what is needed in a session.
    pub(crate) fn for_link(session: Option<&SessionRow>, has_password: bool) -> Self {
        Self::at_age(session.map(|session| now_millis() - session.created_at), has_password)
    }

    /// Returns what is needed in the session of the user.
    pub(super) async fn find(accounts: &Accounts, member: &SignedInUser) -> Result<Self, AccountError> {
        let sessions = accounts.sessions(&member.caller.user_id).await?;
        let has_password = accounts.has_password(&member.caller.user_id).await?;
        Ok(Self::for_link(sessions.iter().find(|session| session.id == member.session_id), has_password))
    }

    fn at_age(age: Option<i64>, has_password: bool) -> Self {
        match age {
            Some(age) if (0..RECENT).contains(&age) => Self::NotNeeded,
            _ if has_password => Self::Password,
            _ => Self::SignInAgain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Confirmation, RECENT};

    #[test]
    fn old_sessions_need_a_confirmation() {
        let check = |age: Option<i64>, has_password: bool, expected: Confirmation| {
            assert_eq!(Confirmation::at_age(age, has_password), expected, "{age:?} {has_password}");
        };
        check(Some(0), true, Confirmation::NotNeeded);
        check(Some(RECENT - 1), false, Confirmation::NotNeeded);
        check(Some(RECENT), true, Confirmation::Password);
        check(Some(RECENT), false, Confirmation::SignInAgain);
        check(Some(-1), true, Confirmation::Password);
        check(None, true, Confirmation::Password);
    }
}
