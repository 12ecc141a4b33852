//! Lanes that the first source is read from (DPP).

use amdgpu_hw::GfxLevel;

use crate::values::Random;

/// A selection of lanes with its masks.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pattern: Pattern,
    rows: u32,
    banks: u32,
    /// Reads from lanes that are off or do not exist give 0; otherwise the reading lane is off.
    reads_zero: bool,
    /// Lanes that are off are read.
    reads_off: bool,
}

#[derive(Clone, Debug)]
enum Pattern {
    Quad([u32; 4]),
    /// A control with its number: `row_shl:3`.
    Control(&'static str, u32),
    /// A control of the whole wave, or without a number.
    Plain(&'static str),
    Eight([u32; 8]),
}

/// Controls of all generations that have a number from 1 to 15.
const NUMBERED: [&str; 3] = ["row_shl", "row_shr", "row_ror"];
/// Controls that end with GFX9.
const OLDER: [&str; 6] = ["wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1", "row_bcast:15", "row_bcast:31"];
/// Controls that start with GFX10, with a number from 0 to 15.
const NEWER: [&str; 2] = ["row_share", "row_xmask"];

impl Selection {
    /// Draws a selection of a generation: `number` counts through the controls.
    pub(crate) fn draw(random: &mut Random, level: GfxLevel, number: usize) -> Self {
        let newer = level >= GfxLevel::Gfx10;
        let amount = random.next() as u32 % 15 + 1;
        let pattern = match number % 15 {
            at @ 0..3 => Pattern::Control(NUMBERED[at], amount),
            3 => Pattern::Plain("row_mirror"),
            4 => Pattern::Plain("row_half_mirror"),
            at @ 5..11 if !newer => Pattern::Plain(OLDER[at - 5]),
            at @ 5..7 => Pattern::Control(NEWER[at - 5], amount ^ 1 & random.next() as u32),
            7..11 => Pattern::Eight(std::array::from_fn(|_| random.next() as u32 & 7)),
            _ => Pattern::Quad(std::array::from_fn(|_| random.next() as u32 & 3)),
        };
        let is_eight = matches!(pattern, Pattern::Eight(_));
        let bits = random.next();
        // Half of all selections leave every row and bank on.
        let mask = |bits: u64, all: bool| if is_eight || all { 15 } else { bits as u32 & 15 };
        Self {
            pattern,
            rows: mask(bits, bits >> 8 & 1 != 0),
            banks: mask(bits >> 4, bits >> 8 & 1 != 0),
            reads_zero: is_eight || bits >> 9 & 1 != 0,
            reads_off: newer && bits >> 10 & 1 != 0,
        }
    }

    pub(crate) fn text(&self) -> String {
        let list = |lanes: &[u32]| lanes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let (fetch, bound) =
            (if self.reads_off { " fi:1" } else { "" }, if self.reads_zero { " bound_ctrl:0" } else { "" });
        let pattern = match &self.pattern {
            Pattern::Eight(lanes) => return format!(" dpp8:[{}]{fetch}", list(lanes)),
            Pattern::Quad(lanes) => format!("quad_perm:[{}]", list(lanes)),
            Pattern::Control(name, amount) => format!("{name}:{amount}"),
            Pattern::Plain(name) => (*name).to_owned(),
        };
        format!(" {pattern} row_mask:{:#x} bank_mask:{:#x}{bound}{fetch}", self.rows, self.banks)
    }

    /// Returns the lane that a lane reads; `None` if it does not exist.
    fn named(&self, lane: i32, lanes: i32) -> Option<i32> {
        let (row, column) = (lane / 16 * 16, lane % 16);
        let in_row = |column: i32| (0..16).contains(&column).then_some(row + column);
        let in_wave = |lane: i32| (0..lanes).contains(&lane).then_some(lane);
        match &self.pattern {
            Pattern::Quad(chosen) => Some(lane - lane % 4 + chosen[lane as usize % 4] as i32),
            Pattern::Eight(chosen) => Some(lane - lane % 8 + chosen[lane as usize % 8] as i32),
            Pattern::Control(name, amount) => {
                let amount = *amount as i32;
                match *name {
                    "row_shl" => in_row(column + amount),
                    "row_shr" => in_row(column - amount),
                    "row_ror" => in_row((column + 16 - amount) % 16),
                    "row_share" => in_row(amount),
                    "row_xmask" => in_row(column ^ amount),
                    other => panic!("{other}"),
                }
            }
            Pattern::Plain(name) => match *name {
                "row_mirror" => in_row(15 - column),
                "row_half_mirror" => in_row(if column < 8 { 7 - column } else { 23 - column }),
                "wave_shl:1" => in_wave(lane + 1),
                "wave_shr:1" => in_wave(lane - 1),
                "wave_rol:1" => in_wave((lane + 1) % lanes),
                "wave_ror:1" => in_wave((lane + lanes - 1) % lanes),
                "row_bcast:15" => in_wave(row - 1),
                "row_bcast:31" => (lane >= 32).then_some(31),
                other => panic!("{other}"),
            },
        }
    }

    /// Returns what a lane reads: another lane, or `None` for 0. An outer `None` turns the lane off.
    #[expect(clippy::option_option, reason = "a lane that reads nothing is not a lane that is off")]
    pub(crate) fn source(&self, lane: usize, lanes: u32, exec: u64) -> Option<Option<usize>> {
        let is_chosen = self.rows >> (lane / 16) & 1 != 0 && self.banks >> (lane % 16 / 4) & 1 != 0;
        let from = self.named(lane as i32, lanes as i32).map(|from| from as usize);
        let from = from.filter(|from| self.reads_off || exec >> from & 1 != 0);
        (is_chosen && (from.is_some() || self.reads_zero)).then_some(from)
    }
}
