//! Files on their way to a storage of the page's own. An endpoint of the page says how a file is sent there, as S3 signs it for a form
//! (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html>), and another one where it is read then.

use super::attach::post;
use crate::actions::call_endpoint;
use crate::address::encoded;
use crate::agent_chat::outgoing::{Attached, OutgoingFile};
use crate::texts::{Text, t};
use leptos::web_sys::{File, FormData};
use serde_json::{Map, Value, json};
use wire::message::FilePart;
use wire::page::sender::Storage;

/// Sends a file; the error is for the user.
pub(super) async fn send(
    page_id: &str,
    storage: &Storage,
    attached: &Attached,
    file: &File,
) -> Result<OutgoingFile, String> {
    let lost = || t(Text::FileNotSent).to_owned();
    let kind = Some(file.type_()).filter(|kind| !kind.is_empty()).unwrap_or("application/octet-stream".to_owned());
    let mut about = json!({ "name": attached.name, "type": kind, "size": attached.size });
    let policy = call_endpoint(page_id, &storage.upload_policy_request_id, &about).await?;
    let policy = Policy::read(&policy, &attached.name).ok_or_else(lost)?;
    let form = policy.form(file, &attached.name).ok_or_else(lost)?;
    let sent = post(attached, &policy.url, |request| request.send_with_opt_form_data(Some(&form))).await;
    let (status, _) = sent.map_err(|_| lost())?;
    if !(200..300).contains(&status) {
        return Err(lost());
    }
    let url = match &storage.download_policy_request_id {
        Some(endpoint) => {
            about["key"] = policy.key.clone().into();
            address(&call_endpoint(page_id, endpoint, &about).await?).map(str::to_owned)
        }
        None => Some(policy.read_at()),
    };
    let part = FilePart {
        media_type: kind,
        url: url.ok_or_else(lost)?,
        filename: Some(attached.name.clone()),
        provider_metadata: None,
    };
    Ok(OutgoingFile { part, size: Some(attached.size) })
}

/// What may be sent where.
#[derive(Debug, PartialEq)]
struct Policy {
    url: String,
    /// What the form says beside the file: text, as S3 wants it.
    fields: Vec<(String, String)>,
    /// What the storage calls the file.
    key: String,
}

impl Policy {
    /// Out of what an endpoint answers for a file of this name: `{url, fields}`, and a `key` where none of the fields is one.
    fn read(answer: &Value, name: &str) -> Option<Self> {
        let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let none = Map::new();
        let fields = answer.get("fields").and_then(Value::as_object).unwrap_or(&none);
        let fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), said(value))).collect();
        let key = answer
            .get("key")
            .map(said)
            .or_else(|| fields.iter().find(|(key, _)| key == "key").map(|(_, key)| key.clone()));
        // S3 puts the name there as well.
        let key = key.unwrap_or_default().replace("${filename}", name);
        Some(Self { url: address(answer)?.to_owned(), fields, key })
    }

    /// The file is its last field: S3 reads none behind it.
    fn form(&self, file: &File, name: &str) -> Option<FormData> {
        let form = FormData::new().ok()?;
        for (key, value) in &self.fields {
            form.append_with_str(key, value).ok()?;
        }
        form.append_with_blob_and_filename("file", file, name).ok()?;
        Some(form)
    }

    /// Where a storage that anybody may read has it.
    fn read_at(&self) -> String {
        let parts: Vec<String> = self.key.split('/').map(encoded).collect();
        format!("{}/{}", self.url.trim_end_matches('/'), parts.join("/"))
    }
}

/// The address in an answer: all of it, or its `url`.
fn address(answer: &Value) -> Option<&str> {
    answer.as_str().or_else(|| answer.get("url")?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Address, fields and key.
    type Said<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

    fn check(answer: Value, expected: Option<Said<'_>>) {
        let expected = expected.map(|(url, fields, key)| Policy {
            url: url.to_owned(),
            fields: fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            key: key.to_owned(),
        });
        assert_eq!(Policy::read(&answer, "a.png"), expected, "{answer}");
    }

    #[test]
    fn what_an_endpoint_may_answer() {
        let url = "https://b.example";
        let signed = json!({ "url": url, "fields": { "key": "u/${filename}", "x-amz-meta-size": 5 } });
        check(signed, Some((url, &[("key", "u/${filename}"), ("x-amz-meta-size", "5")], "u/a.png")));
        check(json!({ "url": url, "key": "k" }), Some((url, &[], "k")));
        check(json!(url), Some((url, &[], "")));
        check(json!({ "fields": {} }), None);
        check(Value::Null, None);
    }
}
