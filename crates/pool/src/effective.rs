//! The effective pool: how much memory a program can really get.
//!
//! | rule | total | available |
//! |---|---|---|
//! | `dgpu` | usable VRAM | usable VRAM that is not in use |
//! | `apu` | carve-out, and GTT up to MemTotal and TTM's page limit | free carve-out, and free GTT up to MemAvailable and the pages that TTM has left |
//!
//! The GTT of an APU is ordinary system memory, which all processes share. A tool that reports 132 GB for the GPU of a machine with
//! 128 GB of RAM counts the same bytes twice; a tool that reports only a carve-out of 2 GB ignores 98 GB of free memory. A limit of
//! the cgroup on the GPU's own memory (`dmem.max`), which on an APU is the carve-out, is applied to what is free of that memory.
//! System memory that the GPU maps is charged to no memory cgroup.
//!
//! A sum with an unknown term is unknown.

use crate::model::{Domains, Effective, System};

/// A bound beside the sizes of the domains; `None` if there is no such bound, or it is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    /// Bytes of VRAM that the process's cgroups still allow.
    pub(crate) cgroup_left: Option<u64>,
}

/// The memory that is free in each domain, with the bound that made it so little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Free {
    pub(crate) vram: Option<u64>,
    /// `true` if the cgroup, not VRAM, is the bound of `vram`.
    pub(crate) by_cgroup: bool,
    pub(crate) gtt: Option<u64>,
    pub(crate) gtt_by: &'static str,
}

/// Returns what can be allocated in each domain.
pub(crate) fn free(domains: &Domains, system: &System, bounds: &Bounds) -> Free {
    let (vram, left) = (domains.vram.free(), bounds.cgroup_left.unwrap_or(u64::MAX));
    let mut free = Free {
        vram: vram.map(|vram| vram.min(left)),
        by_cgroup: vram.is_some_and(|vram| left < vram),
        gtt: None,
        gtt_by: "gtt",
    };
    if let (Some(mut gtt), Some(memory)) = (domains.gtt.free(), system.mem_available) {
        let pages = system.ttm_limit.map(|most| most.saturating_sub(domains.gtt.used.unwrap_or(0)));
        for (name, bound) in [("mem_available", Some(memory)), ("ttm_pages_limit", pages)] {
            if let Some(bound) = bound.filter(|&bound| bound < gtt) {
                (gtt, free.gtt_by) = (bound, name);
            }
        }
        free.gtt = Some(gtt);
    }
    free
}

/// Returns the effective memory pool of a GPU.
pub(crate) fn effective(apu: Option<bool>, domains: &Domains, system: &System, bounds: &Bounds) -> Effective {
    let free = free(domains, system, bounds);
    let (total, available, rule, limit) = match apu {
        None => return Effective { rule: "unknown".to_owned(), ..Effective::default() },
        Some(false) => (domains.vram.usable.or(domains.vram.total), free.vram, "dgpu", "vram"),
        Some(true) => {
            let gtt = domains.gtt.usable.or(domains.gtt.total).zip(system.mem_total);
            let gtt = gtt.map(|(gtt, memory)| gtt.min(memory).min(system.ttm_limit.unwrap_or(u64::MAX)));
            let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
            let carve_out = domains.vram.usable.or(domains.vram.total);
            (sum(carve_out, gtt), sum(free.vram, free.gtt), "apu", free.gtt_by)
        }
    };
    let limit = if free.by_cgroup { "cgroup" } else { limit };
    Effective { total, available, rule: rule.to_owned(), limited_by: available.map(|_| limit.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Domain;

    const GIB: u64 = 1 << 30;

    fn domain(total: u64, used: u64) -> Domain {
        Domain { total: Some(total), used: Some(used), ..Domain::default() }
    }

    fn apu(vram: Domain, gtt: Domain, mem_total: u64, mem_available: u64) -> Effective {
        let system = System { mem_total: Some(mem_total), mem_available: Some(mem_available), ttm_limit: None };
        effective(Some(true), &Domains { vram, gtt, ..Domains::default() }, &system, &Bounds::default())
    }

    #[test]
    fn an_apu_never_has_more_gtt_than_the_machine_has_memory() {
        // 128 GB of RAM, half of it carved out, and a GTT limit that was set to more than what is left.
        let pool = apu(domain(64 * GIB, 0), domain(68 * GIB, 0), 62 * GIB, 60 * GIB);
        assert_eq!((pool.total, pool.available), (Some(126 * GIB), Some(124 * GIB)));
        assert_eq!(pool.limited_by.as_deref(), Some("mem_available"));
    }

    #[test]
    fn a_full_carve_out_is_not_a_full_apu() {
        let pool = apu(domain(2 * GIB, 2 * GIB), domain(62 * GIB, GIB), 124 * GIB, 98 * GIB);
        assert_eq!((pool.total, pool.available), (Some(64 * GIB), Some(61 * GIB)));
        assert_eq!(pool.limited_by.as_deref(), Some("gtt"));
    }

    #[test]
    fn unknown_memory_makes_the_pool_unknown() {
        let domains = Domains { vram: domain(GIB, 0), gtt: domain(GIB, 0), ..Domains::default() };
        let pool = effective(Some(true), &domains, &System::default(), &Bounds::default());
        assert_eq!((pool.total, pool.available, pool.limited_by), (None, None, None));
        assert_eq!(effective(None, &domains, &System::default(), &Bounds::default()).rule, "unknown");
    }

    #[test]
    fn a_card_has_its_vram_and_a_cgroup_may_take_from_it() {
        let domains = Domains { vram: domain(8 * GIB, 3 * GIB), gtt: domain(32 * GIB, 0), ..Domains::default() };
        let limit = Bounds { cgroup_left: Some(3 * GIB) };
        let free = effective(Some(false), &domains, &System::default(), &Bounds::default());
        assert_eq!((free.total, free.available), (Some(8 * GIB), Some(5 * GIB)));
        let limited = effective(Some(false), &domains, &System::default(), &limit);
        assert_eq!((limited.available, limited.limited_by.as_deref()), (Some(3 * GIB), Some("cgroup")));
    }

    #[test]
    fn a_cgroup_takes_from_the_carve_out_of_an_apu_and_leaves_gtt_alone() {
        let domains = Domains { vram: domain(8 * GIB, GIB), gtt: domain(32 * GIB, 2 * GIB), ..Domains::default() };
        let system = System { mem_total: Some(56 * GIB), mem_available: Some(50 * GIB), ttm_limit: None };
        let limit = Bounds { cgroup_left: Some(2 * GIB) };
        let pool = effective(Some(true), &domains, &system, &limit);
        assert_eq!((pool.available, pool.limited_by.as_deref()), (Some(32 * GIB), Some("cgroup")));
    }

    #[test]
    fn ttm_backs_no_more_pages_than_its_limit_however_large_gtt_is() {
        // amdgpu.gttsize of 96 GiB beside a page limit of 62 GiB.
        let domains = Domains { vram: domain(0, 0), gtt: domain(96 * GIB, 2 * GIB), ..Domains::default() };
        let system = System { mem_total: Some(124 * GIB), mem_available: Some(110 * GIB), ttm_limit: Some(62 * GIB) };
        let pool = effective(Some(true), &domains, &system, &Bounds::default());
        assert_eq!((pool.total, pool.available), (Some(62 * GIB), Some(60 * GIB)));
        assert_eq!(pool.limited_by.as_deref(), Some("ttm_pages_limit"));
    }
}
