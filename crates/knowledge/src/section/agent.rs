//! The keys `knowledge` and `answerOnlyFromKnowledge` of an agent.

use super::{KnowledgeSettings, Libraries};
use crate::tools::{EXPLORE, LIST, QUERY, READ, SEARCH};
use config::{Config, PaidUse, PathStep, Section, SectionPlace, SectionProblems, Sections, SwitchOption};
use contract::RunScope;
use schemars::JsonSchema;
use serde::Deserialize;
use settings::{Text, UserSwitch};

/// The libraries that the agent may search: ids of `libraries`, or of libraries that users have created. With
/// `choose` and `documents`, users have a say in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum AgentKnowledge {
    /// The libraries.
    Libraries(NamedLibraries),
    /// The libraries, and what users choose.
    Options(KnowledgeOptions),
}

/// Ids of libraries.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct NamedLibraries(#[schemars(length(min = 1, max = 20))] Vec<Text>);

/// The libraries and documents that an agent searches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct KnowledgeOptions {
    /// The libraries that are searched until the user chooses others. Default, with `choose: all`: all that the
    /// user may read.
    #[schemars(length(max = 20))]
    pub(crate) libraries: Vec<Text>,
    /// A menu in the composer with which the user chooses the libraries that are searched, at most 20 at once:
    /// among those of this agent (`listed`), or among all that they may read (`all`).
    pub(crate) choose: Option<LibraryChoice>,
    /// A switch in the composer with which the user lets the agent search: `optIn` is off until they switch it
    /// on, `optOut` is on until they switch it off. While it is off, the agent has neither `document_search` nor
    /// the other tools for documents. Default: no switch; the agent always has them.
    pub(crate) documents: Option<UserSwitch>,
    /// Whether documents that users attach in a conversation are searched there, too. Of a long one, the model
    /// then reads the beginning, and searches for the rest. Default: `false`.
    pub(crate) attachments: bool,
    /// Whether the agent can list the documents, with `document_list`: for agents that work through all of them.
    /// Default: `false`.
    pub(crate) list: bool,
    /// Whether the agent has the tools `graph_query` and `graph_explore` for the entities and relations of those
    /// libraries that have a `graph`. Default: `false`.
    pub(crate) graph: bool,
}

/// Among which libraries the user chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LibraryChoice {
    /// Among those of the agent.
    Listed,
    /// Among all that the user may read.
    All,
}

impl AgentKnowledge {
    /// Returns what the agent searches.
    pub(crate) fn options(&self) -> KnowledgeOptions {
        match self {
            Self::Libraries(NamedLibraries(libraries)) => {
                KnowledgeOptions { libraries: libraries.clone(), ..KnowledgeOptions::default() }
            }
            Self::Options(options) => options.clone(),
        }
    }
}

impl KnowledgeOptions {
    /// Returns whether the agent searches libraries in a turn, beside what is attached.
    pub(crate) fn searches_libraries(&self, scope: &RunScope) -> bool {
        let Self { libraries, choose, documents, .. } = self;
        let chose_none = choose.is_some() && scope.libraries.as_ref().is_some_and(|chosen| chosen.is_empty());
        let has_any = !libraries.is_empty() || choose.is_some();
        has_any && !chose_none && documents.is_none_or(|switch| switch.is_on(scope.documents))
    }

    /// Returns whether the agent searches the libraries that the conversation has of its own, in a turn. A user who
    /// chooses among all libraries chooses among these as well.
    pub(crate) fn searches_libraries_of_run(&self, scope: &RunScope) -> bool {
        let is_chosen = self.choose == Some(LibraryChoice::All) && scope.libraries.is_some();
        !is_chosen && self.documents.is_none_or(|switch| switch.is_on(scope.documents))
    }

    /// Returns whether the agent's config names the library.
    pub(crate) fn names(&self, id: &str) -> bool {
        self.libraries.iter().any(|library| library.0 == id)
    }
}

impl Section for AgentKnowledge {
    const KEY: &'static str = "knowledge";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let KnowledgeOptions { libraries, choose, documents, attachments, .. } = self.options();
        let has_libraries = !libraries.is_empty() || choose == Some(LibraryChoice::All);
        if !has_libraries && attachments && (choose.is_some() || documents.is_some()) {
            let help = Some("name `libraries`, or leave it out".to_owned());
            let key = if choose.is_some() { "choose" } else { "documents" };
            problems.error(&[PathStep::Key(key)], "there are no libraries to choose", help);
        }
        if !has_libraries && !attachments {
            let help =
                "name `libraries`, let the user choose among all (`choose: all`), or search what they attach (`attachments: true`)".to_owned();
            problems.error(&[], "there is nothing to search", Some(help));
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let KnowledgeOptions { libraries, choose, graph, .. } = self.options();
        let declared = config.section::<Libraries>();
        let user_graph = config.section::<KnowledgeSettings>().is_some_and(|settings| settings.user_graph.is_some());
        let has_graph = |id: &str| match declared.and_then(|declared| declared.get(id)) {
            Some(library) => library.graph.is_some(),
            None => user_graph,
        };
        let any_declared = || declared.is_some_and(|declared| declared.0.iter().any(|library| library.graph.is_some()));
        let has_any = libraries.iter().any(|library| has_graph(&library.0))
            || choose == Some(LibraryChoice::All) && (user_graph || any_declared());
        if graph && !has_any {
            let help = Some("set `graph` of one of its libraries".to_owned());
            problems.error(&[PathStep::Key("graph")], "none of the agent's libraries has a `graph`", help);
        }
    }

    /// A search needs a vector of the question, and an order of the results.
    fn paid_uses(&self, config: &Config) -> Vec<PaidUse> {
        let unpriced = config.section::<KnowledgeSettings>().map(|settings| settings.unpriced(config));
        unpriced.unwrap_or_default().into_iter().map(|what| PaidUse { path: Vec::new(), what }).collect()
    }

    fn tool_names(&self) -> Vec<String> {
        let KnowledgeOptions { list, graph, .. } = self.options();
        let graph: &[&str] = if graph { &[QUERY, EXPLORE] } else { &[] };
        [SEARCH, READ].iter().chain(list.then_some(&LIST)).chain(graph).map(|name| (*name).to_owned()).collect()
    }

    fn user_switch(&self) -> Option<SwitchOption> {
        self.options().documents.map(|_| SwitchOption::Documents)
    }

    /// The libraries, unless the users of the agent choose among all that they may read.
    fn parts(&self, config: &Config, roles: Option<&[String]>) -> Vec<String> {
        let KnowledgeOptions { libraries, choose, .. } = self.options();
        if choose == Some(LibraryChoice::All) {
            return Vec::new();
        }
        let declared = config.section::<Libraries>();
        // Libraries of users are read with the rights of whoever uses the agent.
        let may_read = |id: &str| match (roles, declared.and_then(|libraries| libraries.get(id))) {
            (Some(roles), Some(library)) => library.may_be_read_with(roles),
            _ => true,
        };
        libraries.into_iter().map(|library| library.0).filter(|id| may_read(id)).collect()
    }

    fn with_parts(&self, parts: &[&str]) -> Option<Self> {
        let mut options = self.options();
        options.libraries.retain(|library| parts.contains(&library.0.as_str()));
        let has_any = !options.libraries.is_empty() || options.attachments;
        has_any.then_some(Self::Options(options))
    }
}

/// Whether the agent says that it found nothing instead of an answer that cites no document. Nothing is
/// shown before the first citation. Default: `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct AnswerOnlyFromKnowledge(pub(crate) bool);

impl Section for AnswerOnlyFromKnowledge {
    const KEY: &'static str = "answerOnlyFromKnowledge";
    const PLACE: SectionPlace = SectionPlace::Agent;
    const RESTRICTS: &'static [&'static str] = &[AgentKnowledge::KEY];

    fn check_with_agent(&self, agent: &Sections, problems: &mut SectionProblems<'_, '_, '_>) {
        if !self.0 {
            return;
        }
        match agent.get::<AgentKnowledge>().map(AgentKnowledge::options) {
            None => {
                let help = "name libraries: `knowledge: [handbook]`".to_owned();
                problems.error(&[], "this agent has no `knowledge`, so it could not answer anything", Some(help));
            }
            Some(KnowledgeOptions { documents: Some(_), .. }) => {
                let help = "leave out `documents` in `knowledge`, or this key".to_owned();
                let message = "this agent could not answer anything while the user has switched documents off";
                problems.error(&[], message, Some(help));
            }
            Some(_) => {}
        }
    }
}
