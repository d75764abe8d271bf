//! The settings of a remote agent.

use crate::user::{EnteredVariables, UserService};
use secrecy::SecretString;
use std::fmt;
use std::time::Duration;
use url::Url;

/// The settings of a remote agent.
#[derive(Clone, Debug)]
pub struct RemoteAgentSettings {
    /// The URL to which `/tools` and `/resource` are appended: `https://`, or `http://` if private
    /// addresses are allowed. It may have only a host and a path.
    pub base_url: Url,
    /// Sent as `x-api-key` with every request.
    pub api_key: SecretString,
    /// Sent as `Authorization: Bearer …`.
    pub user_token: Option<UserToken>,
    /// Each is sent as a header with the prefix `x-`.
    pub variables: Vec<(String, SecretString)>,
    /// Variables that each user enters, sent in the same way.
    pub user_variables: Option<EnteredVariables>,
    /// The prefix of the tools' names for the model, as `prefix__name`, so that they differ from
    /// those of other servers.
    pub prefix: Option<String>,
    /// Whether addresses of this machine and its networks may be reached.
    pub allow_private: bool,
    /// The time limit of one tool call, from sending to the last byte of the answer.
    pub call_time: Duration,
}

/// The source of the bearer token.
#[derive(Clone)]
pub enum UserToken {
    /// The same token for everyone.
    Fixed(SecretString),
    /// The user's own token, which a run's scope has. Without it no request is made for the user. The
    /// list of tools is requested without a token, since it is the same for all users.
    Own,
    /// The user's token for this service. Without it no request is made for the user, and the list of tools is requested
    /// without it.
    Service(Box<UserService>),
}

impl fmt::Debug for UserToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed(_) => "Fixed(..)",
            Self::Own => "Own",
            Self::Service(_) => "Service(..)",
        })
    }
}
