//! Sends a message to one receiver: a job.

use crate::section::{OutgoingWebhook, Target, alerts};
use crate::store::{self, Event};
use capability::{ChatPost, ChatPosts, Context, PostError};
use config::Config;
use egress::{Clients, Egress, EgressRequest};
use jobs::{Backoff, Handler, JobContext, JobError, Kind, Outcome};
use mail::{Mail, MailError};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use web::times::{now_millis, rfc3339};
use webhooks::{Scheme, sign};

/// The most attempts for a message, over about half an hour.
const ATTEMPTS: u32 = 10;
/// The time limit of a receiver.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit of one attempt, so that its end is stored before the job's time is up.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(50);
/// The most bytes of an answer that are read.
const MAX_ANSWER: usize = 64 * 1024;

/// The job that sends a message.
pub(crate) const NOTIFY: Kind<Notification> = Kind::new("alerts.notify")
    .attempts(ATTEMPTS)
    .backoff(Backoff { base: Duration::from_secs(5), cap: Duration::from_secs(600) })
    .timeout(Duration::from_secs(60));

/// A message to one receiver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Notification {
    pub(crate) event_id: String,
    /// The number of the receiver.
    pub(crate) number: i64,
}

/// The reason why a message was not sent, for operators.
#[derive(Debug)]
enum Failure {
    /// Another attempt would fail as well.
    Final(String),
    /// Another attempt may succeed.
    Temporary(String),
}

/// The clients with which messages are sent.
#[derive(Clone)]
struct Senders {
    clients: Clients,
    chats: ChatPosts,
}

/// Returns the handler of the jobs.
pub(crate) fn handler(context: Context, chats: ChatPosts) -> Handler {
    let senders = Senders { clients: Clients::default(), chats };
    Handler::new(NOTIFY, move |job, notification| {
        let (context, senders) = (context.clone(), senders.clone());
        async move { deliver(&context, &senders, &job, notification).await }
    })
}

async fn deliver(
    context: &Context,
    senders: &Senders,
    job: &JobContext,
    notification: Notification,
) -> Result<Outcome, JobError> {
    let Notification { event_id, number } = notification;
    let Some((event, label)) = store::find_waiting(&context.store, event_id.clone(), number).await? else {
        return Ok(Outcome::DONE);
    };
    let config = context.current.config();
    let sent = tokio::time::timeout(ATTEMPT_TIMEOUT, send(&config, senders, &event, number, &label)).await;
    let late = |_| Err(Failure::Temporary("The receiver did not answer in time.".to_owned()));
    let failure = match sent.unwrap_or_else(late) {
        Ok(()) => {
            let end = job.finish(Outcome::DONE, move |db| {
                Box::pin(async move { store::end_delivery(db, &event_id, number, "sent", None).await })
            });
            return Ok(end.await?);
        }
        Err(failure) => failure,
    };
    let (cause, is_final) = match failure {
        Failure::Final(cause) => (cause, true),
        Failure::Temporary(cause) => (cause, job.attempt() >= ATTEMPTS),
    };
    let (outcome, stored) = (if is_final { "failed" } else { "waiting" }, cause.clone());
    let write = job.write(move |db| {
        Box::pin(async move { store::end_delivery(db, &event_id, number, outcome, Some(stored)).await })
    });
    write.await?;
    if is_final {
        tracing::error!(alert = event.alert_id, receiver = label, cause, "an alert was not sent");
        return Err(JobError::fail(cause));
    }
    Err(JobError::retry(cause))
}

/// Sends a message to a receiver of the config, which must be the one that the message was stored
/// for.
async fn send(config: &Config, senders: &Senders, event: &Event, number: i64, label: &str) -> Result<(), Failure> {
    let alert = alerts(config).iter().find(|alert| alert.id.0 == event.alert_id);
    let receiver = usize::try_from(number).ok().and_then(|number| alert?.notify.get(number));
    let console = config.auth.public_urls.first().and_then(|url| url.join("/admin/alerts").ok()).map(String::from);
    let gone = || Failure::Final("The config does not have this receiver any more.".to_owned());
    let receiver = receiver.filter(|receiver| receiver.label() == label).ok_or_else(gone)?;
    match receiver.target(config).ok_or_else(gone)? {
        // The address may contain a key, so the client does not follow redirects to another origin.
        Target::Webhook(webhook) => {
            let client = senders.clients.get(webhook.allow_private).map_err(Failure::Temporary)?;
            send_request(client, webhook, event, number, console).await
        }
        Target::Email(smtp) => {
            smtp.send(&mail(event, number, &receiver.to, console)).await.map_err(|error| match error {
                MailError::Refused(cause) => Failure::Final(cause),
                MailError::Failed(cause) => Failure::Temporary(cause),
            })
        }
        Target::Bot => {
            let chat = receiver.chat.as_deref().ok_or_else(gone)?;
            // Some messengers look at the beginning of a key only.
            let key = format!("{number}{}", event.id.replace('-', ""));
            let text = shown_text(event, console.as_deref());
            let post = ChatPost { connection_id: &receiver.connection_id, chat, text: &text, key: &key };
            senders.chats.post(config, post).await.map_err(|error| match error {
                PostError::Refused(cause) => Failure::Final(cause),
                PostError::Failed(cause) => Failure::Temporary(cause),
            })
        }
    }
}

fn mail(event: &Event, number: i64, to: &[String], console: Option<String>) -> Mail {
    let link = console.map(|url| format!("\n\n{url}")).unwrap_or_default();
    Mail {
        id: format!("{}-{number}", event.id),
        to: to.to_vec(),
        subject: format!("Chatwright: {}", event.title),
        text: format!("{}{link}\n", event.text),
        ..Mail::default()
    }
}

async fn send_request(
    client: &Egress,
    webhook: &OutgoingWebhook,
    event: &Event,
    number: i64,
    console: Option<String>,
) -> Result<(), Failure> {
    let url = webhook.url().ok_or_else(|| Failure::Final("The URL is not one.".to_owned()))?;
    let body = body(event, console);
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    if let Some(secret) = &webhook.secret {
        let id = format!("{}-{number}", event.id);
        let signed = sign(Scheme::Standard, secret.expose(), &id, &body, now_millis() / 1_000);
        for (name, value) in signed.map_err(|error| Failure::Final(error.to_string()))? {
            let value = HeaderValue::try_from(value).map_err(|error| Failure::Final(error.to_string()))?;
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    let request =
        EgressRequest { method: Method::POST, url, headers, body: Some(body), timeout: TIMEOUT, max_bytes: MAX_ANSWER };
    match client.send(request).await {
        Err(error) => Err(Failure::Temporary(error.to_string())),
        Ok(response) => match response.status {
            200..300 => Ok(()),
            status @ (408 | 425 | 429 | 500..) => Err(Failure::Temporary(format!("The receiver answered {status}."))),
            status => Err(Failure::Final(format!("The receiver answered {status}."))),
        },
    }
}

/// Returns the body of a request. `text` and `content` are for services that show messages.
fn body(event: &Event, console: Option<String>) -> Vec<u8> {
    let shown = shown_text(event, console.as_deref());
    let Event { id, alert_id, kind, title, text, .. } = event;
    let data = json!({ "id": id, "alertId": alert_id, "title": title, "text": text, "url": console });
    json!({
        "type": format!("alert.{kind}"),
        "timestamp": rfc3339(event.at),
        "data": data,
        "text": shown,
        "content": shown,
        "allowed_mentions": { "parse": [] },
    })
    .to_string()
    .into_bytes()
}

/// Returns the text for services that show messages, with the address of the console.
fn shown_text(event: &Event, console: Option<&str>) -> String {
    without_mentions(&match console {
        Some(url) => format!("{} {url}", event.text),
        None => event.text.clone(),
    })
}

/// Removes text that messengers read as a mention of people: users choose their names.
fn without_mentions(text: &str) -> String {
    text.replace('<', "‹").replace('>', "›").replace('@', "@\u{2060}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEFINITION;
    use capability::PostToChats;
    use std::pin::Pin;
    use std::sync::{Arc, Mutex};

    fn event() -> Event {
        Event {
            id: "0199-1".to_owned(),
            alert_id: "quota".to_owned(),
            owner: "u".to_owned(),
            kind: "firing".to_owned(),
            at: 0,
            title: "Used quota of <!channel>: 90 %".to_owned(),
            text: "Used quota of <!channel> @here: 90 %.".to_owned(),
        }
    }

    /// Keeps messages. Chats with other numbers than 1 fail.
    #[derive(Default)]
    struct FakeChats(Mutex<Vec<String>>);

    impl PostToChats for FakeChats {
        fn post<'a>(
            &'a self,
            _: &'a Config,
            post: ChatPost<'a>,
        ) -> Pin<Box<dyn Future<Output = Result<(), PostError>> + Send + 'a>> {
            let ChatPost { connection_id, chat, text, key } = post;
            self.0.lock().unwrap().push(format!("{connection_id} {chat} {key}: {text}"));
            let answer = match chat {
                "1" => Ok(()),
                "2" => Err(PostError::Failed("away".to_owned())),
                _ => Err(PostError::Refused("gone".to_owned())),
            };
            Box::pin(std::future::ready(answer))
        }
    }

    #[tokio::test]
    async fn messengers_get_the_text_in_their_chat() {
        let text = "connections: [{ id: bot, type: Telegram, properties: { token: \"1:a\" } }]\n\
            alerts:\n- id: quota\n  when: { type: waitingJobs, above: 1 }\n  notify: \
            [{ connectionId: bot, chat: \"1\" }, { connectionId: bot, chat: \"2\" }, { connectionId: bot, chat: \"3\" }]\n";
        let language = capability::language(&[DEFINITION, mail::DEFINITION, channels::DEFINITION]);
        let config = language.read_text(text).map_err(|problems| config::render(&problems)).unwrap().0;
        let (fake, senders) =
            (Arc::new(FakeChats::default()), Senders { clients: Clients::default(), chats: ChatPosts::default() });
        senders.chats.provide(fake.clone());
        let sent = async |number: i64, label: &str| match send(&config, &senders, &event(), number, label).await {
            Ok(()) => "sent".to_owned(),
            Err(Failure::Temporary(cause)) => format!("later: {cause}"),
            Err(Failure::Final(cause)) => format!("never: {cause}"),
        };
        assert_eq!(sent(0, "bot to the chat 1").await, "sent");
        assert_eq!(*fake.0.lock().unwrap(), ["bot 1 001991: Used quota of ‹!channel› @\u{2060}here: 90 %."]);
        assert_eq!(sent(1, "bot to the chat 2").await, "later: away");
        assert_eq!(sent(2, "bot to the chat 3").await, "never: gone");
        assert_eq!(sent(2, "bot to the chat 4").await, "never: The config does not have this receiver any more.");
    }

    #[test]
    fn mentions_are_removed_from_messages() {
        let event = event();
        let body: serde_json::Value = serde_json::from_slice(&body(&event, None)).unwrap();
        assert_eq!(body["text"], "Used quota of ‹!channel› @\u{2060}here: 90 %.");
        assert_eq!(body["content"], body["text"]);
        assert_eq!(body["data"]["text"], event.text);
        assert_eq!((&body["type"], &body["timestamp"]), (&json!("alert.firing"), &json!("1970-01-01T00:00:00Z")));
    }
}
