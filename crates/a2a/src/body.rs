//! The bytes of a request.

use crate::error::{Refusal, RpcError};
use crate::rpc::{Call, CallId, CallSchema};
use crate::section::A2a;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use capability::Context;
use web::openapi::{Description, RouteInput};

/// The bytes of a body.
pub(crate) struct CallBody(Bytes);

impl FromRequest<Context> for CallBody {
    type Rejection = Refusal;

    async fn from_request(request: Request, context: &Context) -> Result<Self, Refusal> {
        let config = context.current.config();
        let section = A2a::of(&config)?;
        Ok(Self(web::read_json_body(request, section.body_bytes, config.limits.body_bytes).await?))
    }
}

impl RouteInput for CallBody {
    fn describe(description: &mut Description<'_>) {
        description.json_body::<CallSchema>();
    }
}

impl CallBody {
    /// Reads the body.
    pub(crate) async fn read(self) -> Result<Call, (Option<CallId>, RpcError)> {
        web::offloaded(self.0.len(), move || Call::read(&self.0)).await.map_err(|error| (None, error.into()))?
    }
}
