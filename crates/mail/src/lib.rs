#![doc = include_str!("../README.md")]

mod send;
mod settings;

pub use send::{Mail, MailError, MailFile};
pub use settings::{Smtp, is_address, is_this_machine};

use capability::Definition;
use config::ConnectionType;

/// The capability.
pub const DEFINITION: Definition =
    Definition { connections: &[ConnectionType::of::<Smtp>()], ..Definition::new("mail") };
