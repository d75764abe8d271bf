//! Files that a user sends → content blocks.

use crate::file;
use contract::FileData;
use serde_json::{Value, json};

/// A file as a content block. What the API cannot read is named in words.
pub(crate) fn block(media_type: &str, data: &FileData, filename: Option<&str>) -> Value {
    let kind = file::kind(media_type, data);
    if file::is_image(kind) {
        return json!({ "type": "image", "source": source(kind, data) });
    }
    let source = match data {
        _ if kind == "application/pdf" => Some(source(kind, data)),
        FileData::Base64(base64) if file::is_text(kind) => {
            file::text_of(base64).map(|text| json!({ "type": "text", "media_type": "text/plain", "data": text }))
        }
        _ => None,
    };
    let Some(source) = source else {
        return json!({ "type": "text", "text": file::unreadable(kind, filename) });
    };
    let mut block = json!({ "type": "document", "source": source });
    if let Some(name) = filename {
        block["title"] = name.into();
    }
    block
}

fn source(kind: &str, data: &FileData) -> Value {
    match data {
        FileData::Base64(data) => json!({ "type": "base64", "media_type": kind, "data": data }),
        FileData::Url(url) => json!({ "type": "url", "url": url }),
    }
}
