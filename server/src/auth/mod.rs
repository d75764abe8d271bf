//! Who calls, and from where. Every request passes here before it reaches a route.

mod host;
mod origin;

pub(crate) use host::check as check_host;
pub(crate) use origin::check as check_origin;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use chat::Caller;

/// The owner of everything in `local` mode.
const LOCAL_OWNER: &str = "local";

/// Names the caller. In `local` mode (the only one yet) whoever can reach the loopback address is the one owner; the
/// server refuses to listen on any other.
pub(crate) async fn name_caller(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Caller { user_id: LOCAL_OWNER.to_owned() });
    next.run(request).await
}
