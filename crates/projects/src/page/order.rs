//! Moving the projects of a user within their own order, on the page with the list.

use crate::service::Service;
use crate::store::ListedProject;
use crate::views::Sort;
use axum::Extension;
use axum::extract::{RawForm, State};
use axum::response::Response;
use chat::Caller;
use leptos::prelude::*;
use web::html::row_button_with;
use web::{HttpError, SentFields, see_other};

/// The path to which the buttons post.
pub(super) const ORDER_PATH: &str = "/account/projects/order";

/// The page with the list in this order.
const LIST_PATH: &str = "/account/projects?sort=own";

/// `POST /account/projects/order`: puts the folder of a project before another one. Both are the caller's.
pub(super) async fn reorder(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    service.user(&caller)?;
    let sent = SentFields::parse(&sent);
    let chat = &service.context.chat;
    let folders = chat.folders(&caller).await?.items.into_iter().map(|folder| folder.id).collect();
    if let Some(ids) = moved(folders, sent.first("folder"), sent.first("before")) {
        chat.order_folders(&caller, ids).await?;
    }
    Ok(see_other(LIST_PATH, None))
}

/// Puts one of the ids before another one; `None` if one of them is not there.
fn moved(mut ids: Vec<String>, id: &str, before: &str) -> Option<Vec<String>> {
    let place = |ids: &[String], id: &str| ids.iter().position(|known| known == id);
    place(&ids, before)?;
    let from = place(&ids, id)?;
    let id = ids.remove(from);
    let to = place(&ids, before).unwrap_or(from);
    ids.insert(to, id);
    Some(ids)
}

/// Returns the buttons that move each project of the list up and down; none for a project without a folder, and where
/// the list has another order.
pub(super) fn buttons(projects: &[ListedProject], sort: Sort) -> Vec<Option<AnyView>> {
    let neighbour = |at: Option<usize>| projects.get(at?)?.folder_id.clone();
    let of_project = |(at, project): (usize, &ListedProject)| {
        let folder = project.folder_id.clone().filter(|_| sort == Sort::Own)?;
        // Down means that the next one is put before this one.
        let up = neighbour(at.checked_sub(1)).map(|other| (folder.clone(), other, "Up"));
        let down = neighbour(Some(at + 1)).map(|other| (other, folder.clone(), "Down"));
        let forms = [up, down].into_iter().flatten().map(|(folder, before, act)| {
            let label = format!("{act}: {}", project.name);
            row_button_with([("folder", folder), ("before", before)], ORDER_PATH.to_owned(), act, label)
        });
        Some(view! { <div class="cw-memory-actions">{forms.collect_view()}</div> }.into_any())
    };
    projects.iter().enumerate().map(of_project).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Color, Role};
    use crate::views::sorted;

    #[test]
    fn a_folder_is_put_before_another_one() {
        let check = |id: &str, before: &str, expected: Option<&str>| {
            let ids = ["a", "b", "c"].map(str::to_owned).to_vec();
            let order = moved(ids, id, before).map(|ids| ids.concat());
            assert_eq!(order.as_deref(), expected, "{id} before {before}");
        };
        check("c", "a", Some("cab"));
        check("b", "a", Some("bac"));
        check("c", "b", Some("acb"));
        check("a", "a", Some("abc"));
        check("x", "a", None);
        check("a", "x", None);
    }

    #[test]
    fn own_order_comes_after_new_projects() {
        let project = |name: &str, position: i64| ListedProject {
            id: name.to_owned(),
            name: name.to_owned(),
            color: Color::default(),
            role: Role::Owner,
            folder_id: None,
            members: 1,
            conversations: 0,
            used_at: 0,
            position,
        };
        let projects = vec![project("a", 2), project("b", 0), project("c", 1), project("d", 0)];
        let names: String = sorted(projects, Sort::Own).into_iter().map(|project| project.name).collect();
        assert_eq!(names, "bdca");
    }
}
