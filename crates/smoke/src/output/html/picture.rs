//! Pictures of a report as inline SVG.

use std::fmt::Write;

use crate::{
    hardware::state::Hardware,
    output::markup::escaped,
    result::{
        bandwidth::{Bandwidth, Direction, Rate},
        report::HeapRow,
        status::Status,
    },
};

/// The time that a check took, in milliseconds since the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) id: String,
    pub(super) status: Status,
    pub(super) start: f64,
    pub(super) end: f64,
    /// The state of the hardware during the check.
    pub(super) hardware: Option<Hardware>,
}

/// Width of a picture, of the names at its left, and of the figures at its right, pixels.
pub(super) const WIDTH: f64 = 860.0;
pub(super) const NAMES: f64 = 150.0;
const FIGURES: f64 = 200.0;
/// Space at the right of pictures over time, which have the same scale, pixels.
pub(super) const RIGHT: f64 = 80.0;
/// Width of a bar of full length, pixels.
const FULL: f64 = WIDTH - NAMES - FIGURES;

/// Height of a row, pixels.
const ROW: f64 = 22.0;

/// Returns a length as a share of the largest.
fn share(value: u64, largest: u64) -> f64 {
    // Millionths are finer than any pixel.
    let millionths = u128::from(value) * 1_000_000 / u128::from(largest.max(1));
    u32::try_from(millionths).map_or(1.0, |millionths| f64::from(millionths) / 1e6).min(1.0)
}

/// A picture that grows downwards, row by row.
struct Rows {
    body: String,
    height: f64,
}

impl Rows {
    fn new() -> Self {
        Self { body: String::new(), height: 6.0 }
    }

    /// Adds a name, a bar of a class, a figure after it, and a mark at another length.
    fn bar(&mut self, name: &str, class: &str, length: f64, figure: &str, mark: Option<f64>) {
        let (y, middle) = (self.height, self.height + ROW * 0.7);
        let (name, figure, length) = (escaped(name), escaped(figure), (length * FULL).max(1.0));
        // Writing into a string does not fail.
        let _ = write!(
            self.body,
            "<text x=\"{:.0}\" y=\"{middle:.1}\" text-anchor=\"end\">{name}</text>\
             <rect class=\"{class}\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\" rx=\"2\"/>\
             <text x=\"{:.1}\" y=\"{middle:.1}\">{figure}</text>",
            NAMES - 8.0,
            y + 3.0,
            ROW - 6.0,
            NAMES + length.max(mark.unwrap_or(0.0) * FULL) + 8.0,
        );
        if let Some(mark) = mark {
            let x = NAMES + mark * FULL;
            let _ = write!(
                self.body,
                "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                y + 1.0,
                y + ROW - 1.0
            );
        }
        self.height += ROW;
    }

    fn gap(&mut self) {
        self.height += 8.0;
    }

    fn finish(self, title: &str) -> String {
        let height = self.height + 6.0;
        format!(
            "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\">{}</svg>\n",
            escaped(title),
            self.body
        )
    }
}

/// Draws the heaps to scale.
pub(super) fn heaps(heaps: &[HeapRow]) -> String {
    let largest = heaps.iter().map(|heap| heap.size).max().unwrap_or(0);
    let mut rows = Rows::new();
    for (index, heap) in heaps.iter().enumerate() {
        let class = if heap.flags.iter().any(|flag| flag == "DEVICE_LOCAL") { "vram" } else { "gtt" };
        let figure = format!("{} MiB", heap.size >> 20);
        rows.bar(&format!("{index}: {}", heap.kind), class, share(heap.size, largest), &figure, None);
    }
    rows.finish("Memory heaps, to scale")
}

/// Draws bandwidths, three bars for an engine, with a mark where the baseline is.
pub(super) fn bandwidths(figures: &[&Bandwidth]) -> String {
    let rates = figures.iter().flat_map(|figure| [Some(figure.bytes_per_second), figure.baseline]);
    let largest = rates.flatten().max().unwrap_or(0);
    let mut rows = Rows::new();
    let mut last: Option<&str> = None;
    for figure in figures {
        if last.is_some_and(|last| last != figure.engine) {
            rows.gap();
        }
        last = Some(&figure.engine);
        let class = match figure.direction {
            Direction::Upload => "upload",
            Direction::Local => "local",
            Direction::Download => "download",
        };
        let baseline = figure.baseline.map(|rate| format!(" (baseline {})", Rate(rate))).unwrap_or_default();
        let label = format!("{}{baseline}", Rate(figure.bytes_per_second));
        let name = format!("{} {class}", figure.engine);
        let mark = figure.baseline.map(|rate| share(rate, largest));
        rows.bar(&name, class, share(figure.bytes_per_second, largest), &label, mark);
    }
    rows.finish("Bandwidth of each engine and direction")
}

/// Draws the time line of the checks, with a lane for each area.
pub(super) fn timeline(spans: &[Span]) -> String {
    let end = spans.iter().map(|span| span.end).fold(1.0, f64::max);
    let width = WIDTH - NAMES - RIGHT;
    let mut areas: Vec<&str> = Vec::new();
    let mut body = String::new();
    for span in spans {
        let area = span.id.split('.').next().unwrap_or_default();
        let lane = areas.iter().position(|known| *known == area).unwrap_or(areas.len());
        if lane == areas.len() {
            areas.push(area);
        }
        let y = u32::try_from(lane).map_or(0.0, f64::from) * ROW + 6.0;
        let (x, length) = (NAMES + span.start / end * width, ((span.end - span.start) / end * width).max(1.5));
        let _ = write!(
            body,
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\"><title>{}: {:.1} ms</title></rect>",
            span.status.name(),
            y + 3.0,
            ROW - 6.0,
            escaped(&span.id),
            span.end - span.start
        );
    }
    for (area, lane) in areas.iter().zip(0_u32..) {
        let y = f64::from(lane) * ROW + 6.0 + ROW * 0.7;
        let _ =
            write!(body, "<text x=\"{:.0}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", NAMES - 8.0, escaped(area));
    }
    let bottom = u32::try_from(areas.len()).map_or(0.0, f64::from) * ROW + 12.0;
    for tick in 0..=4_u32 {
        let (x, at) = (NAMES + f64::from(tick) / 4.0 * width, end / 4.0 * f64::from(tick));
        let time = if end < 10_000.0 { format!("{at:.0} ms") } else { format!("{:.0} s", at / 1e3) };
        let _ = write!(
            body,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"4\" y2=\"{bottom:.0}\"/>\
             <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{time}</text>",
            bottom + 16.0
        );
    }
    format!(
        "<svg role=\"img\" aria-label=\"Timeline of the checks\" viewBox=\"0 0 {WIDTH} {:.0}\" width=\"{WIDTH}\">{body}</svg>\n",
        bottom + 24.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_to_scale_and_no_longer_than_the_picture() {
        assert!((share(1, 4) - 0.25).abs() < 1e-9);
        assert!((share(u64::MAX, 1) - 1.0).abs() < 1e-9 && share(5, 0) <= 1.0);
    }

    #[test]
    fn a_picture_of_nothing_is_a_picture() {
        for picture in [heaps(&[]), bandwidths(&[]), timeline(&[])] {
            assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n") && !picture.contains("NaN"));
        }
    }
}
