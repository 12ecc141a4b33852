//! RADV's traces of a hang: the folder `radv_dumps_PID_TIME`, and lines on standard error.
//!
//! Source: Mesa 25.0 `src/amd/vulkan/radv_debug.c`, `src/amd/common/ac_parse_ib.c`, `radv_amdgpu_bo.c`, `radv_amdgpu_cs.c`.

use super::{
    gather::extend,
    incident::{Buffer, Incident, PageFault, Place, StatusLayout},
    message::hexadecimal,
};

/// The mask of the bits of an address that all files have.
const LOW: u64 = (1 << 48) - 1;

/// The facts that RADV tells.
#[derive(Debug, Default)]
pub(crate) struct Radv {
    application: Option<String>,
    engine: Option<String>,
    /// The version of the kernel.
    pub(crate) kernel: Option<String>,
    /// The process ID in the name of the folder.
    pub(crate) pid: Option<u32>,
    address: Option<u64>,
    status: Option<u32>,
    guilt: Option<&'static str>,
    /// `true` if RADV met a hang.
    pub(crate) is_hang: bool,
    trace: Trace,
    waves: Waves,
    /// The ranges of memory: start, end, description, and whether it was freed; later lines are later events.
    ranges: Vec<(u64, u64, String, bool)>,
    is_use_after_free: bool,
    is_not_found: bool,
    place: Option<Place>,
}

/// The most ranges that are kept.
const MOST_RANGES: usize = 1 << 18;

#[derive(Debug, Default)]
struct Trace {
    is_there: bool,
    is_past_last: bool,
    points: u64,
    packet: Option<String>,
}

#[derive(Debug, Default)]
struct Waves {
    stage: String,
    instruction: String,
    source: Option<String>,
    /// The instructions at which waves are, with the numbers of waves.
    at: Vec<(String, u32)>,
}

impl Radv {
    /// Returns `true` if it has anything to tell.
    pub(crate) fn has_news(&self) -> bool {
        self.is_hang
            || self.address.is_some()
            || self.guilt.is_some()
            || self.trace.is_there
            || !self.waves.at.is_empty()
    }

    /// Returns the name of the application; empty if none is known.
    pub(crate) fn application(&self) -> String {
        self.application.clone().unwrap_or_default()
    }

    /// Reads a line of any of its files, without colours. Returns `true` if it is one of RADV's.
    pub(crate) fn line(&mut self, line: &str, place: Place) -> bool {
        let known = self.message(line) || self.trace_line(line) || self.wave_line(line) || self.range_line(line);
        if known {
            self.place.get_or_insert(place);
        }
        known
    }

    /// Reads messages, the report of a fault, and what the application is.
    fn message(&mut self, line: &str) -> bool {
        let line = line.trim();
        let after = |prefix: &str| line.split_once(prefix).map(|(_, rest)| rest);
        if let Some(rest) = after("radv: GPUVM fault detected at address ") {
            self.address = hexadecimal(rest.trim_end_matches('.')).map(|address| address & LOW);
        } else if line.contains("radv: GPU hang detected") || line.contains("radv: GPU hang report saved") {
            self.is_hang = true;
        } else if let Some(rest) = after("cancelled because the context is lost.") {
            self.guilt = Some(match () {
                () if rest.contains("innocent") => "RADV: this context is innocent, another one was guilty",
                () if rest.contains("soft recovery") => "RADV: this context is guilty of a soft recovery",
                () if rest.contains("guilty") => "RADV: this context is guilty of a hard recovery",
                () => "RADV: the context is lost",
            });
        } else if let Some(rest) = line.strip_prefix("Failing VM page: ") {
            self.address = hexadecimal(rest).map(|address| address & LOW);
        } else if let Some(rest) = line
            .strip_prefix("VM_L2_PROTECTION_FAULT_STATUS: ")
            .or_else(|| line.strip_prefix("GCVM_L2_PROTECTION_FAULT_STATUS: "))
        {
            self.status = hexadecimal(rest).and_then(|status| u32::try_from(status).ok());
        } else if line.starts_with("Potential use-after-free detected") {
            self.is_use_after_free = true;
        } else if line == "VA not found!" {
            self.is_not_found = true;
        } else if let Some(rest) = line.strip_prefix("Application name: ").filter(|rest| *rest != "(null)") {
            self.application = Some(rest.to_owned());
        } else if let Some(rest) = line.strip_prefix("Engine name: ").filter(|rest| *rest != "(null)") {
            self.engine = Some(rest.to_owned());
        } else if let Some(rest) = line.strip_prefix("Device name: ") {
            self.kernel = rest.rsplit_once(" / ").map(|(_, kernel)| kernel.trim_end_matches(')').to_owned());
        } else {
            return false;
        }
        true
    }

    /// Reads a line of a dumped IB: packets and trace points.
    fn trace_line(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        if line.starts_with("Trace ID: ") {
            self.trace.is_there = true;
            // Point 0 is none: the first draw or dispatch is the one that hung.
            self.trace.is_past_last = line == "Trace ID: 0";
        } else if line.contains("This is the last trace point that was reached") {
            (self.trace.is_there, self.trace.is_past_last, self.trace.packet) = (true, true, None);
        } else if line.starts_with("Trace point ID: ") {
            self.trace.points += 1;
        } else if self.trace.is_past_last && self.trace.packet.is_none() && line.len() > 9 {
            let (dword, rest) = line.split_at_checked(8).unwrap_or_default();
            let name = rest.trim_start().split([' ', '(', ':']).next().unwrap_or_default();
            let is_packet = hexadecimal(dword).is_some_and(|dword| dword >> 30 == 3)
                && (name.starts_with("DRAW") || name.starts_with("DISPATCH"));
            if !is_packet {
                return false;
            }
            self.trace.packet = Some(name.to_owned());
        } else {
            return false;
        }
        true
    }

    /// Reads a line of the disassembly in which waves are marked.
    fn wave_line(&mut self, line: &str) -> bool {
        if let Some(stage) = line.strip_suffix(" - annotated disassembly:") {
            stage.trim().clone_into(&mut self.waves.stage);
        } else if let Some(source) = line.strip_prefix("// 0x") {
            self.waves.source = source.split_once(' ').map(|(_, place)| place.to_owned());
        } else if line.contains(" [PC=0x") && line.contains(", off=") {
            line.trim().clone_into(&mut self.waves.instruction);
        } else if line.trim_start().starts_with("^ SE") && line.contains("WAVE") {
            let source = self.waves.source.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
            let (code, at) = self.waves.instruction.split_once(" [PC=").unwrap_or((&self.waves.instruction, ""));
            let code = code.split(';').next().unwrap_or(code).trim();
            let offset = at.split_once("off=").and_then(|(_, rest)| rest.split(',').next()).unwrap_or("?");
            let text = format!("{}: {code} at offset {offset}{source}", self.waves.stage);
            let has_room = self.waves.at.len() < 64;
            match self.waves.at.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None if has_room => self.waves.at.push((text, 1)),
                None => {}
            }
        } else {
            return false;
        }
        true
    }

    /// Reads a line about memory: `VA=START-END` with its kind and history.
    fn range_line(&mut self, line: &str) -> bool {
        let Some((_, rest)) = line.split_once("VA=") else { return false };
        let (range, rest) = rest.split_once(',').unwrap_or((rest, ""));
        let Some((start, end)) = range.trim().split_once('-') else { return false };
        let (Some(start), Some(end)) = (hexadecimal(start), hexadecimal(end)) else { return false };
        if self.ranges.len() < MOST_RANGES {
            let is_freed = rest.contains("destroyed=1") || rest.contains("binding_type=unbind");
            let kind = rest.split(',').find_map(|part| part.trim().strip_prefix("object_type=VK_OBJECT_TYPE_"));
            let kind = kind.map_or("memory".to_owned(), |kind| kind.to_lowercase().replace('_', " "));
            self.ranges.push((start & LOW, end & LOW, kind, is_freed));
        }
        true
    }

    /// Returns the memory at an address.
    fn buffer(&self, address: u64) -> Option<Buffer> {
        let hits: Vec<_> = self.ranges.iter().filter(|range| (range.0..range.1).contains(&(address & LOW))).collect();
        let best = hits.iter().rev().find(|range| range.2 != "memory" && range.2 != "device memory").or(hits.last());
        let Some(best) = best else {
            let is_known = self.is_not_found || !self.ranges.is_empty();
            return is_known.then(|| {
                let below = self.ranges.iter().filter(|range| range.1 <= address & LOW).max_by_key(|range| range.1);
                let near = below.filter(|range| (address & LOW) - range.1 < 2 << 20).map(|range| {
                    format!("; a range of {} bytes ends {} bytes before", range.1 - range.0, (address & LOW) - range.1)
                });
                let text = format!("no memory was ever there{}", near.unwrap_or_default());
                Buffer { text, is_freed: false }
            });
        };
        let is_freed = self.is_use_after_free || hits.last().is_some_and(|range| range.3);
        let freed = if is_freed { ", freed before the access" } else { ", alive when the report was written" };
        Some(Buffer {
            text: format!("{} at {:#x}, {} bytes{freed}", best.2, extend(best.0), best.1 - best.0),
            is_freed,
        })
    }

    /// Adds what RADV tells to an incident.
    pub(crate) fn add_to(&self, incident: &mut Incident) {
        let work = &mut incident.work;
        let engine = self.engine.as_ref().map(|engine| format!(" ({engine})")).unwrap_or_default();
        work.application = self.application.as_ref().map(|name| format!("{name}{engine}")).or(work.application.take());
        work.guilt = self.guilt.or(work.guilt);
        if let Some(packet) = &self.trace.packet {
            work.packet = Some(format!(
                "{packet}, the first draw or dispatch after the last trace point that was reached (trace.log)"
            ));
        }
        if let Some((text, count)) = self.waves.at.iter().max_by_key(|wave| wave.1) {
            let others = self.waves.at.len() - 1;
            let others = if others > 0 { format!(", and at {others} other instructions") } else { String::new() };
            let waves = if *count == 1 { "wave" } else { "waves" };
            work.shader = Some(format!("{text} ({count} {waves}{others})"));
        }
        if let Some(address) = self.address {
            let known = incident
                .faults
                .iter()
                .any(|fault| fault.address.is_some_and(|known| known & LOW & !0xfff == address & !0xfff));
            if !known && incident.lead_fault().is_none() {
                incident.faults.insert(
                    0,
                    PageFault {
                        hub: "gfxhub".to_owned(),
                        vmid: None,
                        pasid: None,
                        process: None,
                        address: Some(extend(address)),
                        status: self.status.map(|status| (status, StatusLayout::Gfx10)),
                        client: None,
                        is_retry: false,
                        is_after_reset: false,
                        count: 1,
                        stamp: None,
                        place: self.place.unwrap_or(Place { input: 0, line: 0 }),
                    },
                );
            }
        }
        let address = incident.lead_fault().and_then(|fault| fault.address);
        let buffer = address.and_then(|address| self.buffer(address));
        incident.work.buffer = buffer.or(incident.work.buffer.take());
    }

    /// Returns the place of its first line.
    pub(crate) fn place(&self) -> Option<Place> {
        self.place
    }
}

/// Returns the process ID in the name of a folder, `radv_dumps_PID_TIME`.
pub(crate) fn pid_of(folder: &str) -> Option<u32> {
    folder.strip_prefix("radv_dumps_")?.split('_').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Radv {
        let mut radv = Radv::default();
        text.lines().enumerate().for_each(|(line, text)| {
            radv.line(text, Place { input: 0, line: line as u64 + 1 });
        });
        radv
    }

    #[test]
    fn the_draw_after_the_last_trace_point_is_the_one_that_hung() {
        let radv = read(
            "Trace ID: 2\nc0012d00 DRAW_INDEX_AUTO:\nTrace point ID: 1\nThis trace point was reached by the CP.\n\
             Trace point ID: 2\n!!!!! This is the last trace point that was reached by the CP !!!!!\n\
             c0031502 DISPATCH_DIRECT(C):\nTrace point ID: 3\n!!!!! This trace point was NOT reached by the CP !!!!!\nc0012d00 DRAW_INDEX_AUTO:\n",
        );
        assert_eq!(radv.trace.packet.as_deref(), Some("DISPATCH_DIRECT"));
    }

    #[test]
    fn the_instruction_of_most_waves_is_named_with_its_source() {
        let radv = read(
            "Compute Shader - annotated disassembly:\n\ts_nop 0 ; bf800000 [PC=0x1000, off=0, size=4]\n// 0x4 loop.comp:12:3\n\
             \ts_branch BB1 ; bf82ffff [PC=0x1004, off=4, size=4]\n          ^ SE0 SH0 CU0 SIMD0 WAVE0  EXEC=1  INST32=BF82FFFF\n\
             ^ SE0 SH0 CU0 SIMD0 WAVE1  EXEC=1  INST32=BF82FFFF\n",
        );
        let mut incident = Incident::default();
        radv.add_to(&mut incident);
        assert_eq!(
            incident.work.shader.as_deref(),
            Some("Compute Shader: s_branch BB1 at offset 4, loop.comp:12:3 (2 waves)")
        );
    }

    #[test]
    fn the_memory_at_a_fault_is_named_and_its_end_told() {
        let radv = read(
            "timestamp=1, VA=0000800100000000-0000800100010000, destroyed=0, is_virtual=0\n\
             timestamp=2, VA=0000800100000000-0000800100004000, binding_type=bind, object_type=VK_OBJECT_TYPE_BUFFER, object_handle=0x1\n\
             timestamp=9, VA=0000800100000000-0000800100010000, destroyed=1, is_virtual=0\n\
             Failing VM page: 0x800100001000\n",
        );
        let mut incident = Incident::default();
        radv.add_to(&mut incident);
        let buffer = incident.work.buffer.unwrap();
        assert_eq!(buffer.text, "buffer at 0xffff800100000000, 16384 bytes, freed before the access");
        assert!(buffer.is_freed);
        let mut wild = read("VA=0000800100000000-0000800100010000, handle=3\nFailing VM page: 0x800100012000\n");
        wild.place = None;
        let mut incident = Incident::default();
        wild.add_to(&mut incident);
        assert_eq!(
            incident.work.buffer.unwrap().text,
            "no memory was ever there; a range of 65536 bytes ends 8192 bytes before"
        );
    }
}
