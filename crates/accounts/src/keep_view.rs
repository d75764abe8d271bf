//! The part of the account page where the user lets this browser keep what they read.

use leptos::prelude::*;
use web::html::account_part;

/// The script of the part, a file of the site.
pub(crate) const SCRIPT: &str = "/assets/lazy/keep-switch.js";

/// Renders the elements that the script shows and hides; see `public/assets/lazy/keep-switch.js`.
pub(crate) fn keep_view() -> AnyView {
    let states = [
        ("unsupported", "Pages cannot be kept here: the browser does not support it."),
        ("insecure", "Browsers keep pages only over an encrypted connection (https)."),
        ("on", "The conversations that you open are kept on this device."),
        ("off", "Nothing is kept on this device."),
        ("failed", "That did not work. Check the connection, and try again."),
    ];
    let states = states.map(|(state, text)| view! { <p data-state=state hidden>{text}</p> }.into_any());
    let content = view! {
        <p class="cw-account-note">
            "The last 50 conversations that you open stay readable on this device without a connection, each for 30 days after you opened it last. Not for shared devices: who opens the browser can read them until you sign out."
        </p>
        <div class="cw-notifications cw-keep">
            <noscript><p>"Switching it on needs JavaScript."</p></noscript>
            <div aria-live="polite">{states.into_iter().collect_view()}</div>
            <div class="cw-memory-actions">
                <button type="button" class="cw-button" data-act="on" hidden>"Keep what I read on this device"</button>
                <button type="button" class="cw-button" data-act="off" hidden>"Stop, and remove what is kept"</button>
            </div>
        </div>
    };
    account_part("keep", "Reading offline", content)
}
