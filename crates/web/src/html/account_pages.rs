//! The pages to which the account page links.

/// The headings on the account page under which the links are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountGroup {
    /// How agents answer the user.
    Answers,
    /// What the user has made.
    Content,
    /// Other services and devices of the user.
    Connections,
    /// The server.
    Administration,
}

impl AccountGroup {
    /// All groups in the order of the page.
    pub const ALL: [Self; 4] = [Self::Answers, Self::Content, Self::Connections, Self::Administration];

    /// Returns the heading.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answers => "How agents answer",
            Self::Content => "What you have made",
            Self::Connections => "Connections",
            Self::Administration => "This server",
        }
    }
}

/// A page about the user, to which the account page links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountPage {
    /// The group.
    pub group: AccountGroup,
    /// The path of the page.
    pub path: &'static str,
    /// The text of the link.
    pub title: &'static str,
    /// What can be done there, in a few words.
    pub about: &'static str,
}
