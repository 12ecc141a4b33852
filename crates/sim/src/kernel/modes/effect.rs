//! The effect of a colour pipeline on colours.
//!
//! Colours are numbers from 0 to 1, and beyond 1 where a curve leads there. Source: Linux 7.2 `drm_colorop.c` (the curves, and the order
//! of three-dimensional tables), `drm_mode.h` (`drm_color_lut32`, `drm_color_ctm_3x4`), `amdgpu_dm_color.c` and `dpp_funcs` of DCN 3.0
//! (tables take what lies between two entries from both, cubes from the four corners of a tetrahedron).

use super::{
    configuration::{Operation, PlaneColours},
    pipelines::STEPS,
    properties::LUT_3D_SIDE,
};

/// An operation that is not bypassed.
#[derive(Debug)]
enum Applied {
    /// A curve by its number in CURVE_1D_TYPE.
    Curve(u64),
    Table(Vec<[f64; 3]>),
    Matrix([f64; 12]),
    Factor(f64),
    Cube(Vec<[f64; 3]>),
}

/// The effect of the pipeline of a plane.
#[derive(Debug)]
pub(super) struct Effect(Vec<Applied>);

impl Effect {
    /// Returns what a plane's pipeline does; `None` if it does nothing.
    pub(super) fn of(colours: &PlaneColours) -> Option<Self> {
        let all = STEPS.iter().zip(&colours.operations).filter(|(_, operation)| !operation.is_bypassed);
        let applied: Vec<_> = all.filter_map(|(step, operation)| applied(step.kind, operation)).collect();
        (colours.uses_pipeline && !applied.is_empty()).then_some(Self(applied))
    }

    /// Returns the colour that comes out of the pipeline, in 8 bits a channel.
    #[expect(clippy::cast_sign_loss, reason = "the values are clamped to those from 0 to 1")]
    pub(super) fn colour(&self, colour: [f64; 3]) -> [u8; 3] {
        let colour = self.0.iter().fold(colour, |colour, operation| operation.colour(colour));
        colour.map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8)
    }
}

/// Reads an operation; `None` for one without the table or matrix that it needs.
fn applied(kind: u64, operation: &Operation) -> Option<Applied> {
    let data = operation.data.as_ref().map(|blob| blob.data.as_slice());
    Some(match kind {
        0 => Applied::Curve(operation.curve),
        1 => Applied::Table(entries(data?)),
        2 => {
            let (numbers, _) = data?.as_chunks::<8>();
            Applied::Matrix(numbers.first_chunk::<12>()?.map(|number| signed(u64::from_le_bytes(number))))
        }
        3 => Applied::Factor(signed(operation.multiplier)),
        _ => Applied::Cube(entries(data?)),
    })
}

/// Returns the number of a fixed-point value with a sign, 31 bits before the point and 32 behind it.
fn signed(value: u64) -> f64 {
    let size = f64::from((value >> 32) as u32 & 0x7fff_ffff) + f64::from(value as u32) / 4_294_967_296.0;
    if value >> 63 == 0 { size } else { -size }
}

/// Reads the entries of a table: red, green, blue, and a word of nothing.
fn entries(data: &[u8]) -> Vec<[f64; 3]> {
    let (words, _) = data.as_chunks::<4>();
    let (entries, _) = words.as_chunks::<4>();
    let number = |word: [u8; 4]| f64::from(u32::from_le_bytes(word)) / f64::from(u32::MAX);
    entries.iter().map(|[red, green, blue, _]| [red, green, blue].map(|word| number(*word))).collect()
}

/// Returns a place between 0 and 1 among `last + 1` entries: the entry before it, and how far it is from there to the next.
#[expect(clippy::cast_sign_loss, reason = "the place is not negative")]
fn between(value: f64, last: u32) -> (usize, f64) {
    let place = value.clamp(0.0, 1.0) * f64::from(last);
    let before = (place as u32).min(last.saturating_sub(1));
    (before as usize, place - f64::from(before))
}

fn mix([from, to]: [f64; 2], part: f64) -> f64 {
    (to - from).mul_add(part, from)
}

impl Applied {
    fn colour(&self, colour: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Curve(number) => colour.map(|value| curve(*number, value)),
            Self::Factor(factor) => colour.map(|value| value * factor),
            Self::Matrix(rows) => {
                let [red, green, blue] = colour;
                let (rows, _) = rows.as_chunks::<4>();
                let row = |at: usize| rows.get(at).map_or(0.0, |[r, g, b, one]| r * red + g * green + b * blue + one);
                [row(0), row(1), row(2)]
            }
            Self::Table(entries) => {
                let channel = |at: usize, value: f64| {
                    let (before, part) = between(value, (entries.len() as u32).saturating_sub(1));
                    let entry =
                        |place: usize| entries.get(place).and_then(|entry| entry.get(at)).copied().unwrap_or(value);
                    mix([entry(before), entry(before + 1)], part)
                };
                let [red, green, blue] = colour;
                [channel(0, red), channel(1, green), channel(2, blue)]
            }
            Self::Cube(entries) => cube(entries, colour),
        }
    }
}

/// Returns a colour of a cube, of whose corners red is the fastest: from the corner before it along the axes, the longest way first.
fn cube(entries: &[[f64; 3]], colour: [f64; 3]) -> [f64; 3] {
    let side = LUT_3D_SIDE as usize;
    let places = colour.map(|value| between(value, LUT_3D_SIDE as u32 - 1));
    let mut at = places[0].0 + side * (places[1].0 + side * places[2].0);
    let mut ways = [(places[0].1, 1), (places[1].1, side), (places[2].1, side * side)];
    ways.sort_by(|one, other| other.0.total_cmp(&one.0));
    let corner = |at: usize| entries.get(at).copied().unwrap_or(colour);
    let mut found = corner(at);
    for (part, way) in ways {
        let (from, to) = (corner(at), corner(at + way));
        at += way;
        for ((found, from), to) in found.iter_mut().zip(from).zip(to) {
            *found = (to - from).mul_add(part, *found);
        }
    }
    found
}

/// The brightest light of PQ, of which 1 is 80 candela for each square metre.
const PQ: f64 = 125.0;

/// Returns the value of a curve: of `drm_colorop.c`, `colorop_curve_1d_type_names`. Even numbers make light of signals.
fn curve(number: u64, value: f64) -> f64 {
    let value = value.max(0.0);
    match number {
        0 if value <= 0.040_45 => value / 12.92,
        0 => ((value + 0.055) / 1.055).powf(2.4),
        1 if value <= 0.003_130_8 => value * 12.92,
        1 => 1.055f64.mul_add(value.powf(1.0 / 2.4), -0.055),
        2 => {
            let signal = value.min(1.0).powf(1.0 / PQ_OUTER);
            let light = (signal - PQ_TERMS[0]).max(0.0) / PQ_TERMS[2].mul_add(-signal, PQ_TERMS[1]);
            light.powf(1.0 / PQ_INNER) * PQ
        }
        3 => {
            let light = (value / PQ).min(1.0).powf(PQ_INNER);
            let [first, second, third] = PQ_TERMS;
            (second.mul_add(light, first) / third.mul_add(light, 1.0)).powf(PQ_OUTER)
        }
        4 if value < 4.5 * BT2020[1] => value / 4.5,
        4 => ((value + BT2020[0] - 1.0) / BT2020[0]).powf(1.0 / 0.45),
        5 if value < BT2020[1] => value * 4.5,
        5 => BT2020[0].mul_add(value.powf(0.45), 1.0 - BT2020[0]),
        6 => value.powf(2.2),
        7 => value.powf(1.0 / 2.2),
        _ => value,
    }
}

/// The constants of BT.2020 with 12 bits: its factor, and where its straight part ends.
const BT2020: [f64; 2] = [1.099_296_826_809_44, 0.018_053_968_510_807];
/// The constants of SMPTE ST 2084.
const PQ_INNER: f64 = 2610.0 / 16384.0;
const PQ_OUTER: f64 = 2523.0 / 32.0;
const PQ_TERMS: [f64; 3] = [3424.0 / 4096.0, 2413.0 / 128.0, 2392.0 / 128.0];
