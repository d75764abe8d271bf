//! The links of the section `guide`, and the steps of its tour.

use crate::guide::{Guide, Step, Tour};
use app::context::{GuideLinks, PageSource};
use axum::http::Uri;
use chat::Caller;
use config::Config;
use serde_json::json;

/// Returns the links that a page has, as far as the caller may open the pages; with the steps of the tour if the
/// address asks for one of them: `?tour=0`.
pub(super) fn links(config: &Config, pages: &dyn PageSource, caller: &Caller, asked: &Uri) -> Option<GuideLinks> {
    let guide = config.section::<Guide>()?;
    let open: Vec<_> = pages.links(caller);
    let title = |id: &str| open.iter().find(|link| link.id == id).map(|link| link.title.clone());
    let links = guide.pages.iter().filter_map(|page| {
        let id = &page.page_id.0;
        let known = title(id)?;
        Some((format!("/{id}"), page.title.clone().unwrap_or(known)))
    });
    let tour = guide.tour.as_ref().and_then(|tour| {
        let steps: Vec<_> = tour.steps.iter().filter(|step| title(&step.page_id.0).is_some()).collect();
        let first = steps.first()?;
        let link = (format!("/{}?tour=0", first.page_id.0), tour.label.clone());
        Some((link, is_asked_for(asked).then(|| card(tour, &steps))))
    });
    let (tour, card) = tour.map_or((None, None), |(link, card)| (Some(link), card));
    Some(GuideLinks { links: links.chain(tour).collect(), current: current(pages, caller, asked), card })
}

/// Returns the address of the page that is asked for. The address of a conversation begins with that of its page.
fn current(pages: &dyn PageSource, caller: &Caller, asked: &Uri) -> Option<String> {
    match asked.path().split('/').nth(1) {
        None | Some("") => pages.page(caller, None).ok().map(|first| format!("/{}", first.id)),
        Some(id) => Some(format!("/{id}")),
    }
}

fn is_asked_for(asked: &Uri) -> bool {
    asked.query().is_some_and(|query| query.split('&').any(|pair| pair.starts_with("tour=")))
}

/// Returns the input of `public/assets/lazy/tour.js`.
fn card(tour: &Tour, steps: &[&Step]) -> String {
    json!({ "next": tour.next, "leave": tour.leave, "steps": steps }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use std::sync::Arc;
    use wire::UserError;
    use wire::page::{Page, PageLink};

    /// Pages of which each caller may open `form` and `work`.
    struct TwoPages;

    impl PageSource for TwoPages {
        fn page(&self, _: &Caller, _: Option<&str>) -> Result<Arc<Page>, UserError> {
            Err(UserError::not_found())
        }

        fn tasks_page(&self, _: &Caller) -> Option<String> {
            None
        }

        fn links(&self, _: &Caller) -> Vec<PageLink> {
            let link = |id: &str, title: &str| PageLink {
                id: id.to_owned(),
                title: title.to_owned(),
                description: None,
                picture: None,
                is_chat: true,
                agent_id: None,
            };
            vec![link("form", "A form"), link("work", "Work")]
        }
    }

    #[test]
    fn only_pages_that_the_caller_may_open_are_linked_and_toured() {
        let check = |guide: &str, asked: &'static str| {
            let text = format!(
                "pages: [{{ id: form, blocks: [] }}, {{ id: work, blocks: [] }}, {{ id: secret, blocks: [] }}]\n{guide}\n"
            );
            let language = capability::language(&[crate::guide::DEFINITION]);
            let config = language.read_text(&text).map_err(|problems| config::render(&problems)).unwrap().0;
            let found = links(&config, &TwoPages, &Caller::visitor("v"), &Uri::from_static(asked));
            found.map_or_else(String::new, |found| {
                format!("{:?} {:?} {}", found.links, found.current, found.card.as_deref().unwrap_or("no tour"))
            })
        };
        let guide = "guide: { pages: [{ pageId: secret }, { pageId: work, title: Works }, { pageId: form }], \
            tour: { steps: [{ pageId: secret, title: S, text: s }, { pageId: work, title: W, text: w, at: chat }] } }";
        assert_snapshot!(check("", "/form?tour=0"), @"");
        assert_snapshot!(check(guide, "/form?contour=1"), @r#"[("/work", "Works"), ("/form", "A form"), ("/work?tour=0", "Take the tour")] Some("/form") no tour"#);
        assert_snapshot!(
            check(guide, "/work/c1?a=1&tour=0"),
            @r#"[("/work", "Works"), ("/form", "A form"), ("/work?tour=0", "Take the tour")] Some("/work") {"next":"Next","leave":"Leave the tour","steps":[{"pageId":"work","title":"W","text":"w","at":"chat"}]}"#
        );
    }
}
