//! Dwords of a file, raw or as text.

use super::InputError;

/// Letters of a wrong word that a message shows.
const SHOWN: usize = 32;

/// Beginnings of text of other kinds.
const FOREIGN: &[(&str, &str)] = &[("{", "JSON"), ("<", "XML or HTML"), ("#!", "a script")];

/// Returns raw little-endian dwords, or the dwords of hexadecimal text: between spaces or commas, with or without 0x; `#` starts a
/// comment.
///
/// # Errors
///
/// [`InputError::Foreign`], [`InputError::NoDwords`], [`InputError::NoNumber`].
pub(super) fn dwords(bytes: &[u8], name: &str) -> Result<Vec<u32>, InputError> {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match str::from_utf8(bytes) {
        Ok(text) if bytes.iter().all(is_text) => parse(text, name),
        _ if bytes.len().is_multiple_of(4) => Ok(from_bytes(bytes)),
        _ => Err(InputError::NoDwords { name: name.to_owned(), bytes: bytes.len() }),
    }
}

/// Returns the whole dwords of bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u32> {
    let (dwords, _) = bytes.as_chunks::<4>();
    dwords.iter().map(|&dword| u32::from_le_bytes(dword)).collect()
}

/// Reads a hexadecimal number with or without 0x.
pub(super) fn hexadecimal(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    // The parser takes a sign, which no dword has.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, 16).ok())?
}

fn parse(text: &str, name: &str) -> Result<Vec<u32>, InputError> {
    if let Some(&(_, found)) = FOREIGN.iter().find(|(start, _)| text.trim_start().starts_with(start)) {
        return Err(InputError::Foreign { name: name.to_owned(), found });
    }
    let mut dwords = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let content = content.split('#').next().unwrap_or_default();
        for word in content.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
            let number = hexadecimal(word).and_then(|number| u32::try_from(number).ok());
            dwords.push(number.ok_or_else(|| InputError::NoNumber {
                name: name.to_owned(),
                line: line + 1,
                word: word.chars().take(SHOWN).collect(),
            })?);
        }
    }
    Ok(dwords)
}
