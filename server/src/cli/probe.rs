//! `chatwright probe`: asks a running server whether it is ready, for containers without an HTTP client.

use super::fail;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// For the whole answer.
const TIME: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read; `/healthz` and `/readyz` answer with a few lines.
const MOST: u64 = 4_096;

/// Whom to ask.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Address of the server.
    #[arg(long, env = "CHATWRIGHT_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:3000")]
    addr: SocketAddr,
    /// Path to ask: `/readyz` for readiness, `/healthz` for liveness.
    #[arg(long, default_value = "/readyz")]
    path: String,
}

/// Succeeds when the answer is 200.
pub(crate) async fn run(arguments: &Arguments) -> ExitCode {
    match ask(arguments.addr, &arguments.path).await {
        Ok((200, _)) => ExitCode::SUCCESS,
        Ok((status, _)) => fail(&format!("{} answers with {status}", arguments.path)),
        Err(error) => fail(&format!("{} cannot be asked: {error}", arguments.addr)),
    }
}

/// Asks a server; the status of its answer, and its text.
pub(crate) async fn ask(address: SocketAddr, path: &str) -> std::io::Result<(u16, String)> {
    let asked = async {
        let mut stream = TcpStream::connect(reachable(address)).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        stream.take(MOST).read_to_end(&mut bytes).await?;
        let answer = String::from_utf8_lossy(&bytes);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| std::io::Error::other("this is not an HTTP response"))?;
        Ok((status, answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned())))
    };
    tokio::time::timeout(TIME, asked).await.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
}

/// A server that listens everywhere is here, too.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
