//! Packets and their forms.

use super::parts::{Field, FieldName, Levels, Part};
use super::reader::Reader;
use crate::pm4::{Ring, Target};

/// The number of dwords after the described ones: a field, times a factor, plus a constant.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) field: FieldName,
    pub(super) times: usize,
    pub(super) plus: usize,
}

/// A form of a packet: the fields and length on some generations.
#[derive(Debug)]
pub struct Form {
    /// The number of the form among all forms of all packets.
    pub(super) number: u16,
    pub(super) levels: Levels,
    /// The minimum and maximum number of dwords after the header.
    pub(super) payload: (u16, u16),
    pub(super) tail: Option<Tail>,
    pub(super) fields: &'static [Field],
    /// The bits of each dword that belong to fields, for groups of levels with the same bits.
    pub(super) masks: &'static [(u16, &'static [u32])],
    /// The indices of the selectors among the fields.
    pub(super) selectors: &'static [u8],
}

/// The layout of a packet: opcode, forms and fields.
#[derive(Debug)]
pub struct Layout {
    pub(super) opcode: u16,
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) gfx: Levels,
    pub(super) compute: Levels,
    /// The levels on which the constant engine accepts the packet.
    pub(super) ce: Levels,
    /// The levels on which the kernel's interface queue accepts the packet.
    pub(super) kiq: Levels,
    /// The versions on which the copy engine accepts the packet.
    pub(super) sdma: Levels,
    pub(super) forms: &'static [Form],
}

impl Layout {
    pub(super) const BLANK: Self = Self {
        opcode: 0,
        name: "",
        about: "",
        gfx: Levels::NONE,
        compute: Levels::NONE,
        ce: Levels::NONE,
        kiq: Levels::NONE,
        sdma: Levels::NONE,
        forms: &[],
    };

    /// Returns the opcode; for the copy engine with the sub-opcode in bits 15:8.
    pub const fn opcode(&self) -> u16 {
        self.opcode
    }

    /// Returns the packet's name in AMD's headers.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a short description of the packet.
    pub const fn about(&self) -> &'static str {
        self.about
    }

    /// Returns the forms for `reader`; none if the reader does not accept the packet.
    pub fn forms(&self, reader: Reader) -> impl Iterator<Item = &'static Form> + use<> {
        let (takes, level) = (reader.takes(self), reader.level());
        self.forms.iter().filter(move |form| takes && form.levels.has(level))
    }

    /// Returns `true` if a form has a field with this name, or the two halves of it. [`packet!`](crate::packet) checks this at
    /// compile time.
    pub const fn has(&self, name: FieldName) -> bool {
        let mut form = 0;
        while form < self.forms.len() {
            let fields = self.forms[form].fields;
            let mut at = 0;
            while at < fields.len() {
                if fields[at].is_called(name) {
                    return true;
                }
                at += 1;
            }
            form += 1;
        }
        false
    }
}

/// Creates a form for the generated tables.
pub(super) const fn form(number: u16, levels: u16, payload: (u16, u16), fields: &'static [Field]) -> Form {
    Form { number, levels: Levels(levels), payload, tail: None, fields, masks: &[], selectors: &[] }
}

impl Form {
    pub(super) const fn checks(self, masks: &'static [(u16, &'static [u32])], selectors: &'static [u8]) -> Self {
        Self { masks, selectors, ..self }
    }

    /// Returns the bits of each described dword that belong to fields on a level.
    pub(super) fn mask(&self, level: u8) -> &'static [u32] {
        self.masks.iter().find(|(levels, _)| levels >> level & 1 != 0).map_or(&[], |found| found.1)
    }

    pub(super) const fn tail(self, field: Part, times: usize, plus: usize) -> Self {
        Self { tail: Some(Tail { field: field.name, times, plus }), ..self }
    }

    /// Returns the minimum and maximum number of dwords after the header, without the dwords that a count in the packet adds.
    pub fn payload(&self) -> (usize, usize) {
        (self.payload.0.into(), self.payload.1.into())
    }

    /// Returns the fields for `reader`.
    pub fn fields(&self, reader: Reader) -> impl Iterator<Item = &'static Field> + use<> {
        let level = reader.level();
        self.fields.iter().filter(move |field| field.is_on(level))
    }

    /// Returns the index of the dword after the last described one.
    pub(super) fn described(&self) -> usize {
        self.fields.last().map_or(1, |field| usize::from(field.dword) + 1)
    }
}

impl Reader {
    /// Returns `true` if this reader accepts the packet.
    #[inline]
    pub const fn takes(self, layout: &Layout) -> bool {
        let levels = match self {
            Self::Ring(Target { ring: Ring::Gfx, .. }) => layout.gfx,
            Self::Ring(Target { ring: Ring::Compute, .. }) => layout.compute,
            Self::Constant(_) => layout.ce,
            Self::Interface(_) => layout.kiq,
            Self::Copy(_) => layout.sdma,
        };
        levels.has(self.level())
    }
}
