//! Links to shared copies.

use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::browser;

/// An item of a list of links: the address, with buttons to copy and to revoke it. `about` says what the link leads to, if that is
/// not clear. `path` is that of the page on this server.
pub(crate) fn share_link(about: Option<String>, path: String, revoke: Callback<()>) -> AnyView {
    let path = StoredValue::new(path);
    let address = move || {
        let origin = window().location().origin().unwrap_or_default();
        path.with_value(|path| [&*origin, path].concat())
    };
    let shown = address();
    let copied = RwSignal::new(false);
    let copy = move |_| copied.set(browser::copy(&address()));
    let label = move || if copied.get() { t(Text::Copied) } else { t(Text::Copy) }.to_owned();
    let about = about.map(|about| view! { <span class="cw-share-what" dir="auto">{about}</span> });
    view! {
        <li>
            {about}
            <textarea class="cw-control" dir="ltr" rows="1" readonly=true aria-label=t(Text::ShareLink) prop:value=shown></textarea>
            <button type="button" class="cw-button" on:click=copy>
                {label}
            </button>
            <button type="button" class="cw-button" on:click=move |_| revoke.run(())>
                {t(Text::ShareRevoke)}
            </button>
        </li>
    }
    .into_any()
}
