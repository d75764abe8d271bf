#![doc = include_str!("../README.md")]

mod archive;
mod capability;
mod catalog;
mod console;
mod content;
mod folder;
mod frontmatter;
mod in_use;
mod install;
mod path;
mod policy;
mod scan;
mod section;
mod skill;
mod source;
mod store;
mod tool;
mod validate;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod installed_tests;
#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;

/// The entry point of the fuzz target of archives: any archive is refused with reasons, or its files are
/// below the skill's folder and within the bounds.
#[cfg(feature = "fuzz")]
pub fn fuzz_archive(bytes: &[u8]) {
    match install::prepare(bytes) {
        Ok(new) => {
            assert!(skill::name_problem(&new.skill.name).is_none());
            assert!(new.files.iter().map(|file| file.bytes.len() as u64).sum::<u64>() <= archive::MAX_UNPACKED);
            assert!(new.files.iter().all(|file| path::SkillPath::parse(file.path.as_str()).as_ref() == Ok(&file.path)));
        }
        Err(reasons) => assert!(!reasons.is_empty()),
    }
}

/// The entry point of the fuzz target of `SKILL.md`: the name of any skill can be shown, and the text for the
/// model has one beginning and one end.
#[cfg(feature = "fuzz")]
pub fn fuzz_skill(text: &str, path: &str) {
    if let Ok(read) = skill::read("folder", text) {
        assert!(!read.skill.name.contains(['<', '"', '/']) && !read.skill.name.contains(char::is_whitespace));
        let content = content::skill_content(&read.skill, &[]);
        assert_eq!(content.matches(content::OPENING).count(), 1);
        assert_eq!(content.matches("</skill_content").count(), 1);
    }
    if let Ok(path) = path::SkillPath::parse(path) {
        assert!(path.as_str().split('/').all(|name| !["", ".", ".."].contains(&name)));
    }
}
