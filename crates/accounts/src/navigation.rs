//! The links of the account page to further pages.

use leptos::prelude::*;
use web::html::{AccountGroup, AccountPage};

const ADMIN_CONSOLE: AccountPage = AccountPage {
    group: AccountGroup::Administration,
    path: "/admin",
    title: "Admin console",
    about: "Conversations, agents, users and the config",
};

/// Renders links to pages, by groups, and one to the console for administrators.
pub(crate) fn navigation(mut pages: Vec<AccountPage>, is_admin: bool) -> Option<AnyView> {
    pages.extend(is_admin.then_some(ADMIN_CONSOLE));
    let groups: Vec<_> = AccountGroup::ALL.into_iter().filter_map(|group| group_view(group, &pages)).collect();
    if groups.is_empty() {
        return None;
    }
    Some(view! { <nav class="cw-account-part cw-account-pages" aria-label="Further pages">{groups}</nav> }.into_any())
}

fn group_view(group: AccountGroup, pages: &[AccountPage]) -> Option<AnyView> {
    let line = |page: &AccountPage| {
        view! {
            <li>
                <a href=page.path>{page.title}</a>
                <p class="cw-account-note">{page.about}</p>
            </li>
        }
    };
    let lines: Vec<_> = pages.iter().filter(|page| page.group == group).map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let content = view! {
        <section>
            <h2>{group.name()}</h2>
            <ul>{lines}</ul>
        </section>
    };
    Some(content.into_any())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_grouped() {
        let prompts = AccountPage {
            group: AccountGroup::Content,
            path: "/account/prompts",
            title: "Prompts",
            about: "Texts for the composer",
        };
        let check = |pages: &[AccountPage], is_admin: bool, expected: &[&str]| {
            let html =
                navigation(pages.to_vec(), is_admin).map(AnyView::to_html).unwrap_or_default().replace("<!>", "");
            let headings: Vec<_> = html.split("<h2>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
            assert_eq!(headings, expected, "{html}");
            assert_eq!(html.contains(r#"<a href="/admin">Admin console</a>"#), is_admin, "{html}");
        };
        check(&[], false, &[]);
        check(&[], true, &["This server"]);
        check(&[prompts], false, &["What you have made"]);
        check(&[prompts], true, &["What you have made", "This server"]);
    }
}
