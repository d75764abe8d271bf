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
    Some(GuideLinks { links: links.chain(tour).collect(), card })
}

fn is_asked_for(asked: &Uri) -> bool {
    asked.query().is_some_and(|query| query.split('&').any(|pair| pair.starts_with("tour=")))
}

/// Returns what `public/assets/lazy/tour.js` reads.
fn card(tour: &Tour, steps: &[&Step]) -> String {
    json!({ "next": tour.next, "leave": tour.leave, "steps": steps }).to_string()
}
