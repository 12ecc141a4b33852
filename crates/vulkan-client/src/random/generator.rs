//! The grammar: statements, the values they leave, and the words by which a shader shows them.

use fastrand::Rng;
use rspirv::{
    dr,
    spirv::{BuiltIn, Capability, ExecutionMode, Op, Word},
};

use super::{
    form::Subgroups,
    kind::Scalar,
    module::{ATOMICS, Array, GROUPS, INPUT, LOCAL, Module, PRIVATE, PROBES},
};

/// Statements of a shader's outermost level.
const STATEMENTS: usize = 10;
/// Depth to which control flow is nested.
const DEPTH: u32 = 3;
/// Counters of nested loops, one for each depth, and one for a subgroup operation.
const COUNTERS: usize = DEPTH as usize + 1;

/// A finished shader.
#[derive(Debug)]
pub(super) struct Shader {
    /// SPIR-V.
    pub(super) words: Vec<u32>,
    /// Statement of each probe, in the order of the output.
    pub(super) probes: Vec<String>,
    /// Kinds beyond those that every device has.
    pub(super) kinds: Vec<Scalar>,
}

/// A shader in the making.
pub(super) struct Generator {
    pub(super) random: Rng,
    pub(super) module: Module,
    /// Subgroup operations as instructions, or by shared memory.
    pub(super) subgroups: Subgroups,
    /// Kinds of this shader beyond booleans and 32 bits.
    pub(super) kinds: Vec<Scalar>,
    /// Index in the workgroup.
    pub(super) local: Word,
    /// Index in the dispatch.
    global: Word,
    values: Vec<(Scalar, Word)>,
    /// Number of the first values that are made of input.
    roots: usize,
    variables: Vec<(Scalar, Word)>,
    counters: Vec<Word>,
    /// A variable for sums over shared memory.
    pub(super) total: Word,
    depth: u32,
    probes: Vec<String>,
}

/// Returns the kinds beyond 32 bits that a seed's shader has: a quarter of the shaders each has none, 16 bits, and 64 bits, and
/// the last quarter both.
pub(super) fn kinds_of(seed: u64) -> Vec<Scalar> {
    let narrow = [Scalar::U16, Scalar::F16].into_iter().filter(|_| seed & 1 == 1);
    let wide = [Scalar::U64, Scalar::F64].into_iter().filter(|_| seed & 2 == 2);
    narrow.chain(wide).collect()
}

/// Returns the words of the input buffer of a seed: small, large, and any.
pub(super) fn input_of(seed: u64) -> Vec<u32> {
    let mut random = Rng::with_seed(!seed);
    let word = |_| match random.u32(..4) {
        0 => random.u32(..16),
        1 => !random.u32(..16),
        2 => 1 << random.u32(..32),
        _ => random.u32(..),
    };
    (0..INPUT).map(word).collect()
}

/// Makes the shader of a seed. The same seed gives the same program for both forms of subgroup operations.
///
/// # Errors
///
/// A bug of the generator: the instruction that cannot be where it is.
pub(super) fn shader(seed: u64, subgroups: Subgroups) -> Result<Shader, dr::Error> {
    let kinds = kinds_of(seed);
    let mut generator = Generator::new(seed, subgroups, kinds);
    for _ in 0..STATEMENTS {
        generator.outer();
    }
    let variables = generator.variables.clone();
    for (index, (kind, variable)) in variables.into_iter().enumerate() {
        let value = generator.module.load(variable, kind);
        generator.probe(&format!("variable {index}"), kind, value);
    }
    let Generator { module, probes, kinds, .. } = generator;
    let mut modes = Vec::new();
    for width in
        [Scalar::F16, Scalar::F32, Scalar::F64].iter().filter(|kind| **kind == Scalar::F32 || kinds.contains(*kind))
    {
        modes.push((ExecutionMode::SignedZeroInfNanPreserve, width.bits()));
        modes.push((ExecutionMode::RoundingModeRTE, width.bits()));
    }
    Ok(Shader { words: module.finish(&modes)?, probes, kinds })
}

impl Generator {
    fn new(seed: u64, subgroups: Subgroups, kinds: Vec<Scalar>) -> Self {
        let mut capabilities = vec![
            Capability::Shader,
            Capability::SignedZeroInfNanPreserve,
            Capability::RoundingModeRTE,
            Capability::DotProduct,
            Capability::DotProductInput4x8BitPacked,
        ];
        capabilities.extend(subgroups.capabilities());
        capabilities.extend(kinds.iter().filter_map(|kind| match kind {
            Scalar::U16 => Some(Capability::Int16),
            Scalar::U64 => Some(Capability::Int64),
            Scalar::F16 => Some(Capability::Float16),
            Scalar::F64 => Some(Capability::Float64),
            _ => None,
        }));
        let mut module = Module::new(&capabilities, &kinds);
        let all = [Scalar::U32, Scalar::U32, Scalar::F32, Scalar::Bool].into_iter().chain(kinds.iter().copied());
        let variables = all.map(|kind| (kind, module.variable(kind))).collect();
        let total = module.variable(Scalar::U32);
        let counters = (0..COUNTERS).map(|_| module.variable(Scalar::U32)).collect();
        let mut generator = Self {
            random: Rng::with_seed(seed),
            module,
            subgroups,
            kinds,
            local: 0,
            global: 0,
            values: Vec::new(),
            roots: 0,
            variables,
            counters,
            total,
            depth: 0,
            probes: Vec::new(),
        };
        generator.begin();
        generator
    }

    /// Reads what differs between invocations and what does not, and gives every variable a value.
    fn begin(&mut self) {
        let local = self.module.input(BuiltIn::LocalInvocationIndex, 1);
        let global = self.module.input(BuiltIn::GlobalInvocationId, 3);
        let group = self.module.input(BuiltIn::WorkgroupId, 3);
        self.local = self.module.read(local, 1);
        self.global = self.module.read(global, 3);
        let group = self.module.read(group, 3);
        self.values.extend([self.local, self.global, group].map(|value| (Scalar::U32, value)));
        for at in [self.local, self.global, group] {
            let loaded = self.input_at(at);
            self.leave(Scalar::U32, loaded);
        }
        let fixed = self.module.word(7);
        let loaded = self.input_at(fixed);
        self.leave(Scalar::U32, loaded);
        let kinds = [Scalar::Bool, Scalar::F32].into_iter().chain(self.kinds.clone());
        for kind in kinds {
            for _ in 0..4 {
                let value = self.root(kind);
                self.leave(kind, value);
            }
        }
        self.roots = self.values.len();
        for (kind, variable) in self.variables.clone() {
            let value = self.pick(kind);
            self.module.store(variable, value);
        }
        for index in 0..PRIVATE {
            let index = self.module.word(index);
            let (pointer, value) = (self.module.at(Array::Private, index), self.pick(Scalar::U32));
            self.module.store(pointer, value);
        }
    }

    /// Makes a value of any kind of words that were loaded.
    fn root(&mut self, kind: Scalar) -> Word {
        let words = [self.pick(Scalar::U32), self.pick(Scalar::U32)];
        match kind {
            Scalar::Bool => self.module.op(Op::ULessThan, kind, &words),
            Scalar::F16 => {
                let mask = self.module.word(0x3ff);
                let small = self.module.op(Op::BitwiseAnd, Scalar::U32, &[words[0], mask]);
                let single = self.module.op(Op::ConvertUToF, Scalar::F32, &[small]);
                let value = self.module.op(Op::FConvert, kind, &[single]);
                self.settle(kind, value)
            }
            Scalar::F32 | Scalar::F64 => {
                let value = self.module.op(Op::ConvertSToF, kind, &[words[0]]);
                self.settle(kind, value)
            }
            Scalar::U64 => {
                let [low, high] = words.map(|word| self.module.op(Op::UConvert, kind, &[word]));
                let by = self.module.constant(kind, 32);
                let high = self.module.op(Op::ShiftLeftLogical, kind, &[high, by]);
                self.module.op(Op::BitwiseOr, kind, &[high, low])
            }
            Scalar::U16 => self.module.op(Op::UConvert, kind, &[words[0]]),
            Scalar::U32 => words[0],
        }
    }

    /// Loads a word of the input.
    pub(super) fn input_at(&mut self, index: Word) -> Word {
        let pointer = self.module.at(Array::Input, index);
        self.module.load(pointer, Scalar::U32)
    }

    /// Adds a value to those that later statements choose from.
    pub(super) fn leave(&mut self, kind: Scalar, value: Word) {
        self.values.push((kind, value));
    }

    /// Returns a value of a kind: a constant, one that was there from the start, or one of all in scope, often a late one.
    pub(super) fn pick(&mut self, kind: Scalar) -> Word {
        let choice = self.random.u32(..12);
        let scope = if choice < 4 && self.roots > 0 { self.roots } else { self.values.len() };
        let fitting = self.values.iter().take(scope).filter(|(of, _)| *of == kind);
        let fitting: Vec<Word> = fitting.map(|(_, value)| *value).collect();
        if fitting.is_empty() || choice == 11 {
            return self.fresh(kind);
        }
        let first = if choice > 7 { fitting.len().saturating_sub(6) } else { 0 };
        fitting.get(self.random.usize(first..fitting.len())).copied().unwrap_or(self.local)
    }

    /// Returns a constant; one of floating point is a power of two.
    fn fresh(&mut self, kind: Scalar) -> Word {
        if kind.is_float() {
            let bits = kind.power(self.random.i64(-4..5)) | u64::from(self.random.bool()) << (kind.bits() - 1);
            return self.module.constant(kind, bits);
        }
        let mask = if kind.bits() == 64 { u64::MAX } else { (1 << kind.bits()) - 1 };
        let bits = match self.random.u32(..4) {
            0 => self.random.u64(..64),
            1 => !self.random.u64(..64),
            2 => 1 << self.random.u32(..64),
            _ => self.random.u64(..),
        };
        self.module.constant(kind, bits & mask)
    }

    /// Chooses one of a list.
    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        let index = self.random.usize(..of.len().max(1));
        of.get(index).copied()
    }

    /// Chooses an integer kind of this shader.
    pub(super) fn integer(&mut self) -> Scalar {
        let kinds =
            [Scalar::U32, Scalar::U32].into_iter().chain(self.kinds.iter().copied().filter(|kind| !kind.is_float()));
        self.one(&kinds.collect::<Vec<_>>()).unwrap_or(Scalar::U32)
    }

    /// Chooses a floating-point kind of this shader.
    pub(super) fn float(&mut self) -> Scalar {
        let kinds =
            [Scalar::F32, Scalar::F32].into_iter().chain(self.kinds.iter().copied().filter(|kind| kind.is_float()));
        self.one(&kinds.collect::<Vec<_>>()).unwrap_or(Scalar::F32)
    }

    /// A statement that all invocations reach together, and its probe.
    fn outer(&mut self) {
        match self.random.u32(..10) {
            0 | 1 => self.subgroup(),
            2 => self.exchange(),
            3 => self.atomics(),
            _ => self.inner(),
        }
    }

    /// A statement that is right in any control flow.
    fn inner(&mut self) {
        match self.random.u32(..14) {
            0..=2 => {
                for _ in 0..4 {
                    self.integer_operation();
                }
            }
            3..=5 => {
                for _ in 0..4 {
                    self.float_operation();
                }
            }
            6 => self.conversion(),
            7 => self.comparison(),
            8 => self.memory(),
            9 | 10 => {
                for _ in 0..4 {
                    self.edge_operation();
                }
            }
            _ if self.depth < DEPTH => self.control(),
            _ => self.integer_operation(),
        }
    }

    /// Statements of a block of their own, whose values end with it; they change a variable.
    fn block(&mut self) {
        let before = self.values.len();
        self.depth += 1;
        for _ in 0..self.random.u32(1..3) {
            self.inner();
        }
        for _ in 0..self.random.u32(1..3) {
            let variable = self.random.usize(..self.variables.len());
            if let Some(&(kind, variable)) = self.variables.get(variable) {
                let value = self.pick(kind);
                self.module.store(variable, value);
            }
        }
        self.depth -= 1;
        self.values.truncate(before);
    }

    /// A choice or a loop; afterwards the variables' values are in scope.
    fn control(&mut self) {
        match self.random.u32(..4) {
            0 | 1 => self.choice(),
            2 => self.switch(),
            _ => self.counted_loop(),
        }
        for (kind, variable) in self.variables.clone() {
            let value = self.module.load(variable, kind);
            self.leave(kind, value);
        }
        if self.depth == 0 {
            let (kind, value) = self.values.last().copied().unwrap_or((Scalar::U32, self.local));
            self.probe("control flow", kind, value);
        }
    }

    fn choice(&mut self) {
        let condition = self.pick(Scalar::Bool);
        let [yes, no, merge] = [self.module.label(), self.module.label(), self.module.label()];
        let both = self.random.bool();
        self.module.choose(condition, [yes, if both { no } else { merge }], merge);
        self.module.begin(Some(yes));
        self.block();
        self.module.branch(merge);
        if both {
            self.module.begin(Some(no));
            self.block();
            self.module.branch(merge);
        }
        self.module.begin(Some(merge));
    }

    fn switch(&mut self) {
        let (any, mask) = (self.pick(Scalar::U32), self.module.word(3));
        let selector = self.module.op(Op::BitwiseAnd, Scalar::U32, &[any, mask]);
        let merge = self.module.label();
        let default = self.module.label();
        let cases: Vec<_> = [0, 2, 3].map(|value| (value, self.module.label())).into();
        self.module.switch(selector, default, &cases, merge);
        for label in cases.iter().map(|(_, label)| *label).chain([default]) {
            self.module.begin(Some(label));
            self.block();
            self.module.branch(merge);
        }
        self.module.begin(Some(merge));
    }

    /// A loop of at most eight rounds, which some invocations may leave before others.
    fn counted_loop(&mut self) {
        let bound = if self.random.bool() {
            let (any, mask) = (self.pick(Scalar::U32), self.module.word(7));
            self.module.op(Op::BitwiseAnd, Scalar::U32, &[any, mask])
        } else {
            let rounds = self.random.u32(1..6);
            self.module.word(rounds)
        };
        let leaves = self.random.bool();
        self.repeat(bound, |generator, index| {
            let before = generator.values.len();
            generator.leave(Scalar::U32, index);
            generator.block();
            generator.values.truncate(before);
            leaves.then(|| {
                generator.comparison();
                let early = generator.pick(Scalar::Bool);
                generator.values.truncate(before);
                early
            })
        });
    }

    /// A loop whose body may return the condition to leave it early.
    pub(super) fn repeat(&mut self, bound: Word, body: impl FnOnce(&mut Self, Word) -> Option<Word>) {
        let Some(counter) = self.counters.pop() else { return };
        let (zero, one) = (self.module.word(0), self.module.word(1));
        self.module.store(counter, zero);
        let [header, test, inside, next, merge] = [(); 5].map(|()| self.module.label());
        self.module.branch(header);
        self.module.begin(Some(header));
        self.module.loop_header(test, next, merge);
        self.module.begin(Some(test));
        let index = self.module.load(counter, Scalar::U32);
        let more = self.module.op(Op::ULessThan, Scalar::Bool, &[index, bound]);
        self.module.fork(more, [inside, merge]);
        self.module.begin(Some(inside));
        match body(self, index) {
            Some(early) => self.module.fork(early, [merge, next]),
            None => self.module.branch(next),
        }
        self.module.begin(Some(next));
        let index = self.module.load(counter, Scalar::U32);
        let index = self.module.op(Op::IAdd, Scalar::U32, &[index, one]);
        self.module.store(counter, index);
        self.module.branch(header);
        self.module.begin(Some(merge));
        self.counters.push(counter);
    }

    /// Leaves a value, and at the outermost level shows it.
    pub(super) fn result(&mut self, name: &str, kind: Scalar, value: Word) {
        self.leave(kind, value);
        if self.depth == 0 {
            self.probe(name, kind, value);
        }
    }

    /// Stores a value for the comparison, while there is room.
    fn probe(&mut self, name: &str, kind: Scalar, value: Word) {
        for word in self.words_of(kind, value) {
            let index = self.probes.len() as u32;
            if index == PROBES {
                return;
            }
            let start = self.module.word(ATOMICS + index * LOCAL * GROUPS);
            let at = self.module.op(Op::IAdd, Scalar::U32, &[start, self.global]);
            let pointer = self.module.at(Array::Output, at);
            self.module.store(pointer, word);
            self.probes.push(format!("{name} ({kind:?})"));
        }
    }

    /// Returns the words that a value's bits fill.
    fn words_of(&mut self, kind: Scalar, value: Word) -> Vec<Word> {
        match kind {
            Scalar::U32 => vec![value],
            Scalar::F32 => vec![self.module.op(Op::Bitcast, Scalar::U32, &[value])],
            Scalar::Bool => {
                let (one, zero) = (self.module.word(1), self.module.word(0));
                vec![self.module.op(Op::Select, Scalar::U32, &[value, one, zero])]
            }
            Scalar::U16 => vec![self.module.op(Op::UConvert, Scalar::U32, &[value])],
            Scalar::F16 => vec![self.module.op(Op::FConvert, Scalar::F32, &[value])]
                .into_iter()
                .map(|single| self.module.op(Op::Bitcast, Scalar::U32, &[single]))
                .collect(),
            Scalar::U64 => self.halves(value),
            Scalar::F64 => {
                let bits = self.module.op(Op::Bitcast, Scalar::U64, &[value]);
                self.halves(bits)
            }
        }
    }

    fn halves(&mut self, value: Word) -> Vec<Word> {
        let (low, by) = (self.module.op(Op::UConvert, Scalar::U32, &[value]), self.module.constant(Scalar::U64, 32));
        let high = self.module.op(Op::ShiftRightLogical, Scalar::U64, &[value, by]);
        vec![low, self.module.op(Op::UConvert, Scalar::U32, &[high])]
    }
}
