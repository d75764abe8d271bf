//! The events of the list.

use crate::actions::BlockEvents;

/// The events of the list, as a Leptos context.
#[derive(Clone)]
pub(crate) struct ListEvents(pub(crate) BlockEvents);
