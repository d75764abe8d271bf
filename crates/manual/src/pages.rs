//! The pages of the documentation.

/// A page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// Its name in addresses: that of its file without the extension.
    pub(crate) name: &'static str,
    pub(crate) markdown: &'static str,
}

/// A group of pages, in the order of the menu.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) pages: &'static [Source],
}

/// A page of the folder `docs`.
macro_rules! page {
    ($name:literal) => {
        Source { name: $name, markdown: include_str!(concat!("../../../docs/", $name, ".md")) }
    };
}

/// All pages.
pub(crate) const GROUPS: &[Group] = &[
    Group {
        title: "First steps",
        pages: &[
            page!("first-run"),
            page!("config"),
            page!("home"),
            page!("reference"),
            page!("operators"),
            page!("presets"),
            page!("import"),
        ],
    },
    Group {
        title: "How to",
        pages: &[
            page!("howto-add-a-chat"),
            page!("howto-search-a-handbook"),
            page!("howto-ask-before-paying"),
            page!("howto-start-a-workflow-by-webhook"),
            page!("howto-run-on-postgresql"),
        ],
    },
    Group {
        title: "Agents",
        pages: &[
            page!("agents"),
            page!("models"),
            page!("tools"),
            page!("connected-accounts"),
            page!("web"),
            page!("data"),
            page!("memory"),
            page!("context"),
            page!("plans"),
            page!("skills"),
            page!("prompts"),
            page!("projects"),
            page!("workspace"),
        ],
    },
    Group { title: "Documents", pages: &[page!("knowledge"), page!("documents")] },
    Group {
        title: "The chat",
        pages: &[
            page!("chat"),
            page!("messages"),
            page!("composer"),
            page!("voice"),
            page!("conversations"),
            page!("notifications"),
            page!("events"),
            page!("language"),
        ],
    },
    Group {
        title: "From elsewhere",
        pages: &[
            page!("embedding"),
            page!("clients"),
            page!("channels"),
            page!("openai-api"),
            page!("ag-ui"),
            page!("a2a"),
            page!("mcp-server"),
        ],
    },
    Group { title: "Processes", pages: &[page!("workflows"), page!("triggers")] },
    Group {
        title: "People",
        pages: &[
            page!("accounts"),
            page!("sign-in"),
            page!("groups"),
            page!("rights"),
            page!("admin"),
            page!("console-config"),
            page!("audit"),
        ],
    },
    Group { title: "Quality", pages: &[page!("replay"), page!("evaluation")] },
    Group {
        title: "Operation",
        pages: &[
            page!("operations"),
            page!("alerts"),
            page!("performance"),
            page!("scaling"),
            page!("reliability"),
            page!("scorecard"),
        ],
    },
    Group { title: "Development", pages: &[page!("extending"), page!("architecture")] },
];

/// Returns all pages, in the order of the menu.
pub(crate) fn all() -> impl Iterator<Item = &'static Source> {
    GROUPS.iter().flat_map(|group| group.pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_file_of_the_documentation_is_a_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let files: BTreeSet<_> = files.filter_map(|name| name.strip_suffix(".md").map(str::to_owned)).collect();
        let pages: BTreeSet<_> = all().map(|page| page.name.to_owned()).collect();
        assert_eq!(pages, files);
        assert_eq!(all().count(), pages.len(), "a page is listed twice");
    }
}
