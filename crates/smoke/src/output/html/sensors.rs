//! The course of a GPU's sensors as inline SVG.

use std::fmt::Write;

use super::picture::{NAMES, RIGHT, Span, WIDTH};
use crate::{hardware::state::Sensors, output::markup::escaped};

/// Height of a panel and of the space below it, pixels.
const PANEL: f64 = 56.0;
const GAP: f64 = 20.0;

/// One figure of a panel.
type Figure = fn(&Sensors) -> Option<i64>;

/// A panel: its name, unit, divisor of the figures, and curves with their names and classes.
struct Panel {
    name: &'static str,
    unit: &'static str,
    divisor: i64,
    curves: &'static [(&'static str, &'static str, Figure)],
}

const PANELS: [Panel; 3] = [
    Panel {
        name: "Temperature",
        unit: "°C",
        divisor: 1_000,
        curves: &[
            ("edge", "first", |sensors| sensors.edge_mc),
            ("junction", "second", |sensors| sensors.junction_mc),
            ("mem", "third", |sensors| sensors.memory_mc),
        ],
    },
    Panel { name: "Power", unit: "W", divisor: 1_000_000, curves: &[("power", "second", |sensors| sensors.power_uw)] },
    Panel {
        name: "Clock",
        unit: "MHz",
        divisor: 1_000_000,
        curves: &[
            ("shaders", "first", |sensors| sensors.shader_clock_hz),
            ("memory", "third", |sensors| sensors.memory_clock_hz),
        ],
    },
];

/// Returns a figure as a number to draw.
#[expect(clippy::cast_precision_loss, reason = "far below the integers that a number holds exactly")]
fn number(value: i64) -> f64 {
    value as f64
}

/// Draws temperature, power and clock over the time of the run. Each check has three points: before it, the highest value in its
/// middle, and after it. Empty if no sensors were read.
pub(super) fn course(spans: &[Span]) -> String {
    let mut moments: Vec<(f64, &Sensors)> = Vec::new();
    for span in spans {
        let Some(hardware) = &span.hardware else { continue };
        moments.push((span.start, &hardware.before));
        moments.push((f64::midpoint(span.start, span.end), &hardware.peak));
        moments.push((span.end, &hardware.after));
    }
    let end = spans.iter().map(|span| span.end).fold(1.0, f64::max);
    let mut body = String::new();
    let mut top = 6.0;
    for panel in &PANELS {
        if let Some(drawn) = panel.draw(&moments, end, top) {
            body.push_str(&drawn);
            top += PANEL + GAP;
        }
    }
    if body.is_empty() {
        return body;
    }
    format!(
        "<svg role=\"img\" aria-label=\"Temperature, power and clock during the run\" viewBox=\"0 0 {WIDTH} {top:.0}\" width=\"{WIDTH}\">{body}</svg>\n"
    )
}

impl Panel {
    /// Draws the panel at a height, if there is a figure for it.
    fn draw(&self, moments: &[(f64, &Sensors)], end: f64, top: f64) -> Option<String> {
        let values = || self.curves.iter().flat_map(|(.., figure)| moments.iter().filter_map(|(_, now)| figure(now)));
        let (lowest, highest) = (values().min()?, values().max()?);
        // A constant is drawn in the middle.
        let (low, range) = if lowest == highest {
            (number(lowest) - 1.0, 2.0)
        } else {
            (number(lowest), number(highest) - number(lowest))
        };
        let width = WIDTH - NAMES - RIGHT;
        let bottom = top + PANEL;
        let mut body = String::new();
        let edges = if lowest == highest {
            vec![(f64::midpoint(top, bottom), highest)]
        } else {
            vec![(top, highest), (bottom, lowest)]
        };
        for (edge, value) in edges {
            // Writing into a string does not fail.
            let _ = write!(
                body,
                "<line class=\"grid\" x1=\"{NAMES}\" x2=\"{:.0}\" y1=\"{edge:.1}\" y2=\"{edge:.1}\"/>\
                 <text x=\"{:.0}\" y=\"{:.1}\">{} {}</text>",
                NAMES + width,
                NAMES + width + 8.0,
                edge + 4.0,
                value / self.divisor,
                self.unit
            );
        }
        let mut names = Vec::new();
        for (name, class, figure) in self.curves {
            let mut points = String::new();
            for (at, sensors) in moments {
                let Some(value) = figure(sensors) else { continue };
                let (x, y) = (NAMES + at / end * width, bottom - (number(value) - low) / range * PANEL);
                let _ = write!(points, "{x:.1},{y:.1} ");
            }
            if !points.is_empty() {
                names.push(*name);
                let _ = write!(
                    body,
                    "<polyline class=\"curve {class}\" points=\"{}\"><title>{}</title></polyline>",
                    points.trim_end(),
                    escaped(name)
                );
            }
        }
        let _ = write!(
            body,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\" opacity=\"0.7\">{}</text>",
            NAMES - 8.0,
            top + 16.0,
            self.name,
            NAMES - 8.0,
            top + 34.0,
            escaped(&names.join(", "))
        );
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hardware::state::Hardware, result::status::Status};

    fn span(start: f64, hardware: Option<Hardware>) -> Span {
        Span { id: "a.b".to_owned(), status: Status::Pass, start, end: start + 10.0, hardware }
    }

    #[test]
    fn a_run_without_sensors_has_no_picture() {
        assert_eq!(course(&[]), "");
        assert_eq!(course(&[span(0.0, None), span(10.0, Some(Hardware::default()))]), "");
    }

    #[test]
    fn each_figure_that_was_read_is_a_curve_between_its_lowest_and_highest() {
        let before = Sensors { edge_mc: Some(40_000), power_uw: Some(7_000_000), ..Sensors::default() };
        let peak = Sensors { edge_mc: Some(60_000), ..before };
        let hardware = Hardware { before, peak, after: before, events: Vec::new() };
        let picture = course(&[span(0.0, Some(hardware)), span(10.0, None)]);
        assert_eq!(picture.matches("<polyline ").count(), 2, "{picture}");
        assert!(picture.contains("points=\"150.0,62.0 307.5,6.0 465.0,62.0\""), "{picture}");
        assert!(picture.contains(">60 °C<") && picture.contains(">40 °C<") && picture.contains(">7 W<"), "{picture}");
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    }
}
