//! The documentation as a static site.

use crate::pages;
use crate::render::{Links, Page, render};
use crate::view;
use anyhow::Context;
use leptos::prelude::*;
use std::fs;
use std::path::Path;

/// The style sheets of the site, as files of the product's own site.
pub const STYLES: [&str; 2] = ["pkg/chatwright.css", "pkg/documents.css"];

const LINKS: Links = Links { before: "", after: ".html" };

/// Writes all pages into a folder, which is created: `index.html` and a file for each page. `styles` are the contents
/// of [`STYLES`]. Returns how many pages there are.
///
/// # Errors
/// A file cannot be written.
pub fn write_site(folder: &Path, styles: [&[u8]; 2]) -> anyhow::Result<usize> {
    let pages: Vec<_> = pages::all().map(|source| render(source, LINKS)).collect();
    let write = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, content).with_context(|| format!("{} cannot be written", path.display()))
    };
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    for (path, style) in STYLES.iter().zip(styles) {
        write(file_name(path), style)?;
    }
    write("index.html", document(&pages, "Documentation", None, view::overview(&pages, LINKS)).as_bytes())?;
    for page in &pages {
        let content = view! { <article inner_html=page.html.clone()></article> }.into_any();
        let html = document(&pages, &page.title, Some(page.name), content);
        write(&format!("{}.html", page.name), html.as_bytes())?;
    }
    Ok(pages.len())
}

/// Returns the name of a file in the folder.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn document(pages: &[Page], title: &str, current: Option<&str>, content: AnyView) -> String {
    let styles = STYLES.map(|path| view! { <link rel="stylesheet" href=file_name(path) /> });
    let body = view::layout("index.html".to_owned(), ().into_any(), view::menu(pages, current, LINKS), content);
    let document = view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                {styles.collect_view()}
                <title>{format!("{title} · Chatwright")}</title>
            </head>
            <body>{body}</body>
        </html>
    };
    document.to_html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_the_static_site_has_a_file() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("site");
        let count = write_site(&folder, [b"a{}", b"b{}"]).unwrap();
        assert_eq!(fs::read(folder.join("documents.css")).unwrap(), b"b{}");
        let mut links = 0;
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let Some(html) = fs::read_to_string(&path).ok().filter(|_| path.extension().is_some_and(|it| it == "html"))
            else {
                continue;
            };
            let name = path.file_name().unwrap().to_str().unwrap();
            let marked = html.contains(&format!("<a href=\"{name}\" aria-current=\"page\">"));
            assert_eq!(marked, name != "index.html", "{name}");
            for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split(['"', '#']).next()) {
                if !link.is_empty() && !link.contains(':') && !link.starts_with('/') {
                    links += 1;
                    assert!(folder.join(link).exists(), "{}: {link}", path.display());
                }
            }
        }
        assert!(count > 40 && links > count * count, "{count} pages with {links} links");
    }
}
