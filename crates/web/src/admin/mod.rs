//! The building blocks of routes and pages of the admin console. The crate `admin_console` mounts the console's own
//! ones and those of capabilities.

mod csv;
mod errors;
mod extract;
pub mod filters;
mod layout;
pub mod list;
mod menu;
mod pager;
mod paging;
mod parts;
mod section;
mod user_names;

pub use crate::error::from_store_error;
pub use errors::PageError;
pub use extract::{Admin, ShowsAdministration, is_admin};
pub use layout::{live_page, page, page_with_frames};
pub use menu::{MAX_MENU_COUNT, Menu, MenuCount, MenuEntry, MenuGroup, MenuSources};
pub use parts::{delete_section, folded_text};
pub use section::Section;
pub use user_names::{UserNames, user_view};

use crate::openapi::{Access, Tag};
use auth::password::KeyScope;

/// The path of the page with the first steps on a new server.
pub const START_PATH: &str = "/admin/start";

/// The group of the console's routes in the OpenAPI document.
pub const ADMINISTRATION: Tag = Tag {
    name: "administration",
    description: "The admin console. Scope `admin`, and the role `admin`.",
    access: Access::Users { scope: Some(KeyScope::Admin) },
};
