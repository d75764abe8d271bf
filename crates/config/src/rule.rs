//! Who may use something.

/// The roles of the one owner in the auth mode `local`.
pub const OWNER_ROLES: [&str; 1] = ["admin"];

/// Who may use an endpoint, an agent or a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Everybody, signed in or not.
    Public,
    /// Whoever is signed in.
    #[default]
    Protected,
    /// Whoever is signed in and has one of these roles; there is at least one.
    Roles(Vec<String>),
}

impl Rule {
    /// Whether everybody whom `other` lets in passes here, too.
    pub(crate) fn admits_all_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Public, _) => true,
            (_, Self::Public) | (Self::Roles(_), Self::Protected) => false,
            (Self::Protected, _) => true,
            (Self::Roles(here), Self::Roles(there)) => there.iter().all(|role| here.contains(role)),
        }
    }
}

/// As the end of a sentence: "the page is …".
impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Public => f.write_str("public"),
            Self::Protected => f.write_str("for whoever is signed in"),
            Self::Roles(roles) => {
                let what = if roles.len() == 1 { "role" } else { "roles" };
                write!(f, "for the {what} `{}`", roles.join("`, `"))
            }
        }
    }
}
