//! Devcoredumps and the incidents of the log that they belong to.

use super::{
    gather::extend,
    incident::{End, Incident, PageFault, Place, RingTimeOut, StatusLayout, Work},
    kernel::{Kernel, Release},
    line::Stamp,
    message::{Process, short},
};
use crate::Coredump;

/// The seconds between the time of a dump and the line about its ring.
const NEAR: f64 = 15.0;

/// Adds a dump to the incident that it belongs to, or as one of its own.
pub(crate) fn join(incidents: &mut Vec<Incident>, dump: Coredump, place: Place) {
    let known = incidents.iter_mut().find(|incident| is_of(incident, &dump));
    if let Some(incident) = known {
        add_to(incident, dump, place);
        return;
    }
    let stamp = dump.time.map(Stamp::boot);
    let mut incident =
        Incident { start: stamp, last: stamp, place: Some(place), last_place: Some(place), ..Incident::default() };
    if let Some(ring) = &dump.timed_out {
        let process = process(&dump);
        incident.rings.push(RingTimeOut {
            ring: short(&ring.ring),
            jobs: None,
            process,
            is_soft_recovered: false,
            stamp,
            place,
        });
    }
    // What happened after the dump was made is not in it.
    incident.end = End::Unknown;
    add_to(&mut incident, dump, place);
    incidents.push(incident);
}

/// Returns `true` if a dump may be of an incident: of the same ring and process at the same time.
fn is_of(incident: &Incident, dump: &Coredump) -> bool {
    if incident.coredump.is_some() {
        return false;
    }
    let Some(ring) = incident.ring() else { return false };
    let is_same_ring = dump.timed_out.as_ref().is_none_or(|dumped| dumped.ring == ring.ring);
    let gap = incident.start.zip(dump.time).and_then(|(start, time)| Stamp::boot(time).since(start));
    let is_near = gap.is_none_or(|gap| gap.abs() <= NEAR);
    let is_same_process = match (ring.process.as_ref(), process(dump)) {
        (Some(known), Some(dumped)) => known.pid == dumped.pid || known.name == dumped.name,
        _ => true,
    };
    let release = dump.kernel.as_deref().and_then(Release::parse);
    let is_same_kernel = incident.kernel.release.zip(release).is_none_or(|(known, dumped)| known == dumped);
    is_same_ring && is_near && is_same_process && is_same_kernel
}

fn add_to(incident: &mut Incident, dump: Coredump, place: Place) {
    if let Some(release) = dump.kernel.as_deref().and_then(Release::parse) {
        incident.kernel = Kernel { release: Some(release), ..incident.kernel.clone() };
    }
    incident.work = Work { packet: dump.packet(), ..std::mem::take(&mut incident.work) };
    if incident.lead_fault().is_none() {
        let layout = |hub: &str| match dump.level {
            Some(level) if level < amdgpu_winsys::winsys::GfxLevel::Gfx9 => StatusLayout::Old,
            Some(amdgpu_winsys::winsys::GfxLevel::Gfx9) => StatusLayout::Gfx9,
            _ if hub.is_empty() => StatusLayout::Gfx10,
            _ => StatusLayout::Gfx10,
        };
        // The dump has the last fault of the device: it is this job's only if its VMID is.
        let faults = dump.faults.iter().filter(|fault| fault.status != 0).map(|fault| PageFault {
            hub: short(&fault.hub),
            vmid: dump.job_vmid(),
            pasid: None,
            process: None,
            address: Some(extend(fault.address)),
            status: Some((fault.status, layout(&fault.hub))),
            client: None,
            is_retry: false,
            is_after_reset: false,
            count: 1,
            stamp: None,
            place,
        });
        incident.faults.extend(faults);
    }
    incident.coredump = Some(dump);
}

/// Returns the process of a dump: `NAME PID: N` or `NAME TGID: N thread: NAME PID: N`.
fn process(dump: &Coredump) -> Option<Process> {
    let text = dump.process.as_deref()?;
    let (rest, pid) = text.rsplit_once(" PID: ")?;
    if let Some((name, thread)) = rest.rsplit_once(" thread: ") {
        let (name, tgid) = name.rsplit_once(" TGID: ")?;
        return Some(Process { name: short(name), pid: tgid.trim().parse().ok()?, thread: short(thread) });
    }
    Some(Process { name: short(rest), pid: pid.trim().parse().ok()?, thread: String::new() })
}
