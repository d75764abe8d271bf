//! Models that do not read all kinds of files, although their provider accepts them.

use crate::file::replace_unsupported_files;
use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A model that gets notes in place of files. It is for models of providers whose other models read
/// these files, so that the provider's codec would send them.
pub struct WithoutFiles {
    model: Arc<dyn Model>,
    images: bool,
    others: bool,
}

impl WithoutFiles {
    /// Wraps a model that reads no images, or no other files, or neither.
    pub fn new(model: Arc<dyn Model>, images: bool, others: bool) -> Self {
        Self { model, images, others }
    }
}

impl Model for WithoutFiles {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let is_unsupported = |kind: &str| if kind.starts_with("image/") { self.images } else { self.others };
        let request = replace_unsupported_files(&request, &is_unsupported).unwrap_or(request);
        self.model.stream(request, cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::Demo;
    use contract::{FileData, Message, UserPart};

    #[test]
    fn only_files_that_the_model_does_not_read_are_replaced() {
        let file = |media_type: &str| UserPart::File {
            media_type: media_type.to_owned(),
            data: FileData::Base64("SGk=".to_owned()),
            filename: Some("a".to_owned()),
        };
        let request = Request {
            messages: vec![Arc::new(Message::User(vec![file("image/png"), file("application/pdf")]))],
            ..Request::default()
        };
        let check = |images: bool, others: bool, expected: &[bool]| {
            let is_unsupported = |kind: &str| if kind.starts_with("image/") { images } else { others };
            let sent = replace_unsupported_files(&request, &is_unsupported).unwrap_or_else(|| request.clone());
            let Message::User(parts) = &*sent.messages[0] else { panic!("no message of the user") };
            let is_note =
                |part: &UserPart| matches!(part, UserPart::Text { text } if text.contains("cannot be read here"));
            assert_eq!(parts.iter().map(is_note).collect::<Vec<_>>(), expected, "{images} {others}");
        };
        check(false, false, &[false, false]);
        check(true, false, &[true, false]);
        check(false, true, &[false, true]);
        check(true, true, &[true, true]);
        let model = Arc::new(Demo::new("demo", None));
        assert_eq!(WithoutFiles::new(model.clone(), true, true).id(), model.id());
    }
}
