//! Uploads to a storage of the page's own. One endpoint of the page returns a signed upload policy
//! in the format that S3 uses for forms
//! (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html>), an
//! optional second one the address for downloads.

use super::attach::post_file;
use crate::actions::call_endpoint;
use crate::address::encode_component;
use crate::agent_chat::composer::outgoing::{Attachment, OutgoingFile};
use crate::texts::{Text, t};
use leptos::web_sys::{File, FormData};
use serde_json::{Map, Value, json};
use wire::message::FilePart;
use wire::page::UploadStorage;

/// Uploads a file; the error is for the user.
pub(super) async fn upload(
    page_id: &str,
    storage: &UploadStorage,
    attached: &Attachment,
    file: &File,
) -> Result<OutgoingFile, String> {
    let lost = || t(Text::FileNotSent).to_owned();
    let kind = Some(file.type_()).filter(|kind| !kind.is_empty()).unwrap_or("application/octet-stream".to_owned());
    let mut about = json!({ "name": attached.name, "type": kind, "size": attached.size });
    let policy = call_endpoint(page_id, &storage.upload_policy_request_id, &about).await?;
    let policy = UploadPolicy::from_response(&policy, &attached.name).ok_or_else(lost)?;
    let form = policy.form_data(file, &attached.name).ok_or_else(lost)?;
    let sent = post_file(attached, &policy.url, |request| request.send_with_opt_form_data(Some(&form))).await;
    let (status, _) = sent.map_err(|_| lost())?;
    if !(200..300).contains(&status) {
        return Err(lost());
    }
    let url = match &storage.download_policy_request_id {
        Some(endpoint) => {
            about["key"] = policy.key.clone().into();
            url_in(&call_endpoint(page_id, endpoint, &about).await?).map(str::to_owned)
        }
        None => Some(policy.public_url()),
    };
    let part = FilePart {
        media_type: kind,
        url: url.ok_or_else(lost)?,
        filename: Some(attached.name.clone()),
        provider_metadata: None,
    };
    Ok(OutgoingFile { part, size: Some(attached.size) })
}

/// Where and with which form fields a file may be uploaded.
#[derive(Debug, PartialEq)]
struct UploadPolicy {
    url: String,
    /// The form fields besides the file; S3 expects text.
    fields: Vec<(String, String)>,
    /// The key of the file in the storage.
    key: String,
}

impl UploadPolicy {
    /// Reads the endpoint's response for a file with this name: `{url, fields}`, and a `key` if the
    /// fields contain none.
    fn from_response(answer: &Value, name: &str) -> Option<Self> {
        let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let none = Map::new();
        let fields = answer.get("fields").and_then(Value::as_object).unwrap_or(&none);
        let fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), said(value))).collect();
        let key = answer
            .get("key")
            .map(said)
            .or_else(|| fields.iter().find(|(key, _)| key == "key").map(|(_, key)| key.clone()));
        // S3 replaces this placeholder by the name as well.
        let key = key.unwrap_or_default().replace("${filename}", name);
        Some(Self { url: url_in(answer)?.to_owned(), fields, key })
    }

    /// The form. The file is the last field, because S3 ignores fields after it.
    fn form_data(&self, file: &File, name: &str) -> Option<FormData> {
        let form = FormData::new().ok()?;
        for (key, value) in &self.fields {
            form.append_with_str(key, value).ok()?;
        }
        form.append_with_blob_and_filename("file", file, name).ok()?;
        Some(form)
    }

    /// The address of the file in a public storage.
    fn public_url(&self) -> String {
        let parts: Vec<String> = self.key.split('/').map(encode_component).collect();
        format!("{}/{}", self.url.trim_end_matches('/'), parts.join("/"))
    }
}

/// The address in a response: the whole response, or its `url`.
fn url_in(answer: &Value) -> Option<&str> {
    answer.as_str().or_else(|| answer.get("url")?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Address, fields and key.
    type ExpectedPolicy<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

    fn check(answer: Value, expected: Option<ExpectedPolicy<'_>>) {
        let expected = expected.map(|(url, fields, key)| UploadPolicy {
            url: url.to_owned(),
            fields: fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            key: key.to_owned(),
        });
        assert_eq!(UploadPolicy::from_response(&answer, "a.png"), expected, "{answer}");
    }

    #[test]
    fn upload_policies_are_parsed() {
        let url = "https://b.example";
        let signed = json!({ "url": url, "fields": { "key": "u/${filename}", "x-amz-meta-size": 5 } });
        check(signed, Some((url, &[("key", "u/${filename}"), ("x-amz-meta-size", "5")], "u/a.png")));
        check(json!({ "url": url, "key": "k" }), Some((url, &[], "k")));
        check(json!(url), Some((url, &[], "")));
        check(json!({ "fields": {} }), None);
        check(Value::Null, None);
    }
}
