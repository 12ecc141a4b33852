//! Dwords of a file, in binary or as text.

use super::InputError;

/// The number of characters of an invalid word that a message shows.
const SHOWN: usize = 32;

/// The prefixes of text of other kinds.
const FOREIGN: &[(&str, &str)] = &[("{", "JSON"), ("<", "XML or HTML"), ("#!", "a script")];

/// Returns the little-endian dwords of a binary file, or the dwords of hexadecimal text, which may be separated by spaces or commas
/// and have the prefix 0x. `#` starts a comment.
///
/// # Errors
///
/// [`InputError::Foreign`] if the text is of another kind, [`InputError::NoDwords`] if binary content has no whole dwords,
/// [`InputError::NoNumber`] if a word is not a dword.
pub(super) fn dwords(bytes: &[u8], name: &str) -> Result<Vec<u32>, InputError> {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match str::from_utf8(bytes) {
        Ok(text) if bytes.iter().all(is_text) => parse(text, name),
        _ if bytes.len().is_multiple_of(4) => Ok(from_bytes(bytes)),
        _ => Err(InputError::NoDwords { name: name.to_owned(), bytes: bytes.len() }),
    }
}

/// Returns the whole dwords in `bytes`.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u32> {
    let (dwords, _) = bytes.as_chunks::<4>();
    dwords.iter().map(|&dword| u32::from_le_bytes(dword)).collect()
}

/// Parses a hexadecimal number with or without 0x.
pub(super) fn hexadecimal(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    // The parser accepts a sign, which is not valid here.
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
