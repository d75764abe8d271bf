//! The links between the pages of a list.

use leptos::prelude::*;

/// Renders the links to the first and the next page, which keep the filters.
pub(super) fn pager(path: &str, query: Option<&str>, next: Option<String>) -> impl IntoView + use<> {
    let kept = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).filter(|(name, _)| name != "after");
    let kept: Vec<_> = kept.collect();
    let address = |more: Option<&str>| {
        let mut made = url::form_urlencoded::Serializer::new(String::new());
        made.extend_pairs(&kept);
        more.map(|more| made.append_pair("after", more).finish()).unwrap_or_else(|| made.finish())
    };
    let is_later = query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("after=")));
    let first = is_later.then(|| format!("{path}?{}", address(None)));
    let next = next.map(|next| format!("{path}?{}", address(Some(&next))));
    let any = first.is_some() || next.is_some();
    any.then(|| {
        view! {
            <nav class="cw-admin-pager" aria-label="Pages">
                {first.map(|first| view! { <a class="cw-button" href=first>"First page"</a> })}
                {next.map(|next| view! { <a class="cw-button" rel="next" href=next>"Next page"</a> })}
            </nav>
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_links_keep_filters() {
        let check = |query: Option<&str>, next: Option<&str>, expected: &[&str]| {
            let html = pager("/admin/x", query, next.map(str::to_owned)).to_html();
            let found: Vec<_> = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert_eq!(found, expected, "{html}");
        };
        check(None, None, &[]);
        check(Some("text=a%26b"), Some("1~c"), &["/admin/x?text=a%26b&amp;after=1%7Ec"]);
        check(Some("text=a&after=2~d"), None, &["/admin/x?text=a"]);
    }
}
