//! Pieces of screens.

use ratatui::{
    layout::Rect,
    style::{Color, Style},
};

use super::state::State;

/// The first `height` rows, and the rest.
pub(super) fn split_top(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    let rest = Rect { y: area.y + height, height: area.height - height, ..area };
    (Rect { height, ..area }, rest)
}

/// The last `height` rows, and what is above them.
pub(super) fn split_bottom(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    let (above, below) = split_top(area, area.height - height);
    (above, below)
}

/// A style with a colour, where colours are wanted.
pub(super) fn coloured(state: &State, colour: Color) -> Style {
    if state.style.colour { Style::new().fg(colour) } else { Style::new() }
}
