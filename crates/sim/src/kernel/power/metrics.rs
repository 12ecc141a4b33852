//! gpu_metrics: a binary file with all figures, in a format that depends on the generation.

use std::time::Duration;

use amdgpu_hw::{Chip, GfxLevel};
use zerocopy::IntoBytes;

use super::figures::Figures;
use crate::chips::Profile;

/// Little-endian fields, one after the other. Unknown values have all bits set, as in the kernel.
struct Fields(Vec<u8>);

impl Fields {
    /// Returns the header. Its length is set at the end.
    fn new(format: u8, content: u8) -> Self {
        Self(vec![0, 0, format, content])
    }

    fn word(&mut self, value: impl TryInto<u16>) {
        self.0.extend(value.try_into().unwrap_or(u16::MAX).to_le_bytes());
    }

    fn words(&mut self, values: &[u32]) {
        for &value in values {
            self.word(value);
        }
    }

    fn unknown_words(&mut self, count: usize) {
        self.0.extend(std::iter::repeat_n(0xff, 2 * count));
    }

    fn dword(&mut self, value: u32) {
        self.0.extend(value.as_bytes());
    }

    fn qword(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        let len = u16::try_from(self.0.len()).unwrap_or(u16::MAX).to_le_bytes();
        if let Some(head) = self.0.get_mut(..2) {
            head.copy_from_slice(&len);
        }
        self.0
    }
}

/// The format of the file on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The format of a card, version 1.0, 1.1 or 1.3.
    Card(u8),
    /// The format of an APU, version 2.1 to 2.3.
    Apu(u8),
    /// The format 3.0 of an APU, from GFX11.5 on.
    NewApu,
}

impl Form {
    /// Returns the form with a format and content revision; `None` if it is not known.
    const fn of_revisions(format: u8, content: u8) -> Option<Self> {
        match (format, content) {
            (1, 0 | 1 | 3) => Some(Self::Card(content)),
            (2, 1..=3) => Some(Self::Apu(content)),
            (3, 0) => Some(Self::NewApu),
            _ => None,
        }
    }
}

/// Returns the format: that of a recorded file's header, or otherwise that of the driver; `None` if the chip has no such file.
///
/// Source: Linux 6.12 `amdgpu_pm.c`, `default_attr_update` (none before GFX 9.1), and `get_gpu_metrics` of each driver of
/// power management.
fn form(profile: &Profile, chip: Option<Chip>) -> Option<Form> {
    if let Some(&[_, _, format, content, ..]) = profile.sysfs.get("gpu_metrics")
        && let Some(recorded) = Form::of_revisions(format, content)
    {
        return Some(recorded);
    }
    match (profile.gfx_level, chip) {
        (level, _) if level < GfxLevel::Gfx9 => None,
        (_, Some(Chip::CHIP_VEGA10 | Chip::CHIP_RAVEN | Chip::CHIP_RAVEN2)) => None,
        (_, Some(Chip::CHIP_VEGA12 | Chip::CHIP_VEGA20)) => Some(Form::Card(0)),
        (_, Some(Chip::CHIP_VANGOGH)) => Some(Form::Apu(3)),
        (GfxLevel::Gfx9, _) if profile.is_apu() => Some(Form::Apu(2)),
        (GfxLevel::Gfx11_5, _) if profile.is_apu() => Some(Form::NewApu),
        _ if profile.is_apu() => Some(Form::Apu(1)),
        _ => Some(Form::Card(3)),
    }
}

/// Returns the content of gpu_metrics; `None` if the chip has no such file.
///
/// Source: Linux 6.12 `kgd_pp_interface.h`, `struct gpu_metrics_v1_0`, `v1_3`, `v2_1` to `v2_3` and `v3_0`.
pub(crate) fn gpu_metrics(profile: &Profile, figures: &Figures, uptime: Duration) -> Option<Vec<u8>> {
    let dev = &profile.dev_info;
    let chip = amdgpu_hw::identify(amdgpu_hw::Family::from(dev.family), dev.external_rev);
    let uptime = u64::try_from(uptime.as_nanos()).unwrap_or(u64::MAX);
    Some(match form(profile, chip)? {
        Form::Card(0) => card_v1_0(profile, figures, uptime),
        Form::Card(_) => card_v1_3(profile, figures, uptime),
        Form::Apu(content) => apu(figures, uptime, content),
        Form::NewApu => apu_v3_0(figures, uptime),
    })
}

/// Returns the temperatures of a card in degrees: edge, hotspot, memory and three regulators.
fn temperatures(figures: &Figures) -> [u32; 6] {
    let edge = u32::try_from(figures.edge / 1000).unwrap_or(0);
    [edge, edge + 8, edge + 4, edge + 2, edge + 1, edge + 1]
}

/// Returns the link's number of lanes and its speed in tenths of GT/s.
fn link(profile: &Profile) -> [u32; 2] {
    let speed = match profile.dev_info.pcie_gen {
        0 | 1 => 25,
        2 => 50,
        3 => 80,
        4 => 160,
        _ => 320,
    };
    [profile.dev_info.pcie_num_lanes, speed]
}

fn card_v1_0(profile: &Profile, figures: &Figures, uptime: u64) -> Vec<u8> {
    let mut fields = Fields::new(1, 0);
    fields.unknown_words(2);
    fields.qword(uptime);
    fields.words(&temperatures(figures));
    fields.words(&[figures.gpu_busy, figures.memory_busy, figures.video_busy, figures.power / 1000]);
    // The energy accumulator.
    fields.dword(u32::MAX);
    let clocks = [figures.shader_clock, figures.soc_clock, figures.memory_clock];
    for _ in 0..2 {
        fields.words(&clocks);
        fields.unknown_words(4);
    }
    fields.dword(0);
    fields.word(figures.fan);
    let [lanes, speed] = link(profile);
    fields.0.extend([u8::try_from(lanes).unwrap_or(u8::MAX), u8::try_from(speed / 10).unwrap_or(u8::MAX)]);
    fields.unknown_words(2);
    fields.finish()
}

fn card_v1_3(profile: &Profile, figures: &Figures, uptime: u64) -> Vec<u8> {
    let mut fields = Fields::new(1, 3);
    fields.words(&temperatures(figures));
    fields.words(&[figures.gpu_busy, figures.memory_busy, figures.video_busy, figures.power / 1000]);
    // The energy accumulator.
    fields.qword(u64::MAX);
    fields.qword(uptime);
    let clocks = [figures.shader_clock, figures.soc_clock, figures.memory_clock];
    for _ in 0..2 {
        fields.words(&clocks);
        fields.unknown_words(4);
    }
    fields.dword(0);
    fields.word(figures.fan);
    fields.words(&link(profile));
    fields.unknown_words(1);
    fields.dword(u32::MAX);
    fields.dword(u32::MAX);
    fields.unknown_words(4);
    fields.qword(uptime / 10);
    fields.words(&[900, figures.graphics_voltage, 1350]);
    fields.unknown_words(1);
    fields.qword(0);
    fields.finish()
}

fn apu(figures: &Figures, uptime: u64, content: u8) -> Vec<u8> {
    let mut fields = Fields::new(2, content);
    // In hundredths of a degree and of a percent.
    let edge = u32::try_from(figures.edge / 10).unwrap_or(0);
    fields.words(&[edge, edge]);
    fields.unknown_words(8 + 2);
    fields.words(&[100 * figures.gpu_busy, 100 * figures.video_busy]);
    fields.qword(uptime);
    let (all, graphics) = (figures.power, figures.power / 2);
    fields.words(&[all, all - graphics, graphics / 2, graphics]);
    fields.unknown_words(8);
    let clocks = [figures.shader_clock, figures.soc_clock, figures.memory_clock, figures.memory_clock];
    for _ in 0..2 {
        fields.words(&clocks);
        fields.unknown_words(2);
    }
    fields.unknown_words(8 + 2);
    fields.dword(0);
    // The fan, which the laptop controls, and padding.
    fields.unknown_words(1 + 3);
    if content >= 2 {
        fields.qword(0);
    }
    if content >= 3 {
        fields.words(&[edge, edge]);
        fields.unknown_words(8 + 2);
    }
    fields.finish()
}

fn apu_v3_0(figures: &Figures, uptime: u64) -> Vec<u8> {
    let mut fields = Fields::new(3, 0);
    // In hundredths of a degree and of a percent. Cores and the neural processor are not simulated.
    let edge = u32::try_from(figures.edge / 10).unwrap_or(0);
    fields.words(&[edge, edge]);
    fields.unknown_words(16 + 1);
    fields.words(&[100 * figures.gpu_busy, 100 * figures.video_busy]);
    fields.unknown_words(8 + 16 + 4);
    // Padding before a number of 64 bits.
    fields.word(0);
    fields.qword(uptime);
    let (all, graphics) = (figures.power, figures.power / 2);
    fields.dword(all);
    // The neural processor's power, and padding.
    fields.unknown_words(1);
    fields.word(0);
    for power in [all, graphics, u32::MAX, all - graphics] {
        fields.dword(power);
    }
    fields.unknown_words(16 + 1);
    fields.words(&[figures.limits.power.1 / 1000; 2]);
    fields.words(&[figures.shader_clock, figures.soc_clock]);
    fields.unknown_words(2);
    fields.word(figures.memory_clock);
    fields.unknown_words(1);
    fields.word(figures.memory_clock);
    fields.unknown_words(1 + 16 + 1);
    fields.word(figures.limits.shader_clock.1);
    fields.word(0);
    // Seven residencies of throttling, and the filter's time constant.
    for _ in 0..8 {
        fields.dword(0);
    }
    fields.dword(0);
    fields.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chips::profile, kernel::power::Power};

    fn metrics(name: &str) -> Option<Vec<u8>> {
        let profile = profile(name).unwrap();
        let power = Power::new(None);
        power.follow(Some("60 50 25 61".parse().unwrap()));
        gpu_metrics(profile, &power.figures(profile, None), Duration::from_nanos(77))
    }

    /// Lengths are those of the C structures.
    #[test]
    fn each_chip_has_its_form() {
        for (name, expected) in [
            ("polaris10", None),
            ("vega10", None),
            ("raven", None),
            ("renoir", Some((128, 2, 2))),
            ("vangogh", Some((152, 2, 3))),
            ("raphael_mendocino", Some((120, 2, 1))),
            ("navi10", Some((120, 1, 3))),
            ("navi21", Some((120, 1, 3))),
            ("navi31", Some((120, 1, 3))),
            ("phoenix", Some((120, 2, 1))),
            ("rembrandt", Some((120, 2, 1))),
            ("gfx1150", Some((264, 3, 0))),
            ("gfx1151", Some((264, 3, 0))),
            ("gfx1201", Some((120, 1, 3))),
        ] {
            let bytes = metrics(name);
            let head = bytes.as_ref().map(|bytes| (u16::from_le_bytes([bytes[0], bytes[1]]), bytes[2], bytes[3]));
            assert_eq!(head, expected, "{name}");
            assert_eq!(bytes.map(|bytes| bytes.len()), expected.map(|(len, ..)| usize::from(len)), "{name}");
        }
    }

    #[test]
    fn fields_are_where_the_structures_have_them() {
        let word = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let card = metrics("navi21").unwrap();
        assert_eq!([4, 6, 16, 18, 22].map(|at| word(&card, at)), [61, 69, 50, 25, 128]);
        assert_eq!(card[32..40], 77_u64.to_le_bytes());
        assert_eq!((word(&card, 40), word(&card, 54)), (1487, 1487), "average and current shader clock");
        assert_eq!((word(&card, 74), word(&card, 76)), (16, 80), "lanes, and tenths of GT/s");
        let apu = metrics("renoir").unwrap();
        assert_eq!([4, 28].map(|at| word(&apu, at)), [6100, 5000]);
        assert_eq!(apu[32..40], 77_u64.to_le_bytes());
        assert_eq!((word(&apu, 64), word(&apu, 76)), (1000, 1000));
        let new = metrics("gfx1151").unwrap();
        assert_eq!([4, 42].map(|at| word(&new, at)), [6100, 5000]);
        assert_eq!(new[104..112], 77_u64.to_le_bytes());
        assert_eq!((word(&new, 174), word(&new, 186), word(&new, 224)), (1750, 700, 2900), "clocks");
    }
}
