//! The definition of the page that is shown.

use crate::prelude::*;
use wire::page::Page;

/// The definition of the current page, provided as a context.
#[derive(Clone, Copy)]
pub struct CurrentPage(pub StoredValue<Page>);
