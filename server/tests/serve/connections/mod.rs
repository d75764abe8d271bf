//! Connections to the server and from it.

mod certificates;
mod http2;
mod transport;
