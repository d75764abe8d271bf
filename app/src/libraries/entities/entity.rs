//! An entity of a library with its connections.

use crate::address::{Address, encode_component};
use crate::api::ApiError;
use crate::blocks::control::focus;
use crate::libraries::api::{self, library_path};
use crate::libraries::labels::place_label;
use crate::libraries::problem::problem_view;
use crate::libraries::route::{ENTITIES, Shown};
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use leptos::task::spawn_local;
use wire::library::{EntityDetails, EntityPassage, LibraryRelation, RelationEnd};

/// An entity with its relations, and where it is mentioned.
#[component]
pub(super) fn EntityView(block: String, library: String, id: String) -> AnyView {
    let address = expect_context::<Address>();
    let explored = RwSignal::new(None::<EntityDetails>);
    let error = RwSignal::new(None::<ApiError>);
    let path = StoredValue::new(library_path(&library, &["/graph/explore?entity=", &encode_component(&id)].concat()));
    let heading = format!("library-{block}-entity");
    let focused = StoredValue::new(heading.clone());
    let load = move || {
        let path = path.get_value();
        spawn_local(async move {
            match api::get::<EntityDetails>(&path).await {
                Ok(loaded) => {
                    error.try_set(None);
                    explored.try_set(Some(loaded));
                    // The link that the user followed is no longer on the page, so the heading takes the focus.
                    request_animation_frame(move || {
                        if let Some(heading) = focused.try_get_value() {
                            focus(&heading);
                        }
                    });
                }
                Err(problem) => drop(error.try_set(Some(problem))),
            }
        });
    };
    Effect::new(move |_| load());
    let back = {
        let library = library.clone();
        move || Shown::entity(&library, ENTITIES).url(address)
    };
    let content = move || {
        let EntityDetails { entity, names, mentions, relations } = explored.get()?;
        let others: Vec<_> = names.into_iter().filter(|name| *name != entity.name).collect();
        let names = (!others.is_empty()).then(|| {
            view! { <p class="cw-library-note" dir="auto">{fill(Text::EntityNames, &[&text_with_code_points(&others.join(", "), TextKind::Value)])}</p> }
        });
        let no_relations = relations.is_empty().then(|| {
            view! { <p class="cw-library-note">{t(Text::EntityNoRelations)}</p> }
        });
        let relations: Vec<_> = relations.iter().map(|relation| relation_view(&library, relation)).collect();
        let mentions: Vec<_> =
            mentions.iter().map(|passage| view! { <li>{passage_view(&library, passage)}</li> }).collect();
        let view = view! {
            <div class="cw-library-title">
                <h4 id=heading.clone() tabindex="-1" dir="auto">{visible_nodes(&entity.name, TextKind::Value)}</h4>
                <span class="cw-document-about" dir="auto">{visible_nodes(&entity.kind, TextKind::Prose)}</span>
            </div>
            {names}
            <h5>{t(Text::EntityRelations)}</h5>
            {no_relations}
            <ul class="cw-hits" aria-label=t(Text::EntityRelations)>{relations}</ul>
            <h5>{t(Text::EntityPassages)}</h5>
            <ul class="cw-hits" aria-label=t(Text::EntityPassages)>{mentions}</ul>
        };
        Some(view.into_any())
    };
    let problem = move || error.get().map(|error| problem_view(&error, load));
    view! {
        <a class="cw-link" href=back>{t(Text::EntitiesBack)}</a>
        {problem}
        {content}
    }
    .into_any()
}

fn relation_view(library: &str, relation: &LibraryRelation) -> AnyView {
    let address = expect_context::<Address>();
    let end = |end: &RelationEnd| {
        let url = untrack(|| Shown::entity(library, &end.id).url(address));
        view! { <a class="cw-document-name" href=url dir="auto">{visible_nodes(&end.name, TextKind::Value)}</a> }
    };
    view! {
        <li>
            <p>{end(&relation.from)}" "<span dir="auto">{visible_nodes(&relation.relation, TextKind::Prose)}</span>" "{end(&relation.to)}</p>
            {passage_view(library, &relation.evidence)}
        </li>
    }
    .into_any()
}

/// The words, and a link to where they stand.
fn passage_view(library: &str, passage: &EntityPassage) -> AnyView {
    let address = expect_context::<Address>();
    let url = untrack(|| Shown::document(library, &passage.document_id, passage.number()).url(address));
    let place = match place_label(&passage.place) {
        place if place.is_empty() => passage.file_name.clone(),
        place => [&passage.file_name, " · ", &place].concat(),
    };
    view! {
        <p class="cw-document-text" dir="auto">{visible_nodes(&passage.quote, TextKind::Prose)}</p>
        <p class="cw-document-place"><a href=url dir="auto">{visible_nodes(&place, TextKind::Value)}</a></p>
    }
    .into_any()
}
