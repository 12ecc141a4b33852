//! Every screen of `top` at two sizes, and at sizes that nothing fits into.

mod support;

use amdgpu_budget::{
    collect::{CollectOptions, Collector},
    machine::Simulated,
    model::Process,
    screen::{
        keys, render,
        state::{Screen, State},
        text,
    },
    text::{Style, ps::Sort},
};
use proptest::prelude::*;
use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
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

/// The screen that `top` shows of this computer, with a process of ours as its only one.
fn live(pid: u32, name: &str) -> State {
    let mut state = seen("navi21", "2", Style::default());
    let mut snapshot = state.snapshot.clone();
    "live".clone_into(&mut snapshot.source);
    let process = Process { pid, name: Some(name.to_owned()), vram: Some(1), ..Process::default() };
    snapshot.gpus[0].processes = Some(vec![process]);
    state.see(snapshot);
    state
}

#[test]
fn a_process_gets_a_signal_after_a_question_and_only_if_it_is_the_one_shown() {
    let sleeper = || std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let press = |state: &mut State, keys: &str| {
        for key in keys.chars() {
            keys::press(state, KeyCode::Char(key));
        }
    };
    for (key, signal) in [('t', 15), ('k', 9)] {
        let mut child = sleeper();
        // The name is that of the program once it runs.
        while std::fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap().trim() != "sleep" {
            std::thread::yield_now();
        }
        let mut state = live(child.id(), "sleep");
        press(&mut state, "xn");
        assert!(child.try_wait().unwrap().is_none(), "another key means no");
        press(&mut state, "x");
        assert!(text(&render(&mut state, (80, 24)).unwrap()).contains("end sleep ("));
        press(&mut state, &key.to_string());
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal));
    }
    let mut child = sleeper();
    let mut state = live(child.id(), "another program");
    press(&mut state, "xk");
    assert!(state.message.is_none() && child.try_wait().unwrap().is_none(), "the number was given to another");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut state = seen("navi21", "2x", Style::default());
    assert!(state.message.as_deref().is_some_and(|text| text.contains("not a live view")), "{:?}", state.message);
    keys::press(&mut state, KeyCode::Char('k'));
}

#[test]
fn the_mouse_selects_tabs_columns_and_processes() {
    let mut state = seen("navi21", "2", Style::default());
    let click = |state: &mut State, kind, column, row| {
        render(state, (100, 24)).unwrap();
        keys::click(state, MouseEvent { kind, column, row, modifiers: KeyModifiers::empty() });
    };
    let left = MouseEventKind::Down(MouseButton::Left);
    let shown = text(&render(&mut state, (100, 24)).unwrap());
    let line = |number: usize| shown.lines().nth(number).unwrap().to_owned();
    click(&mut state, left, line(1).find("OWN VRAM").unwrap() as u16, 1);
    assert_eq!(state.options.sort, Sort::Vram);
    click(&mut state, left, line(1).find("NAME").unwrap() as u16, 1);
    assert_eq!((state.options.sort, state.options.reverse), (Sort::Name, false));
    click(&mut state, left, line(1).find("NAME").unwrap() as u16, 1);
    assert!(state.options.reverse, "a second click on a column");
    click(&mut state, left, 20, 4);
    assert_eq!(state.row, 2);
    click(&mut state, MouseEventKind::ScrollUp, 20, 4);
    assert_eq!(state.row, 1);
    click(&mut state, left, 20, 3);
    assert_eq!(state.screen, Screen::Process, "a second click on a process");
    for (number, screen) in (1..).zip(Screen::ALL) {
        let tab = shown.lines().next().unwrap().find(&format!("{number} {}", screen.name())).unwrap() as u16;
        click(&mut state, left, tab, 0);
        assert_eq!(state.screen, screen);
    }
    for (column, row) in [(0, 0), (99, 0), (99, 23), (500, 500)] {
        click(&mut state, left, column, row);
    }
}

#[test]
fn the_engines_of_a_process_have_their_load() {
    let state = seen("navi21", "2", Style::default());
    let game = state.history.engines("0000:03:00.0", 3301).unwrap();
    assert_eq!(game.get("gfx"), Some(&82), "as the script has it");
    assert_eq!(state.history.busy("0000:03:00.0", 3301), Some(82));
}
