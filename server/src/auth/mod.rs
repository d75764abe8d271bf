//! Who calls, and from where: every request passes here before it reaches a route. And what a caller may use: see [`rights`].

#[cfg(test)]
mod doors;
mod host;
mod origin;
pub(crate) mod rights;

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
    request.extensions_mut().insert(local_owner());
    next.run(request).await
}

fn local_owner() -> Caller {
    let roles = config::OWNER_ROLES.map(str::to_owned).to_vec();
    Caller { user_id: LOCAL_OWNER.to_owned(), is_authenticated: true, roles }
}
