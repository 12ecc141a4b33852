//! The kernel's checks of an IB before a video engine gets it.

use amdgpu_hw::Ip;

use super::{engine::VideoEngine, nops::JPEG_NOP};

/// The type of check that the kernel makes for an engine's IBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// UVD without address spaces: checks each packet, and requires a message for the firmware.
    Uvd,
    /// VCE: checks lengths, and requires a session at the start.
    Vce,
    /// JPEG 1.0: each packet must access a register of the decoder or of its memory interface.
    Jpeg1,
    /// JPEG 2.0 and later: each packet must access a register of the decoder.
    Jpeg2,
}

impl VideoEngine {
    /// Returns the check that the kernel makes for an IB; `None` if it makes none.
    ///
    /// Source: Linux 6.12 `parse_cs` of the ring functions: `uvd_v3_1.c` to `uvd_v6_0.c` (up to 6.2 they have no address spaces), `vce_v2_0.c`
    /// to `vce_v4_0.c`, `jpeg_v1_0.c`, `jpeg_v2_0.c` and later.
    pub(crate) const fn check(self) -> Option<Check> {
        match self.ip {
            Ip::Uvd if self.major < 6 || (self.major == 6 && self.minor < 3) => Some(Check::Uvd),
            Ip::Vce => Some(Check::Vce),
            Ip::VcnJpeg if self.major == 1 => Some(Check::Jpeg1),
            Ip::VcnJpeg => Some(Check::Jpeg2),
            _ => None,
        }
    }
}

/// Checks an IB.
///
/// # Errors
///
/// The reason why the kernel refuses the IB (EINVAL).
pub(crate) fn check(dwords: &[u32], check: Check) -> Result<(), &'static str> {
    match check {
        Check::Uvd => check_uvd(dwords),
        Check::Vce => check_vce(dwords),
        Check::Jpeg1 => check_jpeg(dwords, is_packet_of_jpeg1),
        Check::Jpeg2 => check_jpeg(dwords, is_packet_of_jpeg2),
    }
}

/// Source: Linux 6.12 `amdgpu_uvd.c`, `amdgpu_uvd_ring_parse_cs`; registers of `uvd/uvd_4_2_d.h`.
fn check_uvd(dwords: &[u32]) -> Result<(), &'static str> {
    const GPCOM_VCPU_CMD: u32 = 0x3bc3;
    const GPCOM_VCPU_DATA0: u32 = 0x3bc4;
    const GPCOM_VCPU_DATA1: u32 = 0x3bc5;
    const ENGINE_CNTL: u32 = 0x3bc6;
    const NO_OP: u32 = 0x3bff;
    if !dwords.len().is_multiple_of(16) {
        return Err("an IB for UVD has a multiple of 16 dwords");
    }
    let mut at = 0;
    let mut has_message = false;
    while let Some(&header) = dwords.get(at) {
        at += 1;
        match header >> 30 {
            2 => {}
            0 => {
                let (first, count) = (header & 0xffff, 1 + (header >> 16 & 0x3fff));
                for register in first..first + count {
                    let value = *dwords.get(at).ok_or("a write to registers goes on after the end of the IB")?;
                    at += 1;
                    match register {
                        // Bits 31:1 are the command. 0 is a message.
                        GPCOM_VCPU_CMD => has_message |= value >> 1 == 0,
                        GPCOM_VCPU_DATA0 | GPCOM_VCPU_DATA1 | ENGINE_CNTL | NO_OP => {}
                        _ => return Err("a register that UVD's IBs may not write"),
                    }
                }
            }
            _ => return Err("a packet of neither type 0 nor 2"),
        }
    }
    if has_message { Ok(()) } else { Err("an IB for UVD needs a message command") }
}

/// Source: Linux 6.12 `amdgpu_vce.c`, `amdgpu_vce_ring_parse_cs_vm`.
fn check_vce(dwords: &[u32]) -> Result<(), &'static str> {
    const SESSION: u32 = 1;
    let mut at = 0;
    let mut has_session = false;
    while at < dwords.len() {
        // The kernel reads zeros beyond the end.
        let value = |index: usize| dwords.get(index).copied().unwrap_or(0);
        let (len, command) = (value(at), value(at + 1));
        if len < 8 || !len.is_multiple_of(4) {
            return Err("a command of VCE whose length is no multiple of 4 from 8 on");
        }
        has_session |= command == SESSION;
        if !has_session {
            return Err("no session command at the start of an IB for VCE");
        }
        at += (len / 4) as usize;
    }
    Ok(())
}

/// Checks the header of each pair.
fn check_jpeg(dwords: &[u32], is_packet: fn(JpegHeader) -> bool) -> Result<(), &'static str> {
    for &dword in dwords.iter().step_by(2) {
        let header = JpegHeader {
            register: dword & 0x3_ffff,
            condition: dword >> 24 & 0xf,
            kind: dword >> 28,
            is_nop: dword == JPEG_NOP,
        };
        if dword >> 18 & 0x3f != 0 || !is_packet(header) {
            return Err("a packet that IBs for JPEG may not have");
        }
    }
    Ok(())
}

/// The header of a JPEG packet.
#[derive(Clone, Copy)]
struct JpegHeader {
    /// The register's offset in dwords.
    register: u32,
    condition: u32,
    kind: u32,
    is_nop: bool,
}

/// Source: Linux 6.12 `jpeg_v1_0.c`, `jpeg_v1_dec_ring_parse_cs`, and `jpeg_v1_0.h`.
fn is_packet_of_jpeg1(header: JpegHeader) -> bool {
    const DECODER: std::ops::RangeInclusive<u32> = 0x8000..=0x803f;
    const CTX_DATA: u32 = 0x8329;
    const SOFT_RESET: u32 = 0x83a0;
    let JpegHeader { register, condition, kind, is_nop } = header;
    condition == 0
        && (DECODER.contains(&register)
            || match kind {
                // The bases of writes and reads, and the index and data registers of the context.
                0 => matches!(register, 0x8238 | 0x8239 | 0x825a | 0x825b | 0x8328 | CTX_DATA),
                1 => register == CTX_DATA,
                3 => register == SOFT_RESET,
                6 => is_nop,
                _ => false,
            })
}

/// Source: Linux 6.12 `jpeg_v2_0.c`, `jpeg_v2_0_dec_ring_parse_cs`, and `jpeg_v2_0.h`.
fn is_packet_of_jpeg2(header: JpegHeader) -> bool {
    let is_register = (0x4000..=0x41c2).contains(&header.register);
    match header.kind {
        kind @ (0 | 3) => header.condition == kind && is_register,
        6 => header.is_nop,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uvd_without_address_spaces_needs_a_message() {
        let mut ib = [0x8000_0000; 16];
        assert_eq!(check(&ib, Check::Uvd), Err("an IB for UVD needs a message command"));
        ib[..2].copy_from_slice(&[0x3bc3, 0]);
        assert_eq!(check(&ib, Check::Uvd), Ok(()));
        ib[1] = 2;
        assert!(check(&ib, Check::Uvd).is_err(), "another command");
        assert!(check(&ib[..15], Check::Uvd).is_err(), "15 dwords");
        ib[15] = 0x3bff;
        assert_eq!(check(&ib, Check::Uvd), Err("a write to registers goes on after the end of the IB"));
        for header in [0x1000, 0xc000_0000, 0x4000_0000] {
            ib[2] = header;
            assert!(check(&ib, Check::Uvd).is_err(), "{header:#x}");
        }
        assert!(check(&[], Check::Uvd).is_err());
    }

    #[test]
    fn vce_wants_lengths_and_a_session_first() {
        assert_eq!(check(&[], Check::Vce), Ok(()));
        assert_eq!(check(&[12, 1, 77, 8, 0x0300_0001], Check::Vce), Ok(()));
        assert_eq!(check(&[8, 2], Check::Vce), Err("no session command at the start of an IB for VCE"));
        for wrong in [&[0, 0][..], &[7, 1], &[4, 1], &[8, 1, 10, 0], &[8]] {
            assert!(check(wrong, Check::Vce).is_err(), "{wrong:?}");
        }
        assert_eq!(check(&[u32::MAX - 3, 1], Check::Vce), Ok(()), "the kernel goes by the lengths");
    }

    #[test]
    fn jpeg_packets_concern_its_own_registers() {
        for (check_of, fine, wrong) in [
            (
                Check::Jpeg2,
                &[JPEG_NOP, 0x4000, 0x41c2, 0x3300_4010][..],
                &[0x3fff, 0x41c3, 0x3000_4010, 0x0300_4010, 0x6000_0001, 0x1000_4000, 0x4_4000, u32::MAX][..],
            ),
            (
                Check::Jpeg1,
                &[JPEG_NOP, 0x8000, 0x803f, 0x8238, 0x1000_8329, 0x3000_83a0],
                &[0x7fff, 0x8040, 0x0300_8000, 0x1000_8328, 0x3300_83a0, 0x6000_0001, 0x4_8000, u32::MAX],
            ),
        ] {
            for &header in fine {
                assert_eq!(check(&[header, 0xdead], check_of), Ok(()), "{check_of:?} {header:#x}");
            }
            for &header in wrong {
                assert!(check(&[JPEG_NOP, 0, header], check_of).is_err(), "{check_of:?} {header:#x}");
            }
        }
    }
}
