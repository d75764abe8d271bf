//! The skills that agents can have: those of folders, as they were when the config was built.

use crate::content;
use crate::folder::{self, FoundFolder};
use crate::path::SkillPath;
use crate::skill::{self, MAX_SKILL, ReadSkill, Skill};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A skill that agents can have.
#[derive(Debug)]
pub(crate) struct CatalogSkill {
    pub(crate) skill: Skill,
    /// What the model reads of it: the instructions and the names of its files.
    pub(crate) content: Arc<str>,
    /// Its folder.
    pub(crate) folder: PathBuf,
}

/// Something that is wrong with a folder or a skill in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CatalogProblem {
    /// The index of the folder in the config.
    pub(crate) folder: usize,
    pub(crate) message: String,
}

/// The skills by their names.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    skills: BTreeMap<String, Arc<CatalogSkill>>,
    /// What is wrong with the folders.
    pub(crate) problems: Vec<CatalogProblem>,
    /// Changes with the files of the folders.
    pub(crate) stamp: String,
}

impl Catalog {
    /// Reads the skills of folders. Of two skills with the same name the first one counts.
    pub(crate) fn read(folders: &[PathBuf]) -> Self {
        let mut catalog = Self { stamp: stamp(folders), ..Self::default() };
        for (index, folder) in folders.iter().enumerate() {
            match folder::find(folder) {
                Ok(found) => found.into_iter().for_each(|found| catalog.add(index, folder, found)),
                Err(_) => catalog.report(index, "the folder cannot be read".to_owned()),
            }
        }
        catalog
    }

    fn add(&mut self, index: usize, base: &Path, found: FoundFolder) {
        let place = found.path.strip_prefix(base).unwrap_or(&found.path).display().to_string();
        let place = if place.is_empty() { ".".to_owned() } else { place };
        let ReadSkill { skill, warnings } = match read_skill(&found) {
            Ok(read) => read,
            Err(reason) => return self.report(index, format!("the skill in `{place}` cannot be used: {reason}")),
        };
        for warning in warnings {
            self.report(index, format!("the skill in `{place}`: {warning}"));
        }
        if self.skills.contains_key(&skill.name) {
            let message =
                format!("the skill in `{place}` is not used: there is another one with the name `{}`", skill.name);
            return self.report(index, message);
        }
        let content = content::skill_content(&skill, &found.files);
        let name = skill.name.clone();
        self.skills.insert(name, Arc::new(CatalogSkill { skill, content, folder: found.path }));
    }

    fn report(&mut self, folder: usize, message: String) {
        self.problems.push(CatalogProblem { folder, message });
    }

    /// Returns the skill with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<CatalogSkill>> {
        self.skills.get(name)
    }

    /// Returns all skills by their names.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<CatalogSkill>> {
        self.skills.values()
    }

    /// Returns the names of all skills.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.skills.keys().map(String::as_str)
    }
}

fn read_skill(found: &FoundFolder) -> Result<ReadSkill, String> {
    let path = SkillPath::parse(found.skill_file).map_err(str::to_owned)?;
    let bytes = folder::read_file(&found.path, &path)?;
    if bytes.len() > MAX_SKILL {
        return Err(format!("its SKILL.md is larger than {} KB", MAX_SKILL / 1024));
    }
    let text = String::from_utf8(bytes).map_err(|_| "its SKILL.md is no UTF-8 text")?;
    skill::read(&found.name, &text)
}

/// Returns a text that changes with the files of the folders.
pub(crate) fn stamp(folders: &[PathBuf]) -> String {
    let stamps = |folder: &PathBuf| match folder::find(folder) {
        Ok(found) => {
            found.iter().map(|found| format!("{}:{}", found.path.display(), found.stamp)).collect::<Vec<_>>().join("\n")
        }
        Err(_) => "unreadable".to_owned(),
    };
    folders.iter().map(stamps).collect::<Vec<_>>().join("\n\n")
}
