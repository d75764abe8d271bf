//! The pages with which administrators keep cases, run experiments, and decide.

mod case_names;
mod case_page;
mod dataset_page;
mod datasets;
mod download;
mod experiment_page;
mod experiment_parts;
mod experiments;
mod plot;
mod result_page;
mod verdicts;

use crate::api;
use crate::service::Service;
use axum::Router;
use axum::routing::{get, post};
use web::admin::{MenuEntry, MenuGroup, Section};

/// The page of datasets.
pub(crate) const DATASETS: &str = "/admin/datasets";
/// The page of experiments.
pub(crate) const EXPERIMENTS: &str = "/admin/experiments";

/// The actions in the audit log.
const ACTIONS: &[&str] = &[
    "add_dataset",
    "change_dataset",
    "delete_dataset",
    "export_dataset",
    "keep_case",
    "put_cases",
    "remove_case",
    "start_experiment",
    "stop_experiment",
    "continue_experiment",
    "upload_experiment",
    "decide_experiment",
    "give_verdict",
];

/// Returns the section of the console.
pub(crate) fn section(service: Service) -> Section {
    let pages = Router::new()
        .route(DATASETS, get(datasets::show).post(datasets::add))
        .route("/admin/datasets/keep/{conversation}/{message}", post(datasets::keep))
        .route("/admin/datasets/{id}", get(dataset_page::show).post(dataset_page::change))
        .route("/admin/datasets/{id}/import", post(dataset_page::import))
        .route("/admin/datasets/{id}/export/{format}", get(download::export))
        .route("/admin/datasets/{id}/delete", get(datasets::confirm).post(datasets::delete))
        .route("/admin/datasets/{id}/experiments", post(dataset_page::start))
        .route("/admin/datasets/{id}/cases", get(case_page::new).post(case_page::add))
        .route("/admin/datasets/{id}/cases/{case}", get(case_page::show).post(case_page::change))
        .route("/admin/datasets/{id}/cases/{case}/delete", post(case_page::delete))
        .route(EXPERIMENTS, get(experiments::show))
        .route("/admin/experiments/uploads", post(experiments::upload))
        .route("/admin/experiments/{id}", get(experiment_page::show))
        .route("/admin/experiments/{id}/stop", post(experiment_page::stop))
        .route("/admin/experiments/{id}/continue", post(experiment_page::go_on))
        .route("/admin/experiments/{id}/decision", post(experiment_page::decide))
        .route("/admin/experiments/{id}/verdict", post(verdicts::give))
        .route("/admin/experiments/{id}/case", get(result_page::show));
    Section {
        menu: vec![
            MenuEntry { group: MenuGroup::Agents, path: DATASETS, title: "Datasets" },
            MenuEntry { group: MenuGroup::Agents, path: EXPERIMENTS, title: "Experiments" },
        ],
        actions: ACTIONS.iter().map(|action| format!("admin:{action}")).collect(),
        routes: api::routes().with_pages(pages).map(|router| router.with_state(service)),
    }
}

/// Reads an amount in US dollars; an empty field is none.
fn amount(field: &str) -> Option<f64> {
    let field = field.trim();
    // A text that is no number is rejected as a value that is too high.
    (!field.is_empty()).then(|| field.parse().unwrap_or(f64::INFINITY))
}
