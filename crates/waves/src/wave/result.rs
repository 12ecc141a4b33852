//! Results of vector operations: scaling, clamping, flushing, and their place in a register.

use super::state::Wave;
use crate::{
    alu::{kernel::Type, moves},
    number::{
        half,
        round::{direct, to_f32},
    },
    program::{
        decoded_inst::{Half, Modifiers},
        lanes::place,
    },
};

/// Returns the factor of an output scale, which has no effect where denormals of the result's size are written. (LLVM's
/// `SIFoldOperands::isOMod` and ACO's `can_use_omod` rely on it.)
fn factor(scale: u8, flushes: bool) -> f64 {
    match scale {
        1 if flushes => 2.0,
        2 if flushes => 4.0,
        3 if flushes => 0.5,
        _ => 1.0,
    }
}

/// Returns `value` clamped to [0, 1].
fn clamped(value: f64, clamps_nan: bool) -> f64 {
    if value.is_nan() {
        return if clamps_nan { 0.0 } else { value };
    }
    // Not `clamp`, which keeps -0.
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

impl Wave {
    /// Applies flushing, the output scale and the clamp to the values in the pad.
    pub(super) fn finish(&mut self, result: Type, modifiers: &Modifiers) {
        let mode = self.registers.mode;
        let modifies = modifiers.clamp || modifiers.scale != 0;
        match result {
            Type::F32 => {
                if mode.flushes_output32() && !std::mem::take(&mut self.pad.flushed) {
                    moves::flush(self.unit, &mut self.pad.out);
                }
                if modifies {
                    let scale = factor(modifiers.scale, mode.flushes_output32());
                    for bits in self.pad.out.iter_mut() {
                        let mut value = f64::from(f32::from_bits(*bits)) * scale;
                        if modifiers.clamp {
                            value = clamped(value, mode.clamps_nan());
                        }
                        *bits = to_f32(value, mode.round32()).to_bits();
                    }
                    if mode.flushes_output32() {
                        moves::flush(self.unit, &mut self.pad.out);
                    }
                }
            }
            // Moves and selections may clamp as floats.
            Type::Bits32 if modifiers.clamp => {
                for bits in self.pad.out.iter_mut() {
                    *bits = (clamped(f64::from(f32::from_bits(*bits)), mode.clamps_nan()) as f32).to_bits();
                }
            }
            Type::F16 if modifies => {
                let scale = factor(modifiers.scale, mode.flushes_output64());
                for bits in self.pad.out.iter_mut() {
                    let mut value = half::Half(*bits as u16).wide() * scale;
                    if modifiers.clamp {
                        value = clamped(value, mode.clamps_nan());
                    }
                    *bits = half::Half::new(value, mode).0.into();
                }
            }
            Type::F64 if modifies || mode.flushes_output64() => {
                let scale = factor(modifiers.scale, mode.flushes_output64());
                for bits in &mut self.pad.wide_out {
                    let exact = f64::from_bits(*bits);
                    let mut value = exact * scale;
                    if value.is_infinite() && exact.is_finite() {
                        value = direct(value, -value, mode.round64());
                    }
                    if modifiers.clamp {
                        value = clamped(value, mode.clamps_nan());
                    }
                    let is_denormal = value.abs() < f64::MIN_POSITIVE;
                    *bits =
                        if is_denormal && mode.flushes_output64() { 0.0_f64.copysign(value) } else { value }.to_bits();
                }
            }
            _ => {}
        }
    }

    /// Puts the values in the pad where they belong in a register that keeps some of its bits.
    pub(super) fn place(&mut self, register: u16, result: Type, modifiers: &Modifiers) {
        let old = &self.registers.vectors[usize::from(register)];
        if let Some((select, unused)) = modifiers.sdwa.and_then(|sdwa| sdwa.destination) {
            for (value, old) in self.pad.out.iter_mut().zip(old.iter()) {
                *value = place(*value, *old, select, unused);
            }
        } else if result.is_16_bits() {
            for (value, old) in self.pad.out.iter_mut().zip(old.iter()) {
                *value = match modifiers.half {
                    Half::Only => *value & 0xffff,
                    Half::Low => *old & 0xffff_0000 | *value & 0xffff,
                    Half::High => *old & 0xffff | *value << 16,
                };
            }
        }
    }
}
