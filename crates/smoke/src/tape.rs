//! Recording packets twice: for the GPU, and for the report of a check that fails.

use std::{fmt::Debug, sync::Arc};

use amdgpu_winsys::{
    cs::{CommandList, Language, Packet, Result, Stream, Target, pm4, sdma},
    winsys::Device,
};

/// Dwords of a list that are kept.
const KEPT: usize = 4096;

/// Packets of a list that a report shows.
const SHOWN: usize = 48;

/// Characters of a packet that a report shows.
const WIDTH: usize = 180;

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
    pub(crate) fn new(device: &Arc<Device>, language: L, capacity: usize) -> Result<Self> {
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
    /// The dwords, as far as they were kept.
    pub(crate) fn into_dwords(self) -> Vec<u32> {
        self.dwords
    }

    /// The packets, one a line: where it begins in dwords, and what it says.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("for {}, {} dwords", self.target, self.dwords.len())];
        match self.target {
            Target::Pm4(target) => {
                let packets = pm4::decode(&self.dwords, target);
                lines.extend(packets.take(SHOWN).map(|packet| match packet {
                    Ok(packet) => line(packet.offset, &packet.command),
                    Err(error) => line(error.offset, &error.fault),
                }));
            }
            Target::Sdma(version) => {
                let packets = sdma::decode(&self.dwords, version);
                lines.extend(packets.take(SHOWN).map(|packet| match packet {
                    Ok(packet) => line(packet.offset, &packet.command),
                    Err(error) => line(error.offset, &error.fault),
                }));
            }
        }
        lines
    }
}

fn line(offset: usize, what: &impl Debug) -> String {
    let mut text = format!("{offset:>5}  {what:?}");
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

    #[test]
    fn what_is_no_packet_is_said_to_be_none() {
        let target = Target::new(GfxLevel::Gfx10_3, Ip::Gfx).unwrap();
        let lines = Tape { target, dwords: vec![0; 3] }.lines();
        assert!(lines[0].ends_with("3 dwords"), "{lines:?}");
        assert!(lines[1].contains("HeaderType"), "{lines:?}");
    }

    #[test]
    fn long_packets_are_cut() {
        assert!(line(0, &"x".repeat(500)).len() < WIDTH + 10);
    }
}
