//! `top`: a screen that updates continuously.
//!
//! [`State`] contains everything that the screen shows, [`keys`] changes it, and [`draw`](draw::draw) draws it. Neither needs a
//! terminal, so that tests can check every screen in every size.

mod asked;
pub mod draw;
pub mod history;
pub mod keys;
mod panes;
mod parts;
mod picture;
mod settings;
mod signal;
pub mod state;

use std::{
    io::{self, IsTerminal as _, Write},
    time::{Duration, Instant},
};

use ratatui::{
    Terminal,
    backend::TestBackend,
    buffer::Buffer,
    crossterm::{
        event::{self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEventKind, KeyModifiers},
        execute,
    },
};

use self::state::State;
use crate::{
    cli::{Global, Top},
    exit::Exit,
    render,
    session::{self, Outcome, Stop},
    source::Source,
    text::Style,
};

/// Shows the screen until the user quits, or once as text.
pub(crate) fn run(options: &Top, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source_at(global, true, options.interval)?;
    // The screen has a width of its own.
    let style = Style { width: None, ..render::style(global) };
    let mut state = State::new(style, options.interval);
    if let Some(size) = options.once {
        return once(options, size, global, &mut *source, state, out);
    }
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Stop::Message(Exit::Usage, "top needs a terminal; --once 80x24 prints one screen".to_owned()));
    }
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        let message =
            "top needs a terminal that can move its cursor, and TERM is dumb; watch prints one view after the other";
        return Err(Stop::Message(Exit::Usage, message.to_owned()));
    }
    // What is wrong from the start is said before the screen is taken.
    state.see(session::first(&mut *source, global)?);
    settings::load(&mut state);
    let mut terminal = take()?;
    let outcome = keep_up(&mut terminal, &mut *source, global, &mut state);
    give_back();
    outcome
}

fn keep_up(
    terminal: &mut ratatui::DefaultTerminal,
    source: &mut dyn Source,
    global: &Global,
    state: &mut State,
) -> Outcome {
    let mut looked = Instant::now();
    let mut is_over = false;
    loop {
        terminal.draw(|frame| draw::draw(frame, state))?;
        let interval = Duration::from_secs_f64(state.interval.max(0.1));
        let left = interval.saturating_sub(looked.elapsed());
        if event::poll(left)? {
            let event = event::read()?;
            if let Event::Mouse(mouse) = event {
                keys::click(state, mouse);
            }
            if let Event::Key(key) = event
                && key.kind != KeyEventKind::Release
            {
                let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                if is_control && key.code == KeyCode::Char('z') {
                    suspend(terminal)?;
                    continue;
                }
                let is_interrupt = is_control && key.code == KeyCode::Char('c');
                if is_interrupt || !keys::press(state, key.code) {
                    return Ok(Exit::Fine);
                }
            }
            continue;
        }
        looked = Instant::now();
        if !state.paused && !is_over {
            match session::next(source, global)? {
                Some(snapshot) => state.see(snapshot),
                None => is_over = true,
            }
        }
    }
}

/// Takes the terminal, with its mouse.
fn take() -> io::Result<ratatui::DefaultTerminal> {
    let terminal = ratatui::try_init()?;
    execute!(io::stdout(), EnableMouseCapture)?;
    Ok(terminal)
}

/// Gives the terminal back.
fn give_back() {
    // The terminal may be gone.
    let _ = execute!(io::stdout(), DisableMouseCapture);
    ratatui::restore();
}

/// Gives the terminal back to the shell, stops until the shell continues the program, and takes the terminal again.
fn suspend(terminal: &mut ratatui::DefaultTerminal) -> io::Result<()> {
    give_back();
    // The signal stops all of the job, as Ctrl-Z does to a program that leaves the terminal in its usual mode.
    nix::sys::signal::raise(nix::sys::signal::Signal::SIGTSTP)?;
    // A new terminal knows nothing of its screen, so the next picture is drawn whole.
    *terminal = take()?;
    Ok(())
}

/// Looks as often as asked for, presses the keys, and prints what is then seen.
fn once(
    options: &Top,
    size: (u16, u16),
    global: &Global,
    source: &mut dyn Source,
    mut state: State,
    out: &mut dyn Write,
) -> Outcome {
    state.see(session::first(source, global)?);
    for _ in 1..options.samples {
        session::pause(source, options.interval);
        let Some(snapshot) = session::next(source, global)? else { break };
        state.see(snapshot);
    }
    for key in options.keys.iter().flat_map(|keys| keys.chars()) {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        if !keys::press(&mut state, code) {
            return Ok(Exit::Fine);
        }
    }
    let seen = render(&mut state, size).map_err(Stop::failed)?;
    let text = if options.svg { picture::svg(&seen) } else { text(&seen) };
    out.write_all(text.as_bytes())?;
    Ok(Exit::Fine)
}

/// Draws the screen in the given size, without a terminal.
///
/// # Errors
///
/// The errors of the drawing library. Drawing to a buffer has none.
pub fn render(state: &mut State, (width, height): (u16, u16)) -> Result<Buffer, String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).map_err(|error| error.to_string())?;
    terminal.draw(|frame| draw::draw(frame, state)).map_err(|error| error.to_string())?;
    Ok(terminal.backend().buffer().clone())
}

/// Returns a screen as lines of text.
pub fn text(seen: &Buffer) -> String {
    let width = usize::from(seen.area.width).max(1);
    let rows = seen.content().chunks(width);
    rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned() + "\n")
        .collect()
}
