#![doc = include_str!("../README.md")]

mod send;
mod settings;

pub use send::{Mail, MailError, MailFile};
pub use settings::{Smtp, is_address};

use capability::Definition;
use config::ConnectionType;

/// The capability.
pub const DEFINITION: Definition =
    Definition { connections: &[ConnectionType::of::<Smtp>()], ..Definition::new("mail") };
