//! Icons, drawn with strokes in the colour of the surrounding text. All are decorative: the text
//! beside them or the button's label says what they mean.

use super::node::{Node, element};
use crate::prelude::*;

/// An icon on a grid of 20 by 20 units.
#[component]
pub fn Icon(
    /// The icon to show.
    of: Shape,
) -> AnyView {
    view! {
        <svg class="cw-icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
            <path d=of.0 />
        </svg>
    }
    .into_any()
}

/// Returns the icon as a [`Node`].
pub(crate) fn icon(of: Shape) -> Node {
    let svg = element("svg").attr("class", "cw-icon").attr("viewBox", "0 0 20 20").attr("aria-hidden", "true");
    svg.attr("focusable", "false").children(vec![element("path").attr("d", of.0)])
}

/// The path of an icon.
///
/// Each icon is a constant of its own, so that the browser loads it with the first code that shows it: a `match` over
/// all of them would put the paths of all icons, 9 KB, into the code of every page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(&'static str);

impl Shape {
    /// A list of conversations.
    pub const CONVERSATIONS: Self = Self("M3 5.5h14M3 10h14M3 14.5h9");
    /// A form.
    pub const FORM: Self = Self("M4 3h12v14H4zM7 7h6M7 10.5h6M7 14h3");
    /// Create something.
    pub const PLUS: Self = Self("M10 4v12M4 10h12");
    /// More commands.
    pub const MORE: Self = Self("M4.5 10h.01M10 10h.01M15.5 10h.01");
    /// Close or dismiss.
    pub const CLOSE: Self = Self("M5 5l10 10M15 5L5 15");
    /// Rename or edit.
    pub const PENCIL: Self =
        Self("M3.5 16.5l.8-3.4L13.4 4a1.6 1.6 0 0 1 2.3 0l.3.3a1.6 1.6 0 0 1 0 2.3l-9.1 9.1zM12 5.5L14.5 8");
    /// Delete.
    pub const BIN: Self = Self("M3.5 5.5h13M8 5V3h4v2M5 5.5l.8 11.5h8.4L15 5.5M8.5 8.5v5.5M11.5 8.5v5.5");
    /// The light theme.
    pub const SUN: Self = Self(
        "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
    );
    /// The dark theme.
    pub const MOON: Self = Self("M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3z");
    /// The system's theme.
    pub const SCREEN: Self = Self("M2.5 4h15v9.5h-15zM7 17h6M10 13.5V17");
    /// Send the message.
    pub const SEND: Self = Self("M10 16V4.5M5 9.5l5-5 5 5");
    /// Stop the answer.
    pub const STOP: Self = Self("M6 6h8v8H6z");
    /// Go to the end of the messages.
    pub const DOWN: Self = Self("M10 4v11.5M5 10.5l5 5 5-5");
    /// Unfold.
    pub const CHEVRON: Self = Self("M7 4.5l5.5 5.5L7 15.5");
    /// Success.
    pub const CHECK: Self = Self("M4 10.5l4 4L16 6");
    /// A warning or a failure.
    pub const WARNING: Self = Self("M10 3l7.5 13.5h-15zM10 8v4M10 14.2v.1");
    /// Information.
    pub const INFO: Self = Self("M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 9v4.5M10 6.5v.1");
    /// A refusal.
    pub const DENIED: Self = Self("M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM5.2 5.2l9.6 9.6");
    /// A request for approval.
    pub const SHIELD: Self =
        Self("M10 2.5l6.5 2.3v4.4c0 4-2.7 6.9-6.5 8.3-3.8-1.4-6.5-4.3-6.5-8.3V4.8zM7.2 9.8l2 2 3.7-3.8");
    /// Work in progress.
    pub const SPINNER: Self = Self("M10 3a7 7 0 1 1-7 7");
    /// Copy.
    pub const COPY: Self = Self("M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7");
    /// Retry.
    pub const RETRY: Self = Self("M15.8 8A6.2 6.2 0 1 0 16 11.8M16.2 3.5V8h-4.5");
    /// A link.
    pub const LINK: Self = Self("M8 5H4.5v10.5H15V12M11 4h5v5M16 4l-7 7");
    /// Pinned at the top of the list.
    pub const PIN: Self = Self("M7 3.5h6M8 3.5v5l-2.5 3h9L12 8.5v-5M10 11.5V17");
    /// Archive.
    pub const ARCHIVE: Self = Self("M3 4h14v3.5H3zM4.5 7.5V16h11V7.5M8 10.5h4");
    /// A folder.
    pub const FOLDER: Self = Self("M3 5h5l1.5 2H17v8.5H3z");
    /// A dot.
    pub const DOT: Self = Self("M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6z");
    /// Select several.
    pub const SELECT: Self = Self("M3.5 5l1.2 1.2L7 4M3.5 10.5l1.2 1.2L7 9.5M10 5.5h7M10 10.5h7M10 15.5h7M4 15.5h2");
    /// Download a file.
    pub const DOWNLOAD: Self = Self("M10 3.5v9M6 9l4 4 4-4M4 16.5h12");
    /// Search.
    pub const SEARCH: Self = Self("M9 3a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM13.3 13.3L17 17");
    /// Upload a file.
    pub const UPLOAD: Self = Self("M10 12.5v-9M6 7l4-4 4 4M4 16.5h12");
    /// Positive feedback.
    pub const THUMB_UP: Self =
        Self("M3 9h3v8H3zM6 9l3.4-6.2c1.5 0 2.3 1 2.1 2.4L11 8h4.4c1 0 1.8.9 1.6 1.9l-1.1 5.6c-.2.9-.9 1.5-1.8 1.5H6");
    /// Negative feedback.
    pub const THUMB_DOWN: Self = Self(
        "M3 11h3V3H3zM6 11l3.4 6.2c1.5 0 2.3-1 2.1-2.4L11 12h4.4c1 0 1.8-.9 1.6-1.9l-1.1-5.6c-.2-.9-.9-1.5-1.8-1.5H6",
    );
    /// A new branch of the conversation.
    pub const BRANCH: Self = Self("M5 17V3M5 12c0-3 10-2 10-6M15 6V3.5M12.5 5.5L15 3l2.5 2.5");
    /// Read aloud.
    pub const SPEAKER: Self = Self("M3 7.5h3l4.5-3.5v12L6 12.5H3zM13.5 7.5a3.5 3.5 0 0 1 0 5M15.8 5a7 7 0 0 1 0 10");
    /// Dictate.
    pub const MICROPHONE: Self = Self(
        "M10 3a2.5 2.5 0 0 0-2.5 2.5V10a2.5 2.5 0 0 0 5 0V5.5A2.5 2.5 0 0 0 10 3zM4.5 9.5a5.5 5.5 0 0 0 11 0M10 15v2.5",
    );
    /// A file.
    pub const FILE: Self = Self("M5 2.5h6.5L15 6v11.5H5zM11.5 2.5V6H15");
    /// An attachment.
    pub const CLIP: Self =
        Self("M15.5 9.5l-5.6 5.6a3.5 3.5 0 0 1-5-5l6-6a2.3 2.3 0 0 1 3.3 3.3l-5.9 5.9a1.1 1.1 0 0 1-1.6-1.6l5.2-5.2");
    /// Temporary.
    pub const CLOCK: Self = Self("M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6v4l2.5 2");
    /// Take the whole width.
    pub const WIDEN: Self = Self("M3 5v10M17 5v10M6 10h8M8 8l-2 2 2 2M12 8l2 2-2 2");
}
