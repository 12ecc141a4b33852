//! The three things a packet's description runs over: a [`Writer`], a [`Reader`] and a [`Counter`].

#![expect(clippy::inline_always, reason = "a packet is a few stores once its description is inlined, and 40 ns if not")]

use std::marker::PhantomData;

use super::field::{Bits, Choice, FieldError, Wire, require};
use amdgpu_hw::GpuVa;

/// No packet describes as many dwords, data not counted. A [`Writer`] with as much room looks no more how much is left.
pub(crate) const ROOMY_DWORDS: usize = 16;

/// A packet that cannot be written. A [`Counter`] tells why, or that only the room was too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit;

impl From<FieldError> for Unfit {
    #[inline(always)]
    fn from(_: FieldError) -> Self {
        Self
    }
}

/// The bits `hi..=lo`.
const fn mask(hi: u32, lo: u32) -> u32 {
    (u32::MAX >> (31 - (hi - lo))) << lo
}

/// A dword being put together.
pub(crate) struct Filling<E>(u32, PhantomData<E>);

impl<E> Filling<E> {
    #[inline(always)]
    const fn new() -> Self {
        Self(0, PhantomData)
    }
}

impl<E: From<FieldError>> Bits for Filling<E> {
    type Error = E;

    #[inline(always)]
    fn masked(&mut self, field: &'static str, mask: u32, value: u32) -> Result<u32, E> {
        let bits = value & !mask;
        require(bits == 0, FieldError::Flags { field, bits })?;
        self.0 |= value;
        Ok(value)
    }

    #[inline(always)]
    fn bits<const HI: u32, const LO: u32>(&mut self, field: &'static str, value: u32) -> Result<u32, E> {
        const { assert!(LO <= HI && HI < 32, "bits are written HI, LO and lie in a dword") };
        let max = mask(HI, LO) >> LO;
        require(value <= max, FieldError::TooWide { field, value: value.into(), max: max.into() })?;
        self.0 |= value << LO;
        Ok(value)
    }

    #[inline(always)]
    fn flag<const BIT: u32>(&mut self, value: bool) -> bool {
        self.0 |= u32::from(value) << BIT;
        value
    }

    #[inline(always)]
    fn choice<const HI: u32, const LO: u32, C: Choice>(&mut self, _: &'static str, value: C) -> Result<C, E> {
        const { assert!(C::BITS & !(mask(HI, LO) >> LO) == 0, "the field holds every choice") };
        self.0 |= value.raw() << LO;
        Ok(value)
    }
}

/// A dword being taken apart.
pub(crate) struct Taking {
    value: u32,
    claimed: u32,
}

impl Taking {
    fn claim(&mut self, mask: u32) -> u32 {
        debug_assert_eq!(self.claimed & mask, 0, "two fields share a bit");
        self.claimed |= mask;
        self.value & mask
    }
}

impl Bits for Taking {
    type Error = FieldError;

    #[inline]
    fn masked(&mut self, _: &'static str, mask: u32, _: u32) -> Result<u32, FieldError> {
        Ok(self.claim(mask))
    }

    #[inline]
    fn bits<const HI: u32, const LO: u32>(&mut self, _: &'static str, _: u32) -> Result<u32, FieldError> {
        const { assert!(LO <= HI && HI < 32, "bits are written HI, LO and lie in a dword") };
        Ok(self.claim(mask(HI, LO)) >> LO)
    }

    #[inline]
    fn flag<const BIT: u32>(&mut self, _: bool) -> bool {
        self.claim(1 << BIT) != 0
    }

    #[inline]
    fn choice<const HI: u32, const LO: u32, C: Choice>(&mut self, field: &'static str, _: C) -> Result<C, FieldError> {
        let raw = self.bits::<HI, LO>(field, 0)?;
        C::from_raw(raw).ok_or(FieldError::Unknown { field, value: raw })
    }
}

/// Puts a packet into memory.
pub(crate) struct Writer<'o> {
    out: &'o mut [u32],
    next: usize,
}

impl<'o> Writer<'o> {
    /// Writes from dword `first` on; the header, which holds the length, comes last.
    #[inline(always)]
    pub(crate) const fn new(out: &'o mut [u32], first: usize) -> Self {
        Self { out, next: first }
    }

    /// Dwords from the start of the packet up to here.
    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        self.next
    }
}

impl<'a> Wire<'a> for Writer<'_> {
    type Error = Unfit;
    type Dword = Filling<Unfit>;

    #[inline(always)]
    fn open(&mut self) -> Result<Filling<Unfit>, Unfit> {
        Ok(Filling::new())
    }

    #[inline(always)]
    fn close(&mut self, dword: Filling<Unfit>) -> Result<(), Unfit> {
        *self.out.get_mut(self.next).ok_or(Unfit)? = dword.0;
        self.next += 1;
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self, data: &'a [u32], count: usize) -> Result<&'a [u32], Unfit> {
        if data.len() == count { self.rest(data) } else { Err(Unfit) }
    }

    #[inline(always)]
    fn rest(&mut self, data: &'a [u32]) -> Result<&'a [u32], Unfit> {
        let slots = self.out.get_mut(self.next..).and_then(|out| out.get_mut(..data.len()));
        store(slots.ok_or(Unfit)?, data);
        self.next += data.len();
        Ok(data)
    }

    #[inline(always)]
    fn joined(&self, _: &'static str, va: GpuVa, _: u32, _: u32) -> Result<GpuVa, Unfit> {
        Ok(va)
    }
}

/// Copies a slice into one as long. Most packets carry a dword or two, for which a call of memcpy takes longer than the
/// rest of the packet.
#[inline(always)]
pub(crate) fn store(slots: &mut [u32], data: &[u32]) {
    match (slots, data) {
        ([a], &[x]) => *a = x,
        ([a, b], &[x, y]) => (*a, *b) = (x, y),
        (slots, data) => slots.copy_from_slice(data),
    }
}

/// Takes a packet from memory.
pub(crate) struct Reader<'a> {
    dwords: &'a [u32],
    next: usize,
}

impl<'a> Reader<'a> {
    /// Reads from dword `first` on.
    #[inline]
    pub(crate) const fn new(dwords: &'a [u32], first: usize) -> Self {
        Self { dwords, next: first }
    }

    /// Dwords from the start of the packet up to here.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.next
    }
}

impl<'a> Wire<'a> for Reader<'a> {
    type Error = FieldError;
    type Dword = Taking;

    #[inline]
    fn open(&mut self) -> Result<Taking, FieldError> {
        match self.dwords.get(self.next) {
            Some(&value) => Ok(Taking { value, claimed: 0 }),
            None => Err(FieldError::Missing { dword: self.next }),
        }
    }

    #[inline]
    fn close(&mut self, dword: Taking) -> Result<(), FieldError> {
        let bits = dword.value & !dword.claimed;
        require(bits == 0, FieldError::Reserved { dword: self.next, bits })?;
        self.next += 1;
        Ok(())
    }

    #[inline]
    fn take(&mut self, _: &'a [u32], count: usize) -> Result<&'a [u32], FieldError> {
        match self.dwords.get(self.next..).and_then(|rest| rest.get(..count)) {
            Some(data) => {
                self.next += count;
                Ok(data)
            }
            None => Err(FieldError::Missing { dword: self.next.saturating_add(count).saturating_sub(1) }),
        }
    }

    #[inline]
    fn rest(&mut self, _: &'a [u32]) -> Result<&'a [u32], FieldError> {
        let data = self.dwords.get(self.next..).unwrap_or_default();
        self.next += data.len();
        Ok(data)
    }
}

/// Measures a packet, and says what is wrong with one that cannot be written.
pub(crate) struct Counter(usize);

impl Counter {
    /// Counts on from `first` dwords.
    #[inline]
    pub(crate) const fn new(first: usize) -> Self {
        Self(first)
    }

    /// Dwords counted.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.0
    }
}

impl<'a> Wire<'a> for Counter {
    type Error = FieldError;
    type Dword = Filling<FieldError>;

    #[inline]
    fn open(&mut self) -> Result<Filling<FieldError>, FieldError> {
        Ok(Filling::new())
    }

    #[inline]
    fn close(&mut self, _: Filling<FieldError>) -> Result<(), FieldError> {
        self.0 += 1;
        Ok(())
    }

    #[inline]
    fn take(&mut self, data: &'a [u32], count: usize) -> Result<&'a [u32], FieldError> {
        require(data.len() == count, FieldError::Surplus { dwords: data.len().abs_diff(count) })?;
        self.rest(data)
    }

    #[inline]
    fn rest(&mut self, data: &'a [u32]) -> Result<&'a [u32], FieldError> {
        self.0 += data.len();
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amdgpu_hw::{GpuVa, InTheHole};

    #[test]
    fn a_value_that_does_not_fit_is_refused_and_never_cut() {
        let mut d = Filling::<FieldError>::new();
        assert_eq!(d.bits::<11, 8>("sel", 15), Ok(15));
        assert_eq!(d.bits::<19, 16>("sel", 16), Err(FieldError::TooWide { field: "sel", value: 16, max: 15 }));
        assert_eq!(d.masked("flags", 0x6, 0x3), Err(FieldError::Flags { field: "flags", bits: 1 }));
        assert_eq!(d.0, 0xf00);
    }

    #[test]
    fn the_widest_and_the_narrowest_field_keep_every_bit() {
        let mut d = Filling::<FieldError>::new();
        assert_eq!(d.bits::<31, 0>("all", u32::MAX), Ok(u32::MAX));
        let mut d = Taking { value: 0x8000_0001, claimed: 0 };
        assert!(d.flag::<31>(false) && d.flag::<0>(false) && !d.flag::<5>(true));
    }

    #[test]
    fn a_bit_that_no_field_claims_is_refused() {
        let mut r = Reader::new(&[0x21], 0);
        let mut d = r.open().unwrap();
        assert_eq!(d.bits::<3, 0>("low", 0), Ok(1));
        assert_eq!(r.close(d), Err(FieldError::Reserved { dword: 0, bits: 0x20 }));
    }

    #[test]
    fn a_reader_that_runs_out_says_where() {
        let mut r = Reader::new(&[7], 0);
        assert_eq!(r.word(0), Ok(7));
        assert_eq!(r.word(0), Err(FieldError::Missing { dword: 1 }));
        assert_eq!(r.take(&[], 3), Err(FieldError::Missing { dword: 3 }));
        assert_eq!(r.take(&[], 0), Ok(&[][..]));
    }

    #[test]
    fn an_address_keeps_its_place_and_its_alignment() {
        let va = GpuVa::new(0x81_2345_6780).unwrap();
        let mut out = [0; 2];
        assert_eq!(Writer::new(&mut out, 0).address::<2, 15>("at", va), Ok(va));
        assert_eq!(out, [0x2345_6780, 0x81]);
        assert_eq!(
            Counter::new(0).address::<8, 15>("at", va),
            Err(FieldError::Misaligned { field: "at", value: 0x2345_6780, multiple: 256 })
        );
        assert_eq!(
            Reader::new(&[0, 0x8000], 0).address::<2, 31>("at", GpuVa::NULL),
            Err(FieldError::Address { field: "at", source: InTheHole(0x8000_0000_0000) })
        );
    }
}
