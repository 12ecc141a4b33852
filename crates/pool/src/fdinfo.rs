//! The driver's part of `/proc/PID/fdinfo/FD` for one open file, in all generations of its keys.
//!
//! | kernel | memory | client |
//! |---|---|---|
//! | 5.14 to 5.18 | `vram mem:`, `gtt mem:`, `cpu mem:` in kB | `pasid:` |
//! | 5.19 to 6.13 | `drm-memory-vram:`, later `amd-requested-*`, `amd-evicted-*`, `amd-memory-visible-vram`, `drm-shared-*` | `drm-client-id:` |
//! | 6.14 and later | `drm-total-*`, `drm-resident-*`, `drm-shared-*`, `drm-purgeable-*` beside the older ones | `drm-client-id:` |
//!
//! Source: Linux `Documentation/gpu/drm-usage-stats.rst` (a value without a unit is bytes); `amdgpu_fdinfo.c`,
//! `amdgpu_show_fdinfo`, of 5.14, 5.19, 6.12 and 6.14; `drm_file.c`, `drm_show_memory_stats`.

use std::collections::BTreeMap;

/// Bytes in each memory domain; `None` if the file does not contain the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByDomain {
    /// Bytes in VRAM.
    pub vram: Option<u64>,
    /// Bytes in the part of VRAM that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, the system memory that the GPU maps.
    pub gtt: Option<u64>,
    /// Bytes in system memory that the GPU does not currently map.
    pub cpu: Option<u64>,
}

impl ByDomain {
    fn slot(&mut self, domain: &str) -> Option<&mut Option<u64>> {
        match domain {
            "vram" => Some(&mut self.vram),
            "visible-vram" => Some(&mut self.visible_vram),
            "gtt" => Some(&mut self.gtt),
            "cpu" => Some(&mut self.cpu),
            _ => None,
        }
    }
}

/// The contents of the fdinfo file of one open file of a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FdInfo {
    /// The name of the driver. Kernels before 5.19 do not report it.
    pub driver: Option<String>,
    /// The client ID. File descriptors with the same client ID on the same GPU refer to one open file.
    pub client: Option<u64>,
    /// The GPU's PCI address.
    pub pci: Option<String>,
    /// The ID of the address space (PASID). It identifies the client if the kernel reports no client ID.
    pub pasid: Option<u64>,
    /// Resident bytes, by the domain in which they are.
    pub resident: ByDomain,
    /// The part of [`FdInfo::resident`] that is shared with another client or through a dma-buf.
    pub shared: ByDomain,
    /// Bytes that the client requested, by the preferred domain.
    pub requested: ByDomain,
    /// Bytes whose preferred domain is VRAM but which are not in VRAM.
    pub evicted: ByDomain,
    /// Bytes that the kernel may reclaim at any time.
    pub purgeable: ByDomain,
    /// The time that each engine (`gfx`, `compute`, `dma`, ...) has worked for the client, in nanoseconds.
    pub engines_ns: BTreeMap<String, u64>,
}

/// The maximum number of bytes that are read from a file. Real files have about 2 KiB.
pub const MOST_BYTES: usize = 64 << 10;
/// The maximum number of engines. The kernel has ten kinds.
const MOST_ENGINES: usize = 64;

/// Quality of a key as a source of the resident figure: a better one replaces a worse one.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
enum Quality {
    #[default]
    Nothing,
    Total,
    Memory,
    Resident,
}

/// Quality of each domain's resident figure.
#[derive(Default)]
struct Qualities([Quality; 4]);

impl Qualities {
    fn slot(&mut self, domain: &str) -> Option<&mut Quality> {
        let index = ["vram", "visible-vram", "gtt", "cpu"].iter().position(|&known| known == domain)?;
        self.0.get_mut(index)
    }
}

impl FdInfo {
    /// Parses the text of an fdinfo file. Unknown and malformed lines are skipped, and their figures stay `None`.
    pub fn parse(text: &str) -> Self {
        let mut info = Self::default();
        let mut quality = Qualities::default();
        for line in text.lines() {
            if let Some((key, value)) = line.split_once(':') {
                info.line(key.trim(), value.trim(), &mut quality);
            }
        }
        info
    }

    /// Returns `true` if the file belongs to amdgpu: it names the driver, or it has the keys that only amdgpu wrote before Linux
    /// 5.19.
    pub fn is_amdgpu(&self) -> bool {
        match &self.driver {
            Some(driver) => driver == "amdgpu",
            None => self.pci.is_some() && self.pasid.is_some(),
        }
    }

    /// Returns the number that distinguishes the clients of a GPU: the client ID, or the ID of the address space if there is no
    /// client ID.
    pub fn client_key(&self) -> Option<u64> {
        self.client.or(self.pasid)
    }

    fn line(&mut self, key: &str, value: &str, quality: &mut Qualities) {
        match key {
            "drm-driver" => self.driver = Some(value.to_owned()),
            "drm-client-id" => self.client = value.parse().ok(),
            "drm-pdev" | "pdev" => self.pci = Some(value.to_owned()),
            "pasid" => self.pasid = value.parse().ok(),
            _ => self.figure(key, value, quality),
        }
    }

    fn figure(&mut self, key: &str, value: &str, quality: &mut Qualities) {
        let mut resident = |info: &mut Self, domain: &str, new: Quality| {
            let (Some(slot), Some(bytes)) = (info.resident.slot(domain), bytes(value)) else { return };
            let Some(old) = quality.slot(domain) else { return };
            if *old < new {
                (*slot, *old) = (Some(bytes), new);
            }
        };
        if let Some(domain) = key.strip_suffix(" mem") {
            resident(self, domain, Quality::Memory);
        } else if let Some(domain) = key.strip_prefix("drm-resident-") {
            resident(self, domain, Quality::Resident);
        } else if let Some(domain) = key.strip_prefix("drm-memory-").or(key.strip_prefix("amd-memory-")) {
            resident(self, domain, Quality::Memory);
        } else if let Some(domain) = key.strip_prefix("drm-total-") {
            resident(self, domain, Quality::Total);
        } else if let Some(engine) = key.strip_prefix("drm-engine-") {
            self.engine(engine, value);
        } else {
            for (prefix, figures) in [
                ("drm-shared-", &mut self.shared),
                ("amd-requested-", &mut self.requested),
                ("amd-evicted-", &mut self.evicted),
                ("drm-purgeable-", &mut self.purgeable),
            ] {
                if let Some(slot) = key.strip_prefix(prefix).and_then(|domain| figures.slot(domain)) {
                    *slot = bytes(value);
                }
            }
        }
    }

    fn engine(&mut self, engine: &str, value: &str) {
        let is_name = !engine.is_empty() && engine.len() <= 32 && !engine.starts_with("capacity-");
        let time = value.strip_suffix("ns").map(str::trim).and_then(|number| number.parse().ok());
        if let (true, Some(time)) = (is_name && self.engines_ns.len() < MOST_ENGINES, time) {
            self.engines_ns.insert(engine.to_owned(), time);
        }
    }
}

/// Parses a size as the kernel prints it: a whole number with a unit, or without one for bytes. Returns `None` for other texts and
/// for more than 2^56 bytes, which exceeds every page table.
fn bytes(value: &str) -> Option<u64> {
    let (number, unit) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    let shift = match unit.trim() {
        "" => 0,
        "KiB" | "kB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    (number <= (1 << 56) >> shift).then_some(number << shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_keys_of_5_14_are_understood() {
        let text = "pos:\t0\nflags:\t02100002\nmnt_id:\t24\npdev:\t0000:07:00.0\npasid:\t32773\n\
                    vram mem:\t1024 kB\ngtt mem:\t8 kB\ncpu mem:\t0 kB\ngfx0:\t1.25%\n";
        let info = FdInfo::parse(text);
        assert!(info.is_amdgpu());
        assert_eq!((info.pci.as_deref(), info.client_key()), (Some("0000:07:00.0"), Some(32773)));
        assert_eq!(info.resident, ByDomain { vram: Some(1 << 20), gtt: Some(8192), cpu: Some(0), visible_vram: None });
        assert_eq!(info.requested, ByDomain::default(), "never said, so never guessed");
    }

    #[test]
    fn the_keys_of_6_1_are_understood() {
        let text = "drm-driver:\tamdgpu\ndrm-client-id:\t12\ndrm-pdev:\t0000:03:00.0\npasid:\t32771\n\
                    drm-memory-vram:\t2048 KiB\ndrm-memory-gtt: \t4 KiB\namd-memory-visible-vram:\t1024 KiB\n\
                    amd-evicted-vram:\t512 KiB\namd-requested-vram:\t2560 KiB\ndrm-shared-vram:\t64 KiB\n\
                    drm-engine-gfx:\t123 ns\ndrm-engine-capacity-gfx:\t2\n";
        let info = FdInfo::parse(text);
        assert_eq!((info.resident.vram, info.resident.visible_vram), (Some(2 << 20), Some(1 << 20)));
        assert_eq!((info.evicted.vram, info.requested.vram), (Some(512 << 10), Some(2560 << 10)));
        assert_eq!(info.shared.vram, Some(64 << 10));
        assert_eq!(info.engines_ns, BTreeMap::from([("gfx".to_owned(), 123)]));
    }

    #[test]
    fn resident_wins_over_memory_and_memory_over_total_in_any_order() {
        let lines = ["drm-total-vram:\t30 MiB", "drm-memory-vram:\t20 MiB", "drm-resident-vram:\t10 MiB"];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let text = order.map(|index: usize| lines[index]).join("\n");
            assert_eq!(FdInfo::parse(&text).resident.vram, Some(10 << 20), "{text}");
        }
        assert_eq!(FdInfo::parse(&lines[..2].join("\n")).resident.vram, Some(20 << 20));
        assert_eq!(FdInfo::parse(lines[0]).resident.vram, Some(30 << 20));
    }

    #[test]
    fn a_value_without_a_unit_is_bytes() {
        assert_eq!(FdInfo::parse("drm-resident-gtt:\t4097").resident.gtt, Some(4097));
        assert_eq!(FdInfo::parse("drm-resident-gtt:\t3 MiB").resident.gtt, Some(3 << 20));
    }

    #[test]
    fn what_is_no_size_is_unknown() {
        for value in ["", "KiB", "-1 KiB", "1.5 MiB", "1 parsec", "18446744073709551615 KiB", "99999999999999999999"] {
            assert_eq!(FdInfo::parse(&format!("drm-memory-vram:\t{value}")).resident.vram, None, "{value}");
        }
    }

    #[test]
    fn other_drivers_are_not_ours() {
        assert!(!FdInfo::parse("drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\npasid:\t1\n").is_amdgpu());
        assert!(!FdInfo::parse("pos:\t0\nflags:\t02\n").is_amdgpu());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_fail(text in "\\PC{0,400}") {
            FdInfo::parse(&text);
        }

        #[test]
        fn a_file_cut_anywhere_never_says_more_than_the_whole(
            kib in 0_u64..1 << 40, gtt in 0_u64..1 << 40, cut in 0_usize..200
        ) {
            let text = format!("drm-driver:\tamdgpu\ndrm-client-id:\t9\ndrm-memory-vram:\t{kib} KiB\namd-evicted-vram:\t{gtt}\n");
            let (whole, part) = (FdInfo::parse(&text), FdInfo::parse(&text[..cut.min(text.len())]));
            prop_assert!(part.resident.vram <= whole.resident.vram);
            prop_assert!(part.evicted.vram <= whole.evicted.vram);
        }

        #[test]
        fn keys_and_values_of_any_kind_are_survived(
            key in "(drm|amd)-(total|memory|resident|shared|evicted|engine)-[a-z-]{0,12}",
            value in "[0-9]{0,25} ?(ns|KiB|MiB|GiB|%)?"
        ) {
            FdInfo::parse(&format!("{key}:\t{value}\n"));
        }
    }
}
