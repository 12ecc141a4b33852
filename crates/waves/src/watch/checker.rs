//! The observer of a dispatch whose memory models caches.

use std::cell::RefCell;

use amdgpu_isa::decode;

use super::{known::route, observer::Observer};
use crate::{
    dispatch::Dispatch,
    memory::{Memory, Reach},
    outcome::Outcome,
    program::{code::words, shape::Shape},
    run::{Limits, Shared},
    wave::state::Wave,
};

/// Executes a dispatch to its end on this thread, as [`run`](crate::run) does, and tells the memory the unit and the reach of all
/// accesses.
pub fn run_checked(dispatch: &Dispatch, memory: &dyn Memory, limits: Limits) -> Outcome {
    let shared = Shared::new(dispatch, limits);
    let checker = Checker { shape: dispatch.shape(), first: dispatch.program, memory, known: RefCell::default() };
    shared.work(memory, 0, shared.slots().min(limits.window.max(1)), &checker, None);
    shared.outcome(memory)
}

/// What is known about the instruction at a place.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    is_known: bool,
    route: Option<(bool, Reach)>,
}

/// The maximum number of dwords behind the start of a program whose instructions are remembered.
const MOST: usize = 1 << 18;

struct Checker<'m> {
    shape: Shape,
    /// The address of the first instruction.
    first: u64,
    memory: &'m dyn Memory,
    /// By the number of dwords from the first instruction on.
    known: RefCell<Vec<Known>>,
}

impl Checker<'_> {
    fn read(&self, pc: u64, memory: &dyn Memory) -> Known {
        let words = words(pc, memory).ok();
        let instruction = words.and_then(|words| decode(self.shape.level, self.shape.wave, &words).ok());
        Known { is_known: true, route: instruction.as_ref().and_then(route) }
    }

    fn at(&self, pc: u64, memory: &dyn Memory) -> Known {
        let index = (pc.wrapping_sub(self.first) / 4) as usize;
        if index >= MOST {
            return self.read(pc, memory);
        }
        let mut known = self.known.borrow_mut();
        if known.len() <= index {
            known.resize(index + 1, Known::default());
        }
        if !known[index].is_known {
            known[index] = self.read(pc, memory);
        }
        known[index]
    }
}

impl Observer for Checker<'_> {
    const ON: bool = true;
    const TOUCHED: bool = false;

    fn before(&self, wave: &Wave, memory: &dyn Memory) {
        if let Some((is_scalar, reach)) = self.at(wave.pc, memory).route {
            memory.route(is_scalar, reach);
        }
    }

    fn private(&self) {
        self.memory.route(false, Reach::Private);
    }
}
