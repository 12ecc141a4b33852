//! A packet read through its layout.

use super::parts::When;
use super::{Field, FieldName, Form, Layout, Reader};
use crate::FieldError;

/// A packet whose fields were found to be in order.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'p> {
    packet: &'p [u32],
    layout: &'static Layout,
    form: &'static Form,
    level: u8,
}

/// The reason why dwords are not a packet that the tables know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The reader takes no packet with this opcode.
    #[error("the ring takes no packet with this opcode")]
    Unknown,
    /// The packet's name, and what is wrong with it.
    #[error("{0}: {1}")]
    Field(&'static str, FieldError),
}

impl<'p> Fields<'p> {
    /// Reads a whole PM4 packet, header included. The header itself has been understood before.
    ///
    /// # Errors
    ///
    /// [`Misfit`].
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

    /// Reads the copy-engine packet at the start of `rest`; how long it is follows from its layout. `known` are the bits of
    /// the header that name the packet.
    ///
    /// # Errors
    ///
    /// [`Misfit`].
    pub fn read_copy(rest: &'p [u32], opcode: u16, reader: Reader, known: u32) -> Result<Self, Misfit> {
        Self::first_fit(opcode, reader, known, |form, layout| {
            let dword = usize::from(form.payload.0);
            let packet = rest.get(..=dword).ok_or(FieldError::Missing { dword })?;
            let fields = Self { packet, layout, form, level: reader.level() };
            let last = dword.saturating_add(fields.tail_dwords());
            rest.get(..=last).ok_or(FieldError::Missing { dword: last })
        })
    }

    /// The first form in which everything is in order; else what is wrong with the last one of the right length.
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
                    // Of forms that are all too long the shortest one says how much is missing.
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

    /// Every bit of the described dwords belongs to a field, and every selector says something.
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
        // What a form leaves without a description is data.
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

    /// Returns the number of dwords that a count in the packet adds.
    fn tail_dwords(&self) -> usize {
        self.form.tail.as_ref().map_or(0, |tail| self.named(tail.field) as usize * tail.times + tail.plus)
    }

    /// The fields of this generation.
    fn here(&self) -> impl Iterator<Item = &'static Field> + use<> {
        let level = self.level;
        self.form.fields.iter().filter(move |field| field.is_on(level))
    }

    fn value(&self, field: &Field) -> u32 {
        self.packet.get(field.dword()).map_or(0, |&dword| field.of_dword(dword))
    }

    /// Returns the fields that are meant, and what they hold: those of other cases that share their bits are left out.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Field, u32)> + use<'p> {
        let this = *self;
        let is_meant = move |field: &&Field| {
            let met = |when: &When| when.values.contains(&this.named(when.field));
            field.dword() < this.packet.len() && field.when.iter().all(met)
        };
        self.here().filter(is_meant).map(move |field| (field, this.value(field)))
    }

    /// Returns the name of a field's value, where the field is a selector.
    pub fn choice(&self, field: &Field, value: u32) -> Option<&'static str> {
        field.choice(value, self.level).map(super::Choice::name)
    }

    /// Returns the packet's layout.
    pub const fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// Returns the packet's name.
    pub const fn name(&self) -> &'static str {
        self.layout.name
    }

    /// Returns the packet's length in dwords, with its header.
    #[expect(clippy::len_without_is_empty, reason = "there is always a header")]
    pub const fn len(&self) -> usize {
        self.packet.len()
    }

    fn named(&self, name: FieldName) -> u32 {
        self.here().find(|field| field.key() == name).map_or(0, |field| self.value(field))
    }

    /// The number of the form, for the generated records.
    pub(super) const fn form(&self) -> u16 {
        self.form.number
    }

    /// The level, for the generated records.
    pub(super) const fn level(&self) -> u8 {
        self.level
    }

    /// Returns all dwords of the packet, header included.
    pub const fn dwords(&self) -> &'p [u32] {
        self.packet
    }

    /// Returns the dwords from `dword` on, counted from the header.
    pub fn tail(&self, dword: usize) -> &'p [u32] {
        self.packet.get(dword..).unwrap_or_default()
    }

    /// Returns the dwords that no field describes, behind the others: data, register values, more of the same.
    pub fn data(&self) -> &'p [u32] {
        self.tail(self.form.described())
    }
}
