//! Database URLs.

use crate::Dialect;
use std::fmt;
use url::Url;

/// The parameters of a PostgreSQL URL. Unknown ones are refused rather than ignored, because a typo
/// may concern the password or TLS.
const PARAMETERS: &[&str] = &[
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// <https://www.postgresql.org/docs/current/libpq-ssl.html>
const SSL_MODES: &[&str] = &["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// An invalid database URL. The messages quote nothing, because any part of the URL may be a
/// password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// The scheme is unknown.
    Unknown,
    /// The URL has PostgreSQL's scheme, but cannot be parsed.
    Malformed,
    /// The URL has an unknown parameter after `?`.
    Parameter,
    /// The value of `sslmode` is unknown.
    SslMode,
}

impl AddressError {
    /// Returns a hint how to correct the URL.
    pub fn help(self) -> String {
        match self {
            Self::Unknown => "write `sqlite://PATH`, `sqlite::memory:` or `postgres://USER@HOST/DATABASE`".to_owned(),
            Self::Malformed => "write `postgres://USER:PASSWORD@HOST:5432/DATABASE`; in a name or a password, `@` is \
                                `%40`, `/` is `%2F`, `?` is `%3F`, `#` is `%23`, `%` is `%25`"
                .to_owned(),
            Self::Parameter => format!("the parameters after `?` can be {}", PARAMETERS.join(", ")),
            Self::SslMode => format!("one of {}", SSL_MODES.join(", ")),
        }
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "this is not the address of a database",
            Self::Malformed => "this is not the address of a PostgreSQL database",
            Self::Parameter => "this address has an unknown parameter",
            Self::SslMode => "this address has an unknown `sslmode`",
        })
    }
}

impl std::error::Error for AddressError {}

impl Dialect {
    /// Returns the dialect for a database URL: `sqlite:…`, `postgres://…` or `postgresql://…`.
    ///
    /// # Errors
    /// See [`AddressError`]. SQLite itself checks what follows `sqlite:`.
    pub fn from_address(address: &str) -> Result<Self, AddressError> {
        if address.starts_with("sqlite:") {
            return Ok(Self::Sqlite);
        }
        if !is_postgres(address) {
            return Err(AddressError::Unknown);
        }
        let url = Url::parse(address).map_err(|_| AddressError::Malformed)?;
        // The result of a `#` or `/` in a password that is not encoded.
        if url.fragment().is_some() || url.path().trim_start_matches('/').contains('/') {
            return Err(AddressError::Malformed);
        }
        url.query_pairs().try_for_each(|(name, value)| check_parameter(&name, &value))?;
        Ok(Self::Postgres)
    }
}

/// Returns whether a PostgreSQL URL contains a password.
pub fn has_password(address: &str) -> bool {
    let url = Url::parse(address).ok().filter(|_| is_postgres(address));
    url.is_some_and(|url| url.password().is_some() || url.query_pairs().any(|(name, _)| name == "password"))
}

fn is_postgres(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

fn check_parameter(name: &str, value: &str) -> Result<(), AddressError> {
    // `options[NAME]` sets one option.
    let is_known = PARAMETERS.contains(&name) || (name.starts_with("options[") && name.ends_with(']'));
    match name {
        _ if !is_known => Err(AddressError::Parameter),
        "sslmode" if !SSL_MODES.contains(&value) => Err(AddressError::SslMode),
        "port" if value.parse::<u16>().is_err() => Err(AddressError::Malformed),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_urls_are_recognized() {
        let check = |address: &str, expected: Result<Dialect, AddressError>| {
            assert_eq!(Dialect::from_address(address), expected, "{address}");
        };
        check("sqlite://data/a.db", Ok(Dialect::Sqlite));
        check("sqlite::memory:", Ok(Dialect::Sqlite));
        check("postgres://ada:secret@db.example.com:5433/shop?sslmode=require", Ok(Dialect::Postgres));
        check("postgresql://ada@%2Fvar%2Frun%2Fpostgresql/shop?options[search_path]=a", Ok(Dialect::Postgres));
        check("postgres:///shop?host=/var/run/postgresql&port=5433", Ok(Dialect::Postgres));
        check("postgres://a:p%40%2F%3F%23@h/d", Ok(Dialect::Postgres));
        check("mysql://host/db", Err(AddressError::Unknown));
        check("postgres:host/db", Err(AddressError::Unknown));
        check("data.db", Err(AddressError::Unknown));
        check("", Err(AddressError::Unknown));
        check("postgres://a:p?w@host/db", Err(AddressError::Malformed));
        check("postgres://a:1#w@host/db", Err(AddressError::Malformed));
        check("postgres://a:1/w@host/db", Err(AddressError::Malformed));
        check("postgres://host:99999/db", Err(AddressError::Malformed));
        check("postgres://host/db?port=x", Err(AddressError::Malformed));
        check("postgres://a:1?w@host/db", Err(AddressError::Parameter));
        check("postgres://host/db?sslmod=require", Err(AddressError::Parameter));
        check("postgres://host/db?sslmode=maybe", Err(AddressError::SslMode));
    }

    #[test]
    fn passwords_in_urls_are_detected() {
        let check = |address: &str, expected: bool| assert_eq!(has_password(address), expected, "{address}");
        check("postgres://ada:secret@host/db", true);
        check("postgresql://ada@host/db?password=secret", true);
        check("postgres://ada@host/db", false);
        check("sqlite://a:b@c", false);
    }
}
