#![doc = include_str!("../README.md")]

mod address;
mod statement;
mod token;

pub use address::{AddressError, has_password};
pub use statement::Statement;

/// The SQL dialect of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite: <https://sqlite.org/lang.html>
    #[default]
    Sqlite,
    /// PostgreSQL: <https://www.postgresql.org/docs/current/sql-syntax-lexical.html>
    Postgres,
}
