//! A TCP proxy in front of several servers, or of one server whose port changes.

use crate::server::Server;
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Distributes connections in turn and skips servers that cannot be reached.
pub(crate) struct Proxy {
    /// The origin of its URL.
    pub(crate) origin: String,
    servers: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Proxy {
    /// Starts the proxy without servers.
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
                    for offset in 0..servers.len() {
                        if let Ok(mut server) = TcpStream::connect(servers[(first + offset) % servers.len()]).await {
                            // Either side may close the connection at any time.
                            let _ = copy_bidirectional(&mut client, &mut server).await;
                            return;
                        }
                    }
                });
            }
        });
        Ok(Self { origin, servers })
    }

    /// Replaces the servers.
    pub(crate) fn set_servers<'a>(&self, servers: impl Iterator<Item = &'a Server>) -> Result<()> {
        let address = |server: &Server| Ok(server.origin.strip_prefix("http://").context("no address")?.parse()?);
        let addresses = servers.map(address).collect::<Result<_>>()?;
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
        Ok(())
    }
}
