//! The browser's resources: the content that came with the page, and later loads. Replaces Leptos'
//! resources and `Suspense`, which do more than is needed here and would make up a twentieth of
//! every page's download.

use super::{KeySource, LoadFn, LoadKey, LoadedContent, ViewFn};
use crate::api::transport::codec;
use crate::prelude::*;
use leptos::reactive::computed::ScopedFuture;
use leptos::task::spawn_local;

/// Content that is loaded and reloaded.
#[derive(Clone, Copy)]
pub(super) struct Resource {
    /// The latest content; it stays while new content is loaded.
    content: RwSignal<Option<LoadedContent>>,
    /// The number of calls of [`Self::refetch`].
    refetches: RwSignal<u32>,
}

impl Resource {
    /// Creates the resource. `_blocking` has a meaning on the server only.
    pub(super) fn new(source: KeySource, load: LoadFn, _blocking: bool) -> Self {
        let initial = content_from_page();
        let refetches = RwSignal::new(0);
        let wanted = move || (refetches.get(), source());
        let mut known: Option<(u32, LoadKey)> = initial.is_some().then(|| untrack(&wanted));
        let content = RwSignal::new(initial);
        // The number of the latest load: results of earlier ones are dropped.
        let last = StoredValue::new(0_u32);
        Effect::new(move |_| {
            let wanted = wanted();
            if known.as_ref() == Some(&wanted) {
                return;
            }
            let (_, (_, id)) = known.insert(wanted).clone();
            // Runs with the current contexts, so that error messages are in the language of the
            // block.
            let loading = untrack(|| ScopedFuture::new_untracked(load(id)));
            let attempt = last.get_value() + 1;
            last.set_value(attempt);
            spawn_local(async move {
                let loaded = loading.await;
                // The result is dropped too if the view is gone.
                if last.try_get_value() == Some(attempt) {
                    content.set(Some(loaded));
                }
            });
        });
        Self { content, refetches }
    }

    pub(super) fn view(self, view: ViewFn) -> AnyView {
        // Takes the id that the suspended view takes on the server.
        if let Some(page) = Owner::current_shared_context() {
            page.next_id();
        }
        (move || self.content.get().map(&view)).into_any()
    }

    pub(super) fn refetch(self) {
        self.refetches.update(|refetches| *refetches += 1);
    }
}

/// Reads the content that the server loaded. Content is matched by id: resources and the views that
/// show them take ids in the same order on the server and in the browser. If the server renders a
/// page several times, the ids of the first rendering come first.
fn content_from_page() -> Option<LoadedContent> {
    let page = Owner::current_shared_context()?;
    let written = page.read_data(&page.next_id())?;
    codec::parse_json(&written).ok()
}
