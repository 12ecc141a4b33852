//! Code of shaders.

use amdgpu_descriptors::view::BufferView;
use amdgpu_isa::{
    WaveSize,
    builder::{BuildError, Builder, Condition, Program, Scalar, Vector},
};
use amdgpu_waves::Dispatch;
use amdgpu_winsys::vamgr::GpuVa;

use super::{
    DATA, DWORDS, GROUPS, LANES, LEVEL, MASK, PROGRAM, ROUNDS, SHORT, SHORT_GROUPS, SHORT_WAVES, SPREAD, STRAIGHT,
    UNROLLED,
};

/// The work of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Additions, exclusive ors and shifts.
    Integer,
    /// Additions and multiplications.
    Float,
    /// Fused multiplications and additions.
    Fused,
    /// Floats, integers, comparisons and selections by them, scalars, and a load of neighbours in each eight.
    Mix,
    /// Loads from addresses that were loaded.
    Gather,
    /// Stores to addresses spread over all data.
    Scatter,
}

impl Work {
    /// Returns `true` if values are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Fused | Self::Mix)
    }

    /// Returns `true` if the accesses alone are counted.
    pub fn counts_accesses(self) -> bool {
        matches!(self, Self::Gather | Self::Scatter)
    }
}

/// Records a loop of the work, whose result is stored at the end.
///
/// # Errors
///
/// That of the builder, for an operation that the generation does not have.
pub fn program(work: Work) -> Result<Program, BuildError> {
    let mut code = Builder::new(LEVEL, WaveSize::Wave64, 4);
    let (buffer, at, count) = (code.user(0, 4), code.vector(1), code.scalar(1));
    let (value, other, group) = (code.vector(1), code.vector(1), code.group());
    code.op(format_args!("v_mov_b32 {at}, {group}"));
    code.op(format_args!("v_lshlrev_b32 {at}, 6, {at}"));
    code.add(at, code.thread(), at);
    code.op(format_args!("v_mov_b32 {value}, {at}"));
    code.op(format_args!("v_mov_b32 {other}, {}", if work.is_float() { "0.5" } else { "3" }));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {at}"));
    if work.is_float() {
        code.op(format_args!("v_cvt_f32_u32 {value}, {value}"));
    }
    let (bits, loaded) = (code.vector(1), code.vector(1));
    code.op(format_args!("v_mov_b32 {bits}, {at}"));
    code.op(format_args!("v_mov_b32 {loaded}, {other}"));
    if work == Work::Scatter {
        code.op(format_args!("v_mul_lo_u32 {value}, {value}, {SPREAD:#x}"));
    }
    code.op(format_args!("s_movk_i32 {count}, {ROUNDS}"));
    let start = code.label();
    code.place(start);
    for step in 0..UNROLLED {
        match (work, step % 4) {
            (Work::Integer, 0 | 2) => code.add(value, other, value),
            (Work::Integer, 1) => code.op(format_args!("v_xor_b32 {value}, {step}, {value}")),
            (Work::Integer, _) => code.op(format_args!("v_lshlrev_b32 {value}, 1, {value}")),
            (Work::Float, 0 | 2) => code.op(format_args!("v_add_f32 {value}, {other}, {value}")),
            (Work::Float, _) => code.op(format_args!("v_mul_f32 {value}, {other}, {value}")),
            (Work::Fused, _) => code.op(format_args!("v_fma_f32 {value}, {value}, {other}, {other}")),
            (Work::Mix, _) => mixed(&mut code, step, [at, value, other, bits, loaded], buffer),
            (Work::Scatter, _) => {
                code.op(format_args!("v_and_b32 {bits}, {MASK:#x}, {value}"));
                code.buffer_store(value, bits, buffer);
                code.op(format_args!("v_add_nc_u32 {value}, {SPREAD:#x}, {value}"));
            }
            (Work::Gather, _) => {
                // The loaded value leads to the next address.
                code.op(format_args!("v_and_b32 {value}, {MASK:#x}, {value}"));
                code.buffer_load(value, value, buffer);
            }
        }
    }
    code.op(format_args!("s_sub_u32 {count}, {count}, 1"));
    code.op(format_args!("s_cmp_lg_u32 {count}, 0"));
    code.branch(Condition::Scc(true), start);
    code.buffer_store(value, at, buffer);
    code.finish()
}

/// Records an operation of [`Work::Mix`], on registers for an address, two values, bits and what is loaded.
fn mixed(code: &mut Builder, step: u32, [at, value, other, bits, loaded]: [Vector; 5], buffer: Scalar) {
    match step % 8 {
        0 => code.op(format_args!("v_fma_f32 {value}, {value}, {other}, {loaded}")),
        1 => code.add(bits, other, bits),
        2 => code.op(format_args!("v_cmp_lt_f32_e32 vcc, {other}, {value}")),
        3 => code.op(format_args!("v_cndmask_b32_e32 {value}, {value}, {other}, vcc")),
        4 => code.op(format_args!("v_and_b32 {bits}, {MASK:#x}, {bits}")),
        5 => code.op(format_args!("v_max_f32 {value}, {other}, {value}")),
        6 => code.op(format_args!("v_lshrrev_b32 {bits}, 1, {bits}")),
        _ => code.buffer_load(loaded, at, buffer),
    }
}

/// Records code without a jump: the operations of [`Work::Mix`], of which each is executed once.
///
/// # Errors
///
/// As [`program`].
pub fn straight() -> Result<Program, BuildError> {
    let mut code = Builder::new(LEVEL, WaveSize::Wave64, 4);
    let (buffer, at, value, other) = (code.user(0, 4), code.vector(1), code.vector(1), code.vector(1));
    let (bits, loaded) = (code.vector(1), code.vector(1));
    code.op(format_args!("v_mov_b32 {at}, 0"));
    for step in 0..STRAIGHT {
        mixed(&mut code, step, [at, value, other, bits, loaded], buffer);
    }
    code.finish()
}

/// Records some twenty instructions, as shaders have that copy data: each lane loads a dword, computes a little and stores a dword.
///
/// # Errors
///
/// As [`program`].
pub fn short() -> Result<Program, BuildError> {
    let mut code = Builder::new(LEVEL, WaveSize::Wave64, 4);
    let (buffer, at, value, bits) = (code.user(0, 4), code.vector(1), code.vector(1), code.vector(1));
    let threads = LANES * SHORT_WAVES;
    code.op(format_args!("v_lshl_add_u32 {at}, {}, {}, {}", code.group(), threads.ilog2(), code.thread()));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {at}"));
    code.buffer_load(value, at, buffer);
    code.op(format_args!("v_mov_b32 {bits}, {at}"));
    for step in 0..SHORT {
        match step % 4 {
            0 => code.add(bits, 3, bits),
            1 => code.op(format_args!("v_xor_b32 {bits}, {step}, {bits}")),
            2 => code.op(format_args!("v_and_b32 {bits}, {MASK:#x}, {bits}")),
            _ => code.op(format_args!("v_lshrrev_b32 {bits}, 1, {bits}")),
        }
    }
    code.add(value, value, bits);
    code.buffer_store(value, at, buffer);
    code.finish()
}

/// Returns the dispatch of [`short`], in which the waves of a group are many and each is short; `None` as of [`dispatch`].
pub fn short_dispatch(program: &Program) -> Option<Dispatch> {
    Some(Dispatch { threads: [LANES * SHORT_WAVES, 1, 1], end: [SHORT_GROUPS, 1, 1], ..dispatch(program)? })
}

/// Returns the dispatch of a program; `None` if the generation has no descriptor of the data.
pub fn dispatch(program: &Program) -> Option<Dispatch> {
    let mut user_data = [0; 16];
    let buffer = BufferView::raw(GpuVa::from_48_bits(DATA), DWORDS * 4).descriptor(LEVEL).ok()?;
    user_data[..4].copy_from_slice(&buffer.words());
    Some(Dispatch {
        level: LEVEL,
        wave: WaveSize::Wave64,
        program: PROGRAM,
        resources: program.resources(),
        user_data,
        threads: [LANES, 1, 1],
        partial: [0; 3],
        start: [0; 3],
        end: [GROUPS, 1, 1],
        scratch_ring: 0,
        scratch_base: 0,
        chip: None,
        border_colors: 0,
    })
}
