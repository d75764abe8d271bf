//! Forms with a single button, messages of forms, and texts with code.

use leptos::prelude::*;

/// Renders an error. Screen readers announce it at once. Text between two backticks is code.
pub fn error_message(text: Option<String>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-problem" role="alert">{text_with_code(&text)}</p> })
}

/// Renders a success message.
pub fn success_message(text: Option<&'static str>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-done" role="status">{text}</p> })
}

/// Renders the button of a row, which sends a form to `path`. `label` describes it for screen
/// readers, because `text` is the same in all rows.
pub fn row_button(path: String, text: &'static str, label: String) -> AnyView {
    row_button_with([], path, text, label)
}

/// Renders the button of a row as [`row_button`]; its form also sends these values.
pub fn row_button_with<const N: usize>(
    values: [(&'static str, String); N],
    path: String,
    text: &'static str,
    label: String,
) -> AnyView {
    let inputs = values.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value /> });
    view! {
        <form method="post" action=path>
            {inputs.collect_view()}
            <button class="cw-button" aria-label=label>{text}</button>
        </form>
    }
    .into_any()
}

/// Renders a select box with these options, without its label.
pub fn select_box(name: &'static str, options: impl IntoView + 'static) -> AnyView {
    view! {
        <span class="cw-select">
            <select name=name>{options}</select>
        </span>
    }
    .into_any()
}

/// Returns the text of a `textarea` as its `inner_html`: Leptos does not escape the children of this
/// element, so a text with `</textarea>` would become markup.
pub fn text_area_content(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Renders a text. Text between two backticks is code.
pub fn text_with_code(text: &str) -> AnyView {
    // A backtick without a second one is an ordinary character.
    if !text.matches('`').count().is_multiple_of(2) {
        return text.to_owned().into_any();
    }
    let parts = text.split('`').zip([false, true].into_iter().cycle());
    let part = |(part, is_code): (&str, bool)| {
        let part = part.to_owned();
        if is_code { view! { <code>{part}</code> }.into_any() } else { part.into_any() }
    };
    parts.filter(|(part, _)| !part.is_empty()).map(part).collect_view().into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_buttons_send_their_values() {
        let [path, label] = ["/remove", "Remove Ada"].map(str::to_owned);
        let html = row_button_with([("user", "a&b".to_owned())], path, "Remove", label).to_html();
        assert!(html.contains(r#"name="user" value="a&amp;b""#), "{html}");
    }

    #[test]
    fn errors_show_code() {
        let check = |text: &str, expected: &str| {
            let html = error_message(Some(text.to_owned())).to_html().replace("<!>", "");
            assert!(html.ends_with(&format!(">{expected}</p>")), "{html}");
        };
        check("There is no role `admn`.", "There is no role <code>admn</code>.");
        check("The name is <taken>.", "The name is &lt;taken&gt;.");
    }

    #[test]
    fn code_stands_between_backticks() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text_with_code(text).to_html().replace("<!>", ""), expected);
        };
        check("Set `A_KEY`, such as to `<b>`", "Set <code>A_KEY</code>, such as to <code>&lt;b&gt;</code>");
        check("`a``b`", "<code>a</code><code>b</code>");
        check("One ` is itself.", "One ` is itself.");
        check("None.", "None.");
    }
}
