//! From the bytes of an archive to a skill that can be stored.

use crate::archive::unpack;
use crate::path::SkillPath;
use crate::scan::{Finding, scan};
use crate::skill::Skill;
use crate::store::digest;
use crate::validate::validate;
use sha2::{Digest, Sha256};

/// A skill that keeps all rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewSkill {
    pub(crate) skill: Skill,
    pub(crate) files: Vec<NewFile>,
    /// The hash of all files.
    pub(crate) digest: String,
    /// The hash of the archive.
    pub(crate) archive_sha256: String,
    pub(crate) findings: Vec<Finding>,
}

/// A file of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewFile {
    pub(crate) path: SkillPath,
    pub(crate) sha256: String,
    pub(crate) bytes: Vec<u8>,
}

/// Unpacks, checks and scans an archive. It takes processor time, within the bounds of an archive.
///
/// # Errors
/// Why the skill is refused, as sentences.
pub(crate) fn prepare(archive: &[u8]) -> Result<NewSkill, Vec<String>> {
    let unpacked = unpack(archive).map_err(|problem| vec![problem])?;
    let skill = validate(&unpacked)?;
    let findings = scan(&skill, &unpacked);
    let file =
        |(path, bytes): (SkillPath, Vec<u8>)| NewFile { path, sha256: hex::encode(Sha256::digest(&bytes)), bytes };
    let files: Vec<_> = unpacked.files.into_iter().map(file).collect();
    let digest = digest(files.iter().map(|file| (file.path.as_str(), file.sha256.as_str())));
    Ok(NewSkill { skill, files, digest, archive_sha256: hex::encode(Sha256::digest(archive)), findings })
}
