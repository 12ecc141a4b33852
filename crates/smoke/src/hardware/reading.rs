//! One reading of a GPU's sensors and counters.

use std::collections::BTreeMap;

use super::source::Source;
use super::state::{HardwareRule, Sensors, Watched};

/// The files to read, which are found once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    /// The directory of the hardware monitor with a slash, if there is one.
    monitor: Option<String>,
    /// Number, name and critical limit (thousandths of a degree Celsius) of each temperature.
    temperatures: Vec<(u32, String, Option<i64>)>,
    /// The files of RAS counters.
    ras: Vec<String>,
    /// The devices between the GPU and the root port, with the paths of their directories.
    path: Vec<(String, String)>,
}

/// Counters of AER: the file, its total, and the rule that a higher one breaks.
///
/// Source: Linux 6.12 `drivers/pci/pcie/aer.c`, `aer_stats_attrs`.
const AER: [(&str, &str, HardwareRule); 3] = [
    ("aer_dev_fatal", "TOTAL_ERR_FATAL", HardwareRule::AerFatal),
    ("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", HardwareRule::AerNonfatal),
    ("aer_dev_correctable", "TOTAL_ERR_COR", HardwareRule::AerCorrectable),
];

/// The maximum number of temperatures of a GPU, `temp1` and so on.
const MOST_TEMPERATURES: u32 = 8;

/// The current state of a PCI Express link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// The transfer rate in MT/s per lane.
    pub(crate) speed: Option<i64>,
    /// The number of lanes.
    pub(crate) width: Option<i64>,
    /// The highest rate that both of its ends have.
    pub(crate) fastest: Option<i64>,
    /// The highest number of lanes that both of its ends have.
    pub(crate) widest: Option<i64>,
}

/// The state of the hardware at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) sensors: Sensors,
    /// Thousandths of a degree Celsius, in the order of [`Files::limits`].
    pub(crate) temperatures: Vec<Option<i64>>,
    /// The counters, by name.
    pub(crate) counters: BTreeMap<String, (HardwareRule, u64)>,
    /// The links, by the device at their lower end.
    pub(crate) links: BTreeMap<String, Link>,
}

impl Files {
    /// Finds the files to read.
    pub(crate) fn find(source: &dyn Source) -> Self {
        let monitor = source.list("hwmon").into_iter().next().map(|name| format!("hwmon/{name}/"));
        let number = |path: String| source.read(&path).ok()?.trim().parse::<i64>().ok();
        let temperatures = monitor.iter().flat_map(|monitor| {
            (1..=MOST_TEMPERATURES).filter_map(move |index| {
                number(format!("{monitor}temp{index}_input"))?;
                let label = source.read(&format!("{monitor}temp{index}_label"));
                let label = label.map_or_else(|_| format!("temp{index}"), |text| text.trim().to_owned());
                let limit = number(format!("{monitor}temp{index}_crit")).filter(|&limit| limit > 0);
                Some((index, label, limit))
            })
        });
        let temperatures = temperatures.collect();
        let ras = source.list("ras").into_iter().filter(|name| name.ends_with("_err_count"));
        Self { temperatures, ras: ras.collect(), path: source.path(), monitor }
    }

    /// Returns name and critical limit of each temperature.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (&str, Option<i64>)> {
        self.temperatures.iter().map(|(_, label, limit)| (&**label, *limit))
    }

    /// Returns the sources that this GPU has, according to the first reading.
    pub(crate) fn watched(&self, first: &Reading) -> Watched {
        let mut watched = Watched::default();
        let mut add = |name: &str, is_there: bool, reason: &str| {
            if is_there {
                watched.sources.push(name.to_owned());
            } else {
                watched.missing.push(format!("{name} ({reason})"));
            }
        };
        let sensors = &first.sensors;
        let labels = self.limits().map(|(label, _)| label).collect::<Vec<_>>().join(", ");
        let temperatures = if labels.is_empty() { "temperature".to_owned() } else { format!("temperature ({labels})") };
        add(&temperatures, !labels.is_empty(), "no sensor");
        add("power", sensors.power_uw.is_some(), "no sensor");
        add("clocks", sensors.shader_clock_hz.is_some(), "no sensor");
        add("fan", sensors.fan_rpm.is_some(), "no sensor");
        add("PCIe link", first.links.values().any(|link| *link != Link::default()), "not told");
        let has = |fits: fn(HardwareRule) -> bool| first.counters.values().any(|(rule, _)| fits(*rule));
        add("AER counters", has(|rule| rule == HardwareRule::AerFatal), "no files");
        add("RAS counters", has(|rule| rule == HardwareRule::RasUncorrectable), "memory without ECC, or no files");
        watched
    }

    /// Reads all sensors and counters.
    pub(crate) fn read(&self, source: &dyn Source) -> Reading {
        let mut reading = Reading::default();
        self.read_sensors(source, &mut reading);
        self.read_links(source, &mut reading);
        for file in &self.ras {
            let Ok(text) = source.read(&format!("ras/{file}")) else { continue };
            // During a reset the file says in words that it cannot be queried (Linux 6.12 `amdgpu_ras.c`,
            // `amdgpu_ras_sysfs_read`).
            for (key, value) in numbers(&text) {
                let rule = match key {
                    "ue" => HardwareRule::RasUncorrectable,
                    "de" => HardwareRule::RasDeferred,
                    _ => HardwareRule::RasCorrectable,
                };
                reading.counters.insert(format!("ras/{file} {key}"), (rule, value));
            }
        }
        for (device, up) in &self.path {
            for (file, total, rule) in AER {
                let text = source.read(&format!("{up}{file}")).unwrap_or_default();
                let found = numbers(&text).find(|(key, _)| *key == total);
                if let Some((_, value)) = found {
                    reading.counters.insert(format!("{file} of {device}"), (rule, value));
                }
            }
        }
        reading
    }

    /// Reads the values that change with the load: everything except the counters.
    pub(crate) fn sample(&self, source: &dyn Source) -> Reading {
        let mut reading = Reading::default();
        self.read_sensors(source, &mut reading);
        self.read_links(source, &mut reading);
        reading
    }

    /// Source: Linux 6.12 `Documentation/gpu/amdgpu/thermal.rst`, "HWMON Interfaces"; `amdgpu_pm.c`, `hwmon_attributes_visible`.
    fn read_sensors(&self, source: &dyn Source, reading: &mut Reading) {
        let number = |path: &str| source.read(path).ok()?.trim().parse::<i64>().ok();
        let sensors = &mut reading.sensors;
        sensors.busy_percent = number("gpu_busy_percent").max(number("mem_busy_percent"));
        let Some(monitor) = &self.monitor else { return };
        let monitored = |name: &str| number(&format!("{monitor}{name}"));
        for (index, label, _) in &self.temperatures {
            let value = monitored(&format!("temp{index}_input"));
            reading.temperatures.push(value);
            match &**label {
                "edge" => sensors.edge_mc = value,
                "junction" => sensors.junction_mc = value,
                "mem" => sensors.memory_mc = value,
                _ => {}
            }
        }
        sensors.power_uw = monitored("power1_average").or_else(|| monitored("power1_input"));
        sensors.shader_clock_hz = monitored("freq1_input");
        sensors.memory_clock_hz = monitored("freq2_input");
        sensors.fan_rpm = monitored("fan1_input");
    }

    fn read_links(&self, source: &dyn Source, reading: &mut Reading) {
        for (device, up) in &self.path {
            let speed = |name: String| source.read(&name).ok().and_then(|text| rate(&text));
            let lanes = |name: String| {
                let lanes = source.read(&name).ok().and_then(|text| text.trim().parse().ok());
                lanes.filter(|lanes| (1..=32).contains(lanes))
            };
            // The other end is the port above. Where it cannot be read, this end alone says what is possible.
            let ends = [up.clone(), format!("{up}../")];
            let link = Link {
                speed: speed(format!("{up}current_link_speed")),
                width: lanes(format!("{up}current_link_width")),
                fastest: ends.iter().filter_map(|end| speed(format!("{end}max_link_speed"))).min(),
                widest: ends.iter().filter_map(|end| lanes(format!("{end}max_link_width"))).min(),
            };
            reading.links.insert(device.clone(), link);
        }
        let links = || reading.links.values();
        reading.sensors.link_mts = links().filter_map(|link| link.speed).min();
        reading.sensors.link_width = links().filter_map(|link| link.width).min();
    }
}

/// Returns the lines `name: number` or `name number` of a text.
fn numbers(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let (key, value) = line.rsplit_once(' ')?;
        Some((key.trim_end_matches(':'), value.parse().ok()?))
    })
}

/// Returns the rate of a link such as `16.0 GT/s PCIe`, millions of transfers a second.
///
/// Source: Linux 6.12 `drivers/pci/probe.c`, `pci_speed_string`. Older kernels write `16 GT/s`.
fn rate(text: &str) -> Option<i64> {
    let text = text.trim_end();
    let number = text.strip_suffix(" PCIe").unwrap_or(text).strip_suffix(" GT/s")?;
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let (whole, tenth) = (whole.parse::<u16>().ok()?, tenth.parse::<u8>().ok().filter(|&tenth| tenth < 10)?);
    Some(i64::from(whole) * 1000 + i64::from(tenth) * 100)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use amdgpu_sim::{HardwareError, SimDevice, SimOptions, profile};

    use super::*;
    use crate::hardware::source::{Directory, Monitor};

    fn device(name: &str, ras: bool) -> SimDevice {
        SimDevice::new(profile(name).unwrap(), SimOptions { power: true, ras, ..SimOptions::default() })
    }

    #[test]
    fn sensors_are_found_by_their_labels() {
        let device = device("navi21", false);
        device.follow_load(Some("60 100 40 90".parse().unwrap()));
        let source = Monitor::Simulated(device).open().unwrap();
        let files = Files::find(&*source);
        let limits: Vec<_> = files.limits().collect();
        assert_eq!(limits, [("edge", Some(100_000)), ("junction", Some(110_000)), ("mem", Some(100_000))]);
        let sensors = files.read(&*source).sensors;
        assert_eq!(sensors.edge_mc.zip(sensors.junction_mc).zip(sensors.memory_mc), Some(((90_000, 98_000), 94_000)));
        assert_eq!((sensors.power_uw, sensors.busy_percent), (Some(246_700_000), Some(100)));
        assert_eq!((sensors.link_mts, sensors.link_width), (Some(8_000), Some(16)));
    }

    #[test]
    fn the_slowest_link_and_all_counters_on_the_way_to_the_root_port_count() {
        let root = std::env::temp_dir().join(format!("amdgpu-smoke-links-{}", std::process::id()));
        let port = root.join("0000:00:01.1");
        let gpu = port.join("0000:01:00.0/0000:02:00.0/0000:03:00.0");
        fs::create_dir_all(&gpu).unwrap();
        let devices = [(port.as_path(), "2.5", "1"), (gpu.as_path(), "16.0", "16")];
        let outer = gpu.parent().and_then(Path::parent).map(|outer| (outer, "8.0", "4"));
        for (device, speed, width) in devices.into_iter().chain(outer) {
            fs::write(device.join("current_link_speed"), format!("{speed} GT/s PCIe\n")).unwrap();
            fs::write(device.join("current_link_width"), format!("{width}\n")).unwrap();
            fs::write(device.join("aer_dev_fatal"), "DLP 3\nTOTAL_ERR_FATAL 3\n").unwrap();
        }
        let source = Directory(gpu);
        let reading = Files::find(&source).read(&source);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!((reading.sensors.link_mts, reading.sensors.link_width), (Some(8_000), Some(4)));
        let counters: Vec<_> = reading.counters.keys().collect();
        assert_eq!(counters, ["aer_dev_fatal of 0000:01:00.0", "aer_dev_fatal of 0000:03:00.0"]);
    }

    #[test]
    fn counters_are_those_of_the_files() {
        let device = device("navi21", true);
        let source = Monitor::Simulated(device.clone()).open().unwrap();
        let files = Files::find(&*source);
        device.inject_hardware_error(HardwareError::RasCorrectable);
        device.inject_hardware_error(HardwareError::AerFatal);
        let counters = files.read(&*source).counters;
        assert_eq!(counters["ras/umc_err_count ce"], (HardwareRule::RasCorrectable, 1));
        assert_eq!(counters["ras/umc_err_count ue"], (HardwareRule::RasUncorrectable, 0));
        assert_eq!(counters["ras/umc_err_count de"], (HardwareRule::RasDeferred, 0));
        assert_eq!(counters["aer_dev_fatal of 0000:03:00.0"], (HardwareRule::AerFatal, 1));
        assert_eq!(counters["aer_dev_correctable of 0000:03:00.0"], (HardwareRule::AerCorrectable, 0));
    }

    #[test]
    fn a_file_that_is_not_there_is_not_watched_and_reported() {
        let watched = |ras| {
            let source = Monitor::Simulated(device("renoir", ras)).open().unwrap();
            let files = Files::find(&*source);
            files.watched(&files.read(&*source))
        };
        let with = watched(true);
        assert!(with.sources.contains(&"RAS counters".to_owned()), "{with}");
        assert_eq!(with.missing, ["fan (no sensor)"]);
        assert_eq!(watched(false).missing.last().unwrap(), "RAS counters (memory without ECC, or no files)");
    }

    #[test]
    fn words_in_place_of_numbers_are_no_reading() {
        for (text, expected) in [
            ("16.0 GT/s PCIe\n", Some(16_000)),
            ("2.5 GT/s PCIe\n", Some(2_500)),
            ("8 GT/s\n", Some(8_000)),
            ("Unknown\n", None),
            ("99999999999999999999.5 GT/s\n", None),
            ("1.é GT/s\n", None),
        ] {
            assert_eq!(rate(text), expected, "{text}");
        }
        assert_eq!(numbers("Query currently inaccessible\n").count(), 0);
        assert_eq!(numbers("ue: 3\nTOTAL_ERR_COR 4\n").collect::<Vec<_>>(), [("ue", 3), ("TOTAL_ERR_COR", 4)]);
    }
}
