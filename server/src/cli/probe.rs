//! `chatwright probe`: asks a running server whether it is ready, for containers without an HTTP
//! client.

use super::fail;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Timeout for the whole request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The number of bytes of a response that are read; `/healthz` and `/readyz` return a few lines.
const MAX_RESPONSE_BYTES: u64 = 4_096;

/// The server and the path to request.
#[derive(clap::Args)]
pub(crate) struct ProbeArguments {
    /// Address of the server.
    #[arg(long, env = "CHATWRIGHT_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:3000")]
    addr: SocketAddr,
    /// Path to request: `/readyz` for readiness, `/healthz` for liveness.
    #[arg(long, default_value = "/readyz")]
    path: String,
}

/// Succeeds if the response has status 200.
pub(crate) async fn run(arguments: &ProbeArguments) -> ExitCode {
    match get(arguments.addr, &arguments.path).await {
        Ok((200, _)) => ExitCode::SUCCESS,
        Ok((status, _)) => fail(&format!("{} returned status {status}", arguments.path)),
        Err(error) => fail(&format!("no response from {}: {error}", arguments.addr)),
    }
}

/// Sends a GET request; returns the status and the body of the response.
pub(crate) async fn get(address: SocketAddr, path: &str) -> std::io::Result<(u16, String)> {
    let asked = async {
        let mut stream = TcpStream::connect(connect_address(address)).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        stream.take(MAX_RESPONSE_BYTES).read_to_end(&mut bytes).await?;
        let answer = String::from_utf8_lossy(&bytes);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| std::io::Error::other("this is not an HTTP response"))?;
        Ok((status, answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned())))
    };
    tokio::time::timeout(TIMEOUT, asked).await.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
}

/// Returns an address to connect to: loopback for a server that listens on all interfaces.
fn connect_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
