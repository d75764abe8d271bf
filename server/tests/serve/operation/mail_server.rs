//! A mail server for tests.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A mail server that takes everything: what RFC 5321 needs for that.
pub(crate) async fn start_mail_server() -> (u16, UnboundedReceiver<String>) {
    let (sender, mails) = unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(take_mail(socket, sender.clone()));
        }
    });
    (port, mails)
}

async fn take_mail(mut socket: TcpStream, mails: UnboundedSender<String>) -> std::io::Result<()> {
    let (reader, mut writer) = socket.split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"220 mail.test ESMTP\r\n").await?;
    let mut taken = String::new();
    while let Some(line) = lines.next_line().await? {
        taken += &format!("{line}\n");
        let answer = match line.split([' ', ':']).next().unwrap_or_default().to_uppercase().as_str() {
            "EHLO" => "250 mail.test\r\n",
            "DATA" => {
                writer.write_all(b"354 go on\r\n").await?;
                while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                    taken += &format!("{line}\n");
                }
                mails.send(std::mem::take(&mut taken)).unwrap();
                "250 taken\r\n"
            }
            "QUIT" => "221 bye\r\n",
            _ => "250 ok\r\n",
        };
        writer.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}
