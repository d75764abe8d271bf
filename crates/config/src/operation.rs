//! What keeps a server in order that many people use: how often they may ask, how long what they said is kept.

use crate::rule::Rule;
use indexmap::IndexMap;
use std::time::Duration;

/// How often one user or one address may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// For what.
    pub what: RateOf,
    /// Who is counted.
    pub per: RatePer,
    /// So many at once, and so many in each `span` from then on.
    pub requests: u32,
    /// In which they come back.
    pub span: Duration,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateOf {
    /// Anything but the files of the site.
    All,
    /// An agent's answer.
    Chat,
    /// An endpoint.
    Endpoints,
    /// To be signed in, or a new account.
    SignIn,
}

/// Who is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RatePer {
    /// A user; who is not signed in counts by the cookie of the browser.
    User,
    /// An address; of IPv6, its network of 64 bits.
    Address,
}

/// How long things are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Conversations, after the last change to them; for ever without it.
    pub conversations: Option<Duration>,
    /// The same for those with single agents, by id.
    pub agents: IndexMap<String, Duration>,
    /// Conversations that their owners have pinned stay.
    pub keeps_pinned: bool,
    /// Temporary conversations, after they were made so.
    pub temporary: Duration,
    /// Questions of programs, after their end; for ever without it.
    pub questions: Option<Duration>,
}

/// What administrators may make agents of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomAgents {
    /// Agents of the config that they are made from; there is at least one.
    pub from: Vec<String>,
    /// Who may ask them.
    pub auth: Rule,
}
