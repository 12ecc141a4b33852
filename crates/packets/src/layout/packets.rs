//! Iteration over the packets of an IB by the tables.

use super::{Fields, Layout, Misfit, Reader};
use crate::pm4::{self, Header};
use crate::sdma::Version;
use crate::{DecodeError, DecodeFault, FieldError};

/// A packet of an IB, read by the tables.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'ib> {
    /// The offset of the packet in the IB, in dwords.
    pub offset: usize,
    /// All dwords of the packet, including the header.
    pub dwords: &'ib [u32],
    /// The flags of the PM4 header; empty for fillers and copy-engine packets.
    pub flags: pm4::HeaderFlags,
    /// The fields of the packet; `None` for a filler without fields; the error if the packet is invalid.
    pub content: Result<Option<Fields<'ib>>, DecodeError>,
}

/// Returns the packets of `ib`. Unknown and invalid packets are skipped if their length is known. If it is not, the packet extends
/// to the end of the IB.
///
/// ```
/// use amdgpu_packets::{layout, pm4};
/// use amdgpu_hw::GfxLevel;
///
/// let ib = [0xc000_4600, 0x407, 0xffff_1000];
/// let mut packets = layout::packets(&ib, pm4::Target::gfx(GfxLevel::Gfx9));
/// let flush = packets.next().unwrap().content?.unwrap();
/// assert_eq!((flush.name(), flush.dwords()), ("EVENT_WRITE", &ib[..2]));
/// assert_eq!(packets.count(), 1);
/// # Ok::<(), amdgpu_packets::DecodeError>(())
/// ```
pub fn packets(ib: &[u32], reader: impl Into<Reader>) -> Packets<'_> {
    Packets::new(ib, 0, reader.into())
}

/// Returns the name of the copy-engine packet with this header. If several packets share an opcode, returns the first one in the
/// tables.
pub fn copy_name(header: u32, version: Version) -> Option<&'static str> {
    let (opcode, _) = copy_opcode(header, version);
    Reader::Copy(version).layouts(opcode).next().map(Layout::name)
}

/// The iterator over the packets of an IB that [`packets`] returns.
#[derive(Clone, Debug)]
pub struct Packets<'ib> {
    ib: &'ib [u32],
    offset: usize,
    reader: Reader,
}

impl<'ib> Packets<'ib> {
    /// Creates an iterator that starts at a dword of the IB.
    pub(crate) const fn new(ib: &'ib [u32], offset: usize, reader: Reader) -> Self {
        Self { ib, offset, reader }
    }

    /// Returns the dwords from the next packet on, and their offset in the IB.
    #[inline]
    pub(crate) fn rest(&self) -> Option<(usize, &'ib [u32])> {
        Some((self.offset, self.ib.get(self.offset..)?))
    }

    /// Skips a packet of `len` dwords that was read by other code.
    #[inline]
    pub(crate) const fn pass(&mut self, len: usize) {
        self.offset += len;
    }
}

impl<'ib> Iterator for Packets<'ib> {
    type Item = Listed<'ib>;

    #[inline]
    fn next(&mut self) -> Option<Listed<'ib>> {
        let rest = self.ib.get(self.offset..)?;
        let &header = rest.first()?;
        let (len, flags, content) = match self.reader {
            Reader::Copy(version) => copy(rest, header, version),
            reader => ring(rest, header, reader),
        };
        let offset = self.offset;
        let target = self.reader.target();
        let content = content.map_err(|fault| DecodeError { offset, header, target, fault });
        self.offset += len;
        Some(Listed { offset, dwords: rest.get(..len).unwrap_or(rest), flags, content })
    }
}

impl std::iter::FusedIterator for Packets<'_> {}

type Found<'ib> = (usize, pm4::HeaderFlags, Result<Option<Fields<'ib>>, DecodeFault>);

#[inline]
fn ring(rest: &[u32], header: u32, reader: Reader) -> Found<'_> {
    let level = match reader {
        Reader::Ring(target) => target.level,
        Reader::Constant(level) | Reader::Interface(level) => level,
        Reader::Copy(_) => amdgpu_hw::GfxLevel::Gfx6,
    };
    let none = pm4::HeaderFlags::empty();
    let (len, flags, opcode) = match Header::read(header, level) {
        Ok(Header::Filler) => return (1, none, Ok(None)),
        Ok(Header::Packet { opcode, dwords, flags }) => (dwords, flags, opcode),
        Err(fault @ DecodeFault::Field { .. }) => {
            let len = Header::dwords(header).filter(|&len| len <= rest.len());
            return (len.unwrap_or(rest.len()), none, Err(fault));
        }
        Err(fault) => return (rest.len(), none, Err(fault)),
    };
    let Some(packet) = rest.get(..len) else {
        return (rest.len(), flags, Err(DecodeFault::PastTheEnd { needed: len, left: rest.len() }));
    };
    (len, flags, Fields::read(packet, opcode, reader).map(Some).map_err(|misfit| fault(misfit, opcode.into())))
}

fn fault(misfit: Misfit, opcode: u16) -> DecodeFault {
    match misfit {
        Misfit::Unknown => DecodeFault::UnknownOpcode { opcode },
        Misfit::Field(packet, source) => DecodeFault::Field { packet, source },
    }
}

/// Returns the opcode, with the sub-opcode in bits 15:8, and the mask of the header bits that contain them. On 3.0 to 6.0 an atomic
/// has zeros instead of a sub-opcode.
pub(crate) const fn copy_opcode(header: u32, version: Version) -> (u16, u32) {
    match version {
        Version::V1_0 => ((header >> 28) as u16, 0xf000_0000),
        _ => (header as u16, 0xffff),
    }
}

fn copy(rest: &[u32], header: u32, version: Version) -> Found<'_> {
    let (opcode, known) = copy_opcode(header, version);
    let (len, content) = match Fields::read_copy(rest, opcode, Reader::Copy(version), known) {
        Ok(fields) => (fields.len(), Ok(Some(fields))),
        Err(Misfit::Field(_, FieldError::Missing { dword })) => {
            (rest.len(), Err(DecodeFault::PastTheEnd { needed: dword.saturating_add(1), left: rest.len() }))
        }
        Err(misfit) => (rest.len(), Err(fault(misfit, opcode))),
    };
    (len, pm4::HeaderFlags::empty(), content)
}
