//! The generated files are what their tables say.

use std::fs;

fn is_current(sources: &[xtask::Source], command: &str) {
    for source in sources {
        let text = fs::read_to_string(&source.path).unwrap_or_default();
        let path = source.path.display();
        assert!(text == source.text, "{path} differs from its table: run `cargo run -p xtask -- {command}`");
    }
}

#[test]
fn the_registers_are_what_their_tables_say() {
    is_current(&xtask::registers().unwrap(), "registers");
}

#[test]
fn the_packets_are_what_their_tables_say() {
    is_current(&xtask::packets().unwrap(), "packets");
}

#[test]
fn the_list_of_checks_is_what_the_scripts_say() {
    let pages = xtask::checks().unwrap();
    is_current(&pages, "checks");
    assert!(pages[0].text.contains("| `radv-swap` | yes | Builds RADV"), "{}", pages[0].text);
}

#[test]
fn the_list_of_unconfirmed_claims_is_what_the_ledger_says() {
    let pages = xtask::claims().unwrap();
    is_current(&pages, "claims");
    assert!(pages[0].text.contains("| C-01: A ring that polls"), "{}", pages[0].text);
}

#[test]
fn the_manual_is_what_the_header_says() {
    let pages = xtask::manual().unwrap();
    is_current(&pages, "manual");
    let header = include_str!("../../capi/include/amdgpu_winsys.h");
    let declared = header.lines().filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    for function in declared.filter(|name| name.starts_with("agw_")) {
        // Inline functions have no comment of the generator's.
        let is_inline =
            header.lines().any(|line| line.starts_with("static inline") && line.contains(&format!("{function}(")));
        let is_there = pages.iter().any(|page| page.text.contains(&format!(".SS {function}\n")));
        assert!(is_there || is_inline, "no page has {function}");
    }
}
