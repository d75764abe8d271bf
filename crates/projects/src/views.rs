//! The requests and responses of the API.

use crate::project::{Color, ProjectSettings, Role};
use crate::service::NewConversation;
use crate::store::{ListedProject, StoredProject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The format of an export.
pub(crate) const FORMAT: &str = "chatwright.project.1";

/// A project in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectItem {
    /// The id.
    pub(crate) id: String,
    /// The name.
    pub(crate) name: String,
    /// The colour.
    pub(crate) color: Color,
    /// The role of the caller.
    pub(crate) role: Role,
    /// The caller's folder with their conversations; absent if they have deleted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder_id: Option<String>,
    /// The number of its users, including the caller.
    pub(crate) members: u32,
    /// The number of the caller's conversations in it, including the archive.
    pub(crate) conversations: u32,
    /// The time at which one of these was last used, or else at which the caller joined; Unix time
    /// in milliseconds.
    pub(crate) used_at: i64,
}

/// The projects of the caller.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectList {
    /// All of them, in the order that was asked for.
    pub(crate) items: Vec<ProjectItem>,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProjectSort")]
pub(crate) enum Sort {
    /// By the name.
    #[default]
    Name,
    /// Those used last first.
    Used,
    /// Those with the most conversations first.
    Count,
    /// That of the caller's folders; new ones come first, by the name.
    Own,
}

/// The query of the list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ProjectListQuery")]
pub(crate) struct ListQuery {
    /// The order: `name` (default), `used`, `count` or `own`.
    #[serde(default)]
    pub(crate) sort: Sort,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Project")]
pub(crate) struct ProjectView {
    /// The id.
    pub(crate) id: String,
    /// The name.
    pub(crate) name: String,
    /// The colour.
    pub(crate) color: Color,
    /// The instructions of agents in conversations of the project; may be empty.
    pub(crate) instructions: String,
    /// The ids of the libraries that agents search in it, each only for members who may read it.
    pub(crate) libraries: Vec<String>,
    /// The agent of new conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
    /// The model of new conversations, for agents whose users choose a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_id: Option<String>,
    /// The role of the caller.
    pub(crate) role: Role,
    /// The caller's folder with their conversations; absent if they have deleted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder_id: Option<String>,
    /// Its users, in the order in which they joined.
    pub(crate) members: Vec<ProjectMember>,
    /// Counts from 1.
    pub(crate) version: i64,
    /// When it was last changed; Unix time in milliseconds.
    pub(crate) updated_at: i64,
}

/// A user of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectMember {
    /// The user's id.
    pub(crate) user_id: String,
    /// The user's name, if this server knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The role.
    pub(crate) role: Role,
    /// When they joined; Unix time in milliseconds.
    pub(crate) joined_at: i64,
}

/// The body that creates or changes a project.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProjectBody {
    /// The name, 1 to 60 characters.
    pub(crate) name: String,
    /// The colour. Default: `gray`.
    #[serde(default)]
    pub(crate) color: Color,
    /// The instructions of agents in conversations of the project.
    #[serde(default)]
    pub(crate) instructions: String,
    /// The ids of libraries that the caller may read, up to 20. Those that the project has already
    /// may stay.
    #[serde(default)]
    pub(crate) libraries: Vec<String>,
    /// The agent of new conversations.
    #[serde(default)]
    pub(crate) agent_id: Option<String>,
    /// The model of new conversations.
    #[serde(default)]
    pub(crate) model_id: Option<String>,
    /// For a new project: the folder of the caller that becomes the project. Default: a new one.
    #[serde(default)]
    pub(crate) folder_id: Option<String>,
    /// For a change: the version that it is based on.
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

/// The body that adds a user to a project.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProjectMemberBody")]
pub(crate) struct MemberBody {
    /// The name with which the user signs in.
    pub(crate) name: String,
    /// The role: `viewer` or `editor`.
    pub(crate) role: Role,
}

/// The body that changes the role of a user.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProjectMemberRole")]
pub(crate) struct RoleBody {
    /// The role: `viewer` or `editor`.
    pub(crate) role: Role,
}

/// The body that begins a conversation in a project.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "ProjectConversationBody")]
pub(crate) struct BeginBody {
    /// The agent. Default: that of the project, or else the first one that the caller may use.
    pub(crate) agent_id: Option<String>,
}

/// A conversation that begins in a project. It has no message yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectConversation {
    /// The id, with which the first message is sent.
    pub(crate) id: String,
    /// The page on which it is shown.
    pub(crate) page_id: String,
    /// The agent that answers.
    pub(crate) agent_id: String,
    /// The model that answers until the user chooses another one; absent for that of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_id: Option<String>,
    /// The path of the page with the conversation.
    pub(crate) path: String,
}

/// The settings of a project, as the first line of an export.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedProject {
    /// The format: `chatwright.project.1`.
    pub(crate) format: &'static str,
    /// The name.
    pub(crate) name: String,
    /// The colour.
    pub(crate) color: Color,
    /// The instructions.
    pub(crate) instructions: String,
    /// The ids of the libraries.
    pub(crate) libraries: Vec<String>,
    /// The agent of new conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
    /// The model of new conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_id: Option<String>,
}

impl ProjectBody {
    /// Returns the settings.
    pub(crate) fn settings(self) -> ProjectSettings {
        let Self { name, color, instructions, libraries, agent_id, model_id, .. } = self;
        let (agent_id, model_id) = (agent_id.unwrap_or_default(), model_id.unwrap_or_default());
        ProjectSettings { name, color, instructions, libraries, agent_id, model_id }
    }
}

impl ProjectView {
    pub(crate) fn new(project: StoredProject, members: Vec<ProjectMember>) -> Self {
        let StoredProject { id, settings, version, updated_at, role, folder_id, .. } = project;
        let ProjectSettings { name, color, instructions, libraries, agent_id, model_id } = settings;
        let (agent_id, model_id) = (non_empty(agent_id), non_empty(model_id));
        Self {
            id,
            name,
            color,
            instructions,
            libraries,
            agent_id,
            model_id,
            role,
            folder_id,
            members,
            version,
            updated_at,
        }
    }
}

impl ExportedProject {
    pub(crate) fn new(settings: ProjectSettings) -> Self {
        let ProjectSettings { name, color, instructions, libraries, agent_id, model_id } = settings;
        let (agent_id, model_id) = (non_empty(agent_id), non_empty(model_id));
        Self { format: FORMAT, name, color, instructions, libraries, agent_id, model_id }
    }
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

impl From<ListedProject> for ProjectItem {
    fn from(project: ListedProject) -> Self {
        let ListedProject { id, name, color, role, folder_id, members, conversations, used_at, position: _ } = project;
        Self { id, name, color, role, folder_id, members, conversations, used_at }
    }
}

impl From<NewConversation> for ProjectConversation {
    fn from(new: NewConversation) -> Self {
        let path = new.path();
        let NewConversation { id, page_id, agent_id, model_id } = new;
        Self { id, page_id, agent_id, model_id, path }
    }
}

/// Returns the projects in an order. They are sorted by their names.
pub(crate) fn sorted(mut projects: Vec<ListedProject>, sort: Sort) -> Vec<ListedProject> {
    match sort {
        Sort::Name => {}
        Sort::Used => projects.sort_by_key(|project| std::cmp::Reverse(project.used_at)),
        Sort::Own => projects.sort_by_key(|project| project.position),
        Sort::Count => projects.sort_by_key(|project| std::cmp::Reverse(project.conversations)),
    }
    projects
}
