//! Plain HTML pages, which need no script: their document, forms and tables.

mod account_pages;
mod browsers;
mod document;
mod forms;
mod numbers;
mod raw;
mod table;
mod visible;

pub use account_pages::{AccountGroup, AccountPage};
pub use browsers::browser_name;
pub use document::{
    account_content, account_page, account_part, document, document_with_frames, form_page, live_document,
    message_page, not_found_page, page, page_if_found, page_with_script, too_many_requests_page,
};
pub use forms::{
    error_message, row_button, row_button_with, select_box, success_message, text_area_content, text_with_code,
};
pub use numbers::{dollars, number, seconds};
pub use raw::escaped;
pub use table::{Heading, facts, link, name, short_id, table, table_of, text};
