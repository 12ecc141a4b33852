//! Rules by which two readings are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::reading::{Files, Reading};
use super::state::{Hardware, HardwareEvent, HardwareRule, Sensors, Speed};

/// The load in percent at and above which a link must run at full speed.
const UNDER_LOAD: i64 = 50;

/// Facts that are kept from check to check.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The highest speed of each link so far.
    fastest: BTreeMap<String, i64>,
    /// Links whose number of lanes, or whose speed, was reported.
    reported: BTreeSet<(HardwareRule, String)>,
}

/// The readings of one check.
#[derive(Debug, Default)]
pub(crate) struct Course {
    before: Reading,
    peak: Sensors,
    /// The highest value of each temperature, in the order of [`Files::limits`].
    hottest: Vec<Option<i64>>,
    /// The smallest number of lanes of each link.
    narrowest: BTreeMap<String, i64>,
    /// The lowest speed of each link under load.
    slowest: BTreeMap<String, i64>,
    /// The speed of each link in the last reading, if that was of a GPU under load.
    loaded: BTreeMap<String, i64>,
}

impl Course {
    /// Starts with the reading before the check.
    pub(crate) fn new(before: Reading, memory: &mut Memory) -> Self {
        let mut course = Self::default();
        course.fold(&before, memory);
        Self { before, ..course }
    }

    /// Adds a reading of the time during which the check runs.
    pub(crate) fn add(&mut self, reading: &Reading, memory: &mut Memory) {
        self.fold(reading, memory);
        // An idle link is slow on purpose (Linux 6.12 `amdgpu_pm.c`, `pp_dpm_pcie`), and needs a moment to wake up: two readings
        // in a row have to find load.
        let is_loaded = reading.sensors.busy_percent >= Some(UNDER_LOAD);
        let speeds = reading.links.iter().filter_map(|(device, link)| Some((device.clone(), link.speed?)));
        let now: BTreeMap<_, _> = speeds.filter(|_| is_loaded).collect();
        for (device, &speed) in &now {
            let Some(&earlier) = self.loaded.get(device) else { continue };
            let slowest = self.slowest.entry(device.clone()).or_insert(i64::MAX);
            *slowest = speed.max(earlier).min(*slowest);
        }
        self.loaded = now;
    }

    /// Adds the values that also count if the GPU is idle.
    fn fold(&mut self, reading: &Reading, memory: &mut Memory) {
        self.peak = self.peak.highest(reading.sensors);
        self.hottest.resize(reading.temperatures.len().max(self.hottest.len()), None);
        for (hottest, now) in self.hottest.iter_mut().zip(&reading.temperatures) {
            *hottest = (*hottest).max(*now);
        }
        for (device, link) in &reading.links {
            if let Some(width) = link.width {
                let narrowest = self.narrowest.entry(device.clone()).or_insert(width);
                *narrowest = width.min(*narrowest);
            }
            let Some(speed) = link.speed else { continue };
            let fastest = memory.fastest.entry(device.clone()).or_insert(speed);
            *fastest = speed.max(*fastest);
        }
    }

    /// Ends with the reading after the check, and returns the sensor values and events.
    pub(crate) fn end(mut self, after: &Reading, files: &Files, memory: &mut Memory) -> Hardware {
        self.fold(after, memory);
        let mut events = self.counted(after);
        events.extend(self.links(memory));
        for ((label, limit), hottest) in files.limits().zip(&self.hottest) {
            let Some((limit, hottest)) = limit.zip(*hottest).filter(|(limit, hottest)| hottest >= limit) else {
                continue;
            };
            let degrees = |value: i64| format!("{} °C", value / 1000);
            events.push(event(HardwareRule::Temperature, label, degrees(limit), degrees(hottest)));
        }
        Hardware { before: self.before.sensors, peak: self.peak, after: after.sensors, events }
    }

    /// Returns the counters that increased. A counter that was not readable or was reset is compared starting with the next
    /// reading.
    fn counted(&self, after: &Reading) -> Vec<HardwareEvent> {
        let risen = after.counters.iter().filter_map(|(name, &(rule, now))| {
            let (_, before) = *self.before.counters.get(name)?;
            (now > before).then(|| event(rule, name, before.to_string(), now.to_string()))
        });
        let mut events: Vec<_> = risen.collect();
        // Events that fail the check come first.
        events.sort_by_key(|event| !event.rule.is_fatal());
        events
    }

    fn links(&self, memory: &mut Memory) -> Vec<HardwareEvent> {
        let mut events = Vec::new();
        for (device, &narrowest) in &self.narrowest {
            let before = self.before.links.get(device).and_then(|link| link.width);
            if let Some(before) = before.filter(|&before| before > narrowest) {
                let lanes = |width| format!("x{width}");
                events.push(event(HardwareRule::LinkWidth, device, lanes(before), lanes(narrowest)));
                // A link that became narrow is reported already.
                memory.reported.insert((HardwareRule::LinkNarrow, device.clone()));
            }
            let widest = self.before.links.get(device).and_then(|link| link.widest);
            if let Some(widest) = widest.filter(|&widest| narrowest < widest)
                && memory.reported.insert((HardwareRule::LinkNarrow, device.clone()))
            {
                events.push(event(HardwareRule::LinkNarrow, device, format!("x{widest}"), format!("x{narrowest}")));
            }
        }
        for (device, &slowest) in &self.slowest {
            let possible = self.before.links.get(device).and_then(|link| link.fastest);
            let seen = memory.fastest.get(device).copied();
            if let Some(possible) =
                possible.filter(|&possible| slowest < possible && seen.is_none_or(|seen| seen <= slowest))
                && memory.reported.insert((HardwareRule::LinkSlow, device.clone()))
            {
                let speed = |rate| Speed(rate).to_string();
                events.push(event(HardwareRule::LinkSlow, device, speed(possible), speed(slowest)));
            }
            let Some(fastest) = memory.fastest.get_mut(device).filter(|fastest| **fastest > slowest) else { continue };
            let speed = |rate| Speed(rate).to_string();
            events.push(event(HardwareRule::LinkSpeed, device, speed(*fastest), speed(slowest)));
            // It is reported once.
            *fastest = slowest;
            memory.reported.insert((HardwareRule::LinkSlow, device.clone()));
        }
        events
    }
}

pub(crate) fn event(rule: HardwareRule, source: &str, before: String, after: String) -> HardwareEvent {
    HardwareEvent { rule, source: source.to_owned(), before, after }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{HardwareError, SimDevice, SimOptions, profile};

    use super::*;
    use crate::hardware::source::{Monitor, Source};

    /// A simulated card with ECC and what watches it.
    struct Bench {
        device: SimDevice,
        source: Box<dyn Source>,
        files: Files,
        memory: Memory,
    }

    impl Bench {
        fn new() -> Self {
            let options = SimOptions { power: true, ras: true, ..SimOptions::default() };
            let device = SimDevice::new(profile("navi21").unwrap(), options);
            let source = Monitor::Simulated(device.clone()).open().unwrap();
            let files = Files::find(&*source);
            Self { device, source, files, memory: Memory::default() }
        }

        /// Returns the events of a check during which this happens.
        fn during(&mut self, happening: impl FnOnce(&SimDevice)) -> Vec<(HardwareRule, String)> {
            let mut course = Course::new(self.files.read(&*self.source), &mut self.memory);
            happening(&self.device);
            for _ in 0..2 {
                course.add(&self.files.sample(&*self.source), &mut self.memory);
            }
            let hardware = course.end(&self.files.read(&*self.source), &self.files, &mut self.memory);
            hardware.events.iter().map(|event| (event.rule, event.to_string())).collect()
        }
    }

    #[test]
    fn nothing_happens_on_a_healthy_card() {
        let mut bench = Bench::new();
        assert_eq!(bench.during(|_| {}), []);
        assert_eq!(bench.during(|device| device.follow_load(Some("60 100 100".parse().unwrap()))), []);
    }

    #[test]
    fn each_new_error_is_reported_with_its_counter_and_once() {
        let mut bench = Bench::new();
        for (error, rule, text) in [
            (
                HardwareError::RasUncorrectable,
                HardwareRule::RasUncorrectable,
                "new uncorrectable RAS error: ras/umc_err_count ue 0, then 1",
            ),
            (
                HardwareError::RasCorrectable,
                HardwareRule::RasCorrectable,
                "new corrected RAS error: ras/umc_err_count ce 0, then 1",
            ),
            (
                HardwareError::AerFatal,
                HardwareRule::AerFatal,
                "new fatal PCIe error: aer_dev_fatal of 0000:03:00.0 0, then 1",
            ),
            (
                HardwareError::AerNonfatal,
                HardwareRule::AerNonfatal,
                "new uncorrectable PCIe error, not fatal: aer_dev_nonfatal of 0000:03:00.0 0, then 1",
            ),
            (
                HardwareError::AerCorrectable,
                HardwareRule::AerCorrectable,
                "new corrected PCIe error: aer_dev_correctable of 0000:03:00.0 0, then 1",
            ),
        ] {
            assert_eq!(bench.during(|device| device.inject_hardware_error(error)), [(rule, text.to_owned())]);
            assert_eq!(bench.during(|_| {}), [], "{text}");
        }
    }

    #[test]
    fn a_narrower_link_is_reported_also_of_an_idle_card() {
        let mut bench = Bench::new();
        let text = "PCIe link became narrower: 0000:03:00.0 x16, then x8".to_owned();
        let events = bench.during(|device| device.inject_hardware_error(HardwareError::NarrowLink));
        assert_eq!(events, [(HardwareRule::LinkWidth, text)]);
        assert_eq!(bench.during(|_| {}), []);
    }

    #[test]
    fn a_link_that_was_narrow_or_slow_from_the_start_is_reported_once() {
        let mut bench = Bench::new();
        bench.device.inject_hardware_error(HardwareError::NarrowLink);
        bench.device.inject_hardware_error(HardwareError::SlowLink);
        let text = "PCIe link is narrower than card and slot: 0000:03:00.0 x8 of x16".to_owned();
        assert_eq!(bench.during(|_| {}), [(HardwareRule::LinkNarrow, text)]);
        let text = "PCIe link is slower under load than card and slot: 0000:03:00.0 2.5 GT/s of 8.0 GT/s".to_owned();
        let events = bench.during(|device| device.follow_load(Some("60 90 90".parse().unwrap())));
        assert_eq!(events, [(HardwareRule::LinkSlow, text)]);
        assert_eq!(bench.during(|_| {}), []);
    }

    #[test]
    fn a_slower_link_is_reported_under_load_alone_and_once() {
        let mut bench = Bench::new();
        bench.device.follow_load(Some("60 10 10".parse().unwrap()));
        assert_eq!(bench.during(|device| device.inject_hardware_error(HardwareError::SlowLink)), []);
        let text = "PCIe link became slower under load: 0000:03:00.0 8.0 GT/s, then 2.5 GT/s".to_owned();
        let events = bench.during(|device| device.follow_load(Some("60 90 90".parse().unwrap())));
        assert_eq!(events, [(HardwareRule::LinkSpeed, text)]);
        assert_eq!(bench.during(|_| {}), []);
    }

    #[test]
    fn a_critical_temperature_is_reported_as_long_as_it_lasts() {
        let mut bench = Bench::new();
        let load = |text: &str| Some(text.parse().unwrap());
        assert_eq!(bench.during(|device| device.follow_load(load("60 100 100 95.9"))), []);
        let events = bench.during(|device| device.follow_load(load("60 100 100 96")));
        assert_eq!(events, [(HardwareRule::Temperature, "critical temperature: mem 100 °C, limit 100 °C".to_owned())]);
        assert_eq!(bench.during(|_| {}).len(), 1);
        assert_eq!(bench.during(|device| device.follow_load(load("60 0 0 50"))).len(), 1, "it was hot at first");
        assert_eq!(bench.during(|_| {}), []);
    }

    #[test]
    fn a_counter_that_cannot_be_read_or_begins_anew_is_no_error() {
        let with = |count: Option<u64>| {
            let counters =
                count.map(|count| ("ras/umc_err_count ue".to_owned(), (HardwareRule::RasUncorrectable, count)));
            Reading { counters: counters.into_iter().collect(), ..Reading::default() }
        };
        for (before, after) in [(Some(7), None), (None, Some(7)), (Some(7), Some(0)), (Some(7), Some(7))] {
            let mut memory = Memory::default();
            let hardware = Course::new(with(before), &mut memory).end(&with(after), &Files::default(), &mut memory);
            assert_eq!(hardware.events, [], "{before:?}, {after:?}");
        }
    }
}
