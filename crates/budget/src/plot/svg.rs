//! A picture as SVG.

use std::fmt::Write as _;

use super::canvas::{Anchor, Canvas, Colour};

/// An SVG document.
#[derive(Clone, Debug)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// Creates an empty white picture.
    pub fn new(width: u16, height: u16) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        Self { text }
    }

    /// Returns the text of the document.
    pub fn into_text(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Escapes a text for XML and removes control characters.
pub fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut safe, c| {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
        safe
    })
}

fn list(points: &[(f32, f32)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

impl Canvas for Svg {
    fn polygon(&mut self, points: &[(f32, f32)], (r, g, b): Colour) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "<polygon points=\"{}\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>", list(points));
    }

    fn line(&mut self, points: &[(f32, f32)], (r, g, b): Colour, width: f32, dashed: bool) {
        let dash = if dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            self.text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"{width}\"{dash}/>",
            list(points)
        );
    }

    fn text(&mut self, x: f32, y: f32, text: &str, anchor: Anchor, colour: Colour) {
        let (red, green, blue) = colour;
        let anchor = if anchor == Anchor::End { " text-anchor=\"end\"" } else { "" };
        let text = escape(text);
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"#{red:02x}{green:02x}{blue:02x}\"{anchor}>{text}</text>"
        );
    }
}
