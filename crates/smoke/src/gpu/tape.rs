//! Recording packets twice: for the GPU, and for the report of a check that fails.

use std::fmt::Write as _;

use amdgpu_winsys::{
    cs::{
        CommandList, Language, Packet, Result, Stream, Target,
        dump::{self, Dumper, Meaning},
    },
    winsys::Device,
};

/// Dwords of a list that are kept.
const KEPT: usize = 4096;

/// Packets of a list that a report shows.
const SHOWN: usize = 48;

/// Characters of a packet that a report shows.
const WIDTH: usize = 240;

/// A stream whose first packets are kept for the report.
pub(crate) struct Taped<L: Language> {
    stream: Stream<L>,
    tape: Vec<u32>,
}

/// The first dwords of a command list.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    target: Target,
    dwords: Vec<u32>,
}

impl<L: Language> Taped<L> {
    pub(crate) fn new(device: &Device, language: L, capacity: usize) -> Result<Self> {
        Ok(Self { stream: Stream::new(device, language, capacity)?, tape: Vec::new() })
    }

    pub(crate) fn language(&self) -> L {
        self.stream.language()
    }

    /// Records a packet.
    pub(crate) fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> Result<()> {
        self.stream.push(packet)?;
        let (used, len) = (self.tape.len(), packet.len_dwords(self.language())?);
        if used + len <= KEPT {
            self.tape.resize(used + len, 0);
            packet.encode(self.stream.language(), self.tape.get_mut(used..).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Records dwords that are no packet of the library's.
    pub(crate) fn push_raw(&mut self, dwords: &[u32]) -> Result<()> {
        self.stream.reserve(dwords.len())?.copy_from_slice(dwords);
        self.tape.extend_from_slice(dwords);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(CommandList, Tape)> {
        let target = self.stream.language().into();
        Ok((self.stream.finish()?, Tape { target, dwords: self.tape }))
    }
}

impl Tape {
    /// The packets, one a line: where it begins in dwords, and what it says, with addresses by name. Zeros are left out.
    pub(crate) fn lines(&self, names: &dyn Fn(u64) -> Option<String>) -> Vec<String> {
        let mut lines = vec![format!("for {}, {} dwords", self.target, self.dwords.len())];
        let dump = Dumper::new(self.target).with_names(names).dump(&self.dwords, None);
        lines.extend(dump.ibs.iter().flat_map(|ib| &ib.packets).take(SHOWN).map(line));
        lines
    }
}

fn line(packet: &dump::Packet) -> String {
    let mut text = format!("{:>5}  {}", packet.offset, packet.name);
    if let Some(problem) = &packet.problem {
        let _ = write!(text, "  !! {}", problem.fault);
    }
    for field in &packet.fields {
        let name = field.name;
        let _ = match &field.meaning {
            Meaning::Choice(choice) => write!(text, "  {name} {choice}"),
            Meaning::Address(Some(object)) => write!(text, "  {name} {:#x} ({object})", field.value),
            _ if field.value == 0 => Ok(()),
            _ => write!(text, "  {name} {:#x}", field.value),
        };
    }
    for dword in &packet.data {
        let _ = write!(text, " {dword:08x}");
    }
    if let Some((end, _)) = text.char_indices().nth(WIDTH) {
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use amdgpu_winsys::winsys::{GfxLevel, Ip};

    use super::*;

    fn lines(dwords: Vec<u32>) -> Vec<String> {
        let target = Target::new(GfxLevel::Gfx10_3, Ip::Gfx).unwrap();
        Tape { target, dwords }.lines(&|address| (address == 0x1000).then(|| "the result".to_owned()))
    }

    #[test]
    fn what_is_no_packet_is_said_to_be_none() {
        let lines = lines(vec![0; 3]);
        assert!(lines[0].ends_with("3 dwords"), "{lines:?}");
        assert!(lines[1].contains("!! "), "{lines:?}");
    }

    #[test]
    fn a_packet_is_a_line_with_its_fields_and_objects() {
        let lines = lines(vec![0xc003_3700, 5 << 8 | 1 << 20, 0x1000, 0, 42]);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].starts_with("    0  WRITE_DATA  dst_sel memory  wr_confirm 0x1"), "{lines:?}");
        assert!(lines[1].contains("dst_addr 0x1000 (the result)") && lines[1].ends_with("0000002a"), "{lines:?}");
    }

    #[test]
    fn long_packets_are_cut() {
        let mut nop = vec![0xc000_1000 | 99 << 16];
        nop.resize(101, 1);
        assert!(lines(nop)[1].len() < WIDTH + 10);
    }
}
