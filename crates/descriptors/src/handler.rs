//! Editing of descriptors whose dwords are numbers, or registers of a shader being compiled.
//!
//! The mechanism is that of LLPC's register handler: a dword is fetched at first use, fields are cached, and only modified dwords
//! are returned.

use amdgpu_hw::GfxLevel;

use crate::error::FieldError;
use crate::field::{Field, Place};
use crate::kind::Kind;

/// A representation of a dword: a number, or a register of a shader being compiled.
pub trait Word: Clone {
    /// The builder that emits operations.
    type Builder;

    /// The number of bits that a value can have.
    const BITS: u32 = 32;

    /// Returns `bits` bits of the dword, starting at bit `low`, shifted down to bit 0.
    #[must_use]
    fn extract(&self, builder: &mut Self::Builder, low: u32, bits: u32) -> Self;

    /// Returns the dword with the `bits` bits that start at bit `low` replaced by `value`, which must fit.
    #[must_use]
    fn insert(&self, builder: &mut Self::Builder, low: u32, bits: u32, value: &Self) -> Self;

    /// Combines parts into one value. Each part comes with the position of its lowest bit.
    fn join(builder: &mut Self::Builder, parts: &[(Self, u32)]) -> Self;
}

impl Word for u32 {
    type Builder = ();

    fn extract(&self, (): &mut (), low: u32, bits: u32) -> Self {
        let moved = self.checked_shr(low).unwrap_or(0);
        if bits >= 32 { moved } else { moved & ((1 << bits) - 1) }
    }

    fn insert(&self, (): &mut (), low: u32, bits: u32, value: &Self) -> Self {
        let mask = Self::MAX.checked_shr(32 - bits.min(32)).unwrap_or(0).checked_shl(low).unwrap_or(0);
        self & !mask | value.checked_shl(low).unwrap_or(0) & mask
    }

    fn join((): &mut (), parts: &[(Self, u32)]) -> Self {
        parts.iter().fold(0, |all, (part, at)| all | part.checked_shl(*at).unwrap_or(0))
    }
}

/// The maximum number of dwords of a descriptor, and of parts of a field.
const MOST_WORDS: usize = 8;
const MOST_PARTS: usize = 2;
/// The maximum number of cached fields.
const MOST_KEPT: usize = 16;

/// An editor of a descriptor. Values are the encoded numbers of the fields: a field that stores a count minus one, or a multiple of
/// a unit, is read and written in that encoding.
#[derive(Debug)]
pub struct Handler<K: Kind, V: Word, F> {
    level: GfxLevel,
    fetch: F,
    words: [Option<V>; MOST_WORDS],
    dirty: u8,
    kept: [Option<(Field<K>, V)>; MOST_KEPT],
    next: usize,
}

impl<K: Kind, V: Word, F: FnMut(&mut V::Builder, usize) -> V> Handler<K, V, F> {
    /// Creates an editor of a descriptor. `fetch` returns the dword with a given index.
    pub fn new(level: GfxLevel, fetch: F) -> Self {
        Self {
            level,
            fetch,
            words: core::array::from_fn(|_| None),
            dirty: 0,
            kept: core::array::from_fn(|_| None),
            next: 0,
        }
    }

    fn word(&mut self, builder: &mut V::Builder, at: usize) -> V {
        if let Some(Some(word)) = self.words.get(at) {
            return word.clone();
        }
        let word = (self.fetch)(builder, at);
        if let Some(slot) = self.words.get_mut(at) {
            *slot = Some(word.clone());
        }
        word
    }

    fn keep(&mut self, field: Field<K>, value: V) {
        if let Some(slot) = self.kept.get_mut(self.next) {
            *slot = Some((field, value));
        }
        self.next = (self.next + 1) % MOST_KEPT;
    }

    /// Returns the bits of a field after checking that a value can hold them.
    fn place(&self, field: Field<K>) -> Result<&'static Place, FieldError> {
        let place = field.place(self.level)?;
        let bits = place.bits();
        if bits > V::BITS {
            return Err(FieldError::TooManyBits { descriptor: K::NAME, field: field.name(), bits });
        }
        Ok(place)
    }

    /// Returns the stored number of a field. Each dword is fetched once. If the field is cached from an earlier `get` or `set`, no
    /// operation is emitted.
    ///
    /// # Errors
    ///
    /// [`FieldError::NoSuchField`] if the generation lacks the field, [`FieldError::TooManyBits`] if a value cannot hold it.
    pub fn get(&mut self, builder: &mut V::Builder, field: Field<K>) -> Result<V, FieldError> {
        let place = self.place(field)?;
        if let Some((_, value)) = self.kept.iter().flatten().find(|(known, _)| *known == field) {
            return Ok(value.clone());
        }
        let mut pieces: [Option<(V, u32)>; MOST_PARTS] = [None, None];
        let mut at = 0;
        for (piece, &(word, low, bits)) in pieces.iter_mut().zip(place.parts()) {
            let word = self.word(builder, usize::from(word));
            let whole = bits == 32;
            *piece = Some((if whole { word } else { word.extract(builder, low.into(), bits.into()) }, at));
            at += u32::from(bits);
        }
        let value = match pieces {
            [Some((only, _)), None] => only,
            [Some(low), Some(high)] => V::join(builder, &[low, high]),
            _ => V::join(builder, &[]),
        };
        self.keep(field, value.clone());
        Ok(value)
    }

    /// Stores the number of a field, which must fit. Cached fields that overlap it are invalidated.
    ///
    /// # Errors
    ///
    /// [`FieldError::NoSuchField`] if the generation lacks the field, [`FieldError::TooManyBits`] if a value cannot hold it.
    pub fn set(&mut self, builder: &mut V::Builder, field: Field<K>, value: &V) -> Result<(), FieldError> {
        let level = self.level;
        let parts = self.place(field)?.parts();
        let shares = |other: Field<K>| {
            let theirs = other.on(level).map_or(&[][..], Place::parts);
            parts
                .iter()
                .any(|&(word, low, bits)| theirs.iter().any(|&(w, l, b)| w == word && l < low + bits && low < l + b))
        };
        for slot in &mut self.kept {
            if slot.as_ref().is_some_and(|(known, _)| shares(*known)) {
                *slot = None;
            }
        }
        let mut at = 0;
        for &(word, low, bits) in parts {
            let place = usize::from(word);
            let piece = if parts.len() == 1 { value.clone() } else { value.extract(builder, at, bits.into()) };
            let changed = if bits == 32 {
                piece
            } else {
                let old = self.word(builder, place);
                old.insert(builder, low.into(), bits.into(), &piece)
            };
            if let Some(slot) = self.words.get_mut(place) {
                *slot = Some(changed);
                self.dirty |= 1_u8.checked_shl(word.into()).unwrap_or(0);
            }
            at += u32::from(bits);
        }
        self.keep(field, value.clone());
        Ok(())
    }

    /// Returns the modified dwords with their indices.
    pub fn finish(self) -> impl Iterator<Item = (usize, V)> {
        let dirty = self.dirty;
        self.words
            .into_iter()
            .enumerate()
            .filter_map(move |(at, word)| if dirty >> at & 1 == 0 { None } else { word.map(|word| (at, word)) })
    }
}
