//! The other sites to which pages upload files: their own storages, see `attachments` in the chat's
//! composer.

use std::sync::Arc;

/// The allowed origins, as a Leptos context. The content security policy allows uploads to no
/// others.
#[derive(Clone, Debug, Default)]
pub struct UploadOrigins(pub Arc<[String]>);
