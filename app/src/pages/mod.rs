//! The pages and their layout: regions, bar, drawers and messages.

pub mod account;
pub mod agent_changes;
pub mod announcer;
pub mod bar;
pub mod current_page;
pub mod drawer;
pub mod layout;
pub mod missing;
pub mod notices;
pub mod page;
pub mod regions;
pub mod rust_page;

pub use current_page::CurrentPage;
pub use missing::MissingPage;
pub use page::{PageFrame, PageRoute, provide_page};
pub use regions::{PageRegions, RegionNames, RegionView};
pub use rust_page::{RustPage, RustParts, RustTool, ToolAnnotations};
