use super::*;

#[test]
fn network_file_systems_are_recognized() {
    let check = |file_system: u32, expected: Sharing| assert_eq!(sharing(file_system), expected, "{file_system:x}");
    check(0x6969, Sharing::Network("NFS"));
    check(0xff53_4d42, Sharing::Network("SMB"));
    check(0xfe53_4d42, Sharing::Network("SMB"));
    check(0x6573_5546, Sharing::Unknown("FUSE"));
    // ext4, XFS, btrfs, tmpfs, overlayfs, ZFS
    for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
        check(local, Sharing::Local);
    }
}

#[test]
fn file_with_two_names_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&file, "").unwrap();
    assert_eq!(check_names(&file), Ok(()));
    fs::hard_link(&file, &other).unwrap();
    let refused = check_names(&file).unwrap_err().to_string();
    assert!(refused.starts_with("the file has 2 names (hard links)"), "{refused}");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&other, &file).unwrap();
    assert_eq!(check_names(&file), Ok(()));
}
