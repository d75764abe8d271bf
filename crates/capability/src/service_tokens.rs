//! Tokens of users for services that are called on their behalf: one capability provides them, and others send them.

use contract::{Bearer, MAX_USER_WAIT, RunScope, ToolContext, ToolError};
use futures::FutureExt;
use futures::future::BoxFuture;
use secrecy::SecretString;
use settings::user_auth::{Service, SignInTokens, UserVariables};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often a call is made again with another token.
pub const MAX_TOKEN_RENEWALS: usize = 2;
/// How often a waiting call checks whether the user has connected their account. They may do it at any server of the
/// database.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Provides tokens of users.
pub trait ProvideTokens: Send + Sync + 'static {
    /// Returns the token with which a service is called for the user of a run. It may have to be requested from an
    /// authorization server first.
    fn token<'a>(&'a self, service: &'a Service, scope: &'a RunScope) -> BoxFuture<'a, Result<Bearer, TokenProblem>>;

    /// Records that the service has refused a token, with the value of its `WWW-Authenticate`, and returns what is next.
    fn refused<'a>(
        &'a self,
        service: &'a Service,
        scope: &'a RunScope,
        refusal: TokenRefusal<'a>,
    ) -> BoxFuture<'a, AfterRefusal>;

    /// Returns when the user has connected their account last, as Unix time in milliseconds; `None` if they have not, or
    /// no account is needed.
    fn connected_at<'a>(&'a self, service: &'a Service, scope: &'a RunScope) -> BoxFuture<'a, Option<i64>>;

    /// Returns what the user of a run has entered for variables, by key.
    ///
    /// # Errors
    /// It cannot be read now. The message is for the model.
    fn variables<'a>(
        &'a self,
        wanted: &'a UserVariables,
        scope: &'a RunScope,
    ) -> BoxFuture<'a, Result<UserValues, String>>;

    /// Returns the path of the page on which users connect the account at a service, and enter variables.
    fn page(&self, service: &str) -> String;

    /// Keeps what a provider has issued to a user who has signed in there, if it is exchanged for tokens of services.
    fn keep_sign_in<'a>(&'a self, _user_id: &'a str, _tokens: SignInTokens) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The values that a user has entered, by key.
pub type UserValues = BTreeMap<String, SecretString>;

/// A refused token.
#[derive(Clone, Copy, Debug)]
pub struct TokenRefusal<'a> {
    /// The token.
    pub token: &'a Bearer,
    /// The value of `WWW-Authenticate`; empty if there was none.
    pub challenge: &'a str,
}

/// The next step after a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// There may be another token, so the request can be made once more.
    Retry,
    /// The user has to connect their account, or to agree to more.
    Connect {
        /// The path of the page for it.
        page: String,
    },
}

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenProblem {
    /// The user has to connect their account.
    NotConnected {
        /// The path of the page for it.
        page: String,
    },
    /// The user has to sign in with their company account again.
    SignInAgain {
        /// The path of the page for it.
        page: String,
    },
    /// There is none, now or at all. The message is for the model, as a sentence.
    Failed(String),
}

impl TokenProblem {
    /// Returns the message for the model.
    pub fn message(&self, service: &Service) -> String {
        match self {
            Self::NotConnected { page } => format!(
                "Not run: the user has not connected their account at `{}`. Tell them that they can do it on the page {page} \
                 of this site.",
                service.name
            ),
            Self::SignInAgain { page } => format!(
                "Not run: the user's sign-in is no longer valid for `{}`. Tell them to sign in again on the page {page} of \
                 this site.",
                service.name
            ),
            Self::Failed(message) => message.clone(),
        }
    }

    /// Returns what the user can do about it, as a sentence for them; `None` if they can do nothing.
    pub fn advice(&self, service: &Service) -> Option<String> {
        match self {
            Self::NotConnected { page } => Some(format!("Connect your account at {} first: {page}", service.name)),
            Self::SignInAgain { page } => Some(format!("Sign in again first, {} needs it: {page}", service.name)),
            Self::Failed(_) => None,
        }
    }

    /// Returns what the user is asked for, and the path of the page for it; `None` if they can do nothing.
    fn question(&self, service: &Service) -> Option<(String, &str)> {
        match self {
            Self::NotConnected { page } => Some((format!("Connect your account at {} to go on.", service.name), page)),
            Self::SignInAgain { page } => Some((format!("Sign in again to go on: {} needs it.", service.name), page)),
            Self::Failed(_) => None,
        }
    }
}

/// Asks users in their conversations to open a page of this site.
pub trait AskToOpen: Send + Sync + 'static {
    /// Shows the page and waits for what the user does, or until `done` is cancelled because they have done on the page what
    /// it is for. The caller drops the future when the call ends.
    fn ask_to_open(&self, page: PageToOpen, context: ToolContext, done: CancellationToken) -> BoxFuture<'static, bool>;
}

/// A page of this site that the user is to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageToOpen {
    /// The name of the service for which it is.
    pub service: String,
    /// Why.
    pub message: String,
    /// The path, with a query.
    pub path: String,
}

/// The source of tokens of users, and the part that asks users to connect their accounts: capabilities set both when they start.
/// Cheap to clone.
#[derive(Clone, Default)]
pub struct ServiceTokens(Arc<Inner>);

#[derive(Default)]
struct Inner {
    tokens: OnceLock<Arc<dyn ProvideTokens>>,
    ask: OnceLock<Arc<dyn AskToOpen>>,
}

impl ServiceTokens {
    /// Sets what has the tokens. Only the first one counts.
    pub fn provide(&self, tokens: Arc<dyn ProvideTokens>) {
        if self.0.tokens.set(tokens).is_err() {
            tracing::warn!("two capabilities have tokens of users; the first one is used");
        }
    }

    /// Sets what asks users. Only the first one counts.
    pub fn ask_with(&self, ask: Arc<dyn AskToOpen>) {
        if self.0.ask.set(ask).is_err() {
            tracing::warn!("two capabilities ask users to open pages; the first one is used");
        }
    }

    /// Returns the token for the user of a run. See [`ProvideTokens::token`].
    ///
    /// # Errors
    /// There is none.
    pub async fn token(&self, service: &Service, scope: &RunScope) -> Result<Bearer, TokenProblem> {
        let none = || TokenProblem::Failed("This server has no accounts of users at other services.".to_owned());
        self.0.tokens.get().ok_or_else(none)?.token(service, scope).await
    }

    /// Returns the token for a call. If the user has to connect their account first, they are asked to, and the call
    /// waits for it.
    ///
    /// # Errors
    /// There is no token; the message is for the model.
    pub async fn token_for_call(&self, service: &Service, context: &ToolContext) -> Result<Bearer, ToolError> {
        let failed = |problem: TokenProblem| ToolError::new(problem.message(service));
        let problem = match self.token(service, &context.scope).await {
            Ok(token) => return Ok(token),
            Err(problem) => problem,
        };
        let Some((message, page)) = problem.question(service) else { return Err(failed(problem)) };
        match self.connect(service, context, page, message).await {
            Connected::Yes => self.token(service, &context.scope).await.map_err(failed),
            Connected::No => Err(declined(service, &problem)),
            Connected::NotAsked => Err(failed(problem)),
        }
    }

    /// Handles the refusal of a call's token. The user is asked if they have to do something. Returns whether the call,
    /// which has not run, can be made once more.
    pub async fn renew_for_call(&self, service: &Service, context: &ToolContext, refusal: TokenRefusal<'_>) -> bool {
        match self.refused(service, &context.scope, refusal).await {
            AfterRefusal::Retry => true,
            AfterRefusal::Connect { page } => {
                let message = format!("{} needs you to connect your account again, or to allow more.", service.name);
                matches!(self.connect(service, context, &page, message).await, Connected::Yes)
            }
        }
    }

    /// Records that a service has refused a token. See [`ProvideTokens::refused`].
    pub async fn refused(&self, service: &Service, scope: &RunScope, refusal: TokenRefusal<'_>) -> AfterRefusal {
        match self.0.tokens.get() {
            Some(tokens) => tokens.refused(service, scope, refusal).await,
            None => AfterRefusal::Retry,
        }
    }

    /// Keeps what a provider has issued at a sign-in. See [`ProvideTokens::keep_sign_in`].
    pub async fn keep_sign_in(&self, user_id: &str, tokens: SignInTokens) {
        if let Some(provider) = self.0.tokens.get() {
            provider.keep_sign_in(user_id, tokens).await;
        }
    }

    /// Returns what the user has entered for variables.
    ///
    /// # Errors
    /// It cannot be read, or a required one is missing.
    pub async fn variables(&self, wanted: &UserVariables, scope: &RunScope) -> Result<UserValues, VariableProblem> {
        let none = || VariableProblem::Failed("This server stores nothing that users enter.".to_owned());
        let tokens = self.0.tokens.get().ok_or_else(none)?;
        let mut values = tokens.variables(wanted, scope).await.map_err(VariableProblem::Failed)?;
        values.retain(|key, _| wanted.variables.iter().any(|variable| variable.key == *key));
        let is_missing = |key: &String| !values.contains_key(key);
        match wanted.variables.iter().find(|variable| variable.is_required && is_missing(&variable.key)) {
            Some(missing) => {
                Err(VariableProblem::Missing { name: missing.name.clone(), page: tokens.page(&wanted.connection) })
            }
            None => Ok(values),
        }
    }

    /// Returns what the user has entered, for a call. If something is missing, they are asked to enter it, and the call
    /// waits for it.
    ///
    /// # Errors
    /// Something is missing. The message is for the model.
    pub async fn variables_for_call(
        &self,
        wanted: &UserVariables,
        context: &ToolContext,
    ) -> Result<UserValues, ToolError> {
        let connection = &wanted.connection;
        let problem = match self.variables(wanted, &context.scope).await {
            Ok(values) => return Ok(values),
            Err(problem) => problem,
        };
        if let VariableProblem::Missing { name, page } = &problem {
            let message = format!("{connection} needs your value for “{name}” to go on.");
            let scope = &*context.scope;
            let is_there = move || async move { self.variables(wanted, scope).await.is_ok() }.boxed();
            let page = PageToOpen { service: connection.clone(), message, path: page.clone() };
            if let Connected::Yes = self.ask_and_wait(page, context, is_there).await {
                let entered = self.variables(wanted, &context.scope).await;
                return entered.map_err(|problem| ToolError::new(problem.message(connection)));
            }
        }
        Err(ToolError::new(problem.message(connection)))
    }

    /// Asks the user to connect their account, and waits until they have.
    async fn connect(&self, service: &Service, context: &ToolContext, page: &str, message: String) -> Connected {
        let Some(tokens) = self.0.tokens.get() else { return Connected::NotAsked };
        let (tokens, scope) = (tokens.as_ref(), &*context.scope);
        let before = tokens.connected_at(service, scope).await;
        let is_connected = move || {
            async move { tokens.connected_at(service, scope).await.is_some_and(|at| before != Some(at)) }.boxed()
        };
        let page = PageToOpen { service: service.name.clone(), message, path: page.to_owned() };
        self.ask_and_wait(page, context, is_connected).await
    }

    /// Asks the user to open a page, and waits until they have done there what they were asked for.
    async fn ask_and_wait<'a>(
        &self,
        page: PageToOpen,
        context: &ToolContext,
        is_done: impl Fn() -> BoxFuture<'a, bool> + Send + Sync,
    ) -> Connected {
        let Some(ask) = self.0.ask.get() else { return Connected::NotAsked };
        if !context.scope.shows_questions || context.scope.conversation_id.is_empty() {
            return Connected::NotAsked;
        }
        let _waiting = context.reports.wait_for_user();
        let until = Instant::now() + MAX_USER_WAIT;
        let done = CancellationToken::new();
        let asked = ask.ask_to_open(page, context.clone(), done.clone());
        let waited = async {
            let looked = async {
                while Instant::now() < until {
                    tokio::time::sleep(LOOK_INTERVAL).await;
                    if is_done().await {
                        done.cancel();
                        return true;
                    }
                }
                false
            };
            tokio::pin!(looked, asked);
            tokio::select! {
                is_agreed = &mut asked => is_agreed && looked.await,
                // The user may have found the page by themselves.
                is_done = &mut looked => is_done && asked.await,
            }
        };
        match context.cancel.run_until_cancelled(waited).await {
            Some(true) => Connected::Yes,
            Some(false) | None => Connected::No,
        }
    }
}

/// Why a variable cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableProblem {
    /// The user has to enter it.
    Missing {
        /// Its name.
        name: String,
        /// The path of the page for it.
        page: String,
    },
    /// It cannot be read. The message is for the model, as a sentence.
    Failed(String),
}

impl VariableProblem {
    /// Returns the message for the model.
    pub fn message(&self, connection: &str) -> String {
        match self {
            Self::Missing { name, page } => format!(
                "Not run: the user has not entered “{name}” for `{connection}`. Tell them that they can do it on the page \
                 {page} of this site."
            ),
            Self::Failed(message) => message.clone(),
        }
    }
}

/// Whether the user has done what they were asked for.
enum Connected {
    Yes,
    No,
    /// Nobody can be asked here.
    NotAsked,
}

fn declined(service: &Service, problem: &TokenProblem) -> ToolError {
    ToolError::new(match problem {
        TokenProblem::SignInAgain { .. } => {
            format!("Not run: the user has not signed in again for `{}`.", service.name)
        }
        _ => format!("Not run: the user has not connected their account at `{}`.", service.name),
    })
}

/// Formats whether there are tokens.
impl fmt::Debug for ServiceTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceTokens").field("is_provided", &self.0.tokens.get().is_some()).finish()
    }
}
