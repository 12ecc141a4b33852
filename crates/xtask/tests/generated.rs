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
