#![doc = include_str!("../README.md")]

pub mod admin;
mod api_format;
mod archive;
mod body;
mod download;
mod error;
mod event_stream;
mod file_content;
pub mod frame;
pub mod html;
pub mod openapi;
mod redirect;
mod request;
mod sent_fields;
pub mod times;
mod upload;

pub use api_format::ApiFormat;
pub use archive::{ArchivePart, archive_download};
pub use body::{busy, offloaded, read_body, read_json_body};
pub use download::{content_disposition, conversation_file_name, download, safe_file_name};
pub use error::{HttpError, SentJson, SentQuery, status_of, valid_json, valid_query};
pub use event_stream::EventStream;
pub use file_content::{FileContent, SentFile};
pub use redirect::{SIGN_IN_PATH, query_encoded, see_other, with_cookie, with_retry_after};
pub use request::{
    API_KEYS_REFUSED, Origin, RequestContext, refuse_api_keys, require_account, require_signed_in, signed_in,
};
pub use sent_fields::SentFields;
pub use upload::read_rest;
