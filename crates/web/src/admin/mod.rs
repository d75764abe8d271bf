//! What routes and pages of the admin console are made of. The crate `admin_console` mounts the console's
//! own ones and those of capabilities.

pub mod csv;
mod errors;
mod extract;
mod layout;
pub mod lists;

pub use errors::{PageError, from_store_error};
pub use extract::{Admin, is_admin};
pub use layout::{Menu, MenuEntry, page};
