//! The form that creates or changes a library.

use super::api::{self, Method, library_path};
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use leptos::ev::SubmitEvent;
use leptos::html;
use leptos::task::spawn_local;
use serde_json::json;
use wire::library::{Library, RoleList};

/// The longest name and description, in characters.
const MAX_NAME: &str = "200";
const MAX_DESCRIPTION: &str = "2000";

/// A role with what its users may do.
#[derive(Clone)]
struct RoleChoice {
    name: String,
    reads: RwSignal<bool>,
    writes: RwSignal<bool>,
}

/// The form. `done` gets the library, or nothing if the user cancels.
#[component]
pub(super) fn LibraryForm(
    /// The block's id.
    block: String,
    /// The library to change; none for a new one.
    library: Option<Library>,
    /// Called at the end.
    done: impl Fn(Option<Library>) + Copy + Send + Sync + 'static,
) -> AnyView {
    let (name, about) = (NodeRef::<html::Input>::new(), NodeRef::<html::Textarea>::new());
    let (problem, is_sending) = (RwSignal::new(None::<String>), RwSignal::new(false));
    let roles = RwSignal::new(Vec::<RoleChoice>::new());
    let known = StoredValue::new(library.clone());
    let is_new = library.is_none();
    // None if the server does not offer it, which a new library cannot know.
    let graph = RwSignal::new(library.as_ref().and_then(|library| library.graph));
    let own = |of: fn(&Library) -> &Vec<String>| library.as_ref().map(of).cloned().unwrap_or_default();
    let (readers, writers) = (own(|library| &library.readers), own(|library| &library.writers));
    Effect::new(move |_| {
        let (readers, writers) = (readers.clone(), writers.clone());
        spawn_local(async move {
            // Without the list, the roles that the library has can still be changed.
            let listed = api::get::<RoleList>("/api/libraries/roles").await.map(|list| list.roles);
            let mut names = listed.unwrap_or_default();
            names.extend(readers.iter().chain(&writers).cloned());
            names.sort_unstable();
            names.dedup();
            let choice = |name: String| RoleChoice {
                reads: RwSignal::new(readers.contains(&name)),
                writes: RwSignal::new(writers.contains(&name)),
                name,
            };
            if !roles.is_disposed() {
                roles.set(names.into_iter().map(choice).collect());
            }
        });
    });
    let name_id = format!("library-{block}-name");
    let focused = name_id.clone();
    Effect::new(move |_| focus(&focused));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if is_sending.get_untracked() {
            return;
        }
        let entered = name.get_untracked().map(|input| input.value()).unwrap_or_default();
        let described = about.get_untracked().map(|input| input.value()).unwrap_or_default();
        let chosen = |of: fn(&RoleChoice) -> bool| {
            let roles = roles.get_untracked();
            roles.iter().filter(|role| of(role)).map(|role| role.name.clone()).collect::<Vec<_>>()
        };
        let writers = chosen(|role| role.writes.get_untracked());
        let readers = chosen(|role| role.reads.get_untracked() && !role.writes.get_untracked());
        let mut body = json!({ "name": entered, "description": described, "readers": readers, "writers": writers });
        if let Some(graph) = graph.get_untracked() {
            body["graph"] = graph.into();
        }
        is_sending.set(true);
        problem.set(None);
        spawn_local(async move {
            let known = known.try_get_value().flatten();
            let sent = match known {
                Some(library) => api::send(Method::Patch, &library_path(&library.id, ""), &body).await,
                None => api::send(Method::Post, "/api/libraries", &body).await,
            };
            is_sending.try_set(false);
            match sent {
                Ok(library) => done(Some(library)),
                Err(error) => {
                    let own = Some(error.0.message.clone()).filter(|message| !message.is_empty());
                    problem.try_set(Some(own.unwrap_or_else(|| error_text(&error.0))));
                }
            }
        });
    };
    let (given_name, given_about) =
        library.map_or_else(Default::default, |library| (library.name, library.description));
    let about_id = format!("library-{block}-about");
    let has_roles = move || !roles.with(Vec::is_empty);
    let title = if is_new { Text::LibraryNew } else { Text::LibraryEdit };
    view! {
        <form class="cw-library-form" aria-label=t(title) on:submit=submit>
            <div class="cw-entry">
                <label class="cw-label" for=name_id.clone()>{t(Text::LibraryName)}</label>
                <input
                    class="cw-control"
                    id=name_id
                    type="text"
                    dir="auto"
                    required
                    maxlength=MAX_NAME
                    autocomplete="off"
                    value=given_name
                    node_ref=name
                />
            </div>
            <div class="cw-entry">
                <label class="cw-label" for=about_id.clone()>{t(Text::LibraryAbout)}</label>
                <textarea class="cw-control" id=about_id dir="auto" maxlength=MAX_DESCRIPTION rows="2" node_ref=about>
                    {given_about.unwrap_or_default()}
                </textarea>
            </div>
            {move || has_roles().then(|| view! {
                <div class="cw-library-roles">
                    {role_group(Text::LibraryReaders, roles, |role| role.reads)}
                    {role_group(Text::LibraryWriters, roles, |role| role.writes)}
                </div>
            }.into_any())}
            {graph.get_untracked().is_some().then(|| view! {
                <label class="cw-library-role">
                    <input
                        type="checkbox"
                        prop:checked=move || graph.get() == Some(true)
                        on:change=move |event| graph.set(Some(event_target_checked(&event)))
                    />
                    {t(Text::LibraryGraph)}
                </label>
            }.into_any())}
            <p class="cw-problem" role="alert">{move || problem.get()}</p>
            <div class="cw-library-buttons">
                <button type="submit" class="cw-button cw-primary" disabled=move || is_sending.get()>
                    {t(if is_new { Text::Create } else { Text::LibrarySave })}
                </button>
                <button type="button" class="cw-button" on:click=move |_| done(None)>{t(Text::Cancel)}</button>
            </div>
        </form>
    }
    .into_any()
}

fn role_group(label: Text, roles: RwSignal<Vec<RoleChoice>>, of: fn(&RoleChoice) -> RwSignal<bool>) -> AnyView {
    let choices = roles.get().into_iter().map(|role| {
        let own = of(&role);
        view! {
            <label class="cw-library-role">
                <input
                    type="checkbox"
                    prop:checked=move || own.get()
                    on:change=move |event| own.set(event_target_checked(&event))
                />
                <bdi>{role.name}</bdi>
            </label>
        }
        .into_any()
    });
    let choices: Vec<_> = choices.collect();
    view! {
        <fieldset>
            <legend class="cw-label">{t(label)}</legend>
            {choices}
        </fieldset>
    }
    .into_any()
}
