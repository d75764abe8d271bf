//! What stands before several servers, or before one that comes again at another place.

use crate::server::Server;
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Takes connections to servers in turn, past those that are not there.
pub(crate) struct Proxy {
    /// Where it is.
    pub(crate) origin: String,
    servers: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Proxy {
    /// Begins without a server.
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let servers: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let (known, turn) = (servers.clone(), AtomicUsize::new(0));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (known, first) = (known.clone(), turn.fetch_add(1, Relaxed));
                tokio::spawn(async move {
                    let servers = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    for place in 0..servers.len() {
                        if let Ok(mut server) = TcpStream::connect(servers[(first + place) % servers.len()]).await {
                            // Either side may go away at any time.
                            let _ = copy_bidirectional(&mut client, &mut server).await;
                            return;
                        }
                    }
                });
            }
        });
        Ok(Self { origin, servers })
    }

    /// Leads to these from now on.
    pub(crate) fn lead_to<'a>(&self, servers: impl Iterator<Item = &'a Server>) -> Result<()> {
        let address = |server: &Server| Ok(server.origin.strip_prefix("http://").context("no address")?.parse()?);
        let addresses = servers.map(address).collect::<Result<_>>()?;
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
        Ok(())
    }
}
