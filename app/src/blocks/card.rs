//! The block `Card`.

use crate::prelude::*;
use crate::properties::Properties;
use wire::page::CardProperties;

/// A framed group with a heading.
#[component]
pub fn Card(
    /// The block's id.
    #[prop(into)]
    id: String,
    /// `title`: the heading; without it the card is only a frame.
    #[prop(into)]
    properties: Properties,
    /// The content.
    children: Children,
) -> AnyView {
    card(id, properties, children().into_any())
}

pub(super) fn card(id: String, properties: Properties, content: AnyView) -> AnyView {
    let heading_id = format!("card-{id}");
    let title = move || properties.get::<CardProperties>().title.filter(|title| !title.is_empty());
    let labelled_by = {
        let heading_id = heading_id.clone();
        move || title().map(|_| heading_id.clone())
    };
    // A memo of whether there is a title, so that the heading element stays the same while its text
    // changes.
    let titled = Memo::new(move |_| title().is_some());
    let heading = move || {
        let heading = view! { <h2 id=heading_id.clone() class="cw-card-title" dir="auto">{move || title().unwrap_or_default()}</h2> };
        titled.get().then(|| heading.into_any())
    };
    view! {
        // A group and not a landmark: when the card is the first block, the region around it
        // already has this name.
        <div class="cw-card" role="group" aria-labelledby=labelled_by>
            {heading}
            {content}
        </div>
    }
    .into_any()
}
