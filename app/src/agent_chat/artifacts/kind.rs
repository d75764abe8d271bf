//! How a file is shown.

use wire::file::is_shown_inline;

/// The largest file that is shown, in bytes.
const MAX_SHOWN: u64 = 16 << 20;

/// How a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page, in a frame of its own.
    Html,
    /// A picture that is text, too.
    Svg,
    /// A picture.
    Image,
    Markdown,
    /// A diagram in the language of Mermaid.
    Mermaid,
    /// A table with this character between its fields.
    Table(char),
    Json,
    /// Source code or plain text.
    Text,
    Pdf,
    /// A file that is too large to show.
    TooLarge,
    /// Anything else, which can be downloaded.
    Other,
}

impl Kind {
    /// Returns the kind of a file, by the extension of its name and its media type.
    pub(crate) fn of(path: &str, media_type: &str, size: u64) -> Self {
        let is_text = media_type.starts_with("text/")
            || ["json", "xml", "yaml", "javascript", "toml", "sql"].iter().any(|end| media_type.ends_with(end))
            || media_type == "application/x-sh";
        match extension(path).as_str() {
            _ if size > MAX_SHOWN => Self::TooLarge,
            _ if is_shown_inline(media_type) => Self::Image,
            "pdf" => Self::Pdf,
            "svg" if media_type == "image/svg+xml" => Self::Svg,
            _ if !is_text => Self::Other,
            "html" | "htm" => Self::Html,
            "md" | "markdown" => Self::Markdown,
            "mmd" | "mermaid" => Self::Mermaid,
            "csv" => Self::Table(','),
            "tsv" => Self::Table('\t'),
            "json" => Self::Json,
            _ => Self::Text,
        }
    }

    /// Whether there is a preview beside the source.
    pub(crate) fn has_preview(self) -> bool {
        self != Self::Text
    }

    /// Whether the file is text, so that it has a source and its versions can be compared.
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, Self::Image | Self::Pdf | Self::TooLarge | Self::Other)
    }
}

/// Returns the extension of a file's name in lower case, which the highlighter knows.
pub(crate) fn extension(path: &str) -> String {
    name(path).rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// Returns the name of a file.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_name_and_what_was_detected() {
        let check = |path: &str, media_type: &str, expected: Kind| {
            assert_eq!(Kind::of(path, media_type, 10), expected, "{path} {media_type}");
        };
        check("/outputs/a.html", "text/html", Kind::Html);
        check("/outputs/a.html", "image/png", Kind::Image);
        check("/outputs/a.svg", "image/svg+xml", Kind::Svg);
        check("/outputs/a.svg", "text/plain", Kind::Text);
        check("/outputs/A.CSV", "text/csv", Kind::Table(','));
        check("/outputs/a.json", "application/json", Kind::Json);
        check("/outputs/a.rs", "text/plain", Kind::Text);
        check("/outputs/LICENSE", "text/plain", Kind::Text);
        check("/outputs/a.pdf", "application/pdf", Kind::Pdf);
        check("/outputs/a.html", "application/octet-stream", Kind::Other);
        assert_eq!(Kind::of("/outputs/a.csv", "text/csv", 17 << 20), Kind::TooLarge);
    }
}
