//! The contents of a dump.

use crate::DecodeError;
use crate::layout::Reader;
use crate::pm4::HeaderFlags;
use amdgpu_hw::GpuVa;

/// A dump of one or more IBs. `Display` formats it as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The engine and generation that the packets were decoded for.
    pub reader: Reader,
    /// The IBs: first the requested one, then those that it calls or chains to, in the order in which they were found.
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

/// An IB in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ib {
    /// The GPU address of the IB, if known.
    pub va: Option<GpuVa>,
    /// The index of the first dword in the dump.
    pub first: usize,
    /// The number of dwords in the dump.
    pub dwords: usize,
    /// The packet that calls or chains to the IB; `None` for the first IB.
    pub from: Option<Origin>,
    /// The packets of the IB.
    pub packets: Vec<Packet>,
}

/// The location of the packet that calls or chains to an IB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The index of the IB that contains the packet.
    pub ib: usize,
    /// The offset of the packet in that IB, in dwords.
    pub offset: usize,
    /// `true` for a chain, after which the engine does not return.
    pub is_chain: bool,
}

/// A packet in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The offset of the packet in the IB, in dwords.
    pub offset: usize,
    /// All dwords of the packet, including the header.
    pub dwords: Vec<u32>,
    /// The packet's name in AMD's headers.
    pub name: &'static str,
    /// A short description of the packet.
    pub about: &'static str,
    /// The flags of the header.
    pub flags: HeaderFlags,
    /// The fields of the packet.
    pub fields: Vec<Field>,
    /// The registers that the packet writes.
    pub registers: Vec<Register>,
    /// The dwords after the fields that are not register values.
    pub data: Vec<u32>,
    /// The meaning of a NOP's payload for readers of the dump.
    pub note: Option<Note>,
    /// The IBs that the packet calls or chains to.
    pub next: Vec<Next>,
    /// The reason why the packet could not be decoded; `None` if it was.
    pub problem: Option<DecodeError>,
}

/// The meaning of a NOP's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Text that was recorded by [`annotation`](crate::annotation).
    Annotation(String),
    /// A trace point of Mesa's drivers, with its number, which they also store in memory before it.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_debug.h`, `AC_ENCODE_TRACE_POINT`.
    TracePoint(u16),
}

/// An IB that a packet calls or chains to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The GPU address of the IB.
    pub va: GpuVa,
    /// The length of the IB in dwords.
    pub dwords: usize,
    /// `true` for a chain, after which the engine does not return.
    pub is_chain: bool,
    /// The place of the IB in the dump, or the reason for its absence.
    pub shown: Shown,
}

/// The place in the dump of an IB that a packet calls or chains to, or the reason for its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The index of the IB in the dump.
    As(usize),
    /// The memory of the IB could not be read.
    Unreadable,
    /// A [limit](crate::dump::Limits) was reached.
    Limit,
}

/// A field of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name of the field. If a number is split into two fields, this is the name of the number.
    pub name: &'static str,
    /// The value of the field.
    pub value: u64,
    /// The meaning of the value.
    pub meaning: Meaning,
}

/// The meaning of a field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A plain number.
    Number,
    /// A value of a selector, with its name.
    Choice(&'static str),
    /// A GPU address, with the name of the object at it, if known.
    Address(Option<String>),
    /// The index of a register, or the value of one.
    Register(Register),
}

/// A register, with its value if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The offset of the register in bytes.
    pub offset: u32,
    /// The name of the register, if known.
    pub name: Option<&'static str>,
    /// The value that is written, if known.
    pub value: Option<u32>,
    /// The fields of the value: name, number and the number's name.
    pub fields: Vec<(&'static str, u32, Option<&'static str>)>,
    /// The bits of the value that are set and belong to no field.
    pub unnamed: u32,
    /// The address of the shader, if this register and the next contain one, with the name of the object at it, if known.
    pub shader: Option<(u64, Option<String>)>,
}
