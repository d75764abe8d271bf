//! The tool with which the model reads a skill and its files.

use crate::catalog::CatalogSkill;
use crate::content::piece;
use crate::path::SkillPath;
use contract::{Annotations, Tool, ToolContext, ToolError, ToolSpec, read_arguments};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The name of the tool.
pub(crate) const READ_SKILL: &str = "read_skill";

const DESCRIPTION: &str = "Reads the instructions of one of your skills or, with `file`, one of its files.";

/// The arguments.
#[derive(Deserialize)]
struct Arguments {
    name: String,
    file: Option<String>,
    #[serde(default)]
    offset: u64,
}

/// The tool of an agent.
pub(crate) struct ReadSkill {
    spec: ToolSpec,
    skills: Vec<Arc<CatalogSkill>>,
}

impl ReadSkill {
    pub(crate) fn new(skills: Vec<Arc<CatalogSkill>>) -> Self {
        let names: Vec<_> = skills.iter().map(|skill| skill.skill.name.as_str()).collect();
        let name = json!({ "type": "string", "enum": names, "description": "The name of the skill." });
        let about = "A file of the skill, relative to its folder, such as references/forms.md. Without it, the instructions are read.";
        let file = json!({ "type": "string", "description": about });
        let offset = json!({ "type": "integer", "minimum": 0, "description": "Where to read on, in bytes." });
        let properties = json!({ "name": name, "file": file, "offset": offset });
        let schema =
            json!({ "type": "object", "properties": properties, "required": ["name"], "additionalProperties": false });
        let annotations = Annotations { idempotent: true, reads_only: true, ..Annotations::default() };
        Self { spec: ToolSpec { annotations, ..ToolSpec::new(READ_SKILL, DESCRIPTION, schema) }, skills }
    }

    fn skill(&self, name: &str) -> Result<&Arc<CatalogSkill>, ToolError> {
        let unknown = || ToolError::new(format!("There is no skill `{name}`."));
        self.skills.iter().find(|skill| skill.skill.name == name).ok_or_else(unknown)
    }
}

impl Tool for ReadSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let Arguments { name, file, offset } = read_arguments(input)?;
            let skill = self.skill(&name)?;
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            match file {
                None if offset == 0 => Ok(skill.content.as_ref().into()),
                None => Ok(piece(&skill.skill.body, offset, "").into()),
                Some(file) => Ok(piece(&text(skill, &file).await?, offset, &file).into()),
            }
        })
    }
}

/// Reads a file of a skill as text.
async fn text(skill: &CatalogSkill, file: &str) -> Result<String, ToolError> {
    let path =
        SkillPath::parse(file).map_err(|problem| ToolError::new(format!("`{file}` cannot be read: {problem}.")))?;
    if path.as_str().split('/').any(|name| name.starts_with('.')) {
        return Err(ToolError::new("Files and folders whose names begin with a dot are not read."));
    }
    let bytes = skill.read_file(path.clone()).await.map_err(ToolError::new)?;
    if bytes.contains(&0) {
        return Err(ToolError::new(format!("`{path}` is not a text file: it has {} bytes.", bytes.len())));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
