//! The parts of an experiment's page.

use super::EXPERIMENTS;
use super::case_names::CaseNames;
use super::experiments::{measure_label, percent, state_view};
use super::plot::interval;
use crate::store::Experiment;
use evaluation::{CaseResult, Change, ConfigReport, Difference, Estimate, PairReport, Report};
use leptos::prelude::*;
use std::collections::BTreeSet;
use web::admin::UserNames;
use web::html::Heading::{Number, Text};
use web::html::{dollars, facts, link, number, table, table_of, text, text_area_content};
use web::query_encoded;
use web::times::minute;

/// The most cases of a list.
const MAX_SHOWN: usize = 200;

/// Renders how far the experiment is, what it costs, and how it is stopped or continued.
pub(super) fn run_part(experiment: &Experiment) -> AnyView {
    let path = format!("{EXPERIMENTS}/{}", experiment.id);
    let estimate = experiment.estimate_usd.map_or_else(|| text("after the first case"), |cost| text(money(cost)));
    let is_ours = experiment.dataset_id.is_some() && !experiment.settings.agents.is_empty();
    let mut about = vec![
        ("State", state_view(experiment)),
        ("Results", text(format!("{} of {}", experiment.done, experiment.total))),
        ("Cost", text(money(experiment.spent_usd))),
    ];
    if is_ours {
        about.push(("Estimate", estimate));
        about.push(("At most", text(experiment.settings.max_cost_usd.map(money).unwrap_or_default())));
    }
    let stop = (!experiment.state.is_over()).then(|| {
        view! { <form method="post" action=format!("{path}/stop")><button class="cw-button">"Stop"</button></form> }
    });
    let may_continue = is_ours && experiment.state.is_over() && experiment.done < experiment.total.max(1);
    let cost = experiment.settings.max_cost_usd.map(|cost| cost.to_string()).unwrap_or_default();
    let go_on = may_continue.then(|| {
        view! {
            <form class="cw-admin-filter" method="post" action=format!("{path}/continue")>
                <label class="cw-admin-field">
                    <span>"At most (US$)"</span>
                    <input type="number" name="cost" value=cost min="0" max="10000" step="any" />
                </label>
                <button class="cw-button">"Continue"</button>
            </form>
        }
    });
    view! {
        <section class="cw-account-part" aria-labelledby="state">
            <h2 id="state">"Run"</h2>
            {facts(about)}
            {experiment.cause.clone().map(|cause| view! { <p class="cw-account-problem">{cause}</p> })}
            {progress_view(experiment)}
            {stop}
            {go_on}
        </section>
    }
    .into_any()
}

fn progress_view(experiment: &Experiment) -> Option<impl IntoView + use<>> {
    let (done, total) = (experiment.done, experiment.total);
    (!experiment.state.is_over() && total > 0).then(|| {
        view! {
            <progress class="cw-eval-progress" max=total value=done aria-label="Results">{format!("{done} of {total}")}</progress>
        }
    })
}

/// Formats an amount exactly, since answers cost little.
fn money(value: f64) -> String {
    if value > 0.0 && value < 1.0 { format!("${value:.4}") } else { dollars(value) }
}

/// Renders the measures of each config with their intervals, and their difference.
pub(super) fn measures_part(report: &Report, form: Option<AnyView>) -> AnyView {
    let names: BTreeSet<_> = report.configs.iter().flat_map(|config| config.scorers.keys()).collect();
    let names: Vec<_> = std::iter::once("passed").chain(names.into_iter().map(String::as_str)).collect();
    let compared = report.comparison.is_some();
    let mut columns = vec![Text("Measure")];
    columns.extend(if compared { vec![Text("First"), Text("Second"), Text("Difference")] } else { vec![Text("Mean")] });
    let row = |name: &&str| {
        let mut cells = vec![text(measure_label(name))];
        cells.extend(report.configs.iter().map(|config| estimate_cell(estimate_of(config, name))));
        if let Some(pair) = &report.comparison {
            cells.push(difference_cell(pair.differences.iter().find(|difference| difference.measure == *name)));
        }
        cells
    };
    let used = [
        (
            "Cost",
            report.configs.iter().map(|config| money(config.cost_usd + config.judge_cost_usd)).collect::<Vec<_>>(),
        ),
        ("Mean time", report.configs.iter().map(|config| format!("{:.2} s", config.mean_seconds)).collect()),
        ("Tokens", report.configs.iter().map(tokens).collect()),
        ("Without an answer", report.configs.iter().map(|config| config.errors.to_string()).collect()),
    ];
    let used_row = |(name, values): (&'static str, Vec<String>)| {
        let mut cells = vec![text(name)];
        cells.extend(values.into_iter().map(text));
        if compared {
            cells.push(text(""));
        }
        cells
    };
    let rows: Vec<_> = names.iter().map(row).chain(used.into_iter().map(used_row)).collect();
    view! {
        <section class="cw-account-part" aria-labelledby="measures">
            <h2 id="measures">"Measures"</h2>
            {form}
            {configs_line(report)}
            {table_of(&columns, rows, "")}
            <p class="cw-account-note">"The bars and brackets are 95 % intervals over the cases. A difference whose interval contains 0, or that only one case has measured, may be chance."</p>
        </section>
    }
    .into_any()
}

fn configs_line(report: &Report) -> AnyView {
    let cases = |config: &ConfigReport| format!("{} ({} cases)", config.config, config.cases);
    match report.configs.as_slice() {
        [first, second] => {
            let preferred =
                report.comparison.as_ref().and_then(|pair| pair.preferred).map(|[first, second, neither]| {
                    format!(
                        " A judge prefers the first {first} times, the second {second} times, neither {neither} times."
                    )
                });
            let line = format!("First: {}. Second: {}.", cases(first), cases(second));
            view! { <p>{line}{preferred}</p> }.into_any()
        }
        configs => view! { <p>{configs.iter().map(cases).collect::<Vec<_>>().join(", ")}</p> }.into_any(),
    }
}

fn tokens(config: &ConfigReport) -> String {
    format!("{} + {}", number(config.input_tokens as f64), number(config.output_tokens as f64))
}

fn estimate_of<'a>(config: &'a ConfigReport, name: &str) -> Option<&'a Estimate> {
    if name == "passed" { Some(&config.passed) } else { config.scorers.get(name) }
}

fn estimate_cell(estimate: Option<&Estimate>) -> AnyView {
    let Some(estimate) = estimate.filter(|estimate| estimate.count > 0) else { return text("") };
    let numbers = format!("{} [{}, {}]", percent(estimate.mean), bare(estimate.low), bare(estimate.high));
    view! { <span class="cw-eval-measure">{numbers}" "{interval(estimate.mean, estimate.low, estimate.high)}</span> }
        .into_any()
}

fn bare(part: f64) -> String {
    format!("{:.0}", part * 100.0)
}

/// Renders a difference in percentage points, and whether it is no chance.
fn difference_cell(difference: Option<&Difference>) -> AnyView {
    let Some(difference) = difference else { return text("") };
    let Estimate { mean, low, high, .. } = difference.difference;
    let points = |part: f64| if part == 0.0 { "0".to_owned() } else { format!("{:+.0}", part * 100.0) };
    let numbers = format!("{} [{}, {}]", points(mean), points(low), points(high));
    let (class, verdict) = match (difference.is_worse(), difference.is_better()) {
        (true, _) => ("cw-eval-worse", "worse"),
        (_, true) => ("cw-eval-better", "better"),
        _ if low == high && mean == 0.0 => ("cw-eval-even", "same"),
        _ => ("cw-eval-even", "may be chance"),
    };
    view! { <span class="cw-eval-measure">{numbers}" "<span class=class>{verdict}</span></span> }.into_any()
}

/// Renders the cases that differ, those that got worse first.
pub(super) fn changes_part(
    experiment: &Experiment,
    pair: Option<&PairReport>,
    (with, cases): (Option<&str>, &CaseNames),
) -> Option<AnyView> {
    let pair = pair?;
    let row = |change: &Change| {
        let measures = change.measures.iter().map(|(name, before, after)| {
            format!("{}: {} → {}", measure_label(name), percent(*before), percent(*after))
        });
        let verdict = match change.difference() {
            difference if difference < 0.0 => view! { <span class="cw-eval-worse">"worse"</span> }.into_any(),
            _ => view! { <span class="cw-eval-better">"better"</span> }.into_any(),
        };
        [
            link(case_path(experiment, &change.case, with), cases.get(&change.case)),
            verdict,
            text(measures.collect::<Vec<_>>().join("; ")),
        ]
    };
    let columns = [Text("Case"), Text("Change"), Text("Measures")];
    let part = view! {
        <section class="cw-account-part" aria-labelledby="changes">
            <h2 id="changes">"Changed cases, worst first"</h2>
            {table(columns, pair.changes.iter().take(MAX_SHOWN).map(row), "No case changed.")}
        </section>
    };
    Some(part.into_any())
}

/// Returns the page of a case in an experiment.
pub(super) fn case_path(experiment: &Experiment, case: &str, with: Option<&str>) -> String {
    let with = with.map(|with| format!("&with={with}")).unwrap_or_default();
    format!("{EXPERIMENTS}/{}/case?case={}{with}", experiment.id, query_encoded(case))
}

/// Renders the results that did not pass.
pub(super) fn failures_part(experiment: &Experiment, failures: &[CaseResult], cases: &CaseNames) -> AnyView {
    let row = |result: &CaseResult| {
        let failed = result.scores.iter().filter(|score| !score.passed);
        let reasons = failed.map(|score| format!("{}: {}", score.scorer, score.reason));
        let why: Vec<_> = result.error.clone().into_iter().chain(reasons).collect();
        let score = result.scores.iter().map(|score| score.score).fold(0.0, |sum, score| sum + score);
        let score = if result.scores.is_empty() { String::new() } else { percent(score / result.scores.len() as f64) };
        [
            link(case_path(experiment, &result.case, None), cases.get(&result.case)),
            text(result.config.clone()),
            text(score),
            text(why.join("; ")),
        ]
    };
    let columns = [Text("Case"), Text("Config"), Number("Score"), Text("Why")];
    view! {
        <section class="cw-account-part" aria-labelledby="failures">
            <h2 id="failures">"Failed results"</h2>
            {table(columns, failures.iter().take(MAX_SHOWN).map(row), "Every result passes.")}
            <p><a href=case_path(experiment, "", None)>"All cases"</a></p>
        </section>
    }
    .into_any()
}

/// Renders the decision, or the form for it.
pub(super) fn decision_part(experiment: &Experiment, names: &UserNames) -> Option<AnyView> {
    if !experiment.state.is_over() {
        return None;
    }
    let known = experiment.decision.as_ref().map(|decision| {
        let what = if decision.is_adopted { "Adopted" } else { "Rejected" };
        let note = decision.note.clone();
        view! {
            <p>
                <strong>{what}</strong>" by "{names.view(&decision.decided_by)}
                {format!(", {} UTC.", minute(decision.decided_at))}
            </p>
            {(!note.is_empty()).then(|| view! { <p class="cw-admin-text" dir="auto">{note}</p> })}
        }
    });
    let is_decided = known.is_some();
    let note = text_area_content("");
    let replaces = experiment.decision.as_ref().map(|decision| decision.decided_at.to_string());
    let form = view! {
        <form class="cw-eval-form" method="post" action=format!("{EXPERIMENTS}/{}/decision", experiment.id)>
            {replaces.map(|at| view! { <input type="hidden" name="replaces" value=at /> })}
            <label class="cw-eval-field"><span>"Note"</span><textarea name="note" rows="2" maxlength="2000" inner_html=note></textarea></label>
            <div class="cw-admin-acts">
                <button class="cw-button cw-primary" name="decision" value="adopt">"Adopt"</button>
                <button class="cw-button" name="decision" value="reject">"Reject"</button>
            </div>
        </form>
    };
    let form = if is_decided {
        view! { <details class="cw-admin-call"><summary>"Change the decision"</summary>{form}</details> }.into_any()
    } else {
        form.into_any()
    };
    let part = view! {
        <section class="cw-account-part" aria-labelledby="decision">
            <h2 id="decision">"Decision"</h2>
            {known}
            {form}
        </section>
    };
    Some(part.into_any())
}
