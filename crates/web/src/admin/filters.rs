//! The fields of a list's form, and the values that they send.

use super::from_store_error;
use crate::html::select_box;
use auth::password::credential_rules::name_key;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use leptos::prelude::*;
use store::Store;
use wire::{ErrorCode, UserError};

/// The milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// Returns the text of a field; none for an empty one.
pub fn non_empty(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the id of the user whom a field names, by name or id; none for an empty field.
///
/// # Errors
/// The database is not available.
pub async fn user_id(store: &Store, text: Option<&str>) -> Result<Option<String>, UserError> {
    let Some(text) = non_empty(text) else { return Ok(None) };
    let named = store.user_by_name(&name_key(&text)).await.map_err(from_store_error)?;
    Ok(Some(named.map_or(text, |(user, _)| user.id)))
}

/// Returns the start of a day in UTC as Unix time in milliseconds.
///
/// # Errors
/// 400 for an invalid date.
pub fn day_start(day: Option<&str>) -> Result<Option<i64>, UserError> {
    let Some(day) = non_empty(day) else { return Ok(None) };
    let begin = day.parse::<Date>().ok().and_then(|date| date.to_zoned(TimeZone::UTC).ok());
    let begin = begin.map(|begin| Some(begin.timestamp().as_millisecond()));
    begin.ok_or_else(|| UserError::new(ErrorCode::Malformed, "A date must have the form 2026-11-21."))
}

/// Returns the end of a day in UTC as Unix time in milliseconds.
///
/// # Errors
/// The errors of [`day_start`].
pub fn day_end(day: Option<&str>) -> Result<Option<i64>, UserError> {
    Ok(day_start(day)?.map(|begin| begin + DAY_MS))
}

/// The options of a select field, such as the orders of a list.
pub trait Choice: Copy + PartialEq + 'static {
    /// Each option with its name in a URL and its label.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// Returns its name in a URL.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(choice, ..)| *choice == self).map_or("", |(_, name, _)| *name)
    }
}

/// Renders a select field.
pub fn select_field<C: Choice>(name: &'static str, label: &'static str, chosen: C) -> AnyView {
    let option = |(choice, value, text): &(C, &'static str, &'static str)| {
        view! { <option value=*value selected={*choice == chosen}>{*text}</option> }
    };
    options_field(name, label, C::ALL.iter().map(option).collect_view())
}

/// Renders a select field with options that are known only at runtime.
pub fn options_field(name: &'static str, label: &'static str, options: impl IntoView + 'static) -> AnyView {
    view! {
        <label class="cw-admin-field">
            <span>{label}</span>
            {select_box(name, options)}
        </label>
    }
    .into_any()
}

/// Renders an input field.
pub fn field(
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

/// Renders the two fields of a period of days, `from` and `to`.
pub fn period_fields(from: Option<&str>, to: Option<&str>) -> impl IntoView + use<> {
    view! {
        <div class="cw-admin-pair">
            {field("from", "From", "date", from)}
            {field("to", "To", "date", to)}
        </div>
    }
}

/// Renders an input field with suggestions.
pub fn field_with_suggestions(
    name: &'static str,
    label: &'static str,
    value: Option<&str>,
    suggestions: impl IntoIterator<Item = String>,
) -> impl IntoView {
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

/// Renders a checkbox, which sends `1`.
pub fn check_field(name: &'static str, label: &'static str, is_checked: bool) -> impl IntoView {
    view! { <label class="cw-admin-check"><input type="checkbox" name=name value="1" checked=is_checked />{label}</label> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_parsed_as_utc() {
        let check =
            |text: &str, expected: Option<Option<i64>>| assert_eq!(day_start(Some(text)).ok(), expected, "{text}");
        check("1970-01-02", Some(Some(DAY_MS)));
        check(" ", Some(None));
        check("yesterday", None);
        check("2026-02-30", None);
        assert_eq!(day_end(Some("1970-01-01")).unwrap(), Some(DAY_MS));
    }

    #[tokio::test]
    async fn users_are_found_by_name_and_by_id() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let user = store::NewUser {
            id: "u1".to_owned(),
            name: "Ada".to_owned(),
            name_key: name_key("Ada"),
            password: String::new(),
            must_change_password: false,
            roles: Vec::new(),
            now: 0,
        };
        store.add_user(user, false, None).await.unwrap();
        let check = async |text: Option<&str>, expected: Option<&str>| {
            assert_eq!(user_id(&store, text).await.unwrap().as_deref(), expected, "{text:?}");
        };
        check(Some(" ada "), Some("u1")).await;
        check(Some("u1"), Some("u1")).await;
        check(Some("somebody else's id"), Some("somebody else's id")).await;
        check(Some(""), None).await;
        check(None, None).await;
    }
}
