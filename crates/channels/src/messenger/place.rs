//! The address of a chat.

/// A chat, or a topic or thread of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChatPlace {
    pub(crate) chat: String,
    pub(crate) thread: Option<String>,
}

impl ChatPlace {
    pub(crate) fn new(chat: impl Into<String>, thread: Option<String>) -> Self {
        Self { chat: chat.into(), thread }
    }

    /// Parses what [`ChatPlace::to_string`] returns.
    pub(crate) fn parse(id: &str) -> Self {
        match id.split_once('/') {
            Some((chat, thread)) => Self::new(chat, Some(thread.to_owned())),
            None => Self::new(id, None),
        }
    }
}

/// `CHAT` or `CHAT/THREAD`.
impl std::fmt::Display for ChatPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.thread {
            Some(thread) => write!(f, "{}/{thread}", self.chat),
            None => f.write_str(&self.chat),
        }
    }
}
