//! The layout of the console's pages, and number formats.

use super::Admin;
use crate::routes::accounts::layout::document;
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use wire::UserError;

/// The pages of the menu, in its order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsoleTab {
    Overview,
    Users,
    Access,
    Conversations,
    Feedback,
    Agents,
    Tools,
    Approvals,
    Retention,
    Config,
    Audit,
}

impl ConsoleTab {
    const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::Overview, "/admin", "Overview"),
        (Self::Users, "/admin/users", "Users"),
        (Self::Access, "/admin/access", "Access"),
        (Self::Conversations, "/admin/conversations", "Conversations"),
        (Self::Feedback, "/admin/feedback", "Feedback"),
        (Self::Agents, "/admin/agents", "Agents"),
        (Self::Tools, "/admin/tools", "Tools"),
        (Self::Approvals, "/admin/approvals", "Approvals"),
        (Self::Retention, "/admin/retention", "Retention"),
        (Self::Config, "/admin/config", "Config"),
        (Self::Audit, "/admin/audit", "Audit log"),
    ];
}

/// Renders a page with the menu.
pub(super) fn page(
    admin: &Admin,
    tab: ConsoleTab,
    status: StatusCode,
    title: &str,
    content: impl IntoView + 'static,
) -> Response {
    let who = admin.0.name.clone().unwrap_or_else(|| "Owner".to_owned());
    let link = |(of, path, name): (ConsoleTab, &'static str, &'static str)| {
        let current = (of == tab).then_some("page");
        view! { <li><a href=path aria-current=current>{name}</a></li> }
    };
    let body = view! {
        <a class="cw-admin-skip" href="#content">"Skip to content"</a>
        <header class="cw-admin-bar">
            <strong>"Admin console"</strong>
            <nav aria-label="Admin console">
                <ul class="cw-admin-menu">{ConsoleTab::ALL.map(link).collect_view()}</ul>
            </nav>
            <span class="cw-admin-who">{who}</span>
            <a href="/">"Back to the app"</a>
        </header>
        <main class="cw-admin" id="content" tabindex="-1">
            <h1>{title.to_owned()}</h1>
            {content}
        </main>
    };
    document(status, title, body)
}

/// Renders an error, with a link to the overview.
pub(super) fn error_page(error: &UserError) -> Response {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = view! {
        <main class="cw-account-page">
            <div class="cw-account-sheet">
                <h1>"Something went wrong"</h1>
                <p class="cw-account-problem" role="alert">{error.message.clone()}</p>
                <a class="cw-button" href="/admin">"Go to the overview"</a>
            </div>
        </main>
    };
    document(status, "Something went wrong", body)
}

/// Formats a whole number with thousands separators.
pub(super) fn number(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an amount in US dollars.
pub(super) fn dollars(value: f64) -> String {
    if value == 0.0 || value >= 0.01 { format!("${value:.2}") } else { "<$0.01".to_owned() }
}

/// Formats milliseconds as seconds.
pub(super) fn seconds(ms: f64) -> String {
    format!("{:.1} s", ms / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_amounts_and_times_are_formatted() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(0.0, "0");
        check(999.0, "999");
        check(1_000.0, "1,000");
        check(1_234_567.4, "1,234,567");
        assert_eq!([0.0, 0.004, 0.01, 12.345].map(dollars), ["$0.00", "<$0.01", "$0.01", "$12.35"]);
        assert_eq!(seconds(1_540.0), "1.5 s");
    }
}
