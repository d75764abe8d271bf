//! The names of users, where rows have their ids only.

use super::of_store;
use crate::auth::LOCAL_OWNER;
use crate::router::AppState;
use leptos::prelude::*;
use std::collections::{BTreeSet, HashMap};
use wire::UserError;

/// The names of the users with these ids, as far as they are known here: users who were deleted, or who are kept elsewhere and
/// have no API keys here, have none.
pub(super) struct Names(HashMap<String, String>);

impl Names {
    pub(super) fn get(&self, id: &str) -> Option<&str> {
        match self.0.get(id) {
            Some(name) => Some(name),
            None => (id == LOCAL_OWNER).then_some("Owner"),
        }
    }

    /// The name with the id behind it, which alone is unique.
    pub(super) fn shown(&self, id: &str) -> AnyView {
        let id = id.to_owned();
        match self.get(&id).map(str::to_owned) {
            _ if id.is_empty() => "–".into_any(),
            Some(name) => view! { {name}" "<span class="cw-admin-id">{id}</span> }.into_any(),
            None => view! { <span class="cw-admin-id">{id}</span> }.into_any(),
        }
    }
}

/// Reads the names of users.
pub(super) async fn of<'a>(state: &AppState, ids: impl Iterator<Item = &'a str>) -> Result<Names, UserError> {
    let ids: BTreeSet<_> = ids.filter(|id| !id.is_empty()).collect();
    let ids = ids.into_iter().map(str::to_owned).collect();
    Ok(Names(state.composition.store.names_of(ids).await.map_err(of_store)?))
}
