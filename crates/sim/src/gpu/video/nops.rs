//! The NOPs of each type of video engine.

use super::commands::{Commands, Found};

/// Bits 31:30 of a decoder's header for writes of registers.
const TYPE0: u32 = 0;
/// Bits 31:30 of a decoder's header for a NOP of one dword.
const TYPE2: u32 = 2;
/// The NOP of the JPEG decoder, a header of type 6. The dword after it is ignored.
///
/// Source: Linux 6.12 `soc15d.h`, `CP_PACKETJ_NOP`.
pub(super) const JPEG_NOP: u32 = 0x6000_0000;

/// Returns the first command in an IB that is not a NOP.
///
/// Source: Linux 6.12 `insert_nop` and `nop` of the ring functions in `uvd_v3_1.c` to `uvd_v7_0.c`, `vcn_v1_0.c` to
/// `vcn_v5_0_0.c` and `jpeg_v1_0.c` to `jpeg_v5_0_0.c`; Mesa 25.0.7 `amdgpu_cs.cpp`, `amdgpu_cs_flush`, for padding.
pub(super) fn first_command(dwords: &[u32], commands: Commands) -> Option<Found> {
    match commands {
        Commands::Decode { no_op } => first_register(dwords, no_op),
        // HEVC_ENC_CMD_NO_OP and VCN_ENC_CMD_NO_OP are 0.
        Commands::Encode => first(dwords, 1, 0, "a command"),
        Commands::Jpeg => first(dwords, 2, JPEG_NOP, "a packet"),
        // The kernel's parser requires a session at the start of each IB, so an IB that reaches the engine never starts with a NOP.
        Commands::Vce => first(dwords, 1, u32::MAX, "a command"),
    }
}

/// Returns the first dword at a multiple of `step` that is not a NOP.
fn first(dwords: &[u32], step: usize, nop: u32, what: &'static str) -> Option<Found> {
    let mut headers = dwords.iter().copied().enumerate().step_by(step);
    headers.find(|&(_, dword)| dword != nop).map(|(offset, dword)| Found { offset, dword, what })
}

fn first_register(dwords: &[u32], no_op: &[u32]) -> Option<Found> {
    let mut offset = 0;
    while let Some(&dword) = dwords.get(offset) {
        let refused = |what| Some(Found { offset, dword, what });
        match dword >> 30 {
            TYPE2 => offset += 1,
            TYPE0 => {
                let (register, more) = (dword & 0xffff, (dword >> 16 & 0x3fff) as usize);
                if more > 0 || !no_op.contains(&register) {
                    return refused("a write to a register that is not UVD_NO_OP");
                }
                if offset + 1 >= dwords.len() {
                    return refused("a packet that is cut off");
                }
                offset += 2;
            }
            _ => return refused("a packet of neither type 0 nor 2"),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const UVD: Commands = Commands::Decode { no_op: &[0x3bff] };

    fn offset(dwords: &[u32], commands: Commands) -> Option<usize> {
        first_command(dwords, commands).map(|found| found.offset)
    }

    #[test]
    fn nops_of_each_engine_are_nothing() {
        for (dwords, commands) in [
            (&[0x3bff, 7, 0x8000_0000, 0x3bff, 0][..], UVD),
            (&[0x81ff, 0x81ff, 0x53f, 0], Commands::Decode { no_op: &[0x81ff, 0x53f] }),
            (&[0, 0, 0], Commands::Encode),
            (&[JPEG_NOP, 5, JPEG_NOP], Commands::Jpeg),
            (&[], Commands::Vce),
        ] {
            assert_eq!(first_command(dwords, commands), None, "{dwords:x?}");
        }
    }

    #[test]
    fn the_first_command_is_found_where_it_is() {
        assert_eq!(offset(&[0x8000_0000, 0x3bc3, 0], UVD), Some(1), "another register");
        assert_eq!(offset(&[0x3bff, 0, 0x3bff], UVD), Some(2), "no value");
        assert_eq!(offset(&[0x1_3bff, 0, 0], UVD), Some(0), "two registers");
        assert_eq!(offset(&[0xc000_1000, 0], UVD), Some(0), "type 3");
        assert_eq!(offset(&[0x4000_0000], UVD), Some(0), "type 1");
        assert_eq!(offset(&[0, 8], Commands::Encode), Some(1));
        assert_eq!(offset(&[JPEG_NOP, 0, 0x4000], Commands::Jpeg), Some(2));
        assert_eq!(offset(&[8, 1], Commands::Vce), Some(0));
    }
}
