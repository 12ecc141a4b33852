//! Packets that are read by their layout.

use super::parts::When;
use super::{Field, FieldName, Form, Layout, Reader};
use crate::FieldError;

/// A packet with valid fields.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'p> {
    packet: &'p [u32],
    layout: &'static Layout,
    form: &'static Form,
    level: u8,
}

/// The reason why dwords are not a packet of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The reader does not accept packets with this opcode.
    #[error("the ring takes no packet with this opcode")]
    Unknown,
    /// A field of the packet is invalid. Contains the packet's name and the error.
    #[error("{0}: {1}")]
    Field(&'static str, FieldError),
}

impl<'p> Fields<'p> {
    /// Reads a whole PM4 packet, including its header, which must already be decoded.
    ///
    /// # Errors
    ///
    /// [`Misfit`] if the reader does not accept the opcode, or a field or the length is invalid.
    pub fn read(packet: &'p [u32], opcode: u8, reader: Reader) -> Result<Self, Misfit> {
        let payload = packet.len().saturating_sub(1);
        Self::first_fit(opcode.into(), reader, u32::MAX, |form, _| match usize::from(form.payload.0) {
            least if payload < least => Err(FieldError::Missing { dword: least }),
            _ => match payload.saturating_sub(form.payload.1.into()) {
                0 => Ok(packet),
                dwords => Err(FieldError::Surplus { dwords }),
            },
        })
    }

    /// Reads the copy-engine packet at the start of `rest`. Its length follows from its layout. `known` is the mask of the header
    /// bits that identify the packet.
    ///
    /// # Errors
    ///
    /// [`Misfit`] if the reader does not accept the opcode, or a field or the length is invalid.
    pub fn read_copy(rest: &'p [u32], opcode: u16, reader: Reader, known: u32) -> Result<Self, Misfit> {
        Self::first_fit(opcode, reader, known, |form, layout| {
            let dword = usize::from(form.payload.0);
            let packet = rest.get(..=dword).ok_or(FieldError::Missing { dword })?;
            let fields = Self { packet, layout, form, level: reader.level() };
            let last = dword.saturating_add(fields.tail_dwords());
            rest.get(..=last).ok_or(FieldError::Missing { dword: last })
        })
    }

    /// Returns the first form in which everything is valid; otherwise the error of the last form with the right length.
    fn first_fit(
        opcode: u16,
        reader: Reader,
        known: u32,
        cut: impl Fn(&'static Form, &'static Layout) -> Result<&'p [u32], FieldError>,
    ) -> Result<Self, Misfit> {
        let level = reader.level();
        let mut misfit = (false, Misfit::Unknown);
        let mut shortest = None;
        for layout in reader.layouts(opcode) {
            for form in layout.forms(reader) {
                let cut = cut(form, layout);
                let is_long_enough = cut.is_ok();
                match cut.and_then(|packet| Self { packet, layout, form, level }.check(known)) {
                    Ok(fields) => return Ok(fields),
                    // If all forms are too long, the shortest one determines the number of missing dwords.
                    Err(FieldError::Missing { dword })
                        if !is_long_enough && shortest.is_some_and(|least| least <= dword) => {}
                    Err(error) if is_long_enough || !misfit.0 => {
                        if let FieldError::Missing { dword } = error {
                            shortest = Some(dword);
                        }
                        misfit = (is_long_enough, Misfit::Field(layout.name, error));
                    }
                    Err(_) => {}
                }
            }
        }
        Err(misfit.1)
    }

    /// Checks that every bit of the described dwords belongs to a field, and that selectors have defined values.
    fn check(self, known: u32) -> Result<Self, FieldError> {
        for &place in self.form.selectors {
            let Some(field) = self.form.fields.get(usize::from(place)) else { continue };
            if field.is_on(self.level) && field.dword() < self.packet.len() {
                let value = self.value(field);
                if field.choice(value, self.level).is_none() {
                    return Err(FieldError::Unknown { field: field.name(), value });
                }
            }
        }
        // Dwords that a form does not describe are data.
        let mut known = known;
        for (dword, (&value, &mask)) in self.packet.iter().zip(self.form.mask(self.level)).enumerate() {
            let bits = value & !(mask | known);
            if bits != 0 {
                return Err(FieldError::Reserved { dword, bits });
            }
            known = 0;
        }
        Ok(self)
    }

    /// Returns the number of dwords that follow according to a count in the packet.
    fn tail_dwords(&self) -> usize {
        self.form.tail.as_ref().map_or(0, |tail| self.named(tail.field) as usize * tail.times + tail.plus)
    }

    /// Returns the fields of this generation.
    fn here(&self) -> impl Iterator<Item = &'static Field> + use<> {
        let level = self.level;
        self.form.fields.iter().filter(move |field| field.is_on(level))
    }

    fn value(&self, field: &Field) -> u32 {
        self.packet.get(field.dword()).map_or(0, |&dword| field.of_dword(dword))
    }

    /// Returns the active fields with their values. Fields of other cases that share their bits are omitted.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Field, u32)> + use<'p> {
        let this = *self;
        let is_meant = move |field: &&Field| {
            let met = |when: &When| when.values.contains(&this.named(when.field));
            field.dword() < this.packet.len() && field.when.iter().all(met)
        };
        self.here().filter(is_meant).map(move |field| (field, this.value(field)))
    }

    /// Returns the name of a field's value; `None` if the field is not a selector or the value has no name.
    pub fn choice(&self, field: &Field, value: u32) -> Option<&'static str> {
        field.choice(value, self.level).map(super::Choice::name)
    }

    /// Returns the layout of the packet.
    pub const fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// Returns the name of the packet.
    pub const fn name(&self) -> &'static str {
        self.layout.name
    }

    /// Returns the length of the packet in dwords, including the header.
    #[expect(clippy::len_without_is_empty, reason = "there is always a header")]
    pub const fn len(&self) -> usize {
        self.packet.len()
    }

    fn named(&self, name: FieldName) -> u32 {
        self.here().find(|field| field.key() == name).map_or(0, |field| self.value(field))
    }

    /// Returns the number of the form, for the generated records.
    pub(super) const fn form(&self) -> u16 {
        self.form.number
    }

    /// Returns the level, for the generated records.
    pub(super) const fn level(&self) -> u8 {
        self.level
    }

    /// Returns all dwords of the packet, including the header.
    pub const fn dwords(&self) -> &'p [u32] {
        self.packet
    }

    /// Returns the dwords starting at index `dword`; the header is dword 0.
    pub fn tail(&self, dword: usize) -> &'p [u32] {
        self.packet.get(dword..).unwrap_or_default()
    }

    /// Returns the dwords after the described fields: data, register values, or repeated fields.
    pub fn data(&self) -> &'p [u32] {
        self.tail(self.form.described())
    }
}
