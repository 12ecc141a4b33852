//! Clocks, temperatures, power and fan speeds for a load.
//!
//! The captures contain only the maximum clocks, and some the limits in sysfs of a real machine. All other values are invented:
//! plausible, reproducible, and increasing with the load.

use amdgpu_hw::GfxLevel;

use crate::chips::Profile;

/// The load at a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// The percentage of time in which graphics and compute rings worked.
    pub(super) shaders: u32,
    /// The percentage of time in which memory was accessed.
    pub(super) memory: u32,
    /// The percentage of time in which video engines worked.
    pub(super) video: u32,
    /// The given temperature in thousandths of a degree Celsius, if any.
    pub(super) temperature: Option<i32>,
}

/// The values at a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    /// The load of the graphics engine in percent.
    pub(crate) gpu_busy: u32,
    /// The load of the memory in percent.
    pub(crate) memory_busy: u32,
    /// The load of the video engines in percent.
    pub(crate) video_busy: u32,
    /// The shader clock in MHz.
    pub(crate) shader_clock: u32,
    /// The memory clock in MHz.
    pub(crate) memory_clock: u32,
    /// The SoC clock, between engines and memory, in MHz.
    pub(crate) soc_clock: u32,
    /// The temperature at the edge of the die in thousandths of a degree Celsius.
    pub(crate) edge: i32,
    /// The power in milliwatts.
    pub(crate) power: u32,
    /// The voltage of the graphics block in millivolts.
    pub(crate) graphics_voltage: u32,
    /// The voltage of an APU's northbridge in millivolts.
    pub(crate) northbridge_voltage: u32,
    /// The speed of the fan in revolutions per minute.
    pub(crate) fan: u32,
    /// The duty cycle of the fan, from 0 to 255.
    pub(crate) pwm: u32,
    pub(crate) limits: Limits,
}

/// The limits of a chip's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The minimum and maximum shader clock in MHz.
    pub(crate) shader_clock: (u32, u32),
    /// The minimum and maximum memory clock in MHz.
    pub(crate) memory_clock: (u32, u32),
    /// The minimum and maximum SoC clock in MHz.
    pub(crate) soc_clock: (u32, u32),
    /// The idle and maximum power in milliwatts.
    pub(crate) power: (u32, u32),
    /// The maximum speed of the fan in revolutions per minute.
    pub(crate) fan: u32,
}

/// The edge temperature of an idle chip in thousandths of a degree Celsius.
const IDLE: i32 = 38_000;

impl Limits {
    pub(crate) fn new(profile: &Profile) -> Self {
        let dev = &profile.dev_info;
        let is_apu = profile.is_apu();
        // Captures have kHz; some have none of these values.
        let range = |min: u64, max: u64, otherwise: (u32, u32)| {
            let high = u32::try_from(max / 1000).ok().filter(|&mhz| mhz > 0).unwrap_or(otherwise.1);
            let low = u32::try_from(min / 1000).ok().filter(|&mhz| mhz > 0).unwrap_or(otherwise.0);
            (low.min(high), high)
        };
        let shaders = if is_apu { (200, 1600) } else { (300, 1200) };
        let memory = if is_apu { (400, 1600) } else { (96, 1000) };
        let recorded = |file: &str, divisor: u64| {
            profile.sysfs.number(file).and_then(|value| u32::try_from(value / divisor).ok()).filter(|&value| value > 0)
        };
        // Four watts for each compute unit of a card.
        let guess = if is_apu { 15_000 } else { (4_000 * dev.cu_active_number).clamp(30_000, 500_000) };
        let most = recorded("hwmon/power1_cap_default", 1000).unwrap_or(guess).clamp(8_000, 1_000_000);
        Self {
            shader_clock: range(dev.min_engine_clock, dev.max_engine_clock, shaders),
            memory_clock: range(dev.min_memory_clock, dev.max_memory_clock, memory),
            soc_clock: if is_apu { (400, 1200) } else { (480, 1200) },
            power: (if is_apu { 1_500 } else { 7_000 }, most),
            fan: recorded("hwmon/fan1_max", 1).unwrap_or(3_300).min(50_000),
        }
    }
}

/// Returns the value at a percentage of a range.
const fn between((low, high): (u32, u32), percent: u32) -> u32 {
    let percent = if percent > 100 { 100 } else { percent };
    low + (high - low) * percent / 100
}

impl Figures {
    pub(super) fn new(profile: &Profile, load: Load) -> Self {
        let limits = Limits::new(profile);
        let heat = i32::try_from(load.shaders.max(load.video / 2)).unwrap_or(100);
        let edge = load.temperature.unwrap_or(IDLE + 420 * heat);
        // The fan stands still below 50 degrees, and is at its highest from 100 on.
        let duty = u32::try_from((edge - 50_000).clamp(0, 50_000) / 500).unwrap_or(0);
        Self {
            gpu_busy: load.shaders,
            memory_busy: load.memory,
            video_busy: load.video,
            shader_clock: between(limits.shader_clock, load.shaders),
            memory_clock: between(limits.memory_clock, load.memory.max(load.shaders)),
            soc_clock: between(limits.soc_clock, load.shaders.max(load.memory)),
            edge,
            power: between(limits.power, (3 * load.shaders + load.memory) / 4),
            graphics_voltage: between((700, 1100), load.shaders),
            northbridge_voltage: between((650, 850), load.memory),
            fan: between((0, limits.fan), duty),
            pwm: between((0, 255), duty),
            limits,
        }
    }
}

/// Returns the levels of a clock in MHz, with the index of the one in force.
///
/// Drivers of Navi and later show the ends of the range and the current clock between them (Linux 6.12 `navi10_ppt.c`,
/// `navi10_emit_clk_levels`), those before a table of eight.
pub(crate) fn levels(level: GfxLevel, (low, high): (u32, u32), now: u32) -> (Vec<u32>, usize) {
    if level >= GfxLevel::Gfx10 {
        let index = if now <= low { 0 } else { 1 + usize::from(now >= high) };
        let middle = if index == 1 { now } else { low.midpoint(high) };
        return (vec![low, middle, high], index);
    }
    let table: Vec<u32> = (0..8).map(|step| low + (high - low) * step / 7).collect();
    let index = table.iter().position(|&clock| clock >= now).unwrap_or(7);
    (table, index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::profiles;

    fn load(percent: u32) -> Load {
        Load { shaders: percent, memory: percent, video: 0, temperature: None }
    }

    #[test]
    fn figures_rise_with_the_load_and_stay_in_their_ranges_on_every_chip() {
        for profile in profiles() {
            let all: Vec<Figures> = (0..=100).map(|percent| Figures::new(profile, load(percent))).collect();
            for pair in all.windows(2) {
                let [low, high] = pair else { unreachable!("pairs") };
                assert!(low.shader_clock <= high.shader_clock && low.power <= high.power, "{}", profile.name);
                assert!(low.edge < high.edge && low.fan <= high.fan, "{}", profile.name);
            }
            let (idle, full) = (all[0], all[100]);
            assert_eq!((idle.shader_clock, full.shader_clock), idle.limits.shader_clock, "{}", profile.name);
            assert_eq!((idle.power, full.power), idle.limits.power, "{}", profile.name);
            assert_eq!((idle.fan, full.edge), (0, 80_000), "{}", profile.name);
            assert!(idle.limits.shader_clock.1 > 0 && idle.limits.memory_clock.1 > 0, "{}", profile.name);
        }
    }

    #[test]
    fn levels_have_the_clock_in_force_among_them() {
        let range = (500, 2500);
        assert_eq!(levels(GfxLevel::Gfx10_3, range, 500), (vec![500, 1500, 2500], 0));
        assert_eq!(levels(GfxLevel::Gfx10_3, range, 900), (vec![500, 900, 2500], 1));
        assert_eq!(levels(GfxLevel::Gfx10_3, range, 2500), (vec![500, 1500, 2500], 2));
        assert_eq!(levels(GfxLevel::Gfx8, (300, 1000), 550), (vec![300, 400, 500, 600, 700, 800, 900, 1000], 3));
        assert_eq!(levels(GfxLevel::Gfx10_3, (200, 200), 200), (vec![200, 200, 200], 0));
    }
}
