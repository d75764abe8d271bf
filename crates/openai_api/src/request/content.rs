//! The content of messages: text, images and files.

use super::part;
use crate::error::ApiError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::UiPart;
use wire::message::{FilePart, TextPart};

/// The most bytes of all images and files of a request. Providers accept 32 MB, and Base64 adds a third.
const MAX_BYTES: usize = 22 << 20;
/// The most images and files of a request.
const MAX_FILES: usize = 100;
/// The images that models read.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The documents that models read.
const PDF: &str = "application/pdf";

/// Reads the contents of the messages of a request.
#[derive(Default)]
pub(crate) struct ContentReader {
    bytes: usize,
    files: usize,
}

/// A part of a content, in the terms of both APIs.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", expecting = "a part of a content")]
enum ContentPart {
    #[serde(alias = "input_text", alias = "output_text")]
    Text {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    ImageUrl {
        image_url: ImageUrl,
    },
    InputImage {
        image_url: Option<String>,
        file_id: Option<String>,
        detail: Option<String>,
    },
    File {
        file: FileContent,
    },
    InputFile {
        #[serde(flatten)]
        file: FileContent,
    },
}

#[derive(Deserialize)]
struct ImageUrl {
    url: String,
    detail: Option<String>,
}

#[derive(Deserialize)]
struct FileContent {
    file_data: Option<String>,
    filename: Option<String>,
    file_id: Option<String>,
    file_url: Option<String>,
}

impl ContentReader {
    /// Returns the parts of a message of the user.
    pub(crate) fn parts(&mut self, content: &Value, param: &str) -> Result<Vec<UiPart>, ApiError> {
        match content {
            Value::Null => Ok(Vec::new()),
            Value::String(text) => Ok(vec![text_part(text.clone())]),
            Value::Array(parts) => {
                let parts = parts.iter().enumerate();
                parts.map(|(at, value)| self.part(value, &format!("{param}[{at}]"))).collect()
            }
            _ => Err(ApiError::invalid(param, "The content is a text or a list of parts.")),
        }
    }

    /// Returns the text of a message that has only text.
    pub(crate) fn text(&mut self, content: &Value, param: &str) -> Result<String, ApiError> {
        let mut texts = Vec::new();
        for (at, part) in self.parts(content, param)?.into_iter().enumerate() {
            match part {
                UiPart::Text(text) => texts.push(text.text),
                _ => return Err(ApiError::invalid(format!("{param}[{at}]"), "Only text is possible here.")),
            }
        }
        Ok(texts.join("\n"))
    }

    /// Returns the result of a tool: text, or the content of MCP's results if it has images.
    pub(crate) fn output(&mut self, content: &Value, param: &str) -> Result<Value, ApiError> {
        let parts = self.parts(content, param)?;
        if parts.iter().all(|part| matches!(part, UiPart::Text(_))) {
            return self.text(content, param).map(Value::String);
        }
        let block = |part: &UiPart| match part {
            UiPart::File(file) if file.media_type != PDF => {
                let data = file.url.split_once(',').map(|(_, data)| data);
                Ok(json!({ "type": "image", "mimeType": file.media_type, "data": data }))
            }
            UiPart::Text(text) => Ok(json!({ "type": "text", "text": text.text })),
            _ => Err(ApiError::unsupported(param, "The result of a tool has text and images only.")),
        };
        Ok(json!({ "content": parts.iter().map(block).collect::<Result<Vec<_>, _>>()? }))
    }

    fn part(&mut self, value: &Value, param: &str) -> Result<UiPart, ApiError> {
        match part(value, param)? {
            ContentPart::Text { text } | ContentPart::Refusal { refusal: text } => Ok(text_part(text)),
            ContentPart::ImageUrl { image_url: ImageUrl { url, detail } } => {
                check_detail(detail.as_deref(), param)?;
                self.image(&url, &format!("{param}.image_url.url"))
            }
            ContentPart::InputImage { image_url, file_id, detail } => {
                check_detail(detail.as_deref(), param)?;
                match (image_url, file_id) {
                    (Some(url), None) => self.image(&url, &format!("{param}.image_url")),
                    _ => Err(no_file_ids(&format!("{param}.file_id"))),
                }
            }
            ContentPart::File { file } => self.file(file, &format!("{param}.file")),
            ContentPart::InputFile { file } => self.file(file, param),
        }
    }

    fn image(&mut self, url: &str, param: &str) -> Result<UiPart, ApiError> {
        let (media_type, data) = self.read(url, "", param)?;
        if !IMAGES.contains(&media_type.as_str()) {
            let message = format!("An image is of one of the types {}.", IMAGES.join(", "));
            return Err(ApiError::unsupported(param, message));
        }
        Ok(file_part(media_type, &data, None))
    }

    fn file(&mut self, file: FileContent, param: &str) -> Result<UiPart, ApiError> {
        let FileContent { file_data, filename, file_id, file_url } = file;
        let Some(data) = file_data else {
            let of = if file_id.is_some() { "file_id" } else { "file_url" };
            return if file_id.is_some() || file_url.is_some() {
                Err(no_file_ids(&format!("{param}.{of}")))
            } else {
                Err(ApiError::invalid(format!("{param}.file_data"), "A file needs `file_data`."))
            };
        };
        let param = format!("{param}.file_data");
        let name = filename.unwrap_or_else(|| "file".to_owned());
        let (media_type, bytes) = self.read(&data, &name, &param)?;
        if media_type == PDF || IMAGES.contains(&media_type.as_str()) {
            return Ok(file_part(media_type, &bytes, Some(name)));
        }
        match String::from_utf8(bytes) {
            // The content must not close the block and pass for the user's own text.
            Ok(text) => Ok(text_part(format!(
                "<file name={}>\n{}\n</file>",
                Value::from(name).to_string().replace('<', "\\u003c"),
                text.replace("</file", "<\\/file")
            ))),
            Err(_) => Err(ApiError::unsupported(param, "A file is a PDF, an image or text.")),
        }
    }

    /// Decodes a `data:` URL, or Base64 alone. The type is what the content is, whatever the URL says.
    fn read(&mut self, url: &str, name: &str, param: &str) -> Result<(String, Vec<u8>), ApiError> {
        let data = match url.strip_prefix("data:") {
            Some(rest) => rest
                .split_once(";base64,")
                .map(|(_, data)| data)
                .ok_or_else(|| ApiError::invalid(param, "A `data:` URL has the form `data:image/png;base64,…`."))?,
            None if url.contains("://") => {
                let message = "This server loads nothing from URLs. Send the content as a `data:` URL.";
                return Err(ApiError::unsupported(param, message));
            }
            None => url,
        };
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(ApiError::invalid(param, format!("A request has at most {MAX_FILES} files.")));
        }
        // Counted before it is decoded.
        self.bytes = self.bytes.saturating_add(data.len() / 4 * 3);
        if self.bytes > MAX_BYTES {
            let message = format!("The files of a request have at most {} MB.", MAX_BYTES >> 20);
            return Err(ApiError::invalid(param, message));
        }
        let bytes = STANDARD.decode(data).map_err(|_| ApiError::invalid(param, "This is not valid Base64."))?;
        if bytes.is_empty() {
            return Err(ApiError::invalid(param, "The file is empty."));
        }
        Ok((chat::media_type(&bytes, name), bytes))
    }
}

fn check_detail(detail: Option<&str>, param: &str) -> Result<(), ApiError> {
    match detail {
        None | Some("auto") => Ok(()),
        Some(_) => {
            Err(ApiError::unsupported(format!("{param}.detail"), "The only detail that can be chosen is `auto`."))
        }
    }
}

fn no_file_ids(param: &str) -> ApiError {
    ApiError::unsupported(param, "This server does not know files by id or URL. Send the content.")
}

pub(crate) fn text_part(text: String) -> UiPart {
    UiPart::Text(TextPart { text, ..TextPart::default() })
}

fn file_part(media_type: String, bytes: &[u8], filename: Option<String>) -> UiPart {
    let url = format!("data:{media_type};base64,{}", STANDARD.encode(bytes));
    UiPart::File(FilePart { media_type, url, filename, provider_metadata: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn check(content: Value) -> String {
        match ContentReader::default().parts(&content, "c") {
            Ok(parts) => {
                let text = serde_json::to_string(&parts).unwrap();
                text.replace(PNG, "PNG")
            }
            Err(error) => format!("{}: {}", error.body.param.unwrap_or_default(), error.body.message),
        }
    }

    #[test]
    fn content_becomes_parts() {
        let png = format!("data:image/png;base64,{PNG}");
        let note = STANDARD.encode("a </file> b");
        let all = [
            json!("Hi"),
            json!([{ "type": "text", "text": "a" }, { "type": "input_text", "text": "b" }]),
            json!([{ "type": "image_url", "image_url": { "url": png, "detail": "auto" } }]),
            json!([{ "type": "input_image", "image_url": png.replace("png;", "gif;") }]),
            json!([{ "type": "file", "file": { "file_data": format!("data:text/plain;base64,{note}"), "filename": "n.txt" } }]),
            json!([{ "type": "input_file", "file_data": STANDARD.encode("%PDF-1.7\n"), "filename": "a.pdf" }]),
        ];
        insta::assert_snapshot!(all.map(check).join("\n"), @r#"
        [{"type":"text","text":"Hi"}]
        [{"type":"text","text":"a"},{"type":"text","text":"b"}]
        [{"type":"file","mediaType":"image/png","url":"data:image/png;base64,PNG"}]
        [{"type":"file","mediaType":"image/png","url":"data:image/png;base64,PNG"}]
        [{"type":"text","text":"<file name=\"n.txt\">\na <\\/file> b\n</file>"}]
        [{"type":"file","mediaType":"application/pdf","url":"data:application/pdf;base64,JVBERi0xLjcK","filename":"a.pdf"}]
        "#);
    }

    #[test]
    fn unreadable_content_is_reported() {
        let image = |url: &str| json!([{ "type": "image_url", "image_url": { "url": url } }]);
        let large = format!("data:image/png;base64,{}", "A".repeat(MAX_BYTES / 3 * 4 + 8));
        let all = [
            json!(7),
            json!([7]),
            json!([{ "type": "input_audio", "input_audio": {} }]),
            json!([{ "type": "text" }]),
            image("https://example.org/a.png"),
            image("data:image/png,abc"),
            image("data:image/png;base64,§"),
            image(&format!("data:image/png;base64,{}", STANDARD.encode("text"))),
            image("data:image/png;base64,"),
            image(&large),
            json!([{ "type": "image_url", "image_url": { "url": PNG, "detail": "high" } }]),
            json!([{ "type": "file", "file": { "file_id": "f" } }]),
            json!([{ "type": "file", "file": {} }]),
            json!([{ "type": "input_file", "file_data": "AAEC/w==" }]),
        ];
        insta::assert_snapshot!(all.map(check).join("\n"), @r"
        c: The content is a text or a list of parts.
        c[0]: This cannot be read: expected a part of a content.
        c[0]: This cannot be read: expected one of `input_text`, `output_text`, `text`, `refusal`, `image_url`, `input_image`, `file`, `input_file`.
        c[0]: This cannot be read: missing field `text`.
        c[0].image_url.url: This server loads nothing from URLs. Send the content as a `data:` URL.
        c[0].image_url.url: A `data:` URL has the form `data:image/png;base64,…`.
        c[0].image_url.url: This is not valid Base64.
        c[0].image_url.url: An image is of one of the types image/png, image/jpeg, image/gif, image/webp.
        c[0].image_url.url: The file is empty.
        c[0].image_url.url: The files of a request have at most 22 MB.
        c[0].detail: The only detail that can be chosen is `auto`.
        c[0].file.file_id: This server does not know files by id or URL. Send the content.
        c[0].file.file_data: A file needs `file_data`.
        c[0].file_data: A file is a PDF, an image or text.
        ");
    }
}
