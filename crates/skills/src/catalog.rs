//! The skills that agents can have: those of folders and those that are installed, as they were when the config
//! was built.

use crate::content;
use crate::folder::{self, FoundFolder, SKILL_FILES};
use crate::path::SkillPath;
use crate::skill::{self, MAX_SKILL, ReadSkill, Skill};
use crate::store::{self, InstalledSkill};
use ::store::{Store, StoreError};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A skill that agents can have.
pub(crate) struct CatalogSkill {
    pub(crate) skill: Skill,
    /// The text for the model: the instructions and the names of the files.
    pub(crate) content: Arc<str>,
    /// The source of its files.
    pub(crate) files: SkillFiles,
}

/// The source of the files of a skill.
pub(crate) enum SkillFiles {
    /// In this folder.
    Folder(PathBuf),
    /// In the database; the hashes by the paths.
    Installed(Store, BTreeMap<String, String>),
}

/// Formats the name.
impl fmt::Debug for CatalogSkill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CatalogSkill").field(&self.skill.name).finish()
    }
}

impl CatalogSkill {
    /// Returns whether it is in a folder of the config.
    pub(crate) fn is_of_folder(&self) -> bool {
        matches!(self.files, SkillFiles::Folder(_))
    }

    /// Returns the files of a skill of a folder, the one with the instructions first; none of an installed
    /// skill.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) async fn folder_files(&self) -> Result<Vec<SkillPath>, String> {
        let SkillFiles::Folder(path) = &self.files else { return Ok(Vec::new()) };
        let path = path.clone();
        let found = tokio::task::spawn_blocking(move || folder::find(&path)).await;
        let failed = || "The folder of the skill cannot be read.".to_owned();
        let found = found.map_err(|_| failed())?.map_err(|_| failed())?.into_iter().next().ok_or_else(failed)?;
        let first = SkillPath::parse(found.skill_file).map_err(str::to_owned)?;
        Ok(std::iter::once(first).chain(found.files).collect())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read, for the model.
    pub(crate) async fn read_file(&self, path: SkillPath) -> Result<Vec<u8>, String> {
        match &self.files {
            SkillFiles::Folder(folder) => {
                let folder = folder.clone();
                let read = tokio::task::spawn_blocking(move || folder::read_file(&folder, &path)).await;
                read.map_err(|_| "The file cannot be read right now.".to_owned())?
            }
            SkillFiles::Installed(store, hashes) => {
                let missing = || format!("The skill has no file `{path}`.");
                let sha256 = hashes.get(path.as_str()).ok_or_else(missing)?;
                let read = store::read_file(store, &self.skill.name, path.as_str(), sha256).await;
                let read = read.map_err(|error| {
                    tracing::error!(%error, "a file of a skill cannot be read");
                    "The file cannot be read right now.".to_owned()
                })?;
                read.ok_or_else(|| format!("`{path}` is not the file that was enabled."))
            }
        }
    }
}

/// Something that is wrong with a folder or a skill in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CatalogProblem {
    /// The index of the folder in the config; `None` for an installed skill.
    pub(crate) folder: Option<usize>,
    pub(crate) message: String,
}

/// The skills by their names.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    skills: BTreeMap<String, Arc<CatalogSkill>>,
    /// The skills of folders that are switched off.
    off: BTreeMap<String, Arc<CatalogSkill>>,
    /// The problems of the folders.
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
        self.skills.insert(name, Arc::new(CatalogSkill { skill, content, files: SkillFiles::Folder(found.path) }));
    }

    fn report(&mut self, folder: usize, message: String) {
        self.problems.push(CatalogProblem { folder: Some(folder), message });
    }

    /// Adds the enabled skills that administrators have installed. A skill of a folder comes first.
    pub(crate) async fn add_installed(&mut self, store: &Store) -> Result<(), StoreError> {
        for installed in store::list(store).await?.into_iter().filter(|installed| installed.enabled) {
            let name = installed.name.clone();
            if self.skills.contains_key(&name) {
                self.refuse(format!("the installed skill `{name}` is not used: a folder has one with this name"));
                continue;
            }
            match read_installed(store, &installed).await? {
                Ok(skill) => drop(self.skills.insert(name, Arc::new(skill))),
                Err(reason) => self.refuse(format!("the installed skill `{name}` cannot be used: {reason}")),
            }
        }
        Ok(())
    }

    /// Takes the skills with these names from all agents.
    pub(crate) fn switch_off(&mut self, names: &[String]) {
        for name in names {
            if let Some(skill) = self.skills.remove(name) {
                self.off.insert(name.clone(), skill);
            }
        }
    }

    /// Returns the skills of folders, and whether agents can have them.
    pub(crate) fn folder_skills(&self) -> impl Iterator<Item = (&Arc<CatalogSkill>, bool)> {
        let on = self.skills.values().filter(|skill| skill.is_of_folder()).map(|skill| (skill, true));
        on.chain(self.off.values().map(|skill| (skill, false)))
    }

    fn refuse(&mut self, message: String) {
        self.problems.push(CatalogProblem { folder: None, message });
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

/// Reads an installed skill, if its files are those that were enabled.
async fn read_installed(store: &Store, installed: &InstalledSkill) -> Result<Result<CatalogSkill, String>, StoreError> {
    let files = store::files(store, &installed.name).await?;
    let digest = store::digest(files.iter().map(|file| (file.path.as_str(), file.sha256.as_str())));
    if digest != installed.digest {
        return Ok(Err("its files are not those that were enabled".to_owned()));
    }
    let is_skill = |path: &str| SKILL_FILES.contains(&path);
    let Some(file) = files.iter().find(|file| is_skill(&file.path)) else {
        return Ok(Err("it has no SKILL.md".to_owned()));
    };
    let bytes = store::read_file(store, &installed.name, &file.path, &file.sha256).await?;
    let text = bytes.map(String::from_utf8).and_then(Result::ok);
    let read = text.ok_or_else(|| "its SKILL.md is not the one that was installed".to_owned());
    let others = files.iter().filter(|file| !is_skill(&file.path));
    let others: Vec<_> = others.filter_map(|file| SkillPath::parse(&file.path).ok()).collect();
    let hashes = files.iter().map(|file| (file.path.clone(), file.sha256.clone())).collect();
    Ok(read.and_then(|text| skill::read(&installed.name, &text)).map(|ReadSkill { skill, .. }| CatalogSkill {
        content: content::skill_content(&skill, &others),
        skill,
        files: SkillFiles::Installed(store.clone(), hashes),
    }))
}

fn read_skill(found: &FoundFolder) -> Result<ReadSkill, String> {
    let path = SkillPath::parse(found.skill_file).map_err(str::to_owned)?;
    let bytes = folder::read_file(&found.path, &path)?;
    if bytes.len() > MAX_SKILL {
        return Err(format!("its SKILL.md is larger than {} KB", MAX_SKILL / 1024));
    }
    let text = String::from_utf8(bytes).map_err(|_| "its SKILL.md is not UTF-8 text")?;
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
