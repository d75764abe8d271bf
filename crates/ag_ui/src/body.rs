//! The bytes of a request.

use crate::input::RunAgentInput;
use crate::section::AgUi;
use axum::extract::{FromRequest, Request};
use capability::Context;
use offload::Pool;
use std::sync::LazyLock;
use web::HttpError;
use web::openapi::{Description, RouteInput};
use wire::{ErrorCode, UserError};

/// More bytes are read on a thread of low priority.
const LARGE: usize = 64 << 10;

/// Reads large bodies, and decodes the large files in them. Each may take 64 MB, so few wait.
static READERS: LazyLock<Pool> = LazyLock::new(|| Pool::new("ag-ui-body", 8 << 20, 32));

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
        offloaded(self.0.len(), move || RunAgentInput::read(&self.0)).await?
    }
}

/// Does work on this many bytes, on a thread of low priority if they are many.
///
/// # Errors
/// 503 while too much work is waiting.
pub(crate) async fn offloaded<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, UserError> {
    if bytes <= LARGE {
        return Ok(work());
    }
    READERS.run(move |_| work()).await.map_err(|_| busy())
}

/// Too much work of this kind is waiting.
pub(crate) fn busy() -> UserError {
    let message = "The server is busy with other requests. Try again in a moment.";
    UserError { retry_after: Some(2), ..UserError::new(ErrorCode::Unavailable, message) }
}

/// Returns the section.
///
/// # Errors
/// 404 if the routes are switched off.
pub(crate) fn section(config: &config::Config) -> Result<&AgUi, UserError> {
    config.section::<AgUi>().ok_or_else(|| {
        let message =
            "AG-UI is switched off here. Whoever runs this server switches it on with `agUi: {}` in the config.";
        UserError::new(ErrorCode::NotFound, message)
    })
}
