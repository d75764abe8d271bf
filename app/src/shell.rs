//! The document around the app.

use crate::App;
use leptos::prelude::*;
use leptos_meta::MetaTags;

/// The whole document. `theme.js` runs before the first paint, so that a chosen theme does not flash; it is a file and not an
/// inline script, so that a content security policy may forbid those.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
                <meta name="color-scheme" content="light dark" />
                <meta name="referrer" content="no-referrer" />
                <script src="/theme.js"></script>
                <link rel="stylesheet" href="/pkg/chatwright.css" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <HydrationScripts options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}
