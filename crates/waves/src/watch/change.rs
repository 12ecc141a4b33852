//! Changes of registers.

use std::fmt;

use crate::{program::source::SINK, wave::registers::Registers};

/// A register that an instruction changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A scalar register, with its number in the instruction set up to GFX10: 106 is VCC's low half, 124 M0, 126 EXEC's low half.
    Scalar {
        /// The number of the register.
        register: u8,
        /// The new value.
        value: u32,
    },
    /// The scalar condition code (SCC), with its new value.
    Scc(bool),
    /// The MODE register, with its new value.
    Mode(u32),
    /// A vector register.
    Vector {
        /// The number of the register.
        register: u16,
        /// The mask of the lanes that changed.
        lanes: u64,
        /// The new values of all lanes.
        values: Box<[u32; 64]>,
    },
}

/// The maximum number of runs of lanes with equal values that are printed for a register.
const MOST_RUNS: usize = 8;

/// Returns the differences between two states of a wave's registers.
pub(super) fn changes(before: &Registers, after: &Registers) -> Vec<Change> {
    let mut all = Vec::new();
    let scalars = before.scalars.iter().zip(&after.scalars).take(SINK.into());
    for (register, (old, new)) in (0..).zip(scalars) {
        if old != new {
            all.push(Change::Scalar { register, value: *new });
        }
    }
    if before.scc != after.scc {
        all.push(Change::Scc(after.scc));
    }
    if before.mode.0 != after.mode.0 {
        all.push(Change::Mode(after.mode.0));
    }
    for (register, (old, new)) in (0..).zip(before.vectors.iter().zip(&after.vectors)) {
        let changed = old.iter().zip(new.iter()).enumerate().take(before.lanes as usize);
        let lanes = changed.fold(0, |mask, (lane, (old, new))| mask | u64::from(old != new) << lane);
        if lanes != 0 {
            all.push(Change::Vector { register, lanes, values: Box::new(new.0) });
        }
    }
    all
}

/// Writes the name of a scalar register.
pub(super) fn name(f: &mut fmt::Formatter<'_>, register: u8) -> fmt::Result {
    match register {
        106 => f.write_str("vcc_lo"),
        107 => f.write_str("vcc_hi"),
        108..=123 => write!(f, "ttmp{}", register - 108),
        124 => f.write_str("m0"),
        126 => f.write_str("exec_lo"),
        127 => f.write_str("exec_hi"),
        other => write!(f, "s{other}"),
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar { register, value } => {
                name(f, *register)?;
                write!(f, " = {value:#x}")
            }
            Self::Scc(value) => write!(f, "scc = {}", u8::from(*value)),
            Self::Mode(value) => write!(f, "mode = {value:#x}"),
            Self::Vector { register, lanes, values } => {
                write!(f, "v{register} =")?;
                let changed: Vec<usize> = (0..64).filter(|lane| lanes >> lane & 1 != 0).collect();
                let runs = changed.chunk_by(|a, b| a + 1 == *b && values[*a] == values[*b]);
                for (number, run) in runs.enumerate() {
                    if number == MOST_RUNS {
                        let rest = changed.len() - changed.iter().position(|lane| *lane == run[0]).unwrap_or(0);
                        return write!(f, " and {rest} lanes more");
                    }
                    match run {
                        [only] => write!(f, " {only}:{:#x}", values[*only])?,
                        run => write!(f, " {}..{}:{:#x}", run[0], run[run.len() - 1], values[run[0]])?,
                    }
                }
                Ok(())
            }
        }
    }
}
