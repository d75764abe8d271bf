//! The check before a company account is linked: someone at an unlocked browser, or with a stolen session,
//! must not be able to add a permanent way to sign in.

use crate::AccountError;
use auth::password::{Accounts, SecondStep, now_millis};
use store::SessionRow;

/// How old a session may be in which an account is linked without a further check, in milliseconds.
const RECENT: i64 = 10 * 60 * 1_000;

/// The confirmation that is needed before a company account is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmation {
    /// None: the user has signed in recently.
    NotNeeded,
    /// Entering the password.
    Password,
    /// Signing in again: the user has no password, or the password alone is not enough to sign in.
    SignInAgain,
}

impl Confirmation {
    /// Returns the confirmation that is needed in this session before an account is linked.
    pub(crate) async fn find(
        accounts: &Accounts,
        user_id: &str,
        session: Option<&SessionRow>,
    ) -> Result<Self, AccountError> {
        let age = session.map(|session| now_millis() - session.created_at);
        // Most users have just signed in: nothing needs to be looked up for them.
        if Self::at_age(age, false) == Self::NotNeeded {
            return Ok(Self::NotNeeded);
        }
        let is_password_enough = accounts.has_password(user_id).await?
            && matches!(accounts.second_step(user_id).await?, SecondStep::Nothing(_));
        Ok(Self::at_age(age, is_password_enough))
    }

    fn at_age(age: Option<i64>, is_password_enough: bool) -> Self {
        match age {
            Some(age) if (0..RECENT).contains(&age) => Self::NotNeeded,
            _ if is_password_enough => Self::Password,
            _ => Self::SignInAgain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Confirmation, RECENT};

    #[test]
    fn old_sessions_need_a_confirmation() {
        let check = |age: Option<i64>, is_password_enough: bool, expected: Confirmation| {
            assert_eq!(Confirmation::at_age(age, is_password_enough), expected, "{age:?} {is_password_enough}");
        };
        check(Some(0), true, Confirmation::NotNeeded);
        check(Some(RECENT - 1), false, Confirmation::NotNeeded);
        check(Some(RECENT), true, Confirmation::Password);
        check(Some(RECENT), false, Confirmation::SignInAgain);
        check(Some(-1), true, Confirmation::Password);
        check(None, true, Confirmation::Password);
    }
}
