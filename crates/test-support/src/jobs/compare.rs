//! Comparison of results, within the precision that a job names.

/// Returns what differs first; `None` if all is as expected.
///
/// # Errors
///
/// A description of a rule that does not exist.
pub(crate) fn difference(rule: &str, found: &[u8], expected: &[u8]) -> Result<Option<String>, String> {
    let (kind, amount) = rule.split_once(':').unwrap_or((rule, "0"));
    let size = match kind {
        "unorm8" | "packing" => 1,
        "f16ulp" => 2,
        "f64ulp" => 8,
        "exact" | "f32ulp" | "f32abs" | "f32rel" => 4,
        _ => return Err(format!("no rule {rule:?}")),
    };
    let amount: f64 = amount.parse().map_err(|_| format!("no amount in {rule:?}"))?;
    if found.len() != expected.len() {
        return Ok(Some(format!("{} bytes instead of {}", found.len(), expected.len())));
    }
    let pairs = || found.chunks(size).zip(expected.chunks(size));
    for (index, (a, b)) in pairs().enumerate() {
        if a != b && !is_close(kind, amount, word(a), word(b), index, found, expected) {
            let wrong = pairs().filter(|(a, b)| a != b).count();
            return Ok(Some(format!("element {index}: {:#x} instead of {:#x} ({wrong} differ)", word(a), word(b))));
        }
    }
    Ok(None)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Maps floats to integers in the order of their values.
fn ordered(bits: u64, width: u32) -> i128 {
    let sign = 1_u64 << (width - 1);
    if bits & sign != 0 { -i128::from(bits & (sign - 1)) } else { i128::from(bits) }
}

fn is_nan(bits: u64, width: u32) -> bool {
    match width {
        16 => bits & 0x7fff > 0x7c00,
        32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    }
}

fn is_close(kind: &str, amount: f64, a: u64, b: u64, index: usize, found: &[u8], expected: &[u8]) -> bool {
    let ulps = |width| {
        is_nan(a, width) && is_nan(b, width) || (ordered(a, width) - ordered(b, width)).unsigned_abs() as f64 <= amount
    };
    let (x, y) = (f64::from(f32::from_bits(a as u32)), f64::from(f32::from_bits(b as u32)));
    // Words that are no ordinary floats must be equal.
    let ordinary = [a, b].iter().all(|bits| !matches!(bits >> 23 & 0xff, 0 | 255)) || x.abs().max(y.abs()) < 1.0e-30;
    match kind {
        "f32ulp" => ulps(32),
        "f64ulp" => ulps(64),
        "f16ulp" => ulps(16),
        "f32abs" => (ordinary || x.abs() <= amount && y.abs() <= amount) && (x - y).abs() <= amount,
        "f32rel" => ordinary && (x - y).abs() <= amount * y.abs().max(1.0e-6),
        "unorm8" => a.abs_diff(b) as f64 <= amount,
        // Each byte, half or float may differ by one in its last place.
        "packing" => {
            let dword = |bytes: &[u8]| bytes.chunks(4).nth(index / 4).map_or(0, word);
            let (a, b) = (dword(found), dword(expected));
            let parts = |width: u32| {
                (0..32 / width).all(|part| {
                    let mask = (1 << width) - 1;
                    let (a, b) = (a >> (part * width) & mask, b >> (part * width) & mask);
                    let distance = (ordered(a, width) - ordered(b, width)).unsigned_abs();
                    distance <= 1 || a.abs_diff(b) <= 1
                })
            };
            parts(8) || parts(16) || parts(32)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    fn is_equal(rule: &str, found: &[u8], expected: &[u8]) -> bool {
        difference(rule, found, expected).unwrap().is_none()
    }

    fn floats(rule: &str, found: f32, expected: f32) -> bool {
        is_equal(rule, &found.to_le_bytes(), &expected.to_le_bytes())
    }

    #[test]
    fn exact_words_have_the_same_bits() {
        assert!(is_equal("exact", &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5]));
        assert!(!is_equal("exact", &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 6]));
        assert!(!floats("exact", 0.0, -0.0));
    }

    #[test]
    fn ulps_count_floats_between_and_any_nan_is_nan() {
        let next = |value: f32, count: u32| f32::from_bits(value.to_bits() + count);
        assert!(floats("f32ulp:2", next(1.5, 2), 1.5) && !floats("f32ulp:2", next(1.5, 3), 1.5));
        assert!(floats("f32ulp:1", f32::NAN, -f32::NAN) && floats("f32ulp:0", 0.0, -0.0));
        assert!(is_equal("f16ulp:1", &0x3c01_u16.to_le_bytes(), &0x3c00_u16.to_le_bytes()));
        assert!(!is_equal("f64ulp:1", &1.0_f64.to_le_bytes(), &1.5_f64.to_le_bytes()));
    }

    #[test]
    fn distances_are_absolute_or_relative_and_infinities_must_be_equal() {
        assert!(floats("f32abs:0.5", 1.5, 1.0) && !floats("f32abs:0.5", 1.6, 1.0));
        assert!(floats("f32rel:0.01", 1005.0, 1000.0) && !floats("f32rel:0.01", 1011.0, 1000.0));
        assert!(!floats("f32abs:0.5", f32::MAX, f32::INFINITY));
    }

    #[test]
    fn packed_parts_may_differ_by_one_each() {
        assert!(is_equal("packing", &[1, 2, 3, 4], &[2, 1, 4, 3]));
        assert!(!is_equal("packing", &[1, 2, 3, 4], &[3, 2, 3, 9]));
        assert!(is_equal("unorm8:1", &[1, 2], &[2, 1]) && !is_equal("unorm8:1", &[1, 2], &[3, 2]));
    }

    #[test]
    fn lengths_must_be_equal_and_rules_must_exist() {
        assert!(!is_equal("exact", &[1], &[1, 2]));
        assert!(difference("f32ulp:x", &[], &[]).is_err() && difference("close", &[], &[]).is_err());
    }
}
