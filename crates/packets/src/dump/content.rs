//! Contents of a dump.

use crate::DecodeError;
use crate::layout::Reader;
use crate::pm4::HeaderFlags;
use amdgpu_hw::GpuVa;

/// IBs made readable; `Display` writes them as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The engine and generation that read them.
    pub reader: Reader,
    /// The IBs: first the one asked for, then those it leads to, in the order in which they were met.
    pub ibs: Vec<Ib>,
}

impl Dump {
    /// Returns the packets that could not be decoded, with the index of their IB.
    pub fn problems(&self) -> impl Iterator<Item = (usize, &DecodeError)> {
        self.ibs.iter().enumerate().flat_map(|(index, ib)| {
            ib.packets.iter().filter_map(move |packet| packet.problem.as_ref().map(|problem| (index, problem)))
        })
    }
}

/// An IB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ib {
    /// GPU address.
    pub va: Option<GpuVa>,
    /// The first of its dwords that was shown.
    pub first: usize,
    /// Number of dwords shown.
    pub dwords: usize,
    /// The packet that led to it; `None` for the first one.
    pub from: Option<Origin>,
    /// Its packets.
    pub packets: Vec<Packet>,
}

/// The packet that led to an IB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Index of the IB.
    pub ib: usize,
    /// Its place there in dwords.
    pub offset: usize,
    /// `true` if the engine does not come back.
    pub is_chain: bool,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Start, in dwords from the start of the IB.
    pub offset: usize,
    /// All of it, header included.
    pub dwords: Vec<u32>,
    /// Its name in AMD's headers.
    pub name: &'static str,
    /// Description, in a few words.
    pub about: &'static str,
    /// Flags of its header.
    pub flags: HeaderFlags,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Registers that it writes.
    pub registers: Vec<Register>,
    /// Dwords behind the fields that are no register values.
    pub data: Vec<u32>,
    /// Note of a NOP for the reader of the dump.
    pub note: Option<Note>,
    /// The IBs that it leads to.
    pub next: Vec<Next>,
    /// The reason why it could not be decoded.
    pub problem: Option<DecodeError>,
}

/// Purpose of a NOP that skips dwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Words that [`annotation`](crate::annotation) left there.
    Annotation(String),
    /// A trace point of Mesa's drivers, which count them: before it, they store the number in memory.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_debug.h`, `AC_ENCODE_TRACE_POINT`.
    TracePoint(u16),
}

/// IB that a packet leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// GPU address of the IB.
    pub va: GpuVa,
    /// Its length in dwords.
    pub dwords: usize,
    /// `true` if the engine does not come back.
    pub is_chain: bool,
    /// The form in which it is shown.
    pub shown: Shown,
}

/// The form in which an IB that a packet leads to is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It is the IB with this index.
    As(usize),
    /// It could not be read.
    Unreadable,
    /// A [limit](crate::dump::Limits) was met.
    Limit,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; for two halves the common part.
    pub name: &'static str,
    /// Value.
    pub value: u64,
    /// Meaning of the value, beyond the number.
    pub meaning: Meaning,
}

/// Meaning of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing else.
    Number,
    /// A value that has a name.
    Choice(&'static str),
    /// A GPU address, and what lies there.
    Address(Option<String>),
    /// A register, by the index of its dword, and its content where the field is that.
    Register(Register),
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Offset of the register, bytes.
    pub offset: u32,
    /// Its name, where it is known.
    pub name: Option<&'static str>,
    /// Value written, if it is known.
    pub value: Option<u32>,
    /// Fields of the value: name, number and the number's name.
    pub fields: Vec<(&'static str, u32, Option<&'static str>)>,
    /// Bits that are set and that no field has.
    pub unnamed: u32,
    /// Address of the shader of which this register and the next one hold the address, and the name of what is there.
    pub shader: Option<(u64, Option<String>)>,
}
