//! The names of users, for rows that contain only ids.

use crate::state::ConsoleState;
use auth::LOCAL_OWNER;
use leptos::prelude::*;
use std::collections::{BTreeSet, HashMap};
use web::admin::from_store_error;
use wire::UserError;

/// The names of users by id. Deleted users, and external users without API keys here, have no name.
pub(crate) struct UserNames(HashMap<String, String>);

impl UserNames {
    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        match self.0.get(id) {
            Some(name) => Some(name),
            None => (id == LOCAL_OWNER).then_some("Owner"),
        }
    }

    /// Renders the name with the id, since only the id is unique.
    pub(crate) fn view(&self, id: &str) -> AnyView {
        let id = id.to_owned();
        match self.get(&id).map(str::to_owned) {
            _ if id.is_empty() => "–".into_any(),
            Some(name) => view! { {name}" "<span class="cw-admin-id">{id}</span> }.into_any(),
            None => view! { <span class="cw-admin-id">{id}</span> }.into_any(),
        }
    }
}

/// Loads the names of users.
pub(crate) async fn load<'a>(state: &ConsoleState, ids: impl Iterator<Item = &'a str>) -> Result<UserNames, UserError> {
    let ids: BTreeSet<_> = ids.filter(|id| !id.is_empty()).collect();
    let ids = ids.into_iter().map(str::to_owned).collect();
    Ok(UserNames(state.store.user_names(ids).await.map_err(from_store_error)?))
}
