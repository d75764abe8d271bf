//! Renders the state of an added connection, and what was found about it.

use crate::current::Current;
use crate::store::{ListResult, StoredConnection, TestResult};
use crate::views::ConnectionDetail;
use added_entries::console::{entry_path, switch_button};
use leptos::prelude::*;
use web::admin::filters::options_field;
use web::html::{error_message, facts, number, seconds, text};
use web::times::minute;

/// Renders what is wrong, who uses it, the last test and the provider's list.
pub(super) fn state(detail: &ConnectionDetail) -> AnyView {
    let problems = detail.problems.iter().map(|problem| error_message(Some(format!("A problem: {problem}."))));
    let missing = (!detail.missing_agents.is_empty()).then(|| {
        let names = detail.missing_agents.join(", ");
        format!("Chosen for agents that are no longer in the config: {names}.")
    });
    let body = &detail.connection;
    let next = match (body.models.is_empty(), detail.used_by.is_empty()) {
        (true, _) => Some("No model is chosen. Choose one below."),
        (false, true) if body.enabled => Some("No agent uses it. Choose agents below, or make one of it."),
        _ => None,
    };
    let rows = [
        ("State", text(if body.enabled { "switched on" } else { "switched off" })),
        ("Provider", text(body.provider.title())),
        ("API key", text(if body.api_key.is_some() { "stored" } else { "none" })),
        ("Models", text(body.models.join(", "))),
        ("Used by", text(detail.used_by.join(", "))),
    ];
    view! {
        {problems.collect_view()}
        {error_message(missing)}
        {next.map(|next| view! { <p class="cw-account-note">{next}</p> })}
        {facts(rows)}
        {detail.tested.as_ref().map(test_result)}
        {detail.listed.as_ref().map(list_result)}
    }
    .into_any()
}

fn test_result(test: &TestResult) -> AnyView {
    if let Some(error) = &test.error {
        let error = format!("The test of {} failed ({} UTC): {error}", test.model, minute(test.at));
        return error_message(Some(error)).into_any();
    }
    let tokens = match (test.input_tokens, test.output_tokens) {
        (0, 0) => "the provider does not say".to_owned(),
        (input, output) => format!("{} in, {} out", number(input as f64), number(output as f64)),
    };
    let cost = test.cost_micro_usd.map(|micro| format!("${:.6}", micro as f64 / 1_000_000.0));
    let rows = [
        ("Last test (UTC)", text(minute(test.at))),
        ("Model", text(test.model.clone())),
        ("Answer", text(test.answer.clone())),
        ("Time", text(seconds(test.took_ms as f64))),
        ("Tokens", text(tokens)),
        ("Cost of the test", text(cost.unwrap_or_else(|| "not known: no tokens, or no price of the model".to_owned()))),
    ];
    facts(rows).into_any()
}

fn list_result(list: &ListResult) -> AnyView {
    match &list.error {
        Some(error) => error_message(Some(format!("The models could not be listed: {error}"))).into_any(),
        None => {
            let found = format!(
                "The provider names {} models ({} UTC). The field for a model suggests them.",
                number(list.models.len() as f64),
                minute(list.at)
            );
            view! { <p class="cw-account-note">{found}</p> }.into_any()
        }
    }
}

/// Renders the buttons: test, list, switch.
pub(super) fn buttons(connection: &StoredConnection, detail: &ConnectionDetail) -> AnyView {
    let path = entry_path::<Current>(&detail.name);
    let option = |model: &String| view! { <option value=model.clone()>{model.clone()}</option> };
    let models = &detail.connection.models;
    let choice =
        (models.len() > 1).then(|| options_field("model", "Model to test", models.iter().map(option).collect_view()));
    let test = (!models.is_empty()).then(|| {
        view! {
            <form method="post" action=format!("{path}/test")>
                {choice}
                <button class="cw-button">"Test"</button>
            </form>
        }
    });
    view! {
        <div class="cw-admin-acts">
            {test}
            <form method="post" action=format!("{path}/list")>
                <button class="cw-button">"List the provider's models"</button>
            </form>
            {switch_button::<Current>(connection)}
        </div>
        <p class="cw-account-note">"A test asks the model for one word, and is paid for as any other request."</p>
    }
    .into_any()
}
