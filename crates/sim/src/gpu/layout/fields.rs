//! A packet read through its layout.

use amdgpu_winsys::cs::FieldError;
use amdgpu_winsys::vamgr::GpuVa;

use super::{Field, Form, Layout, Reader};

/// A packet whose fields were found to be in order.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct Fields<'p> {
    packet: &'p [u32],
    layout: &'static Layout,
    form: &'static Form,
    level: u8,
}

/// Why dwords are not a packet that the tables know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum Misfit {
    /// The reader takes no packet with this opcode.
    Unknown,
    /// The packet's name, and what is wrong with it.
    Field(&'static str, FieldError),
}

impl<'p> Fields<'p> {
    /// Reads a whole PM4 packet, header included. The header itself has been understood before.
    pub(in crate::gpu) fn read(packet: &'p [u32], opcode: u8, reader: Reader) -> Result<Self, Misfit> {
        let payload = packet.len().saturating_sub(1);
        Self::first_fit(opcode.into(), reader, u32::MAX, |form| match usize::from(form.payload.0) {
            least if payload < least => Err(FieldError::Missing { dword: least }),
            _ => match payload.saturating_sub(form.payload.1.into()) {
                0 => Ok(packet),
                dwords => Err(FieldError::Surplus { dwords }),
            },
        })
    }

    /// Reads the copy-engine packet at the start of `rest`; how long it is follows from its layout. `known` are the bits of
    /// the header that name the packet.
    pub(in crate::gpu) fn read_copy(rest: &'p [u32], opcode: u16, reader: Reader, known: u32) -> Result<Self, Misfit> {
        Self::first_fit(opcode, reader, known, |form| {
            let dword = usize::from(form.payload.0);
            rest.get(..=dword).ok_or(FieldError::Missing { dword })
        })
    }

    /// The first form in which everything is in order; else what is wrong with the last one of the right length.
    fn first_fit(
        opcode: u16,
        reader: Reader,
        known: u32,
        cut: impl Fn(&Form) -> Result<&'p [u32], FieldError>,
    ) -> Result<Self, Misfit> {
        let level = reader.level();
        let mut misfit = (false, Misfit::Unknown);
        for layout in reader.layouts(opcode) {
            for form in layout.forms.iter().filter(|form| form.levels.has(level)) {
                let cut = cut(form);
                let is_long_enough = cut.is_ok();
                match cut.and_then(|packet| Self { packet, layout, form, level }.check(known)) {
                    Ok(fields) => return Ok(fields),
                    Err(error) if is_long_enough || !misfit.0 => {
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
        let described = self.form.fields.last().map_or(0, |field| field.dword);
        for (dword, &value) in self.packet.iter().enumerate().take(usize::from(described) + 1) {
            // What a form leaves without a description is data.
            let is_here = |field: &&Field| usize::from(field.dword) == dword;
            let claimed = if dword == 0 { known } else { 0 };
            let bits = value & !self.here().filter(is_here).fold(claimed, |claimed, field| claimed | field.mask());
            if bits != 0 && (dword == 0 || self.form.fields.iter().any(|field| is_here(&field))) {
                return Err(FieldError::Reserved { dword, bits });
            }
        }
        for field in self.here().filter(|field| !field.choices.is_empty()) {
            let value = self.value(field);
            let knows =
                |choice: &super::Choice| (choice.first..=choice.last).contains(&value) && choice.levels.has(self.level);
            if !field.choices.iter().any(knows) {
                return Err(FieldError::Unknown { field: field.name, value });
            }
        }
        Ok(self)
    }

    /// The fields of this generation.
    fn here(&self) -> impl Iterator<Item = &'static Field> + use<> {
        let level = self.level;
        self.form.fields.iter().filter(move |field| field.levels.has(level))
    }

    fn value(&self, field: &Field) -> u32 {
        self.packet.get(usize::from(field.dword)).map_or(0, |dword| (dword & field.mask()) >> field.low)
    }

    /// The packet's name.
    pub(in crate::gpu) const fn name(&self) -> &'static str {
        self.layout.name
    }

    /// The packet's length in dwords.
    pub(in crate::gpu) const fn len(&self) -> usize {
        self.packet.len()
    }

    /// Whether this form has the field.
    pub(in crate::gpu) fn has(&self, name: &str) -> bool {
        self.here().any(|field| field.name == name)
    }

    /// A field; zero where this generation has none of this name.
    pub(in crate::gpu) fn get(&self, name: &str) -> u32 {
        self.here().find(|field| field.name == name).map_or(0, |field| self.value(field))
    }

    /// A field of one bit, or any other number that is not zero.
    pub(in crate::gpu) fn is_set(&self, name: &str) -> bool {
        self.get(name) != 0
    }

    /// A number in two fields.
    pub(in crate::gpu) fn wide(&self, low: &str, high: &str) -> u64 {
        u64::from(self.get(high)) << 32 | u64::from(self.get(low))
    }

    /// An address in two fields, the lower of which keeps its place.
    pub(in crate::gpu) fn address(&self, low: &'static str, high: &str) -> Result<GpuVa, FieldError> {
        let shift = self.here().find(|field| field.name == low).map_or(0, |field| field.low);
        let raw = u64::from(self.get(high)) << 32 | u64::from(self.get(low)) << shift;
        GpuVa::new(raw).map_err(|source| FieldError::Address { field: low, source })
    }

    /// The dwords from `dword` on, counted from the header.
    pub(in crate::gpu) fn tail(&self, dword: usize) -> &'p [u32] {
        self.packet.get(dword..).unwrap_or_default()
    }
}
