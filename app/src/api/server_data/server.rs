//! The server's resources: Leptos resources, for which rendering waits and whose content is sent
//! with the page.

use super::{KeySource, LoadFn, LoadedContent, ViewFn};
use crate::api::transport::codec::ValueJson;
use crate::prelude::*;
use leptos::server;

/// Content that is loaded once.
#[derive(Clone, Copy)]
pub(super) struct Resource(server::Resource<LoadedContent, ValueJson>);

impl Resource {
    pub(super) fn new(source: KeySource, load: LoadFn, blocking: bool) -> Self {
        Self(server::Resource::new_with_options(source, move |(_, id)| load(id), blocking))
    }

    pub(super) fn view(self, view: ViewFn) -> AnyView {
        // Not in a closure: Leptos calls it twice, and the view would be created, and would load
        // its data, twice.
        let shown = Suspend::new(async move { view(self.0.await) });
        view! { <Transition>{shown}</Transition> }.into_any()
    }

    /// Has no effect on the server, where nothing changes while a page is rendered.
    pub(super) fn refetch(self) {
        self.0.refetch();
    }
}
