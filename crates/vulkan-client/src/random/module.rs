//! A SPIR-V module under construction: one compute entry point, its buffers, and instructions one by one.

use std::collections::HashMap;

use rspirv::{
    binary::Assemble,
    dr::{self, Builder, InsertPoint, Instruction, Operand},
    spirv::{
        AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, LoopControl,
        MemoryModel, MemorySemantics, Op, Scope, SelectionControl, StorageClass, Word,
    },
};

use super::kind::Scalar;

/// Invocations of a workgroup.
pub(super) const LOCAL: u32 = 128;
/// Workgroups of a dispatch.
pub(super) const GROUPS: u32 = 2;
/// Words of the input buffer, which shaders only read.
pub(super) const INPUT: u32 = 512;
/// Words of the output buffer that are for atomics; probes follow.
pub(super) const ATOMICS: u32 = 64;
/// Words that an invocation may store as probes.
pub(super) const PROBES: u32 = 64;
/// Words of the output buffer.
pub(super) const OUTPUT: u32 = ATOMICS + PROBES * LOCAL * GROUPS;
/// Words of the array that each invocation has for itself.
pub(super) const PRIVATE: u32 = 24;

/// Arrays that instructions load from and store to, a word each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Array {
    /// Words that every invocation reads.
    Input,
    /// Atomics and probes.
    Output,
    /// A value of each invocation, for its workgroup.
    Slots,
    /// A second one.
    Flags,
    /// Words of one invocation.
    Private,
}

/// The module, with its one function open.
pub(super) struct Module {
    builder: Builder,
    glsl: Word,
    function: Word,
    kinds: HashMap<Scalar, Word>,
    constants: HashMap<(Scalar, u64), Word>,
    arrays: HashMap<Array, (Word, Word)>,
    inputs: HashMap<BuiltIn, Word>,
    interface: Vec<Word>,
    flaw: Option<dr::Error>,
}

impl Module {
    /// Opens a module with everything declared that needs no instruction, and a function with an open block.
    pub(super) fn new(capabilities: &[Capability], kinds: &[Scalar]) -> Self {
        let mut builder = Builder::new();
        builder.set_version(1, 6);
        for capability in capabilities {
            builder.capability(*capability);
        }
        let glsl = builder.ext_inst_import("GLSL.std.450");
        builder.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let mut module = Self {
            builder,
            glsl,
            function: 0,
            kinds: HashMap::new(),
            constants: HashMap::new(),
            arrays: HashMap::new(),
            inputs: HashMap::new(),
            interface: Vec::new(),
            flaw: None,
        };
        for kind in [Scalar::Bool, Scalar::U32, Scalar::F32].iter().chain(kinds) {
            let id = match kind {
                Scalar::Bool => module.builder.type_bool(),
                kind if kind.is_float() => module.builder.type_float(kind.bits(), None),
                kind => module.builder.type_int(kind.bits(), 0),
            };
            module.kinds.insert(*kind, id);
        }
        module.buffer(Array::Input, 0);
        module.buffer(Array::Output, 1);
        module.shared(Array::Slots);
        module.shared(Array::Flags);
        module.open();
        module
    }

    /// Declares a storage buffer of words.
    fn buffer(&mut self, array: Array, binding: u32) {
        let word = self.kind(Scalar::U32);
        let words = self.builder.type_runtime_array(word);
        let block = self.builder.id();
        self.builder.type_struct_id(Some(block), [words]);
        if binding == 0 {
            self.builder.decorate(words, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        }
        self.builder.decorate(block, Decoration::Block, []);
        self.builder.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let pointer = self.builder.type_pointer(None, StorageClass::StorageBuffer, block);
        let id = self.builder.variable(pointer, None, StorageClass::StorageBuffer, None);
        self.builder.decorate(id, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
        self.builder.decorate(id, Decoration::Binding, [Operand::LiteralBit32(binding)]);
        if array == Array::Input {
            self.builder.decorate(id, Decoration::NonWritable, []);
        }
        let element = self.builder.type_pointer(None, StorageClass::StorageBuffer, word);
        self.arrays.insert(array, (id, element));
        self.interface.push(id);
    }

    /// Declares an array of shared memory with a word for each invocation.
    fn shared(&mut self, array: Array) {
        let (word, length) = (self.kind(Scalar::U32), self.word(LOCAL));
        let words = self.builder.type_array(word, length);
        let pointer = self.builder.type_pointer(None, StorageClass::Workgroup, words);
        let id = self.builder.variable(pointer, None, StorageClass::Workgroup, None);
        let element = self.builder.type_pointer(None, StorageClass::Workgroup, word);
        self.arrays.insert(array, (id, element));
        self.interface.push(id);
    }

    fn open(&mut self) {
        let void = self.builder.type_void();
        let signature = self.builder.type_function(void, []);
        let begun = self.builder.begin_function(void, None, FunctionControl::NONE, signature);
        self.function = self.keep(begun);
        self.begin(None);
        let (word, length) = (self.kind(Scalar::U32), self.word(PRIVATE));
        let words = self.builder.type_array(word, length);
        let pointer = self.builder.type_pointer(None, StorageClass::Function, words);
        let id = self.builder.variable(pointer, None, StorageClass::Function, None);
        let element = self.builder.type_pointer(None, StorageClass::Function, word);
        self.arrays.insert(Array::Private, (id, element));
    }

    /// Returns the id of a result, and keeps the first error for [`finish`](Self::finish).
    fn keep<T: Default>(&mut self, result: Result<T, dr::Error>) -> T {
        result.unwrap_or_else(|error| {
            self.flaw.get_or_insert(error);
            T::default()
        })
    }

    /// Returns the type's id. A kind that was not declared is a word.
    fn kind(&self, kind: Scalar) -> Word {
        self.kinds.get(&kind).or_else(|| self.kinds.get(&Scalar::U32)).copied().unwrap_or_default()
    }

    /// Declares a variable of the function; to be called before any other instruction.
    pub(super) fn variable(&mut self, kind: Scalar) -> Word {
        let pointee = self.kind(kind);
        let pointer = self.builder.type_pointer(None, StorageClass::Function, pointee);
        self.builder.variable(pointer, None, StorageClass::Function, None)
    }

    /// Declares a variable for a built-in input of `size` components, and returns its id.
    pub(super) fn input(&mut self, built_in: BuiltIn, size: u32) -> Word {
        if let Some(id) = self.inputs.get(&built_in) {
            return *id;
        }
        let word = self.kind(Scalar::U32);
        let whole = if size == 1 { word } else { self.builder.type_vector(word, size) };
        let pointer = self.builder.type_pointer(None, StorageClass::Input, whole);
        let id = self.builder.id();
        // A variable of the module, though the function's block is open.
        let operands = vec![Operand::StorageClass(StorageClass::Input)];
        let declaration = Instruction::new(Op::Variable, Some(pointer), Some(id), operands);
        self.builder.insert_types_global_values(InsertPoint::End, declaration);
        self.builder.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(built_in)]);
        self.interface.push(id);
        self.inputs.insert(built_in, id);
        id
    }

    /// Loads the first component of a built-in input.
    pub(super) fn read(&mut self, input: Word, size: u32) -> Word {
        if size == 1 {
            return self.load(input, Scalar::U32);
        }
        let word = self.kind(Scalar::U32);
        let vector = self.builder.type_vector(word, size);
        let whole = self.raw(Op::Load, vector, vec![Operand::IdRef(input)]);
        self.raw(Op::CompositeExtract, word, vec![Operand::IdRef(whole), Operand::LiteralBit32(0)])
    }

    /// Returns a constant, of the bits of its kind.
    pub(super) fn constant(&mut self, kind: Scalar, bits: u64) -> Word {
        if let Some(id) = self.constants.get(&(kind, bits)) {
            return *id;
        }
        let of = self.kind(kind);
        let id = match kind {
            Scalar::Bool if bits == 0 => self.builder.constant_false(of),
            Scalar::Bool => self.builder.constant_true(of),
            kind if kind.bits() == 64 => self.builder.constant_bit64(of, bits),
            _ => self.builder.constant_bit32(of, bits as u32),
        };
        self.constants.insert((kind, bits), id);
        id
    }

    /// Returns a constant of 32 bits.
    pub(super) fn word(&mut self, value: u32) -> Word {
        self.constant(Scalar::U32, u64::from(value))
    }

    fn raw(&mut self, op: Op, of: Word, operands: Vec<Operand>) -> Word {
        let id = self.builder.id();
        let inserted =
            self.builder.insert_into_block(InsertPoint::End, Instruction::new(op, Some(of), Some(id), operands));
        self.keep(inserted);
        id
    }

    /// Appends an instruction whose operands are values.
    pub(super) fn op(&mut self, op: Op, kind: Scalar, values: &[Word]) -> Word {
        self.op_with(op, kind, values.iter().copied().map(Operand::IdRef).collect())
    }

    /// Appends an instruction with any operands. What rounds is kept from being contracted.
    pub(super) fn op_with(&mut self, op: Op, kind: Scalar, operands: Vec<Operand>) -> Word {
        let of = self.kind(kind);
        let id = self.raw(op, of, operands);
        if matches!(op, Op::FAdd | Op::FSub | Op::FMul) {
            self.builder.decorate(id, Decoration::NoContraction, []);
        }
        id
    }

    /// Appends an instruction of GLSL.std.450.
    pub(super) fn glsl(&mut self, number: u32, kind: Scalar, values: &[Word]) -> Word {
        let mut operands = vec![Operand::IdRef(self.glsl), Operand::LiteralExtInstInteger(number)];
        operands.extend(values.iter().copied().map(Operand::IdRef));
        self.op_with(Op::ExtInst, kind, operands)
    }

    /// Appends an instruction with two results, and returns both: a structure of `kinds`.
    pub(super) fn pair(&mut self, op: Op, mut operands: Vec<Operand>, kinds: [Scalar; 2]) -> [Word; 2] {
        let members = kinds.map(|kind| self.kind(kind));
        let structure = self.builder.type_struct(members);
        if op == Op::ExtInst {
            operands.insert(0, Operand::IdRef(self.glsl));
        }
        let whole = self.raw(op, structure, operands);
        [0, 1].map(|index| {
            let operands = vec![Operand::IdRef(whole), Operand::LiteralBit32(index)];
            self.raw(Op::CompositeExtract, members[index as usize], operands)
        })
    }

    /// Appends an instruction whose result is a vector of `size` components, and returns the component `index`.
    pub(super) fn component(
        &mut self,
        op: Op,
        mut operands: Vec<Operand>,
        [size, index]: [u32; 2],
        kind: Scalar,
    ) -> Word {
        let of = self.kind(kind);
        let vector = self.builder.type_vector(of, size);
        if op == Op::ExtInst {
            operands.insert(0, Operand::IdRef(self.glsl));
        }
        let whole = self.raw(op, vector, operands);
        self.raw(Op::CompositeExtract, of, vec![Operand::IdRef(whole), Operand::LiteralBit32(index)])
    }

    /// Appends a ballot, and returns its four words as a vector.
    pub(super) fn ballot(&mut self, operands: Vec<Operand>) -> Word {
        let word = self.kind(Scalar::U32);
        let vector = self.builder.type_vector(word, 4);
        self.raw(Op::GroupNonUniformBallot, vector, operands)
    }

    /// Makes a vector.
    pub(super) fn vector(&mut self, kind: Scalar, values: &[Word]) -> Word {
        let of = self.kind(kind);
        let vector = self.builder.type_vector(of, values.len() as u32);
        self.raw(Op::CompositeConstruct, vector, values.iter().copied().map(Operand::IdRef).collect())
    }

    /// Returns a pointer to an element of an array.
    pub(super) fn at(&mut self, array: Array, index: Word) -> Word {
        let (id, pointer) = self.arrays.get(&array).copied().unwrap_or_default();
        let mut indices = vec![Operand::IdRef(id)];
        if matches!(array, Array::Input | Array::Output) {
            indices.push(Operand::IdRef(self.word(0)));
        }
        indices.push(Operand::IdRef(index));
        self.raw(Op::AccessChain, pointer, indices)
    }

    /// Loads through a pointer.
    pub(super) fn load(&mut self, pointer: Word, kind: Scalar) -> Word {
        self.op(Op::Load, kind, &[pointer])
    }

    /// Stores through a pointer.
    pub(super) fn store(&mut self, pointer: Word, value: Word) {
        let stored = self.builder.store(pointer, value, None, []);
        self.keep(stored);
    }

    /// Appends an atomic operation, relaxed and for the device.
    pub(super) fn atomic(&mut self, op: Op, pointer: Word, values: &[Word]) -> Word {
        let (scope, relaxed) = (self.word(Scope::Device as u32), self.word(0));
        let mut operands = vec![pointer, scope, relaxed];
        if op == Op::AtomicCompareExchange {
            operands.push(relaxed);
        }
        operands.extend(values);
        self.op(op, Scalar::U32, &operands)
    }

    /// Waits for the workgroup, with what it has stored in shared memory.
    pub(super) fn barrier(&mut self) {
        let scope = self.word(Scope::Workgroup as u32);
        let semantics = self.word((MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY).bits());
        let waited = self.builder.control_barrier(scope, scope, semantics);
        self.keep(waited);
    }

    /// Returns a new id, for a block to come.
    pub(super) fn label(&mut self) -> Word {
        self.builder.id()
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, label: Option<Word>) {
        let begun = self.builder.begin_block(label);
        self.keep(begun);
    }

    /// Ends the block with a branch.
    pub(super) fn branch(&mut self, label: Word) {
        let ended = self.builder.branch(label);
        self.keep(ended);
    }

    /// Ends the block with a choice of two that meet at `merge`.
    pub(super) fn choose(&mut self, condition: Word, [yes, no]: [Word; 2], merge: Word) {
        let declared = self.builder.selection_merge(merge, SelectionControl::NONE);
        self.keep(declared);
        self.fork(condition, [yes, no]);
    }

    /// Ends the block with a choice of two that needs no merge, as it leaves a loop.
    pub(super) fn fork(&mut self, condition: Word, [yes, no]: [Word; 2]) {
        let ended = self.builder.branch_conditional(condition, yes, no, []);
        self.keep(ended);
    }

    /// Ends the block with a choice by number.
    pub(super) fn switch(&mut self, selector: Word, default: Word, cases: &[(u32, Word)], merge: Word) {
        let declared = self.builder.selection_merge(merge, SelectionControl::NONE);
        self.keep(declared);
        let cases = cases.iter().map(|&(value, label)| (Operand::LiteralBit32(value), label));
        let ended = self.builder.switch(selector, default, cases);
        self.keep(ended);
    }

    /// Ends the block as a loop's header.
    pub(super) fn loop_header(&mut self, body: Word, next: Word, merge: Word) {
        let declared = self.builder.loop_merge(merge, next, LoopControl::NONE, []);
        self.keep(declared);
        self.branch(body);
    }

    /// Closes the function and returns the module's words.
    ///
    /// # Errors
    ///
    /// The first instruction that the builder refused: a bug of the generator.
    pub(super) fn finish(mut self, modes: &[(ExecutionMode, u32)]) -> Result<Vec<u32>, dr::Error> {
        let ended = self.builder.ret();
        self.keep(ended);
        let ended = self.builder.end_function();
        self.keep(ended);
        self.builder.entry_point(ExecutionModel::GLCompute, self.function, "main", &self.interface);
        self.builder.execution_mode(self.function, ExecutionMode::LocalSize, [LOCAL, 1, 1]);
        for &(mode, width) in modes {
            self.builder.execution_mode(self.function, mode, [width]);
        }
        match self.flaw {
            Some(flaw) => Err(flaw),
            None => Ok(self.builder.module().assemble()),
        }
    }
}
