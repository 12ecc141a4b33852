//! Any dwords decode or are refused, and what decodes can be printed.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Instruction, WaveSize, assemble, decode};
use proptest::prelude::*;

fn level() -> impl Strategy<Value = GfxLevel> {
    proptest::sample::select(GfxLevel::ALL.to_vec())
}

fn wave() -> impl Strategy<Value = WaveSize> {
    proptest::sample::select(vec![WaveSize::Wave32, WaveSize::Wave64])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_dwords_decode_or_are_refused(level in level(), wave in wave(), words in prop::collection::vec(any::<u32>(), 0..8)) {
        if let Ok(instruction) = decode(level, wave, &words) {
            let len = instruction.dwords().len();
            prop_assert!((1..=Instruction::MAX_DWORDS).contains(&len));
            prop_assert_eq!(instruction.dwords(), &words[..len]);
            prop_assert!(!instruction.to_string().is_empty());
            // What is cut off is refused.
            prop_assert!(decode(level, wave, &words[..len - 1]).is_err());
        }
    }

    #[test]
    fn any_text_assembles_or_is_refused(level in level(), wave in wave(), text in "[a-z_0-9 ,:()\\[\\]|.-]{0,60}") {
        let _ = assemble(level, wave, &text);
    }

    /// Text that assembles decodes to the same text; patterns of `ds_swizzle_b32`, which have several spellings, have a test of
    /// their own.
    #[test]
    fn text_of_any_instruction_assembles_to_the_same_text(
        level in level(),
        wave in wave(),
        words in prop::collection::vec(any::<u32>(), 5),
    ) {
        if let Ok(instruction) = decode(level, wave, &words) {
            let text = instruction.to_string();
            if let Ok(again) = assemble(level, wave, &text)
                && !text.starts_with("ds_swizzle_b32")
            {
                prop_assert_eq!(again.to_string(), text);
            }
        }
    }
}
