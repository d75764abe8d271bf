//! What all lists share: filters in the address, pages, and the filter form.

use super::UserError;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use leptos::prelude::*;
use store::{MAX_LISTED, Place};
use wire::ErrorCode;

/// Lines of a page.
pub(super) const PAGE: u32 = MAX_LISTED - 1;

/// A day in milliseconds.
pub(super) const DAY: i64 = 86_400_000;

/// The text of a field; none for one that was left empty.
pub(super) fn filled(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The beginning of a day in UTC; Unix time, milliseconds.
///
/// # Errors
/// 400 for what is no date.
pub(super) fn begin_of(day: Option<&str>) -> Result<Option<i64>, UserError> {
    let Some(day) = filled(day) else { return Ok(None) };
    let begin = day.parse::<Date>().ok().and_then(|date| date.to_zoned(TimeZone::UTC).ok());
    let begin = begin.map(|begin| Some(begin.timestamp().as_millisecond()));
    begin.ok_or_else(|| UserError::new(ErrorCode::Malformed, "Write a day as 2026-11-21."))
}

/// The end of a day.
///
/// # Errors
/// As [`begin_of`].
pub(super) fn end_of(day: Option<&str>) -> Result<Option<i64>, UserError> {
    Ok(begin_of(day)?.map(|begin| begin + DAY))
}

/// A place in a list as an address has it.
pub(super) fn place(text: Option<&str>) -> Result<Option<Place>, UserError> {
    let Some(text) = filled(text) else { return Ok(None) };
    let parts = text.split_once('~');
    let place = parts.map(|(key, id)| Some(Place { key: key.to_owned(), id: id.to_owned() }));
    place.ok_or_else(|| UserError::new(ErrorCode::Malformed, "This is not a place in the list."))
}

/// A page of a list that is whole in memory, each line with the place after it: its number.
///
/// # Errors
/// 400 for a place that is none.
pub(super) fn numbered<T>(lines: Vec<T>, after: Option<&str>) -> Result<Vec<(T, Place)>, UserError> {
    let begin = match place(after)?.map(|place| place.key.parse::<usize>()) {
        Some(Ok(number)) => number,
        Some(Err(_)) => return Err(UserError::new(ErrorCode::Malformed, "This is not a place in the list.")),
        None => 0,
    };
    let lines = lines.into_iter().enumerate().skip(begin).take(PAGE as usize + 1);
    Ok(lines.map(|(i, line)| (line, Place { key: (i + 1).to_string(), id: String::new() })).collect())
}

/// The lines of a page, and where the next one begins, if there is one.
pub(super) fn paged<T>(mut found: Vec<(T, Place)>) -> (Vec<T>, Option<String>) {
    let more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    let next = found.last().filter(|_| more).map(|(_, place)| format!("{}~{}", place.key, place.id));
    (found.into_iter().map(|(line, _)| line).collect(), next)
}

/// The way to the next page: the same filters, another place.
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

/// The link to the same list as CSV.
pub(super) fn as_table(path: &'static str, query: Option<&str>) -> impl IntoView + use<> {
    let path = format!("{path}?{}", query.unwrap_or_default());
    view! { <a href=path>"Download as CSV"</a> }
}

/// A field of a filter.
pub(super) fn field(
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    value: Option<&str>,
) -> impl IntoView + use<> {
    let value = value.unwrap_or_default().to_owned();
    view! {
        <label class="cw-admin-field">
            <span>{label}</span>
            <input type=kind name=name value=value autocomplete="off" />
        </label>
    }
}

/// A field of a filter with suggestions.
pub(super) fn field_with(
    name: &'static str,
    label: &'static str,
    value: Option<&str>,
    suggestions: Vec<&'static str>,
) -> impl IntoView + use<> {
    let (value, list) = (value.unwrap_or_default().to_owned(), format!("{name}-suggestions"));
    let options = suggestions.into_iter().map(|suggestion| view! { <option value=suggestion></option> }).collect_view();
    view! {
        <label class="cw-admin-field">
            <span>{label}</span>
            <input type="text" name=name value=value autocomplete="off" list=list.clone() />
            <datalist id=list>{options}</datalist>
        </label>
    }
}

/// What a list can be sorted by, out of `all` with their names and words, and the name of the one that is `chosen`.
pub(super) fn orders<S: PartialEq, const N: usize>(
    all: &[(S, &'static str, &'static str); N],
    chosen: &S,
) -> ([(&'static str, &'static str); N], &'static str) {
    let name = all.iter().find(|(sort, ..)| sort == chosen).map_or("", |(_, name, _)| *name);
    (all.each_ref().map(|(_, name, text)| (*name, *text)), name)
}

/// A choice of a filter.
pub(super) fn choice(
    name: &'static str,
    label: &'static str,
    options: &[(&'static str, &'static str)],
    chosen: &str,
) -> impl IntoView + use<> {
    let option = |(value, text): &(&'static str, &'static str)| {
        view! { <option value=*value selected={*value == chosen}>{*text}</option> }
    };
    let options = options.iter().map(option).collect_view();
    view! {
        <label class="cw-admin-field">
            <span>{label}</span>
            <span class="cw-select">
                <select name=name>{options}</select>
            </span>
        </label>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        let check =
            |text: &str, expected: Option<Option<i64>>| assert_eq!(begin_of(Some(text)).ok(), expected, "{text}");
        check("1970-01-02", Some(Some(DAY)));
        check(" ", Some(None));
        check("yesterday", None);
        check("2026-02-30", None);
        assert_eq!(end_of(Some("1970-01-01")).unwrap(), Some(DAY));
    }

    #[test]
    fn addresses_of_pages() {
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
