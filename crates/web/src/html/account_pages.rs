//! The pages to which the account page links.

/// The headings on the account page under which the links are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountGroup {
    /// Settings of the answers of agents to the user.
    Answers,
    /// Things that the user has made.
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
    /// The purpose of the page, in a few words.
    pub about: &'static str,
}
