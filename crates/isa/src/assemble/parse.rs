//! Splitting text into operands and modifiers.

use crate::table::{Opcode, OperandKind};

/// Splits the text after the name into operands and modifiers.
pub(super) fn split<'a>(opcode: &Opcode, rest: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let spaced = [OperandKind::Waitcnt, OperandKind::Delay, OperandKind::Depctr];
    if opcode.operands.iter().any(|operand| spaced.contains(&operand.kind)) {
        return (vec![rest.trim()], Vec::new());
    }
    let mut parts = separate(rest.trim(), ',');
    let mut modifiers = Vec::new();
    if let Some(last) = parts.pop() {
        let mut words = separate(last.trim(), ' ').into_iter().filter(|word| !word.is_empty());
        if opcode.operands.is_empty() {
            modifiers.extend(words);
        } else {
            parts.extend(words.next());
            modifiers.extend(words);
        }
    }
    // `high` follows an attribute in the middle of the operands.
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    (parts, modifiers)
}

/// Splits at a separator outside of brackets and quotes.
fn separate(text: &str, separator: char) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0_i32, false, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            '"' => quoted = !quoted,
            _ if letter == separator && depth == 0 && !quoted => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Reads a decimal or hexadecimal number, which may be negative.
pub(super) fn number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None if digits.starts_with(|letter: char| letter.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative { -value } else { value })
}

/// Reads `name:[1,0,...]` items.
pub(super) fn items(text: &str) -> Option<Vec<u32>> {
    text.strip_prefix('[')?.strip_suffix(']')?.split(',').map(|item| item.trim().parse().ok()).collect()
}

/// Reads `name(1, 2, 3)` arguments.
pub(super) fn arguments<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let inner = text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
    Some(inner.split(',').map(str::trim).collect())
}

/// Reads a register of class `class`: `v5` or `v[5:6]`. Returns its number and dwords.
pub(super) fn register(text: &str, class: &str) -> Option<(u32, u32)> {
    let rest = text.strip_prefix(class)?;
    if let Some(range) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (first, last) = range.split_once(':')?;
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        return (first <= last).then(|| (first, last - first + 1));
    }
    let number = rest.parse().ok()?;
    rest.starts_with(|letter: char| letter.is_ascii_digit()).then_some((number, 1))
}

/// Returns the low bits of a number, which may be negative.
pub(super) fn low_bits(value: i64, bits: u32) -> u32 {
    (value.cast_unsigned() & ((1 << bits) - 1)) as u32
}
