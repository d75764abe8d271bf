//! To which other sites pages send files: storages of the page's own, see `attachments` in a chat's composer.

use std::sync::Arc;

/// The sites, as origins; by context. The page's policy lets a browser reach no other.
#[derive(Clone, Debug, Default)]
pub struct Uploads(pub Arc<[String]>);
