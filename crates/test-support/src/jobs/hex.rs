//! Bytes in JSON, as hexadecimal digits.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Bytes that JSON holds as a string of hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if !rest.is_empty() {
            return Err(D::Error::custom("an odd number of hexadecimal digits"));
        }
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
        let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
        bytes.map(Self).ok_or_else(|| D::Error::custom("not a hexadecimal digit"))
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
        let text: String = self.0.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        serializer.serialize_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::Hex;

    #[test]
    fn digits_become_bytes_and_bytes_digits() {
        let bytes: Hex = serde_json::from_str("\"00fF7a\"").unwrap();
        assert_eq!(bytes, Hex(vec![0, 0xff, 0x7a]));
        assert_eq!(serde_json::to_string(&bytes).unwrap(), "\"00ff7a\"");
    }

    #[test]
    fn odd_and_foreign_digits_are_refused() {
        for text in ["\"0\"", "\"0g\"", "\"é\""] {
            assert!(serde_json::from_str::<Hex>(text).is_err(), "{text}");
        }
    }
}
