//! The second factor of users who sign in with a password: codes of an authenticator app (TOTP, RFC 6238), or recovery
//! codes in their place.

mod app;
mod pending;
mod recovery;

pub use app::NewApp;
pub use pending::{PendingApp, PendingStep, StepKind};

use super::Accounts;
use crate::sealing::SealingKeys;
use crate::token_parts::now_millis;
use config::{AccountAuth, SecondFactorMode};
use secrecy::ExposeSecret;
use store::{NewSecondFactor, SecondFactor, SecondFactorProof, StoreError};

/// Keep the keys apart from other uses of the same secrets.
const SECRETS: &[u8] = b"chatwright second factor secrets 1\0";
const STEPS: &[u8] = b"chatwright second factor steps 1\0";

/// The settings and the keys of second factors.
pub struct SecondFactors {
    /// Who is asked.
    pub mode: SecondFactorMode,
    /// Encrypt the secrets of apps in the database; empty if nobody can set one up.
    secrets: SealingKeys,
    /// Encrypt sign-ins between the password and the code.
    steps: SealingKeys,
}

/// The next step of a user after entering their password.
#[derive(Clone, PartialEq, Eq)]
pub enum SecondStep {
    /// Nothing: what to begin the session with.
    Nothing(SecondFactorProof),
    /// Showing a code.
    Code,
    /// Setting up an app, since the config requires one.
    SetUp,
}

/// The result of checking a code.
#[derive(Clone, PartialEq, Eq)]
pub enum CodeCheck {
    /// The code is right; it is used up by whatever the proof is for.
    Right(SecondFactorProof),
    /// The code is wrong, or was used before.
    Wrong,
    /// Codes of the app cannot be checked, because the key that encrypts its secret is missing.
    Unreadable,
    /// Codes of the app are not accepted any more, because too many were wrong.
    Locked,
}

/// A new app with its recovery codes, which are shown only once.
pub struct ConfirmedApp {
    /// The stored state.
    pub new: NewSecondFactor,
    /// The recovery codes as the user gets them.
    pub recovery_codes: Vec<String>,
}

impl SecondFactors {
    /// Creates the keys from the settings and from the secrets that sign cookies.
    pub(crate) fn new<'a>(settings: &AccountAuth, cookies: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let secrets = settings.second_factor_keys.iter().map(|key| key.expose_secret().as_bytes());
        Self {
            mode: settings.second_factor,
            secrets: SealingKeys::new(SECRETS, secrets),
            steps: SealingKeys::new(STEPS, cookies),
        }
    }

    /// Returns whether users can set up an app.
    pub fn is_available(&self) -> bool {
        self.mode != SecondFactorMode::Off && !self.secrets.is_empty()
    }
}

impl Accounts {
    /// Returns what a user does after entering their password. Whoever has set up an app is asked even if the keys are
    /// missing: a mistake in the config must not take the protection away.
    ///
    /// # Errors
    /// The database failed.
    pub async fn second_step(&self, user_id: &str) -> Result<SecondStep, StoreError> {
        let mode = self.second_factors.mode;
        if mode == SecondFactorMode::Off {
            return Ok(SecondStep::Nothing(SecondFactorProof::NotAsked));
        }
        Ok(match self.store.second_factor(user_id).await? {
            Some(_) => SecondStep::Code,
            None if mode == SecondFactorMode::Required => SecondStep::SetUp,
            None => SecondStep::Nothing(SecondFactorProof::None),
        })
    }

    /// Checks a code of a user's app, or a recovery code. It is not used up yet. Codes of the app are counted; recovery
    /// codes are too long to be guessed.
    ///
    /// # Errors
    /// The database failed.
    pub async fn check_code(&self, user_id: &str, factor: &SecondFactor, code: &str) -> Result<CodeCheck, StoreError> {
        let code = recovery::normalized(code);
        if !app::is_code(&code) {
            let hash = recovery::hash(user_id, &code);
            return Ok(if factor.recovery_codes.contains(&hash) {
                CodeCheck::Right(SecondFactorProof::RecoveryCode(hash))
            } else {
                CodeCheck::Wrong
            });
        }
        let Some(secret) = self.second_factors.secrets.open(user_id.as_bytes(), &factor.secret) else {
            tracing::error!("the secret of an authenticator app cannot be read with the keys of `secondFactorKeys`");
            return Ok(CodeCheck::Unreadable);
        };
        if !self.store.count_app_code(user_id).await? {
            return Ok(CodeCheck::Locked);
        }
        let step = app::matching_step(&secret, &code, now_millis()).filter(|step| *step > factor.last_step);
        Ok(match step {
            Some(step) => CodeCheck::Right(SecondFactorProof::Code { secret: factor.secret.clone(), step }),
            None => CodeCheck::Wrong,
        })
    }

    /// Checks the code that confirms a new app, and returns what to store and the recovery codes. `None` if the code is
    /// wrong.
    pub fn confirm_app(&self, user_id: &str, app: &PendingApp, code: &str) -> Option<ConfirmedApp> {
        let secret = app::secret_from_text(&app.secret)?;
        let step = app::matching_step(&secret, &recovery::normalized(code), now_millis())?;
        let sealed = self.second_factors.secrets.seal(user_id.as_bytes(), &secret)?;
        let (recovery_codes, hashes) = self.new_recovery_codes(user_id);
        Some(ConfirmedApp { new: NewSecondFactor { secret: sealed, step, recovery_codes: hashes }, recovery_codes })
    }

    /// Returns new recovery codes, and their hashes to store.
    pub fn new_recovery_codes(&self, user_id: &str) -> (Vec<String>, Vec<String>) {
        let codes = recovery::new_codes();
        let hashes = codes.iter().map(|code| recovery::hash(user_id, &recovery::normalized(code))).collect();
        (codes, hashes)
    }
}
