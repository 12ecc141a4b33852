//! Executors of the copy engine's packets.

use amdgpu_packets::FieldError;
use amdgpu_packets::layout::records::sdma::{
    Atomic as AtomicPacket, ConstFill, CopyBroadcastLinear, CopyLinear, Packet,
};
use amdgpu_packets::layout::values::{FillSize, TcOp};
use amdgpu_packets::layout::{self, Layout, Reader};
use amdgpu_packets::pm4::Compare;
use amdgpu_packets::sdma::Version;

use crate::gpu::{State, Stop, Watched, atomic::Atomic, dma, step::Step, wait::semaphore};

use super::poll::poll_reg_mem;
use super::reads::Reads;
use super::tiled::{copy_between_tiled, copy_tiled};
use super::windows::{SWAPPED, SubWindow, copy_sub_window};

/// The number of attempts after which the engine's own timer ends an atomic operation that loops. Memory is not changed then, and
/// the job continues.
///
/// Source: libdrm 2.4.124 `tests/amdgpu/basic_tests.c`, `amdgpu_command_submission_write_linear_helper_with_secure`, which
/// expects the end; how long it takes is not said.
const ATOMIC_TRIES: u32 = 1000;

const TILED: &str = "moves a run of tiled data, and which elements those are is not described anywhere";
const KERNEL: &str = "belongs to the kernel and has no place in a user's IB";
const UNDESCRIBED: &str = "what it does is not described anywhere, so it is not simulated";

/// The packets that are known but not executed, with the reasons.
const REFUSED: &[(&Layout, &str)] = &[
    (&layout::sdma::COPY_TILED, TILED),
    (&layout::sdma::COPY_STRUCT, UNDESCRIBED),
    (&layout::sdma::COPY_LINEAR_PHYSICAL, KERNEL),
    (&layout::sdma::WRITE_TILED, TILED),
    (&layout::sdma::INDIRECT, KERNEL),
    (&layout::dma::INDIRECT, KERNEL),
    (&layout::sdma::FENCE_CONDITIONAL_INTERRUPT, UNDESCRIBED),
    (&layout::sdma::POLL_REG_WRITE_MEM, KERNEL),
    (&layout::sdma::POLL_DBIT_WRITE_MEM, UNDESCRIBED),
    (&layout::sdma::POLL_MEM_VERIFY, UNDESCRIBED),
    (&layout::dma::SRBM_WRITE, KERNEL),
    (&layout::sdma::DATA_FILL_MULTI, UNDESCRIBED),
    (&layout::sdma::GENERATE_PTE, KERNEL),
    (&layout::sdma::PTEPDE_COPY, KERNEL),
    (&layout::sdma::PTEPDE_RMW, KERNEL),
    (&layout::sdma::SRBM_WRITE, KERNEL),
    (&layout::sdma::REGISTER_WRITE, KERNEL),
    (&layout::sdma::REGISTER_RMW, KERNEL),
];

/// Returns the name of a packet that is not executed, and the reason; `None` for other packets.
pub(super) fn refused(header: u32, version: Version) -> Option<(&'static str, &'static str)> {
    // The sub-opcode is in bits 15:8. Version 1.0 has none.
    let opcode = if version == Version::V1_0 { (header >> 28) as u16 } else { header as u16 };
    let is_it = |layout: &Layout| layout.opcode() == opcode && Reader::Copy(version).takes(layout);
    REFUSED.iter().find(|row| is_it(row.0)).map(|row| (row.0.name(), row.1))
}

/// Executes a packet, and returns how many of the `left` dwords after it are skipped.
pub(super) fn execute(
    packet: &Packet<'_>,
    step: &Step<'_, '_>,
    reads: &Reads<'_>,
    state: &mut State,
    left: usize,
) -> Result<usize, Stop> {
    let (port, version) = (step.port, reads.version);
    match packet {
        Packet::CopyLinear(packet) => copy_linear(packet, step, version)?,
        Packet::CopyBroadcastLinear(packet) => copy_twice(packet, step, version)?,
        Packet::CopyLinearSubWindow(packet) => copy_sub_window(&SubWindow::from(*packet).of(version), step)?,
        Packet::CopyTiledSubWindow(packet) => copy_tiled(packet, step, reads)?,
        Packet::CopyT2tSubWindow(packet) => copy_between_tiled(packet, step, reads)?,
        Packet::CopyLinearSubWindowLarge(packet) => copy_sub_window(&(*packet).into(), step)?,
        Packet::WriteLinear(packet) => write(step, packet.dst_addr, packet.sw, packet.data)?,
        Packet::Write(packet) => {
            if packet.tiled {
                return Err(step.refuse(TILED));
            }
            write(step, packet.dst_addr, 0, packet.data)?;
        }
        Packet::ConstFill(packet) => const_fill(packet, step, version)?,
        Packet::Fence(packet) => port.write_dwords(step.aligned("addr_lo", packet.addr, 4)?, &[packet.data]),
        Packet::Nop(_)
        | Packet::Trap(_)
        | Packet::DummyTrap(_)
        | Packet::GcrReq(_)
        | Packet::GpuvmInv(_)
        | Packet::VmInvalidation(_) => {}
        Packet::Semaphore(packet) => {
            let va = step.aligned("addr_lo", packet.addr, 8)?;
            semaphore(port, va, packet.signal, packet.write_one)?;
        }
        Packet::MemIncr(packet) => semaphore(port, step.aligned("addr_lo", packet.addr, 8)?, true, false)?,
        Packet::PollRegmem(packet) => poll_reg_mem(&(*packet).into(), step, version, state)?,
        Packet::PollRegMem(packet) => poll_reg_mem(&(*packet).into(), step, version, state)?,
        Packet::Atomic(packet) => atomic(packet, step)?,
        Packet::TimestampSet(packet) => {
            state.counter_lead = packet.init.wrapping_sub(port.env().clock.ticks());
        }
        Packet::TimestampGet(packet) => {
            let counter = port.env().clock.ticks().wrapping_add(state.counter_lead);
            port.write_u64(step.aligned("addr_lo", packet.addr, 8)?, counter);
        }
        Packet::TimestampGetGlobal(packet) => {
            port.write_u64(step.aligned("addr_lo", packet.addr, 8)?, port.env().clock.ticks());
        }
        Packet::CondExe(packet) => {
            let found = port.read_u32(step.aligned("addr_lo", packet.addr, 4)?);
            // Before version 2.4 there is no reference: any value but zero executes the packets.
            let runs = if version < Version::V2_4 { found != 0 } else { found == packet.reference };
            return skip_unless(step, runs, packet.exec_count, left);
        }
        Packet::PreExe(packet) => return skip_unless(step, packet.dev_sel & 1 != 0, packet.exec_count, left),
        _ => {
            let header = step.dwords.first().copied().unwrap_or_default();
            return Err(step.refuse(refused(header, version).map_or(UNDESCRIBED, |known| known.1)));
        }
    }
    Ok(0)
}

/// Returns the number of dwords to skip unless `runs` is set. All of them must be in this IB.
fn skip_unless(step: &Step<'_, '_>, runs: bool, count: u32, left: usize) -> Result<usize, Stop> {
    match count as usize {
        count if count > left => Err(step.refuse("skips beyond the end of its IB")),
        _ if runs => Ok(0),
        count => Ok(count),
    }
}

/// Returns the number of bytes of a copy. From version 4.0 on, the field contains one less.
fn bytes_of(count: u32, version: Version) -> u64 {
    u64::from(count) + u64::from(version >= Version::V4_0)
}

/// Executes COPY_LINEAR. Its flags have no effect on the copied bytes.
fn copy_linear(packet: &CopyLinear<'_>, step: &Step<'_, '_>, version: Version) -> Result<(), Stop> {
    if packet.src_sw != 0 || packet.dst_sw != 0 {
        return Err(step.refuse(SWAPPED));
    }
    let (to, from) = (step.address("dst_addr_lo", packet.dst_addr)?, step.address("src_addr_lo", packet.src_addr)?);
    let bytes = match version {
        Version::V1_0 if !packet.byte_mode => 4 * u64::from(packet.count),
        _ => bytes_of(packet.count, version),
    };
    dma::copy(step.port, to, from, bytes)
}

/// Executes COPY_BROADCAST_LINEAR, a copy to two destinations.
fn copy_twice(packet: &CopyBroadcastLinear, step: &Step<'_, '_>, version: Version) -> Result<(), Stop> {
    let (from, bytes) = (step.address("src_addr_lo", packet.src_addr)?, bytes_of(packet.count, version));
    for (field, to) in [("dst1_addr_lo", packet.dst1_addr), ("dst2_addr_lo", packet.dst2_addr)] {
        dma::copy(step.port, step.address(field, to)?, from, bytes)?;
    }
    Ok(())
}

/// Executes WRITE_LINEAR, or WRITE of version 1.0: writes dwords of the stream.
fn write(step: &Step<'_, '_>, to: u64, swap: u32, data: &[u32]) -> Result<(), Stop> {
    if swap != 0 {
        return Err(step.refuse(SWAPPED));
    }
    step.port.write_dwords(step.aligned("dst_addr_lo", to, 4)?, data);
    Ok(())
}

/// Executes CONST_FILL, a fill with a pattern. If the pattern is dwords, the two low bits of the count are ignored.
fn const_fill(packet: &ConstFill, step: &Step<'_, '_>, version: Version) -> Result<(), Stop> {
    if packet.sw != 0 {
        return Err(step.refuse(SWAPPED));
    }
    let is_old = version == Version::V1_0;
    let more = u64::from(version >= Version::V4_0);
    let (pattern, bytes, multiple) = match packet.fillsize {
        _ if is_old => (packet.pattern, 4 * u64::from(packet.count), 4),
        FillSize::BYTE => (packet.src_data as u32, u64::from(packet.count) + more, 1),
        _ => (packet.src_data as u32, 4 * (u64::from(packet.count / 4) + more), 4),
    };
    dma::fill(step.port, step.aligned("dst_addr_lo", packet.dst_addr, multiple)?, pattern, bytes)
}

/// Executes ATOMIC: once, or repeatedly until the comparison is true or the engine's timer ends it.
fn atomic(packet: &AtomicPacket, step: &Step<'_, '_>) -> Result<(), Stop> {
    let AtomicPacket { atomic_op, src_data, cmp, .. } = *packet;
    let unknown = FieldError::Unknown { field: "atomic_op", value: atomic_op.number() };
    let atomic = Atomic::new(TcOp::new(atomic_op.number()), src_data, cmp).ok_or_else(|| step.wrong(unknown))?;
    let va = step.aligned("addr_lo", packet.addr, atomic.bytes())?;
    let tries = if packet.loops { ATOMIC_TRIES } else { 1 };
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
                reference: cmp,
                last: done.before,
            });
        }
    }
    Ok(())
}
