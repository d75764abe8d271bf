//! The accept loop. `axum::serve` gives hyper no timer, so hyper's timeouts have no effect, and it
//! accepts any number of connections. This loop sets the timer, limits connections, and closes
//! connections that stay silent or cancel too many requests.

mod resets;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use config::Limits;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use resets::ResetCounter;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// The silence on an HTTP/2 connection before a ping is sent, and the time to answer the ping.
const H2_PING_INTERVAL: Duration = Duration::from_secs(20);
/// The maximum number of concurrent requests on an HTTP/2 connection.
const H2_MAX_STREAMS: u32 = 100;
/// The maximum size of a request's header names and values over HTTP/2, in bytes. A header block
/// that does not end closes the connection.
const H2_MAX_HEADER_BYTES: u32 = 16 * 1024;
/// The maximum number of requests that a client may cancel before they are accepted; then the
/// connection is closed.
const H2_MAX_PENDING_RESETS: usize = 20;
/// The first bytes of an HTTP/2 connection.
const H2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The interval at which a partly received preface is checked.
const PREFACE_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The pause after `accept` failed, for example because no file descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The time that open connections have to end when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves until `stop` is cancelled, then lets open requests end.
pub(crate) async fn serve(listener: TcpListener, app: Router, limits: &Limits, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(limits.connections));
    let by_address =
        Arc::new(ConnectionCounts { max_per_address: limits.connections_per_address, by_address: Mutex::default() });
    let (builder, patience, write) = (connection_builder(limits), limits.header_read, limits.write);
    loop {
        let Some((stream, peer, slot)) = accept(&listener, &slots, &stop).await else { break };
        let Some(counted) = ConnectionCounts::try_add(&by_address, peer.ip()) else { continue };
        let (app, resets) = (app.clone(), Arc::new(ResetCounter::for_peer(peer.ip())));
        let counted_resets = resets.clone();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| counted_resets.track_body(body));
            request.extensions_mut().insert(ConnectInfo(peer));
            counted_resets.track(app.clone().oneshot(request))
        });
        let (builder, watcher, stop) = (builder.clone(), graceful.watcher(), stop.clone());
        tokio::spawn(async move {
            let is_http1 = tokio::select! {
                is_http1 = tokio::time::timeout(patience, wait_for_protocol(&stream)) => match is_http1 {
                    Ok(is_http1) => is_http1,
                    Err(_) => return,
                },
                () = stop.cancelled() => false,
            };
            // If hyper detects the protocol, it reads the first bytes separately, which doubles the buffer of the connection.
            let builder = if is_http1 { builder.http1_only() } else { builder };
            let connection =
                builder.serve_connection(TokioIo::new(with_write_timeout(stream, write)), service).into_owned();
            tokio::select! {
                ended = watcher.watch(connection) => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = resets.exceeded() => tracing::warn!(%peer, "a client cancels too many requests; its connection is closed"),
            }
            drop((slot, counted));
        });
    }
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await.is_err() {
        tracing::debug!("some connections were still open and were closed");
    }
}

/// Wraps a connection so that it fails when its client reads nothing for `write`. Over HTTP/2 a
/// client may leave one response unread while it reads others; the flow-control window bounds the
/// memory of the unread one.
fn with_write_timeout(stream: TcpStream, write: Duration) -> Pin<Box<TimeoutStream<TcpStream>>> {
    let mut bounded = TimeoutStream::new(stream);
    bounded.set_write_timeout(Some(write));
    Box::pin(bounded)
}

/// Waits until the client's protocol is known, and returns whether it is HTTP/1. Hyper detects it as
/// well, but without a timeout.
async fn wait_for_protocol(stream: &TcpStream) -> bool {
    let mut first = [0; H2_PREFACE.len()];
    loop {
        // Hyper handles the end of the connection.
        let Ok(read @ 1..) = stream.peek(&mut first).await else { return false };
        if !H2_PREFACE.starts_with(&first[..read]) {
            return true;
        }
        if read == first.len() {
            return false;
        }
        // These bytes are a prefix of the preface, so the protocol is not known yet.
        tokio::time::sleep(PREFACE_POLL_INTERVAL).await;
    }
}

fn connection_builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_read);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(H2_MAX_STREAMS)
        .max_header_list_size(H2_MAX_HEADER_BYTES)
        .max_pending_accept_reset_streams(H2_MAX_PENDING_RESETS)
        .keep_alive_interval(H2_PING_INTERVAL)
        .keep_alive_timeout(H2_PING_INTERVAL);
    builder
}

/// Accepts the next connection when the connection limit allows it; none when the server stops.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    loop {
        let slot = tokio::select! {
            () = stop.cancelled() => return None,
            slot = slots.clone().acquire_owned() => slot.ok()?,
        };
        tokio::select! {
            () = stop.cancelled() => return None,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    // Deltas are small and must not be delayed by Nagle's algorithm.
                    let _ = stream.set_nodelay(true);
                    return Some((stream, peer, slot));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

/// Counts open connections per address. Loopback is not counted: it is a reverse proxy or the owner
/// of the machine.
struct ConnectionCounts {
    max_per_address: usize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// A counted connection, which is subtracted from the count when dropped.
struct CountedConnection {
    counts: Arc<ConnectionCounts>,
    address: IpAddr,
}

impl ConnectionCounts {
    fn try_add(this: &Arc<Self>, address: IpAddr) -> Option<CountedConnection> {
        if !address.is_loopback() {
            let mut open = this.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            let count = open.entry(address).or_default();
            if *count >= this.max_per_address {
                return None;
            }
            *count += 1;
        }
        Some(CountedConnection { counts: this.clone(), address })
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut open = self.counts.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_per_address_are_limited() {
        let by_address = Arc::new(ConnectionCounts { max_per_address: 2, by_address: Mutex::default() });
        let enter = |address: &str| ConnectionCounts::try_add(&by_address, address.parse().unwrap());
        let (first, second) = (enter("192.0.2.1"), enter("192.0.2.1"));
        assert!(first.is_some() && second.is_some(), "up to the limit");
        assert!(enter("192.0.2.1").is_none(), "over the limit");
        assert!(enter("192.0.2.2").is_some(), "other addresses are not limited");
        drop(first);
        let third = enter("192.0.2.1");
        assert!(third.is_some() && enter("192.0.2.1").is_none(), "a closed connection frees a slot");
        let loopback: Vec<_> = (0..9).map(|_| enter("127.0.0.1")).collect();
        assert!(loopback.iter().all(Option::is_some), "loopback is not limited");
        drop((second, third, loopback));
        assert!(by_address.by_address.lock().unwrap().is_empty(), "closed connections leave no entry");
    }
}
