//! The names of users, for rows that contain only ids.

use super::from_store_error;
use auth::LOCAL_OWNER;
use leptos::prelude::*;
use std::collections::{BTreeSet, HashMap};
use store::Store;
use wire::UserError;

/// The names of users by id. Deleted users, and external users without API keys here, have no name.
#[derive(Debug)]
pub struct UserNames(HashMap<String, String>);

impl UserNames {
    /// Loads the names of users.
    ///
    /// # Errors
    /// The database is not available.
    pub async fn load<'a>(store: &Store, ids: impl Iterator<Item = &'a str>) -> Result<Self, UserError> {
        let ids: BTreeSet<_> = ids.filter(|id| !id.is_empty()).collect();
        let ids = ids.into_iter().map(str::to_owned).collect();
        Ok(Self(store.user_names(ids).await.map_err(from_store_error)?))
    }

    /// Returns the name of a user.
    pub fn get(&self, id: &str) -> Option<&str> {
        match self.0.get(id) {
            Some(name) => Some(name),
            None => (id == LOCAL_OWNER).then_some("Owner"),
        }
    }

    /// Renders a user.
    pub fn view(&self, id: &str) -> AnyView {
        user_view(id, self.get(id))
    }
}

/// Renders a user: the name with the id, since only the id is unique.
pub fn user_view(id: &str, name: Option<&str>) -> AnyView {
    let (id, name) = (id.to_owned(), name.map(str::to_owned));
    match name {
        _ if id.is_empty() => "–".into_any(),
        // One element, because the cells of narrow tables arrange their children.
        Some(name) => view! { <span>{name}" "<span class="cw-admin-id">{id}</span></span> }.into_any(),
        None => view! { <span class="cw-admin-id">{id}</span> }.into_any(),
    }
}
