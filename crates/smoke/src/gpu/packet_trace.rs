//! Recording packets twice: for the GPU, and for the report of a check that fails.

use std::fmt::Write as _;

use amdgpu_winsys::{
    cs::{
        CommandList, Language, Packet, RecordResult as Result, Stream, Target,
        dump::{self, Dumper, Meaning},
        sdma,
    },
    vamgr::GpuVa,
    winsys::{Device, MappedRange, VaLookup, VaMap},
};

/// Dwords of a list that are kept.
const KEPT: usize = 4096;

/// Packets of a list that a report shows.
const SHOWN: usize = 48;

/// Dwords of a packet's data in a line, and lines of them.
const ROW: usize = 8;
const ROWS: usize = 4;

/// Indentation of a packet's operands.
const OPERAND: &str = "         ";

/// A stream whose first packets are kept for the report.
pub(crate) struct TracedStream<L: Language> {
    stream: Stream<L>,
    trace: Vec<u32>,
}

/// The first dwords of a command list.
#[derive(Clone, Debug)]
pub(crate) struct PacketTrace {
    target: Target,
    dwords: Vec<u32>,
    /// Bindings of the moment when the list was recorded: a check frees its memory before its failure is reported.
    bound: Bound,
}

impl<L: Language> TracedStream<L> {
    pub(crate) fn new(device: &Device, language: L, capacity: usize) -> Result<Self> {
        Ok(Self { stream: Stream::new(device, language, capacity)?, trace: Vec::new() })
    }

    pub(crate) fn language(&self) -> L {
        self.stream.language()
    }

    /// Records a packet.
    pub(crate) fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> Result<()> {
        self.stream.push(packet)?;
        let (used, len) = (self.trace.len(), packet.len_dwords(self.language())?);
        if used + len <= KEPT {
            self.trace.resize(used + len, 0);
            packet.encode(self.stream.language(), self.trace.get_mut(used..).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Records dwords that are no packet of the library's.
    pub(crate) fn push_raw(&mut self, dwords: &[u32]) -> Result<()> {
        self.stream.reserve(dwords.len())?.copy_from_slice(dwords);
        self.trace.extend_from_slice(dwords);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(CommandList, PacketTrace)> {
        let target = self.stream.language().into();
        Ok((self.stream.finish()?, PacketTrace { target, dwords: self.trace, bound: Bound::default() }))
    }
}

impl PacketTrace {
    /// The same with what is bound now.
    pub(crate) fn with(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// Returns the packets with their operands below them, one a line: where a packet begins in dwords, and its fields, with
    /// addresses by the names of what was bound there when the list was recorded. Zeros are left out.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("for {}, {} dwords", self.target, self.dwords.len())];
        let names = |address| Some(self.bound.lookup(address).to_string());
        let dump = Dumper::new(self.target).with_names(&names).dump(&self.dwords, None);
        let packets: Vec<_> = dump.ibs.iter().flat_map(|ib| &ib.packets).collect();
        for packet in packets.iter().take(SHOWN) {
            self.add_packet(&mut lines, packet);
        }
        if packets.len() > SHOWN {
            lines.push(format!("... {} packets more", packets.len() - SHOWN));
        }
        lines
    }

    fn add_packet(&self, lines: &mut Vec<String>, packet: &dump::Packet) {
        let mut text = format!("{:>5}  {}", packet.offset, packet.name);
        if let Some(problem) = &packet.problem {
            // Writing into a string does not fail.
            let _ = write!(text, "  !! {}", problem.fault);
        }
        lines.push(text);
        for field in &packet.fields {
            let (name, value) = (field.name, field.value);
            let text = match &field.meaning {
                Meaning::Choice(choice) => (*choice).to_owned(),
                Meaning::Address(Some(object)) => format!("{value:#x} ({object})"),
                _ if value == 0 => continue,
                _ => format!("{value:#x}"),
            };
            let bytes = self.bytes_of(packet).filter(|_| name == "count");
            let bytes = bytes.map(|bytes| format!(" ({bytes} bytes)")).unwrap_or_default();
            lines.push(format!("{OPERAND}{name} {text}{bytes}"));
        }
        for row in packet.data.chunks(ROW).take(ROWS) {
            let dwords: Vec<_> = row.iter().map(|dword| format!("{dword:08x}")).collect();
            lines.push(format!("{OPERAND}{}", dwords.join(" ")));
        }
        if packet.data.len() > ROW * ROWS {
            lines.push(format!("{OPERAND}... {} dwords more", packet.data.len() - ROW * ROWS));
        }
    }

    /// Returns the bytes that a packet of a copy engine moves or fills, whose count field means different things in
    /// different versions.
    fn bytes_of(&self, packet: &dump::Packet) -> Option<u32> {
        let Target::Sdma(version) = self.target else { return None };
        let dwords = self.dwords.get(packet.offset..)?;
        match sdma::decode(dwords, version).next()?.ok()?.command {
            sdma::Command::CopyLinear(copy) => Some(copy.bytes),
            sdma::Command::ConstFill(fill) => Some(fill.bytes),
            _ => None,
        }
    }
}

/// GPU addresses and what they led to at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound(Vec<MappedRange>);

impl Bound {
    /// Returns the bindings that there are now.
    pub(crate) fn now(map: &VaMap) -> Self {
        Self(map.live())
    }

    fn lookup(&self, address: u64) -> VaLookup {
        let at = GpuVa::from_48_bits(address).low_48_bits();
        let start = |place: &MappedRange| place.range.start().low_48_bits();
        let mut below: Option<(&MappedRange, u64)> = None;
        let mut above: Option<(&MappedRange, u64)> = None;
        for place in &self.0 {
            match at.checked_sub(start(place)) {
                Some(into) if into < place.range.len() => {
                    return VaLookup::Live(MappedRange { offset: place.offset + into, ..place.clone() });
                }
                Some(into) => below = Some((place, into - place.range.len())),
                None => above = above.or(Some((place, start(place) - at))),
            }
        }
        let owned = |(place, gap): (&MappedRange, u64)| (place.clone(), gap);
        VaLookup::Nowhere { below: below.map(owned), above: above.map(owned) }
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_winsys::winsys::{GfxLevel, Ip};

    use super::*;

    fn lines(dwords: Vec<u32>) -> Vec<String> {
        let target = Target::new(GfxLevel::Gfx10_3, Ip::Gfx).unwrap();
        PacketTrace { target, dwords, bound: Bound::default() }.lines()
    }

    #[test]
    fn what_is_no_packet_is_said_to_be_none() {
        let lines = lines(vec![0; 3]);
        assert!(lines[0].ends_with("3 dwords"), "{lines:?}");
        assert!(lines[1].contains("!! "), "{lines:?}");
    }

    #[test]
    fn each_operand_of_a_packet_has_a_line_of_its_own() {
        let lines = lines(vec![0xc003_3700, 5 << 8 | 1 << 20, 0x1000, 0, 42]);
        assert_eq!(lines[1], "    0  WRITE_DATA");
        let operands: Vec<_> = lines[2..].iter().map(|line| line.trim_start()).collect();
        let expected = ["dst_sel memory", "wr_confirm 0x1", "dst_addr 0x1000 (nothing is bound anywhere)", "0000002a"];
        for operand in expected {
            assert!(operands.contains(&operand), "{operand} in {lines:?}");
        }
    }

    #[test]
    fn much_data_is_shown_as_its_number_of_dwords() {
        let mut nop = vec![0xc000_1000 | 99 << 16];
        nop.resize(101, 1);
        let lines = lines(nop);
        assert_eq!(lines.len(), 2 + ROWS + 1, "{lines:?}");
        assert_eq!(lines.last().unwrap().trim_start(), "... 68 dwords more");
    }
}
