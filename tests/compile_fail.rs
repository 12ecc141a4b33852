//! What the borrow checker keeps callers from doing.

#[test]
fn a_mapping_does_not_outlive_its_memory() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
