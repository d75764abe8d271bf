//! The problems that the checks of a section report.

use crate::connection_type::ConnectionProperties;
use crate::section::{Context, operator, type_of};
use config_source::{Node, PathStep, suggest};
use url::Url;

/// Reports problems of a section, or of the properties of a connection, at their positions in the
/// file. Paths start at the section or the properties.
pub struct SectionProblems<'a, 'n, 'r> {
    pub(super) node: &'a Node,
    pub(crate) context: &'a mut Context<'n, 'r>,
}

impl<'a, 'n, 'r> SectionProblems<'a, 'n, 'r> {
    pub(crate) fn new(node: &'a Node, context: &'a mut Context<'n, 'r>) -> Self {
        Self { node, context }
    }
}

impl SectionProblems<'_, '_, '_> {
    /// Reports an error. `help` tells the author what to write instead.
    pub fn error(&mut self, path: &[PathStep<'_>], message: impl Into<String>, help: Option<String>) {
        self.context.report.error(self.node.span_at(path), message, help);
    }

    /// Reports a warning. `help` tells the author what to write instead.
    pub fn warning(&mut self, path: &[PathStep<'_>], message: impl Into<String>, help: Option<String>) {
        self.context.report.warning(self.node.span_at(path), message, help);
    }

    /// Checks that the config declares this connection, with the type of these properties.
    pub fn check_connection<P: ConnectionProperties>(&mut self, path: &[PathStep<'_>], id: &str) {
        let at = self.node.span_at(path);
        let found = self.context.connection(id, at).and_then(type_of);
        if let Some(found) = found.filter(|found| *found != P::TYPE) {
            let message = format!("this needs a connection of the type {}; `{id}` is of the type {found}", P::TYPE);
            self.context.report.error(at, message, None);
        }
    }

    /// Checks that the config declares this connection, with one of these types.
    pub fn check_connection_type(&mut self, path: &[PathStep<'_>], id: &str, types: &[&str]) {
        let at = self.node.span_at(path);
        let found = self.context.connection(id, at).and_then(type_of);
        if let Some(found) = found.filter(|found| !types.contains(found)) {
            let message = format!("`{id}` is a connection of the type {found}, which cannot be used here");
            self.context.report.error(at, message, Some(format!("use one of the type {}", types.join(", "))));
        }
    }

    /// Checks a base URL: it has a scheme, a host and perhaps a path. Without `allow_private`, the scheme is `https`;
    /// `what` says what would be sent otherwise, such as "searches". `example` is a URL that would be right.
    pub fn check_base_url(
        &mut self,
        path: &[PathStep<'_>],
        text: &str,
        allow_private: bool,
        (what, example): (&str, &str),
    ) {
        let Ok(url) = Url::parse(text) else {
            return self.error(path, "this is not a URL", Some(format!("for example {example}")));
        };
        let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !is_plain || url.fragment().is_some() {
            self.error(path, "the URL has only `https://`, a host and a path", None);
        } else if url.scheme() == "http" && !allow_private {
            let help = "write `https://`, or `allowPrivate: true` for a server of your own network".to_owned();
            self.error(path, format!("{what} would be sent without encryption"), Some(help));
        }
    }

    /// Checks that the config declares this agent.
    pub fn check_agent(&mut self, path: &[PathStep<'_>], id: &str) {
        self.context.agent(id, self.node.span_at(path));
    }

    /// Checks that the config declares this endpoint.
    pub fn check_endpoint(&mut self, path: &[PathStep<'_>], id: &str) {
        self.context.endpoint(id, self.node.span_at(path));
    }

    /// Checks the operators in a value that is evaluated later, on the server. `values` are those
    /// that read a value there.
    pub fn check_operators(&mut self, path: &[PathStep<'_>], values: &[&'static str]) {
        let Some(node) = self.node.node_at(path) else { return };
        operator::check(node, self.context.vocabulary.operators(), values, self.context.report);
    }

    /// Checks that a config may have a section with this name.
    pub fn check_section_name(&mut self, path: &[PathStep<'_>], name: &str) {
        if !self.context.vocabulary.section_names().any(|known| known == name) {
            let help = suggest::help(name, self.context.vocabulary.section_names());
            self.context.report.error(self.node.span_at(path), format!("a config has no section `{name}`"), help);
        }
    }

    /// Returns the most similar of the known names, if one is similar enough.
    pub fn nearest_name<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        suggest::nearest(wrong, known)
    }

    /// Returns the help line for an unknown name: the most similar of the known ones, or all of them
    /// if they are few.
    pub fn name_help<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
        suggest::help(wrong, known)
    }
}
