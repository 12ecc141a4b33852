//! Keys: one table for what they do and for the help.

use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};

use super::{
    panes, picture, settings, signal,
    state::{Screen, State},
};
use crate::text::ps::Sort;

/// A key and its effect. Keys on which amdgpu_top and htop agree have the same effect here.
pub struct Key {
    /// The letters of the key, as the help shows them.
    pub keys: &'static str,
    /// The description in the help.
    pub help: &'static str,
    does: fn(&mut State, char),
}

/// All keys except the arrows, which act like `j` and `k`, and Enter, which acts like `3`.
pub const KEYS: [Key; 17] = [
    Key { keys: "?h", help: "this help", does: |state, _| state.help = !state.help },
    Key { keys: "1234567", help: "screens; Tab is the next one", does: screen },
    Key { keys: "jk", help: "next and previous process; scroll", does: step },
    Key { keys: "/", help: "filter by name; Enter ends, Esc clears", does: |state, _| state.typing = true },
    Key { keys: "MPGE", help: "sort by memory, pid, GTT, displaced", does: sort },
    Key {
        keys: "s",
        help: "sort by the next column",
        does: |state, _| state.options.sort = next_sort(state.options.sort),
    },
    Key { keys: "R", help: "reverse the order", does: |state, _| state.options.reverse ^= true },
    Key { keys: "t", help: "tree of processes", does: |state, _| state.options.tree ^= true },
    Key { keys: "c", help: "open files of each process", does: |state, _| state.options.clients ^= true },
    Key { keys: " ", help: "pause", does: |state, _| state.paused ^= true },
    Key { keys: "+-", help: "look less or more often", does: interval },
    Key { keys: "[]", help: "less or more of the past", does: window },
    Key { keys: "g", help: "next GPU", does: next_gpu },
    Key { keys: "m", help: "other units", does: |state, _| state.style.units = state.style.units.next() },
    Key {
        keys: "e",
        help: "export what is seen: JSON, and the past as SVG",
        does: |state, _| state.message = Some(picture::export(state)),
    },
    Key {
        keys: "x",
        help: "end the process: SIGTERM or SIGKILL, after a question",
        does: |state, _| signal::ask(state),
    },
    Key { keys: "w", help: "save these settings", does: |state, _| state.message = Some(settings::save(state)) },
];

/// Applies a key to the state. Returns `false` for the key that quits.
pub fn press(state: &mut State, code: KeyCode) -> bool {
    state.message = None;
    if state.asked.is_some() {
        let letter = if let KeyCode::Char(letter) = code { Some(letter) } else { None };
        signal::answer(state, letter);
        return true;
    }
    if state.typing {
        type_filter(state, code);
        return true;
    }
    let letter = match code {
        KeyCode::Char(letter) => letter,
        KeyCode::Down => 'j',
        KeyCode::Up => 'k',
        KeyCode::Enter => '3',
        KeyCode::Tab if !state.help => {
            let next = Screen::ALL.iter().cycle().skip_while(|screen| **screen != state.screen).nth(1);
            state.screen = next.copied().unwrap_or_default();
            state.scroll = 0;
            return true;
        }
        KeyCode::Esc => {
            (state.help, state.options.name) = (false, None);
            return true;
        }
        _ => return true,
    };
    if state.help {
        // Nothing below the help moves while it is read.
        state.help = false;
        return true;
    }
    if letter == 'q' {
        return false;
    }
    if let Some(key) = KEYS.iter().find(|key| key.keys.contains(letter)) {
        (key.does)(state, letter);
    }
    true
}

/// Applies the mouse to the state: the wheel does what the arrows do, a click selects a tab, a column or a process, and a second
/// click shows the process.
pub fn click(state: &mut State, event: MouseEvent) {
    if state.help || state.typing || state.asked.is_some() {
        return;
    }
    match event.kind {
        MouseEventKind::ScrollDown => step(state, 'j'),
        MouseEventKind::ScrollUp => step(state, 'k'),
        MouseEventKind::Down(MouseButton::Left) if event.row == 0 => {
            let mut end = 0;
            for tab in Screen::ALL {
                // Each is a number, a space, the name, and a mark on both sides.
                end += tab.name().len() + 4;
                if usize::from(event.column) < end {
                    (state.screen, state.scroll) = (tab, 0);
                    break;
                }
            }
        }
        MouseEventKind::Down(MouseButton::Left) => {
            let places = state.places.borrow().clone();
            let first = places.first().map(|(line, _)| *line);
            if let Some((_, place)) = places.iter().find(|(line, _)| *line == event.row) {
                if state.row == *place {
                    (state.screen, state.scroll) = (Screen::Process, 0);
                }
                state.row = *place;
            } else if first == event.row.checked_add(1)
                && let Some(sort) =
                    panes::column(event.column, state.width.get(), state.gpu().is_some_and(|gpu| gpu.apu == Some(true)))
            {
                if state.options.sort == sort {
                    state.options.reverse ^= true;
                }
                state.options.sort = sort;
            }
        }
        _ => {}
    }
}

fn type_filter(state: &mut State, code: KeyCode) {
    let filter = state.options.name.get_or_insert_default();
    match code {
        KeyCode::Enter => state.typing = false,
        KeyCode::Backspace => drop(filter.pop()),
        KeyCode::Esc => {
            filter.clear();
            state.typing = false;
        }
        KeyCode::Char(letter) if filter.len() < 64 => filter.push(letter),
        _ => {}
    }
    if !state.typing && state.options.name.as_deref() == Some("") {
        state.options.name = None;
    }
    state.row = 0;
}

fn screen(state: &mut State, letter: char) {
    let place = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
    state.screen = place.and_then(|place| Screen::ALL.get(place)).copied().unwrap_or_default();
    state.scroll = 0;
}

fn step(state: &mut State, letter: char) {
    let last = state.processes().len().saturating_sub(1);
    if letter == 'j' {
        (state.row, state.scroll) = ((state.row + 1).min(last), state.scroll.saturating_add(1));
    } else {
        (state.row, state.scroll) = (state.row.min(last).saturating_sub(1), state.scroll.saturating_sub(1));
    }
}

fn sort(state: &mut State, letter: char) {
    state.options.sort = match letter {
        'P' => Sort::Pid,
        'G' => Sort::Gtt,
        'E' => Sort::Displaced,
        _ => Sort::Memory,
    };
}

const fn next_sort(sort: Sort) -> Sort {
    match sort {
        Sort::Memory => Sort::Vram,
        Sort::Vram => Sort::Gtt,
        Sort::Gtt => Sort::Displaced,
        Sort::Displaced => Sort::Pid,
        Sort::Pid => Sort::Name,
        Sort::Name => Sort::Memory,
    }
}

fn interval(state: &mut State, letter: char) {
    let factor = if letter == '+' { 2.0 } else { 0.5 };
    state.interval = (state.interval * factor).clamp(0.125, 64.0);
}

fn window(state: &mut State, letter: char) {
    let factor = if letter == ']' { 2.0 } else { 0.5 };
    state.window = (state.window * factor).clamp(15.0, 3840.0);
}

fn next_gpu(state: &mut State, _: char) {
    state.gpu = (state.gpu + 1).checked_rem(state.snapshot.gpus.len()).unwrap_or(0);
    state.row = 0;
}
