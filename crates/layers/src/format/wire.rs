//! The encoding of numbers and byte strings in the file, and its checksum.
//!
//! Numbers are LEB128: seven bits per byte, low bits first, with the top bit set on all bytes except the last. Byte strings are
//! their length and their bytes.

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a byte string.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The reason why bytes are not a valid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The record ends within the named field.
    #[error("the record ends within {0}")]
    Short(&'static str),
    /// The named number is larger than its field permits.
    #[error("{0} is {1:#x}, which is too large")]
    TooLarge(&'static str, u64),
    /// Bytes remain after the last field of the record.
    #[error("{0} bytes follow the record's last field")]
    Surplus(usize),
    /// The kind of record does not exist.
    #[error("there is no record of kind {0}")]
    Kind(u8),
    /// The named text is not UTF-8.
    #[error("{0} is not UTF-8")]
    Text(&'static str),
}

/// The most items of a list, which is above the number of chunks, changed bytes and runs that a call or page can have.
const MOST_ITEMS: u64 = 1 << 16;

/// A reader of the fields of one record.
pub(crate) struct Fields<'r> {
    rest: &'r [u8],
}

impl<'r> Fields<'r> {
    pub(crate) fn new(rest: &'r [u8]) -> Self {
        Self { rest }
    }

    pub(crate) fn byte(&mut self, what: &'static str) -> Result<u8, Malformed> {
        let (&first, rest) = self.rest.split_first().ok_or(Malformed::Short(what))?;
        self.rest = rest;
        Ok(first)
    }

    pub(crate) fn number(&mut self, what: &'static str) -> Result<u64, Malformed> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Malformed::TooLarge(what, u64::MAX));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed::TooLarge(what, u64::MAX))
    }

    pub(crate) fn narrow<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, Malformed> {
        let number = self.number(what)?;
        T::try_from(number).map_err(|_| Malformed::TooLarge(what, number))
    }

    pub(crate) fn bytes(&mut self, what: &'static str) -> Result<&'r [u8], Malformed> {
        let len: usize = self.narrow(what)?;
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(Malformed::Short(what))?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self, what: &'static str) -> Result<String, Malformed> {
        String::from_utf8(self.bytes(what)?.to_vec()).map_err(|_| Malformed::Text(what))
    }

    /// Reads a count and that number of values. Each value has at least one byte, so the count is checked against the length of the
    /// record and against the maximum.
    pub(crate) fn list<T>(
        &mut self,
        what: &'static str,
        mut one: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.number(what)?;
        if count > MOST_ITEMS.min(self.rest.len() as u64) {
            return Err(Malformed::TooLarge(what, count));
        }
        (0..count).map(|_| one(self)).collect()
    }

    /// Reads a count and that number of dwords, which must be inside the record.
    pub(crate) fn dwords(&mut self, what: &'static str) -> Result<Vec<u32>, Malformed> {
        let count = self.number(what)?;
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(4));
        let taken = len.and_then(|len| self.rest.split_at_checked(len));
        let (bytes, rest) = taken.ok_or(Malformed::TooLarge(what, count))?;
        self.rest = rest;
        Ok(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed::Surplus(self.rest.len())) }
    }
}

/// Returns the CRC-32 of IEEE 802.3 (reflected, polynomial 0xedb88320), which most languages have in a library.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_checksum_is_the_usual_crc_32() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let mut bytes = [0xff; 10];
        bytes[9] = 0x02;
        assert_eq!(Fields::new(&bytes).number("it"), Err(Malformed::TooLarge("it", u64::MAX)));
        assert_eq!(Fields::new(&[0x80]).number("it"), Err(Malformed::Short("it")));
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: u64) {
            let mut out = Vec::new();
            put(&mut out, number);
            let mut fields = Fields::new(&out);
            prop_assert_eq!(fields.number("it"), Ok(number));
            prop_assert_eq!(fields.end(), Ok(()));
        }
    }
}
