//! What each copy-engine packet of the layout tables does.

use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::pm4::{Compare, Register};
use amdgpu_packets::sdma::Version;

use crate::gpu::atomic::Atomic;
use crate::gpu::step::Step;
use crate::gpu::wait::{Condition, semaphore};
use crate::gpu::{Registers, State, Stop, Watched, dma};

use super::{generation, poll};

/// How often an atomic that loops tries before the engine's own timer ends it. Memory is left alone then, and the job goes
/// on.
///
/// Source: libdrm 2.4.124 `tests/amdgpu/basic_tests.c`, `amdgpu_command_submission_write_linear_helper_with_secure`, which
/// expects the end; how long it takes is not said.
const ATOMIC_TRIES: u32 = 1000;

/// Packets that are known and not executed: opcode, name, and why.
const REFUSED: &[(u16, Version, Version, &str, &str)] = &[
    (0x0101, Version::V2_0, Version::V7_0, "COPY_TILED", TILED),
    (0x0301, Version::V2_0, Version::V7_0, "COPY_STRUCT", UNDESCRIBED),
    (0x0501, Version::V2_0, Version::V7_0, "COPY_TILED_SUB_WINDOW", TILED),
    (0x0601, Version::V2_0, Version::V7_0, "COPY_T2T_SUB_WINDOW", TILED),
    (0x0801, Version::V4_0, Version::V7_0, "COPY_LINEAR_PHYSICAL", KERNEL),
    (0x0102, Version::V2_0, Version::V7_0, "WRITE_TILED", TILED),
    (0x0004, Version::V1_0, Version::V7_0, "INDIRECT", KERNEL),
    (0x0105, Version::V7_0, Version::V7_0, "FENCE_CONDITIONAL_INTERRUPT", UNDESCRIBED),
    (0x0108, Version::V4_0, Version::V7_0, "POLL_REG_WRITE_MEM", KERNEL),
    (0x0208, Version::V4_0, Version::V7_0, "POLL_DBIT_WRITE_MEM", UNDESCRIBED),
    (0x0308, Version::V4_0, Version::V7_0, "POLL_MEM_VERIFY", UNDESCRIBED),
    (0x0009, Version::V1_0, Version::V1_0, "SRBM_WRITE", KERNEL),
    (0x010b, Version::V4_0, Version::V7_0, "DATA_FILL_MULTI", UNDESCRIBED),
    (0x000c, Version::V2_0, Version::V6_0, "GENERATE_PTE", KERNEL),
    (0x010c, Version::V4_0, Version::V6_0, "PTEPDE_COPY", KERNEL),
    (0x020c, Version::V4_0, Version::V6_0, "PTEPDE_RMW", KERNEL),
    (0x000e, Version::V2_0, Version::V6_0, "SRBM_WRITE", KERNEL),
    (0x000e, Version::V7_0, Version::V7_0, "REGISTER_WRITE", KERNEL),
    (0x010e, Version::V6_0, Version::V7_0, "REGISTER_RMW", KERNEL),
];

const TILED: &str = "moves tiled data, and the addresses of the tiling modes are not simulated";
const KERNEL: &str = "belongs to the kernel and has no place in a user's IB";
const UNDESCRIBED: &str = "what it does is not described anywhere, so it is not simulated";

/// The name of a packet that is not executed, and why.
pub(super) fn refused(opcode: u16, version: Version) -> Option<(&'static str, &'static str)> {
    let row = REFUSED.iter().find(|row| row.0 == opcode && (row.1..=row.2).contains(&version))?;
    Some((row.3, row.4))
}

/// Executes a packet, and says how many of the `left` dwords behind it are skipped.
pub(super) fn execute(step: &Step<'_, '_>, version: Version, state: &mut State, left: usize) -> Result<usize, Stop> {
    let port = step.port;
    match step.fields.name() {
        "COPY_LINEAR" => copy_linear(step, version)?,
        "COPY_BROADCAST_LINEAR" => {
            let (from, bytes) = (step.address("src_addr_lo", "src_addr_hi")?, count(step, version));
            for (low, high) in [("dst1_addr_lo", "dst1_addr_hi"), ("dst2_addr_lo", "dst2_addr_hi")] {
                dma::copy(port, step.address(low, high)?, from, bytes)?;
            }
        }
        "COPY_LINEAR_SUB_WINDOW" | "COPY_LINEAR_SUB_WINDOW_LARGE" => copy_sub_window(step)?,
        "FENCE" => port.write_dwords(step.aligned("addr_lo", "addr_hi", 4)?, &[step.get("data")]),
        "TRAP" | "DUMMY_TRAP" | "GCR_REQ" | "GPUVM_INV" | "VM_INVALIDATION" => {}
        "SEMAPHORE" => {
            let va = step.aligned("addr_lo", "addr_hi", 8)?;
            semaphore(port, va, step.is_set("signal"), step.is_set("write_one"))?;
        }
        "MEM_INCR" => semaphore(port, step.aligned("addr_lo", "addr_hi", 8)?, true, false)?,
        "POLL_REGMEM" | "POLL_REG_MEM" => poll_reg_mem(step, version, state)?,
        "ATOMIC" => atomic(step)?,
        "TIMESTAMP_SET" => {
            state.counter_lead = step.fields.wide("init_lo", "init_hi").wrapping_sub(port.env().clock.ticks());
        }
        "TIMESTAMP_GET" => {
            let counter = port.env().clock.ticks().wrapping_add(state.counter_lead);
            port.write_u64(step.aligned("addr_lo", "addr_hi", 8)?, counter);
        }
        "TIMESTAMP_GET_GLOBAL" => port.write_u64(step.aligned("addr_lo", "addr_hi", 8)?, port.env().clock.ticks()),
        "COND_EXE" => {
            let found = port.read_u32(step.aligned("addr_lo", "addr_hi", 4)?);
            let runs = if step.fields.has("reference") { found == step.get("reference") } else { found != 0 };
            return skip_unless(step, runs, left);
        }
        "PRE_EXE" => return skip_unless(step, step.get("dev_sel") & 1 != 0, left),
        _ => return Err(step.refuse(UNDESCRIBED)),
    }
    Ok(0)
}

/// Skips `exec_count` dwords, which must be of this IB.
fn skip_unless(step: &Step<'_, '_>, runs: bool, left: usize) -> Result<usize, Stop> {
    match step.get("exec_count") as usize {
        count if count > left => Err(step.refuse("skips beyond the end of its IB")),
        _ if runs => Ok(0),
        count => Ok(count),
    }
}

/// The bytes that a copy moves.
fn count(step: &Step<'_, '_>, version: Version) -> u64 {
    u64::from(step.get("count")) + u64::from(version >= Version::V4_0)
}

/// COPY_LINEAR with flags that the library does not write. None of them changes what is moved.
fn copy_linear(step: &Step<'_, '_>, version: Version) -> Result<(), Stop> {
    if step.is_set("src_sw") || step.is_set("dst_sw") {
        return Err(step.refuse("swaps bytes, which is not simulated"));
    }
    let (to, from) = (step.address("dst_addr_lo", "dst_addr_hi")?, step.address("src_addr_lo", "src_addr_hi")?);
    let bytes = match version {
        Version::V1_0 if !step.is_set("byte_mode") => 4 * u64::from(step.get("count")),
        _ => count(step, version),
    };
    dma::copy(step.port, to, from, bytes)
}

/// One side of a sub-window.
struct Window {
    base: GpuVa,
    /// Of the first element, in elements.
    x: u64,
    y: u64,
    z: u64,
    /// From row to row and from slice to slice, in elements.
    pitch: u64,
    slice: u64,
}

impl Window {
    fn source(step: &Step<'_, '_>) -> Result<Self, Stop> {
        let [x, y, z, pitch] = ["src_x", "src_y", "src_z", "src_pitch"].map(|name| step.get(name).into());
        let slice = slice(step, "src_slice_pitch", "src_slice_pitch_lo", "src_slice_pitch_47_32");
        let base = step.address("src_addr_lo", "src_addr_hi")?;
        Ok(Self { base, x, y, z, pitch: pitch + 1, slice })
    }

    fn destination(step: &Step<'_, '_>) -> Result<Self, Stop> {
        let [x, y, z, pitch] = ["dst_x", "dst_y", "dst_z", "dst_pitch"].map(|name| step.get(name).into());
        let slice = slice(step, "dst_slice_pitch", "dst_slice_pitch_lo", "dst_slice_pitch_47_32");
        let base = step.address("dst_addr_lo", "dst_addr_hi")?;
        Ok(Self { base, x, y, z, pitch: pitch + 1, slice })
    }

    /// Where a row starts; `None` beyond the end of the address space.
    fn row(&self, y: u64, z: u64, shift: u32) -> Option<GpuVa> {
        // Fields have 48 and 32 bits at most: 128 hold every product.
        let slices = u128::from(self.z + z) * u128::from(self.slice);
        let elements = slices + u128::from(self.y + y) * u128::from(self.pitch) + u128::from(self.x);
        self.base.checked_add(u64::try_from(elements << shift).ok()?)
    }
}

/// The elements from slice to slice; the field holds one less.
fn slice(step: &Step<'_, '_>, whole: &str, low: &str, high: &str) -> u64 {
    let less = if step.fields.has(whole) { step.get(whole).into() } else { step.fields.wide(low, high) };
    less + 1
}

/// COPY_LINEAR_SUB_WINDOW: a box, row by row.
fn copy_sub_window(step: &Step<'_, '_>) -> Result<(), Stop> {
    /// A row costs as much as its bytes, and at least this.
    const ROW: u64 = 8;
    if step.is_set("src_sw") || step.is_set("dst_sw") {
        return Err(step.refuse("swaps bytes, which is not simulated"));
    }
    let shift = step.get("elementsize");
    if shift > 4 {
        return Err(step.wrong(FieldError::Unknown { field: "elementsize", value: shift }));
    }
    let (from, to) = (Window::source(step)?, Window::destination(step)?);
    let [width, height, depth] = ["rect_x", "rect_y", "rect_z"].map(|name| u64::from(step.get(name)) + 1);
    for z in 0..depth {
        for y in 0..height {
            step.port.spend(ROW)?;
            let (Some(to), Some(from)) = (to.row(y, z, shift), from.row(y, z, shift)) else {
                return Err(step.refuse("runs over the end of the address space"));
            };
            dma::copy(step.port, to, from, width << shift)?;
        }
    }
    Ok(())
}

/// POLL_REGMEM with fields that the library does not write, and on registers.
fn poll_reg_mem(step: &Step<'_, '_>, version: Version, state: &State) -> Result<(), Stop> {
    const FOREVER: u32 = 0xfff;
    let reference = step.get(if version == Version::V1_0 { "reference" } else { "value" });
    let function = step.compare()?;
    let condition = Condition { function, mask: step.get("mask").into(), reference: reference.into() };
    let retries = Some(step.get("retry_count")).filter(|&retries| retries != FOREVER);
    let va = step.aligned("addr_lo", "addr_hi", 4)?;
    if step.is_set("mem_poll") {
        return poll(step.port, Watched::Memory(va), &condition, retries, || step.port.read_u32(va));
    }
    let index = if version == Version::V1_0 { step.get("addr_lo") } else { (va.as_u64() / 4) as u32 };
    let register = Register::new(index);
    if !Registers::may_read(register, generation(version)) {
        return Err(step.refuse("reads a register outside the apertures"));
    }
    poll(step.port, Watched::Register(register), &condition, retries, || state.register(register))
}

/// ATOMIC: once, or again and again until the comparison holds or the engine's timer ends it.
fn atomic(step: &Step<'_, '_>) -> Result<(), Stop> {
    let number = step.get("atomic_op");
    let (source, compare) = (step.fields.wide("src_data_lo", "src_data_hi"), step.fields.wide("cmp_lo", "cmp_hi"));
    let unknown = FieldError::Unknown { field: "atomic_op", value: number };
    let atomic = Atomic::new(number, source, compare).ok_or_else(|| step.wrong(unknown))?;
    let va = step.aligned("addr_lo", "addr_hi", atomic.bytes())?;
    let tries = if step.is_set("loop") { ATOMIC_TRIES } else { 1 };
    for _ in 0..tries {
        let done = atomic.run(step.port, va);
        if done.matched {
            return Ok(());
        }
        if tries > 1 && !step.port.env().job.keep_waiting() {
            return Err(Stop::GaveUp {
                place: step.place(),
                at: Watched::Memory(va),
                function: Compare::Equal,
                mask: if atomic.bytes() == 8 { u64::MAX } else { u32::MAX.into() },
                reference: compare,
                last: done.before,
            });
        }
    }
    Ok(())
}
