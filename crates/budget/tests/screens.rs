//! Every screen of `top` at two sizes, and at sizes that nothing fits into.

mod support;

use amdgpu_budget::{
    collect::{CollectOptions, Collector},
    machine::Simulated,
    screen::{
        keys, render,
        state::{Screen, State},
        text,
    },
    text::Style,
};
use proptest::prelude::*;
use ratatui::crossterm::event::KeyCode;
use support::golden;

/// A screen after fifteen looks at a card that fills up.
fn seen(chips: &str, pressed: &str, style: Style) -> State {
    let wishes = CollectOptions { per_client: true, ..CollectOptions::default() };
    let mut collector = Collector::new(Simulated::new(chips, 0).unwrap(), wishes);
    let mut state = State::new(style, 1.0);
    for _ in 0..15 {
        state.see(collector.look().unwrap().unwrap());
    }
    for key in pressed.chars() {
        keys::press(&mut state, if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) });
    }
    state
}

#[test]
fn every_screen_looks_as_it_should_at_80x24_and_160x50() {
    for (number, screen) in (1..).zip(Screen::ALL) {
        for size in [(80, 24), (160, 50)] {
            let mut state = seen("navi21", &number.to_string(), Style::default());
            let name = format!("tests/golden/{}-{}x{}.txt", screen.name().to_lowercase(), size.0, size.1);
            golden(&name, &text(&render(&mut state, size).unwrap()));
        }
    }
}

#[test]
fn help_lists_every_key() {
    let mut state = seen("navi21", "?", Style::default());
    let shown = text(&render(&mut state, (80, 24)).unwrap());
    golden("tests/golden/help-80x24.txt", &shown);
    for key in keys::KEYS {
        assert!(shown.contains(key.help), "{}", key.help);
    }
}

#[test]
fn an_apu_in_ascii_needs_no_other_letters() {
    let mut state = seen("renoir", "t", Style { ascii: true, ..Style::default() });
    let shown = text(&render(&mut state, (80, 24)).unwrap());
    golden("tests/golden/apu-ascii-80x24.txt", &shown);
    assert!(shown.is_ascii());
}

#[test]
fn a_filter_is_typed_and_cleared() {
    let mut state = seen("navi21", "2/brow\n", Style::default());
    assert_eq!(state.processes().len(), 2);
    keys::press(&mut state, KeyCode::Esc);
    assert_eq!(state.processes().len(), 5);
    keys::press(&mut state, KeyCode::Char('/'));
    keys::press(&mut state, KeyCode::Char('q'));
    assert_eq!(state.options.name.as_deref(), Some("q"), "while one types, q is a letter");
}

#[test]
fn every_size_down_to_one_cell_can_be_drawn() {
    for pressed in ["1", "2c", "3", "4", "5", "6", "?", "/x"] {
        let mut state = seen("navi21,renoir", pressed, Style::default());
        for size in [(1, 1), (1, 50), (200, 1), (2, 2), (9, 3), (15, 4), (49, 10), (80, 24)] {
            render(&mut state, size).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_sequence_of_keys_breaks_a_screen(
        // Not e and w, which write files.
        pressed in "[1-6jkMPGEsRtc+\\[\\]gm?/\n -]{0,24}", width in 1_u16..170, height in 1_u16..60
    ) {
        let mut state = seen("navi10", &pressed, Style::default());
        prop_assert!(render(&mut state, (width, height)).is_ok());
    }
}
