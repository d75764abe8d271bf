//! The body of a request with a file (RFC 7578).

use super::OutgoingFile;
use http::HeaderValue;
use serde_json::Value;

/// Returns the content type and the body of a form with these fields and a file.
pub(crate) fn multipart(fields: &[(&str, String)], file_field: &str, file: &OutgoingFile) -> (HeaderValue, Vec<u8>) {
    // 128 random bits, which are not in the file.
    let boundary = crate::ids::new_id();
    let mut body = Vec::with_capacity(file.content.len() + 1_024);
    for (name, value) in fields {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(head.as_bytes());
    }
    let (name, media_type) = (quoted(&file.name), &file.media_type);
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{file_field}\"; filename=\"{name}\"\r\n\
         Content-Type: {media_type}\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&file.content);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let content_type = HeaderValue::try_from(format!("multipart/form-data; boundary={boundary}"));
    (content_type.unwrap_or(HeaderValue::from_static("multipart/form-data")), body)
}

/// Returns a JSON value as fields of a form. Texts have no quotation marks.
pub(crate) fn fields(values: &Value) -> Vec<(&str, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    values.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), text(value))).collect()
}

/// Escapes a name as browsers do.
fn quoted(name: &str) -> String {
    let plain: String = name.chars().filter(|sign| !sign.is_control()).collect();
    plain.replace('"', "%22")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_header() {
        let file = OutgoingFile {
            name: "a\"\r\nX: y.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            content: b"one\r\ntwo".to_vec(),
        };
        let (content_type, body) = multipart(&[("chat_id", "7".to_owned())], "document", &file);
        let boundary = content_type.to_str().unwrap().split_once("boundary=").unwrap().1;
        let shown = String::from_utf8(body).unwrap().replace(boundary, "BOUNDARY").replace('\r', "");
        insta::assert_snapshot!(shown, @r#"
        --BOUNDARY
        Content-Disposition: form-data; name="chat_id"

        7
        --BOUNDARY
        Content-Disposition: form-data; name="document"; filename="a%22X: y.txt"
        Content-Type: text/plain

        one
        two
        --BOUNDARY--
        "#);
    }
}
