//! Renders the state of an added server, and what a test has found.

use crate::store::TestResult;
use crate::views::ServerDetail;
use leptos::prelude::*;
use web::html::Heading::Text;
use web::html::{error_message, facts, name, number, table, text};
use web::times::minute;

/// Renders what is wrong, its connections and the last test.
pub(super) fn state(detail: &ServerDetail) -> AnyView {
    let problem = detail.problem.as_ref().map(|problem| format!("The server is not used: {problem}."));
    let missing = (!detail.missing_agents.is_empty()).then(|| {
        let names = detail.missing_agents.join(", ");
        format!("Assigned to agents that are no longer in the config: {names}.")
    });
    let nobody = detail.server.agents.len() == detail.missing_agents.len();
    let status = detail.status.as_ref();
    let connections = match status {
        Some(status) => format!("{} open, {} recent users", status.open, status.users),
        None => "not used since this process was started".to_owned(),
    };
    let error = status.and_then(|status| {
        let error = status.error.clone()?;
        Some(format!("{error} ({} UTC)", status.failed_at.map(minute).unwrap_or_default()))
    });
    let rows = [
        ("State", text(if detail.server.enabled { "switched on" } else { "switched off" })),
        ("Connections", text(connections)),
        ("Last error", text(error.unwrap_or_default())),
        ("Tools in use", tool_names(status.map(|status| status.tools.as_slice()).unwrap_or_default())),
    ];
    view! {
        {error_message(problem)}
        {error_message(missing)}
        {nobody.then(|| view! { <p class="cw-account-note">"No agent gets its tools. Choose agents below."</p> })}
        {facts(rows)}
        {match &detail.tested {
            Some(test) => test_result(test),
            None => view! { <p class="cw-account-note">"Not tested in its current form."</p> }.into_any(),
        }}
    }
    .into_any()
}

/// Renders what a test has found.
pub(super) fn test_result(test: &TestResult) -> AnyView {
    let error = test.error.as_ref().map(|error| format!("The test failed: {error}"));
    let found = error.is_none().then(|| {
        let rows = [
            ("Tested (UTC)", text(minute(test.at))),
            ("Tools found", number(test.tools.len() as f64).into_any()),
            ("Names", tool_names(&test.tools)),
        ];
        facts(rows)
    });
    let left_out = (!test.left_out.is_empty()).then(|| {
        let lines = test.left_out.iter().map(|line| [text(line.clone())]);
        table([Text("Tools that agents cannot use")], lines, "")
    });
    view! {
        {error_message(error)}
        {found}
        {left_out}
    }
    .into_any()
}

fn tool_names(tools: &[String]) -> AnyView {
    if tools.is_empty() {
        return text("");
    }
    let names = tools.iter().enumerate().map(|(index, tool)| {
        let comma = (index > 0).then_some(", ");
        view! { {comma}{name(tool)} }
    });
    names.collect_view().into_any()
}
