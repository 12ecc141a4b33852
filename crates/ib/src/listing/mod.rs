//! The text of dumps as blocks, one for each packet, which are searched, folded, coloured and compared.

mod alignment;
mod mask;
mod paint;
mod writer;

use std::fmt::{self, Display, Formatter};

use amdgpu_winsys::cs::dump::{Dump, Ib, Packet};

pub(crate) use alignment::{Alignment, align};
pub(crate) use paint::{Paint, When};
pub(crate) use writer::{Search, Writer};

use crate::shaders::Explained;

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// The lines of text.
    pub(crate) lines: Vec<String>,
    /// The lines by which the block is compared: without its location, and optionally without addresses. Each corresponds to the
    /// line of text with the same index.
    pub(crate) compared: Vec<String>,
}

/// The kind of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A heading for the following blocks of greater depth.
    Title {
        /// 0 for submissions and parts of a file, 1 for rings, 2 for IBs.
        depth: u8,
    },
    /// A packet.
    Packet {
        name: &'static str,
        /// The offset in the IB in dwords.
        offset: usize,
        dwords: Vec<u32>,
    },
}

/// The options for creating blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    /// `true` to include all dwords of each packet.
    pub(crate) with_dwords: bool,
    /// `true` to compare blocks without addresses.
    pub(crate) without_addresses: bool,
}

impl Block {
    /// Creates a heading, which is compared by `compared`.
    pub(crate) fn title(depth: u8, text: &str, compared: &str) -> Self {
        Self { kind: Kind::Title { depth }, lines: vec![text.to_owned()], compared: vec![compared.to_owned()] }
    }

    /// Creates a heading of several lines, which are compared as they are.
    pub(crate) fn titles(depth: u8, lines: Vec<String>) -> Self {
        Self { kind: Kind::Title { depth }, compared: lines.clone(), lines }
    }

    fn ib(dump: &Dump, index: usize, ib: &Ib, detail: Detail) -> Self {
        let place = ib.va.filter(|_| !detail.without_addresses);
        let compared = place.map_or_else(|| format!("IB {index}"), |va| format!("IB {index} at {va}"));
        Self::title(2, Title { dump, index, ib }.to_string().trim_end(), &compared)
    }

    fn packet(packet: &Packet, remark: Option<&str>, detail: Detail) -> Self {
        let text = |packet: &Packet| {
            let text = if detail.with_dwords { packet.with_dwords().to_string() } else { packet.to_string() };
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let mut lines = text(packet);
        let mut compared = text(&mask::without_place(packet, detail.without_addresses));
        for line in remark.unwrap_or_default().lines() {
            lines.push(format!("            {line}"));
            compared.push(line.to_owned());
        }
        let kind = Kind::Packet { name: packet.name, offset: packet.offset, dwords: packet.dwords.clone() };
        Self { kind, lines, compared }
    }
}

struct Title<'d> {
    dump: &'d Dump,
    index: usize,
    ib: &'d Ib,
}

impl Display for Title<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.ib.write_title(f, self.index, self.dump)
    }
}

/// Returns the blocks of a dump, with remarks below packets.
pub(crate) fn blocks<'d>(
    dump: &'d Dump,
    explained: Option<&'d Explained<'d>>,
    detail: Detail,
) -> impl Iterator<Item = Block> + 'd {
    dump.ibs.iter().enumerate().flat_map(move |(index, ib)| {
        let packet = move |packet: &Packet| {
            let remark = explained.and_then(|explained| explained.remark(index, packet));
            Block::packet(packet, remark.as_deref(), detail)
        };
        std::iter::once(Block::ib(dump, index, ib, detail)).chain(ib.packets.iter().map(packet))
    })
}
