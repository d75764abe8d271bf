//! The screens that are opened, from `screens.txt`.

use anyhow::{Context, Result, bail};

const SCREENS: &str = include_str!("screens.txt");

/// The user who opens a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visitor {
    /// An administrator.
    Admin,
    /// A user with very many conversations.
    Busy,
    /// A user like most others.
    Member,
}

impl Visitor {
    /// Returns the header with the session that the filled database has.
    pub(super) fn cookie(self) -> &'static str {
        match self {
            Self::Admin => "cw_session=bench",
            Self::Busy => "cw_session=bench-busy",
            Self::Member => "cw_session=bench-member",
        }
    }

    /// Returns the name in the tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Admin => "an administrator",
            Self::Busy => "a busy user",
            Self::Member => "a user",
        }
    }
}

/// A screen as one kind of user opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Screen {
    /// The path with the query.
    pub(super) address: String,
    pub(super) visitor: Visitor,
}

impl Screen {
    /// Returns whether it is a file of a whole list or conversation, which grows with what it contains.
    pub(super) fn is_file(&self) -> bool {
        let path = self.address.split('?').next().unwrap_or_default();
        path.ends_with(".csv") || path.ends_with("/export")
    }
}

/// Returns all screens that are measured.
pub(super) fn all() -> Result<Vec<Screen>> {
    let lines = SCREENS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut screens = Vec::new();
    for line in lines {
        screens.extend(read_line(line).with_context(|| line.to_owned())?);
    }
    Ok(screens)
}

/// Reads a line: a route, who opens it, and addresses or why it is not measured.
fn read_line(line: &str) -> Result<Vec<Screen>> {
    let mut words = line.split_whitespace().skip(1);
    let visitors: &[Visitor] = match words.next() {
        Some("all") => &[Visitor::Admin, Visitor::Busy, Visitor::Member],
        Some("admin") => &[Visitor::Admin],
        Some("busy") => &[Visitor::Busy],
        Some("-") => return Ok(Vec::new()),
        other => bail!("{other:?} is not a kind of user"),
    };
    let screen = |address: &str| visitors.iter().map(move |&visitor| (address.to_owned(), visitor)).collect::<Vec<_>>();
    Ok(words.flat_map(screen).map(|(address, visitor)| Screen { address, visitor }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_screen_for_each_address_and_kind_of_user() {
        let check = |line: &str, expected: &str| {
            let screens = read_line(line).unwrap();
            let seen: Vec<_> =
                screens.iter().map(|screen| format!("{} by {}", screen.address, screen.visitor.name())).collect();
            assert_eq!(seen.join(", "), expected, "{line}");
        };
        check("/a busy /a /a?b=1", "/a by a busy user, /a?b=1 by a busy user");
        check("/{page} all /a", "/a by an administrator, /a by a busy user, /a by a user");
        check("/a/{id} - there is none", "");
        assert!(read_line("/a").is_err());
        assert!(read_line("/a nobody /a").is_err());
    }

    #[test]
    fn all_lines_can_be_read() {
        let screens = all().unwrap();
        assert!(screens.len() > 100, "{}", screens.len());
        assert!(screens.iter().all(|screen| screen.address.starts_with('/')), "{screens:?}");
    }
}
