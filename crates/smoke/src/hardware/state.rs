//! The state of the hardware before, during and after a check, and the events during it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of the hardware before, during and after a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hardware {
    /// The sensor values before the check.
    pub before: Sensors,
    /// The highest sensor values during the check, which are read ten times a second.
    pub peak: Sensors,
    /// The sensor values after the check.
    pub after: Sensors,
    /// The hardware events during the check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<HardwareEvent>,
}

/// The sensor values of a GPU at one moment. `None` if the GPU does not report the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sensors {
    /// Edge temperature of the die in thousandths of a degree Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_mc: Option<i64>,
    /// Junction temperature, that of the hottest point of the die, in thousandths of a degree Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub junction_mc: Option<i64>,
    /// Memory temperature in thousandths of a degree Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mc: Option<i64>,
    /// Power in microwatts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_uw: Option<i64>,
    /// Shader clock in Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shader_clock_hz: Option<i64>,
    /// Memory clock in Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_clock_hz: Option<i64>,
    /// Fan speed in revolutions per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_rpm: Option<i64>,
    /// Load of the graphics engine in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_percent: Option<i64>,
    /// Transfer rate of the slowest PCI Express link between the host and the GPU, in MT/s per lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_mts: Option<i64>,
    /// Number of lanes of the narrowest PCI Express link between the host and the GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_width: Option<i64>,
}

impl Sensors {
    /// Returns the higher of both figures for each sensor.
    #[must_use]
    pub(crate) fn highest(self, other: Self) -> Self {
        Self {
            edge_mc: self.edge_mc.max(other.edge_mc),
            junction_mc: self.junction_mc.max(other.junction_mc),
            memory_mc: self.memory_mc.max(other.memory_mc),
            power_uw: self.power_uw.max(other.power_uw),
            shader_clock_hz: self.shader_clock_hz.max(other.shader_clock_hz),
            memory_clock_hz: self.memory_clock_hz.max(other.memory_clock_hz),
            fan_rpm: self.fan_rpm.max(other.fan_rpm),
            busy_percent: self.busy_percent.max(other.busy_percent),
            link_mts: self.link_mts.max(other.link_mts),
            link_width: self.link_width.max(other.link_width),
        }
    }
}

/// A rule of the hardware watch, which an event breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HardwareRule {
    /// A RAS counter of uncorrectable errors increased.
    RasUncorrectable,
    /// A RAS counter of deferred errors increased: memory is corrupt, but its data has not been used yet.
    RasDeferred,
    /// A RAS counter of corrected errors increased.
    RasCorrectable,
    /// The AER counter of fatal errors increased.
    AerFatal,
    /// The AER counter of non-fatal uncorrectable errors increased.
    AerNonfatal,
    /// The AER counter of corrected errors increased.
    AerCorrectable,
    /// A PCI Express link lost lanes.
    LinkWidth,
    /// A PCI Express link is slower under load than it was before.
    LinkSpeed,
    /// A PCI Express link has had fewer lanes than both of its ends since the run began.
    LinkNarrow,
    /// A PCI Express link is slower under load than both of its ends, and was never seen faster.
    LinkSlow,
    /// A temperature reached its critical limit.
    Temperature,
    /// The kernel logged an error about the GPU.
    KernelError,
    /// Reading the files of the GPU took too long.
    NoAnswer,
}

impl HardwareRule {
    /// Returns `true` if such an event makes a check fail regardless of its own result.
    pub const fn is_fatal(self) -> bool {
        matches!(self, Self::RasUncorrectable | Self::AerFatal)
    }

    /// Returns a description of the broken rule.
    pub const fn words(self) -> &'static str {
        match self {
            Self::RasUncorrectable => "new uncorrectable RAS error",
            Self::RasDeferred => "new deferred RAS error",
            Self::RasCorrectable => "new corrected RAS error",
            Self::AerFatal => "new fatal PCIe error",
            Self::AerNonfatal => "new uncorrectable PCIe error, not fatal",
            Self::AerCorrectable => "new corrected PCIe error",
            Self::LinkWidth => "PCIe link became narrower",
            Self::LinkSpeed => "PCIe link became slower under load",
            Self::LinkNarrow => "PCIe link is narrower than card and slot",
            Self::LinkSlow => "PCIe link is slower under load than card and slot",
            Self::Temperature => "critical temperature",
            Self::KernelError => "kernel error",
            Self::NoAnswer => "sensors do not answer",
        }
    }
}

/// A hardware event during a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareEvent {
    /// The rule that the event broke.
    pub rule: HardwareRule,
    /// The counter, sensor or file that reported it.
    pub source: String,
    /// The value before the check, or the limit.
    pub before: String,
    /// The value during or after the check, or the message.
    pub after: String,
}

impl fmt::Display for HardwareEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, source, before, after } = self;
        write!(f, "{}: {source} ", rule.words())?;
        match rule {
            HardwareRule::Temperature => write!(f, "{after}, limit {before}"),
            HardwareRule::LinkNarrow | HardwareRule::LinkSlow => write!(f, "{after} of {before}"),
            HardwareRule::KernelError | HardwareRule::NoAnswer => write!(f, "{after}"),
            _ => write!(f, "{before}, then {after}"),
        }
    }
}

impl Hardware {
    /// Returns the sensor values in one line; empty if the GPU reports none.
    pub fn line(&self) -> String {
        let figures = [
            ("edge", self.before.edge_mc, self.peak.edge_mc, 1_000, "°C"),
            ("junction", self.before.junction_mc, self.peak.junction_mc, 1_000, "°C"),
            ("memory", self.before.memory_mc, self.peak.memory_mc, 1_000, "°C"),
            ("power", self.before.power_uw, self.peak.power_uw, 1_000_000, "W"),
            ("shader clock", self.before.shader_clock_hz, self.peak.shader_clock_hz, 1_000_000, "MHz"),
            ("memory clock", self.before.memory_clock_hz, self.peak.memory_clock_hz, 1_000_000, "MHz"),
            ("fan", self.before.fan_rpm, self.peak.fan_rpm, 1, "rpm"),
        ];
        let figures = figures.into_iter().filter_map(|(name, before, peak, unit, symbol)| {
            let (before, peak) = (before? / unit, peak? / unit);
            let rise = if peak > before { format!(" to {peak}") } else { String::new() };
            Some(format!("{name} {before}{rise} {symbol}"))
        });
        let link = self.after.link_mts.zip(self.after.link_width);
        let link = link.map(|(speed, width)| format!("PCIe {} x{width}", Speed(speed)));
        figures.chain(link).collect::<Vec<_>>().join(", ")
    }
}

/// The rate of a link in millions of transfers a second, as sysfs writes it.
pub(crate) struct Speed(pub(crate) i64);

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} GT/s", self.0 / 1000, self.0 % 1000 / 100)
    }
}

/// The sources that the hardware watch of a GPU reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// The sources that are read.
    pub sources: Vec<String>,
    /// The sources that cannot be read, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources = if self.sources.is_empty() { "nothing".to_owned() } else { self.sources.join(", ") };
        write!(f, "{sources}")?;
        if !self.missing.is_empty() {
            write!(f, "; not {}", self.missing.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_names_counter_and_values() {
        let event = |rule, source: &str, before: &str, after: &str| {
            let (source, before, after) = (source.to_owned(), before.to_owned(), after.to_owned());
            HardwareEvent { rule, source, before, after }.to_string()
        };
        assert_eq!(
            event(HardwareRule::RasUncorrectable, "ras/umc_err_count ue", "0", "1"),
            "new uncorrectable RAS error: ras/umc_err_count ue 0, then 1"
        );
        assert_eq!(
            event(HardwareRule::Temperature, "edge", "100 °C", "101 °C"),
            "critical temperature: edge 101 °C, limit 100 °C"
        );
    }

    #[test]
    fn the_line_tells_only_what_is_known_and_rises_where_there_were_some() {
        let before = Sensors { edge_mc: Some(38_000), power_uw: Some(7_000_000), ..Sensors::default() };
        let peak = Sensors { edge_mc: Some(51_500), ..before };
        let after = Sensors { link_mts: Some(2_500), link_width: Some(8), ..before };
        let hardware = Hardware { before, peak, after, events: Vec::new() };
        assert_eq!(hardware.line(), "edge 38 to 51 °C, power 7 W, PCIe 2.5 GT/s x8");
        assert_eq!(Hardware::default().line(), "");
    }
}
