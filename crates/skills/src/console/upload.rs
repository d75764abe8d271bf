//! Installs an archive that an administrator sends, as the body of a request or with a form.

use super::list::upload_form;
use super::{InstallOptions, PATH, SkillDetail, TITLE};
use crate::archive::MAX_ARCHIVE;
use crate::console;
use axum::Router;
use axum::body::Body;
use axum::extract::multipart::MultipartRejection;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::response::Response;
use axum::routing::post;
use capability::Context;
use futures::StreamExt;
use serde_json::json;
use web::admin::{Admin, PageError, page};
use web::openapi::{Created, Description, RouteInput};
use web::{HttpError, SentQuery, query_encoded, see_other, status_of, valid_query};
use wire::{ErrorCode, UserError};

/// The longest field of the form that is no file, in bytes.
const MAX_FIELD: usize = 1024;

pub(super) fn pages() -> Router<Context> {
    Router::new().route(PATH, post(install_from_form))
}

/// The bytes of an archive.
pub(super) struct Archive(pub(super) Vec<u8>);

impl<S: Send + Sync> FromRequest<S> for Archive {
    type Rejection = HttpError;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, HttpError> {
        let mut stream = request.into_body().into_data_stream();
        let mut bytes = Vec::new();
        while let Some(more) = stream.next().await {
            let more = more.map_err(|_| HttpError::malformed("The upload was interrupted."))?;
            append(&mut bytes, &more)?;
        }
        Ok(Self(bytes))
    }
}

impl RouteInput for Archive {
    fn describe(description: &mut Description<'_>) {
        description.body("application/zip", &json!({ "type": "string", "format": "binary" }), true);
    }
}

fn append(bytes: &mut Vec<u8>, more: &[u8]) -> Result<(), UserError> {
    if bytes.len() + more.len() > MAX_ARCHIVE {
        let message = format!("The archive is larger than {} MB.", MAX_ARCHIVE >> 20);
        return Err(UserError::new(ErrorCode::TooLarge, message));
    }
    bytes.extend_from_slice(more);
    Ok(())
}

/// `POST /api/admin/skills`
pub(super) async fn install(
    admin: Admin,
    State(context): State<Context>,
    query: SentQuery<InstallOptions>,
    archive: Archive,
) -> Result<Created<SkillDetail>, HttpError> {
    let options = valid_query(query)?;
    let name = console::install(&context, &admin, archive.0, options).await?;
    Ok(Created(console::detail(&context, &name).await?))
}

/// `POST /admin/skills`
async fn install_from_form(
    admin: Admin,
    State(context): State<Context>,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, PageError> {
    let installed = async {
        let form = form.map_err(|_| UserError::invalid("/", "The form was not sent as `multipart/form-data`."))?;
        let (archive, options) = read_form(form).await?;
        console::install(&context, &admin, archive, options).await
    };
    match installed.await {
        Ok(name) => Ok(see_other(&format!("{PATH}/{}", query_encoded(&name)), None)),
        Err(error) => {
            let status = status_of(&error);
            Ok(page(&admin, PATH, status, TITLE, upload_form(Some(error.message))))
        }
    }
}

async fn read_form(mut form: Multipart) -> Result<(Vec<u8>, InstallOptions), UserError> {
    let interrupted = |_| UserError::invalid("/", "The upload was interrupted.");
    let (mut archive, mut options) = (Vec::new(), InstallOptions::default());
    while let Some(mut field) = form.next_field().await.map_err(interrupted)? {
        let name = field.name().unwrap_or_default().to_owned();
        let mut bytes = Vec::new();
        while let Some(more) = field.chunk().await.map_err(interrupted)? {
            append(&mut bytes, &more)?;
            if name != "file" && bytes.len() > MAX_FIELD {
                return Err(UserError::invalid("/", "A field of the form is too long."));
            }
        }
        match name.as_str() {
            "file" => archive = bytes,
            "sha256" => options.sha256 = Some(String::from_utf8_lossy(&bytes).into_owned()),
            "replace" => options.replace = bytes == b"1",
            _ => {}
        }
    }
    if archive.is_empty() { Err(UserError::invalid("/file", "Choose an archive.")) } else { Ok((archive, options)) }
}
