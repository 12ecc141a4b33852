//! Remarks about headers that are probably mistaken.

use amdgpu_winsys::cs::{
    DecodeFault, FieldError, Target,
    dump::{Dump, Dumper, Ib, Packet},
    pm4::HeaderFlags,
};

/// The packets that start shaders or draws, on which drivers set the shader type on compute rings.
const TYPED: &[&str] = &["DISPATCH_DIRECT", "DISPATCH_INDIRECT"];

/// Returns a remark about the header of a packet; `None` if nothing is strange about it.
pub(crate) fn remark(dump: &Dump, ib: usize, packet: &Packet) -> Option<String> {
    let target = dump.reader.target();
    let Target::Pm4(ring) = target else { return None };
    if let Some(problem) = &packet.problem
        && let DecodeFault::Field { source: FieldError::Surplus { dwords }, .. } = problem.fault
    {
        return count(target, dump.ibs.get(ib)?, packet, dwords);
    }
    let is_untyped = !packet.flags.contains(HeaderFlags::COMPUTE) && TYPED.contains(&packet.name);
    (ring.is_mec() && is_untyped && packet.problem.is_none())
        .then(|| "bit 1 of the header (shader type) is 0, which drivers set on compute rings".to_owned())
}

/// Returns a remark about a header whose count is larger than the packet, if all dwords after the packet decode with the right one.
fn count(target: Target, ib: &Ib, packet: &Packet, trailing: usize) -> Option<String> {
    let header = *packet.dwords.first()?;
    let counted = packet.dwords.len().checked_sub(1)?;
    let right = counted.checked_sub(trailing).filter(|&right| right > 0)?;
    let mended = header & !(0x3fff << 16) | (right as u32 - 1) << 16;
    let rest = ib.packets.iter().filter(|other| other.offset >= packet.offset).flat_map(|other| &other.dwords);
    let rest: Vec<_> = std::iter::once(mended).chain(rest.skip(1).copied()).collect();
    let whole = Dumper::new(target).dump(&rest, None);
    let name = packet.name;
    whole.problems().next().is_none().then(|| {
        format!(
            "{name} has {right} dwords after its header here, and the header says {counted}; with {mended:#010x} the rest decodes"
        )
    })
}
