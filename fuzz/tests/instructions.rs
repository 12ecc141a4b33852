//! Untrusted machine code and assembler text.

use amdgpu_fuzz::reach::Reach;
use amdgpu_isa::{
    WaveSize, assemble, decode,
    load::{Alignment, Kind, Place, Request, accesses, plan, split},
    table,
};
use amdgpu_winsys::winsys::GfxLevel;

static DECODED: Reach = Reach::new("instructions::any_dwords_are_an_instruction_or_refused");
static ASSEMBLED: Reach = Reach::new("instructions::any_text_is_an_instruction_or_refused");
static LOADED: Reach = Reach::new("instructions::any_request_is_loaded_or_refused");

fn generation(which: u8) -> (GfxLevel, WaveSize) {
    let wave = if which < 128 { WaveSize::Wave32 } else { WaveSize::Wave64 };
    (GfxLevel::ALL[usize::from(which) % GfxLevel::ALL.len()], wave)
}

#[test]
fn any_dwords_are_an_instruction_or_refused() {
    bolero::check!().with_type::<(u8, [u32; 6], u8)>().with_iterations(20_000).for_each(|&(which, dwords, len)| {
        let (level, wave) = generation(which);
        let dwords = &dwords[..usize::from(len) % 7];
        let decoded = decode(level, wave, dwords);
        match &decoded {
            Ok(instruction) => {
                let kept = instruction.dwords();
                assert_eq!(Some(kept), dwords.get(..kept.len()), "an instruction is the dwords it was read from");
                let text = instruction.to_string();
                assert!(text.starts_with(instruction.name()), "{text:?}");
                // Bits that no operand has are not in the text, so other dwords may come back, but the same text. Of a
                // swizzle's several encodings the assembler has one, and a shorter word for some of those: they are the
                // same text the second time.
                if let Ok(mut again) = assemble(level, wave, &text) {
                    let mut before = text;
                    if instruction.name() == "ds_swizzle_b32" {
                        before = again.to_string();
                        again =
                            assemble(level, wave, &before).expect("what the assembler's own encoding is printed as");
                    }
                    assert_eq!(again.to_string(), before, "{level} {dwords:x?} became {:x?}", again.dwords());
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        DECODED.count(decoded.is_ok());
    });
    DECODED.report();
}

/// Operands and modifiers of all kinds, whole and broken.
const PIECES: [&str; 48] = [
    "v0",
    "v255",
    "v256",
    "s0",
    "s[0:1]",
    "s[2:5]",
    "s[8:15]",
    "s[1:0]",
    "v[0:3]",
    "v[254:257]",
    "vcc",
    "vcc_lo",
    "exec",
    "m0",
    "null",
    "off",
    "0",
    "1",
    "-16",
    "-17",
    "64",
    "65",
    "0.5",
    "-4.0",
    "0x12345678",
    "0x123456789",
    "lit(0x1)",
    "-v1",
    "|v2|",
    "-|s3|",
    "neg(1)",
    "sext(v1)",
    "offset:4095",
    "offset:-1",
    "offset:99999999999",
    "glc",
    "slc",
    "dlc",
    "quad_perm:[0,1,2,3]",
    "row_shl:1",
    "dst_sel:BYTE_0",
    "clamp",
    "mul:2",
    "op_sel:[0,1]",
    "dmask:0xf",
    "dim:SQ_RSRC_IMG_2D",
    "vmcnt(0)",
    "sendmsg(MSG_INTERRUPT)",
];

#[test]
fn any_text_is_an_instruction_or_refused() {
    let input = bolero::check!().with_type::<(u8, [u32; 4], u16, u8, Vec<(u8, u8)>, String)>();
    input.with_iterations(10_000).for_each(|(which, dwords, operation, suffix, pieces, noise)| {
        let (level, wave) = generation(*which);
        let opcodes = table(level).opcodes();
        // A true line, or a name with a suffix; its operands are changed, or there are others.
        let mut text = match decode(level, wave, dwords) {
            Ok(instruction) if suffix & 8 == 0 => instruction.to_string(),
            _ => {
                let name = opcodes[usize::from(*operation) % opcodes.len()].name();
                format!("{name}{} ", ["", "_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp", "", ""][usize::from(suffix % 8)])
            }
        };
        for &(piece, place) in pieces.iter().take(usize::from(suffix >> 6)) {
            let piece = PIECES[usize::from(piece) % PIECES.len()];
            let mut operands: Vec<&str> = text.split(", ").collect();
            let place = usize::from(place) % (operands.len() + 1);
            match operands.get_mut(place) {
                Some(operand) => *operand = piece,
                None => operands.push(piece),
            }
            text = operands.join(", ");
        }
        match which % 16 {
            0 => text.clone_from(noise),
            1 => text.push_str(noise),
            2 => text = format!("{text} :: {text}"),
            _ => {}
        }
        let assembled = assemble(level, wave, &text);
        match &assembled {
            Ok(instruction) => assert!(!instruction.to_string().is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        ASSEMBLED.count(assembled.is_ok());
    });
    ASSEMBLED.report();
}

/// Kind, places, sizes, alignment and constant, stride and element.
type Asked = (u8, (u8, u8), (u8, u8), (u32, u32, u32), (u8, u8));

#[test]
fn any_request_is_loaded_or_refused() {
    let places = [Place::None, Place::Constant, Place::Scalar, Place::Vector];
    let kinds = [
        Kind::Buffer,
        Kind::ScalarBuffer,
        Kind::Global,
        Kind::ScalarGlobal,
        Kind::Lds,
        Kind::Scratch,
        Kind::SwizzledBuffer,
    ];
    bolero::check!().with_type::<(u8, Asked)>().with_iterations(20_000).for_each(|&(which, asked)| {
        let (kind, (offset, address), (components, bytes), (mul, align, const_offset), (stride, element)) = asked;
        let mul = if which & 1 == 0 { 1 << (mul % 32) } else { mul };
        let request = Request {
            kind: kinds[usize::from(kind) % kinds.len()],
            components: if which & 2 == 0 { components % 17 } else { components },
            component_bytes: if which & 4 == 0 { 1 << (bytes % 4) } else { bytes },
            align: Alignment { mul, offset: if which & 8 == 0 { align & mul.wrapping_sub(1) } else { align } },
            const_offset: if which & 16 == 0 { const_offset % 8192 } else { const_offset },
            offset: places[usize::from(offset % 4)],
            address: places[usize::from(address % 4)],
            component_stride: if which & 32 == 0 { 0 } else { stride },
            swizzle_element: if which & 32 == 0 { 0 } else { element },
        };
        let level = GfxLevel::ALL[usize::from(which) % GfxLevel::ALL.len()];
        let loads = split(&request, level).map(drop);
        let planned = plan(&request, level).map(drop);
        let accessed = accesses(&request).map(drop);
        for error in [&loads, &planned, &accessed].into_iter().filter_map(|result| result.as_ref().err()) {
            assert!(!error.to_string().is_empty());
        }
        LOADED.count(planned.is_ok());
    });
    LOADED.report();
}
