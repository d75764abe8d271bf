//! The files attached to the next message.

use super::outgoing::{Attachment, Upload};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::bidi::has_mixed_directions;
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use crate::ui::numbers;

/// A card for each file, with the progress of its upload, and whether the message waits for it.
#[component]
pub(in crate::agent_chat) fn Attachments() -> AnyView {
    let session = expect_context::<Session>();
    let card = move |attached: Attachment| card(session, attached);
    view! {
        <ul class="cw-attachments" aria-label=t(Text::AttachedFiles)>
            <For each=move || session.attachments.get() key=|attached| attached.key.clone() children=card />
        </ul>
        <p class="cw-attachments-wait cw-attachment-size" role="status">
            {move || session.sends_when_uploaded.get().then(|| t(Text::SendsWhenUploaded))}
        </p>
    }
    .into_any()
}

fn card(session: Session, attached: Attachment) -> AnyView {
    let Attachment { key, name, size, preview, upload } = attached;
    // The name for display and for screen readers; the original name is sent.
    let name = text_with_code_points(&name, TextKind::Value).into_owned();
    let picture = match preview {
        // The name is shown next to it.
        Some(preview) => view! { <img src=preview alt="" /> }.into_any(),
        None => view! { <Icon of=Shape::FILE /> }.into_any(),
    };
    let failed = upload.clone();
    let again = key.clone();
    let state = {
        let name = name.clone();
        (move || state(session, &upload.get(), &name, &again, size)).into_any()
    };
    let remove = fill(Text::RemoveNamed, &[&name]);
    view! {
        <li
            class="cw-attachment"
            class:cw-attachment-failed=move || matches!(failed.get(), Upload::Failed(_))
        >
            <span class="cw-attachment-picture">{picture}</span>
            <span class="cw-attachment-text">
                {file_name(&name)}
                {state}
            </span>
            <button
                type="button"
                class="cw-icon-button"
                aria-label=remove.clone()
                title=remove
                on:click=move |_| session.detach(&key)
            >
                <Icon of=Shape::CLOSE />
            </button>
        </li>
    }
    .into_any()
}

/// The name of a file. If it does not fit, its beginning and its extension are shown.
fn file_name(name: &str) -> AnyView {
    let (stem, extension) = name.split_at(stem_length(name));
    view! {
        <span class="cw-attachment-name" dir="auto" title=name.to_owned()>
            <span class:cw-mixed=has_mixed_directions(stem)>{stem.to_owned()}</span>
            <span>{extension.to_owned()}</span>
        </span>
    }
    .into_any()
}

/// The byte offset of the extension. A suffix that is long, or is the whole name, is no extension.
fn stem_length(name: &str) -> usize {
    let is_extension = |at: &usize| *at > 0 && (2..=8).contains(&(name.len() - at));
    name.rfind('.').filter(is_extension).unwrap_or(name.len())
}

fn state(session: Session, upload: &Upload, name: &str, key: &str, size: u64) -> AnyView {
    match upload {
        Upload::Running(percent) => {
            let percent = percent.to_string();
            view! {
                <progress aria-label=fill(Text::SendingNamed, &[name]) max="100" value=percent></progress>
            }
            .into_any()
        }
        Upload::Done(_) if size == 0 => ().into_any(),
        Upload::Done(_) => view! { <span class="cw-attachment-size">{numbers::byte_size(size)}</span> }.into_any(),
        Upload::Failed(message) => {
            let key = key.to_owned();
            view! {
                <span class="cw-attachment-error">
                    <span role="alert">{message.clone()}</span>
                    <button type="button" class="cw-text-button" on:click=move |_| session.upload_again(&key)>
                        {t(Text::TryAgain)}
                    </button>
                </span>
            }
            .into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_split_from_file_names() {
        let check = |name: &str, extension: &str| assert_eq!(&name[stem_length(name)..], extension, "{name}");
        check("report.csv", ".csv");
        check("הזמנות האביב.csv", ".csv");
        check("archive.tar.gz", ".gz");
        check("page.numbers", ".numbers");
        check("notes.markdown", "");
        check("README", "");
        check(".profile", "");
        check("Dr. Who and the others", "");
        check("ends with a dot.", "");
    }
}
