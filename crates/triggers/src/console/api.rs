//! The API for a trigger. The list is in `list`.

use super::{
    DeliveryBody, TestBody, TestResult, TriggerDetail, deliver_again, delivery_body, detail, find, set_paused, test,
};
use crate::engine::Triggers;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, valid_json};

pub(super) fn routes() -> ApiRouter<Triggers> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/triggers/{workflow}/{trigger}", show, "Get a trigger with its deliveries")
        .post("/api/admin/triggers/{workflow}/{trigger}/pause", pause, "Pause a trigger")
        .post("/api/admin/triggers/{workflow}/{trigger}/resume", resume, "Resume a trigger")
        .post("/api/admin/triggers/{workflow}/{trigger}/test", send_test, "Test a trigger")
        .get("/api/admin/triggers/{workflow}/{trigger}/deliveries/{id}", read, "Get the body of a delivery")
        .post(
            "/api/admin/triggers/{workflow}/{trigger}/deliveries/{id}/again",
            again,
            "Deliver a webhook again that has started nothing",
        )
}

/// `GET /api/admin/triggers/{workflow}/{trigger}`
async fn show(
    _: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
) -> Result<Json<TriggerDetail>, HttpError> {
    Ok(Json(detail(&triggers, &*find(&triggers, &names)?).await?))
}

/// `POST /api/admin/triggers/{workflow}/{trigger}/pause`
async fn pause(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
) -> Result<NoContent, HttpError> {
    set_paused(&triggers, &admin, &find(&triggers, &names)?, true).await?;
    Ok(NoContent)
}

/// `POST /api/admin/triggers/{workflow}/{trigger}/resume`
async fn resume(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
) -> Result<NoContent, HttpError> {
    set_paused(&triggers, &admin, &find(&triggers, &names)?, false).await?;
    Ok(NoContent)
}

/// `POST /api/admin/triggers/{workflow}/{trigger}/test`
async fn send_test(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
    sent: SentJson<TestBody>,
) -> Result<Json<TestResult>, HttpError> {
    let TestBody { event } = valid_json(sent)?;
    let trigger = find(&triggers, &names)?;
    Ok(Json(test(&triggers, &admin, &trigger, event).await?))
}

/// `GET /api/admin/triggers/{workflow}/{trigger}/deliveries/{id}`
async fn read(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path((workflow, trigger, id)): Path<(String, String, String)>,
) -> Result<Json<DeliveryBody>, HttpError> {
    let trigger = find(&triggers, &(workflow, trigger))?;
    Ok(Json(delivery_body(&triggers, &admin, &trigger, &id).await?))
}

/// `POST /api/admin/triggers/{workflow}/{trigger}/deliveries/{id}/again`
async fn again(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path((workflow, trigger, id)): Path<(String, String, String)>,
) -> Result<Json<TestResult>, HttpError> {
    let trigger = find(&triggers, &(workflow, trigger))?;
    Ok(Json(deliver_again(&triggers, &admin, &trigger, &id).await?))
}
