//! What stands at the addresses.

pub mod missing;
pub mod page;

pub use missing::MissingPage;
pub use page::PageRoute;
