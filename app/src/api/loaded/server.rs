//! The server's half: a resource of Leptos, which waits while the page is rendered and sends along what was loaded.

use super::{Content, Load, Source, View};
use crate::api::codec::ValueJson;
use crate::prelude::*;
use leptos::server;

/// What is loaded.
#[derive(Clone, Copy)]
pub(super) struct Resource(server::Resource<Content, ValueJson>);

impl Resource {
    pub(super) fn new(source: Source, load: Load, blocking: bool) -> Self {
        Self(server::Resource::new_with_options(source, move |(_, id)| load(id), blocking))
    }

    pub(super) fn view(self, view: View) -> AnyView {
        // Not in a closure: Leptos calls one twice, and what is in the view would be made, and would load, as often.
        let shown = Suspend::new(async move { view(self.0.await) });
        view! { <Transition>{shown}</Transition> }.into_any()
    }

    /// Nothing changes while a page is rendered.
    pub(super) fn refetch(self) {
        self.0.refetch();
    }
}
