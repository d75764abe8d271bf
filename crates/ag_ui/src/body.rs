//! The bytes of a request.

use crate::input::RunAgentInput;
use crate::section::AgUi;
use axum::extract::{FromRequest, Request};
use capability::Context;
use web::HttpError;
use web::openapi::{Description, RouteInput};
use wire::{ErrorCode, UserError};

/// The bytes of a body.
pub(crate) struct InputBody(bytes::Bytes);

impl FromRequest<Context> for InputBody {
    type Rejection = HttpError;

    async fn from_request(request: Request, context: &Context) -> Result<Self, HttpError> {
        let config = context.current.config();
        let section = section(&config)?;
        Ok(Self(web::read_json_body(request, section.body_bytes, config.limits.body_bytes).await?))
    }
}

impl RouteInput for InputBody {
    fn describe(description: &mut Description<'_>) {
        description.json_body::<RunAgentInput>();
    }
}

impl InputBody {
    /// Reads the body.
    pub(crate) async fn read(self) -> Result<RunAgentInput, UserError> {
        web::offloaded(self.0.len(), move || RunAgentInput::read(&self.0)).await?
    }
}

/// Returns the section.
///
/// # Errors
/// 404 if the routes are switched off.
pub(crate) fn section(config: &config::Config) -> Result<&AgUi, UserError> {
    config.section::<AgUi>().ok_or_else(|| {
        let message = "AG-UI is switched off here. The administrator switches it on with `agUi: {}` in the config.";
        UserError::new(ErrorCode::NotFound, message)
    })
}
