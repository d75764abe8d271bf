//! Converts annotations to citations.

use super::PROVIDER;
use super::api::Annotation;
use contract::{Citation, Source};
use serde_json::{Map, json};

/// Converts an annotation to a citation of its text; `None` for a path to a file.
pub(crate) fn citation(annotation: &Annotation) -> Option<Citation> {
    let Annotation { url, title, file_id, filename, container_id, index, start_index, end_index, .. } = annotation;
    let kind = annotation.kind();
    let source = match (kind, url) {
        ("file_path", _) => return None,
        ("url_citation", Some(url)) => {
            Source::Url { id: url.clone(), url: url.clone(), title: title.clone(), metadata: None }
        }
        _ => {
            let kept = match kind {
                "container_file_citation" => json!({ "type": kind, "fileId": file_id, "containerId": container_id }),
                _ => json!({ "type": kind, "fileId": file_id, "index": index }),
            };
            Source::Document {
                id: file_id.clone()?,
                media_type: "text/plain".to_owned(),
                title: filename.clone().unwrap_or_default(),
                filename: filename.clone(),
                metadata: Some(Map::from_iter([(PROVIDER.to_owned(), kept)])),
            }
        }
    };
    Some(Citation { source, start_index: *start_index, end_index: *end_index, cited_text: None })
}
