//! The browser's half: what came with the page, and what is loaded after it. Leptos' resources can do more than is needed here, and with what
//! waits for them (`Suspense`) were a twentieth of what every page downloads.

use super::{Content, Key, Load, Source, View};
use crate::api::codec;
use crate::prelude::*;
use leptos::reactive::computed::ScopedFuture;
use leptos::task::spawn_local;

/// What is loaded.
#[derive(Clone, Copy)]
pub(super) struct Resource {
    /// While something else is loaded it stays.
    content: RwSignal<Option<Content>>,
    /// How often it was asked for again.
    asked: RwSignal<u32>,
}

impl Resource {
    /// What loads blocks nothing here.
    pub(super) fn new(source: Source, load: Load, _blocking: bool) -> Self {
        let came = came_with_page();
        let asked = RwSignal::new(0);
        let wanted = move || (asked.get(), source());
        let mut known: Option<(u32, Key)> = came.is_some().then(|| untrack(&wanted));
        let content = RwSignal::new(came);
        // The last attempt to load: what an older one brings counts for nothing.
        let last = StoredValue::new(0_u32);
        Effect::new(move |_| {
            let wanted = wanted();
            if known.as_ref() == Some(&wanted) {
                return;
            }
            let (_, (_, id)) = known.insert(wanted).clone();
            // With the contexts around: what is said of an error is in the block's language.
            let loading = untrack(|| ScopedFuture::new_untracked(load(id)));
            let attempt = last.get_value() + 1;
            last.set_value(attempt);
            spawn_local(async move {
                let loaded = loading.await;
                // Nor does anything count once nobody shows it.
                if last.try_get_value() == Some(attempt) {
                    content.set(Some(loaded));
                }
            });
        });
        Self { content, asked }
    }

    pub(super) fn view(self, view: View) -> AnyView {
        // On the server that which waits for it took a number, too.
        if let Some(page) = Owner::current_shared_context() {
            page.next_id();
        }
        (move || self.content.get().map(&view)).into_any()
    }

    pub(super) fn refetch(self) {
        self.asked.update(|asked| *asked += 1);
    }
}

/// What the server has loaded. The n-th resource of the page is here what the n-th was there: each of them, and each place that shows
/// one, takes a number when it is made, here and there. The server may draw a page several times; the numbers of the first time come first.
fn came_with_page() -> Option<Content> {
    let page = Owner::current_shared_context()?;
    let written = page.read_data(&page.next_id())?;
    codec::read(&written).ok()
}
