//! The table of vector operations.

use std::collections::HashMap;

/// The MODE register, as far as operations depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env {
    /// FLOAT_MODE: rounding in bits 3:0, denormals in bits 7:4, those of 32 bits in the lower half of each.
    pub(crate) float_mode: u32,
    /// Clamping keeps a NaN, which DX10_CLAMP replaces by zero.
    pub(crate) keeps_nan: bool,
}

impl Env {
    /// Returns the mode with a FLOAT_MODE and DX10_CLAMP.
    pub(crate) const fn new(float_mode: u32) -> Self {
        Self { float_mode, keeps_nan: false }
    }
}

/// The result of a lane, exact where it is an integer: it is cut to the size of its type, or saturated.
pub(crate) type Function = Box<dyn Fn([i128; 3], Env) -> i128>;

/// The largest distance of a result from that of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// The same bits; for a NaN of 32 or 64 bits the quiet one without payload, or any if bits are moved.
    Exact,
    /// A share of the result, for functions that hardware approximates.
    Relative(f64),
    /// A distance, for functions that hardware approximates.
    Absolute(f64),
}

/// A vector operation.
pub(crate) struct Operation {
    /// The types of the sources, a letter each: `u` and `s` integers of 32 bits without and with sign, `w` and `x` those of 16 bits,
    /// `U` and `S` those of 64 bits; `f`, `h` and `d` floats of 32, 16 and 64 bits; `b` a float of 32 bits whose denormals do not depend on the mode;
    /// `m` and `q` floats of 32 and 16 bits that are moved; `c` a bit of a mask.
    pub(crate) sources: Vec<char>,
    /// The type of the result; `k` and `K` are integers of 32 and 64 bits with a carry.
    pub(crate) result: char,
    pub(crate) function: Function,
    pub(crate) tolerance: Tolerance,
}

impl Operation {
    /// Returns `true` if the operation reads or writes floats.
    pub(crate) fn is_float(&self) -> bool {
        let is_float = |kind: &char| matches!(kind, 'f' | 'h' | 'd' | 'b' | 'm' | 'q');
        self.sources.iter().any(is_float) || is_float(&self.result)
    }
}

/// Every vector operation by name. Forms that write a carry have names of their own, which end in `:carry`.
#[derive(Default)]
pub(crate) struct Table(HashMap<String, Operation>);

impl Table {
    /// Adds an operation with one or more names.
    pub(crate) fn add(&mut self, names: &str, types: &str, function: impl Fn([i128; 3], Env) -> i128 + Copy + 'static) {
        self.add_tolerant(names, types, Tolerance::Exact, function);
    }

    /// Adds an operation whose results may differ from the model's.
    pub(crate) fn add_tolerant(
        &mut self,
        names: &str,
        types: &str,
        tolerance: Tolerance,
        function: impl Fn([i128; 3], Env) -> i128 + Copy + 'static,
    ) {
        let (sources, result) = types.split_once('>').expect("types have a result");
        for name in names.split_whitespace() {
            let operation = Operation {
                sources: sources.chars().collect(),
                result: result.chars().next().expect("types have a result"),
                function: Box::new(function),
                tolerance,
            };
            assert!(self.0.insert(name.to_owned(), operation).is_none(), "{name} is there twice");
        }
    }

    /// Returns the operation with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Operation> {
        self.0.get(name)
    }
}

/// Returns the number of bits of a type.
pub(crate) fn width(kind: char) -> u32 {
    match kind {
        'c' => 1,
        'w' | 'x' | 'h' | 'q' => 16,
        'U' | 'S' | 'd' | 'K' => 64,
        _ => 32,
    }
}

/// Returns `true` if the number of a type has a sign.
pub(crate) fn is_signed(kind: char) -> bool {
    matches!(kind, 's' | 'x' | 'S')
}

/// Returns the bit that sign modifiers change; `None` for integers.
pub(crate) fn sign_bit(kind: char) -> Option<u32> {
    matches!(kind, 'f' | 'h' | 'd' | 'b' | 'm' | 'q').then(|| width(kind) - 1)
}
