//! How a remote agent is reached.

use secrecy::SecretString;
use std::fmt;
use std::time::Duration;
use url::Url;

/// How a remote agent is reached, and as whom.
#[derive(Clone, Debug)]
pub struct RemoteAgentSettings {
    /// What `/tools` and `/resource` are put behind: `https://`, or `http://` where private addresses are allowed. A host and a
    /// path, no more.
    pub base_url: Url,
    /// Sent as `x-api-key` with every request.
    pub api_key: SecretString,
    /// Sent as `Authorization: Bearer …`.
    pub user_token: Option<UserToken>,
    /// Each sent as `x-` and its name.
    pub variables: Vec<(String, SecretString)>,
    /// Put in front of each tool's name for the model, as `prefix__name`, so that no other server's tool has the same.
    pub prefix: Option<String>,
    /// Whether addresses of this machine and its networks may be reached.
    pub allow_private: bool,
    /// For one call of a tool, from sending to the last byte of the answer.
    pub call_time: Duration,
}

/// On whose behalf requests are made.
#[derive(Clone)]
pub enum UserToken {
    /// The same for everyone.
    Fixed(SecretString),
    /// The user's own, which comes with him (see [`RemoteSource::on_behalf`](super::RemoteSource::on_behalf)). Nothing is asked for him
    /// without it; the list of tools is asked for without one: no user is there.
    Own,
}

impl fmt::Debug for UserToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed(_) => "Fixed(..)",
            Self::Own => "Own",
        })
    }
}
