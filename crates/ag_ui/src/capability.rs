//! The capability of a running server.

use crate::routes;
use crate::section::AgUi;
use axum::response::IntoResponse;
use capability::{Capability, Context, Definition};
use config::SectionType;
use std::sync::Arc;
use web::openapi::ApiRouter;
use web::{ApiFormat, HttpError};

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<AgUi>()],
    start: Some(|_| Ok(Arc::new(Frontends))),
    ..Definition::new("ag_ui")
};

struct Frontends;

impl Capability for Frontends {
    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    /// The errors are those of the API; the prefix lets API keys in.
    fn api_format(&self) -> Option<ApiFormat> {
        Some(ApiFormat { prefix: "/ag-ui/", error: |error| HttpError(error).into_response() })
    }
}
