//! The form of a project.

use crate::project::{Color, MAX_NAME};
use crate::section::ProjectsSection;
use crate::service::Service;
use crate::views::{ProjectBody, ProjectView};
use capability::ReadableLibrary;
use chat::Caller;
use leptos::prelude::*;
use web::SentFields;
use web::html::{number, text_area_content};
use wire::UserError;

/// The values of the form of a project.
#[derive(Clone, Debug, Default)]
pub(super) struct ProjectForm {
    pub(super) name: String,
    pub(super) color: Color,
    pub(super) instructions: String,
    pub(super) libraries: Vec<String>,
    pub(super) agent_id: String,
    pub(super) model_id: String,
    /// The folder that becomes a project.
    pub(super) folder_id: Option<String>,
    /// The version that a change is based on.
    pub(super) version: Option<i64>,
}

/// The choices of the form.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    section: ProjectsSection,
    libraries: Vec<ReadableLibrary>,
    /// Ids and titles.
    agents: Vec<(String, String)>,
    models: Vec<(String, String)>,
}

impl Choices {
    /// Returns the choices of a caller.
    ///
    /// # Errors
    /// 404 if there are no projects here.
    pub(super) async fn load(service: &Service, caller: &Caller) -> Result<Self, UserError> {
        let section = service.section()?;
        let (current, libraries) = (&service.context.current, service.readable_libraries(caller).await?);
        let config = current.config();
        let usable: Vec<_> = current
            .usable_agents(caller)
            .into_iter()
            .filter(|id| current.page_for_agent(caller, id).is_some())
            .filter_map(|id| config.agents.get(&id))
            .collect();
        let has_model =
            |id: &String| usable.iter().filter_map(|agent| agent.models.as_ref()).any(|models| models.ids.contains(id));
        let title =
            |agent: &&config::Agent| (agent.id.clone(), agent.title.clone().unwrap_or_else(|| agent.id.clone()));
        let models = config.models.values().filter(|model| has_model(&model.id));
        Ok(Self {
            section,
            libraries,
            agents: usable.iter().map(title).collect(),
            models: models.map(|model| (model.id.clone(), model.title.clone())).collect(),
        })
    }

    /// Returns the names of libraries of a project, as far as the user may read them, and how many
    /// others there are.
    pub(super) fn library_names(&self, ids: &[String]) -> (Vec<String>, usize) {
        let names = self.libraries.iter().filter(|library| ids.contains(&library.id));
        let names: Vec<_> = names.map(|library| library.name.clone()).collect();
        let others = ids.len() - names.len();
        (names, others)
    }

    /// Returns the libraries that the user may not read.
    fn hidden<'i>(&self, ids: &'i [String]) -> impl Iterator<Item = &'i String> {
        ids.iter().filter(|id| !self.libraries.iter().any(|library| library.id == **id))
    }
}

impl From<ProjectView> for ProjectForm {
    fn from(view: ProjectView) -> Self {
        let ProjectView { name, color, instructions, libraries, agent_id, model_id, version, .. } = view;
        let (agent_id, model_id) = (agent_id.unwrap_or_default(), model_id.unwrap_or_default());
        let version = Some(version);
        Self { name, color, instructions, libraries, agent_id, model_id, folder_id: None, version }
    }
}

impl ProjectForm {
    /// Reads the fields that a form has sent; fields that it has not sent are empty.
    pub(super) fn parse(sent: &[u8]) -> Self {
        let sent = SentFields::parse(sent);
        let text = |name: &str| sent.first(name).to_owned();
        Self {
            name: text("name"),
            color: Color::from_name(sent.first("color")).unwrap_or_default(),
            instructions: text("instructions"),
            libraries: sent.all("library").map(str::to_owned).collect(),
            agent_id: text("agent"),
            model_id: text("model"),
            folder_id: Some(text("folder")).filter(|id| !id.is_empty()),
            version: sent.first("version").parse().ok(),
        }
    }

    /// Returns the body that the form stands for.
    pub(super) fn body(&self) -> ProjectBody {
        let Self { name, color, instructions, libraries, agent_id, model_id, folder_id, version } = self.clone();
        let (agent_id, model_id) = (Some(agent_id), Some(model_id));
        ProjectBody { name, color, instructions, libraries, agent_id, model_id, folder_id, version }
    }

    /// Renders the form, which is sent to `action`. `act` names its button.
    pub(super) fn view(self, action: String, act: &'static str, choices: &Choices) -> AnyView {
        let Self { name, color, instructions, libraries, agent_id, model_id, folder_id, version } = self;
        let version = version.map(|version| view! { <input type="hidden" name="version" value=version.to_string() /> });
        let folder = folder_id.map(|id| view! { <input type="hidden" name="folder" value=id /> });
        let hidden: Vec<_> = choices.hidden(&libraries).cloned().collect();
        let hidden_note = (!hidden.is_empty()).then(|| {
            let text = format!(
                "{} that you may not read stay in the project.",
                super::counted(hidden.len() as u32, "library", "libraries")
            );
            view! { <p class="cw-account-note">{text}</p> }
        });
        let kept =
            hidden.into_iter().map(|id| view! { <input type="hidden" name="library" value=id /> }).collect_view();
        let boxes = choices.libraries.iter().map(|library| {
            let checked = libraries.contains(&library.id);
            view! {
                <label class="cw-project-choice">
                    <input type="checkbox" name="library" value=library.id.clone() checked=checked />
                    <span dir="auto">{library.name.clone()}</span>
                </label>
            }
        });
        let boxes = boxes.collect_view();
        let has_libraries = !choices.libraries.is_empty();
        let colors = Color::ALL.into_iter().map(|known| {
            view! { <option value=known.name() selected=known == color>{capitalized(known.name())}</option> }
        });
        let colors = colors.collect_view();
        let model = (!choices.models.is_empty())
            .then(|| select("model", "Model of new conversations", "The agent's model", &choices.models, &model_id));
        let agent = select("agent", "Agent of new conversations", "The first one", &choices.agents, &agent_id);
        let most = choices.section.instruction_characters;
        view! {
            <form class="cw-account-form" method="post" action=action>
                {version}
                {folder}
                {kept}
                <label class="cw-account-field">
                    <span>"Name"</span>
                    <input name="name" value=name required maxlength=MAX_NAME.to_string() autocomplete="off" dir="auto" />
                </label>
                <label class="cw-account-field">
                    <span>"Colour"</span>
                    <select name="color">{colors}</select>
                </label>
                <label class="cw-account-field">
                    <span>"Instructions (optional)"</span>
                    <textarea name="instructions" rows="8" maxlength=most.to_string() aria-describedby="about-instructions" dir="auto" inner_html=text_area_content(&instructions)></textarea>
                </label>
                <p class="cw-account-note" id="about-instructions">
                    {format!("Agents get them in conversations of the project. Up to {} characters.", number(f64::from(most)))}
                </p>
                {has_libraries.then(|| view! {
                    <fieldset class="cw-project-choices">
                        <legend>"Libraries that agents search"</legend>
                        {boxes}
                        {hidden_note}
                    </fieldset>
                })}
                {agent}
                {model}
                <button class="cw-button cw-primary">{act}</button>
            </form>
        }
        .into_any()
    }
}

/// Renders a choice by ids. One that is not among them stays chosen.
fn select(
    name: &'static str,
    label: &'static str,
    none: &'static str,
    all: &[(String, String)],
    chosen: &str,
) -> AnyView {
    let is_missing = !chosen.is_empty() && !all.iter().any(|(id, _)| id == chosen);
    let missing = is_missing.then(|| (chosen.to_owned(), chosen.to_owned()));
    let options = all.iter().cloned().chain(missing).map(|(id, title)| {
        let is_chosen = id == chosen;
        view! { <option value=id selected=is_chosen>{title}</option> }
    });
    let options = options.collect_view();
    view! {
        <label class="cw-account-field">
            <span>{label}</span>
            <select name=name>
                <option value="" selected=chosen.is_empty()>{none}</option>
                {options}
            </select>
        </label>
    }
    .into_any()
}

fn capitalized(name: &str) -> String {
    let mut signs = name.chars();
    signs.next().map(|first| first.to_uppercase().chain(signs).collect()).unwrap_or_default()
}
