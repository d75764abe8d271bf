//! `chatwright probe`: one question to a server that runs, for containers without a client of their own.

use super::fail;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// For the whole answer.
const TIME: Duration = Duration::from_secs(5);
/// The first line of an answer is there within so many bytes.
const HEAD: u64 = 256;

/// Whom to ask.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the server listens.
    #[arg(long, env = "CHATWRIGHT_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:3000")]
    addr: SocketAddr,
    /// What to ask: `/readyz` takes work, `/healthz` is alive.
    #[arg(long, default_value = "/readyz")]
    path: String,
}

/// Succeeds when the answer is 200.
pub(crate) async fn run(arguments: &Arguments) -> ExitCode {
    match ask(arguments.addr, &arguments.path).await {
        Ok(200) => ExitCode::SUCCESS,
        Ok(status) => fail(&format!("{} answers with {status}", arguments.path)),
        Err(error) => fail(&format!("{} cannot be asked: {error}", arguments.addr)),
    }
}

/// The status of an answer.
pub(crate) async fn ask(address: SocketAddr, path: &str) -> std::io::Result<u16> {
    let asked = async {
        let mut stream = TcpStream::connect(reachable(address)).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        stream.take(HEAD).read_to_end(&mut head).await?;
        let status = String::from_utf8_lossy(&head).split(' ').nth(1).and_then(|status| status.parse().ok());
        status.ok_or_else(|| std::io::Error::other("this is no answer of HTTP"))
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
