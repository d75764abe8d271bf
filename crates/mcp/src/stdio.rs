//! The stdio transport
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio>): one message
//! per line.

use crate::{MAX_MESSAGE, message};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

/// A process's output and input.
pub(crate) struct StdioTransport {
    output: BufReader<ChildStdout>,
    /// The beginning of the line that is being read; kept here because reading may be cancelled.
    line: Vec<u8>,
    /// Whether the rest of the line is skipped because it exceeds the maximum size.
    is_skipping: bool,
    /// The process's input; `None` once it is closed.
    input: Arc<Mutex<Option<ChildStdin>>>,
}

impl StdioTransport {
    /// Creates the transport of a process.
    pub(crate) fn new(output: ChildStdout, input: ChildStdin) -> Self {
        let input = Arc::new(Mutex::new(Some(input)));
        Self { output: BufReader::new(output), line: Vec::new(), is_skipping: false, input }
    }

    /// Returns the next line that is not too long; `None` at the end. Cancelling it loses nothing.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let available = self.output.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            if !self.is_skipping && self.line.len() + piece.len() > MAX_MESSAGE {
                self.is_skipping = true;
                self.line = Vec::new();
            }
            if !self.is_skipping {
                self.line.extend_from_slice(piece);
            }
            let read = end.map_or(available.len(), |end| end + 1);
            self.output.consume(read);
            if end.is_some() {
                if !std::mem::take(&mut self.is_skipping) {
                    return Ok(Some(std::mem::take(&mut self.line)));
                }
                tracing::warn!("left out a message of an MCP server that is longer than {} MB", MAX_MESSAGE >> 20);
            }
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let input = self.input.clone();
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let input = input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            input.write_all(&line).await?;
            input.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = match self.next_line().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::warn!(%error, "the output of an MCP server cannot be read");
                    return None;
                }
            };
            let Ok(text) = std::str::from_utf8(&line) else { continue };
            if text.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(&message::fit(text, None)) {
                Ok(message) => return Some(message),
                Err(error) => tracing::debug!(%error, "ignored an invalid message"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        drop(self.input.lock().await.take());
        Ok(())
    }
}
