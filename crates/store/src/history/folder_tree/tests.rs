use super::*;

#[test]
fn folders_are_in_each_other_on_a_few_levels_and_never_in_themselves() {
    // `a` has `b`, which has `c`; `d` has `e`.
    let places = [("a", ""), ("b", "a"), ("c", "b"), ("d", ""), ("e", "d")];
    let tree = places.map(|(id, parent)| (id.to_owned(), Some(parent.to_owned()).filter(|id| !id.is_empty())));
    let tree = Parents::from(tree);
    let check = |id: &str, parent: &str, expected: MoveFolderOutcome| {
        let parent = Some(parent).filter(|parent| !parent.is_empty());
        assert_eq!(check_move(&tree, id, parent), expected, "{id} to {parent:?}");
    };
    check("c", "", MoveFolderOutcome::Moved);
    check("c", "b", MoveFolderOutcome::Moved);
    check("e", "b", MoveFolderOutcome::Moved);
    check("d", "a", MoveFolderOutcome::Moved);
    check("b", "d", MoveFolderOutcome::Moved);
    check("e", "c", MoveFolderOutcome::TooDeep);
    check("d", "b", MoveFolderOutcome::TooDeep);
    check("b", "e", MoveFolderOutcome::TooDeep);
    check("a", "a", MoveFolderOutcome::IntoItself);
    check("a", "c", MoveFolderOutcome::IntoItself);
    check("x", "a", MoveFolderOutcome::Unknown);
    check("a", "x", MoveFolderOutcome::Unknown);
    check("x", "x", MoveFolderOutcome::Unknown);
}
