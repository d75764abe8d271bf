//! The events of the list, and what the page adds to it.

use crate::actions::BlockEvents;
use crate::properties::Properties;

/// The events of the list, and the `menu`, `creation` and `width` of the page, if it has any, as a
/// Leptos context.
#[derive(Clone)]
pub(crate) struct ListEvents(pub(crate) BlockEvents, pub(crate) Option<Properties>);
