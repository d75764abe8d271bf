//! A folder of a mail server, over IMAP. Handled mails are marked as seen; no mail is moved or deleted.

use crate::messenger::{ApiError, Refusal};
use crate::section::{ImapSecurity, Mailbox};
use async_imap::error::Error;
use async_imap::{Client, Session};
use futures::TryStreamExt;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use std::fmt::Debug;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// The timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The largest mail that is read, in bytes.
const MAX_MAIL: u32 = 30 << 20;

/// A connection: encrypted, or to this machine.
trait Stream: AsyncRead + AsyncWrite + Unpin + Debug + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Debug + Send> Stream for T {}

/// An open folder.
pub(crate) struct Folder {
    session: Session<Box<dyn Stream>>,
    /// The validity of the folder (`UIDVALIDITY`): the numbers of mails are unique only together with it.
    validity: u32,
}

/// Identifies a mail in all folders that the server has had under the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MailId {
    pub(crate) validity: u32,
    pub(crate) uid: u32,
}

impl MailId {
    /// Returns the number of the update. Later mails have larger ones.
    pub(crate) fn update_id(self) -> i64 {
        i64::from(self.validity & 0x7fff_ffff) << 32 | i64::from(self.uid)
    }
}

/// A mail, as it was fetched.
#[derive(Debug)]
pub(crate) enum Fetched {
    Mail(Vec<u8>),
    /// The mail is larger than the limit.
    TooLarge,
    /// It was moved or deleted.
    Gone,
}

impl Folder {
    /// Connects, signs in and opens the folder.
    pub(crate) async fn open(settings: &Mailbox) -> Result<Self, ApiError> {
        let opened = timeout(TIMEOUT, Self::connect(settings)).await;
        opened.unwrap_or_else(|_| Err(unavailable("the server does not answer")))
    }

    async fn connect(settings: &Mailbox) -> Result<Self, ApiError> {
        let stream = TcpStream::connect((settings.host.as_str(), settings.port())).await;
        let stream = stream.map_err(|error| unavailable(&format!("there is no connection: {error}")))?;
        let stream: Box<dyn Stream> = match settings.security {
            ImapSecurity::Tls => Box::new(encrypt(stream, &settings.host).await?),
            ImapSecurity::None => Box::new(stream),
        };
        let mut client = Client::new(stream);
        let greeting = client.read_response().await.map_err(|error| unavailable(&error.to_string()))?;
        greeting.ok_or_else(|| unavailable("the server has ended the connection"))?;
        let signed_in = client.login(&settings.username, settings.password.expose()).await;
        let mut session = signed_in.map_err(|(error, _)| match error {
            Error::No(_) => {
                let description = "the user name or the password is wrong".to_owned();
                ApiError::Refused { refusal: Refusal::Token, description }
            }
            error => failed(&error),
        })?;
        let folder = session.select(&settings.folder).await.map_err(|error| match error {
            Error::No(_) => ApiError::refused(format!("there is no folder {}", settings.folder)),
            error => failed(&error),
        })?;
        Ok(Self { session, validity: folder.uid_validity.unwrap_or(1) })
    }

    /// Returns the mails since a day, such as `28-Nov-2026`, that nobody has seen, the oldest first.
    pub(crate) async fn unseen(&mut self, since: &str) -> Result<Vec<MailId>, ApiError> {
        let query = format!("UNSEEN UNDELETED SINCE {since}");
        let found = within(self.session.uid_search(query)).await?;
        let mut uids: Vec<u32> = found.into_iter().collect();
        uids.sort_unstable();
        Ok(uids.into_iter().map(|uid| MailId { validity: self.validity, uid }).collect())
    }

    /// Fetches a mail, which stays unseen.
    pub(crate) async fn fetch(&mut self, id: MailId) -> Result<Fetched, ApiError> {
        if id.validity != self.validity {
            return Ok(Fetched::Gone);
        }
        let uid = id.uid.to_string();
        let size = within(async {
            let mut found = self.session.uid_fetch(&uid, "(UID RFC822.SIZE)").await?;
            let mut size = None;
            while let Some(fetch) = found.try_next().await? {
                size = fetch.size.or(size);
            }
            Ok(size)
        });
        match size.await? {
            None => return Ok(Fetched::Gone),
            Some(size) if size > MAX_MAIL => return Ok(Fetched::TooLarge),
            Some(_) => {}
        }
        let mail = within(async {
            let mut found = self.session.uid_fetch(&uid, "(UID BODY.PEEK[])").await?;
            let mut mail = None;
            while let Some(fetch) = found.try_next().await? {
                mail = fetch.body().map(<[u8]>::to_vec).or(mail);
            }
            Ok(mail)
        });
        Ok(mail.await?.map_or(Fetched::Gone, Fetched::Mail))
    }

    /// Marks a mail as seen: it is not found again.
    pub(crate) async fn mark_seen(&mut self, id: MailId) -> Result<(), ApiError> {
        within(async {
            let changed = self.session.uid_store(id.uid.to_string(), "+FLAGS.SILENT (\\Seen)").await?;
            changed.try_for_each(|_| std::future::ready(Ok(()))).await
        })
        .await
    }
}

async fn encrypt(stream: TcpStream, host: &str) -> Result<impl Stream + use<>, ApiError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let broken = |error: rustls::Error| unavailable(&error.to_string());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(broken)?;
    let config = config.with_platform_verifier().map_err(broken)?.with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|_| unavailable("the name of the host is wrong"))?;
    let encrypted = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    encrypted.map_err(|error| unavailable(&format!("the connection cannot be encrypted: {error}")))
}

async fn within<T>(command: impl Future<Output = Result<T, Error>>) -> Result<T, ApiError> {
    let done = timeout(TIMEOUT, command).await.map_err(|_| unavailable("the server does not answer"))?;
    done.map_err(|error| failed(&error))
}

/// Returns an error without what the server has sent, which can be of a mail.
fn failed(error: &Error) -> ApiError {
    let cause = match error {
        // The library reports a response that it cannot read, or that is too large, as an error of this kind.
        Error::Io(error) if error.kind() == ErrorKind::Other => "a response cannot be read",
        Error::Io(_) | Error::ConnectionLost => return unavailable("the connection broke"),
        Error::No(_) | Error::Bad(_) => "the server refuses a command",
        _ => "a response cannot be read",
    };
    ApiError::Failed(cause.to_owned())
}

fn unavailable(cause: &str) -> ApiError {
    ApiError::Unavailable(cause.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_connections_are_distinguished_from_refusals() {
        let check = |error: Error, is_of_connection: bool| {
            assert_eq!(failed(&error).is_of_connection(), is_of_connection, "{error}");
        };
        check(Error::ConnectionLost, true);
        check(Error::Io(ErrorKind::UnexpectedEof.into()), true);
        check(Error::Io(ErrorKind::ConnectionReset.into()), true);
        check(Error::Io(std::io::Error::other("Fail during parsing")), false);
        check(Error::No("x".to_owned()), false);
        check(Error::Bad("x".to_owned()), false);
    }
}
