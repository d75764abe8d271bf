//! The libraries that an agent searches for a user, and those among which the user may choose.

use super::search::MAX_LIBRARIES;
use super::{Access, Knowledge};
use crate::section::{AgentKnowledge, KnowledgeOptions, LibraryChoice};
use crate::store::LibraryRow;
use auth::rights::{AccessDecision, check_rule};
use capability::{ListLibraries, ReadableLibrary};
use chat::{Caller, Viewer};
use contract::RunScope;
use futures::future::BoxFuture;
use wire::{ErrorCode, UserError};

/// The path of the option in a request.
const PATH: &str = "/libraries";

impl Knowledge {
    /// Returns what an agent searches; `None` if it searches nothing, or the caller may not use it.
    pub(super) fn options_of_agent(&self, caller: &Caller, agent_id: &str) -> Option<KnowledgeOptions> {
        let config = self.0.config.load_full()?;
        let agent = config.agents.get(agent_id)?;
        let may_use =
            caller.check_agent(agent_id).is_ok() && check_rule(caller, &agent.auth) == AccessDecision::Allowed;
        agent.section().filter(|_| may_use).map(AgentKnowledge::options)
    }

    /// Returns the libraries that an agent may search for a user: those that it names, and with `choose: all`
    /// all others that the user may read.
    async fn offered(&self, viewer: &Viewer, options: &KnowledgeOptions) -> Result<Vec<LibraryRow>, UserError> {
        let through_agent = viewer.clone().through_agent(true);
        let mut offered = Vec::new();
        for id in &options.libraries {
            match self.library(&through_agent, &id.0, Access::Read).await {
                Ok(library) => offered.push(library),
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        if options.choose == Some(LibraryChoice::All) {
            // Libraries that the agent's config does not name are read with the user's own rights.
            let own = self.libraries(&viewer.clone().through_agent(false)).await?;
            offered.extend(own.into_iter().filter(|library| !options.names(&library.id)));
        }
        Ok(offered)
    }

    /// Returns the libraries among which a caller may choose for an answer of an agent; none where nothing is
    /// to choose.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, or that searches no documents.
    pub(crate) async fn choices(&self, caller: &Caller, agent_id: &str) -> Result<Vec<LibraryRow>, UserError> {
        let options = self.options_of_agent(caller, agent_id).ok_or_else(UserError::not_found)?;
        match options.choose {
            Some(_) => self.offered(&Viewer::from(caller), &options).await,
            None => Ok(Vec::new()),
        }
    }

    /// Checks the libraries that a caller has chosen for an answer of an agent.
    ///
    /// # Errors
    /// 422 if nothing is to choose, or for a library that the caller may not choose; whether there is one with
    /// this id is not told.
    pub(crate) async fn check_chosen(
        &self,
        caller: &Caller,
        options: Option<&KnowledgeOptions>,
        chosen: &[String],
    ) -> Result<(), UserError> {
        let Some(options) = options.filter(|options| options.choose.is_some()) else {
            let message = "Libraries cannot be chosen for this agent: its `knowledge` has no `choose`.";
            return Err(UserError::invalid(PATH, message));
        };
        if chosen.len() > MAX_LIBRARIES {
            return Err(UserError::invalid(PATH, format!("At most {MAX_LIBRARIES} libraries can be chosen at once.")));
        }
        let offered = self.offered(&Viewer::from(caller), options).await?;
        match chosen.iter().position(|id| !offered.iter().any(|library| library.id == *id)) {
            Some(at) => {
                let message = "There is no such library, or you may not choose it for this agent.";
                Err(UserError::invalid(format!("{PATH}/{at}"), message))
            }
            None => Ok(()),
        }
    }

    /// Returns the libraries that the conversation of a turn has of its own, such as those of its project, as far as
    /// the agent searches them and the user may read them. The agent has no rights to them beside the user's.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn libraries_of_run(
        &self,
        scope: &RunScope,
        options: &KnowledgeOptions,
    ) -> Result<Vec<LibraryRow>, UserError> {
        let Some(known) = self.0.libraries.get().filter(|_| options.searches_libraries_of_run(scope)) else {
            return Ok(Vec::new());
        };
        let user = Viewer::from(scope).through_agent(false);
        let mut readable = Vec::new();
        for id in known.of_run(scope).await.map_err(super::failed)?.into_iter().take(MAX_LIBRARIES) {
            match self.library(&user, &id, Access::Read).await {
                Ok(library) => readable.push(library),
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(readable)
    }

    /// Returns the libraries that an agent searches in a turn:
    ///
    /// - the attached files of the conversation, if the agent searches them;
    /// - the libraries that the conversation has of its own;
    /// - those that the user has chosen; without a choice, those that the agent names; if it names none, all that the
    ///   user may read, unless the conversation has libraries of its own.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn searched(
        &self,
        scope: &RunScope,
        options: &KnowledgeOptions,
    ) -> Result<Vec<LibraryRow>, UserError> {
        let attached = if options.attachments { self.attachments(scope).await? } else { None };
        let own = self.libraries_of_run(scope, options).await?;
        let mut libraries = if options.searches_libraries(scope) {
            self.offered(&Viewer::from(scope), options).await?
        } else {
            Vec::new()
        };
        match &scope.libraries {
            Some(chosen) if options.choose.is_some() => libraries.retain(|library| chosen.contains(&library.id)),
            _ if !options.libraries.is_empty() => libraries.retain(|library| options.names(&library.id)),
            _ if !own.is_empty() => libraries.clear(),
            // The files of a project are for its conversations, unless the user chooses them.
            _ => libraries.retain(|library| !library.of_project),
        }
        libraries.retain(|library| !own.iter().any(|known| known.id == library.id));
        Ok(attached.into_iter().chain(own).chain(libraries).take(MAX_LIBRARIES).collect())
    }
}

impl ListLibraries for Knowledge {
    fn readable<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<ReadableLibrary>, UserError>> {
        Box::pin(async move {
            let viewer = Viewer::from(caller);
            let own = self.libraries(&viewer).await?.into_iter();
            let own = own.filter(|library| !library.owner.is_empty() && !library.of_project);
            let own = own.map(|library| ReadableLibrary { id: library.id, name: library.name });
            // Those of the config are listed from the start on, also before their documents are read.
            let declared = self.declared().into_iter().map(|(declared, _)| declared);
            let declared = declared.filter(|declared| declared.access(&viewer).is_some());
            let declared =
                declared.map(|library| ReadableLibrary { name: library.title().to_owned(), id: library.id.0 });
            Ok(own.chain(declared).collect())
        })
    }
}
