//! The frame around every screen: tabs above, a line of keys below.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Modifier, Style},
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

use super::{
    keys::KEYS,
    panes,
    parts::{split_bottom, split_top},
    state::{Screen, State},
};

/// Draws the state in a frame of any size. Parts for which there is no room are omitted.
pub fn draw(frame: &mut Frame<'_>, state: &mut State) {
    let area = frame.area();
    let (top, rest) = split_top(area, 1);
    let (body, bottom) = split_bottom(rest, 1);
    frame.render_widget(Paragraph::new(tabs(state)), top);
    state.places.borrow_mut().clear();
    match state.screen {
        Screen::Overview => panes::overview(frame, body, state),
        Screen::Processes => panes::processes(frame, body, state),
        Screen::Process => panes::process(frame, body, state),
        Screen::Heaps => panes::heaps(frame, body, state),
        Screen::History => panes::history(frame, body, state),
        Screen::Explain => panes::explain(frame, body, state),
        Screen::Why => panes::why(frame, body, state),
    }
    if state.help {
        help(frame, body);
    }
    frame.render_widget(Paragraph::new(footer(state)), bottom);
}

fn tabs(state: &State) -> Line<'static> {
    let mut spans = Vec::new();
    for (index, screen) in Screen::ALL.into_iter().enumerate() {
        let text = format!("{} {}", index + 1, screen.name());
        // Brackets too, because colour is never the only sign.
        let is_shown = screen == state.screen;
        let text = if is_shown { format!("[{text}]") } else { format!(" {text} ") };
        let style = if is_shown { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

fn footer(state: &State) -> Line<'static> {
    if let Some(asked) = &state.asked {
        return Line::from(asked.question());
    }
    if state.typing {
        return Line::from(format!("filter: {}_", state.options.name.as_deref().unwrap_or_default()));
    }
    if let Some(message) = &state.message {
        return Line::from(message.clone());
    }
    let pause = if state.paused { "PAUSED  " } else { "" };
    let filter = state.options.name.as_ref().map(|name| format!("filter {name}  ")).unwrap_or_default();
    let time = &state.snapshot.time;
    Line::from(format!("{pause}{filter}{time}  every {} s  q quit  ? help", state.interval))
}

fn help(frame: &mut Frame<'_>, body: Rect) {
    frame.render_widget(Clear, body);
    let mut lines = vec![Line::from("  q       quit")];
    lines.extend(KEYS.iter().map(|key| {
        let letters = if key.keys == " " { "space".to_owned() } else { key.keys.to_owned() };
        Line::from(format!("  {letters:<7} {}", key.help))
    }));
    frame.render_widget(Paragraph::new(lines), body);
}
