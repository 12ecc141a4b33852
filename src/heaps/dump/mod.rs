//! Everything that is known about a device's memory, as JSON.
//!
//! Two forms: the library's own, which holds everything, and the one of the Vulkan Memory Allocator, which AMD's
//! visualiser (GpuMemDumpVis) draws.

mod json;
mod vma;

use self::json::Json;
use super::{BudgetRule, Budgets, MemoryError, MemoryManager, OwnUsage, SystemUsage};
use crate::{
    vamgr::{VaManager, VaWindow},
    winsys::{AddressBook, Place},
};

/// Changes when the meaning of something in [`MemoryManager::dump_json`] does.
pub const DUMP_SCHEMA: u64 = 1;

impl MemoryManager {
    /// Everything that is known about the device's memory, as one JSON object:
    ///
    /// | key | holds |
    /// |---|---|
    /// | `schema` | [`DUMP_SCHEMA`] |
    /// | `device` | `chip` and `name` |
    /// | `own`, `always_valid` | what this file holds, and the part that is always valid, by account |
    /// | `system` | what is in use on the device, as the kernel last told, and `generation`, which answer that was |
    /// | `heaps` | `kind`, `flags`, `size`, `usage`, `budget` as RADV tells it, and `corrected_budget` |
    /// | `types` | `heap`, `flags`, and how many of the BOs below are device memory of the type: `allocations`, `bytes` |
    /// | `windows` | address windows: `start`, `len`, `leases`, `leased`, `free`, `holes`, `largest_hole`, `fragmentation_permille`, and `hole_sizes`, pairs of a power of two and how many holes have that size or up to twice of it |
    /// | `bos` | `handle`, `name`, `size`, `domains`, `memory_type` |
    /// | `bound`, `freed` | `handle`, `name`, `address`, `len`, `offset` in the BO; what is bound now, and what was |
    ///
    /// Sizes are integers in bytes, addresses strings in hexadecimal. BOs and addresses are those that `book` knows,
    /// which must have observed the device since it was opened.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] when the kernel was asked what is in use, and refused.
    pub fn dump_json(&self, book: &AddressBook) -> Result<String, MemoryError> {
        let reading = self.cached_usage()?;
        let mut json = Json::default();
        json.object(|json| {
            json.count("schema", DUMP_SCHEMA);
            json.key("device").object(|json| {
                json.key("chip").string(self.device().info().chip_name());
                json.key("name").string(&self.device().info().marketing_name);
            });
            own(json.key("own"), &self.ledger().usage());
            own(json.key("always_valid"), &self.ledger().always_valid());
            let SystemUsage { vram, visible_vram, gtt } = reading.usage;
            json.key("system").object(|json| {
                json.count("vram", vram);
                json.count("visible_vram", visible_vram);
                json.count("gtt", gtt);
                json.count("generation", reading.generation);
            });
            let [radv, corrected] =
                [BudgetRule::Radv, BudgetRule::Corrected].map(|rule| self.budgets_from(&reading.usage, rule));
            self.heaps(json.key("heaps"), &radv, &corrected);
            self.types(json.key("types"), book);
            windows(json.key("windows"), self.device().addresses());
            bos(json.key("bos"), book);
            places(json.key("bound"), &book.live());
            places(json.key("freed"), &book.freed());
        });
        Ok(json.finish())
    }

    fn heaps(&self, json: &mut Json, radv: &Budgets, corrected: &Budgets) {
        json.array(|json| {
            let figures = radv.heaps().iter().zip(corrected.heaps());
            for (heap, (radv, corrected)) in self.properties().heaps().iter().zip(figures) {
                json.object(|json| {
                    json.key("kind").string(format_args!("{:?}", heap.kind));
                    names(json.key("flags"), heap.flags.iter_names().map(|(name, _)| name));
                    json.count("size", heap.size);
                    json.count("usage", radv.usage);
                    json.count("budget", radv.budget);
                    json.count("corrected_budget", corrected.budget);
                });
            }
        });
    }

    fn types(&self, json: &mut Json, book: &AddressBook) {
        let bos = book.bos();
        json.array(|json| {
            for (index, ty) in (0..).zip(self.properties().types()) {
                let of_type = || bos.iter().filter(|bo| bo.memory_type == Some(index));
                json.object(|json| {
                    json.count("heap", ty.heap.into());
                    names(json.key("flags"), ty.properties.iter_names().map(|(name, _)| name));
                    json.count("allocations", of_type().count() as u64);
                    json.count("bytes", of_type().map(|bo| bo.size).sum());
                });
            }
        });
    }
}

fn own(json: &mut Json, usage: &OwnUsage) {
    let OwnUsage { invisible_vram, visible_vram, gtt } = *usage;
    json.object(|json| {
        json.count("invisible_vram", invisible_vram);
        json.count("visible_vram", visible_vram);
        json.count("gtt", gtt);
    });
}

fn names<'n>(json: &mut Json, names: impl Iterator<Item = &'n str>) {
    json.array(|json| names.for_each(|name| json.string(name)));
}

/// Only those that have addresses of their own.
fn windows(json: &mut Json, addresses: &VaManager) {
    let all = addresses.windows();
    json.array(|json| {
        for window in VaWindow::ALL.into_iter().filter(|&window| all.serving(window) == window) {
            let (range, stats) = (all.range(window), addresses.stats(window));
            json.object(|json| {
                json.key("window").string(window);
                json.key("start").address(range.start().as_u64());
                json.count("len", range.len());
                json.count("leases", stats.leases);
                json.count("leased", stats.leased);
                json.count("free", stats.free);
                json.count("holes", stats.holes);
                json.count("largest_hole", stats.largest_hole);
                json.count("fragmentation_permille", stats.fragmentation_permille());
                json.key("hole_sizes").array(|json| {
                    for (class, count) in addresses.hole_histogram(window).classes() {
                        json.array(|json| {
                            json.number(class.into());
                            json.number(count);
                        });
                    }
                });
            });
        }
    });
}

fn bos(json: &mut Json, book: &AddressBook) {
    json.array(|json| {
        for bo in book.bos() {
            json.object(|json| {
                json.count("handle", bo.handle.into());
                name(json, bo.name.as_deref());
                json.count("size", bo.size);
                names(json.key("domains"), bo.domains.iter_names().map(|(name, _)| name));
                let json = json.key("memory_type");
                match bo.memory_type {
                    Some(index) => json.number(index.into()),
                    None => json.null(),
                }
            });
        }
    });
}

fn places(json: &mut Json, places: &[Place]) {
    json.array(|json| {
        for place in places {
            json.object(|json| {
                json.count("handle", place.handle.into());
                name(json, place.name.as_deref());
                json.key("address").address(place.range.start().as_u64());
                json.count("len", place.range.len());
                json.count("offset", place.offset);
            });
        }
    });
}

fn name(json: &mut Json, name: Option<&str>) {
    let json = json.key("name");
    match name {
        Some(name) => json.string(name),
        None => json.null(),
    }
}
