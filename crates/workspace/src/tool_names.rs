//! The names of the tools of an agent with a workspace.

pub(crate) const LS: &str = "ls";
pub(crate) const READ_FILE: &str = "read_file";
pub(crate) const WRITE_FILE: &str = "write_file";
pub(crate) const STR_REPLACE: &str = "str_replace";
pub(crate) const GLOB: &str = "glob";
pub(crate) const GREP: &str = "grep";
pub(crate) const PRESENT_FILES: &str = "present_files";
pub(crate) const VIEW_IMAGE: &str = "view_image";
pub(crate) const BASH: &str = "bash";

/// The tools that return files, whose results do not become files again.
pub(crate) const OWN_TOOLS: [&str; 7] = [LS, READ_FILE, WRITE_FILE, STR_REPLACE, GLOB, GREP, VIEW_IMAGE];
