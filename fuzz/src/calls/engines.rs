//! The video engines of the simulated chips.

use amdgpu_winsys_c::objects::*;

/// The longest unit of lengths of IBs.
pub(super) const LONGEST_UNIT: usize = 64;

/// A simulated chip, and what its video engines take. The simulator executes their NOPs alone.
pub(super) struct Chip {
    pub(super) name: &'static str,
    /// IPs with one ring each.
    pub(super) rings: &'static [u32],
    /// Header of a write to UVD_NO_OP, which a decoder ignores.
    no_op: u32,
    /// IPs whose IBs of [`Chip::packet`] the kernel refuses: UVD needs a message there, and VCE a session.
    pub(super) refused: &'static [u32],
}

const CHIPS: [Chip; 5] = [
    Chip { name: "navi21", rings: &[AGW_IP_VCN_DEC, AGW_IP_VCN_ENC, AGW_IP_VCN_JPEG], no_op: 0x81ff, refused: &[] },
    Chip { name: "raven", rings: &[AGW_IP_VCN_DEC, AGW_IP_VCN_ENC, AGW_IP_VCN_JPEG], no_op: 0x81ff, refused: &[] },
    Chip { name: "navi31", rings: &[AGW_IP_VCN_ENC, AGW_IP_VCN_JPEG], no_op: 0x81ff, refused: &[] },
    Chip { name: "polaris10", rings: &[AGW_IP_UVD, AGW_IP_UVD_ENC, AGW_IP_VCE], no_op: 0x3bff, refused: &[AGW_IP_VCE] },
    Chip { name: "stoney", rings: &[AGW_IP_UVD, AGW_IP_VCE], no_op: 0x3bff, refused: &[AGW_IP_UVD, AGW_IP_VCE] },
];

impl Chip {
    /// Returns the chip of a life: mostly the first.
    pub(super) fn of(which: u8) -> &'static Self {
        CHIPS.get(usize::from(which % 8)).unwrap_or(&CHIPS[0])
    }

    pub(super) fn has(&self, ip: u32) -> bool {
        self.rings.contains(&ip)
    }

    /// Returns an IP for a number: mostly one with a ring.
    pub(super) fn ip(&self, which: u8) -> u32 {
        match which {
            240.. => which.into(),
            200..240 => AGW_IP_UVD + u32::from(which % 7),
            _ => self.rings[usize::from(which) % self.rings.len()],
        }
    }

    /// Returns dwords that the engine ignores, with the value in them if they have room for one; for VCE a command that the kernel
    /// refuses.
    pub(super) fn packet(&self, ip: u32, value: u32) -> Vec<u32> {
        match ip {
            AGW_IP_UVD | AGW_IP_VCN_DEC => vec![self.no_op, value],
            AGW_IP_VCN_JPEG => vec![0x6000_0000, value],
            AGW_IP_VCE => vec![8, 2],
            _ => vec![0],
        }
    }

    /// Returns the NOPs that the library pads with, as many whole ones as fit.
    pub(super) fn nops(ip: u32, dwords: usize) -> Vec<u32> {
        let nop: &[u32] = match ip {
            AGW_IP_UVD => &[0x8000_0000],
            AGW_IP_VCN_DEC => &[0x81ff, 0],
            AGW_IP_VCN_JPEG => &[0x6000_0000, 0],
            AGW_IP_VPE => &[0],
            _ => return Vec::new(),
        };
        nop.repeat(dwords / nop.len())
    }

    /// Returns the unit of lengths of IBs.
    pub(super) fn unit(&self, ip: u32) -> usize {
        match ip {
            _ if !self.has(ip) => 1,
            AGW_IP_UVD_ENC | AGW_IP_VCE | AGW_IP_VCN_ENC => LONGEST_UNIT,
            _ => 16,
        }
    }

    /// Returns the padding of a stream of so many dwords.
    pub(super) fn padding(&self, ip: u32, dwords: usize) -> Vec<u32> {
        let unit = self.unit(ip);
        let missing = match dwords {
            0 if ip == AGW_IP_UVD => 0,
            0 => unit,
            _ => dwords.next_multiple_of(unit) - dwords,
        };
        Self::nops(ip, missing)
    }

    /// Returns the most IBs of a call to the kernel.
    pub(super) const fn most_ibs(ip: u32) -> usize {
        if ip == AGW_IP_VCN_JPEG { 16 } else { 1 }
    }
}

/// Returns `true` if the IP is that of a video engine.
pub(super) const fn is_video(ip: u32) -> bool {
    AGW_IP_UVD <= ip && ip <= AGW_IP_VPE
}
