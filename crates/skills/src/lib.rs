#![doc = include_str!("../README.md")]

mod capability;
mod catalog;
mod content;
mod folder;
mod frontmatter;
mod in_use;
mod path;
mod policy;
mod section;
mod skill;
mod source;
mod tool;

#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;

/// What the fuzz target calls: whatever a `SKILL.md` says, its name can be shown, and what a model reads of it
/// has one beginning and one end.
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
