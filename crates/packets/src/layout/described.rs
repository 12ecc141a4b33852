//! Packets that are written by their layout.

use std::marker::PhantomData;

use super::parts::When;
use super::{Field, FieldName, Form, Half, Layout, Reader};
use crate::sdma::Version;
use crate::{EncodeError, FieldError, Language, Packet, pm4};

/// A packet given by its layout: fields by name, and the dwords after them. [`packet!`](crate::packet) creates one, and checks the
/// names at compile time; everything else is checked when the packet is recorded.
///
/// Recording compares the given fields with the tables by name, which suits packets that are recorded rarely. Packets that are
/// recorded often have types ([`cs::pm4`](crate::pm4), [`cs::sdma`](crate::sdma)), which are much faster.
///
/// Fields that are not named are zero. An address or another number in two fields `x_lo` and `x_hi` is named `x`.
///
/// ```
/// use amdgpu_packets::{Packet, layout::pm4::{COND_EXEC, DISPATCH_DIRECT}, pm4};
/// use amdgpu_packets::packet;
/// use amdgpu_hw::GfxLevel;
///
/// let mut ib = [0; 16];
/// let target = pm4::Target::compute(GfxLevel::Gfx9);
/// let dispatch = packet!(DISPATCH_DIRECT { dim_x: 4, dim_y: 1, dim_z: 1, dispatch_initiator: 1 });
/// assert_eq!(dispatch.encode(target, &mut ib)?, 5);
/// assert_eq!(ib[..5], [0xc003_1500, 4, 1, 1, 1]);
///
/// let skip = packet!(COND_EXEC { addr: 0x1002, exec_count: 7 });
/// let error = skip.encode(target, &mut ib).unwrap_err().to_string();
/// assert_eq!(error, "COND_EXEC on the GFX9 compute ring: addr = 0x1002 is not a multiple of 4");
/// # Ok::<(), amdgpu_packets::EncodeError>(())
/// ```
///
/// A field name that no form of the packet has does not compile:
///
/// ```compile_fail
/// use amdgpu_packets::layout::pm4::DISPATCH_DIRECT;
/// use amdgpu_packets::packet;
///
/// let dispatch = packet!(DISPATCH_DIRECT { width: 4 });
/// # let _: amdgpu_packets::Described<'_, amdgpu_packets::pm4::Target> = dispatch;
/// ```
#[derive(Debug)]
pub struct Described<'a, L> {
    /// The layout of the packet.
    pub layout: &'static Layout,
    /// The flags of a PM4 header.
    pub flags: pm4::HeaderFlags,
    /// Fields with their values, in any order. All other fields are zero.
    pub fields: &'a [(FieldName, u64)],
    /// The dwords after the described fields.
    pub data: &'a [u32],
    /// The language of the ring that executes the packet.
    pub language: PhantomData<L>,
}

impl<L> Clone for Described<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Described<'_, L> {}

/// Creates a packet by its layout: `packet!(LAYOUT { field: value, .. }, data)`. See [`cs::Described`](crate::Described).
#[macro_export]
macro_rules! packet {
    ($layout:path { $($field:ident: $value:expr),* $(,)? }) => {
        $crate::packet!($layout { $($field: $value),* }, &[])
    };
    ($layout:path { $($field:ident: $value:expr),* $(,)? }, $data:expr) => {{
        $(const { assert!($layout.has($crate::layout::names::$field), concat!("no form of the packet has ", stringify!($field))) };)*
        $crate::Described {
            layout: &$layout,
            flags: $crate::pm4::HeaderFlags::empty(),
            fields: &[$(($crate::layout::names::$field, $value as u64)),*],
            data: $data,
            language: ::std::marker::PhantomData,
        }
    }};
}

/// A language whose packets the tables describe.
pub trait DescribedLanguage: Language + Into<Reader> {
    /// Returns the header of a packet of `dwords` dwords. `bits` are the fields in the header.
    #[doc(hidden)]
    fn header(layout: &Layout, flags: pm4::HeaderFlags, dwords: usize, bits: u32) -> u32;
}

impl DescribedLanguage for pm4::Target {
    fn header(layout: &Layout, flags: pm4::HeaderFlags, dwords: usize, _: u32) -> u32 {
        pm4::type3(layout.opcode as u8, dwords - 1, flags)
    }
}

impl DescribedLanguage for Version {
    fn header(layout: &Layout, _: pm4::HeaderFlags, _: usize, bits: u32) -> u32 {
        let is_old = layout.sdma.has(Self::V1_0 as u8);
        bits | if is_old { u32::from(layout.opcode) << 28 } else { layout.opcode.into() }
    }
}

impl<L: DescribedLanguage> Described<'_, L> {
    fn error(&self, reader: Reader, source: FieldError) -> EncodeError {
        EncodeError::Field { packet: self.layout.name, target: reader.target(), source }
    }

    /// Returns the first form that has all given fields and fits the data; otherwise the error of the last form.
    fn form(&self, reader: Reader) -> Result<(&'static Form, usize), EncodeError> {
        let none = EncodeError::NoSuchPacket { packet: self.layout.name, target: reader.target() };
        let mut wrong = none;
        for form in self.layout.forms(reader) {
            match self.fits(form, reader) {
                Ok(dwords) => return Ok((form, dwords)),
                Err(source) => wrong = self.error(reader, source),
            }
        }
        Err(wrong)
    }

    /// Returns the length of the packet in this form.
    fn fits(&self, form: &'static Form, reader: Reader) -> Result<usize, FieldError> {
        for &(name, value) in self.fields {
            let known = form.fields(reader).any(|field| field.is_called(name));
            if !known && value != 0 {
                return Err(FieldError::NoSuchField { field: name.text() });
            }
        }
        let (least, most) = form.payload();
        let (least, most) = match &form.tail {
            None => (least, most),
            Some(tail) => {
                let extra = self.named(tail.field) as usize * tail.times + tail.plus;
                (least + extra, least + extra)
            }
        };
        let described = form.described().min(most + 1);
        let is_fixed = form.tail.is_none() && least == most;
        let payload = match described - 1 + self.data.len() {
            // Dwords without a field at the end of a packet that is always as long.
            payload if is_fixed && self.data.is_empty() => payload.max(least),
            payload => payload,
        };
        match payload {
            _ if payload < least => Err(FieldError::Missing { dword: least }),
            _ if payload > most => Err(FieldError::Surplus { dwords: payload - most }),
            _ => Ok(payload + 1),
        }
    }

    fn named(&self, name: FieldName) -> u64 {
        self.fields.iter().find(|field| field.0 == name).map_or(0, |field| field.1)
    }

    /// Returns the number to store in a field: the whole value of its name, or the low or high half.
    fn part(&self, form: &Form, field: &Field, level: u8) -> Result<u32, FieldError> {
        let Some(&(name, value)) = self.fields.iter().find(|given| field.is_called(given.0)) else {
            let only = match field.choices {
                [only] => only.value,
                _ => 0,
            };
            return Ok(only);
        };
        let is_whole = name == field.key();
        let is_high = !is_whole && field.half() == Half::High;
        let has_high = || form.fields.iter().any(|other| other.is_called(name) && other.half() == Half::High);
        let value_here = match () {
            () if is_high => value >> 32,
            () if is_whole => value,
            () => {
                let multiple = 1 << field.low;
                if value % multiple != 0 {
                    return Err(FieldError::Misaligned { field: name.text(), value, multiple });
                }
                let low = if has_high() { value & 0xffff_ffff } else { value };
                low >> field.low
            }
        };
        let max = u64::from(field.max());
        if value_here > max {
            return Err(FieldError::TooWide { field: field.name(), value: value_here, max });
        }
        let small = value_here as u32;
        match field.choice(small, level) {
            None if !field.choices.is_empty() => Err(FieldError::Unknown { field: field.name(), value: small }),
            _ => Ok(small),
        }
    }

    /// Returns `true` if the values of other fields do not disable the field.
    fn is_meant(&self, field: &Field) -> bool {
        let met = |when: &When| when.values.iter().any(|&value| u64::from(value) == self.named(when.field));
        field.when.iter().all(met)
    }

    fn put(&self, form: &'static Form, reader: Reader, out: &mut [u32]) -> Result<(), FieldError> {
        out.fill(0);
        for field in form.fields(reader).filter(|field| self.is_meant(field)) {
            let part = self.part(form, field, reader.level())?;
            match out.get_mut(field.dword()) {
                Some(slot) => *slot |= part << field.low,
                None if part == 0 => {}
                None => return Err(FieldError::NoSuchField { field: field.name() }),
            }
        }
        for &(name, value) in self.fields {
            let is_meant = form.fields(reader).any(|field| field.is_called(name) && self.is_meant(field));
            if value != 0 && !is_meant {
                return Err(FieldError::NoSuchField { field: name.text() });
            }
        }
        let from = out.len() - self.data.len();
        out[from..].copy_from_slice(self.data);
        Ok(())
    }
}

impl<L: DescribedLanguage> Packet for Described<'_, L> {
    type Language = L;
    const NAME: &'static str = "described packet";

    fn len_dwords(&self, language: L) -> Result<usize, EncodeError> {
        Ok(self.form(language.into())?.1)
    }

    fn encode(&self, language: L, out: &mut [u32]) -> Result<usize, EncodeError> {
        let reader = language.into();
        let (form, dwords) = self.form(reader)?;
        let left = out.len();
        let packet = out.get_mut(..dwords);
        let packet = packet.ok_or(EncodeError::NoRoom { packet: self.layout.name, needed: dwords, left })?;
        self.put(form, reader, packet).map_err(|source| self.error(reader, source))?;
        if let Some(header) = packet.first_mut() {
            *header = L::header(self.layout, self.flags, dwords, *header);
        }
        Ok(dwords)
    }
}
