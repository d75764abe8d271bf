//! The accept loop. `axum::serve` gives hyper no timer, so its time limits are inert, and it takes any number of
//! connections (D2); this one does both, and ends connections that say nothing or take everything back (A35).

mod resets;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use config::Limits;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use resets::Resets;
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

/// Silence on an HTTP/2 connection before it is probed, and how long the probe may take.
const H2_PROBE: Duration = Duration::from_secs(20);
/// Requests of one HTTP/2 connection at once.
const H2_STREAMS: u32 = 100;
/// Bytes of the names and values of a request's headers over HTTP/2. What goes on without an end is cut off with its connection.
const H2_HEADERS: u32 = 16 * 1024;
/// Requests that a client takes back before they are looked at, until its connection ends.
const H2_TAKEN_BACK: usize = 20;
/// With what a client says that it speaks HTTP/2.
const H2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Between two looks at a preface of which only a part has come.
const LOOK: Duration = Duration::from_millis(50);
/// A pause after `accept` failed, for example because no file descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long open connections may take to end when the server stops.
const CLOSE: Duration = Duration::from_secs(2);

/// Serves until `stop`, then lets open requests end.
pub(crate) async fn serve(listener: TcpListener, app: Router, limits: &Limits, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(limits.connections));
    let by_address = Arc::new(ByAddress { most: limits.connections_per_address, open: Mutex::default() });
    let (builder, patience, write) = (builder(limits), limits.header_read, limits.write);
    loop {
        let Some((stream, peer, slot)) = accept(&listener, &slots, &stop).await else { break };
        let Some(counted) = ByAddress::enter(&by_address, peer.ip()) else { continue };
        let (app, resets) = (app.clone(), Arc::new(Resets::of(peer.ip())));
        let counted_resets = resets.clone();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| counted_resets.body(body));
            request.extensions_mut().insert(ConnectInfo(peer));
            counted_resets.follow(app.clone().oneshot(request))
        });
        let (builder, watcher, stop) = (builder.clone(), graceful.watcher(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                said = tokio::time::timeout(patience, speaks(&stream)) => if said.is_err() { return },
                () = stop.cancelled() => {}
            }
            let connection = builder.serve_connection(TokioIo::new(bounded(stream, write)), service).into_owned();
            tokio::select! {
                ended = watcher.watch(connection) => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = resets.are_too_many() => tracing::warn!(%peer, "a client takes back its requests; its connection is closed"),
            }
            drop((slot, counted));
        });
    }
    if tokio::time::timeout(CLOSE, graceful.shutdown()).await.is_err() {
        tracing::debug!("some connections were cut");
    }
}

/// A connection that ends with an error when its client takes nothing for so long (F26). Over HTTP/2 a client may leave one answer alone and
/// read others; that one is held by its window and costs no more than it.
fn bounded(stream: TcpStream, write: Duration) -> Pin<Box<TimeoutStream<TcpStream>>> {
    let mut bounded = TimeoutStream::new(stream);
    bounded.set_write_timeout(Some(write));
    Box::pin(bounded)
}

/// Waits until a client has said which protocol it speaks. Hyper finds that out as well, but waits for it without an end.
async fn speaks(stream: &TcpStream) {
    let mut first = [0; H2_PREFACE.len()];
    // A part of the preface tells nothing yet; anything else does, the end of the connection as well.
    while let Ok(read @ 1..) = stream.peek(&mut first).await
        && read < first.len()
        && H2_PREFACE.starts_with(&first[..read])
    {
        tokio::time::sleep(LOOK).await;
    }
}

fn builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_read);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(H2_STREAMS)
        .max_header_list_size(H2_HEADERS)
        .max_pending_accept_reset_streams(H2_TAKEN_BACK)
        .keep_alive_interval(H2_PROBE)
        .keep_alive_timeout(H2_PROBE);
    builder
}

/// The next connection, once there is room for it; none when the server stops.
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
                    // Deltas are small and must not wait for each other.
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

/// Open connections by address; loopback is not counted, it is a reverse proxy or the owner.
struct ByAddress {
    most: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection; leaves the count when dropped.
struct Counted {
    of: Arc<ByAddress>,
    address: IpAddr,
}

impl ByAddress {
    fn enter(this: &Arc<Self>, address: IpAddr) -> Option<Counted> {
        if !address.is_loopback() {
            let mut open = this.open.lock().unwrap_or_else(PoisonError::into_inner);
            let count = open.entry(address).or_default();
            if *count >= this.most {
                return None;
            }
            *count += 1;
        }
        Some(Counted { of: this.clone(), address })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.of.open.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn connections_of_one_address_are_bounded() {
        let by_address = Arc::new(ByAddress { most: 2, open: Mutex::default() });
        let enter = |address: &str| ByAddress::enter(&by_address, address.parse().unwrap());
        let (first, second) = (enter("192.0.2.1"), enter("192.0.2.1"));
        assert!(first.is_some() && second.is_some(), "below it and at it");
        assert!(enter("192.0.2.1").is_none(), "above it");
        assert!(enter("192.0.2.2").is_some(), "not others");
        drop(first);
        let third = enter("192.0.2.1");
        assert!(third.is_some() && enter("192.0.2.1").is_none(), "one place came back");
        let loopback: Vec<_> = (0..9).map(|_| enter("127.0.0.1")).collect();
        assert!(loopback.iter().all(Option::is_some), "loopback is a proxy, or the owner");
        drop((second, third, loopback));
        assert!(by_address.open.lock().unwrap().is_empty(), "nothing is kept of those who went");
    }
}
