//! The section `guide` of the config: links between pages, and a tour of them.

use capability::Definition;
use config::{Config, Id, PathStep, Section, SectionProblems, SectionType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The capability: the section alone, which the routes of pages read.
pub(crate) const DEFINITION: Definition =
    Definition { sections: &[SectionType::of::<Guide>()], ..Definition::new("guide") };

/// Links to pages at the top of each page, and a tour of them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Guide {
    /// The pages, in this order. Users see those that they may open.
    #[schemars(length(min = 1, max = 8))]
    pub(crate) pages: Vec<GuidePage>,
    /// A tour of the pages, to which a link beside the others leads.
    #[serde(default)]
    pub(crate) tour: Option<Tour>,
}

/// A page to which a link leads.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GuidePage {
    /// The page.
    pub(crate) page_id: Id,
    /// The text of the link. Default: the title of the page.
    #[serde(default)]
    #[schemars(length(min = 1, max = 60))]
    pub(crate) title: Option<String>,
}

/// A tour in steps. Users can leave it at any time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tour {
    /// The text of the link.
    #[serde(default = "default_label")]
    #[schemars(length(min = 1, max = 60))]
    pub(crate) label: String,
    /// The text of the button that leads to the next step.
    #[serde(default = "default_next")]
    #[schemars(length(min = 1, max = 60))]
    pub(crate) next: String,
    /// The text of the button that ends the tour.
    #[serde(default = "default_leave")]
    #[schemars(length(min = 1, max = 60))]
    pub(crate) leave: String,
    /// The steps, in order.
    #[schemars(length(min = 1, max = 20))]
    pub(crate) steps: Vec<Step>,
}

/// A card with a text.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Step {
    /// The page on which it is shown.
    pub(crate) page_id: Id,
    /// The heading.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) title: String,
    /// The text.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) text: String,
    /// The part of the page that is marked.
    #[serde(default)]
    pub(crate) at: Option<PagePart>,
}

/// A part of a page.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PagePart {
    /// The list of conversations.
    Conversations,
    /// The blocks beside the chat, such as a form.
    Content,
    /// The chat.
    Chat,
    /// The field in which the user writes, with its buttons.
    Composer,
}

fn default_label() -> String {
    "Take the tour".to_owned()
}

fn default_next() -> String {
    "Next".to_owned()
}

fn default_leave() -> String {
    "Leave the tour".to_owned()
}

impl Section for Guide {
    const KEY: &'static str = "guide";

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let known = || config.pages.iter().map(|page| page.definition.id.as_str());
        let mut check = |path: &[PathStep<'_>], id: &Id| {
            if !known().any(|page| page == id.0) {
                problems.error(
                    path,
                    format!("there is no page `{}`", id.0),
                    SectionProblems::name_help(&id.0, known()),
                );
            }
        };
        for (index, page) in self.pages.iter().enumerate() {
            check(&[PathStep::Key("pages"), PathStep::Index(index), PathStep::Key("pageId")], &page.page_id);
        }
        for (index, step) in self.tour.iter().flat_map(|tour| &tour.steps).enumerate() {
            let path = [PathStep::Key("tour"), PathStep::Key("steps"), PathStep::Index(index), PathStep::Key("pageId")];
            check(&path, &step.page_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DEFINITION;
    use capability::language;
    use insta::assert_snapshot;

    fn check(guide: &str) -> String {
        let text = format!("pages: [{{ id: form, blocks: [] }}, {{ id: work, blocks: [] }}]\nguide: {guide}\n");
        match language(&[DEFINITION]).read_text(&text) {
            Ok((_, warnings)) => config::render_short(&warnings),
            Err(problems) => config::render_short(&problems),
        }
    }

    #[test]
    fn pages_of_a_guide_exist() {
        let tour =
            "{ label: Look around, next: Go on, leave: Stop, steps: [{ pageId: work, title: A, text: B, at: chat }] }";
        assert_snapshot!(check(&format!("{{ pages: [{{ pageId: form, title: A form }}, {{ pageId: work }}], tour: {tour} }}")), @"");
        assert_snapshot!(check("{ pages: [{ pageId: from }], tour: { steps: [{ pageId: wrok, title: A, text: B }] } }"), @r"
        chatwright.yaml:2:28: error: there is no page `from`
           = help: did you mean `form`?
        chatwright.yaml:2:63: error: there is no page `wrok`
           = help: did you mean `work`?
        ");
    }
}
